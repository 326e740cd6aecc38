"""When a person is asked is read like every setting, and a cloned project can only add to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from settings_machine import Machine

from pi_intent.gates.kinds import RULE_WORDS, Match
from pi_intent.gates.tiers import MODES, TIERS, Tiered, is_asked, raised, tier_of
from pi_intent.gating import gated_by
from pi_intent.settings import LoadedSettings, load_settings
from pi_intent.settings.layers import PROJECTS
from pi_intent.settings.load import ASKED_MEANWHILE
from pi_intent.settings.wording import Lapse

type Load = Callable[..., LoadedSettings]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    return loader(tmp_path)


def loader(root: Path) -> Load:
    user, project = root / "home/.config/pi-intent/config.toml", root / "project"
    user.parent.mkdir(parents=True)
    project.mkdir()

    def load(user_text: str = "", project_text: str = "", **environ: str) -> LoadedSettings:
        user.write_text(user_text, encoding="utf-8")
        (project / ".pi-intent.toml").write_text(project_text, encoding="utf-8")
        return load_settings(project=project, environ={"HOME": str(root / "home"), **environ})

    return load


def said(loaded: LoadedSettings) -> list[str]:
    """The warnings without the name of the file, and without what follows from them."""
    told = (warning for warning in loaded.warnings if not warning.endswith(ASKED_MEANWHILE))
    return [warning.partition(".toml: ")[2] or warning for warning in told]


@pytest.mark.parametrize("by", ["user", "project"])
@pytest.mark.parametrize(
    "text", ['ask = "wrtie"', 'check_in = ["dangers", "alwayss"]', "check_in = [{ runs = 'a | b' }]"]
)
def test_where_it_is_misspelt_when_to_ask_what_changes_something_is_asked_about(load: Load, text: str, by: str):
    loaded = load(text) if by == "user" else load("", text)
    key = text.partition(" ")[0]
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


# What can never take effect is said when it is read


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('ask = "always"', 'ask is "always", but must be "none", "exec", "write" or "all".'),
        ('ask = "exe"', 'ask is "exe", but must be "none", "exec", "write" or "all"; did you mean "exec"?'),
        ('check_in = ["danger"]', 'check_in holds "danger", which is no rule; did you mean "dangers"?'),
        ('check_in = ["xyz"]', f'check_in holds "xyz", which is no rule; the rules are {", ".join(RULE_WORDS)}.'),
        (
            "check_in = 3",
            'check_in is 3, but must be a list, such as ["dangers"]; each is a rule by name, or a table of tool, '
            "runs, path and reason.",
        ),
        (
            "check_in = [3]",
            "check_in holds 3, but each must be a rule by name, or a table of tool, runs, path and reason.",
        ),
        (
            'check_in = [{ reason = "x" }]',
            'check_in[1] is { reason = "x" }, which says of no call that it is meant: give it a tool, runs or path.',
        ),
        (
            'check_in = [{ run = "x" }]',
            'check_in[1] is { run = "x" }, whose "run" is not known; there are tool, runs, path and reason.',
        ),
        (
            'check_in = ["network", { runs = " " }]',
            'check_in[2] is { runs = " " }, whose runs is empty: say what is meant, or leave it out.',
        ),
        (
            'check_in = [{ tool = "write", path = "" }]',
            'check_in[1] is { tool = "write", path = "" }, whose path is empty: say what is meant, or leave it out.',
        ),
        ("check_in = [{ path = 3 }]", "check_in[1] is { path = 3 }, whose path must be a text."),
        (
            'check_in = [{ runs = "git push", path = "src" }]',
            'check_in[1] is { runs = "git push", path = "src" }, which can find nothing: what runs a command '
            "names no file. Make two rules of it, or name the tool of a server that has both.",
        ),
        (
            'check_in = [{ runs = "A=1 make" }]',
            'check_in[1] is { runs = "A=1 make" }, which can find nothing: "A=1" is no program but sets a variable; '
            "leave it out.",
        ),
        (
            'check_in = [{ runs = "bin/" }]',
            'check_in[1] is { runs = "bin/" }, which can find nothing: "bin/" is a folder; name a program in it, '
            "or write bin/*.",
        ),
        (
            'check_in = [{ tool = "read", runs = "x" }]',
            'check_in[1] is { tool = "read", runs = "x" }, which can find nothing: read runs no command.',
        ),
        (
            'check_in = [{ tool = "bash", path = "x" }]',
            'check_in[1] is { tool = "bash", path = "x" }, which can find nothing: bash names no file.',
        ),
        (
            '[tools]\nread = { check_in = ["outside_project"] }',
            'tools.read.check_in holds "outside_project", which finds nothing in a tool that only reads; "outside" '
            "asks about what is read outside the project.",
        ),
        (
            'policy = "require"\ncheck_in = ["unstated"]',
            'check_in: "unstated" has no effect beside the policy "require": a call without an intent is refused, '
            "and nobody is asked.",
        ),
        (
            '[tools]\nbash = { policy = "require", check_in = ["unstated"] }',
            'tools.bash.check_in: "unstated" has no effect beside the policy "require": a call without an intent is '
            "refused, and nobody is asked.",
        ),
        (
            'check_in = [{ path = "$HOME/x" }]',
            'check_in[1] is { path = "$HOME/x" }, whose path is taken as it stands: no variable is put in; write ~/ '
            "for your home folder.",
        ),
        (
            'check_in = [{ path = "src/{a,b}*" }]',
            'check_in[1] is { path = "src/{a,b}*" }, whose path is taken as it stands: braces do not stand for '
            "alternatives; write a rule for each.",
        ),
        (
            '[tools]\nread = { check_in = ["network"] }',
            'tools.read.check_in holds "network", which can find nothing: read runs no command.',
        ),
        (
            '[tools]\nbash = { check_in = [{ tool = "bash", runs = "x" }] }',
            'tools.bash.check_in[1] is { tool = "bash", runs = "x" }, whose tool is said by the table that it stands '
            "in: leave it out.",
        ),
        (
            '[tools]\nbash = { tier = "write" }',
            'tools.bash.tier has no effect while ask is "none": set ask to "exec", "write" or "all".',
        ),
        (
            '[tools]\nbash = { reason = "x" }',
            "tools.bash.reason has no effect: it is shown where tier or override is set.",
        ),
        (
            '[tools]\nbash = { ask = "exec" }',
            "tools.bash.ask cannot be set for one tool; set it at the top of the file.",
        ),
        ('consent = "none"', 'consent is "none", but must be "both" or "literal".'),
        ('unattended = "allow"', 'unattended is "allow", but must be "deny" or "defer".'),
    ],
)  # fmt: skip
def test_what_can_never_take_effect_is_refused_when_it_is_read(load: Load, text: str, sentence: str):
    loaded = load(text)
    assert said(loaded) == [sentence]


@pytest.mark.parametrize(
    "runs",
    ["cd x && make", "cat a | sh", "a; b", "a > b", "echo 'x'", 'echo "x"', "a $(b)", "a `b`", "make &", "a || b"],
)
def test_a_whole_command_line_is_refused_as_no_command_could_match_it(load: Load, runs: str):
    loaded = load(f"check_in = [{{ runs = {json.dumps(runs)} }}]")
    assert loaded.settings.check_in == ()
    assert said(loaded) == [
        f"check_in[1] is {{ runs = {json.dumps(runs)} }}, which can find nothing: runs is a program and words among "
        "its arguments, not a whole command line; leave out quotes and what joins commands."
    ]


def test_what_can_match_is_not_refused(load: Load):
    rules = ["/usr/bin/true", "git push --force*", "sudo git", "curl *?a=1&b=2", "echo $HOME", "bin/*", "x A=1"]
    text = ", ".join(f"{{ runs = {json.dumps(runs)} }}" for runs in rules)
    loaded = load(f'check_in = [{text}, {{ tool = "srv/run", runs = "x", path = "y" }}, {{ path = "./a b/[x]*" }}]')
    assert said(loaded) == []
    assert len(loaded.settings.check_in) == len(rules) + 2


def test_what_is_right_beside_it_still_counts(load: Load):
    loaded = load('check_in = ["danger", "network", { runs = "x", reason = 3 }, { runs = "y" }]')
    assert loaded.settings.check_in == ("network", Match(runs="y"))
    assert len(said(loaded)) == 2


def test_more_rules_than_anybody_writes_are_cut(load: Load):
    rules = [{"runs": f"x{number}"} for number in range(300)]
    loaded = load("check_in = [" + ", ".join(f'{{ runs = "{rule["runs"]}" }}' for rule in rules) + "]")
    assert len(loaded.settings.check_in) == 256
    assert said(loaded) == ["check_in has more than 256 rules; the others do not count."]


def test_a_rule_for_a_tool_that_there_is_not_is_said_where_the_tools_are_known(load: Load):
    settings = load('check_in = [{ tool = "bsh", runs = "rm" }, { tool = "b*" }]').settings
    assert settings.unmatched(["read", "bash"]) == (
        'check_in: { tool = "bsh", runs = "rm" } matches no tool; did you mean "bash"?',
    )


def test_of_many_rules_without_a_tool_some_are_said_and_the_others_counted(load: Load):
    settings = load("check_in = [" + ", ".join(f'{{ tool = "zz{number}" }}' for number in range(5)) + "]").settings
    *told, last = settings.unmatched(["read"], most=3)
    assert len(told) == 3
    assert last == "2 more rules match no tool; pi-intent doctor tells all"
    assert len(settings.unmatched(["read"], most=5)) == 5


def test_a_server_hears_of_the_rules_that_name_it_alone(load: Load):
    text = 'check_in = [{ tool = "srv/a" }, { tool = "other/a" }, { tool = "a" }]'
    settings = load(text + '\n[tools]\n"srv/b" = "omit"\n"*/c" = "omit"\nd = "omit"\n').settings
    named = settings.naming(["srv"])
    assert [rule.pattern for rule in named.tools] == ["srv/b"]
    assert [rule.tool for rule in named.check_in] == ["srv/a"]
    assert len(named.unmatched(["srv/x"])) == 2
    assert settings.naming([]).unmatched(["srv/x"]) == ()


def test_a_session_says_nothing_of_rules_for_servers_that_it_does_not_have(load: Load):
    text = 'check_in = [{ tool = "crm/send" }, { tool = "bsh" }]\n[tools]\n"docs/*" = "omit"\n"srv/x" = "omit"\n'
    settings = load(
        text + '"svr/y" = "omit"\n"*/z" = "omit"\nd = "omit"\n', 'check_in = [{ tool = "docs/a" }]'
    ).settings
    told = settings.for_session(["bash", "srv/a"]).unmatched(["bash", "srv/a"])
    named = [sentence.partition(" matches")[0].rpartition(": tools.")[2] for sentence in told]
    assert named == ['"srv/x"', '"svr/y"', '"*/z"', "d", 'check_in: { tool = "bsh" }']


def test_what_only_looks_like_it_is_not_warned_of_and_what_is_doubtful_still_counts(load: Load):
    text = 'check_in = ["unstated", { path = "app/$id.tsx" }, { path = "$ID.md" }, { path = "{x}" }]\n'
    assert said(load(text + 'policy = "adaptive"\n[tools]\nbash = "require"\n')) == []
    assert said(load('policy = "require"\n' + text + '[tools]\n"srv/*" = "optional"\n')) == []
    loaded = load('check_in = [{ path = "${HOME}/x" }]\n[tools]\nread = { check_in = ["dangers", "outside"] }')
    assert loaded.settings.check_in == (Match(path="${HOME}/x"),)
    assert loaded.settings.for_tool("read", watched=True).check_in[1:] == ("dangers", "outside")


def test_what_no_tool_stores_is_said_of_a_tool_that_wants_it(load: Load):
    text = 'artifacts = true\n[tools]\nwrite = { wants = { content = "page" } }\n'
    sentence = 'tools.write.wants.content wants "page", which no tool stores: set stores of the tool that makes it.'
    assert said(load(text)) == [sentence]
    assert said(load(text + 'fetch = { stores = ["page"] }')) == []


# A cloned project


def test_a_permission_that_a_project_adds_comes_from_both(load: Load):
    user = '[permissions]\nmoney = "ask"'
    both = load(user, '[permissions]\nsecrets = "deny"').origins["permissions"]
    assert [part.rpartition("/")[2] for part in both.split(" and ")] == ["config.toml", ".pi-intent.toml"]
    for text in ("[permissions]", user, "check_in = []"):
        loaded = load('check_in = ["network"]\n' + user, text)
        assert {loaded.origins[key].rpartition("/")[2] for key in ("permissions", "check_in")} == {"config.toml"}


STRICT = """
    ask = "write"
    check_in = ["network"]
    [tools]
    read = { tier = "write", reason = "mine", override = true, check_in = ["outside"] }
"""


@pytest.mark.parametrize(
    ("project", "sentence"),
    [
        ('ask = "none"', 'ask asks for "none" where "write" holds; the project\'s file can only make this stricter.'),
        ('ask = "exec"', 'ask asks for "exec" where "write" holds; the project\'s file can only make this stricter.'),
        ('consent = "literal"', "consent does not count: set it in your own config.toml."),
        ('unattended = "defer"', "unattended does not count: set it in your own config.toml."),
        (
            '[tools]\nread = { tier = "read" }',
            'tools.read.tier asks for "read" where "write" holds; the project\'s file can only make this stricter.',
        ),
        (
            "[tools]\nread = { override = false }",
            "tools.read.override asks for false where true holds; the project's file can only make this stricter.",
        ),
        (
            '[tools]\nread = { reason = "all is well" }',
            "tools.read gives a reason, which does not count: what is read where a person decides is theirs to set.",
        ),
    ],
)
def test_a_cloned_project_cannot_take_anything_away_and_that_is_said(load: Load, project: str, sentence: str):
    alone, loaded = load(STRICT), load(STRICT, project)
    assert said(loaded) == [sentence]
    assert in_force(loaded) == in_force(alone)


def in_force(loaded: LoadedSettings) -> list[Any]:
    settings = loaded.settings
    return [gated_by(settings, settings.for_tool(name, watched=True)) for name in ("read", "bash", "other")]


def test_a_cloned_project_removes_no_rule_and_explains_none(load: Load):
    project = 'check_in = [{ runs = "make", reason = "harmless" }]\n[tools]\nread = { check_in = [] }'
    loaded = load(STRICT, project)
    gated = in_force(loaded)
    assert gated[0].rules == ("network", "outside", Match(runs="make", reason=PROJECTS))
    assert gated[1].rules == ("network", Match(runs="make", reason=PROJECTS))
    assert "harmless" not in repr(gated)
    assert said(loaded) == [
        "check_in gives a reason, which does not count: what is read where a person decides is theirs to set."
    ]


def test_a_cloned_project_adds_check_ins_raises_tiers_and_sets_override(load: Load):
    project = """
        ask = "all"
        check_in = ["dangers"]
        [tools]
        write = { tier = "exec" }
        bash = { override = true, check_in = [{ runs = "make deploy" }] }
    """
    loaded = load('ask = "exec"', project)
    assert said(loaded) == []
    settings = loaded.settings
    write, bash = (settings.for_tool(name, watched=True) for name in ("write", "bash"))
    assert settings.ask == "all"
    assert (write.tier, write.floor) == (None, Tiered("exec"))
    assert bash.floor == Tiered("read", override=True)
    assert bash.check_in == ("dangers", Match(runs="make deploy", reason=PROJECTS))


def test_a_project_that_raises_a_tier_does_not_undo_what_the_author_of_the_tool_declared(load: Load):
    loaded = load('ask = "exec"', '[tools]\n"srv/read" = { tier = "write" }')
    gated = gated_by(loaded.settings, loaded.settings.for_tool("read", tool_source="srv", watched=True))
    for declared in (Tiered("exec", "it is remote", override=True), lambda arguments: Tiered("exec")):
        tiered = raised(tier_of(gated.tier or declared, "read", "srv", {}), gated.floor)
        assert tiered.tier == "exec"
        assert is_asked("exec", tiered)


def _toml(table: dict[str, Any]) -> str:
    tools = table.pop("tools", {})
    lines = [f"{key} = {_value(value)}" for key, value in table.items()]
    return "\n".join([*lines, "[tools]", *(f"{json.dumps(key)} = {_value(value)}" for key, value in tools.items())])


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value)


_RULE = st.sampled_from(["always", "dangers", "network", "unstated"]) | st.just({"runs": "rm"})
_RULES = st.lists(_RULE, max_size=3)
_TIER = {"tier": st.sampled_from(TIERS), "override": st.booleans(), "reason": st.just("r")}
_TOOL = st.fixed_dictionaries({}, optional={**_TIER, "check_in": _RULES})
_TABLES = st.fixed_dictionaries(
    {},
    optional={
        "ask": st.sampled_from(MODES),
        "check_in": _RULES,
        "consent": st.sampled_from(["both", "literal"]),
        "unattended": st.sampled_from(["deny", "defer"]),
        "tools": st.dictionaries(st.sampled_from(["bash", "*", "srv/*", "re*", "srv/read"]), _TOOL, max_size=4),
    },
)


@given(_TABLES, _TABLES)
def test_whatever_a_cloned_project_says_at_least_as_much_asks(tmp_path_factory: Any, user: Any, project: Any):
    load = loader(tmp_path_factory.mktemp("settings"))
    texts = _toml(dict(user)), _toml(dict(project))
    alone, both = load(texts[0]).settings, load(*texts).settings
    assert MODES.index(both.ask) >= MODES.index(alone.ask)
    assert (both.consent, both.unattended) == (alone.consent, alone.unattended)
    for name, source in (("bash", None), ("read", None), ("read", "srv"), ("x", "srv")):
        before, after = (
            gated_by(each, each.for_tool(name, tool_source=source, watched=True)) for each in (alone, both)
        )
        assert set(before.rules) <= set(after.rules)
        tiers = [raised(tier_of(gated.tier, name, source, {}), gated.floor) for gated in (before, after)]
        assert TIERS.index(tiers[1].tier) >= TIERS.index(tiers[0].tier)
        assert tiers[1].override >= tiers[0].override
        assert tiers[1].reason == tiers[0].reason


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
