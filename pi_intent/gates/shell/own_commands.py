"""Programs of another purpose that have a command of their own for running code: `sed '1e …'`, psql's `\\!`."""

from __future__ import annotations

import re
from itertools import pairwise

from pi_intent.gates.shell.sed import sed_commands
from pi_intent.word_sets import word_set

PROGRAMS = word_set("sed sqlite3 psql mysql mariadb")
GIT_SETTING = re.compile(
    r"(?i)sshcommand|pager|editor|fsmonitor|helper|hookspath|external|textconv|\.cmd$|\.program$|packobjectshook|^filter\.|^include"
)
"""Names of git's settings whose values are run."""

VARIABLES = word_set(
    "PAGER GIT_PAGER MANPAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_EXTERNAL_DIFF GIT_SSH GIT_SSH_COMMAND "
    "GIT_ASKPASS SSH_ASKPASS GIT_PROXY_COMMAND LESSOPEN RIPGREP_CONFIG_PATH GIT_CONFIG_GLOBAL"
)
"""Variables whose values the programs that know them run, or take settings from."""

_HARMLESS = re.compile(r"(?:\S*/)?(?:cat|less|more|true|false|:|null|nano|vi|vim|code)?(?: -[\w-]+)*")
_SED_RUNS = re.compile(r"^(?:e|s/x/x/[^w\n]*e)", re.M)
_SED_OPTION = re.compile(r"-[nErsuzb]*e|--e[a-z]*(?:=|$)")
SED_FILE = re.compile(r"-[nErsuzb]*f|--fi")
_CLIENT_RUNS = {
    "sqlite3": re.compile(r"(?:^|\n)[ \t]*\.(?:shell|system)\b"),
    "psql": re.compile(r"\\!|(?i:\bto\s+program\b|\bfrom\s+program\b)"),
    "mysql": re.compile(r"(?:^|[;\n])[ \t]*(?:\\!|system\b)"),
}


def is_harmless(value: str) -> bool:
    """Whether the value of such a setting or variable is a pager, an editor or nothing."""
    return bool(_HARMLESS.fullmatch(value.strip()))


def runs_code(program: str, texts: tuple[str, ...]) -> bool:
    """Whether the program's own arguments have it run code."""
    match program:
        case "sed":
            return any(_SED_RUNS.search(script) for script in sed_scripts(texts))
        case "git":
            return _git_runs([text for text in texts if text != "--"])
        case _:
            runs = _CLIENT_RUNS["mysql" if program == "mariadb" else program]
            return any(runs.search(text) for text in texts)


def sed_scripts(texts: tuple[str, ...]) -> list[str]:
    """What the scripts among sed's arguments run and write, as a script of its own with `/` for each delimiter."""
    return ["\n".join(sed_commands(script)) for script in _sed_written(texts)]


def _sed_written(texts: tuple[str, ...]) -> list[str]:
    """The scripts as they are written."""
    given: list[str] = []
    for text, after in pairwise((*texts, "")):
        if found := _SED_OPTION.match(text):
            given.append(text[found.end() :] or after)
    scripted = given or any(map(SED_FILE.match, texts))
    return given if scripted else [text for text in texts if not text.startswith("-") and text][:1]


def _git_runs(texts: list[str]) -> bool:
    if "grep" in texts[:1]:
        return any(re.match(r"-[a-zA-Z]*O|--open-files", text) for text in texts[1:])
    if texts[:1] in (["difftool"], ["mergetool"]):
        return any(text.startswith(("-x", "--extcmd")) for text in texts[1:])
    if texts[:1] == ["config"] and not {"--get", "--get-all", "--unset", "--unset-all", "get", "unset"} & set(texts):
        for name, value in pairwise(texts[1:]):
            if name.lower().startswith("alias."):
                return value.startswith("!") or not value
            if "." in name and not name.startswith("-") and GIT_SETTING.search(name):
                return not is_harmless(value)
    return False
