"""A cloned project can only add to when a person is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from settings_machine import Load, Machine, loader, said

from pi_intent.gates.kinds import Match
from pi_intent.gates.tiers import MODES, TIERS, Tiered, is_asked, raised, tier_of
from pi_intent.gating import gated_by
from pi_intent.settings import LoadedSettings
from pi_intent.settings.layers import PROJECTS


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
    load = loader(Machine(tmp_path_factory.mktemp("settings")))
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
