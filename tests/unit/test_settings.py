"""What people set, in which order it counts, and what a cloned repository cannot do about it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_intent.gates.tiers import Tiered
from pi_intent.settings import LoadedSettings, Settings, ToolRule, ToolSettings, load_settings
from pi_intent.settings.layers import KEYS
from pi_intent.types import STRICTNESS, Policy

POLICIES: list[Policy] = list(STRICTNESS)


class Machine:
    """A home and a project with the files a test writes, and one call to load them."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = root / "project"
        self.user_file = self.home / ".config" / "pi-intent" / "config.toml"
        self.project_file = self.project / ".pi-intent.toml"
        self.user_file.parent.mkdir(parents=True)
        self.project.mkdir()

    def load(
        self,
        user: str | None = None,
        project: str | None = None,
        env: Mapping[str, str] | None = None,
        overrides: Mapping[str, object] | None = None,
    ) -> LoadedSettings:
        if user is not None:
            self.user_file.write_text(user, encoding="utf-8")
        if project is not None:
            self.project_file.write_text(project, encoding="utf-8")
        environ = {"HOME": str(self.home), **(env or {})}
        return load_settings(project=self.project, environ=environ, overrides=overrides)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def policy_of(
    loaded: LoadedSettings, tool: str = "bash", source: str | None = None, *, watched: bool = True
) -> Policy:
    return loaded.settings.for_tool(tool, tool_source=source, watched=watched).policy


# What holds when nobody says anything


def test_without_any_source_the_defaults_hold(machine: Machine) -> None:
    assert machine.load() == LoadedSettings(
        settings=Settings(
            policy=None, profile=None, budget=3, redact_args=False, strict=False, tools=(), floors=(), off=False
        ),
        origins=dict.fromkeys(
            [*KEYS, "off"],
            "default",
        ),
        warnings=(),
        files=(),
    )


def test_the_default_policy_depends_on_who_watches_and_whose_tool_it_is() -> None:
    settings = Settings()
    assert [
        settings.for_tool("bash", watched=True).policy,
        settings.for_tool("bash", watched=False).policy,
        settings.for_tool("search", tool_source="github", watched=True).policy,
        settings.for_tool("search", tool_source="github", watched=False).policy,
    ] == ["require", "adaptive", "optional", "optional"]


def test_the_host_supplies_the_profile_nobody_chose() -> None:
    assert Settings().for_tool("bash", watched=True) == ToolSettings(
        policy="require", profile="lean", budget=3, redact_args=False
    )
    assert Settings().for_tool("bash", watched=True, profile="full").profile == "full"
    assert Settings(profile="lean").for_tool("bash", watched=True, profile="full").profile == "lean"


# Precedence


def test_each_source_overrides_the_ones_before_it_key_by_key(machine: Machine) -> None:
    loaded = machine.load(
        user='policy = "optional"\nprofile = "full"\nbudget = 7\nstrict = true\n[tools]\nbash = "adaptive"\n',
        env={"PI_INTENT_POLICY": "derive", "PI_INTENT_PROFILE": "lean"},
        overrides={"policy": "omit", "tools": {"read": {"policy": "require"}}},
    )
    path = str(machine.user_file)
    assert loaded == LoadedSettings(
        settings=Settings(
            policy="omit",
            profile="lean",
            budget=7,
            strict=True,
            tools=(
                ToolRule(pattern="bash", origin=path, policy="adaptive"),
                ToolRule(pattern="read", origin="command line", policy="require"),
            ),
        ),
        origins={
            **dict.fromkeys((*KEYS, "off"), "default"),
            "policy": "command line",
            "profile": "PI_INTENT_PROFILE",
            "budget": path,
            "strict": path,
            "tools.bash.policy": path,
            "tools.read.policy": "command line",
        },
        warnings=(),
        files=(machine.user_file,),
    )


def test_the_users_folder_follows_xdg(machine: Machine, tmp_path: Path) -> None:
    folder = tmp_path / "xdg" / "pi-intent"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("budget = 9")
    loaded = machine.load(user="budget = 2", env={"XDG_CONFIG_HOME": str(tmp_path / "xdg")})
    assert (loaded.settings.budget, loaded.files) == (9, (folder / "config.toml",))


def test_a_relative_xdg_folder_would_lie_in_the_project_and_is_not_used(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(machine.project)
    planted = machine.project / "conf" / "pi-intent"
    planted.mkdir(parents=True)
    (planted / "config.toml").write_text('policy = "omit"')
    loaded = machine.load(user='policy = "adaptive"', env={"XDG_CONFIG_HOME": "conf"})
    assert (loaded.settings.policy, loaded.warnings) == (
        "adaptive",
        ('XDG_CONFIG_HOME is "conf", but must be an absolute path; ~/.config is used.',),
    )


def test_without_a_home_there_is_no_user_file() -> None:
    assert load_settings(project=None, environ={}).files == ()


def test_every_variable_is_read(machine: Machine) -> None:
    loaded = machine.load(
        env={
            "PI_INTENT": "on",
            "PI_INTENT_POLICY": " Adaptive ",
            "PI_INTENT_PROFILE": "full",
            "PI_INTENT_BUDGET": "12",
            "PI_INTENT_REDACT_ARGS": "1",
            "PI_INTENT_STRICT": "yes",
        }
    )
    assert loaded.settings == Settings(policy="adaptive", profile="full", budget=12, redact_args=True, strict=True)
    assert loaded.origins["redact_args"] == "PI_INTENT_REDACT_ARGS"
    assert loaded.warnings == ()


def test_empty_variables_and_options_not_given_say_nothing(machine: Machine) -> None:
    loaded = machine.load(
        env={"PI_INTENT": "", "PI_INTENT_POLICY": "", "PI_INTENT_BUDGET": " "}, overrides={"policy": None}
    )
    assert (loaded.settings, loaded.warnings) == (Settings(), ())


@pytest.mark.parametrize("value", ["off", "OFF", " off "])
def test_off_switches_everything_off_and_reads_nothing(machine: Machine, value: str) -> None:
    loaded = machine.load(user="not toml", project='policy = "require"', env={"PI_INTENT": value})
    assert loaded == LoadedSettings(settings=Settings(off=True), origins={"off": "PI_INTENT"}, warnings=(), files=())
    assert policy_of(loaded) == "omit"


def test_another_value_of_the_switch_is_warned_about_and_leaves_us_on(machine: Machine) -> None:
    loaded = machine.load(env={"PI_INTENT": "0"})
    assert (loaded.settings.off, loaded.warnings) == (
        False,
        ('PI_INTENT is "0", but must be "on" or "off"; pi-intent stays on.',),
    )


# Rules for single tools


def rules(**policies: Policy) -> Settings:
    return Settings(tools=tuple(ToolRule(pattern=p, origin="o", policy=policy) for p, policy in policies.items()))


@pytest.mark.parametrize(
    ("patterns", "tool", "source", "expected"),
    [
        ({"bash": "omit"}, "bash", None, "omit"),
        ({"bash": "omit"}, "read", None, "require"),
        ({"*": "omit"}, "bash", None, "omit"),
        ({"bash": "adaptive", "*": "omit"}, "bash", None, "adaptive"),
        ({"*": "omit", "bash": "adaptive"}, "bash", None, "adaptive"),
        ({"ba*": "derive", "b*": "omit"}, "bash", None, "derive"),
        ({"b*": "omit", "ba*": "derive"}, "bash", None, "derive"),
        ({"very_long_*": "omit", "very_long_name": "derive"}, "very_long_name", None, "derive"),
        ({"b?sh": "omit"}, "bash", None, "omit"),
        ({"my-tool": "omit"}, "my_tool", None, "omit"),
        ({"my_tool": "omit"}, "my-tool", None, "omit"),
        ({"git-hub/*": "derive"}, "search", "git_hub", "derive"),
        ({"github/*": "derive"}, "search", "github", "derive"),
        ({"github/*": "derive"}, "search", None, "require"),
        ({"search": "derive"}, "search", "github", "derive"),
        ({"search": "derive", "github/search": "omit"}, "search", "github", "omit"),
        ({"github/search": "omit", "search": "derive"}, "search", "gitlab", "derive"),
        ({"search": "derive", "github/*": "omit"}, "search", "github", "derive"),
        ({"BASH": "omit"}, "bash", None, "require"),
        ({"[a-z]ash": "omit"}, "bash", None, "require"),
        ({"[x]": "omit"}, "[x]", None, "omit"),
    ],
)
def test_the_most_specific_rule_wins(
    patterns: dict[str, Policy], tool: str, source: str | None, expected: Policy
) -> None:
    assert rules(**patterns).for_tool(tool, tool_source=source, watched=True).policy == expected


def test_each_key_comes_from_the_most_specific_rule_that_sets_it(machine: Machine) -> None:
    loaded = machine.load(
        user=(
            'redact_args = true\n[tools]\n"*" = { policy = "adaptive", budget = 5, profile = "full" }\n'
            '"b*" = { budget = 8 }\nbash = { redact_args = false }\n'
        )
    )
    assert loaded.settings.for_tool("bash", watched=True) == ToolSettings(
        policy="adaptive", profile="full", budget=8, redact_args=False
    )
    assert loaded.warnings == ()


def test_of_two_equally_specific_rules_the_later_source_wins(machine: Machine) -> None:
    loaded = machine.load(user='[tools]\n"my-tool" = "omit"\n', overrides={"tools": {"my_tool": "derive"}})
    assert policy_of(loaded, "my_tool") == "derive"


def test_a_tools_own_rule_goes_before_a_general_setting_of_any_source(machine: Machine) -> None:
    loaded = machine.load(user='[tools]\nbash = "require"\n', env={"PI_INTENT_POLICY": "omit"})
    assert (policy_of(loaded), policy_of(loaded, "read")) == ("require", "omit")


def test_settings_cannot_be_changed_and_the_memory_of_answers_is_no_part_of_them() -> None:
    settings = Settings()
    first = settings.for_tool("bash", watched=True)
    assert settings.for_tool("bash", watched=True) is first
    assert settings == Settings()
    assert hash(settings) == hash(Settings())
    with pytest.raises(FrozenInstanceError):
        settings.off = True  # type: ignore[misc]


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


# Files that cannot be used


def make_link(path: Path) -> None:
    target = path.parent / "target.toml"
    target.write_text('policy = "require"')
    path.symlink_to(target)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(path.parent)  # the address has room for a hundred characters
        try:
            listener.bind(path.name)
        finally:
            os.chdir(here)


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "link": (make_link, "is a symbolic link, which is not followed in a project"),
    "link to nothing": (
        lambda path: path.symlink_to("/nowhere/at/all"),
        "is a symbolic link, which is not followed in a project",
    ),
    "endless device": (
        lambda path: path.symlink_to("/dev/zero"),
        "is a symbolic link, which is not followed in a project",
    ),
    "directory": (Path.mkdir, "is not a regular file"),
    "pipe": (os.mkfifo, "is not a regular file"),
    "socket": (make_socket, "cannot be read (No such device or address)"),
    "too large": (lambda path: path.write_bytes(b"#" * (256 * 1024 + 1)), "is larger than 256 KiB"),
    "UTF-16": (lambda path: path.write_bytes('policy = "require"'.encode("utf-16")), "is not UTF-8 text"),
    "Latin-1": (lambda path: path.write_bytes(b"# \xe9t\xe9"), "is not UTF-8 text"),
    "null bytes": (
        lambda path: path.write_bytes(b"\0" * 100),
        "is not valid TOML (Invalid statement (at line 1, column 1))",
    ),
    "nested": (lambda path: path.write_text("x = " + "[" * 200_000), "is nested too deeply"),
    "dotted": (
        lambda path: path.write_text("budget = 5\n" + "a." * 100_000 + "a = 1"),
        "has more than 64 dots in line 2, which no setting needs",
    ),
    "digits": (
        lambda path: path.write_text("budget = " + "9" * 200_000),
        "holds a number that is too long to read",
    ),
}


def bounded(run: Callable[[], LoadedSettings]) -> LoadedSettings:
    """Run something that must not wait for anybody, and give up on it after ten seconds."""
    results: list[LoadedSettings] = []
    thread = threading.Thread(target=lambda: results.append(run()), daemon=True)
    thread.start()
    thread.join(timeout=10)
    assert results, "loading the settings did not come back"
    return results[0]


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_project_file_is_told_about_and_changes_nothing(machine: Machine, kind: str) -> None:
    make, reason = HOSTILE[kind]
    make(machine.project_file)
    loaded = bounded(lambda: machine.load(user='policy = "adaptive"'))
    assert loaded.settings == Settings(policy="adaptive")
    assert loaded.warnings == (f"{machine.project_file} {reason}; nothing in it counts.",)
    assert loaded.files == (machine.user_file,)


def test_of_broken_toml_nothing_counts(machine: Machine) -> None:
    loaded = machine.load(user='strict = true\npolicy == "omit"\n')
    assert (loaded.settings, loaded.files) == (Settings(), ())
    assert loaded.warnings == (
        f"{machine.user_file} is not valid TOML (Invalid value (at line 2, column 9)); nothing in it counts.",
    )


def test_an_unreadable_file_is_told_about(machine: Machine) -> None:
    machine.user_file.symlink_to(machine.user_file)
    assert machine.load().warnings == (
        f"{machine.user_file} cannot be read (Too many levels of symbolic links); nothing in it counts.",
    )


def test_the_users_file_may_be_a_link(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text('policy = "derive"')
    machine.user_file.symlink_to(tmp_path / "dotfiles.toml")
    assert machine.load().settings.policy == "derive"


def test_a_byte_order_mark_and_windows_line_ends_are_read(machine: Machine) -> None:
    machine.user_file.write_bytes(b'\xef\xbb\xbfpolicy = "derive"\r\nbudget = 4\r\n')
    loaded = machine.load()
    assert (loaded.settings.policy, loaded.settings.budget) == ("derive", 4)


def test_a_line_of_dots_in_a_comment_is_no_reason_to_refuse_a_file(machine: Machine) -> None:
    assert machine.load(user="# " + "." * 100 + "\nstrict = true\n").settings.strict


def test_a_path_that_cannot_exist_is_told_about() -> None:
    loaded = load_settings(project=Path("/tmp/a\0b"), environ={})
    assert loaded.warnings == ('"/tmp/a\\u0000b/.pi-intent.toml" is not the name of a file; nothing in it counts.',)


def test_a_flood_of_faults_is_cut_and_does_not_bury_those_of_the_user(machine: Machine) -> None:
    many = "".join(f"k{number} = 1\n" for number in range(15_000))
    tools = "[tools]\n" + "".join(f't{number} = "omit"\n' for number in range(5_000))
    loaded = bounded(
        lambda: machine.load(user='policy = "omit"\nbudget = 5\n[tools]\nread = "require"\n', project=many + tools)
    )
    path = machine.project_file
    assert loaded.warnings[0] == f"{path} has 15000 unknown keys; the first 5 are named here."
    assert loaded.warnings[6] == f"{path}: tools has more than 256 entries; the others do not count."
    assert loaded.warnings[7] == (
        f'{machine.user_file}: budget has no effect beside the policy "omit": only "adaptive" counts rounds.'
    )
    assert len(loaded.warnings) == 8
    assert policy_of(loaded, "read") == "require"


def test_hundreds_of_laxer_rules_are_told_about_twenty_times_after_what_concerns_the_user(machine: Machine) -> None:
    loaded = machine.load(
        user='policy = "omit"\nbudget = 9\n[tools]\n"t*" = "require"',
        project="[tools]\n" + "".join(f't{number} = "omit"\n' for number in range(200)),
    )
    assert len(loaded.warnings) == 21
    assert loaded.warnings[0] == (
        f'{machine.user_file}: budget has no effect beside the policy "omit": only "adaptive" counts rounds.'
    )
    assert loaded.warnings[1] == (
        f'{machine.project_file}: tools.t0.policy asks for "omit" where "require" holds; '
        "the project's file can only make this stricter."
    )
    assert loaded.warnings[-1] == "settings: 181 more warnings like these."


def test_nothing_from_a_file_reaches_a_screen_raw(machine: Machine) -> None:
    loaded = machine.load(
        project=(
            r'"\u001b[2J\u202E" = 1' + "\n" + r'policy = "\u001b]0;x\u0007"' + "\n"
            r"[tools]" + "\n" + r'"a\u001b[31m" = 5' + "\n" + f'long = "{"x" * 1000}"\n'
        )
    )
    assert all(sentence.isprintable() and len(sentence) < 400 for sentence in loaded.warnings)
    assert len(loaded.warnings) == 4


# Values that cannot be used, word for word


TOP_KEYS = (
    "policy, profile, budget, redact_args, result_limit, strict, live, checkpoints, tracing, keep, ask, consent, "
    "unattended, artifacts, check_in, permissions, credentials, tools"
)
TOOL_KEYS = ", ".join(
    (
        *("policy", "profile", "budget", "redact_args", "result_limit", "tier", "reason", "override"),
        *("check_in", "touches", "needs", "stores", "wants"),
    )
)
KEEP_WORDS = '"forever", or a number of days or weeks such as "90d" or "12w"'
POLICY_WORDS = '"require", "adaptive", "optional", "derive" or "omit"'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('policy = "requires"', f'policy is "requires", but must be {POLICY_WORDS}; did you mean "require"?'),
        ("policy = 3", f"policy is 3, but must be {POLICY_WORDS}."),
        ("policy = []", f"policy is a list, but must be {POLICY_WORDS}."),
        ('profile = "fat"', 'profile is "fat", but must be "lean" or "full".'),
        ("budget = 0", "budget is 0, but must be a whole number from 1 to 100."),
        ("budget = 101", "budget is 101, but must be a whole number from 1 to 100."),
        ('budget = "5"', 'budget is "5", but must be a whole number from 1 to 100.'),
        ("budget = 5.0", "budget is 5.0, but must be a whole number from 1 to 100."),
        ("budget = true", "budget is true, but must be a whole number from 1 to 100."),
        (f"budget = 0x{'f' * 9000}", "budget is a huge number, but must be a whole number from 1 to 100."),
        ("redact_args = 1", "redact_args is 1, but must be true or false."),
        ("strict = { a = 1 }", "strict is a table, but must be true or false."),
        ("strict = 1979-05-27", "strict is a date, but must be true or false."),
        ('keep = "6m"', f'keep is "6m", but must be {KEEP_WORDS}.'),
        ('keep = "0d"', f'keep is "0d", but must be {KEEP_WORDS}.'),
        ('keep = "-3d"', f'keep is "-3d", but must be {KEEP_WORDS}.'),
        ('keep = "999999d"', f'keep is "999999d", but must be {KEEP_WORDS}.'),
        ('keep = "foreve"', f'keep is "foreve", but must be {KEEP_WORDS}; did you mean "forever"?'),
        ("keep = 90", f"keep is 90, but must be {KEEP_WORDS}."),
        ("keep = true", f"keep is true, but must be {KEEP_WORDS}."),
        ('polcy = "omit"', 'polcy is not a setting; did you mean "policy"?'),
        (
            '"live screen" = 1',
            f'"live screen" is not a setting; the settings are {TOP_KEYS}.',
        ),
        ('tools = "bash"', 'tools is "bash", but must be a table of tool names.'),
        ("[tools]\nbudget = 5", f"tools.budget is 5, but must be {POLICY_WORDS}, or a table of settings."),
        ('[tools]\nbash = "of"', f'tools.bash is "of", but must be {POLICY_WORDS}.'),
        (
            '[tools]\nbash = { policy = "omitt" }',
            f'tools.bash.policy is "omitt", but must be {POLICY_WORDS}; did you mean "omit"?',
        ),
        (
            "[tools]\nbash = { budgets = 5 }",
            'tools.bash.budgets is not a setting of a tool; did you mean "budget"?',
        ),
        (
            "[tools]\nbash = { strict = true }",
            "tools.bash.strict cannot be set for one tool; set it at the top of the file.",
        ),
        (
            '[tools]\ngithub.search = "omit"',
            "tools.github.search is not a setting of a tool; "
            'a tool of a server is written in quotes: "github/search".',
        ),
        ('[tools]\n"" = "omit"', 'tools has the key "", but a key must be the name of a tool or a glob.'),
        (
            '[tools]\na-b = "omit"\na_b = "derive"',
            'tools.a_b names the same tools as "a-b", - and _ being alike; keep one of them.',
        ),
        (
            'policy = "require"\nbudget = 5',
            'budget has no effect beside the policy "require": only "adaptive" counts rounds.',
        ),
        (
            '[tools]\n"x/*" = { policy = "omit", profile = "full" }',
            'tools."x/*".profile has no effect beside the policy "omit": the tool\'s schema is left alone.',
        ),
        (
            '[tools]\nbash = { policy = "optional", budget = 5 }',
            'tools.bash.budget has no effect beside the policy "optional": only "adaptive" counts rounds.',
        ),
    ],
)
def test_each_fault_of_a_file_is_one_sentence(machine: Machine, text: str, sentence: str) -> None:
    assert machine.load(user=text).warnings == (f"{machine.user_file}: {sentence}",)


def test_the_rest_of_a_faulty_file_still_counts(machine: Machine) -> None:
    loaded = machine.load(
        user='polcy = 1\npolicy = "maybe"\nbudget = 5\nstrict = "no"\n'
        '[tools]\nread = 7\nbash = { policy = "adaptive", budget = 0, redact_args = true }\n'
    )
    rule = ToolRule(pattern="bash", origin=str(machine.user_file), policy="adaptive", redact_args=True)
    assert loaded.settings == Settings(budget=5, tools=(rule,))
    assert len(loaded.warnings) == 5
    assert loaded.files == (machine.user_file,)


def test_faults_of_variables_and_of_the_command_line_name_them(machine: Machine) -> None:
    loaded = machine.load(
        env={
            "PI_INTENT_BUDGET": "many",
            "PI_INTENT_POLCY": "omit",
            "PI_INTENT_HOST": "x",
            "PI_INTENT_STRICT": "perhaps",
        },
        overrides={"profile": "thin", "tools": {"bash": 3}},
    )
    assert loaded.settings == Settings()
    assert loaded.warnings == (
        "PI_INTENT_POLCY is not a setting; did you mean PI_INTENT_POLICY?",
        'PI_INTENT_BUDGET is "many", but must be a whole number from 1 to 100.',
        'PI_INTENT_STRICT is "perhaps", but must be true or false.',
        'command line: profile is "thin", but must be "lean" or "full".',
        f"command line: tools.bash is 3, but must be {POLICY_WORDS}, or a table of settings.",
    )


def test_a_budget_that_a_tool_under_adaptive_can_use_is_not_warned_about(machine: Machine) -> None:
    user = 'policy = "require"\nbudget = 5\n'
    assert machine.load(user=user + '[tools]\nbash = "adaptive"\n').warnings == ()
    assert machine.load(user="budget = 5\n").warnings == ()


def test_a_projects_budget_beside_require_has_no_effect_but_beside_optional_it_may(machine: Machine) -> None:
    user = 'policy = "adaptive"'
    assert machine.load(user=user, project='policy = "require"\nbudget = 5').warnings == (
        f'{machine.project_file}: budget has no effect beside the policy "require": only "adaptive" counts rounds.',
    )
    loaded = machine.load(
        user='policy = "omit"\n[tools]\nbash = "adaptive"\n',
        project='[tools]\n"b*" = { policy = "optional", budget = 9 }\n',
    )
    assert loaded.warnings == ()
    assert loaded.settings.for_tool("bash", watched=True).budget == 9


@given(
    data=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["policy", "tools", "budget"]), inner)
        ),
    )
)
def test_no_value_whatever_raises(data: object) -> None:
    for key in ("policy", "profile", "budget", "redact_args", "strict", "tools", "x"):
        load_settings(project=None, environ={}, overrides={key: data})
    load_settings(project=None, environ={}, overrides={"tools": {"bash": data, "*": {"policy": data}}})


# Patterns that match nothing


def test_a_pattern_that_matches_no_tool_is_told_with_the_nearest_name() -> None:
    def rule(pattern: str) -> ToolRule:
        return ToolRule(pattern=pattern, origin="/c.toml", policy="omit")

    settings = Settings(
        tools=tuple(map(rule, ["bsh", "read", "*", "git-hub/search", "search", "r*d"])),
        floors=(rule("githb/*"), rule("*"), rule("zzz")),
    )
    assert settings.unmatched(iter(["bash", "read", "git_hub/search"])) == (
        '/c.toml: tools.bsh matches no tool; did you mean "bash"?',
        '/c.toml: tools."githb/*" matches no tool; did you mean "git_hub/*"?',
        "/c.toml: tools.zzz matches no tool; this session has none of a similar name.",
    )


# What is loaded


def modules_after(code: str, home: Path) -> list[str]:
    script = f"{code}\nimport sys\nprint(*sorted(n for n in ('pydantic', 'click', 'rich') if n in sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={"HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return run.stdout.split()


LOAD = (
    "import os\nfrom pi_intent.settings import load_settings\n"
    "loaded = load_settings(project=None, environ=os.environ)\nloaded.settings.for_tool('bash', watched=True)\n"
)


def test_pydantic_is_loaded_for_a_file_only(machine: Machine) -> None:
    assert modules_after(LOAD, machine.home) == []
    assert modules_after(LOAD.replace("os.environ)", "os.environ, overrides={'policy': None})"), machine.home) == []
    machine.user_file.write_text("strict = true")
    assert modules_after(LOAD, machine.home) == ["pydantic"]


# What the page for users says


def test_the_files_in_the_docs_are_good_and_do_what_their_comments_say(machine: Machine) -> None:
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")
    user, project = (block.partition("```")[0] for block in page.split("```toml\n")[1:])
    alone = machine.load(user=user)
    assert alone.warnings == ()
    assert [policy_of(alone, *tool) for tool in [("bash",), ("read",), ("search", "github"), ("edit",)]] == [
        "require",
        "optional",
        "omit",
        "adaptive",
    ]
    machine.user_file.unlink()
    raised = machine.load(project=project)
    assert raised.warnings == ()
    assert [policy_of(raised, "read", watched=watched) for watched in (True, False)] == ["require", "adaptive"]
    assert raised.settings.for_tool("deploy_web", tool_source="ci", watched=True) == ToolSettings(
        policy="require",
        profile="lean",
        budget=5,
        redact_args=True,
        floor=Tiered("exec", None, True),
        check_in=("publishes",),
    )


def test_the_warnings_in_the_docs_are_the_real_ones(machine: Machine) -> None:
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")
    documented = page.partition("```text\n")[2].partition("```")[0].splitlines()
    loaded = machine.load(
        user='polcy = 1\npolicy = "require"\nbudget = 0\ncheck_in = ["danger"]\n[tools]\nbsh = "omit"\n',
        project='policy = "omit"',
        env={"PI_INTENT_BUDGET": "many"},
    )
    real = [*loaded.warnings, *loaded.settings.unmatched(["bash", "read"])]
    names = {str(machine.user_file): "/home/ada/.config/pi-intent/config.toml"}
    names[str(machine.project_file)] = "/home/ada/shop/.pi-intent.toml"
    for path, name in names.items():
        real = [sentence.replace(path, name) for sentence in real]
    assert sorted(real) == sorted(documented)
