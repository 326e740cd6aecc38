"""Keep the random key of a ledger, and make digests that only its owner can compare."""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
from contextlib import suppress
from pathlib import Path

from pi_intent.errors import LedgerError
from pi_intent.ledger.location import make_private_folder
from pi_intent.ledger.naming import SUFFIX

KEY_BYTES = 32
DIGEST_BYTES = 16
"""128 of the 256 bits of HMAC-SHA-256: who has no key can neither guess a text nor make another one fit."""

_NO_HARD_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


class Digester:
    """Digests under one key: equal for equal bytes, and useless to whoever tries a dictionary without the key."""

    __slots__ = ("_inner", "_outer")

    def __init__(self, key: bytes) -> None:
        # HMAC as its definition says, with the key taken in once: `hmac.digest` does that anew for every text.
        block = key.ljust(64, b"\0")
        self._inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in block))
        self._outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in block))

    def digest(self, data: bytes) -> str:
        """Return `hmac:` and 32 hexadecimal digits."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(data)
        outer.update(inner.digest())
        return "hmac:" + outer.digest()[:DIGEST_BYTES].hex()


def redaction_key(key: bytes) -> bytes:
    """Return the key for tokens of redacted secrets: another one, so that no token can be looked up as a digest."""
    return hmac.digest(key, b"pi-intent redaction", "sha256")


def load_key(root: Path) -> bytes:
    """Return the key of the ledger in `root`; the first of many processes at once creates it.

    Raises `LedgerError` where the file is damaged, cannot be read, or cannot be made.
    """
    path = root / "key"
    try:
        if not path.exists():
            _create(path)
        key = _read(path)
    except OSError as error:
        raise LedgerError(
            f"the key of the ledger, {path}, cannot be read or made ({error.strerror}): check who owns the folder "
            "and whether the disk is full"
        ) from error
    if len(key) != KEY_BYTES or not any(key):
        raise LedgerError(
            f"the key of the ledger, {path}, is damaged: put it back from a backup, or move it away and a new one is "
            "made (digests made with the old key can then no longer be compared)"
        )
    return key


def lost_key(root: Path) -> str | None:
    """Return a sentence where there are records but no key, so that the next writer makes a new one; else None."""
    path = root / "key"
    if os.path.lexists(path) or next((root / "ledger").glob(f"*{SUFFIX}"), None) is None:
        return None
    if os.path.lexists(path):  # another process began this ledger meanwhile, and the key comes before the records
        return None
    return (
        f"the key of the ledger, {path}, was missing, and a new one was made: digests from before can no longer be "
        "compared with those from now on; if there is a backup, put the old key back"
    )


def key_to_look(root: Path | None) -> bytes:
    """Return the key of the ledger in `root`, or one for this moment where there is none; nothing is made.

    Without a key there is nothing that a digest could be compared with. Raises `LedgerError`.
    """
    return load_key(root) if root is not None and (root / "key").exists() else os.urandom(KEY_BYTES)


def _read(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if os.fstat(descriptor).st_mode & 0o177:
            with suppress(OSError):  # somebody else's file: then its modes are theirs to decide
                os.fchmod(descriptor, 0o600)
        return os.read(descriptor, KEY_BYTES + 1)
    finally:
        os.close(descriptor)


def _create(path: Path) -> None:
    """Put a complete key in place in one step, or leave the one that another process put there first."""
    make_private_folder(path.parent)
    temporary = path.with_name(f".key-{os.urandom(8).hex()}")
    try:
        _write_new(temporary)
        with suppress(FileExistsError):
            os.link(temporary, path)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        with suppress(FileExistsError):
            _write_new(path)
    finally:
        with suppress(OSError):
            temporary.unlink()


def _write_new(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with suppress(OSError):  # a file system without modes
            os.fchmod(descriptor, 0o600)
        if os.write(descriptor, os.urandom(KEY_BYTES)) != KEY_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
