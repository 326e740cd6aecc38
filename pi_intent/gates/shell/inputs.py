"""What a command takes from its input, and what another one puts there."""

from __future__ import annotations

import re

from pi_intent.gates.shell.running.languages import LANGUAGES, reads_input
from pi_intent.gates.shell.running.shells import SHELLS
from pi_intent.gates.shell.script import Command

_LONGEST_SAID = 64 * 1024
_WITHOUT_LINE_END = re.compile("-[eE]*n[neE]*")


def reads_code(command: Command) -> bool:
    """Whether a command takes its program from its input."""
    program, texts = command.program or "", command.texts
    if program in SHELLS:
        return not any(not text.startswith(("-", "+")) for text in texts[:1]) and not any(
            text.startswith("-") and not text.startswith("--") and "c" in text for text in texts
        )
    if program == "ssh":
        return len([text for text in texts if not text.startswith("-")]) == 1
    if LANGUAGES.fullmatch(program):
        return reads_input(texts)
    return program in ("xargs", "parallel") and texts[-1:] != () and texts[-1] in SHELLS


def says_nothing(command: Command) -> bool:
    """Whether a command prints nothing, so that what it is written to is left empty."""
    match command.program:
        case ":" | "true" | "false":
            return True
        case "cat":
            given = [redirect.target.text for redirect in command.redirects if redirect.operator == "<"]
            read = [word.text for word in command.arguments] or given[-1:]
            return read == ["/dev/null"]
        case "printf":
            return said_by(command) == ""
        case "echo":
            return any(map(_WITHOUT_LINE_END.fullmatch, command.texts[:1])) and said_by(command) == ""
        case _:
            return False


def said_by(command: Command) -> str | None:
    """What `echo` or `printf` prints, where that is known: plain text and line ends."""
    if any(word.text is None for word in command.arguments):
        return None
    texts = list(command.texts)
    if command.program == "echo":
        while texts and re.fullmatch("-[neE]+", texts[0]):
            del texts[0]
        said = " ".join(texts)
    elif command.program == "printf" and texts and not texts[0].startswith("-"):
        said = _printed(texts[0], texts[1:])
    else:
        return None
    said = said.replace("\\n", "\n")
    return None if "\\" in said or len(said) > _LONGEST_SAID else said


def _printed(form: str, values: list[str]) -> str:
    """The text of a format, which is used again while there are values; a backslash where it is not known."""
    pieces = re.findall(r"%%|%[sb]|%|[^%]+", form)
    holes = sum(piece in ("%s", "%b") for piece in pieces)
    rounds = max(1, -(-len(values) // holes)) if holes else 1
    if "%" in pieces or rounds * len(form) > _LONGEST_SAID:
        return "\\"
    left = iter(values)
    return "".join(
        next(left, "") if piece in ("%s", "%b") else piece.replace("%%", "%")
        for _ in range(rounds)
        for piece in pieces
    )
