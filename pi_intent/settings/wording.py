"""Name a setting and quote what stands there, in a sentence for a person.

What is quoted may come from a repository somebody has just cloned: it is cut, and never printed raw.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

_QUOTED = 60
_KEYS_SHOWN = 4
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]{1,60}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where settings were written; `prefix` where each is a variable of its own."""

    name: str
    prefix: str | None = None

    def origin(self, key: str) -> str:
        """Return the file, the variable or "command line", for a table of origins."""
        return self.name if self.prefix is None else self.prefix + key.upper()

    def where(self, key: str) -> str:
        """Return the start of a sentence about one setting."""
        return f"{self.name}: {key}" if self.prefix is None else self.prefix + key.upper()


COMMAND_LINE = Source(name="command line")
ENVIRONMENT = Source(name="environment", prefix="PI_INTENT_")


ASKED_MEANWHILE = "every call that writes or runs something is asked about until you correct it."


class Lapse(str):
    """A sentence that says that something which is to guard does not count; `key` is the setting, where it is one."""

    key: str | None

    def __new__(cls, sentence: object, key: str | None = None) -> Lapse:
        made = super().__new__(cls, sentence)
        made.key = key
        return made


class Idle(str):
    """A sentence that says what of a rule for a tool has no effect; what is said of it begins with `rule`.

    `guards` says that the rule is to guard a tool, by a name so close to that of one that it is probably meant.
    """

    rule: str
    guards: bool

    def __new__(cls, sentence: str, rule: str, *, guards: bool = False) -> Idle:
        made = super().__new__(cls, sentence)
        made.rule, made.guards = rule, guards
        return made


def safe(text: str) -> str:
    """Return a text as it is if it can be printed, else in quotes with escapes."""
    return text if text.isprintable() else json.dumps(text)


def shown(value: object) -> str:
    """Return a value much as TOML writes it, short and printable."""
    match value:
        case str():
            cut = value if len(value) <= _QUOTED else value[:_QUOTED] + "…"
            return json.dumps(cut, ensure_ascii=not cut.isprintable())
        case bool():
            return str(value).lower()
        case int() if value.bit_length() > 64:
            return "a huge number"  # Python refuses to print thousands of digits
        case int() | float():
            return str(value)
        case dict():
            return "a table"
        case list() | tuple():
            return "a list"
        case _:
            return f"a {type(value).__name__}"


def shown_table(table: Mapping[str, object]) -> str:
    """Return a small table much as TOML writes it: a few of its keys, each value cut."""
    said = [f"{setting_path(key)} = {shown(value)}" for key, value in list(table.items())[:_KEYS_SHOWN]]
    if not said:
        return "{}"
    return "{ " + ", ".join([*said, *(["…"] if len(table) > _KEYS_SHOWN else [])]) + " }"


def setting_path(*keys: str) -> str:
    """Return the dotted path of a setting, quoted where TOML asks for quotes."""
    return ".".join(key if _BARE_KEY.fullmatch(key) else shown(key) for key in keys)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that was probably meant."""
    by_lower = {one.lower(): one for one in known}
    found = get_close_matches(word[:_QUOTED].lower(), by_lower, n=1)
    return by_lower[found[0]] if found else None
