"""What a command takes from its input, and what another one puts there."""

from __future__ import annotations

import re

from pi_intent.gates.script import Command
from pi_intent.gates.wrappers import LANGUAGES, SHELLS


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
        return not texts or texts[0] == "-"
    return program in ("xargs", "parallel") and texts[-1:] != () and texts[-1] in SHELLS


def said_by(command: Command) -> str | None:
    """What `echo` or `printf` prints, where that is known."""
    if command.program not in ("echo", "printf") or any(word.text is None for word in command.arguments):
        return None
    texts = [text for text in command.texts if not re.fullmatch("-[neE]+", text)]
    if command.program == "printf":
        texts = [text for text in texts if not re.fullmatch(r"(?:%s|\\n|%b)+", text)]
    return " ".join(texts).replace("\\n", "\n")
