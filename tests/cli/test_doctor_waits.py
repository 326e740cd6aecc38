"""The doctor waits as long as there is reason to, and ends what hangs."""

from __future__ import annotations

import os
import select

import pytest
from doctor_machine import SECONDS, Machine, config_of

from pi_intent.cli.doctor import examine
from pi_intent.errors import HostError
from pi_intent.hosts.tau.install import write_shim
from pi_intent.hosts.tau.locate import find_tau
from pi_intent.hosts.tau.probe import probe_tau, slow_credentials
from pi_intent.settings import load_settings


def test_an_extension_that_hangs_is_ended_with_what_it_started(machine: Machine) -> None:
    alive = machine.root / "alive"
    os.mkfifo(alive)
    reader = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    machine.other_extension(
        "import subprocess\n"
        "def setup(tau):\n"
        f"    subprocess.run(['sleep', '300'], stdout=open({str(alive)!r}, 'w'))\n"
    )
    try:
        with pytest.raises(HostError, match="did not answer within 8 seconds"):
            probe_tau(
                find_tau(machine.environ), cwd=machine.project, environ=machine.environ, with_calls=False, timeout=8
            )
        # The end of file comes when the last of them that could write is gone.
        assert select.select([reader], [], [], SECONDS)[0] == [reader]
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)
    assert [*(machine.root / "tmp").iterdir()] == []


def test_a_credential_that_hangs_is_given_its_time_and_named(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    config_of(
        machine,
        '[credentials]\nslow = "command:sleep 300"\nquick = "env:QUICK"\n'
        '[tools.bash]\nneeds = ["slow", "quick"]\n[tools.read]\nneeds = ["slow"]\n',
    )
    settings = load_settings(project=None, environ=machine.environ).settings
    assert slow_credentials(settings) == ["slow", "slow"]
    machine.other_extension("import time\ndef setup(tau):\n    time.sleep(300)\n")
    monkeypatch.setattr("pi_intent.hosts.tau.probe.COMMAND_SECONDS", 1)
    with pytest.raises(HostError) as raised:
        probe_tau(
            find_tau(machine.environ),
            cwd=machine.project,
            environ=machine.environ,
            with_calls=True,
            timeout=2,
            fetched=slow_credentials(settings),
        )
    assert str(raised.value) == (
        "Tau did not answer within 4 seconds: see whether a credential can be fetched (slow), "
        "move Tau's other extensions away, and try again"
    )


def test_doctor_waits_for_credentials_longer_than_for_tau(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    write_shim(machine.extensions)
    vault = machine.root / "vault"
    vault.write_text("sleep 4; echo correct-horse-battery\n")
    config_of(machine, f'[credentials]\nk = "command:sh {vault}"\n[tools.bash]\nneeds = ["k"]\n')
    monkeypatch.setattr("pi_intent.hosts.tau.probe.TIMEOUT", 3)
    assert examine(machine.project, machine.environ).problems == ()
