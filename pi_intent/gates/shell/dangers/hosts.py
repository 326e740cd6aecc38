"""Which machine a command that fetches talks to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pi_intent.gates.shell.operands import operands
from pi_intent.gates.shell.script import Command, Redirect, Unknown, Word
from pi_intent.word_sets import word_set

_LOCAL = re.compile(
    r"(?:https?://)?(?:(?=:\d)|localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)(?P<behind>(?::\d*)?(?:[/?].*)?)", re.S
)
_HOST = re.compile(r"\S*://|:\d|localhost|127\.|\[?::1|[\w-]+(?:\.[\w-]+)+")
_PORTS = re.compile(r"\d+(?:-\d+)?")
_HOST_AND_PORT = word_set("nc ncat ping")
_CONNECTION = re.compile("/dev/(?:tcp|udp)/(?:(?P<host>[^/]+)/)?")
_PROXY = re.compile("(?i)(?:https?|all|ftp)_proxy")
_VALUED = {
    "curl": word_set(
        "--output --output-dir --data --data-raw --data-binary --data-urlencode --json --form --header --request "
        "--user --user-agent --cookie --cookie-jar --dump-header --max-time --connect-timeout --retry --retry-delay "
        "--write-out --upload-file --range"
    ),
    "wget": word_set("--output-document --output-file --directory-prefix --header --timeout --tries --post-data"),
}
_LETTERS = {
    "curl": "oHXdFuAebcTmDCErwz",
    "wget": "OoPaTtU",
    **dict.fromkeys(("nc", "ncat"), "sxpiwqIOTXPecgGmVM"),
    "ping": "cIiWwstMmQpSTlG",
}
_LEADS_ELSEWHERE = {
    "curl": re.compile(r"-[a-zA-Z]*[xK]|--(?:proxy|preproxy|socks|connect-to|resolve|config)"),
    "wget": re.compile(r"-[a-zA-Z]*[ie]|--(?:input-file|execute|config)"),
    **dict.fromkeys(("nc", "ncat"), re.compile("-[a-zA-Z]*x|--proxy")),
    **dict.fromkeys(("http", "https", "xh"), re.compile("--proxy")),
}
"""Options that name another host, or a file that may."""


def talks_to_itself(command: Command) -> bool:
    """Whether every host that is named is this machine."""
    program = command.program or ""
    if program not in ("curl", "wget", "http", "xh", "nc", "ncat", "ping"):
        return False
    if any(_PROXY.fullmatch(assigned.name) for assigned in command.assignments):
        return False
    if program in _LEADS_ELSEWHERE and any(map(_LEADS_ELSEWHERE[program].match, command.texts)):
        return False
    words = tuple(_urls(command.arguments) if program == "curl" else command.arguments)
    named = operands(words, _LETTERS.get(program, ""), _VALUED.get(program, ()))
    hosts = [word for word in named if _may_be_host(program, word)]
    return bool(hosts) and all(_is_local(word) for word in hosts)


def leaves_by(redirect: Redirect) -> bool:
    """Whether a redirection is a connection to another machine, which a shell opens by such a name."""
    found = _CONNECTION.match(redirect.target.start)
    return found is not None and not (found["host"] and _is_local(Word("", (found["host"],))))


def _may_be_host(program: str, word: Word) -> bool:
    """Whether an operand may name a machine: of some programs each does, of others most are something else."""
    if program in _VALUED or not word.start:
        return True
    return not _PORTS.fullmatch(word.start) if program in _HOST_AND_PORT else bool(_HOST.match(_seen(word)))


def _urls(words: tuple[Word, ...]) -> Iterator[Word]:
    """The words with each `--url x` as the operand that it stands for."""
    for word in words:
        if word.start.startswith("--url="):
            yield word.after(len("--url="))
        elif word.text != "--url":
            yield word


def _seen(word: Word) -> str:
    """What is known from the beginning on: the brackets of an address are no pattern here."""
    globs = all(isinstance(part, str) or part.gap == "glob" for part in word.parts)
    return word.shown if globs else word.start


def _is_local(word: Word) -> bool:
    seen = _seen(word)
    local = _LOCAL.fullmatch(seen)
    ends_open = any(isinstance(part, Unknown) and part.gap != "glob" for part in word.parts)
    return bool(local and (local["behind"] or not ends_open))
