"""The tables of the index. They repeat what the ledger says, in the form in which it is asked."""

from __future__ import annotations

import sqlite3

VERSION = 7
"""Of the tables. An index of another version is made anew."""

_TABLES = f"""
PRAGMA user_version = {VERSION};
CREATE TABLE segment (
    n INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, device TEXT NOT NULL, inode TEXT NOT NULL,
    modified INTEGER, offset INTEGER NOT NULL, lines INTEGER NOT NULL, crc INTEGER NOT NULL, whole INTEGER NOT NULL
);
-- One row a call, also where its beginning is missing: then `line` is null, and `ts` is when it ended.
CREATE TABLE call (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL, ts TEXT NOT NULL, seq INTEGER NOT NULL, session TEXT NOT NULL,
    ended INTEGER NOT NULL, segment INTEGER, line INTEGER, offset INTEGER, length INTEGER,
    host TEXT, agent TEXT, message TEXT, turn INTEGER, tool TEXT, tool_source TEXT, intent TEXT, intent_source TEXT,
    rationale TEXT, args TEXT, policy TEXT, flags TEXT, model TEXT, path TEXT, tool_call_id TEXT
);
-- The end of a call has the number of the call.
CREATE TABLE done (
    n INTEGER PRIMARY KEY, segment INTEGER NOT NULL, line INTEGER NOT NULL, offset INTEGER NOT NULL,
    length INTEGER NOT NULL, status TEXT NOT NULL, codes TEXT, ms INTEGER NOT NULL, outcome TEXT, facts TEXT,
    error TEXT, files TEXT
);
-- The texts of many records in one value, in small letters: three lines each, in the order of `numbers`.
CREATE TABLE searched (numbers BLOB NOT NULL, body TEXT NOT NULL);
CREATE TABLE problem (segment INTEGER NOT NULL, line INTEGER NOT NULL, why TEXT NOT NULL);
CREATE TABLE session (
    segment INTEGER NOT NULL, line INTEGER NOT NULL, ts TEXT NOT NULL, session TEXT NOT NULL, writer TEXT NOT NULL,
    record TEXT NOT NULL
);
-- What was asked about a call and decided; there are few.
CREATE TABLE decision (
    id TEXT NOT NULL, segment INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL,
    line INTEGER NOT NULL, ts TEXT NOT NULL, number INTEGER NOT NULL, reasons TEXT NOT NULL, approved INTEGER,
    decided_by TEXT
);
CREATE TABLE other (v TEXT NOT NULL, t TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (v, t));
CREATE UNIQUE INDEX call_by_id ON call (id);
CREATE INDEX decision_by_id ON decision (id);
"""

_ORDERS = (
    "call_in_order ON call (ts, seq, id)",
    "call_of_session ON call (session, ts, seq, id)",
    "call_not_ended ON call (segment) WHERE NOT ended",
    "call_not_begun ON call (n) WHERE line IS NULL",
)

CALL_COLUMNS = 25
DONE_COLUMNS = 12


def connect(name: str, *, immutable: bool = False) -> sqlite3.Connection:
    """Open a database: a file that only this process writes to, or '' for one that nobody else sees.

    Raises `sqlite3.DatabaseError`, or `ValueError` where not even the fault can be told.
    """
    if immutable:
        literal = name.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        database = sqlite3.connect(f"file:{literal}?mode=ro&immutable=1", uri=True, isolation_level=None)
    else:
        database = sqlite3.connect(name, isolation_level=None)
    pragmas = ["cache_size = -16384", "temp_store = MEMORY"]
    if not immutable:
        # Nothing has to survive a crash: the file gets its name when it is whole.
        pragmas += ["journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"]
    try:
        for pragma in pragmas:
            database.execute(f"PRAGMA {pragma}").close()
    except BaseException:  # also what is no text in a message about a broken file
        database.close()
        raise
    return database


def create_tables(database: sqlite3.Connection) -> None:
    """Make the tables in an empty database."""
    database.executescript(_TABLES)


def create_orders(database: sqlite3.Connection) -> None:
    """Make what finds rows again; cheaper once they are there."""
    for order in _ORDERS:
        database.execute(f"CREATE INDEX IF NOT EXISTS {order}")


def has_our_tables(database: sqlite3.Connection) -> bool:
    """Is this an index of our version? Raises `sqlite3.DatabaseError`."""
    ((version,),) = database.execute("PRAGMA user_version")
    return bool(version == VERSION)
