"""Interpreters of languages: what they run is code that is not read here."""

from __future__ import annotations

import re

from pi_intent.gates.shell.running.inner import NOTHING, Inside, fetched, run
from pi_intent.gates.shell.script import Command
from pi_intent.word_sets import word_set

LANGUAGES = re.compile(
    r"(?:python|pypy|perl|ruby|node|nodejs|deno|bun|tsx|ts-node(?:-\w+)?|php|lua|Rscript|osascript|tclsh)[\d.]*"
)
_CODE_FLAGS = re.compile(r"-[A-Za-z]*[ceEr]|--eval|--print|-p|-pe|-ne|-pi|-lane|eval")
_OF_ITSELF = word_set("--version -V -v --help -h")
_MODULES = word_set(
    "pytest unittest mypy ruff black isort flake8 pylint pyright coverage json.tool venv pip build py_compile "
    "compileall "
    "http.server timeit doctest this platform site sysconfig tarfile zipfile twine virtualenv uv pre_commit"
)


def of_language(command: Command) -> Inside | None:
    """What an interpreter runs; None for any other program."""
    program, words, texts = command.program or "", command.arguments, command.texts
    if not LANGUAGES.fullmatch(program):
        return None
    if not texts or (len(texts) == 1 and texts[0] in _OF_ITSELF):
        return NOTHING
    if program.startswith(("python", "pypy")):
        for at, text in enumerate(texts):
            if re.fullmatch(r"-[bBdEiIOqsSuv]*m", text):
                module = texts[at + 1] if at + 1 < len(texts) else ""
                known = module.split(".")[0] in _MODULES or module in _MODULES
                if known:
                    return run(command, words[at + 1 :], "python -m")
                return Inside(hidden="script")
            if not text.startswith("-"):
                break
    if program == "node" and texts[0] in ("--check", "-c", "--test"):
        return NOTHING
    if program in ("deno", "bun") and texts[0] in ("test", "lint", "fmt", "check", "install", "add", "build"):
        return NOTHING
    if program == "php" and texts[0] == "-l":
        return NOTHING
    if any(_CODE_FLAGS.fullmatch(text) for text in texts[:3]):
        return Inside(hidden="code")
    if reads_input(texts):
        return NOTHING
    return Inside(hidden=fetched(words) or "script")


def reads_input(texts: tuple[str, ...]) -> bool:
    """Whether the program of a language takes its code from its input."""
    script = next((text for text in texts if not text.startswith("-") or text == "-"), "-")
    alone = len(texts) == 1 and texts[0] in _OF_ITSELF
    return script == "-" and not alone and not any(_CODE_FLAGS.fullmatch(text) for text in texts)
