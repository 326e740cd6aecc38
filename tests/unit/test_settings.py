"""What people set, in which order it counts, and what the page about it says."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from settings_machine import Machine, policy_of

from pi_intent.gates.tiers import Tiered
from pi_intent.settings import LoadedSettings, Settings, ToolRule, ToolSettings, load_settings
from pi_intent.settings.layers import KEYS
from pi_intent.types import Policy


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
        user='polcy = 1\npolicy = "require"\nbudget = 0\n'
        'check_in = ["danger", { runs = "make | tee log" }]\n[tools]\nbsh = { override = true }\n',
        project='policy = "omit"',
        env={"PI_INTENT_BUDGET": "many"},
    )
    real = [*loaded.warnings, *loaded.settings.unmatched(["bash", "read"])]
    names = {str(machine.user_file): "/home/ada/.config/pi-intent/config.toml"}
    names[str(machine.project_file)] = "/home/ada/shop/.pi-intent.toml"
    for path, name in names.items():
        real = [sentence.replace(path, name) for sentence in real]
    assert sorted(real) == sorted(documented)
