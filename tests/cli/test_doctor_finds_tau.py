"""The doctor finds the Python that runs Tau, or says why there is none."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from doctor_machine import TAU, Machine

from pi_intent.errors import HostError
from pi_intent.hosts.tau.locate import TauCommand, find_tau
from pi_intent.hosts.tau.probe import probe_tau


def launcher(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tau"
    path.write_text(text)
    path.chmod(0o755)
    return path


BODY = "import sys\nfrom tau_coding.cli import app\nsys.exit(app())\n"


@pytest.mark.parametrize(
    ("head", "python"),
    [
        ("#!{bin}/python3\n", ["{bin}/python3"]),
        ("#!{bin}/python3 -sE\n", ["{bin}/python3", "-sE"]),
        ("#! {bin}/python3\n", ["{bin}/python3"]),
        ("#!/usr/bin/env python3\n", ["{bin}/python3"]),
        ("#!/usr/bin/env -S python3 -s\n", ["{bin}/python3", "-s"]),
        ("#!/bin/sh\n'''exec' {bin}/python3 \"$0\" \"$@\"\n' '''\n", ["{bin}/python3"]),
        ("#!/bin/sh\n'''exec' \"{bin}/a b/python\" \"$0\" \"$@\"\n' '''\n", ["{bin}/a b/python"]),
        ("#!/bin/sh\n'''exec' '{bin}/a b/python' \"$0\" \"$@\"\n' '''\n", ["{bin}/a b/python"]),
        (
            "#!/bin/sh\n'''exec' \"$(dirname -- \"$(realpath -- \"$0\")\")\"/'python3' \"$0\" \"$@\"\n' '''\n",
            ["{bin}/python3"],
        ),
    ],
)
def test_the_python_of_a_launcher_is_read_in_every_form_that_installers_write(
    tmp_path: Path, head: str, python: list[str]
) -> None:
    folder = tmp_path / "bin"
    for name in ("python3", "a b/python"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(sys.executable)
    path = launcher(folder, head.format(bin=folder) + BODY)
    expected = TauCommand(path=path, python=tuple(word.format(bin=folder) for word in python))
    assert find_tau({"PATH": str(folder)}, executable="/nowhere/python") == expected


def test_a_linked_launcher_beside_which_there_is_no_python_is_followed(tmp_path: Path) -> None:
    head = "#!/bin/sh\n'''exec' \"$(dirname -- \"$(realpath -- \"$0\")\")\"/'python3' \"$0\" \"$@\"\n' '''\n"
    real = launcher(tmp_path / "tool" / "bin", head + BODY)
    (real.parent / "python3").symlink_to(sys.executable)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tau").symlink_to(real)
    found = find_tau({"PATH": str(tmp_path / "bin")}, executable="/nowhere/python")
    assert found == TauCommand(path=tmp_path / "bin" / "tau", python=(str(real.parent / "python3"),))


def test_path_comes_before_the_own_environment_and_other_programs_are_passed_over(tmp_path: Path) -> None:
    launcher(tmp_path / "other", "#!/bin/sh\nexec tau-performance-system\n")
    wanted = launcher(tmp_path / "wanted", f"#!{sys.executable}\n{BODY}")
    path = os.pathsep.join([str(tmp_path / "other"), str(tmp_path / "wanted")])
    assert find_tau({"PATH": path}).path == wanted
    assert find_tau({"PATH": str(tmp_path / "other")}).path == TAU
    assert find_tau({"PATH": ""}).path == TAU


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("#!/bin/sh\nexec something else\n", "is not a launcher"),
        (f"#!/nowhere/python3\n{BODY}", "needs /nowhere/python3, which is gone: install Tau again"),
        (f"#!/usr/bin/env python9\n{BODY}", "asks for python9, which is not on PATH"),
        (f"#!/bin/sh\n{BODY}", "does not say which Python runs Tau"),
        (f"#!/usr/bin/node\n{BODY}", "does not say which Python runs Tau"),
        (f"#!'unclosed\n{BODY}", "does not say which Python runs Tau"),
        (BODY, "does not say which Python runs Tau"),
    ],
)
def test_a_tau_that_cannot_be_looked_into_is_told_with_what_to_do(tmp_path: Path, text: str, says: str) -> None:
    launcher(tmp_path, text)
    with pytest.raises(HostError, match=says):
        find_tau({"PATH": str(tmp_path)}, executable="/nowhere/python")


def test_a_python_without_tau_is_told_in_words(machine: Machine) -> None:
    launched = launcher(machine.root / "bin", f"#!{sys.executable} -S\n{BODY}")
    tau = find_tau({"PATH": str(launched.parent)})
    with pytest.raises(HostError, match=f"{launched} cannot be looked into: ModuleNotFoundError"):
        probe_tau(tau, cwd=machine.project, environ=machine.environ, with_calls=False)
