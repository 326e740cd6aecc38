"""The doctor tells every setting with where it comes from, and what is wrong with it."""

from __future__ import annotations

import pytest
from doctor_machine import FOUR, UNSET, Machine, config_of, verdicts

from pi_intent.hosts.tau.install import write_shim


def test_a_policy_that_lets_calls_run_is_by_the_settings_and_no_failure(machine: Machine) -> None:
    write_shim(machine.extensions)
    config = config_of(machine, 'policy = "optional"\n[tools]\nbash = "require"\nread = "omit"\nedit = "derive"\n')
    before = machine.snapshot()
    code, report = machine.report()
    assert machine.snapshot() == before
    assert (code, report["problems"]) == (0, [])
    assert verdicts(report) == {
        "read": "by_settings",
        "write": "by_settings",
        "edit": "by_settings",
        "bash": "rejected",
    }
    assert report["settings"] == [
        {"key": "policy", "value": "optional", "origin": str(config)},
        *UNSET,
        {"key": "tools.bash.policy", "value": "require", "origin": str(config)},
        {"key": "tools.read.policy", "value": "omit", "origin": str(config)},
        {"key": "tools.edit.policy", "value": "derive", "origin": str(config)},
    ]


def test_tracing_that_nobody_receives_is_a_warning(machine: Machine) -> None:
    write_shim(machine.extensions)
    code, report = machine.report(PI_INTENT_TRACING="on")
    assert (code, report["warnings"]) == (
        0,
        [
            "tracing is on, but no OTEL_EXPORTER_OTLP_ENDPOINT is set: "
            "an agent sends spans only where its host has set up OpenTelemetry"
        ],
    )
    code, report = machine.report(PI_INTENT_TRACING="on", OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    assert (code, report["warnings"]) == (
        0,
        ["tracing is on, but nobody listens at http://127.0.0.1:9/v1/traces: start what is to receive the spans"],
    )


def test_settings_of_the_project_and_the_environment_are_told_with_their_warnings(machine: Machine) -> None:
    write_shim(machine.extensions)
    (machine.project / ".pi-intent.toml").write_text('policy = "omit"\n[tools]\nbash = "require"\n')
    code, report = machine.report(PI_INTENT_POLICY="adaptive", PI_INTENT_BUDGET="1")
    assert (code, verdicts(report)) == (0, dict.fromkeys(FOUR, "rejected"))
    project = str(machine.project / ".pi-intent.toml")
    assert [setting for setting in report["settings"] if setting["origin"] != "default"] == [
        {"key": "policy", "value": "adaptive", "origin": "PI_INTENT_POLICY"},
        {"key": "budget", "value": 1, "origin": "PI_INTENT_BUDGET"},
        {"key": "policy (at least)", "value": "omit", "origin": project},
        {"key": "tools.bash.policy (at least)", "value": "require", "origin": project},
    ]
    assert report["warnings"] == [
        f'{project}: policy asks for "omit" where "adaptive" holds; the project\'s file can only make this stricter.'
    ]


def test_every_warning_of_the_settings_is_told_however_many(machine: Machine) -> None:
    write_shim(machine.extensions)
    (machine.project / ".pi-intent.toml").write_text(
        "check_in = [" + ", ".join(f'{{ runs = "a{number}; b" }}' for number in range(50)) + "]\n"
    )
    code, report = machine.report()
    told = report["problems"]
    assert (code, len(told), report["warnings"]) == (1, 51, [])
    assert all(f"check_in[{number}] is" in warning for number, warning in enumerate(told[:-1], start=1))


def test_every_rule_that_matches_no_tool_is_told_however_many(machine: Machine) -> None:
    write_shim(machine.extensions)
    rules = ", ".join(f'{{ tool = "bsh{number}" }}' for number in range(6))
    (machine.project / ".pi-intent.toml").write_text(f"check_in = [{rules}]\n[tools]\nbash = {{ check_in = [] }}\n")
    code, report = machine.report()
    told = [f'check_in: {{ tool = "bsh{number}" }} matches no tool; did you mean "bash"?' for number in range(6)]
    assert (code, report["warnings"]) == (0, told)


def test_a_guard_of_a_tool_whose_name_is_a_slip_is_a_problem(machine: Machine) -> None:
    write_shim(machine.extensions)
    config_of(machine, "[tools.bsh]\noverride = true\n")
    code, report = machine.report()
    assert (code, len(report["problems"]), report["warnings"]) == (1, 1, [])
    assert 'tools.bsh matches no tool; did you mean "bash"? It is to guard, so every call' in report["problems"][0]
    (ask,) = [setting for setting in report["settings"] if setting["key"] == "ask"]
    assert (ask["value"], ask["origin"]) == ("write", report["problems"][0].partition("; did you mean")[0])


def test_settings_that_cannot_be_read_are_a_problem_and_what_runs_is_asked_about(machine: Machine) -> None:
    write_shim(machine.extensions)
    config = config_of(machine, 'check_in = ["dangers"\n')
    code, report = machine.report()
    [problem] = report["problems"]
    assert (code, report["warnings"]) == (1, [])
    assert problem.startswith(f"{config} cannot be read as TOML: ")
    texts = {tool["name"]: tool["text"] for tool in report["tools"]}
    held = "rejected without an intent; with one a person is asked before it runs, by your settings"
    assert texts == {
        "read": "rejected without an intent; with one it runs",
        "write": f"{held} (in this trial because of tier write)",
        "edit": f"{held} (in this trial because of tier write)",
        "bash": f"{held} (in this trial because of tier exec)",
    }
    assert "All good" not in machine.doctor().stdout


@pytest.mark.parametrize(
    ("text", "code"), [('ask = "exe"', 1), ('[tools.bash]\ntier = "run"', 1), ('polcy = "omit"', 0)]
)
def test_a_setting_that_was_to_guard_and_does_not_count_is_a_problem(machine: Machine, text: str, code: int) -> None:
    write_shim(machine.extensions)
    config = config_of(machine, text)
    got, report = machine.report()
    told = report["problems" if code else "warnings"]
    assert (got, len(told)) == (code, len(report["problems"]) + len(report["warnings"]))
    assert all(one.startswith(f"{config}: ") for one in told)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (
            'check_in = ["always"]\nunattended = "defer"',
            "it waits for a person, by your settings (in this trial because of always)",
        ),
        (
            'permissions = { exec = "deny" }\n[tools.bash]\ntouches = ["exec"]',
            "it is not permitted, by your settings",
        ),
    ],
)
def test_what_pi_intent_refuses_itself_is_not_blamed_on_another_extension(
    machine: Machine, text: str, end: str
) -> None:
    write_shim(machine.extensions)
    config_of(machine, text)
    code, report = machine.report()
    [bash] = [tool["text"] for tool in report["tools"] if tool["name"] == "bash"]
    assert (code, bash) == (0, f"rejected without an intent; with one {end}")


def test_a_credential_that_cannot_be_had_is_a_problem_of_the_tool(machine: Machine) -> None:
    write_shim(machine.extensions)
    config_of(machine, '[credentials]\ndeploy = "env:NO_SUCH_VARIABLE"\n[tools.bash]\nneeds = ["deploy"]\n')
    code, report = machine.report()
    assert (code, report["problems"]) == (
        1,
        [
            "bash: with an intent it is refused, as a credential that it needs could not be fetched: "
            "see in the warnings which one and why, and mend that; or unset needs"
        ],
    )
    assert report["warnings"] == [
        "Tau shows at its start: could not fetch the credential deploy: the variable NO_SUCH_VARIABLE is not set"
    ]


def test_everything_that_is_set_is_told_and_nothing_that_says_nothing(machine: Machine) -> None:
    write_shim(machine.extensions)
    config = config_of(
        machine,
        'artifacts = true\ncheck_in = ["publishes"]\n[permissions]\nsecrets = "deny"\n[credentials]\n'
        'deploy = { from = "env:HOME_KEY", as = "DEPLOY" }\nother = "command:pass show x"\n'
        '[tools.fetch]\nstores = ["page"]\n[tools.write]\nwants = { content = "page" }\n'
        '[tools.push]\nneeds = ["deploy"]\n',
    )
    (machine.project / ".pi-intent.toml").write_text(
        "check_in = []\n[tools.bash]\noverride = false\ncheck_in = []\ntouches = []\n"
    )
    _, report = machine.report()
    told = {setting["key"]: (setting["value"], setting["origin"]) for setting in report["settings"]}
    mine = str(config)
    assert {key: value for key, value in told.items() if value[1] != "default"} == {
        "artifacts": (True, mine),
        "check_in": (["publishes"], mine),
        "permissions": (["secrets: deny"], mine),
        "credentials": (
            {
                "deploy": {"from": "env:HOME_KEY", "as": "DEPLOY"},
                "other": {"from": "command:pass …", "as": "OTHER"},
            },
            mine,
        ),
        "tools.fetch.stores": (["page"], mine),
        "tools.write.wants": (["content: page"], mine),
        "tools.push.needs": (["deploy"], mine),
    }
    lines = machine.doctor(COLUMNS="200").stdout.splitlines()
    assert f'permissions         {{ secrets = "deny" }} · {mine}' in lines
    config.write_text("")
    assert not any(line.startswith(("permissions", "credentials")) for line in machine.doctor().stdout.splitlines())


def test_a_long_warning_of_the_settings_stands_there_once(machine: Machine) -> None:
    write_shim(machine.extensions)
    config_of(machine, f'check_in = [{{ runs = "{"x" * 100}; y", path = "{"y" * 100}", tool = "{"z" * 90}" }}]\n')
    folder = machine.home / ".config" / "pi-intent"
    deep = machine.home / ("d" * 200) / ("e" * 150)
    deep.mkdir(parents=True)
    folder.rename(deep / "pi-intent")
    code, report = machine.report(XDG_CONFIG_HOME=str(deep))
    problem, _ = report["problems"]
    assert (code, len(problem) > 400, report["warnings"]) == (1, True, [])


def test_rules_for_servers_are_none_of_taus(machine: Machine) -> None:
    write_shim(machine.extensions)
    config_of(machine, 'ask = "exec"\n[tools]\n"docs/*" = { tier = "read" }\n"crm/send_mail" = { override = true }\n')
    code, report = machine.report()
    assert (code, report["warnings"]) == (0, [])


def test_of_a_rule_without_a_tool_that_alone_is_told(machine: Machine) -> None:
    write_shim(machine.extensions)
    config = config_of(machine, '[tools.bsh]\ntier = "read"\n[tools.bash]\ntier = "exec"\n')
    told = [note for note in machine.report()[1]["warnings"] if str(config) in note]
    assert told == [
        f'{config}: tools.bash.tier has no effect while ask is "none": set ask to "exec", "write" or "all".',
        f'{config}: tools.bsh matches no tool; did you mean "bash"?',
    ]
