"""Whether what a database's client is given changes something."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pi_intent.gates.shell.operands import operands
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
_REDIS_READS = word_set(
    "AUTH HELLO SELECT PING ECHO QUIT TIME INFO LOLWUT COMMAND HELP DBSIZE LASTSAVE MONITOR WAIT KEYS SCAN "
    "RANDOMKEY EXISTS TYPE TTL PTTL EXPIRETIME PEXPIRETIME OBJECT DUMP TOUCH MEMORY SLOWLOG LATENCY ROLE READONLY "
    "GET MGET GETRANGE SUBSTR STRLEN GETBIT BITCOUNT BITPOS LCS HGET HMGET HGETALL HKEYS HVALS HLEN HEXISTS "
    "HSTRLEN HRANDFIELD HSCAN LLEN LRANGE LINDEX LPOS SMEMBERS SCARD SISMEMBER SMISMEMBER SRANDMEMBER SINTER "
    "SINTERCARD SUNION SDIFF SSCAN ZRANGE ZREVRANGE ZRANGEBYSCORE ZREVRANGEBYSCORE ZRANGEBYLEX ZREVRANGEBYLEX "
    "ZCARD ZCOUNT ZLEXCOUNT ZSCORE ZMSCORE ZRANK ZREVRANK ZRANDMEMBER ZINTER ZINTERCARD ZUNION ZDIFF ZSCAN XRANGE "
    "XREVRANGE XREAD XLEN XINFO XPENDING PFCOUNT GEOPOS GEODIST GEOHASH GEOSEARCH SORT_RO SUBSCRIBE PSUBSCRIBE "
    "SSUBSCRIBE PUBSUB EVAL_RO EVALSHA_RO FCALL_RO JSON.GET JSON.MGET JSON.TYPE JSON.STRLEN JSON.OBJKEYS "
    "JSON.OBJLEN JSON.ARRLEN JSON.ARRINDEX FT.SEARCH FT.AGGREGATE FT.INFO FT._LIST FT.EXPLAIN TS.GET TS.MGET "
    "TS.RANGE TS.REVRANGE TS.MRANGE TS.INFO BF.EXISTS BF.MEXISTS BF.INFO"
)
"""What only asks: everything else changes something."""
_REDIS_LOOKS = re.compile(
    "(?:CONFIG|CLIENT|CLUSTER|ACL|MODULE|SCRIPT|FUNCTION) "
    "(?:GET\\w*|LIST|INFO|ID|HELP|NODES|SLOTS|SHARDS|MYID|KEYSLOT|WHOAMI|CAT|USERS|LOG|EXISTS|STATS|DUMP)(?: .*)?"
)
_REDIS_VALUED = ("hpastunirdDX", ("--user", "--pass", "--cacert", "--cert", "--key", "--sni", "--pattern", "--count"))
_REDIS_RUNS = re.compile("--(?:eval|pipe|cluster)(?:=.*)?")
_BY_FILE = {
    # What has a client run statements that stand in a file, or a program.
    **dict.fromkeys(
        ("sqlite3", "sqlite", "duckdb"),
        re.compile(
            r"(?:^|\n)[ \t]*\.(?:rea|read|loa?d?)\b|(?:^|\n)[ \t]*\.[eio]\w*[ \t][^\n]*?(?<!\w)\|"
            r"|(?i:\b(?:load_extension|writefile|edit)\s*\()"
        ),
    ),
    "psql": re.compile(
        r"\\(?:i|ir|include|include_relative)\s|\\(?:o|out|g|gx|w|write)\s*\||\\\w+[^\n\\`]*`|^(?:-o|--output=)?\|"
    ),
    **dict.fromkeys(("mysql", "mariadb"), re.compile(r"(?:\A|;)\s*(?:source\s|\\\.|pager\s+\S|\\P\s*\S|edit\b)")),
    **dict.fromkeys(("mongosh", "mongo"), re.compile(r"\.(?:m?js|mongodb)$|^-f$|^--file(?:=|$)|\bload\(")),
}


def runs_file(command: Command) -> bool:
    """Whether a client is given its statements in a file, or a program to run."""
    if statements_elsewhere(command.program or "", command.texts):
        return True
    named = any(re.match(r"(?:-\w*f|--file=?)", text) for text in command.texts) and command.program == "psql"
    given = any(word.operator == "<" and word.target.text != "/dev/null" for word in command.redirects)
    return command.program in SQL_CLIENTS and (named or given)


def statements_elsewhere(program: str, texts: Iterable[str]) -> bool:
    """Whether one of these texts has a client run what stands elsewhere: `.read x.sql`, `\\o |rm`."""
    return program in _BY_FILE and any(map(_BY_FILE[program].search, texts))


def reads_statements(command: Command) -> bool:
    """Whether a client takes its statements from its input: none is among its arguments."""
    return command.program in SQL_CLIENTS and not any(
        " " in text or text.startswith(".") or _GIVEN.match(text) for text in command.texts
    )


def changes_data(command: Command, given: Iterable[str]) -> bool:
    """Judge SQL by the first word of each of its statements; `given` is what stands on the input."""
    program = command.program or ""
    if program == "redis-cli":
        return _changes_redis(command, given)
    texts = [*(word.shown for word in command.arguments), *given]
    if program in _OTHERS:
        return any(_METHODS.search(text) or _CHANGES.search(text) for text in texts)
    return program in SQL_CLIENTS and any(map(_changes, texts))


def _changes_redis(command: Command, given: Iterable[str]) -> bool:
    asked = " ".join(word.shown for word in operands(command.arguments, *_REDIS_VALUED))
    lines = "\n".join((asked, *given)).upper().split("\n")
    return any(map(_REDIS_RUNS.fullmatch, command.texts)) or any(
        line.split()[0] not in _REDIS_READS and not _REDIS_LOOKS.fullmatch(line.strip())
        for line in lines
        if line.strip()
    )


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
