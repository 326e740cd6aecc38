"""Judge a value by its looks: trivial, a placeholder, prose, or random."""

from __future__ import annotations

import re

from pi_intent.redaction.names import strength_of
from pi_intent.word_sets import word_set

# A value made of these words only says what belongs there.
_PLACEHOLDERS = word_set(
    """a abc access admin an and any api apikey argument auth authentication authorization bar basic baz bearer bool
    boolean bytes change changed changeme client cookie correct credential credentials current default
    disabled dummy else empty enabled enter env environment example expired fake false field file flag foo
    found function guest hash hashed header here hidden if incorrect insert int integer invalid is key lambda
    login masked me missing mock my name new nil no none not null number object of off old on option optional
    options or parameter pass passphrase passwd password path placeholder postgres private public pwd real
    redacted refresh replace required return root sample secret secrets secretstr self session set str string
    test testing tests text the this to todo token tokens true type undefined unknown unset user username
    value var variable with wrong yes your"""
)
_PROSE = word_set(
    """a an and are be by can cannot could do does enter for from has have if in into invalid is it its may must no
    not of on or password please required should than that the this to token use used via was when which will
    with you your"""
)
_REFERENCES = re.compile(
    r"""(?xs) (?: \$\{\{.*?\}\} | \{\{.*?\}\} | [$\#]\{[^}]*+\}? | \$\([^)]*+\)? | \$\$?[\w@*?!:.]++ | \{[^{}]*+\}?
    | <[^<>]*+>? | %\w*+% | %\(\w++\)s | %[sdr] | [\s:/._+-]++ )++"""
)
_ELSEWHERE = re.compile(r"(?i)(?:op|vault|env|file|arn|https?|ssm|keychain):|(?:id|src|type|env)=|!(?:ref|sub|env)\b")
_BLANKED = re.compile(r"[xX]{3,}|[*•#]{3,}|\.{3,}|…|_{4,}|-{4,}")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*+(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*+)*+(?P<more>[(\[].*)?", re.S | re.A)
PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w .@-]+[/\\])*[\w .@-]*")
_RUN = re.compile(r"[A-Za-z0-9]+")


_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")
_UPPER, _LOWER = re.compile(r"[A-Z]"), re.compile(r"[a-z]")


def mixes_digits(text: str) -> bool:
    return bool(_DIGIT.search(text) and _LETTER.search(text))


def mixes_cases(text: str) -> bool:
    return bool(_UPPER.search(text) and _LOWER.search(text))


def is_random(text: str) -> bool:
    """Tell whether a text looks drawn rather than written: one long run, or kinds of characters mixed within one."""
    if len(text) >= 12 and mixes_digits(text) and mixes_cases(text):
        return True
    return any(len(run) >= 20 or (len(run) >= 8 and mixes_digits(run)) for run in _RUN.findall(text))


def is_blanked(text: str) -> bool:
    rest = _BLANKED.sub("", text)
    return len(rest) < len(text) and len(rest) < 12


def is_placeholder(text: str) -> bool:
    """Tell whether a text stands for a secret instead of being one."""
    if _REFERENCES.fullmatch(text) or _ELSEWHERE.match(text):
        return True
    head = text[:64]
    if is_blanked(head) or (head.isupper() and "_" in head and IDENTIFIER.fullmatch(head) and strength_of(head)):
        return True  # crossed out, or the name of a variable
    if _DIGIT.search(head):
        return len(set(text)) == 1
    words = re.findall(r"[A-Za-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", head))
    return text.isascii() and all(word.lower() in _PLACEHOLDERS for word in words)


def is_prose(text: str) -> bool:
    words = text.lower().split()
    return len(words) > 1 and (len(words) > 12 or not _PROSE.isdisjoint(word.strip(".,:;!?") for word in words))
