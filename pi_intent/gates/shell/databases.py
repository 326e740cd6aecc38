"""Whether what a database's client is given changes something."""

from __future__ import annotations

import re
from itertools import pairwise

from pi_intent.gates.shell.script import Command
from pi_intent.word_sets import word_set

SQL_CLIENTS = word_set("psql mysql mariadb sqlite3 sqlite duckdb clickhouse-client cockroach bq")
_OTHERS = word_set("mongosh mongo sqlcmd")
"""Clients whose statements need nothing between them, or are no SQL."""

_VERBS = "drop|delete|truncate|alter|update|insert|grant|revoke|create|replace|merge|rename"
_CHANGES = re.compile(rf"\b(?:{_VERBS})\b", re.I)
_ON_OPTION = re.compile(rf"-[a-zA-Z]*(?:{_VERBS})\b", re.I)
_GIVEN = re.compile(r"-[NBsAtqXr]*[ce]|--(?:command|execute|version|help|list)|-V$|-l$")
"""Options with which a client reads no statements from its input."""
_FIRST = re.compile(
    rf"[\s(]*(?:{_VERBS}|copy|do|call|execute|vacuum|reindex|refresh|reassign|load|import|rm|cp|mk)\b", re.I
)
_MAY_CHANGE = re.compile(r"[\s(]*(?:with|explain|begin|start|delimiter|if|while)\b", re.I)
_STORES = re.compile(r"[\s(]*select\b.*\binto\b", re.I | re.S)
_METHODS = re.compile(r"\.(?:drop|delete|update|insert|remove|replace|create|rename|bulkWrite)\w*\s*\(")
_ASIDE = re.compile(
    r"""--[^\n]* | /\*.*?(?:\*/|\Z) | '[^']*(?:'|\Z) | "[^"]*(?:"|\Z) | `[^`]*(?:`|\Z)""", re.S | re.X
)
"""Comments, texts and quoted names."""
_READ_DIFFERENTLY = re.compile(r"""\\['"gG]|/\*!|--(?!\s)|[#]|\$\w*\$""")
"""What one database takes for a comment or a text, and another does not."""
_REDIS_CHANGES = word_set("FLUSHALL FLUSHDB DEL UNLINK SHUTDOWN CONFIG EVAL")


def runs_file(command: Command) -> bool:
    """Whether a client is given its statements in a file."""
    named = any(re.match(r"(?:-\w*f|--file=?)", text) for text in command.texts) and command.program == "psql"
    given = any(word.operator == "<" and word.target.text != "/dev/null" for word in command.redirects)
    return command.program in SQL_CLIENTS and (named or given)


def reads_statements(command: Command) -> bool:
    """Whether a client takes its statements from its input: none is among its arguments."""
    return command.program in SQL_CLIENTS and not any(
        " " in text or text.startswith(".") or _GIVEN.match(text) for text in command.texts
    )


def changes_data(program: str, texts: list[str]) -> bool:
    """Judge SQL by the first word of each of its statements."""
    if program == "redis-cli":
        words = [text.upper() for text in texts]
        return bool(_REDIS_CHANGES & set(words)) and ("CONFIG", "GET") not in pairwise(words)
    if program in _OTHERS:
        return any(_METHODS.search(text) or _CHANGES.search(text) for text in texts)
    return program in SQL_CLIENTS and any(map(_changes, texts))


def _changes(text: str) -> bool:
    if text.startswith("-"):  # an option, and its value on it
        return bool(_CHANGES.search(text) or _ON_OPTION.match(text))
    if _READ_DIFFERENTLY.search(text) or text.count("'") % 2:
        return bool(_CHANGES.search(text))
    for statement in _ASIDE.sub(" ", text).split(";"):
        if _FIRST.match(statement) or _STORES.match(statement):
            return True
        if _MAY_CHANGE.match(statement) and _CHANGES.search(statement):
            return True
    return False
