"""Replace secrets in text by tokens that can be correlated but not reversed.

A token is `[redacted:KIND:xxxxxxxx]`: eight hexadecimal digits of an HMAC of the secret. The same secret under the
same key has the same token wherever it stands, because the kind follows from the secret: its own shape if it has
one, `env` for a value of the environment, else `secret`.

Every pattern here either consumes what it looked at or is bounded, so that no text takes more than linear time. What
a pattern finds is then judged in code, because "is this a literal or an expression?" is no question for a pattern.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import math
import re
import string
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, zip_longest
from types import MappingProxyType
from typing import Literal
from urllib.parse import quote, quote_plus

from pi_intent.types import JSONValue

MAX_DEPTH = 100
"""Containers nested deeper than this are replaced as a whole."""

_MAX_ROUNDS = 4
_LEAST_ENVIRONMENT = 8
_JUDGED = 128
"""How much of a value is looked at to decide whether it is a secret."""

_Strength = Literal["password", "strong", "weak"]
"""How much a name says about its value: a password may be a word, a `weak` one has to look random."""


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    kind: str
    secret: str


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _end(pattern: re.Pattern[str], text: str, start: int, limit: int = sys.maxsize) -> int:
    match = pattern.match(text, start, limit)
    return match.end() if match else start


# ---- What is trivial, what looks random

# A value made of these words only says what belongs there.
_PLACEHOLDERS = _words(
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
_PROSE = _words(
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
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*+(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*+)*+(?P<more>[(\[].*)?", re.S | re.A)
_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w .@-]+[/\\])*[\w .@-]*")
_RUN = re.compile(r"[A-Za-z0-9]+")


_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")
_UPPER, _LOWER = re.compile(r"[A-Z]"), re.compile(r"[a-z]")


def _mixes_digits(text: str) -> bool:
    return bool(_DIGIT.search(text) and _LETTER.search(text))


def _mixes_cases(text: str) -> bool:
    return bool(_UPPER.search(text) and _LOWER.search(text))


def _is_random(text: str) -> bool:
    """Tell whether a text looks drawn rather than written: one long run, or kinds of characters mixed within one."""
    if len(text) >= 12 and _mixes_digits(text) and _mixes_cases(text):
        return True
    return any(len(run) >= 20 or (len(run) >= 8 and _mixes_digits(run)) for run in _RUN.findall(text))


def _is_blanked(text: str) -> bool:
    rest = _BLANKED.sub("", text)
    return len(rest) < len(text) and len(rest) < 12


def _is_placeholder(text: str) -> bool:
    """Tell whether a text stands for a secret instead of being one."""
    if _REFERENCES.fullmatch(text) or _ELSEWHERE.match(text):
        return True
    head = text[:64]
    if _is_blanked(head) or (head.isupper() and "_" in head and _IDENTIFIER.fullmatch(head) and _strength(head)):
        return True  # crossed out, or the name of a variable
    if _DIGIT.search(head):
        return len(set(text)) == 1
    words = re.findall(r"[A-Za-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", head))
    return text.isascii() and all(word.lower() in _PLACEHOLDERS for word in words)


def _is_prose(text: str) -> bool:
    words = text.lower().split()
    return len(words) > 1 and (len(words) > 12 or not _PROSE.isdisjoint(word.strip(".,:;!?") for word in words))


# ---- What names say

_PASSWORD_PARTS = _words("password passwd passphrase passcode pwd")
_STRONG_PARTS = _words(
    """accesskey accesstoken apikey authorization authtoken clientsecret credential credentials privatekey
    refreshtoken secret secretkey secrets token"""
)
_KEY_QUALIFIERS = _words(
    """access account admin api app auth client deploy encryption jwt license master private secret service session
    shared signing storage subscription webhook"""
)
_ENVIRONMENT_PARTS = _PASSWORD_PARTS | _STRONG_PARTS | _words("auth key keys pass passwords private tokens")
_HARMLESS_ENDINGS = _words(
    """alg algo algorithm budget bytes class cost count dir directory duration endpoint env error exists expiration
    expires expiry field file filename format function header helper hint host index label len length limit
    manager max message min mode name names param parameter path pattern per policy port prefix prompt
    provider range regex required rotation scheme scope scopes size sock source status stdin store suffix
    timeout ttl type types uri url usage user username valid validator var version"""
)
_HARMLESS_STARTS = _words("count forgot had has hide is max min no num pub public reset show skip total use")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def _parts(name: str) -> list[str]:
    return [part.lower() for part in _PART.findall(name)]


@lru_cache(maxsize=1024)
def _strength(name: str) -> _Strength | None:
    """Say how secret a name makes its value."""
    parts = _parts(name)
    if not parts or name in ("PWD", "OLDPWD") or parts[-1] == "id" or "public" in parts:
        return None
    if parts[-1] in _HARMLESS_ENDINGS or parts[0] in _HARMLESS_STARTS:
        return None
    if not _PASSWORD_PARTS.isdisjoint(parts):
        return "weak" if parts == ["pwd"] else "password"
    is_key = any(part == "key" and before in _KEY_QUALIFIERS for before, part in pairwise(parts))
    if is_key or not _STRONG_PARTS.isdisjoint(parts):
        return "strong"
    named_key = name.isupper() and len(parts) > 1 and parts[-1] == "key"
    return "weak" if named_key or "auth" in parts or "pass" in parts else None


def _is_secret_variable(name: str, value: str) -> bool:
    """Tell whether an environment variable holds a secret.

    The socket, file, host or kind of a secret is none (`SSH_AUTH_SOCK`, `KEY_FILE`), nor is the path of a file under
    any name, a public key or a fingerprint (`GPG_KEY` of an image), nor a value that only stands for one.
    """
    parts = _parts(name)
    if len(value) < _LEAST_ENVIRONMENT or name in ("PWD", "OLDPWD") or _ENVIRONMENT_PARTS.isdisjoint(parts):
        return False
    if parts[-1] in _HARMLESS_ENDINGS or not {"public", "fingerprint"}.isdisjoint(parts) or _is_placeholder(value):
        return False
    if "gpg" in parts and re.fullmatch(r"[0-9A-Fa-f]{8,40}", value):
        return False
    return not (
        _PATH.fullmatch(value) and re.search(r"\.\w{2,5}$|^(?:~|/(?:home|etc|root|run|tmp|usr|var|Users)/)", value)
    )


# ---- Secrets known by their shape


@dataclass(frozen=True, slots=True)
class _Shape:
    """A prefix and the characters that follow it.

    `least` is the shortest body that convinces; `full` the length of a whole one: a body cut short by the end of a
    line goes on, and an `open` one, of no fixed length, may. A `mixed` body has to look random as well, because its
    prefix occurs in words.
    """

    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    more: re.Pattern[str]
    least: int
    full: int
    traits: str


def _shape(kind: str, anchors: str, prefix: str, body: str, least: int, full: int, traits: str = "") -> _Shape:
    # Not inside a word, but after a `\n` written out and after a percent escape.
    prefix = prefix.replace("<", r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))")
    pattern = re.compile(f"(?P<prefix>{prefix})(?P<body>{body}*+)", re.A)
    return _Shape(kind, tuple(anchors.split()), pattern, re.compile(f"{body}++", re.A), least, full, traits)


_SHAPES = (
    _shape("api-key", "sk-ant- k_live_ k_test_", "<sk-ant-|[sr]k_(?:live|test)_", r"[\w-]", 10, 24, "open"),
    _shape("api-key", "sk- sk_ rk_", "<[sr]k[-_]", r"[\w-]", 16, 24, "open mixed"),
    _shape("github", "ghp_ gho_ ghu_ ghs_ ghr_", "gh[pousr]_", r"\w", 20, 36),
    _shape("github", "github_pat_", "github_pat_", r"\w", 20, 82),
    _shape("slack", "xox xapp-", "xox[a-z]-|xapp-", r"[\w-]", 10, 24, "open mixed"),
    _shape("aws", "AKIA ASIA", "A(?:KIA|SIA)", "[A-Z0-9]", 16, 16),
    _shape("google", "AIza", "AIza", r"[\w-]", 30, 35),
    _shape("huggingface", "hf_", "<hf_", "[A-Za-z0-9]", 20, 34),
    _shape("npm", "npm_", "npm_", "[A-Za-z0-9]", 30, 36),
    _shape("pypi", "pypi-", "pypi-", r"[\w-]", 30, 85, "open mixed"),
    _shape("gitlab", "glpat-", "glpat-", r"[\w.-]", 16, 20),
    _shape("jwt", "eyJ", "eyJ", r"[\w.-]", 24, 60, "open"),
)
_ANCHORS = [anchor for shape in _SHAPES for anchor in shape.anchors]
_ANY_ANCHOR = re.compile("|".join(map(re.escape, _ANCHORS)))
_LINE_BREAK = re.compile(r"(?:\r?\n|\\+r\\+n|\\+n)[ \t]*+")
_LINE_END = re.compile(r"[ \t\"'`,;)\]}]*+\\?(?:[\r\n]|\Z|\\+[nr])")


def _shape_spans(text: str) -> Iterator[_Span]:
    for shape in _SHAPES:
        covered = 0
        if not any(map(text.__contains__, shape.anchors)):
            continue
        for match in shape.pattern.finditer(text):
            if match.start() < covered:
                continue
            # The longest reading that convinces. A later prefix in the same run could only convince with less.
            for end, body in (_continued(shape, text, match.end(), match["body"]), (match.end(), match["body"])):
                secret = body.rstrip(".")  # of the sentence
                if _convinces(shape, secret):
                    covered = end
                    end -= len(body) - len(secret)
                    yield _Span(match.start(), end, shape.kind, match["prefix"] + secret)
                    break


def _continued(shape: _Shape, text: str, end: int, body: str) -> tuple[int, str]:
    """Add to a body what stands alone on the next lines and reads like the rest of it."""
    pieces, size = [body], len(body)
    while gap := _LINE_BREAK.match(text, end):
        more = shape.more.match(text, gap.end())
        if not more or not _LINE_END.match(text, more.end()) or _ANY_ANCHOR.match(text, gap.end()):
            break
        piece = more.group()
        if size >= shape.full and not ("open" in shape.traits and len(piece) >= 6 and _mixes_digits(piece)):
            break
        pieces.append(piece)
        size += len(piece)
        end = more.end()
    return end, "".join(pieces)


def _convinces(shape: _Shape, body: str) -> bool:
    if len(body) < shape.least or _is_blanked(body):
        return False
    if shape.kind == "jwt":
        parts = body.split(".", 2)
        return len(parts) > 2 or (len(parts) == 2 and parts[1].startswith("eyJ"))
    return "mixed" not in shape.traits or _is_random(body)


_PEM_BEGIN = re.compile(r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_LINES = re.compile(
    r"""(?x) (?: (?: [\ \t"'`,+]{0,80} (?: [\r\n] | \\{1,4}[nr\n] ) )++ [\ \t"'`]{0,80}
    (?: [A-Za-z-]{1,40}:\ [^\n\\"']*+ | [A-Za-z0-9+/=]++ ) (?= [\ \t]{0,80} (?: [-"'`,\\\r\n] | \Z ) ) )*+"""
)


def _pem_spans(text: str) -> Iterator[_Span]:
    begins = list(_PEM_BEGIN.finditer(text)) if "PRIVATE KEY" in text else []
    for begin, following in zip_longest(begins, begins[1:]):
        limit = following.start() if following else len(text)
        ending = _PEM_END.search(text, begin.end(), limit)
        end = ending.end() if ending else _end(_PEM_LINES, text, begin.end())
        body = text[begin.end() : ending.start() if ending else end]
        digits = re.sub(r"\\+[nrt]|[^A-Za-z0-9+/=]", "", body)
        if len(digits) >= 16:
            yield _Span(begin.start(), end, "private-key", digits)


# ---- Secrets known by what stands around them

_SCHEME = re.compile(r"(?i)(?:bearer|basic|token|apikey|negotiate|bot)[ \t]++(?=\S)")
_HEADER = re.compile(r"(?i)(?<![A-Za-z0-9_])(?P<scheme>bearer|basic)[ \t]{1,8}(?P<value>[A-Za-z0-9._~+/=-]++)")
_URL = re.compile(r"://[^\s/:@\"'<>\\]{0,256}+:(?P<value>[^\s/\"'<>\\]{1,512})@")
_CURL_USER = re.compile(r"\s(?:-u|--user)[ =]{0,3}[\"']?[^\s:\"'$]{1,128}+:(?P<value>[^\s\"']++)")
_ASSIGNMENT = re.compile(
    r"""(?ix)
    (?: pass(?:word|wd|phrase|code)? | pwd | secret | token | credential | auth | key ) [\w-]{0,40}+
    (?P<close> \\{0,3}["'`]?\]?[?!]? )
    (?: [\ \t]{0,8} : [\ \t]{0,8} [a-z_][\w.\[\]|\ ,]{0,40} (?= = [^=] ) )?
    (?P<sep> [\ \t]{0,20} (?: ===? | !==? | := | => | [:=] ) [\ \t]{0,20} | [\ \t]{1,20} )
    (?: \r?\n [\ \t]{0,80} (?= \\{0,3}["'`] ) )?
    (?: [bfru]{1,2} (?= ["'] ) )?
    (?P<mark> \\{0,3} (?: \"{3} | '{3} | ["'`] ) )?"""
)
_BARE = re.compile(r"[^\s\"'`;|<>&]++")
_QUOTED = {mark: re.compile(rf"(?:[^\\{mark}]|\\.)*+", re.S) for mark in "\"'`"}


def _contextual_spans(text: str) -> Iterator[_Span]:
    lowered = text.lower()
    if "://" in text and "@" in text:
        yield from (_value_span(match) for match in _URL.finditer(text) if not _is_placeholder(match["value"]))
    if "bearer" in lowered or "basic" in lowered:
        yield from (_value_span(match) for match in _HEADER.finditer(text) if _is_header_secret(match))
    if "curl" in lowered and (" -u" in text or " --user" in text):
        for match in _CURL_USER.finditer(text):
            line = text[max(0, match.start() - 400) : match.start()].rpartition("\n")[2]
            if "curl" in line and not _is_placeholder(match["value"][:_JUDGED]):
                yield _value_span(match)
    at = 0
    while assignment := _ASSIGNMENT.search(text, at):
        found = _assigned(text, assignment)
        at = max(assignment.end(), found.end if found else 0)
        if found:
            yield found


def _value_span(match: re.Match[str]) -> _Span:
    return _Span(match.start("value"), match.end("value"), "secret", match["value"])


def _is_header_secret(match: re.Match[str]) -> bool:
    value = match["value"]
    if _is_placeholder(value[:_JUDGED]):
        return False
    if match["scheme"].lower() == "bearer":
        return (len(value) >= 8 and _mixes_digits(value)) or _is_random(value[:_JUDGED])
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4)).decode()
    except ValueError:
        return False
    return ":" in decoded and decoded.isprintable()


def _assigned(text: str, match: re.Match[str]) -> _Span | None:
    """Judge what stands on the right of a name that may be secret."""
    name_start = _start_of_name(text, match.start())
    name = text[name_start : match.start("close")]
    strength = _strength(name)
    sep, mark = match["sep"].strip(), match["mark"]
    is_option = name.startswith("-") and match["sep"].strip(" \t") in ("", "=")
    if strength is None or not (sep or is_option):
        return None
    start = _end(_SCHEME, text, match.end())
    if mark is None:
        value = text[start : _end(_BARE, text, start, start + _JUDGED)]
        identifier = _IDENTIFIER.fullmatch(value)
        value = value.rstrip(",") if identifier else value.rstrip(")]},.")
        before, after = text[name_start - 1 : name_start], text[start + len(value) : start + len(value) + 1]
        shell = is_option or (match["sep"] == "=" and (name.isupper() or before in ("?", "&")))
        plain = shell or _is_setting(text[max(0, name_start - 80) : name_start], match["sep"], after)
        accepted = _is_bare_secret(value, strength, shell=shell, plain=plain)
        if accepted and len(value) == _JUDGED:
            value = text[start : _end(_BARE, text, start)]
    else:
        value = _quoted(text, start, mark)
        # In `split("token=")` and `"token:" + x` the quote is not the first but the last of a literal.
        last = r"[,)\]}]+(?:\s|\Z)" if match["sep"].endswith(" ") else r"[,)\]}+.;%&|:]"
        ends = not match["close"] and re.match(last, value)
        accepted = not ends and _is_quoted_secret(value[:_JUDGED], strength, name)
    if sep.startswith(("==", "!=")):
        accepted = accepted and _is_random(value[:_JUDGED]) and not re.search(r"\s", value)
    return _Span(start, start + len(value), "secret", value) if accepted else None


def _start_of_name(text: str, start: int) -> int:
    """Extend a name to the left, past `-` and `_`, but not into a `\\n` written out before it."""
    first = start
    while first > 0 and start - first < 40 and (text[first - 1].isalnum() or text[first - 1] in "-_"):
        first -= 1
    return first + 1 if first < start and text[first - 1 : first] == "\\" and text[first] in "nrt" else first


def _quoted(text: str, start: int, mark: str) -> str:
    """What stands in quotes; of several lines only the first, unless they read like one secret that was wrapped."""
    end = _end(_QUOTED[mark], text, start) if len(mark) == 1 else text.find(mark, start)
    value = text[start:end] if end >= 0 else text[start:]
    first, newline, _ = value.partition("\n")
    wrapped = 0 <= end < len(text) and value.count("\n") <= 4 and not re.search(r"[^\s\\][ \t]+[^\s\\]", value)
    return value if not newline or wrapped else first


def _is_setting(before: str, sep: str, after: str) -> bool:
    """Tell whether `name: value` has a line to itself, as in YAML, or `name=value` is a word, as in a shell."""
    if sep == "=":
        return before[-1:] in ("", " ", "\t", "\n", "'", '"') and after in ("", " ", "\n", "\r", "'", '"', "&", ";")
    before = before.rpartition("\n")[2]
    return sep == ": " and after in ("", "\n", "\r") and re.fullmatch(r"[\s\w.-]*", before) is not None


def _is_quoted_secret(value: str, strength: _Strength, name: str) -> bool:
    if len(value) < 4 or value[0].isspace() or _is_placeholder(value):
        return False
    if value[0] in "/.~" and _PATH.fullmatch(value):
        return False
    if re.search(r"\S[ \t]\s*\S", value):
        return strength == "password" and not _is_prose(value)
    if re.search(r"\\[wdsS.(\[]|\[[^\]]*-[^\]]*\]|\.[*+]|%[sdr]\b", value):
        return False
    if strength == "password":
        return True
    if re.fullmatch(r"[A-Za-z_.:-]+", value):
        return strength == "strong" and len(value) >= (20 if _parts(name)[-1] == "token" else 8)
    return len(value) >= 6 and any(map(str.isalpha, value)) and (strength == "strong" or _is_random(value))


def _is_bare_secret(value: str, strength: _Strength, *, shell: bool, plain: bool) -> bool:
    if len(value) < (4 if shell and strength == "password" else 6) or _is_placeholder(value):
        return False
    if value[0] in "-:=/.~\\":
        return len(value) == 40 and value[0] == "/" and _is_random(value)
    identifier = _IDENTIFIER.fullmatch(value)
    if strength == "weak":
        return _is_random(value) and (shell or not identifier)
    if not identifier:
        if _is_random(value) or (strength == "password" and not value.isdigit()):
            return True
        return (len(value) >= 8 and (shell or _mixes_digits(value))) or (plain and _mixes_digits(value))
    if identifier["more"] or "::" in value or "->" in value:
        return False
    if _mixes_digits(value):
        return plain or strength == "password" or _is_random(value)
    is_word = "." not in value and "_" not in value
    return is_word and (shell or (plain and strength == "password" and value.islower()))


# ---- Secrets written with gaps in them

# What continues a line or joins two adjacent string literals.
_JOINT = re.compile(
    r"""(?x) (?: \\\r?\n [\ \t]{0,80}+ | (?P<mark>["'`]) [\ \t]{0,20}+ [+.\\]? [\ \t]{0,20}+
    (?: \r?\n [\ \t]{0,80}+ )? [+.]? [\ \t]{0,20}+ [bfru]? (?P=mark) ) (?= [A-Za-z0-9+/_.=-] )"""
)


def _joined_spans(text: str) -> Iterator[_Span]:
    """Find what only shows when continued lines and adjacent string literals are put together."""
    pieces: list[str] = []
    sizes, origins = [0], [0]
    for joint in _JOINT.finditer(text):
        pieces.append(text[origins[-1] : joint.start()])
        sizes.append(sizes[-1] + len(pieces[-1]))
        origins.append(joint.end())
    if not pieces:
        return
    joined = "".join([*pieces, text[origins[-1] :]])
    for span in (*_shape_spans(joined), *_pem_spans(joined), *_contextual_spans(joined)):
        first, last = bisect_right(sizes, span.start) - 1, bisect_left(sizes, span.end) - 1
        if first < last:
            start, end = origins[first] + span.start - sizes[first], origins[last] + span.end - sizes[last]
            yield _Span(start, end, span.kind, span.secret)


# What can stand between the characters of a secret without changing what a shell or a program reads.
_FILLER = r"\s\"'`\\+\u00ad\u200b-\u200f\u2060\ufeff"
_FILLERS = (re.compile(f"[{_FILLER}]+"), re.compile(rf"(?:\\[nrt]|[{_FILLER}])+"))
_WIDE_FILLER = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff\x85\xa0]|[^\S\x00-\x7f]")
_ASCII_FILLER = b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\"'`\\+"


def _squeezed(text: str) -> tuple[str, ...]:
    """The text without fillers. A `\\n` written out is a filler in one reading, a backslash and an n in the other."""
    plain = text.encode("utf-8", "surrogatepass").translate(None, _ASCII_FILLER).decode("utf-8", "surrogatepass")
    if not text.isascii() and _WIDE_FILLER.search(plain):
        plain = _FILLERS[0].sub("", plain)
    return (plain, _FILLERS[1].sub("", text)) if "\\" in text else (plain,)


def _forms(value: str) -> Iterator[str]:
    """The ways in which a value is commonly written: as it is, in JSON, in a URL and in base64."""
    yield value
    yield json.dumps(value)[1:-1]
    raw = value.encode("utf-8", "surrogatepass")
    for escaped in (quote(raw), quote(raw, safe=""), quote_plus(raw)):
        yield escaped
        yield re.sub(r"%..", lambda match: match.group().lower(), escaped)
    for offset, skipped in enumerate((0, 2, 3)):
        # What stands before and after the value changes the digits at both ends; those between are the value's own.
        digits = base64.b64encode(b"\0" * offset + raw)[skipped : (offset + len(raw)) * 8 // 6].decode()
        yield digits
        yield digits.replace("+", "-").replace("/", "_")


_BASE64 = string.ascii_letters + string.digits + "+/=_-"


@dataclass(frozen=True, slots=True)
class _Needle:
    """What the token of a secret value is made from; `margin` is how far its form reaches into what is beside it."""

    kind: str
    secret: str
    margin: int


def _needles(environment: Mapping[str, str]) -> dict[str, _Needle]:
    """The secrets of an environment by each of their forms, squeezed."""
    needles: dict[str, _Needle] = {}
    for name, value in environment.items():
        if _is_secret_variable(name, value):
            own = next((span for span in _shape_spans(value) if (span.start, span.end) == (0, len(value))), None)
            kind, secret = (own.kind, own.secret) if own else ("env", value)
            for form in _forms(value):
                for squeezed in _squeezed(form):
                    if len(squeezed) >= _LEAST_ENVIRONMENT:
                        needles.setdefault(squeezed, _Needle(kind, secret, 0 if form == value else 2))
    return needles


def _needle_spans(text: str, needles: Mapping[str, _Needle]) -> Iterator[_Span]:
    readings = _squeezed(text)
    present = [form for form in needles if any(form in reading for reading in readings)]
    for filler in _FILLERS if present else ():
        kept: list[int] = []
        at = 0
        for gap in filler.finditer(text):
            kept += range(at, gap.start())
            at = gap.end()
        kept += range(at, len(text))
        short = filler.sub("", text)
        for form in present:
            needle = needles[form]
            for found in re.finditer(re.escape(form), short):
                start, end = kept[found.start()], kept[found.end() - 1] + 1
                if needle.margin:
                    before, after = text[max(0, start - needle.margin) : start], text[end : end + needle.margin]
                    start -= len(before) - len(before.rstrip(_BASE64))
                    end += len(after) - len(after.lstrip(_BASE64))
                yield _Span(start, end, needle.kind, needle.secret)


# ---- The door

_KINDS = sorted({"private-key", "secret", "env", "entropy", "depth", *(shape.kind for shape in _SHAPES)})
_TOKEN = re.compile(rf"(\[redacted:(?:{'|'.join(_KINDS)}):[0-9a-f]{{8}}\])")
_HYPHENED = (*(anchor for anchor in _ANCHORS if "-" in anchor), "privatekey")
_UNDERSCORED = tuple(anchor for anchor in _ANCHORS if "_" in anchor)
_LETTERED = tuple(anchor for anchor in _ANCHORS if anchor.isalpha())
_NAMES = ("pass", "pwd", "secret", "token", "credential", "auth", "key", "curl", "://")
_DENSE = re.compile(r"[A-Za-z0-9+/=_-]{24,}")
_OPTION = re.compile(r"--?[A-Za-z][\w-]{1,40}")


def _may_hold_secrets(squeezed: str) -> bool:
    """Tell cheaply whether the rules need to run at all."""
    has = squeezed.lower().__contains__
    hyphen = has("-")
    return (
        any(map(squeezed.__contains__, _LETTERED))
        or (hyphen and any(map(has, _HYPHENED)))
        or (has("_") and any(map(has, _UNDERSCORED)))
        or ((hyphen or has(":") or has("=")) and any(map(has, _NAMES)))
        or has("bearer")
        or has("basic")
    )


class Redactor:
    """Take secrets out of text and JSON values; `key` is what the tokens are derived under.

    `environment` is a process's environment: values of eight characters or more under names that look secret are
    taken out in whatever form they are written. `entropy` also takes out long random-looking words.
    """

    def __init__(
        self, key: bytes, environment: Mapping[str, str] = MappingProxyType({}), *, entropy: bool = False
    ) -> None:
        self._key = key
        self._entropy = entropy
        self._needles = _needles(environment)

    def text(self, text: str) -> str:
        """Return the text with tokens in place of secrets; the very same object when there are none."""
        readings = _squeezed(text)
        known = any(any(map(reading.__contains__, self._needles)) for reading in readings)
        if not (known or self._entropy or _may_hold_secrets(readings[0])):
            return text
        for _ in range(_MAX_ROUNDS):
            # What a secret hid from view shows once it is a token.
            pieces = _TOKEN.split(text)
            redacted = "".join([piece if at % 2 else self._piece(piece) for at, piece in enumerate(pieces)])
            if redacted == text:
                break
            text = redacted
        return text

    def value(self, value: JSONValue) -> JSONValue:
        """Return the value with every string in it redacted, keys too; the very same object when nothing changed."""
        return self._value(value, name="", depth=0)

    def _value(self, value: JSONValue, *, name: str, depth: int) -> JSONValue:
        """Redact what stands under a name that makes it secret, or under none."""
        if isinstance(value, str):
            return self._whole(value, name) if name else self.text(value)
        if not isinstance(value, (list, dict)):
            return value
        if depth >= MAX_DEPTH:
            return self._token("depth", "")
        if isinstance(value, list):
            befores = [None, *value]
            items = [
                self._value(item, name=name or _option(before), depth=depth + 1)
                for before, item in zip(befores, value, strict=False)
            ]
            return value if all(new is old for new, old in zip(items, value, strict=True)) else items
        label = value.get("name", value.get("key"))
        result: dict[str, JSONValue] = {}
        for key, item in value.items():
            new_key = self.text(key)
            while new_key in result:
                new_key += "_"
            # A token in a key says `secret` itself.
            under = _TOKEN.sub("", label if key == "value" and isinstance(label, str) else new_key)
            is_secret = not isinstance(item, dict) and _strength(under) in ("password", "strong")
            result[new_key] = self._value(item, name=under if is_secret else "", depth=depth + 1)
        same = all(new is old for new, old in zip(result.values(), value.values(), strict=True))
        return value if same and result.keys() == value.keys() else result

    def _whole(self, value: str, name: str) -> str:
        """Replace a value that stands under a secret name, but not the scheme in front of it."""
        start = _end(_SCHEME, value, 0)
        secret = _TOKEN.sub("", value[start:]).strip()
        digits = secret.isdigit() and _strength(name) != "password"
        if len(secret) < 4 or digits or _is_placeholder(secret[:_JUDGED]):
            return self.text(value)
        named = [*_needle_spans(value, self._needles), *_shape_spans(value)]
        return self._replaced(value, [*named, _Span(start, len(value), "secret", value[start:])])

    def _piece(self, text: str) -> str:
        spans = [*_needle_spans(text, self._needles), *_shape_spans(text), *_pem_spans(text)]
        spans += [*_contextual_spans(text), *_joined_spans(text)]
        if self._entropy:
            spans += _dense_spans(text)
        return self._replaced(text, spans) if spans else text

    def _replaced(self, text: str, spans: list[_Span]) -> str:
        """Put tokens over spans; where spans overlap, one token over all of them, named by the widest."""
        order = {"env": 1, "secret": 2, "entropy": 3}
        spans.sort(key=lambda span: (span.start, -span.end, order.get(span.kind, 0)))
        out: list[str] = []
        at = 0
        for group in _overlapping(spans):
            start, end = group[0].start, max(span.end for span in group)
            widest = max(group, key=lambda span: span.end - span.start)
            is_one = (widest.start, widest.end) == (start, end) or len({span.secret for span in group}) == 1
            out += [text[at:start], self._token(widest.kind, widest.secret if is_one else text[start:end])]
            at = end
        return "".join([*out, text[at:]])

    def _token(self, kind: str, secret: str) -> str:
        digest = hmac.digest(self._key, secret.encode("utf-8", "surrogatepass"), hashlib.sha256)
        return f"[redacted:{kind}:{digest.hex()[:8]}]"


def _overlapping(spans: Iterable[_Span]) -> Iterator[list[_Span]]:
    group: list[_Span] = []
    end = 0
    for span in spans:
        if group and span.start >= end:
            yield group
            group = []
        group.append(span)
        end = max(end, span.end)
    if group:
        yield group


def _dense_spans(text: str) -> Iterator[_Span]:
    for match in _DENSE.finditer(text):
        word = match.group()
        shares = [word.count(character) / len(word) for character in set(word)]
        if _mixes_digits(word) and _mixes_cases(word) and -sum(share * math.log2(share) for share in shares) >= 4:
            yield _Span(match.start(), match.end(), "entropy", word)


def _option(before: JSONValue) -> str:
    """The name that an argument list gives to its next item: `--password` and then the password."""
    is_option = isinstance(before, str) and _OPTION.fullmatch(before) and _strength(before) in ("password", "strong")
    return str(before) if is_option else ""
