"""Open the index of a ledger: as it is, brought up to date, or made anew; a fault of it is nobody's concern.

The file is never written to in place. What is new goes into a copy, which then takes its place, so that there are no
locks to wait for, nobody reads what is half written, and a process that dies leaves the old one.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from pi_intent.ledger.index.place import draft_path, index_path, remove_left_behind
from pi_intent.ledger.index.reading import OutOfOrder, Reader, Tell
from pi_intent.ledger.index.schema import connect, create_orders, create_tables, has_our_tables
from pi_intent.ledger.index.survey import File, known_segments, look_around, news
from pi_intent.ledger.reader import Problem

_NOT_TO_BE_USED = (sqlite3.Error, OSError, ValueError, TypeError, OverflowError, OutOfOrder)
"""What a broken file, a full disk or a second record in the wrong place can lead to."""


def open_database(root: Path, *, anew: bool, tell: Tell | None) -> tuple[sqlite3.Connection, list[Problem]]:
    """Return a database that says what the ledger says now, and what could not be read. `anew`: trust no file."""
    files, problems = look_around(root / "ledger")
    database = None if anew else _up_to_date(root, files, problems, tell)
    if database is None and files:
        database = _in_place(root, files, problems, tell, copy=False)
    return database or _private(files, problems, tell), problems


def _up_to_date(
    root: Path, files: list[File], problems: list[Problem], tell: Tell | None
) -> sqlite3.Connection | None:
    """Return the index that there is, with what is new; None where it is missing, broken, or not true any more."""
    path = index_path(root)
    database = None
    try:
        if not path.is_file():
            return None
        database = connect(os.fspath(path), immutable=True)
        longer = news(files, known_segments(database)) if has_our_tables(database) else None
        if longer == []:
            kept, database = database, None
            return kept
        if longer:
            return _in_place(root, files, problems, tell, copy=True) or _private(files, problems, tell, database)
    except _NOT_TO_BE_USED:
        pass
    finally:
        if database is not None:
            database.close()
    return None


def _in_place(
    root: Path, files: list[File], problems: list[Problem], tell: Tell | None, *, copy: bool
) -> sqlite3.Connection | None:
    """Put an index in place, a new one or a copy with what is new, and return it; None where that cannot be done."""
    database = None
    found: list[Problem] = []
    try:
        remove_left_behind(root)
        draft = draft_path(root)
    except OSError:
        return None
    try:
        if copy:
            import shutil  # most of the time there is nothing new

            shutil.copyfile(index_path(root), draft)
        database = connect(os.fspath(draft))
        if not copy:
            create_tables(database)
        _fill(database, files, found, tell)
        draft.replace(index_path(root))
        if not all(file.path.exists() for file in files):
            index_path(root).unlink()  # somebody removes what is old, and this would bring it back
    except _NOT_TO_BE_USED:
        if database is not None:
            database.close()
        database = None
    finally:
        with suppress(OSError):
            draft.unlink()
    if database is not None:
        problems += found
    return database


def _private(
    files: list[File], problems: list[Problem], tell: Tell | None, old: sqlite3.Connection | None = None
) -> sqlite3.Connection:
    """Return an index that nobody else sees and that is gone with this process; with `old`, that one and what is new.

    Raises `OutOfOrder` where that cannot be.
    """
    for name in ("", ":memory:"):  # the first one moves to the disk where it grows large
        found: list[Problem] = []
        database = connect(name)
        try:
            if old is None:
                create_tables(database)
            else:
                old.backup(database)
            _fill(database, files, found, tell)
        except BaseException as error:
            database.close()
            if name or not isinstance(error, sqlite3.Error):
                raise
            continue
        break
    problems += found
    return database


def _fill(database: sqlite3.Connection, files: list[File], problems: list[Problem], tell: Tell | None) -> None:
    """Read what is not yet in a database. Raises `OutOfOrder` where only making it anew is right."""
    known = known_segments(database)
    longer = news(files, known)
    if longer is None:
        raise OutOfOrder
    database.execute("BEGIN")
    problems += Reader(database, known, tell=tell).read(longer)
    create_orders(database)
    database.execute("COMMIT")
