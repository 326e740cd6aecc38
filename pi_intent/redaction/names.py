"""Judge what a name says of its value: `API_KEY` much, `key` little, `PATH` nothing."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from pi_intent.redaction.spans import Strength
from pi_intent.word_sets import word_set

PASSWORD_PARTS = word_set("password passwd passphrase passcode pwd")
STRONG_PARTS = word_set(
    """accesskey accesstoken apikey authorization authtoken clientsecret credential credentials privatekey
    refreshtoken secret secretkey secrets token"""
)
_PASSWORD_ENDINGS = ("password", "passwd", "passphrase")
_STRONG_ENDINGS = ("accesskey", "apikey", "credential", "credentials", "privatekey", "secret", "secretkey", "token")
"""How one word may end that has no bounds inside: `MYTOKEN`, `PGPASSWORD`."""
_KEY_QUALIFIERS = word_set(
    """access account admin api app auth client deploy encryption jwt license master private secret service session
    shared signing storage subscription webhook"""
)
HARMLESS_ENDINGS = word_set(
    """alg algo algorithm budget bytes class cost count dir directory duration endpoint env error exists expiration
    expires expiry field file filename format function header helper hint host index label len length limit
    manager max message min mode name names param parameter path pattern per policy port prefix prompt
    provider range regex required rotation scheme scope scopes size sock source status stdin store suffix
    timeout ttl type types uri url usage user username valid validator var version"""
)
_HARMLESS_STARTS = word_set("count forgot had has hide is max min no num pub public reset show skip total use")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def name_parts(name: str) -> list[str]:
    return [part.lower() for part in _PART.findall(name)]


def names_password(parts: list[str]) -> bool:
    """Tell whether one of the parts of a name says that it is a password."""
    return any(part in PASSWORD_PARTS or part.endswith(_PASSWORD_ENDINGS) for part in parts)


def names_strong(parts: list[str]) -> bool:
    """Tell whether one of the parts of a name says that it is a token, a secret or a key for access."""
    return any(part in STRONG_PARTS or part.endswith(_STRONG_ENDINGS) for part in parts)


@lru_cache(maxsize=1024)
def strength_of(name: str) -> Strength | None:
    """Say how secret a name makes its value."""
    parts = name_parts(name)
    if not parts or name in ("PWD", "OLDPWD") or parts[-1] == "id" or "public" in parts:
        return None
    if parts[-1] in HARMLESS_ENDINGS or parts[0] in _HARMLESS_STARTS:
        return None
    if names_password(parts):
        return "weak" if parts == ["pwd"] else "password"
    is_key = any(part == "key" and before in _KEY_QUALIFIERS for before, part in pairwise(parts))
    if is_key or names_strong(parts):
        return "strong"
    named_key = name.isupper() and len(parts) > 1 and parts[-1] == "key"
    return "weak" if named_key or "auth" in parts or "pass" in parts else None
