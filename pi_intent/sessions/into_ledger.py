"""Bring session files into a project's ledger: one import at a time, each file as far as the ledger lacks it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pi_intent.descriptions import model_texts
from pi_intent.errors import LedgerError, PiIntentError, SessionError
from pi_intent.labels.printable import printable
from pi_intent.ledger.keys import Digester, key_to_look, load_key, redaction_key
from pi_intent.ledger.location import GIT_TIMEOUT_SECONDS, LedgerLocation
from pi_intent.redaction import Redactor
from pi_intent.sessions.front import read_session
from pi_intent.sessions.one_file import FileImport
from pi_intent.sessions.own_id import own_session_id
from pi_intent.sessions.places import size_and_time
from pi_intent.sessions.report import FileReport
from pi_intent.sessions.session_writer import Target
from pi_intent.settings import Settings


class NoSession(SessionError):
    """A file can be read, and is no session of an agent that is known here."""


@contextmanager
def import_target(
    location: LedgerLocation,
    *,
    environ: Mapping[str, str],
    dry_run: bool = False,
    clock: Callable[[], float] = time.time,
) -> Iterator[Target]:
    """Open a ledger to import into, and keep other imports out meanwhile; with `dry_run` nothing is made or locked.

    Raises `LedgerError` where the key cannot be read or made, and where another import is under way.
    """
    key = key_to_look(location.root) if dry_run else load_key(location.root)
    target = Target(
        location=location,
        folders=project_folders(location, environ),
        redactor=Redactor(redaction_key(key), environ),
        digester=Digester(key),
        clock=clock,
        dry_run=dry_run,
    )
    lock = -1 if dry_run else _lock(location.root / "key")
    try:
        yield target
    finally:
        if lock >= 0:
            os.close(lock)


def redactor_to_look(location: LedgerLocation, environ: Mapping[str, str]) -> Redactor:
    """Return what takes the secrets out of what is shown of a ledger; none is made. Raises `LedgerError`."""
    return Redactor(redaction_key(key_to_look(location.root)), environ)


def import_session(
    target: Target, settings: Settings, path: Path, *, reached: Callable[[int], None] | None = None
) -> FileReport:
    """Bring one session file into a ledger, as far as the ledger lacks it; `reached` is told the bytes read so far.

    Raises `NoSession` where the file is none, `SessionError` where it cannot be read to its end, and `LedgerError`
    where the ledger cannot be read or written. What was written before stays, and the next import completes it.
    """
    try:
        dialect, found = read_session(path, at=reached)
    except SessionError as error:
        if isinstance(error.__cause__, OSError):
            raise
        raise NoSession(str(error)) from error
    try:
        own_id, modified = own_session_id(dialect, path), size_and_time(path)[1]
    except OSError as error:
        raise SessionError(f"{path} cannot be read: {error.strerror}") from error
    into = FileImport(
        target,
        settings,
        path=path,
        dialect=dialect,
        modified=modified,
        own_id=own_id,
        echoes=model_texts().echoes,
    )
    try:
        return into.take_all(found)
    except PiIntentError:
        raise
    except Exception as error:  # a boundary: files of others hold what no reader expects, and there are more files
        what = printable(f"{type(error).__name__}: {error}", width=200)
        raise SessionError(
            f"{path} could not be read to its end, which is a fault of pi-intent ({what}); what stands before is kept"
        ) from error


def _lock(path: Path) -> int:
    """Keep the key's file locked: two imports of one file at once would both find that the ledger lacks it."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise LedgerError(f"the key of the ledger, {path}, cannot be read ({error.strerror})") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise LedgerError(f"another import into {path.parent} is under way: wait until it has ended") from error
    except OSError:  # a file system without locks
        pass
    return descriptor


def project_folders(location: LedgerLocation, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the absolute folders of a project, in each spelling, the deepest first: its work trees, all of them.

    Git is asked once for the other work trees; where it does not answer, there is the one.
    """
    folders = [] if location.project is None else [str(location.project)]
    if location.git_dir is not None:
        folders += _work_trees(location.git_dir, environ)
    spelled = {folder: None for name in folders for folder in (name, os.path.realpath(name))}
    return tuple(sorted(spelled, key=len, reverse=True))


def _work_trees(git_dir: Path, environ: Mapping[str, str]) -> list[str]:
    try:
        answer = subprocess.run(
            ("git", f"--git-dir={git_dir}", "worktree", "list", "--porcelain", "-z"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_TIMEOUT_SECONDS,
            env={name: value for name, value in environ.items() if not name.startswith("GIT_")} | {"LC_ALL": "C"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    lines = os.fsdecode(answer.stdout).split("\0") if answer.returncode == 0 else []
    entries = "\n".join(lines).split("\n\n")  # a bare repository is listed, too, and is no work tree
    return [entry.split("\n")[0].removeprefix("worktree ") for entry in entries if entry and "\nbare" not in entry]
