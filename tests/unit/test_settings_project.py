"""What a cloned repository can ask for: only what is stricter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from settings_machine import TOP_KEYS, Machine, policy_of

from pi_intent.settings import Settings, ToolSettings
from pi_intent.types import STRICTNESS, Policy

POLICIES: list[Policy] = list(STRICTNESS)


# The project's file can only make things stricter


@given(user=st.sampled_from([None, *POLICIES]), project=st.sampled_from(POLICIES), watched=st.booleans())
@pytest.mark.parametrize("where", ["general", "exact", "glob", "star"])
def test_no_project_policy_lowers_what_the_user_gets(
    tmp_path_factory: pytest.TempPathFactory, where: str, user: Policy | None, project: Policy, watched: bool
) -> None:
    machine = Machine(tmp_path_factory.mktemp("s"))
    text = {
        "general": f'policy = "{project}"',
        "exact": f'[tools]\nbash = "{project}"',
        "glob": f'[tools]\n"ba*" = {{ policy = "{project}" }}',
        "star": f'[tools]\n"*" = "{project}"',
    }[where]
    for general in ("", "[tools]\nbash = "):
        said = "" if user is None else f'{general or "policy = "}"{user}"'
        loaded = machine.load(user=said, project=text)
        alone: Policy = user or ("require" if watched else "adaptive")
        expected = max(alone, project, key=STRICTNESS.__getitem__)
        assert policy_of(loaded, watched=watched) == expected


def test_a_projects_general_policy_reaches_a_tool_the_user_made_lax(machine: Machine) -> None:
    loaded = machine.load(user='policy = "optional"\n[tools]\nbash = "omit"\n', project='policy = "adaptive"')
    assert [policy_of(loaded), policy_of(loaded, "read"), policy_of(loaded, "x", "mcp")] == ["adaptive"] * 3
    assert loaded.settings.policy == "adaptive"
    assert loaded.origins["policy"] == str(machine.project_file)


def test_a_project_asking_for_adaptive_does_not_lower_the_default_of_a_watched_session(machine: Machine) -> None:
    loaded = machine.load(project='policy = "adaptive"')
    assert (loaded.settings.policy, policy_of(loaded, watched=True), policy_of(loaded, watched=False)) == (
        None,
        "require",
        "adaptive",
    )
    assert loaded.origins["policy"] == "default"


def test_a_project_can_ask_for_require_where_nobody_watches(machine: Machine) -> None:
    loaded = machine.load(project='policy = "require"')
    assert policy_of(loaded, watched=False) == "require"
    assert loaded.origins["policy"] == str(machine.project_file)


def test_a_narrow_rule_of_the_project_shadows_neither_the_user_nor_its_own_wider_one(machine: Machine) -> None:
    loaded = machine.load(
        user='policy = "omit"\n[tools]\n"*" = "adaptive"\n',
        project='[tools]\n"b*" = "require"\nbash = "derive"\n"evil/bash" = "omit"\nread = "omit"\n',
    )
    assert [policy_of(loaded), policy_of(loaded, "bash", "evil"), policy_of(loaded, "read")] == [
        "require",
        "require",
        "adaptive",
    ]


def test_the_project_raises_numbers_and_switches_and_never_lowers_them(machine: Machine) -> None:
    user = 'policy = "adaptive"\nbudget = 5\n[tools]\nbash = { budget = 2, redact_args = false }\n'
    raised = machine.load(user=user, project="budget = 9\nredact_args = true\nstrict = true\n")
    assert raised.settings.for_tool("bash", watched=True) == ToolSettings(
        policy="adaptive", profile="lean", budget=9, redact_args=True
    )
    assert (raised.settings.budget, raised.settings.redact_args, raised.settings.strict) == (9, True, True)
    lowered = machine.load(
        user="redact_args = true\nstrict = true\nbudget = 5\n",
        project="budget = 1\nredact_args = false\nstrict = false\n",
    )
    assert lowered.settings.for_tool("bash", watched=True) == ToolSettings(
        policy="require", profile="lean", budget=5, redact_args=True
    )
    assert lowered.settings.strict
    path = machine.project_file
    assert lowered.warnings == (
        f"{path}: budget asks for 1 where 5 holds; the project's file can only make this stricter.",
        f"{path}: redact_args asks for false where true holds; the project's file can only make this stricter.",
        f"{path}: strict asks for false where true holds; the project's file can only make this stricter.",
    )


def test_a_laxer_policy_in_a_project_is_warned_about(machine: Machine) -> None:
    loaded = machine.load(
        project='policy = "omit"\n[tools]\nbash = "optional"\n"github/*" = "derive"\nread = "adaptive"\n'
    )
    path = machine.project_file
    assert loaded.warnings == (
        f'{path}: policy asks for "omit" where "adaptive" holds; the project\'s file can only make this stricter.',
        f'{path}: tools.bash.policy asks for "optional" where "adaptive" holds; '
        "the project's file can only make this stricter.",
        f'{path}: tools."github/*".policy asks for "derive" where "optional" holds; '
        "the project's file can only make this stricter.",
    )


def test_a_project_can_ask_to_keep_longer_what_the_user_keeps_and_never_shorter(machine: Machine) -> None:
    for user, project, outcome in (
        ("forever", "1d", "forever"),
        ("90d", "12w", "90d"),
        ("90d", "13w", "13w"),
        ("90d", "forever", "forever"),
        ("13w", "91d", "13w"),
    ):
        loaded = machine.load(user=f'keep = "{user}"', project=f'keep = "{project}"')
        assert loaded.settings.keep == outcome
        assert loaded.origins["keep"] == str(machine.user_file if outcome == user else machine.project_file)
    loaded = machine.load(user='keep = "90d"', project='keep = "1d"')
    assert loaded.warnings == (
        f'{machine.project_file}: keep asks for "1d" where "90d" holds; '
        "the project's file can only make this stricter.",
    )


def test_the_environment_says_how_long_to_keep_as_well(machine: Machine) -> None:
    loaded = machine.load(user='keep = "90d"', env={"PI_INTENT_KEEP": "2W"})
    assert (loaded.settings.keep, loaded.origins["keep"], loaded.warnings) == ("2w", "PI_INTENT_KEEP", ())


def test_a_project_can_neither_send_spans_nor_stop_them(machine: Machine) -> None:
    on = machine.load(project="tracing = true\n")
    assert (on.settings.tracing, on.origins["tracing"]) == (False, "default")
    assert on.warnings == (f"{machine.project_file}: tracing does not count: set it in your own config.toml.",)
    off = machine.load(user="tracing = true\n", project="tracing = false\n")
    assert (off.settings.tracing, off.origins["tracing"]) == (True, str(machine.user_file))
    by_variable = machine.load(user="tracing = false\n", env={"PI_INTENT_TRACING": "on"})
    assert (by_variable.settings.tracing, by_variable.origins["tracing"]) == (True, "PI_INTENT_TRACING")


def test_a_project_has_no_say_in_the_profile_and_cannot_switch_us_off(machine: Machine) -> None:
    loaded = machine.load(
        project='off = true\nPI_INTENT = "off"\nprofile = "full"\n[tools]\nbash = { profile = "full", off = true }\n'
    )
    path = machine.project_file
    assert loaded.settings.for_tool("bash", watched=True) == ToolSettings(
        policy="require", profile="lean", budget=3, redact_args=False
    )
    assert loaded.warnings == (
        f"{path}: off cannot be set here; set PI_INTENT=off in the environment.",
        f"{path}: PI_INTENT is not a setting; the settings are {TOP_KEYS}.",
        f"{path}: tools.bash.off is not a setting of a tool; those are {TOOL_KEYS}.",
        f"{path}: profile does not count: a project's file only sets how strict to be. "
        "Choose the profile in your own config.toml.",
        f"{path}: tools.bash.profile does not count: a project's file only sets how strict to be. "
        "Choose the profile in your own config.toml.",
    )


def test_the_users_file_cannot_switch_us_off_either(machine: Machine) -> None:
    loaded = machine.load(user="off = true")
    assert (loaded.settings, loaded.warnings) == (
        Settings(),
        (f"{machine.user_file}: off cannot be set here; set PI_INTENT=off in the environment.",),
    )


TOOL_KEYS = ", ".join(
    (
        *("policy", "profile", "budget", "redact_args", "result_limit", "tier", "reason", "override"),
        *("check_in", "touches", "needs", "stores", "wants"),
    )
)
