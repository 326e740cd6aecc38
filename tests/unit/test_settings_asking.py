"""When a person is asked is read like every setting."""

from __future__ import annotations

import pytest
from settings_machine import Load, Machine, said

from pi_intent.gates.kinds import Match
from pi_intent.gates.tiers import Tiered
from pi_intent.gating import gated_by
from pi_intent.settings.wording import ASKED_MEANWHILE, Lapse


@pytest.mark.parametrize("by", ["user", "project"])
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('ask = "wrtie"', "ask"),
        ('aks = "write"', "ask"),
        ('check_in = ["dangers", "alwayss"]', "check_in"),
        ("check_in = [{ runs = 'a | b' }]", "check_in"),
        ('chekc_in = ["dangers"]', "check_in"),
        ('[tools.bash]\ncheck_in = ["danger"]', "check_in"),
        ("[tools.bash]\noverride = 1", "override"),
        ("[tools.bash]\novveride = true", "override"),
        ('[tools.deploy]\ntier = "exce"', "tier"),
        ('[tools.deploy]\ntouches = ["Net"]', "touches"),
        ('[permissions]\nmoney = "dny"', "permissions"),
        ("[Tools.bash]\noverride = true", "tools"),
        ("[tool.bash]\noverride = true", "tools"),
        ("[bash]\noverride = true", "tools"),
        ('[settings]\nask = "all"', "tools"),
        ('CHECK_IN = ["dangers"]', "check_in"),
        ('confirm = ["dangers"]', "check_in"),
        ('PI_INTENT_CHECK_IN = "dangers"', "check_in"),
        ("override = true", "override"),
        ('[tools]\nchek_in = ["dangers"]', "tools"),
        ('[tools]\nbash = "ask"', "tools"),
        ("[[tools.bash]]\noverride = true", "tools"),
        ("[tools.github.search]\noverride = true", "tools"),
        ('[tools.fetch.wants]\nurl = "page"\ncheck_in = ["always"]', "tools"),
        ("".join(f"x{number} = 1\n" for number in range(9)) + 'checkin = ["dangers"]', "check_in"),
        ("".join(f"x{number} = 1\n" for number in range(30)) + "ask = 1", "ask"),
        ("".join(f"[tools.t{number}]\nbudget = 0\n" for number in range(30)) + 'tier = "exce"', "tier"),
    ],
)
def test_where_it_is_misspelt_when_to_ask_what_changes_something_is_asked_about(
    load: Load, text: str, key: str, by: str
):
    loaded = load(text) if by == "user" else load("", text)
    assert loaded.settings.ask == "write"
    assert any(told.endswith(f": {key} does not count in full, so {ASKED_MEANWHILE}") for told in loaded.warnings)


@pytest.mark.parametrize(
    "text",
    [
        "polcy = 'omit'",
        "budget = 0",
        "x = 1",
        "[ui]\ncolour = 'red'",
        "keep = '90'",
        "version = 1",
        "task = 1",
        "log = 'all'",
        "[ui]\nask = false",
    ],
)
def test_what_says_nothing_of_asking_asks_nobody(load: Load, text: str):
    loaded = load(text)
    assert (len(loaded.warnings), loaded.settings.ask, loaded.settings.meanwhile) == (1, "none", None)


@pytest.mark.parametrize("name", ["VERSION", "SESSION", "TASK", "MASK", "ASKPASS", "CHECK"])
def test_a_variable_of_another_program_asks_nobody(load: Load, name: str):
    assert load("", "", **{f"PI_INTENT_{name}": "1"}).settings.ask == "none"


def test_a_variable_may_say_that_no_rule_holds(load: Load):
    loaded = load('check_in = ["always"]', "", PI_INTENT_CHECK_IN="none")
    assert (loaded.settings.check_in, loaded.settings.ask, loaded.warnings) == ((), "none", ())


@pytest.mark.parametrize(
    ("variables", "key"),
    [
        ({"PI_INTENT_ASK": "wirte"}, "PI_INTENT_ASK"),
        ({"PI_INTENT_CHECK_IN": "danger"}, "PI_INTENT_CHECK_IN"),
        ({"PI_INTENT_CHEK_IN": "dangers"}, "PI_INTENT_CHECK_IN"),
        ({"PI_INTENT_OVERRIDE": "bash"}, "PI_INTENT_OVERRIDE"),
    ],
)
def test_a_misspelt_variable_has_a_person_asked_as_well(load: Load, variables: dict[str, str], key: str):
    loaded = load("", "", **variables)
    assert loaded.settings.ask == "write"
    assert loaded.settings.meanwhile == loaded.origins["ask"] == f"{key} does not count in full"
    assert loaded.warnings[-1] == f"{key} does not count in full, so {ASKED_MEANWHILE}"


TOOLS = ["read", "write", "edit", "bash", "docs/get"]


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ('[tools.bsh]\ncheck_in = ["deletes"]', True),
        ("[tools.Bash]\noverride = true", True),
        ('[tools."bash "]\noverride = true', True),
        ('check_in = [{ tool = "wrtie", path = "x/*" }]', True),
        ('[tools."dcs/get"]\noverride = true', True),
        ('[tools."docs/gt"]\noverride = true', True),
        ('ask = "exec"\n[tools.wrte]\ntier = "exec"', True),
        ('[permissions]\nexec = "ask"\n[tools.bsh]\ntouches = ["exec"]', True),
        ('[tools.wrte]\ntier = "exec"', False),  # no tier is asked about
        ('[tools.bsh]\npolicy = "omit"', False),
        ("[tools.egrep]\noverride = true", False),
        ("[tools.editor]\noverride = true", False),
        ('[tools."docs2/*"]\noverride = true', False),
        ("[tools.Bash]\noverride = true\n[tools.bash]\noverride = true", False),  # one for another agent
        ('check_in = [{ tool = "Bash", runs = "x" }, { tool = "bash", runs = "x" }]', False),
        ("[tools.write_file]\noverride = true", False),  # of another agent, as far as anybody knows
        ('[tools."crm/send"]\noverride = true', False),
        ("[tools.bash]\noverride = true", False),
        ('[tools."b*"]\noverride = true', False),
    ],
)
def test_a_guard_under_a_name_much_like_that_of_a_tool_has_a_person_asked(load: Load, text: str, asks: bool):
    settings = load(text).settings
    held = settings.for_tools(TOOLS)
    assert (held.ask, held.meanwhile is not None) == (("write", True) if asks else (settings.ask, False))
    told = [sentence for sentence in settings.for_session(TOOLS).unmatched(TOOLS) if ASKED_MEANWHILE in sentence]
    assert len(told) == asks


def test_nothing_asks_by_itself(load: Load):
    settings = load().settings
    assert not settings.can_ask
    assert all(gated_by(settings, settings.for_tool(name, watched=True)).is_open for name in ("bash", "x"))


@pytest.mark.parametrize(
    "text",
    [
        'ask = "exec"',
        'check_in = ["dangers"]',
        '[tools]\nbash = { check_in = ["always"] }',
        "[tools]\nbash = { override = true }",
    ],
)
def test_what_asks_is_known_before_the_first_call(load: Load, text: str):
    for loaded in (load(text), load("", text)):
        assert loaded.settings.can_ask
        assert said(loaded) == []
        gated = gated_by(loaded.settings, loaded.settings.for_tool("bash", watched=True))
        assert not gated.is_open


def test_the_environment_says_the_same_in_one_line(load: Load):
    loaded = load(
        PI_INTENT_ASK="Write",
        PI_INTENT_CHECK_IN="dangers, unstated,",
        PI_INTENT_CONSENT="literal",
        PI_INTENT_UNATTENDED="defer",
    )
    settings = loaded.settings
    assert (settings.ask, settings.check_in) == ("write", ("dangers", "unstated"))
    assert (settings.consent, settings.unattended) == ("literal", "defer")
    assert loaded.warnings == ()
    assert loaded.origins["check_in"] == "PI_INTENT_CHECK_IN"


def test_every_rule_of_a_tool_asks_not_the_most_specific_one_alone(load: Load):
    text = """
        check_in = ["dangers"]
        [tools]
        bash = { check_in = ["network", { runs = "git push", reason = "it is public" }] }
        "*" = { check_in = ["unstated", "dangers"] }
    """
    settings = load(text).settings
    assert settings.for_tool("bash", watched=True).check_in == (
        "dangers",
        "unstated",
        "network",
        Match(runs="git push", reason="it is public"),
    )
    assert settings.for_tool("other", watched=True).check_in == ("dangers", "unstated")


def test_a_persons_tier_takes_the_place_of_an_authors_and_its_reason_is_shown(load: Load):
    text = 'ask = "exec"\n[tools]\n"srv/*" = { tier = "read" }\n"srv/mail" = { tier = "exec", reason = "it is sent" }'
    settings = load(text).settings
    assert settings.for_tool("mail", tool_source="srv", watched=True).tier == Tiered("exec", "it is sent")
    assert settings.for_tool("find", tool_source="srv", watched=True).tier == Tiered("read")
    assert settings.for_tool("find", tool_source="other", watched=True).tier is None


@pytest.mark.parametrize(
    ("said", "rules", "origin"),
    [
        ("dangers", ("dangers",), "PI_INTENT_CHECK_IN"),
        ("danger", ("always",), "{file}"),
        ("xyz,dangers", ("always", "dangers"), "{file} and PI_INTENT_CHECK_IN"),
        ("always,xyz", ("always",), "{file} and PI_INTENT_CHECK_IN"),
    ],
)
def test_a_misspelt_variable_does_not_switch_off_the_rules_of_the_file(
    machine: Machine, said: str, rules: tuple[str, ...], origin: str
) -> None:
    loaded = machine.load(user='check_in = ["always"]', env={"PI_INTENT_CHECK_IN": said})
    assert loaded.settings.check_in == rules
    assert loaded.origins["check_in"] == origin.format(file=machine.user_file)
    stays = [sentence.endswith(" The rules of your file stay in force.") for sentence in loaded.warnings]
    assert stays == ([] if said == "dangers" else [True, False])
    assert loaded.settings.ask == ("none" if said == "dangers" else "write")
    assert all(isinstance(sentence, Lapse) for sentence in loaded.warnings)
