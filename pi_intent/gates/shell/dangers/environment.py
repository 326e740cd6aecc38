"""Whether a command shows variables of the environment that may be secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pi_intent.gates.shell.operands import operands
from pi_intent.gates.shell.script import Command
from pi_intent.word_sets import word_set

_NAME = re.compile(r"(?i)secret|token|passw|passphrase|api_?key|credential|private_key")
_COUNT = re.compile(
    r"(?i)tokeniz|(?:n|num|max|min|total)_?tokens?|tokens?_?(?:count|limit|len|size|num|type|usage|budget)|tokens"
)
_PRINTS_INPUT = word_set("cat tee base64 xxd od hexdump head tail rev tr sed awk")
_VALUED_BY_ENV = ("uCaP", ("--unset", "--chdir", "--argv0"))
_EMPTIED_OR_SPLIT = re.compile(r"-[0v]*[iS].*|-|--ignore-environment|--split-string.*")
"""Options of env that leave nothing of the environment, or hold the command."""
_OF_PROCESSES = re.compile("[a-zA-Z]*e[a-zA-Z]*|-E")
"""The letter with which ps shows the environment; `-e` is every process."""
_OF_AWK = re.compile(r'\bENVIRON\b(?:\["(\w+)"\])?')
_OF_JQ = re.compile(r"(?:\$ENV|(?<![.\w$@])env)\b(?!\s*:)(?:\.(\w+))?")
_JQ_ASIDE = re.compile(r'"[^"]*"|[{,]\s*env\s*(?=[,}])')
"""Texts, and a key that stands for itself."""
_JQ_PAIRS = word_set("--arg --argjson --slurpfile --rawfile")


def shows_environment(command: Command) -> bool:
    program, texts = command.program or "", command.texts
    match program:
        case "printenv":
            return not texts or any(map(is_secret_name, texts))
        case "env":
            return _env_prints(command)
        case "export" | "declare" | "typeset" | "readonly":
            names = [text for text in texts if not re.fullmatch("-[px]+", text)]
            prints = any("p" in text for text in texts if text.startswith("-"))
            return not names or (prints and any(map(is_secret_name, names)))
        case "set":
            return not texts
        case "ps":
            return any(map(_OF_PROCESSES.fullmatch, texts[:1]))
        case "echo" | "printf":
            shown = " ".join(word.shown for word in command.arguments if word.text is None)
            return any(map(is_secret_name, re.findall(r"\$\{?!?(\w+)", shown)))
        case _:
            return any(not name or is_secret_name(name) for name in _asked(program, texts)) or _echoes_input(command)


def is_secret_name(name: str) -> bool:
    """Whether a variable is called like a secret; how many tokens there are is none."""
    return bool(_NAME.search(_COUNT.sub("", name)))


def _env_prints(command: Command) -> bool:
    """Whether env is given nothing to run."""
    named = operands(command.arguments, *_VALUED_BY_ENV)
    return not any(map(_EMPTIED_OR_SPLIT.fullmatch, command.texts)) and all("=" in word.start for word in named)


def _echoes_input(command: Command) -> bool:
    """Whether a text on the input is printed that holds such a variable."""
    given = " ".join(word.target.shown for word in command.redirects if word.operator == "<<<")
    return command.program in _PRINTS_INPUT and any(map(is_secret_name, re.findall(r"\$\{?(\w+)", given)))


def _asked(program: str, texts: tuple[str, ...]) -> Iterator[str]:
    """The variables that a filter or a program asks for by name; an empty name for all of them."""
    if program == "jq":
        yield from _OF_JQ.findall(_JQ_ASIDE.sub("", _jq_filter(texts)))
    elif program in ("awk", "gawk", "mawk"):
        for text in texts:
            yield from _OF_AWK.findall(text)


def _jq_filter(texts: tuple[str, ...]) -> str:
    left = iter(texts)
    for text in left:
        if text in _JQ_PAIRS:
            next(left, None)
            next(left, None)
        elif not text.startswith("-"):
            return text
    return ""
