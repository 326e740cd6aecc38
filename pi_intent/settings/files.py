"""Read a settings file that may have been made to do harm, without ever waiting for it.

A cloned repository chooses what stands at `.pi-intent.toml`: a link to a private file, a pipe without a writer, a
gigabyte, or text that a TOML parser takes hours over.
"""

from __future__ import annotations

import errno
import os
import stat
import tomllib
from pathlib import Path

from pi_intent.errors import SettingsError
from pi_intent.settings.wording import safe

MAX_BYTES = 256 * 1024

_NOWHERE = "is a link to nowhere"

_WORDS = (
    ("Illegal character '\\n'", "a quote is not closed in its line"),
    ("Illegal character", "a character that no text may hold"),
    ("Cannot declare", "a table is there twice"),
    ("Cannot mutate", "a table in braces is added to"),
    ("Duplicate inline table key", "a key is there twice in a table"),
)
"""How the parser's sentences begin that quote a key or a character as Python writes it, and what they say."""

_AT_END = "at its end"

_MAX_DOTS = 64
"""In one line. tomllib takes quadratic time over a dotted key: 0.9 s for 8,000 parts, minutes for a full file."""


def read_toml(path: Path, *, follow_links: bool) -> dict[str, object] | None:
    """Return what a TOML file holds, or None when there is none; raise `SettingsError` when it cannot be used."""
    data = _read_bytes(path, follow_links=follow_links)
    if data is None:
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unusable(path, "is not UTF-8 text") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > _MAX_DOTS and not line.lstrip().startswith("#"):
            raise _unusable(path, f"has more than {_MAX_DOTS} dots in line {number}, which no setting needs")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise _unusable(path, "is nested too deeply") from error
    except tomllib.TOMLDecodeError as error:
        raise _unusable(path, f"cannot be read as TOML: {_in_words(str(error))}") from error
    except ValueError as error:  # Python's limit of some thousand digits
        raise _unusable(path, "holds a number that is too long to read") from error


def _in_words(error: str) -> str:
    """Return what Python's parser says, with the place first, and nothing as Python writes it."""
    what, _, place = error.removesuffix(")").rpartition(" (at ")
    said = next((words for begins, words in _WORDS if what.startswith(begins)), what[:1].lower() + what[1:])
    return f"{_AT_END if place == 'end of document' else place}: {safe(said[:120])}"


def _read_bytes(path: Path, *, follow_links: bool) -> bytes | None:
    # O_NONBLOCK: opening a pipe would wait for its writer. What kind of file it is, is asked of the open file:
    # the path could be given to another one in between.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if not follow_links:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        if (link := _link_to_nowhere(path)) is not None:
            raise _unusable(
                path, _NOWHERE if link == path else f"lies in {safe(str(link))}, which {_NOWHERE}"
            ) from None
        return None
    except OSError as error:
        if isinstance(error, PermissionError) and not _can_look_into(path.parent):
            return None  # such as the home of another user: nobody can say that a file is meant to be there
        if error.errno == errno.ELOOP and not follow_links:
            raise _unusable(path, "is a symbolic link, which is not followed in a project") from error
        raise _unusable(path, f"cannot be read ({error.strerror})") from error
    except ValueError as error:  # a path with a null character
        raise _unusable(path, "is not the name of a file") from error
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise _unusable(path, "is a folder" if stat.S_ISDIR(mode) else "is not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise _unusable(path, f"cannot be read ({error.strerror})") from error
    finally:
        os.close(descriptor)
    if len(data) > MAX_BYTES:
        raise _unusable(path, f"is larger than {MAX_BYTES // 1024} KiB")
    return data


def _can_look_into(folder: Path) -> bool:
    """Say whether a folder can be seen at all, which is another thing than being let in."""
    try:
        folder.stat()
    except OSError:
        return False
    return True


def _link_to_nowhere(path: Path) -> Path | None:
    """Return the link because of which a file is not there: somebody meant one to be."""
    return next((each for each in (path, *path.parents) if each.is_symlink() and not each.exists()), None)


def _unusable(path: Path, reason: str) -> SettingsError:
    return SettingsError(
        f"{safe(str(path))} {reason}; nothing in it counts, so every call that writes or runs something is asked "
        "about until you correct or remove it."
    )
