"""Programs that run what is not in the text: recipes, scripts in files, code in their options."""

from __future__ import annotations

import re

from pi_intent.gates.shell import own_commands
from pi_intent.gates.shell.databases import runs_file
from pi_intent.gates.shell.own_commands import SED_FILE
from pi_intent.gates.shell.running.awk import AWKS, runs_programs
from pi_intent.gates.shell.running.recipes import RECIPES, runs_recipe, runs_sources
from pi_intent.gates.shell.running.run_by_option import runs_by_option
from pi_intent.gates.shell.script import Command, Hidden
from pi_intent.word_sets import word_set

_RUN_BY_OPTION = {
    "emacs": re.compile(r"-[a-zA-Z]*c|\+|--eval|--cmd"),
    **dict.fromkeys(
        ("vim", "vi", "nvim", "ex", "view", "rvim", "rview", "gvim", "vimdiff"),
        re.compile(r"-[a-zA-Z]*[cS]|\+|--cmd"),
    ),
    "less": re.compile(r"\+.*!"),
    "man": re.compile(r"-[a-zA-Z]*P|--pager"),
    "rg": re.compile(r"--pre(?:=|$)|--hostname-bin"),
    "cmake": re.compile(r"-P"),
    **dict.fromkeys(("nc", "ncat", "netcat"), re.compile(r"-[a-zA-Z]*[ec]|--(?:sh-|lua-)?exec")),
    "socat": re.compile(r"(?i)(?:exec|system|shell):"),
    **dict.fromkeys(("mapfile", "readarray", "compgen"), re.compile(r"-[a-zA-Z]*C")),
    "hash": re.compile(r"-[a-zA-Z]*p"),
    "enable": re.compile(r"-[a-zA-Z]*f"),
    "expect": re.compile(r"(?!-v$|--version$)"),
    "perf": re.compile(r"(?:stat|record|trace|top|mem|lock|sched|c2c|ftrace|kvm)$"),
}
_SCRIPT_BY_OPTION = {"sed": SED_FILE, **dict.fromkeys(AWKS, re.compile(r"-[fE]|--fil|--exec(?:=|$)"))}
_EVALUATES = word_set("let printf read unset test [ declare typeset local export readonly mapfile readarray getopts")
"""Commands of a shell that evaluate the index of a variable that they are given."""
_NAMED_COMMANDS = re.compile(r"BASH_(?:ALIASES|CMDS)\b")
"""Variables of a shell that say what the names of commands stand for."""
_PUT_IN = re.compile(r"\$\(|`")
_INDEX = re.compile(r"\w\[[^\]]*(?:\$\(|`)")
SCRIPT_FILE = re.compile(r".*\.(?:sh|bash|zsh|py|pl|rb|js|mjs|ts|php|lua|ps1)")


def names_commands(command: Command) -> bool:
    """Whether a command says what the name of another one stands for, in a variable of the shell."""
    assigned = (*(made.name for made in command.assignments), *command.texts)
    return any(map(_NAMED_COMMANDS.match, assigned))


def hidden_by(command: Command) -> Hidden | None:
    """What the program runs that is not in the text."""
    program, texts = command.program or "", command.texts
    recipe = runs_recipe(command)
    if recipe or program in RECIPES:
        return "recipe" if recipe else None
    if runs_sources(command) or runs_file(command) or _is_given_script(program, texts):
        return "script"
    if _runs_code(program, command):
        return "code"
    return "script" if _is_script(command) else None


def _is_given_script(program: str, texts: tuple[str, ...]) -> bool:
    return program in _SCRIPT_BY_OPTION and any(map(_SCRIPT_BY_OPTION[program].match, texts))


def _runs_code(program: str, command: Command) -> bool:
    """Whether an argument is code, or has the program run some."""
    texts = command.texts
    if (program in AWKS and runs_programs(command.arguments)) or runs_by_option(command):
        return True
    if program in _RUN_BY_OPTION and any(map(_RUN_BY_OPTION[program].match, texts)):
        return True
    if program == "compgen" and any(map(_PUT_IN.search, texts)):
        return True
    names = "-v" in texts or program not in ("printf", "test", "[")
    if program in _EVALUATES and names and any(_INDEX.search(word.text or "") for word in command.arguments):
        return True
    return program in own_commands.PROGRAMS and own_commands.runs_code(program, texts)


def _is_script(command: Command) -> bool:
    """Whether the name is the path of a script."""
    written = command.name.shown if command.name else ""
    return "/" in written and bool(
        SCRIPT_FILE.fullmatch(written) or (written.startswith("./") and "bin/" not in written)
    )
