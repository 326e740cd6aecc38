"""One file that one writer appends records to: named after its session, locked, never rewritten."""

from __future__ import annotations

import errno
import fcntl
import os
import weakref
from contextlib import suppress
from pathlib import Path

from pi_intent.ledger.location import make_private_folder
from pi_intent.ledger.naming import SUFFIX, file_stem
from pi_intent.ledger.record import seal


class Segment:
    """An open segment. Of one thread; the exclusive lock is held until it is closed or the process ends.

    The descriptor is not inherited by programs that are started (Python opens files that way), or they would keep
    the lock after us. A forked child closes its copy at once, and has no segment then.
    """

    __slots__ = (
        "__weakref__",
        "_fsynced",
        "_identity",
        "_name_fsynced",
        "_torn",
        "_written",
        "fd",
        "path",
        "prev",
        "writer",
    )

    def __init__(self, path: Path, writer: str, fd: int) -> None:
        self.path = path
        self.writer = writer
        self.fd = fd
        self.prev = ""
        status = os.fstat(fd)
        self._identity = (status.st_dev, status.st_ino)
        self._torn = False
        self._written = 0
        self._fsynced = 0
        self._name_fsynced = False
        _OPEN.add(self)

    @classmethod
    def create(cls, folder: Path, session: str) -> Segment:
        """Create a new segment in `folder` and lock it. Raises `OSError`."""
        make_private_folder(folder)
        for _ in range(16):
            writer = os.urandom(6).hex()
            path = folder / f"{file_stem(session)}.{writer}{SUFFIX}"
            try:
                fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                continue
            try:
                os.fchmod(fd, 0o600)
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # a reader looked in just now, to see whether the writer is alive
                os.close(fd)
                path.unlink(missing_ok=True)
                continue
            except OSError:  # a file system without modes or locks: go on without
                pass
            return cls(path, writer, fd)
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(folder))

    def is_ours(self) -> bool:
        """Is the file still there, and is the descriptor still this file?"""
        if self.fd < 0:
            return False
        try:
            status = os.fstat(self.fd)
        except OSError:
            self.fd = -1
            return False
        if (status.st_dev, status.st_ino) != self._identity:
            self.fd = -1  # somebody closed it and the number was given to another file: not ours to close
            return False
        return status.st_nlink > 0

    def append(self, record: str) -> None:
        """Hand a record to the kernel in one write, chained to the last whole one. Raises `OSError`."""
        line, digest = seal(record, self.prev)
        if self._torn:
            line = b"\n" + line
        self._written += 1
        self._torn = True
        missing = len(line) - os.write(self.fd, line)
        if missing > 1:  # how a disk that fills up answers first
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        # Without its line feed a record is whole all the same, and is read as one: the next has to follow it.
        self._torn = missing > 0
        self.prev = digest

    @property
    def is_dirty(self) -> bool:
        """Was anything written since the last `flush`?"""
        return self._written != self._fsynced

    def flush(self) -> None:
        """Wait until the disk has what was written; may run in another thread. Raises `OSError`."""
        fd, written = self.fd, self._written
        if fd < 0:  # closed meanwhile, which flushes too
            return
        try:
            os.fsync(fd)
            if not self._name_fsynced:
                _fsync_folder(self.path.parent)
                self._name_fsynced = True
        except OSError:
            if self.fd != fd:  # closed meanwhile, which flushes too
                return
            raise
        self._fsynced = written

    def close(self) -> None:
        """Give the lock back and close the file."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            with suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_UN)
            with suppress(OSError):
                os.close(fd)


def _fsync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems cannot fsync a folder
            raise
    finally:
        os.close(fd)


_OPEN: weakref.WeakSet[Segment] = weakref.WeakSet()


def _forget_in_child() -> None:
    for segment in tuple(_OPEN):
        fd, segment.fd = segment.fd, -1
        if fd >= 0:
            with suppress(OSError):
                os.close(fd)  # never unlock: the lock belongs to the parent, too


os.register_at_fork(after_in_child=_forget_in_child)
