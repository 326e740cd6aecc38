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
    refreshtoken secret secretkey secretkeybase secrets token"""
)
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
_ACCOUNTS = word_set(
    """admin amqp app auth aws azure bot ci db deploy docker email es ftp gh git github gitlab gl http imap jdbc
    jenkins jira kafka key keystore ldap login mail maria mongo mqtt mssql my mysql npm oracle personal pg pop
    postgres psql rabbit rds redis registry root sa server sftp smb smtp sql ssh ssl store sudo svc sys system
    tls trust truststore user vnc vpn web wifi wp"""
)
"""Whose `pass`, `pwd` or `pat` is meant as a password or a token, and not as a step, a folder or a pattern."""
_PART = re.compile(r"[A-Z]{2,}(?=pass|pwd|secret|token|key)|[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LAST_WORD = re.compile(
    r"""(?x) (?P<first>.+?) (?P<last> passwords? | passwd | passphrase | passcode | secrets? | credentials?
    | authorization | (?:api|access|private|secret)key | secretkeybase | (?:access|auth|refresh)?token )"""
)
_SHORT_LAST_WORD = re.compile(
    rf"(?P<first>(?:{'|'.join(sorted(_ACCOUNTS))}){{1,2}})(?P<last>pass|pwd|pat)"
    rf"|(?P<qualifier>{'|'.join(sorted(_KEY_QUALIFIERS))})(?P<key>key)"
)


def name_parts(name: str) -> list[str]:
    """The words of a name: `DB_PASSWORD`, `dbPassword` and `DBPASSWORD` have the same two."""
    return [word for part in _PART.findall(name) for word in _words(part.lower())]


def _words(part: str) -> list[str]:
    """Take the word of a secret off the end of what is written in one; `pass` and `key` only after words that fit."""
    if part in PASSWORD_PARTS or part in STRONG_PARTS:
        return [part]
    match = _LAST_WORD.fullmatch(part) or _SHORT_LAST_WORD.fullmatch(part)
    return [word for word in match.groups() if word] if match else [part]


@lru_cache(maxsize=1024)
def strength_of(name: str) -> Strength | None:
    """Say how secret a name makes its value."""
    parts = name_parts(name)
    if not parts or name in ("PWD", "OLDPWD") or parts[-1] == "id" or "public" in parts:
        return None
    if parts[-1] in HARMLESS_ENDINGS or parts[0] in _HARMLESS_STARTS:
        return None
    if not PASSWORD_PARTS.isdisjoint(parts):
        return "weak" if parts == ["pwd"] else "password"
    if parts[-1] in ("pass", "pat") and not _ACCOUNTS.isdisjoint(parts[-2:-1]):
        return "password" if parts[-1] == "pass" else "strong"
    is_key = any(part == "key" and before in _KEY_QUALIFIERS for before, part in pairwise(parts))
    if is_key or not STRONG_PARTS.isdisjoint(parts):
        return "strong"
    named_key = name.isupper() and len(parts) > 1 and parts[-1] == "key"
    return "weak" if named_key or "auth" in parts or "pass" in parts else None
