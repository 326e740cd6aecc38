"""What a program takes from other machines, or sends to them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pi_intent.gates.shell.dangers.forges import FORGES, forge_dangers
from pi_intent.gates.shell.dangers.hosts import talks_to_itself
from pi_intent.gates.shell.dangers.packages import installs, publishes
from pi_intent.gates.shell.running.subcommands import CONTAINERS, known_as
from pi_intent.gates.shell.script import Command
from pi_intent.word_sets import word_set

_FETCHES = word_set(
    "curl wget aria2c http https xh nc ncat netcat telnet ftp sftp lftp ssh mosh scp lynx w3m rclone socat GET POST "
    "ping ping6 host nslookup dig whois traceroute tracepath"
)
_FETCHES_BY = {
    **dict.fromkeys(CONTAINERS, re.compile(r"(?:(?:image|compose) )?pull|search")),
    "go": re.compile("mod download"),
    "cargo": re.compile("fetch"),
    "pip": re.compile("download"),
}
"""Subcommands, as the words from them on, that only fetch."""
_REMOTE = re.compile(r"[\w.@-]+::?|rsync://")
_OTHER_HOST = re.compile("-H|--host")
_HERE = re.compile(r"(?:localhost|127\.[\d.]+|\[::1\]):\d+$")
_LOOKS = {"ssh": (("-V",), ("-G",)), **dict.fromkeys(_FETCHES - {"ssh"}, (("-V",),))}


def elsewhere_dangers(program: str, command: Command, words: list[str]) -> Iterator[str]:
    """Yield what goes to other machines or comes from them; `words` are those from the subcommand on."""
    texts = command.texts
    if _fetches(program, command, words):
        yield "network"
    if installs(program, texts, words):
        yield "installs"
    if publishes(program, texts, words):
        yield "publishes"
    if program in FORGES:
        yield from forge_dangers(texts, words)


def _fetches(program: str, command: Command, words: list[str]) -> bool:
    if program in _FETCHES:
        return command.texts[:1] not in _LOOKS[program] and not talks_to_itself(command)
    if program == "rsync":
        return any(map(_REMOTE.match, words))
    if program == "systemctl":
        return any(map(_OTHER_HOST.match, command.texts))
    if program == "openssl":
        return words[:1] == ["s_client"] and not any(map(_HERE.match, words))
    by = _FETCHES_BY.get(known_as(program))
    return by is not None and (bool(by.fullmatch(" ".join(words[:1]))) or bool(by.fullmatch(" ".join(words[:2]))))
