"""Options whose value a program runs: `tar -I`, `rsync -e`, `split --filter`; some values are what it runs anyway."""

from __future__ import annotations

import re
from typing import NamedTuple

from pi_intent.gates.shell.running.given import given_to
from pi_intent.gates.shell.script import Command


class _Runs(NamedTuple):
    letters: str
    names: tuple[str, ...]
    harmless: re.Pattern[str]
    valued: str = ""
    """Letters of the program's other options that take a value, so that what follows in the word is none."""


_NONE = re.compile(r"(?!)")
_PACKS = re.compile(
    r"(?:\S*/)?(?:gzip|pigz|bzip2|pbzip2|lbzip2|xz|pixz|zstd|pzstd|lz4|lzip|lzop|brotli)(?: -[\w=-]+| \d+)*"
)
_NO_EXEC = re.compile(r"(?!exec).*", re.S)
_PLAIN_SSH = re.compile(r"(?:/usr/(?:local/)?bin/)?ssh(?!\S)(?!.*(?:proxy|local|knownhosts)command).*", re.I | re.S)
_SSH_SETTING = re.compile(
    r"(?!\s*(?:proxy|local|knownhosts)command).*|\s*proxycommand\s*[= ]\s*(?:none|ssh\s[^;|&`$()<>]*)", re.I | re.S
)
_RSYNC = re.compile(r"(?:sudo )?(?:\S*/)?rsync")
_TAR_VALUED = "fCTXgbKNVH"
_TAR = (
    _Runs("F", ("--to-command", "--info-script", "--new-volume-script", "--rsh-command"), _NONE, _TAR_VALUED),
    _Runs("I", ("--use-compress-program",), _PACKS, _TAR_VALUED),
    _Runs("", ("--checkpoint-action",), _NO_EXEC),
)
_SET_BY = _Runs("o", (), _SSH_SETTING, "FiJPlpcD")
_COPIES = (_Runs("S", (), _PLAIN_SSH, "FiJPlocD"), _SET_BY)
_OPTIONS: dict[str, tuple[_Runs, ...]] = {
    "tar": _TAR,
    "bsdtar": _TAR,
    "split": (_Runs("", ("--filter",), _NONE),),
    "sort": (_Runs("", ("--compress-program",), _PACKS),),
    "zip": (_Runs("", ("-TT", "--unzip-command"), _NONE),),
    "rsync": (_Runs("e", ("--rsh",), _PLAIN_SSH, "fTBM"), _Runs("", ("--rsync-path",), _RSYNC)),
    "scp": _COPIES,
    "sftp": _COPIES,
    "ssh": (_SET_BY,),
    "go": (_Runs("", ("-exec", "-toolexec", "-vettool", "--exec", "--toolexec", "--vettool"), _NONE),),
}
_TAR_LETTERS = re.compile(r"[a-zA-Z]*[FI][a-zA-Z]*")
"""Those without a dash, whose values come in turn behind them."""


def runs_by_option(command: Command) -> bool:
    """Whether an option has the program run what nobody has read."""
    program, words = command.program or "", command.arguments
    if program == "tar" and any(map(_TAR_LETTERS.fullmatch, command.texts[:1])):
        return True
    return any(
        not runs.harmless.fullmatch(value.start)
        for runs in _OPTIONS.get(program, ())
        for value in given_to(words, runs.letters, runs.names, runs.valued)
    )
