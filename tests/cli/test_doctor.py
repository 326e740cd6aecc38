"""The doctor proves on the real Tau what an installation does, says what is wrong, and leaves no trace."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from doctor_machine import FOUR, SECONDS, TAU, UNSET, Machine, verdicts

import pi_intent
from pi_intent.cli.demo.model import ScriptedCall, ScriptedModel, Turn
from pi_intent.cli.demo.tau import HermeticTau
from pi_intent.descriptions import descriptions_folder
from pi_intent.hosts.tau.install import PACKAGE, write_shim
from pi_intent.ledger.calls import read_ledger
from pi_intent.ledger.location import find_ledger


def test_a_working_installation_is_proven_tool_by_tool_and_no_trace_is_left(machine: Machine) -> None:
    shim = write_shim(machine.extensions).path
    before = machine.snapshot()
    code, report = machine.report()
    assert machine.snapshot() == before
    expected = {
        "verdict": "rejected",
        "text": "rejected without an intent; with one it runs",
        "watched": "require",
        "unwatched": "adaptive",
        "problem": None,
    }
    assert code == 0
    assert report == {
        "ok": True,
        "problems": [],
        "warnings": [],
        "piIntent": {"version": pi_intent.__version__, "path": str(PACKAGE)},
        "tau": {
            "command": str(TAU),
            "version": "0.4.8",
            "tested": ["0.4.8"],
            "python": ".".join(map(str, sys.version_info[:3])),
            "home": str(machine.home / ".tau"),
            "extension": str(shim),
            "loads": str(PACKAGE),
        },
        "tools": [{"name": name, **expected} for name in FOUR],
        "settings": [
            {"key": "policy", "value": None, "origin": "default"},
            *UNSET,
        ],
        "ledger": {
            "path": str(machine.project / ".git" / "pi-intent"),
            "segments": 0,
            "size": 0,
            "oldest": None,
            "newest": None,
            "note": None,
            "obstacle": None,
        },
    }


def test_the_report_for_people_says_the_same_in_plain_text(machine: Machine) -> None:
    write_shim(machine.extensions)
    done = machine.doctor(NO_COLOR="1", FORCE_COLOR="1", COLUMNS="200")
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr, lines[-1]) == (0, "", "✓ All good.")
    assert "\x1b[3" not in done.stdout
    policy = "require where a person watches, else adaptive"
    assert [line for line in lines if line.startswith("✓ ")][:4] == [
        f"✓ {name:5}  rejected without an intent; with one it runs · {policy}" for name in FOUR
    ]


def test_what_is_not_installed_is_one_problem_and_exits_with_1(machine: Machine) -> None:
    code, report = machine.report()
    assert (code, report["ok"], verdicts(report)) == (1, False, dict.fromkeys(FOUR, "not_ours"))
    assert report["problems"] == [f'pi-intent is not installed in {machine.home}/.tau: run "pi-intent install tau"']
    assert {tool["text"] for tool in report["tools"]} == {"not ours: the call went to Tau's own tool"}


def test_off_is_told_and_exits_with_1(machine: Machine) -> None:
    write_shim(machine.extensions)
    code, report = machine.report(PI_INTENT="off")
    assert (code, report["tools"], report["settings"]) == (
        1,
        [],
        [{"key": "off", "value": True, "origin": "PI_INTENT"}],
    )
    assert report["problems"] == ["PI_INTENT=off is set, so everything of pi-intent is off: unset it"]


def test_a_package_that_is_gone_is_told_in_the_file_s_own_words(machine: Machine) -> None:
    shim = write_shim(machine.extensions, package=machine.root / "gone").path
    code, report = machine.report()
    assert code == 1
    assert report["problems"] == [
        f"pi-intent is off, calls state no intent: {machine.root / 'gone'} is gone; "
        f'run "pi-intent install tau" again, or delete {shim}'
    ]


def test_a_package_that_does_not_load_is_told_in_plain_words(machine: Machine) -> None:
    broken = machine.root / "broken"
    broken.mkdir()
    (broken / "__init__.py").write_text("import no_such_module\n")
    shim = write_shim(machine.extensions, package=broken).path
    _, report = machine.report()
    python = ".".join(map(str, sys.version_info[:2]))
    assert report["problems"] == [
        f"pi-intent is off, calls state no intent: {broken} does not work with this Tau under Python {python}: "
        f"No module named 'no_such_module'; run \"pi-intent install tau\" again, or delete {shim}"
    ]


def test_another_pi_intent_than_this_one_is_told(machine: Machine) -> None:
    elsewhere = machine.root / "pi_intent"
    shutil.copytree(PACKAGE, elsewhere, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(descriptions_folder(), elsewhere / "tool_descriptions", dirs_exist_ok=True)
    write_shim(machine.extensions, package=elsewhere)
    code, report = machine.report()
    assert (code, report["tau"]["loads"]) == (0, str(elsewhere))
    [warning] = report["warnings"]
    assert warning.endswith('"pi-intent install tau" makes Tau use this one')


def test_the_ledger_of_the_project_is_described_and_stays_as_it_is(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    turns = [
        Turn(calls=(ScriptedCall(name="bash", arguments={"command": "true"}),)),
        Turn(text="Done"),
        Turn(calls=(ScriptedCall(name="bash", arguments={"intent": "Run nothing", "command": "true"}),)),
    ]
    with ScriptedModel(turns) as model:
        tau = HermeticTau.create(tmp_path / "tau", model.base_url)
        write_shim(tau.tau_home / "extensions")
        tau.run("Go", timeout=SECONDS)
        tau.run("Go", timeout=SECONDS)
    machine.project = tau.project
    write_shim(machine.extensions)
    location = find_ledger(tau.project, tau.environment)
    records = read_ledger(location.root)
    times = [item.ts for item in (*records.sessions, *records.calls)]
    times += [call.done.ts for call in records.calls if call.done is not None]
    files = {path: path.read_bytes() for path in location.root.rglob("*") if path.is_file()}
    _, report = machine.report()
    assert report["ledger"] == {
        "path": str(location.root),
        "segments": 2,
        "size": sum(path.stat().st_size for path in location.segments.iterdir()),
        "oldest": min(times),
        "newest": max(times),
        "note": None,
        "obstacle": None,
    }
    assert {path: path.read_bytes() for path in location.root.rglob("*") if path.is_file()} == files


def test_a_machine_without_tau_is_told_in_one_sentence(machine: Machine) -> None:
    bare = machine.root / "bin"
    bare.mkdir()
    (bare / "python").symlink_to(Path(sys.executable).resolve())
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    done = subprocess.run(
        [str(bare / "python"), "-m", "pi_intent.cli.main", "doctor"],
        env=machine.environ | {"PATH": "/nowhere", "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), packages])},
        cwd=machine.project,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        'Error: there is no "tau" command: install Tau, for example with "uv tool install tau-ai", '
        "or put it on PATH\n"
    )
