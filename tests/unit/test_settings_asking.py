"""When a person is asked is read like every setting."""

from __future__ import annotations

import pytest
from settings_machine import Load, Machine, said

from pi_intent.gates.kinds import Match
from pi_intent.gates.tiers import Tiered
from pi_intent.gating import gated_by
from pi_intent.settings.load import ASKED_MEANWHILE
from pi_intent.settings.wording import Lapse


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
        ("".join(f"x{number} = 1\n" for number in range(30)) + "ask = 1", "ask"),
        ("".join(f"[tools.t{number}]\nbudget = 0\n" for number in range(30)) + 'tier = "exce"', "tier"),
    ],
)
def test_where_it_is_misspelt_when_to_ask_what_changes_something_is_asked_about(
    load: Load, text: str, key: str, by: str
):
    loaded = load(text) if by == "user" else load("", text)
    assert loaded.settings.ask == "write"
    assert loaded.warnings[-1].endswith(f": {key} does not count in full, so {ASKED_MEANWHILE}")


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
    assert stays == ([] if said == "dangers" else [True])
    assert all(isinstance(sentence, Lapse) for sentence in loaded.warnings)
