"""Programs of another purpose that have a command of their own for running code: `sed '1e …'`, `tar -I …`."""

from __future__ import annotations

import re
from itertools import pairwise

from pi_intent.word_sets import word_set

PROGRAMS = word_set("sed tar sqlite3 psql mysql mariadb")
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
_PACKS = re.compile(
    r"(?:\S*/)?(?:gzip|pigz|bzip2|pbzip2|lbzip2|xz|pixz|zstd|pzstd|lz4|lzip|lzop|brotli)(?: -[\w=-]+| \d+)*"
)
_TAR_RUNS = ("--checkpoint-action=exec", "--to-command", "--info-script", "--new-volume-script", "--rsh-command")
SED_ADDRESS = r"(?:^|[;{\n])(?:[\d$,~+! \t]|/[^/\n]*/)*"
"""What may stand before a command of sed's."""
_SED_RUNS = re.compile(SED_ADDRESS + r"(?:e(?:\s|;|$)|s([/|,#@!])(?:(?!\1).)*\1(?:(?!\1).)*\1[gpiImM0-9]*e)")
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
        case "tar":
            return any(text.startswith(_TAR_RUNS) for text in texts) or any(
                not _PACKS.fullmatch(packer) for packer in _packers(texts)
            )
        case "git":
            return _git_runs([text for text in texts if text != "--"])
        case _:
            runs = _CLIENT_RUNS["mysql" if program == "mariadb" else program]
            return any(runs.search(text) for text in texts)


def sed_scripts(texts: tuple[str, ...]) -> list[str]:
    given = [after for text, after in pairwise(texts) if re.fullmatch(r"-[nErsuz]*e|--expression", text)]
    given += [text.partition("=")[2] for text in texts if text.startswith("--expression=")]
    return given or [text for text in texts if not text.startswith("-") and text][:1]


def _packers(texts: tuple[str, ...]) -> list[str]:
    found = [text.partition("=")[2] for text in texts if text.startswith("--use-compress-program=")]
    found += [text.partition("I")[2] for text in texts if re.match(r"-[a-zA-HJ-Z]*I.", text)]
    return found + [
        after
        for text, after in pairwise(texts)
        if text == "--use-compress-program" or re.fullmatch(r"-[a-zA-Z]*I", text)
    ]


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
