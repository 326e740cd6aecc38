"""The bytes that reach a real terminal: Tau in a pseudo-terminal, and intents that are written to hurt it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from pathlib import Path

import pytest
from tau_desk import CHECKOUT

from pi_intent.cli.demo.model import ScriptedCall, ScriptedModel, Turn
from pi_intent.cli.demo.tau import HermeticTau, stop

ATTACKS = {
    "title": "\x1b]0;pwned\x07",
    "title ended by ST": "\x1b]2;pwned\x1b\\",
    "clipboard": "\x1b]52;c;cHduZWQ=\x07",
    "link": "\x1b]8;;https://pwned.example\x07",
    "device control": "\x1bPpwned\x1b\\",
    "title in C1": "\x9d0;pwned\x9c",
    "reset": "\x1bc",
    "other screen": "\x1b[?47h",
    "keys": "\x1b[5i",
    "right to left": "\u202e",
}
FORBIDDEN = re.compile(
    r"\x1b\](?:[0128]|52);[^\x07\x1b]*(?:pwned|cHduZWQ)"
    r"|\x1bP[^\x1b]*pwned|\x1bc|\x1b\[\?47h|\x1b\[5i|[\x80-\x9f]|[\u202a-\u202e\u2066-\u2069]"
)
SECONDS = 40


class Terminal:
    """A pseudo-terminal with a process in it, and every byte that came out."""

    def __init__(self, tau: HermeticTau, *arguments: str) -> None:
        self.screen, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        environment = {name: text for name, text in tau.environment.items() if name != "NO_COLOR"}
        self.process = subprocess.Popen(
            [str(tau.command), *arguments],
            cwd=tau.project,
            env={**environment, "TERM": "xterm-256color"},
            stdin=inside,
            stdout=inside,
            stderr=inside,
            start_new_session=True,
        )
        os.close(inside)
        self.raw = b""

    @property
    def text(self) -> str:
        return self.raw.decode(errors="replace")

    def read_until(self, *wanted: str, since: int = 0) -> None:
        """Read until all the texts were written after the byte `since`."""
        deadline = time.monotonic() + SECONDS
        while any(text not in self.raw[since:].decode(errors="replace") for text in wanted):
            assert time.monotonic() < deadline, f"none of {wanted} in {self.text[-3000:]!r}"
            if select.select([self.screen], [], [], 0.2)[0]:
                self.raw += os.read(self.screen, 65536)

    def press(self, keys: str) -> None:
        os.write(self.screen, keys.encode())

    def close(self) -> None:
        stop(self.process)
        os.close(self.screen)


@pytest.mark.parametrize("ending", ["settled", "interrupted while it streams", "interrupted while it runs"])
def test_nothing_an_intent_holds_reaches_the_terminal_as_a_command(tmp_path: Path, ending: str):
    intent = "Begin" + "".join(f" {name} {attack}x" for name, attack in ATTACKS.items()) + " all said"
    command = "sleep 30" if ending == "interrupted while it runs" else "true"
    call = ScriptedCall(name="bash", arguments={"intent": intent, "command": command, "rationale": intent})
    with ScriptedModel([Turn(calls=(call,)), Turn(text="It is done")], piece=12, pause=0.03) as model:
        tau = HermeticTau.create(tmp_path, model.base_url)
        terminal = Terminal(tau, "--extension", str(CHECKOUT), "Go")
        try:
            terminal.read_until("Begin title")
            match ending:
                case "settled":
                    terminal.read_until("✓ Begin title", "It is done")
                    terminal.press("\x1bOQ")  # F2: the calls in full
                    terminal.read_until("all said")
                case "interrupted while it streams":
                    terminal.press("\x1b")
                    terminal.read_until("⊘ Begin title")
                case _:
                    terminal.read_until("all said" if "all said" in terminal.text else "$ sleep 30")
                    terminal.press("\x1b")
                    terminal.read_until("⊘ Begin title")
        finally:
            terminal.close()
    assert FORBIDDEN.findall(terminal.text) == []


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_is_forbidden_is_found_where_it_is(attack: str):
    assert FORBIDDEN.search(f"screen {ATTACKS[attack]} screen")
