"""How the file of a segment is named, and what it tells without being read: whether its writer is alive."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from pathlib import Path

SUFFIX = ".jsonl"

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_RESERVED = re.compile(r"con|prn|aux|nul|(?:com|lpt)[0-9]")  # Windows opens devices under these


def file_stem(session: str) -> str:
    """Return a file name for a session's id that is safe on every file system; two ids never share one.

    A plain id in lower case stays as it is. Any other one is made plain and gets `~` and a digest of the whole id:
    a file system that ignores case or a long common beginning cannot bring two of them together.
    """
    if _PLAIN.fullmatch(session) and not _RESERVED.fullmatch(session):
        return session
    digest = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return f"{re.sub(r'[^a-z0-9_-]+', '-', session.lower()[:200]).strip('-')[:32]}~{digest}"


def writer_of(name: str) -> str:
    """Return the writer in the name of a segment."""
    return Path(name).stem.rpartition(".")[2]


def has_writer(path: Path) -> bool:
    """Does the writer of a segment still run? Told by its lock; False where there are no locks. Raises `OSError`."""
    fd = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(fd)
    return False
