"""Read a config and replace it whole: in one step, as it was in all but its content, and never over a change."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pi_intent.errors import HostError
from pi_intent.labels.printable import printable

MAX_BYTES = 64 * 1024 * 1024
_PATIENCE = 10.0
"""Seconds to wait for another program that holds a config."""
_PAUSE = 0.02
_STALE = 10.0
"""Seconds after which the lock of Claude Code counts as left behind: it touches it more often than that."""


class Changed(Exception):
    """The file is not what was read any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What a file held. `path` is how the client calls it, `target` the file itself behind any links."""

    path: Path
    target: Path
    data: bytes

    def text(self) -> str:
        """Return the content as text. Raises `HostError` where it is not UTF-8."""
        try:
            return self.data.decode()
        except UnicodeDecodeError as error:
            raise refusal(self.path, "is not UTF-8 text: save it as UTF-8 and try again") from error


def refusal(path: Path, why: str) -> HostError:
    """Return the one sentence about a file that was left alone."""
    return HostError(f"{printable(str(path), width=400)} {why}")


def read(path: Path) -> Snapshot | None:
    """Return what a file holds, None where there is none. Raises `HostError` where it cannot be read."""
    try:
        target = Path(os.path.realpath(path, strict=True))
        # Opening a pipe would wait for its writer.
        descriptor = os.open(target, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError) as error:
        if path.is_symlink():
            raise refusal(path, f"is a link to {os.readlink(path)}, which is not there: mend or remove it") from error
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise refusal(path, "is a link that leads back to itself: mend or remove it") from error
        raise refusal(path, f"cannot be read ({error.strerror}): check who owns it and its folder") from error
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise refusal(path, f"is {'a folder' if stat.S_ISDIR(found.st_mode) else 'no file'}: move it away")
        if found.st_size > MAX_BYTES:
            raise refusal(path, f"is larger than {MAX_BYTES // 1024 // 1024} MiB, and was left alone")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return Snapshot(path=path, target=target, data=file.read(MAX_BYTES + 1))
    except OSError as error:
        raise refusal(path, f"cannot be read ({error.strerror}): check the disk") from error
    finally:
        os.close(descriptor)


def replace(snapshot: Snapshot, data: bytes, *, client_locks: bool) -> Snapshot:
    """Put other content in the place of what was read, and return it.

    The file keeps its mode, owner and extended attributes, and links keep leading to it. `client_locks`: take the
    lock that Claude Code takes. Raises `Changed` where the file holds something else by now, and `HostError` where it
    may not or cannot be written; nothing is changed then.
    """
    path, target = snapshot.path, snapshot.target
    temporary = target.with_name(f".{target.name}.{os.urandom(6).hex()}")
    try:
        with _held(target), _client_lock(path, target) if client_locks else _nothing():
            found = _may_replace(path, target)
            try:
                descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
                    file.flush()
                    _make_alike(path, target, found, descriptor)
                    os.fsync(descriptor)
                if Path(os.path.realpath(path)) != target or target.read_bytes() != snapshot.data:
                    raise Changed
                temporary.replace(target)
            finally:
                temporary.unlink(missing_ok=True)
            _sync_folder(target.parent)
    except FileNotFoundError as error:
        raise Changed from error
    except OSError as error:
        raise refusal(
            path,
            f"cannot be written ({error.strerror}): check who owns it and its folder, and whether the disk is full",
        ) from error
    return Snapshot(path=path, target=target, data=data)


def _may_replace(path: Path, target: Path) -> os.stat_result:
    found = target.stat()
    # The superuser may write to any file; one that somebody made read-only is left alone all the same.
    if not found.st_mode & 0o222 or not os.access(target, os.W_OK):
        raise refusal(path, "is read-only, and was left alone: make it writable first")
    if found.st_nlink > 1:
        raise refusal(
            path, "has a second name (a hard link) that would keep the old content: change it by hand, or unlink it"
        )
    return found


def _make_alike(path: Path, target: Path, found: os.stat_result, descriptor: int) -> None:
    ours = os.fstat(descriptor)
    if (ours.st_uid, ours.st_gid) != (found.st_uid, found.st_gid):
        try:
            os.fchown(descriptor, found.st_uid, found.st_gid)
        except OSError as error:
            raise refusal(
                path, "belongs to another user or group, and was left alone: run this as its owner"
            ) from error
    os.fchmod(descriptor, stat.S_IMODE(found.st_mode))
    if hasattr(os, "listxattr"):  # Linux; access lists are among them
        with suppress(OSError):
            for name in os.listxattr(target):
                with suppress(OSError):
                    os.setxattr(descriptor, name, os.getxattr(target, name))


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every file system can; the file itself is safe
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def _held(target: Path) -> Iterator[None]:
    """Keep other runs of ours away. A lock on the file itself leaves nothing behind when we are killed."""
    end = time.monotonic() + _PATIENCE
    while True:
        descriptor = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
        try:
            if not _locked(descriptor, end):
                raise refusal(target, "is in use by another pi-intent: try again when that is done")
            if os.path.samestat(os.fstat(descriptor), target.stat()):
                yield
                return
        finally:
            os.close(descriptor)  # replaced while we waited: take the new one


def _locked(descriptor: int, end: float) -> bool:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                return False
            time.sleep(_PAUSE)
        except OSError:  # a file system without locks: the comparison before the replacement still holds
            return True
        else:
            return True


@contextmanager
def _client_lock(path: Path, target: Path) -> Iterator[None]:
    """Hold the lock of Claude Code: a folder beside the file, made in one step, and stale when it is not touched."""
    lock = target.with_name(f"{target.name}.lock")
    end = time.monotonic() + _PATIENCE + _STALE
    while True:
        try:
            lock.mkdir()
            break
        except FileExistsError as error:
            with suppress(OSError):
                if time.time() - lock.stat().st_mtime > _STALE:
                    lock.rmdir()
                    continue
            if time.monotonic() > end:
                raise refusal(path, f"is locked by Claude Code: end its sessions, or remove {lock}") from error
            time.sleep(_PAUSE)
    try:
        yield
    finally:
        with suppress(OSError):
            lock.rmdir()
