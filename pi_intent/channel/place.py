"""Where the sockets of channels lie, in a folder that is private to a person, and how one is found and reached."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import stat
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

_SUFFIX = ".sock"
_PATH_BYTES = 103  # what the address of a Unix socket holds on macOS; Linux has four more
_BACKLOG = 32


def live_channels(root: Path, environ: Mapping[str, str]) -> list[Path]:
    """Return the sockets of the ledger in `root`, also of processes that have died."""
    found: list[Path] = []
    for folder in folders(environ):
        with suppress(OSError):
            status = folder.lstat()
            if stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022:
                found += sorted(path for path in _sockets(folder) if path.name.startswith(f"{_digest(root)}."))
    return found


def connect(path: Path) -> socket.socket | None:
    """Return a connection, which does not block, to one of `live_channels`; None where nobody of ours is there."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.setblocking(False)
        connection.connect(os.fspath(path))
        if is_mine(connection):
            return connection
    except OSError:
        pass
    connection.close()
    return None


def _digest(root: Path) -> str:
    return hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]


def folders(environ: Mapping[str, str]) -> Iterator[Path]:
    """Where sockets may lie, the best place first."""
    if os.path.isabs(runtime := environ.get("XDG_RUNTIME_DIR", "")):  # the XDG specification ignores others
        yield Path(runtime) / "pi-intent"
    for temporary in dict.fromkeys((environ.get("TMPDIR", ""), "/tmp")):
        if os.path.isabs(temporary):
            yield Path(temporary) / f"pi-intent-{os.geteuid()}"


def socket_path(folder: Path, root: Path) -> Path:
    """Return where this process listens for those who watch the ledger in `root`."""
    return folder / f"{_digest(root)}.{os.getpid()}{_SUFFIX}"


def make_private(folder: Path) -> None:
    """Make sure that a folder is there, is no link, is ours, and is closed to others. Raises `OSError`."""
    with suppress(FileExistsError):
        folder.mkdir(0o700)
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        status = os.fstat(opened)
        if status.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, f"{folder} belongs to another user")
        if stat.S_IMODE(status.st_mode) != 0o700:
            os.fchmod(opened, 0o700)
    finally:
        os.close(opened)


def listen(path: Path) -> socket.socket:
    """Return a socket that listens at a path from the moment that it can be seen there. Raises `OSError`."""
    if len(os.fsencode(path)) > _PATH_BYTES:
        raise OSError(errno.ENAMETOOLONG, f"the path {path} is too long for a socket")
    if os.path.lexists(path):
        raise OSError(errno.EADDRINUSE, f"another process listens at {path}")
    hidden = path.with_suffix(".new")
    hidden.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(os.fspath(hidden))
        hidden.chmod(0o600)
        listener.listen(_BACKLOG)
        hidden.rename(path)
    except OSError:
        listener.close()
        hidden.unlink(missing_ok=True)
        raise
    return listener


def _sockets(folder: Path) -> list[Path]:
    found: list[Path] = []
    for path in folder.glob(f"*{_SUFFIX}"):
        with suppress(OSError):
            if stat.S_ISSOCK(path.lstat().st_mode):
                found.append(path)
    return found


def remove_dead(folder: Path) -> None:
    """Remove the sockets at which nobody listens any more."""
    for path in _sockets(folder):
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.setblocking(False)
            try:
                probe.connect(os.fspath(path))
            except ConnectionRefusedError:
                path.unlink()


def is_mine(connection: socket.socket) -> bool:
    """Whether the other end belongs to this user, as far as the system tells; the folder is private besides."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    layout = "iII"  # process, user, group
    _, user, _ = struct.unpack(layout, connection.getsockopt(socket.SOL_SOCKET, option, struct.calcsize(layout)))
    return bool(user == os.geteuid())
