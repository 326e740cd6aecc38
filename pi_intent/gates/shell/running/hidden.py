"""Programs that run what is not in the text: recipes, scripts in files, code in their options."""

from __future__ import annotations

import re

from pi_intent.gates.shell import own_commands
from pi_intent.gates.shell.databases import runs_file
from pi_intent.gates.shell.running.inner import TELLS_ITSELF
from pi_intent.gates.shell.script import Command, Hidden
from pi_intent.word_sets import word_set

_RECIPES: dict[str, str] = {
    # Each with the options that have it run nothing.
    "make": "-n --dry-run --just-print --recon -v",
    "just": "-n --dry-run -l --list --summary",
    "task": "-n --dry -l --list --list-all",
    "rake": "-n --dry-run -T --tasks",
    "ninja": "-n",
    "gradle": "-m --dry-run -v",
    "gradlew": "-m --dry-run -v",
    "mvn": "-v",
    "mvnw": "-v",
    "ant": "-p -projecthelp -version",
    "tox": "-l",
    "nox": "-l --list",
    "invoke": "-l --list --dry",
}
_PACKAGERS = {"npm", "pnpm", "yarn", "bun"}
_PACKAGERS_RUN = word_set("run start test run-script t")
_JAVA_TELLS = (*TELLS_ITSELF, ("-version",))
_RUN_BY_OPTION = {
    **dict.fromkeys(("vim", "vi", "nvim", "ex", "emacs"), re.compile(r"-[a-zA-Z]*c|\+|--eval|--cmd")),
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
_EVALUATES = word_set("let printf read unset test [ declare typeset local export readonly mapfile readarray getopts")
"""Commands of a shell that evaluate the index of a variable that they are given."""
_NAMED_COMMANDS = re.compile(r"BASH_(?:ALIASES|CMDS)\b")
"""Variables of a shell that say what the names of commands stand for."""
_PUT_IN = re.compile(r"\$\(|`")
_INDEX = re.compile(r"\w\[[^\]]*(?:\$\(|`)")
SCRIPT_FILE = re.compile(r".*\.(?:sh|bash|zsh|py|pl|rb|js|mjs|ts|php|lua|ps1)")
_AWK_RUNS = re.compile(r"system\s*\(|\|\s*\"|\|\s*getline")


def names_commands(command: Command) -> bool:
    """Whether a command says what the name of another one stands for, in a variable of the shell."""
    assigned = (*(made.name for made in command.assignments), *command.texts)
    return any(map(_NAMED_COMMANDS.match, assigned))


def hidden_by(command: Command) -> Hidden | None:
    """What the program runs that is not in the text."""
    program, texts = command.program or "", command.texts
    if program in _RECIPES:
        looks = texts in TELLS_ITSELF or {*_RECIPES[program].split()} & set(texts)
        return None if looks else "recipe"
    if program in _PACKAGERS and texts and texts[0] in _PACKAGERS_RUN:
        return "recipe"
    if (program in ("cargo", "go", "dotnet") and texts[:1] == ("run",)) or program == "java":
        tells = texts in _JAVA_TELLS or texts[1:] == ("--help",)
        return None if tells else "script"
    if runs_file(command):
        return "script"
    if _runs_code(program, command):
        return "code"
    return "script" if _is_script(command) else None


def _runs_code(program: str, command: Command) -> bool:
    """Whether an argument is code, or has the program run some."""
    texts = command.texts
    if program in ("awk", "gawk", "mawk") and any(map(_AWK_RUNS.search, texts)):
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
