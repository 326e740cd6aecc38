"""What single programs put at risk, told from their names and arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pi_intent.gates.shell.dangers.elsewhere import elsewhere_dangers
from pi_intent.gates.shell.dangers.machine import machine_dangers
from pi_intent.gates.shell.dangers.secret_reads import reads_secrets
from pi_intent.gates.shell.dangers.services import service_dangers
from pi_intent.gates.shell.running.inner import TELLS_ITSELF
from pi_intent.gates.shell.running.subcommands import SUBCOMMANDED, subcommand
from pi_intent.gates.shell.script import Command
from pi_intent.word_sets import word_set

_DELETES = word_set("rm rmdir unlink shred srm wipe trash trash-put wipefs truncate rimraf del-cli")
_OWN = {"purge": "deletes", "uninstall": "system"}
"""Our own commands that take away what was recorded, or what records."""
_HELPS_BY_LETTER = word_set(
    "curl wget http https xh aria2c rclone sudo mount umount losetup truncate useradd usermod"
)


def program_dangers(command: Command) -> Iterator[str]:
    """Yield the kinds of danger that a command's own name and arguments tell of."""
    program, texts = command.program or "", command.texts
    words = subcommand(program, command.arguments)
    if _tells_itself(program, texts, words):
        return
    yield from _removing(program, command)
    yield from elsewhere_dangers(program, command, words)
    yield from machine_dangers(program, texts, words)
    if reads_secrets(command):
        yield "secrets"
    yield from service_dangers(program, command, words)
    if program == "pi-intent" and "--dry-run" not in texts:
        yield from (_OWN[word] for word in words[:2] if word in _OWN)


def _tells_itself(program: str, texts: tuple[str, ...], words: list[str]) -> bool:
    """Whether it only says what it is: `-h` is the host for others, and help is only alone."""
    return (
        texts in TELLS_ITSELF
        or (texts == ("-h",) and program in _HELPS_BY_LETTER)
        or (texts[-1:] == ("--help",) and program in SUBCOMMANDED and len(words) <= 1)
    )


def _removing(program: str, command: Command) -> Iterator[str]:
    texts = command.texts
    if (
        program in _DELETES
        or program.startswith("mkfs")
        or (program == "find" and ("-delete" in texts))
        or (program == "dd" and any(t.startswith("of=") and t != "of=/dev/null" for t in texts))
        or (
            program == "rsync"
            and any(t == "--del" or t.startswith(("--delete", "--remove-source-files")) for t in texts)
        )
        or (program == "tar" and "--remove-files" in texts)
        or (program == "zip" and any(re.match(r"-[a-zA-Z]*m|--move", t) for t in texts))
        or (program == "tee" and not {"-a", "--append"} & set(texts) and _reads_nothing(command))
        or (program == "mv" and texts[-1:] == ("/dev/null",))
        or (program == "cp" and "/dev/null" in texts[:-1])
    ):
        yield "deletes"


def _reads_nothing(command: Command) -> bool:
    return any(redirect.operator == "<" and redirect.target.text == "/dev/null" for redirect in command.redirects)
