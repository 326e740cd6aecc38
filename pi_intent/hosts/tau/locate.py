"""Find the Tau of this machine: its folders, its command, and the Python that runs it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pi_intent.errors import HostError

TESTED = ("0.4.8",)
"""The versions of Tau that the adapter was measured on."""

COMMAND = "tau"

_HEAD = 16 * 1024
"""Bytes of a launcher that are read: it names its Python in the first lines and Tau in the next few."""

# What pip, uv and pipx write where a shebang cannot hold the path: too long, or with a space in it.
_TRAMPOLINE = re.compile(r"""^'''exec'\s+(?P<command>.+?)\s+"\$0"\s+"\$@"\s*$""", re.MULTILINE)
# The folder of the launcher, as uv writes it in an environment that may be moved.
_BESIDE = '"$(dirname -- "$(realpath -- "$0")")"'


@dataclass(frozen=True, slots=True, kw_only=True)
class TauCommand:
    """An installed `tau`: the command, and what to put before a script to run it in Tau's own Python."""

    path: Path
    python: tuple[str, ...]


def tau_home(environ: Mapping[str, str]) -> Path:
    """Return the folder of Tau's own files, by Tau's rules. Raises `HostError` where Tau would not start."""
    chosen = environ.get("TAU_HOME", "")
    if not chosen:
        return _home(environ) / ".tau"
    try:
        path = _home(environ) / chosen[2:] if chosen == "~" or chosen.startswith("~/") else Path(chosen).expanduser()
    except RuntimeError as error:
        raise HostError(f"TAU_HOME is {chosen!r}, and there is no such user: set it to an absolute path") from error
    if not path.is_absolute():
        raise HostError(f"TAU_HOME is {chosen!r}, which Tau does not accept: set it to an absolute path, or unset it")
    return path


def extensions_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder whose extensions Tau loads at every start. Raises `HostError`."""
    return tau_home(environ) / "extensions"


def _home(environ: Mapping[str, str]) -> Path:
    # As `Path.home()`, but for the environment that was asked about.
    home = Path(environ["HOME"] if "HOME" in environ else Path.home())
    if not home.is_absolute():
        raise HostError(f"HOME is {str(environ['HOME'])!r}, which is no absolute path: set it to your home folder")
    return home


def find_tau(environ: Mapping[str, str], *, executable: str = sys.executable) -> TauCommand:
    """Return the `tau` that a person would run: the first on PATH, else the one beside this Python.

    A command of that name which is not Tau's is passed over. Raises `HostError` where there is none, or where the
    one there is cannot be run.
    """
    others: list[Path] = []
    for path in _candidates(environ, executable):
        head = _head(path)
        if "tau_coding" in head:
            return TauCommand(path=path, python=_interpreter(path, head, environ))
        others.append(path)
    if others:
        raise HostError(f"{others[0]} is not a launcher that pip, uv or pipx made for Tau; put Tau's first on PATH")
    raise HostError(
        'there is no "tau" command: install Tau, for example with "uv tool install tau-ai", or put it on PATH'
    )


def _candidates(environ: Mapping[str, str], executable: str) -> Iterator[Path]:
    folders = [folder for folder in environ.get("PATH", os.defpath).split(os.pathsep) if folder]
    for folder in [*folders, os.path.dirname(executable)]:
        # One folder at a time: another program of that name may come first.
        found = shutil.which(COMMAND, path=folder)
        if found is not None:
            yield Path(os.path.abspath(found))


def _head(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD).decode("utf-8", "replace")
    except OSError as error:
        raise HostError(f"{path} cannot be read ({error.strerror}): install Tau again") from error


def _interpreter(path: Path, head: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Read which Python runs a launcher, with the options it is given."""
    first, _, rest = head.partition("\n")
    if not first.startswith("#!"):
        raise _unclear(path)
    words = _words(path, first[2:])
    program = os.path.basename(words[0]) if words else ""
    if program == "sh":
        found = _TRAMPOLINE.search(rest)
        if found is None:
            raise _unclear(path)
        beside = shlex.quote(os.path.dirname(os.path.realpath(path)))
        words = _words(path, found["command"].replace(_BESIDE, beside))
    elif program == "env":
        words = [word for word in words[1:] if word not in ("-S", "--")]
        named = shutil.which(words[0], path=environ.get("PATH", os.defpath)) if words else None
        if named is None:
            raise HostError(
                f"{path} asks for {' '.join(words) or 'nothing'}, which is not on PATH: install Tau again"
            )
        words[0] = named
    if not words or not os.path.basename(words[0]).startswith(("python", "pypy")):
        raise _unclear(path)
    if not os.access(words[0], os.X_OK):
        raise HostError(f"{path} needs {words[0]}, which is gone: install Tau again")
    return tuple(words)


def _words(path: Path, line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise _unclear(path) from error


def _unclear(path: Path) -> HostError:
    return HostError(f"{path} does not say which Python runs Tau: install Tau again with pip, uv or pipx")
