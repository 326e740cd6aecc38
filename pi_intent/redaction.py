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
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Literal
from urllib.parse import quote, quote_plus

from pi_intent.types import JSONValue

MAX_DEPTH = 100
"""Containers nested deeper than this are replaced as a whole."""

Strength = Literal["password", "strong", "weak"]
"""How much a name says about its value: with `weak`, the value has to look random as well."""

_MAX_ROUNDS = 4
_MIN_ENV_LENGTH = 8
_JUDGED = 512


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# ---------------------------------------------------------------------------------------------------- what is trivial

# A value made of these words only says what belongs there, not what it is.
_PLACEHOLDER_WORDS = _words(
    "a abc access admin an any api apikey auth authentication authorization bar basic baz bearer bool boolean bytes"
    " change changed changeme client cookie correct credential credentials current default disabled dummy else empty"
    " enabled enter env environment example expired fake false field file foo found function guest header here hidden"
    " if incorrect insert int integer invalid is key lambda login masked me missing mock my name new nil no none not"
    " null number object of off old on optional or pass passphrase passwd password path placeholder postgres private"
    " public pwd real redacted refresh replace required return root sample secret secrets secretstr self session set"
    " str string test testing tests text the this to todo token tokens true type undefined unknown unset user username"
    " value var variable with wrong yes your"
)
_PROSE_WORDS = _words(
    "a an and are be by can cannot could do does enter for from has have if in into invalid is it its may must no not"
    " of on or password please required should than that the this to token use used via was when which will with you your"
)
_REFERENCES = re.compile(
    r"""(?xs) (?: \$\{\{.*?\}\} | \{\{.*?\}\} | [$\#]\{[^}]*+\}? | \$\([^)]*+\)? | \$\$?[\w@*?!:.]++ | \{[^{}]*+\}
    | <[^<>]*+>? | %\w*+% | %\(\w++\)s | %[sdr] | `[^`]*+`? | [\s:/._+-]++ )++"""
)
_OPAQUE_REFERENCE = re.compile(
    r"(?i)(?:op|vault|secret|env|file|arn|https?|ssm|keychain):|!(?:ref|sub|env)\b|@[./\w]"
)
_IDENTIFIER = re.compile(
    r"[A-Za-z_][A-Za-z0-9_]*+(?:(?:\.|::|->|\?\.)[A-Za-z_][A-Za-z0-9_]*+)*+(?P<more>[(\[].*)?", re.S
)
_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w .@-]+[/\\])*[\w .@-]*")
_BLANKED = re.compile(r"[xX]{3,}|[*•#]{3,}|\.{3,}|…|_{4,}|-{4,}")
_RUN = re.compile(r"[A-Za-z0-9]+")


def _has(text: str, kinds: str) -> bool:
    """Tell whether each kind of character occurs: `d` a digit, `a` a letter, `u` upper, `l` lower case."""
    tests: dict[str, Callable[[str], bool]] = {"d": str.isdigit, "a": str.isalpha, "u": str.isupper, "l": str.islower}
    return all(any(map(tests[kind], text)) for kind in kinds)


def _is_random(text: str) -> bool:
    """Tell whether a text looks drawn rather than written: long, or of mixed kinds where words are not."""
    runs = _RUN.findall(text)
    longest = max(map(len, runs), default=0)
    return (
        longest >= 20 or (_has(text, "uld") and len(text) >= 12) or any(len(r) >= 8 and _has(r, "ad") for r in runs)
    )


def _is_placeholder(text: str) -> bool:
    """Tell whether a text stands for a secret instead of being one."""
    if _REFERENCES.fullmatch(text) or _OPAQUE_REFERENCE.match(text):
        return True
    rest = _BLANKED.sub("", text)
    if len(rest) < len(text) and len(rest.strip("-_ ")) < 12:
        return True
    if any(map(str.isdigit, text)):
        return len(set(text)) == 1
    words = re.findall(r"[A-Za-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))
    return text.isascii() and all(word.lower() in _PLACEHOLDER_WORDS for word in words)


def _is_prose(text: str) -> bool:
    words = text.lower().split()
    return len(words) > 1 and (len(words) > 12 or not _PROSE_WORDS.isdisjoint(word.strip(".,:;!?") for word in words))


# ------------------------------------------------------------------------------------------------------ what names say

_PASSWORD_PARTS = _words("password passwd passphrase passcode pwd")
_STRONG_PARTS = _words(
    "secret secrets token credential credentials authorization apikey accesskey secretkey privatekey authtoken"
    " accesstoken refreshtoken clientsecret"
)
_KEY_QUALIFIERS = _words(
    "api access secret private signing encryption master account client auth session license deploy app service shared"
    " admin subscription storage webhook jwt"
)
_HARMLESS_ENDINGS = _words(
    "algorithm alg algo budget bytes class cost count dir directory duration endpoint env error expires expiration"
    " expiry exists field file filename format function header helper host hint index label len length limit manager"
    " max message min mode name names param parameter path pattern per policy port prefix prompt provider regex required"
    " rotation scheme scope scopes size sock source status store suffix timeout ttl type types uri url usage user"
    " username valid validator var version"
)
_HARMLESS_STARTS = _words("is has had no max min num public pub show hide skip forgot reset use count total")
_ENV_PARTS = _PASSWORD_PARTS | _STRONG_PARTS | _words("pass key auth private keys tokens passwords")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def _parts(name: str) -> list[str]:
    return [part.lower() for part in _PART.findall(name)]


@lru_cache(maxsize=1024)
def _strength(name: str) -> Strength | None:
    """Say how secret a name makes its value."""
    parts = _parts(name)
    if not parts or parts[-1] in _HARMLESS_ENDINGS or parts[-1] == "id" or parts[0] in _HARMLESS_STARTS:
        return None
    if "public" in parts or name in ("PWD", "OLDPWD"):
        return None
    if not _PASSWORD_PARTS.isdisjoint(parts):
        return "weak" if parts == ["pwd"] else "password"
    keyed = any(part == "key" and before in _KEY_QUALIFIERS for before, part in zip(parts, parts[1:], strict=False))
    if keyed or not _STRONG_PARTS.isdisjoint(parts):
        return "strong"
    if "auth" in parts or "pass" in parts or (name.isupper() and len(parts) > 1 and parts[-1] == "key"):
        return "weak"
    return None


def _is_secret_variable(name: str, value: str) -> bool:
    """Tell whether an environment variable holds a secret.

    A socket, file, host or kind of a secret is none (`SSH_AUTH_SOCK`, `KEY_FILE`), nor is a path under any name, a
    public key or a fingerprint (`GPG_KEY` of an image), nor a value that only stands for one (`changeme`).
    """
    parts = _parts(name)
    if len(value) < _MIN_ENV_LENGTH or name in ("PWD", "OLDPWD") or _ENV_PARTS.isdisjoint(parts):
        return False
    if parts[-1] in _HARMLESS_ENDINGS or "public" in parts or "fingerprint" in parts or _is_placeholder(value):
        return False
    if "gpg" in parts and re.fullmatch(r"[0-9A-Fa-f]{8,40}", value):
        return False
    return not (
        _PATH.fullmatch(value) and re.search(r"\.\w{2,5}$|^(?:~|/(?:home|etc|root|run|tmp|usr|var|Users)/)", value)
    )


# -------------------------------------------------------------------------------------------------------- named shapes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """A secret that is known by its prefix.

    `least` is the shortest body that convinces; `full` the length of a whole one: a body cut short by the end of a
    line goes on, and one without a fixed length (`open_ended`) may.
    """

    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    more: re.Pattern[str]
    least: int
    full: int
    mixed: bool = False
    open_ended: bool = False


_LEFT = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"


def _shape(
    kind: str,
    anchors: str,
    prefix: str,
    body: str,
    least: int,
    full: int,
    *,
    mixed: bool = False,
    open_ended: bool = False,
) -> _Shape:
    pattern = re.compile(f"(?P<prefix>{prefix})(?P<body>{body}*+)", re.ASCII)
    more = re.compile(f"{body}++", re.ASCII)
    return _Shape(
        kind=kind, anchors=tuple(anchors.split()), pattern=pattern, more=more,
        least=least, full=full, mixed=mixed, open_ended=open_ended,
    )  # fmt: skip


_SHAPES = (
    _shape(
        "api-key",
        "sk-ant- k_live_ k_test_",
        rf"{_LEFT}sk-ant-|[sr]k_(?:live|test)_",
        r"[\w-]",
        10,
        24,
        open_ended=True,
    ),
    _shape("api-key", "sk- sk_ rk_", rf"{_LEFT}[sr]k[-_]", r"[\w-]", 16, 40, mixed=True, open_ended=True),
    _shape("github", "ghp_ gho_ ghu_ ghs_ ghr_", "gh[pousr]_", r"[A-Za-z0-9_]", 20, 36),
    _shape("github", "github_pat_", "github_pat_", r"\w", 20, 82),
    _shape("slack", "xox xapp-", "xox[a-z]-|xapp-", r"[\w-]", 10, 24, mixed=True, open_ended=True),
    _shape("aws", "AKIA ASIA", "A(?:KIA|SIA)", "[A-Z0-9]", 16, 16),
    _shape("google", "AIza", "AIza", r"[\w-]", 30, 35),
    _shape("huggingface", "hf_", rf"{_LEFT}hf_", "[A-Za-z0-9]", 20, 34),
    _shape("npm", "npm_", "npm_", "[A-Za-z0-9]", 30, 36),
    _shape("pypi", "pypi-", "pypi-", r"[\w-]", 30, 85, mixed=True, open_ended=True),
    _shape("gitlab", "glpat-", "glpat-", r"[\w.-]", 16, 20),
    _shape("jwt", "eyJ", "eyJ", r"[\w.-]", 24, 60, open_ended=True),
)

_LINE_BREAK = re.compile(r"(?:\r?\n|\\+r\\+n|\\+n)[ \t]*+")
_LINE_END = re.compile(r"[ \t\"'`,;)\]}]*+\\?(?:[\r\n]|\Z|\\+[nr])")
_ANY_ANCHOR = re.compile("|".join(re.escape(anchor) for shape in _SHAPES for anchor in shape.anchors))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    start: int
    end: int
    kind: str
    secret: str


def _shape_spans(text: str) -> Iterator[_Span]:
    for shape in _SHAPES:
        if not any(map(text.__contains__, shape.anchors)):
            continue
        covered = 0
        for match in shape.pattern.finditer(text):
            if match.start() < covered:
                continue
            end, body = _with_next_lines(shape, text, match.end(), match["body"])
            if not _convinces(shape, body):
                end, body = match.end(), match["body"]
            if _convinces(shape, body):
                covered = end
                yield _Span(start=match.start(), end=end, kind=shape.kind, secret=match["prefix"] + body)


def _with_next_lines(shape: _Shape, text: str, end: int, body: str) -> tuple[int, str]:
    """Add to a body what stands alone on the next lines and reads like the rest of it."""
    pieces, size = [body], len(body)
    while gap := _LINE_BREAK.match(text, end):
        more = shape.more.match(text, gap.end())
        if not more or not _LINE_END.match(text, more.end()) or _ANY_ANCHOR.match(text, gap.end()):
            break
        piece = more.group()
        if size >= shape.full and not (shape.open_ended and len(piece) >= 6 and _has(piece, "ad")):
            break
        pieces.append(piece)
        size += len(piece)
        end = more.end()
    return end, "".join(pieces)


def _convinces(shape: _Shape, body: str) -> bool:
    if len(body) < shape.least or _is_blanked(body):
        return False
    if shape.kind == "jwt":
        parts = body.split(".")
        return len(parts) > 2 or (len(parts) == 2 and parts[1].startswith("eyJ"))
    return not shape.mixed or _is_random(body)


def _is_blanked(body: str) -> bool:
    rest = _BLANKED.sub("", body)
    return len(rest) < len(body) and len(rest) < 12


_PEM_BEGIN = re.compile(r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BREAK = r"""(?:\s|\\+[nrt\n]|["'`,+])"""
_PEM_LINES = re.compile(
    rf"(?:{_PEM_BREAK}*+(?:[A-Za-z][A-Za-z-]*+: [^\n\\]*+|[A-Za-z0-9+/=]++)(?={_PEM_BREAK}|-|\Z)(?!\ +[a-z]))*+"
)


def _pem_spans(text: str) -> Iterator[_Span]:
    if "PRIVATE KEY" not in text:
        return
    begins = list(_PEM_BEGIN.finditer(text))
    for begin, limit in zip(begins, [*(other.start() for other in begins[1:]), len(text)], strict=True):
        end = _PEM_END.search(text, begin.end(), limit)
        stop = end.end() if end else max(begin.end(), _end_of(_PEM_LINES, text, begin.end()))
        body = re.sub(r"\\+[nrt]|[^A-Za-z0-9+/=]", "", text[begin.end() : end.start() if end else stop])
        if len(body) >= 16:
            yield _Span(start=begin.start(), end=stop, kind="private-key", secret=body)


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


# --------------------------------------------------------------------------------- headers, URLs, assignments, options

_SCHEME = re.compile(r"(?i)(?:bearer|basic|token|apikey|negotiate|bot)[ \t]++(?=\S)")
_HEADER = re.compile(r"(?i)(?<![A-Za-z0-9_])(?P<scheme>bearer|basic)[ \t]{1,8}(?P<value>[A-Za-z0-9._~+/=-]++)")
_URL = re.compile(r"://[^\s/:@\"'<>\\]{0,256}+:(?P<value>[^\s/\"'<>\\]{1,512})@")
_CURL_USER = re.compile(r"\s(?:-u|--user)[ =]{0,3}[\"']?[^\s:\"'$]{1,128}+:(?P<value>[^\s\"']++)")

_ASSIGNMENT = re.compile(
    r"""(?ix)
    (?:pass(?:word|wd|phrase|code)?|pwd|secret|token|credential|auth|key) [\w-]{0,40}+
    (?P<close> \\{0,3}["'`]?\]?[?!]?)
    (?: [\ \t]{0,8} : [\ \t]{0,8} [a-z_][\w.\[\]|\ ,]{0,40} (?= = [^=] ) )?
    (?P<sep> [\ \t]{0,20} (?: ===? | !==? | := | => | [:=] ) [\ \t]{0,20} | [\ \t]{1,20} )
    (?: \r?\n [\ \t]{0,80} (?= \\{0,3}["'`] ) )?
    (?: [bfru]{1,2} (?= ["'] ) )?
    (?P<quote> \\{0,3} (?: \"{3} | '{3} | ["'`] ) )?"""
)
_BARE = re.compile(r"[^\s\"'`;|<>&]++")
_QUOTED = {mark: re.compile(rf"(?:[^\\\n{mark}]|\\.|\\?\n)*+", re.S) for mark in "\"'`"}


def _generic_spans(text: str) -> Iterator[_Span]:
    lowered = text.lower()
    if "://" in text and "@" in text:
        for match in _URL.finditer(text):
            if not _is_placeholder(match["value"]):
                yield _literal(match["value"], match.start("value"))
    if "bearer" in lowered or "basic" in lowered:
        for match in _HEADER.finditer(text):
            if _is_header_secret(match["scheme"].lower(), match["value"]):
                yield _literal(match["value"], match.start("value"))
    if "curl" in lowered and (" -u" in text or " --user" in text):
        for match in _CURL_USER.finditer(text):
            line = max(text.rfind("\n", max(0, match.start() - 400), match.start()), match.start() - 400, 0)
            if "curl" in text[line : match.start()] and not _is_placeholder(match["value"]):
                yield _literal(match["value"], match.start("value"))
    at = 0
    while match := _ASSIGNMENT.search(text, at):
        at = match.end()
        found = _assigned(text, match)
        if found:
            yield found
            at = max(at, found.end)


def _literal(value: str, start: int) -> _Span:
    return _Span(start=start, end=start + len(value), kind="secret", secret=value)


def _is_header_secret(scheme: str, value: str) -> bool:
    if _is_placeholder(value):
        return False
    if scheme == "basic":
        try:
            decoded = base64.b64decode(value + "=" * (-len(value) % 4)).decode()
        except ValueError:
            return False
        return ":" in decoded and decoded.isprintable()
    return len(value) >= 8 and (_is_random(value) or _has(value, "da"))


def _assigned(text: str, match: re.Match[str]) -> _Span | None:
    """Judge what stands on the right of a name that may be secret."""
    name = _whole_name(text, match.start(), match.start("close"))
    strength = _strength(name)
    sep, mark = match["sep"].strip(), match["quote"]
    if strength is None:
        return None
    is_option = name.startswith("-") and not sep
    if not sep and not is_option and not (mark and strength == "password"):
        return None
    start = match.end()
    if mark is None:
        end = _end_of(_BARE, text, start)
    elif len(mark) == 1:
        end = _end_of(_QUOTED[mark], text, start)
    else:
        end = text.find(mark, start)
        end = len(text) if end < 0 else end
    value = text[start:end]
    if mark is not None and "\n" in value and (end == len(text) or _is_prose(value) or value.count("\n") > 4):
        value = value.partition("\n")[0]
    if scheme := _SCHEME.match(value):
        start, value = scheme.end() + start, value[scheme.end() :]
    elif mark is None and (scheme := _SCHEME.match(text, start)):
        start, value = scheme.end(), text[scheme.end() : _end_of(_BARE, text, scheme.end())]
    if mark is None:
        value = value.rstrip(")]},.") if not _IDENTIFIER.fullmatch(value) else value.rstrip(",")
        shell = is_option or (
            match["sep"] in ("=", ":=") and (name.isupper() or _is_in_query(text, match.start(), name))
        )
        plain = shell or _is_line_of_settings(text, match.start(), start + len(value), sep)
        accepted = _is_bare_secret(value[:_JUDGED], strength, shell=shell, plain=plain)
    else:
        accepted = _is_quoted_secret(value[:_JUDGED], strength, name)
    if sep.startswith(("==", "!=")) or (not sep and not is_option):
        accepted = accepted and _is_random(value[:_JUDGED]) and not re.search(r"\s", value)
    return _literal(value, start) if accepted else None


def _whole_name(text: str, start: int, end: int) -> str:
    """Extend a name to the left, past `-` and `_`, but not into a `\\n` written out before it."""
    first = start
    while first > 0 and start - first < 40 and (text[first - 1].isalnum() or text[first - 1] in "-_"):
        first -= 1
    if first < start and first > 0 and text[first - 1] == "\\" and text[first] in "nrt":
        first += 1
    return text[first:end]


def _is_in_query(text: str, start: int, name: str) -> bool:
    before = text[max(0, start - 40) : start].rpartition(name)[0] or text[max(0, start - 41) : start]
    return before.endswith(("?", "&"))


def _is_line_of_settings(text: str, start: int, end: int, sep: str) -> bool:
    """Tell whether `name: value` or `name=value` has a line to itself, as in YAML and in `.env` files."""
    line = text.rfind("\n", max(0, start - 80), start) + 1
    before = text[line:start] if line or start <= 80 else "?"
    after = text[end : end + 1]
    return sep in (":", "=") and after in ("", "\n", "\r") and re.fullmatch(r"[\s\w.-]*", before) is not None


def _is_quoted_secret(value: str, strength: Strength, name: str) -> bool:
    if len(value) < 4 or _is_placeholder(value) or (_PATH.fullmatch(value) and "/" in value[:3]):
        return False
    if re.search(r"\s", value):
        return strength == "password" and not _is_prose(value)
    if re.search(r"\\[wdsS.(\[]|\[[^\]]*-[^\]]*\]|\.[*+]", value):
        return False
    if strength == "password":
        return True
    if re.fullmatch(r"[A-Za-z_.:-]+", value):
        return strength == "strong" and len(value) >= (20 if _parts(name)[-1] == "token" else 8)
    return len(value) >= 6 and _has(value, "a") and (strength == "strong" or _is_random(value))


def _is_bare_secret(value: str, strength: Strength, *, shell: bool, plain: bool) -> bool:
    if len(value) < (4 if shell and strength == "password" else 6) or value.startswith(
        ("-", ":", "=", "/", "./", "../", "~/", "\\")
    ):
        return len(value) == 40 and value[0] == "/" and _is_random(value)
    if _is_placeholder(value) or strength == "weak":
        return (
            strength == "weak"
            and not _is_placeholder(value)
            and _is_random(value)
            and not _IDENTIFIER.fullmatch(value)
        )
    identifier = _IDENTIFIER.fullmatch(value)
    if not identifier:
        return (strength == "password" and not value.isdigit()) or (_has(value, "ad") or (shell and len(value) >= 8))
    if identifier["more"] or "::" in value or "->" in value:
        return False
    if _has(value, "d"):
        return plain or strength == "password" or _is_random(value)
    if "." in value or "_" in value:
        return False
    return shell or (plain and strength == "password" and value.islower())


# ----------------------------------------------------------------------------------------- what is written with gaps

# What can be put between the characters of a secret without changing what a shell or a language reads.
_FILLER = r"\s\"'`\\+\u00ad\u200b-\u200f\u2060\ufeff"
_DROPPED = (re.compile(f"[{_FILLER}]+"), re.compile(rf"(?:\\[nrt]|[{_FILLER}])+"))
_DROPPED_ASCII = b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\"'`\\+"
_JOINT = re.compile(
    r"""(?x) \\\r?\n [\ \t]{0,80}+ (?=[A-Za-z0-9+/_=-])
    | (?P<mark>["'`]) (?:[ \t]{0,20}[+.\\]?[ \t]{0,20}(?:\r?\n[ \t]{0,80})?[+.]?[ \t]{0,20}) [bfru]? (?P=mark) (?=[A-Za-z0-9+/_=-])"""
)
_JOINT_HINT = re.compile(r"\\\r?\n|[\"'`][\s+.\\]{0,200}[\"'`]")


def _squeezed(text: str) -> tuple[bytes, bytes]:
    """The text without fillers, read twice: a written-out `\\n` may be a filler, or a backslash and a letter."""
    if not text.isascii():
        plain, escaped = (pattern.sub("", text).encode("utf-8", "surrogatepass") for pattern in _DROPPED)
        return plain, escaped
    raw = text.encode()
    plain = raw.translate(None, _DROPPED_ASCII)
    if b"\\" not in raw:
        return plain, plain
    return plain, _DROPPED[1].sub("", text).encode()


def _joined_spans(text: str) -> Iterator[_Span]:
    """Find what only shows when continued lines and adjacent string literals are put together."""
    if not _JOINT_HINT.search(text):
        return
    pieces: list[str] = []
    sizes, origins, at, size = [0], [0], 0, 0
    for joint in _JOINT.finditer(text):
        pieces.append(text[at : joint.start()])
        size += len(pieces[-1])
        at = joint.end()
        sizes.append(size)
        origins.append(at)
    joined = "".join([*pieces, text[at:]])
    for span in (*_shape_spans(joined), *_pem_spans(joined), *_generic_spans(joined)):
        first, last = bisect_right(sizes, span.start) - 1, bisect_left(sizes, span.end) - 1
        if first < last:
            start, end = origins[first] + span.start - sizes[first], origins[last] + span.end - sizes[last]
            yield _Span(start=start, end=end, kind=span.kind, secret=span.secret)


# ------------------------------------------------------------------------------------------------------- environment


def _needles(value: str) -> set[str]:
    """The ways in which a value is commonly written: as it is, in JSON, in a URL and in base64."""
    raw = value.encode("utf-8", "surrogatepass")
    forms = {value, json.dumps(value)[1:-1]}
    for escaped in (quote(raw), quote(raw, safe=""), quote_plus(raw)):
        forms |= {escaped, re.sub(r"%..", lambda match: match.group().lower(), escaped)}
    for offset, skipped in enumerate((0, 2, 3)):
        # What stands before and after the value in an encoded text changes the digits at both ends; the rest is fixed.
        encoded = base64.b64encode(b"\0" * offset + raw).rstrip(b"=")
        whole = (offset + len(raw)) * 8 // 6
        core = encoded[skipped:whole].decode()
        forms |= {core, core.replace("+", "-").replace("/", "_")}
    return forms


@dataclass(frozen=True, slots=True, kw_only=True)
class _Needle:
    """A form of a secret value as it stands in squeezed text."""

    form: bytes
    kind: str
    secret: str
    reading: int
    encoded: bool


def _environment_needles(environment: Mapping[str, str]) -> tuple[_Needle, ...]:
    found: dict[tuple[bytes, int], _Needle] = {}
    for name, value in environment.items():
        if not _is_secret_variable(name, value):
            continue
        own = next((s for s in _shape_spans(value) if (s.start, s.end) == (0, len(value))), None)
        kind, secret = (own.kind, own.secret) if own else ("env", value)
        for form in _needles(value):
            for reading, squeezed in enumerate(_squeezed(form)):
                if len(squeezed) >= _MIN_ENV_LENGTH:
                    encoded = form != value
                    needle = _Needle(form=squeezed, kind=kind, secret=secret, reading=reading, encoded=encoded)
                    found.setdefault((squeezed, reading), needle)
    return tuple(found.values())


# ------------------------------------------------------------------------------------------------------------ the door

_KINDS = sorted({"private-key", "secret", "env", "entropy", "depth", *(shape.kind for shape in _SHAPES)})
_TOKEN = re.compile(rf"(\[redacted:(?:{'|'.join(_KINDS)}):[0-9a-f]{{8}}\])")
_SIGNS = tuple(
    anchor.lower().encode()
    for anchor in (
        *(anchor for shape in _SHAPES for anchor in shape.anchors),
        *(
            "privatekey",
            "://",
            "bearer",
            "basic",
            "curl",
            "pass",
            "pwd",
            "secret",
            "token",
            "credential",
            "auth",
            "key",
        ),
    )
)
_DENSE = re.compile(r"[A-Za-z0-9+/=_-]{24,}")


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
        self._needles = _environment_needles(environment)
        self._forms = tuple({needle.form for needle in self._needles})

    def text(self, text: str) -> str:
        """Return the text with tokens in place of secrets; the very same object when there are none."""
        plain, escaped = _squeezed(text)
        lowered = plain.lower()
        if not (
            any(map(lowered.__contains__, _SIGNS))
            or any(map(plain.__contains__, self._forms))
            or (escaped is not plain and any(map(escaped.__contains__, self._forms)))
            or self._entropy
        ):
            return text
        for _ in range(_MAX_ROUNDS):
            # What was hidden by its neighbour shows once the neighbour is a token.
            pieces = _TOKEN.split(text)
            redacted = "".join(piece if at % 2 else self._piece(piece) for at, piece in enumerate(pieces))
            if redacted == text:
                break
            text = redacted
        return text

    def value(self, value: JSONValue) -> JSONValue:
        """Return the value with every string in it redacted, keys too; the very same object when nothing changed."""
        return self._value(value, name="", depth=0)

    def _value(self, value: JSONValue, *, name: str, depth: int) -> JSONValue:
        if isinstance(value, str):
            return self._whole(value) if name and _is_secret_under(name, value) else self.text(value)
        if not isinstance(value, (list, dict)):
            return value
        if depth >= MAX_DEPTH:
            return self._token("depth", "")
        if isinstance(value, list):
            items = [
                self._value(item, name=name or _option(value[at - 1] if at else None), depth=depth + 1)
                for at, item in enumerate(value)
            ]
            return value if all(new is old for new, old in zip(items, value, strict=True)) else items
        label = value.get("name", value.get("key"))
        result: dict[str, JSONValue] = {}
        changed = False
        for key, item in value.items():
            new_key = self.text(key)
            under = label if key == "value" and isinstance(label, str) else key
            new = self._value(
                item,
                name="" if isinstance(item, dict) or _strength(under) in (None, "weak") else under,
                depth=depth + 1,
            )
            changed = changed or new is not item or new_key is not key
            while new_key in result:
                new_key += "_"
            result[new_key] = new
        return result if changed else value

    def _whole(self, value: str) -> str:
        """Replace a value that stands under a secret name, but not the scheme in front of it."""
        start = _end_of(_SCHEME, value, 0)
        if _TOKEN.search(value):
            return self.text(value)
        whole = _literal(value[start:], start)
        return self._replaced(value, [whole, *self._environment_spans(value), *_shape_spans(value)])

    def _piece(self, text: str) -> str:
        spans = [*self._environment_spans(text), *_shape_spans(text), *_pem_spans(text), *_generic_spans(text)]
        spans += _joined_spans(text)
        if self._entropy:
            spans += _dense_spans(text)
        return self._replaced(text, spans) if spans else text

    def _environment_spans(self, text: str) -> Iterator[_Span]:
        squeezed = _squeezed(text)
        needles = [needle for needle in self._needles if needle.form in squeezed[needle.reading]]
        for reading, dropped in enumerate(_DROPPED):
            if not any(needle.reading == reading for needle in needles):
                continue
            kept: list[int] = []
            at = 0
            for gap in (*dropped.finditer(text), None):
                kept += range(at, gap.start() if gap else len(text))
                at = gap.end() if gap else at
            short = "".join([text[index] for index in kept])
            for needle in needles:
                if needle.reading == reading:
                    yield from _needle_spans(needle, short, kept, text)

    def _replaced(self, text: str, spans: list[_Span]) -> str:
        """Put tokens over spans; where spans overlap, one token over all of them, named by the widest."""
        order = {"env": 1, "secret": 2, "entropy": 3}
        spans.sort(key=lambda span: (span.start, -span.end, order.get(span.kind, 0)))
        out: list[str] = []
        at = 0
        for group in _overlapping(spans):
            start, end = group[0].start, max(span.end for span in group)
            named = max(group, key=lambda span: span.end - span.start)
            secret = named.secret if (named.start, named.end) == (start, end) else text[start:end]
            out += [text[at:start], self._token(named.kind, secret)]
            at = end
        return "".join([*out, text[at:]])

    def _token(self, kind: str, secret: str) -> str:
        digest = hmac.digest(self._key, secret.encode("utf-8", "surrogatepass"), hashlib.sha256)
        return f"[redacted:{kind}:{digest.hex()[:8]}]"


def _overlapping(spans: list[_Span]) -> Iterator[list[_Span]]:
    group: list[_Span] = []
    end = 0
    for span in spans:
        if group and span.start >= end:
            yield group
            group = []
        group.append(span)
        end = max(end, span.end) if len(group) > 1 else span.end
    if group:
        yield group


def _needle_spans(needle: _Needle, short: str, kept: list[int], text: str) -> Iterator[_Span]:
    form = needle.form.decode("utf-8", "surrogatepass")
    at = short.find(form)
    while at >= 0:
        start, end = kept[at], kept[at + len(form) - 1] + 1
        if needle.encoded:
            # The digits at both ends of a base64 core hold some bits of the value too.
            start = next(
                (i for i in range(start, max(0, start - 4), -1) if not _is_base64(text[i - 1])), max(0, start - 4)
            )
            end = next(
                (i for i in range(end, min(len(text), end + 4)) if not _is_base64(text[i])), min(len(text), end + 4)
            )
        yield _Span(start=start, end=end, kind=needle.kind, secret=needle.secret)
        at = short.find(form, at + len(form))


def _is_base64(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character in "+/=_-")


def _dense_spans(text: str) -> Iterator[_Span]:
    for match in _DENSE.finditer(text):
        word = match.group()
        counts = [word.count(character) / len(word) for character in set(word)]
        if _has(word, "uld") and -sum(share * math.log2(share) for share in counts) >= 4:
            yield _Span(start=match.start(), end=match.end(), kind="entropy", secret=word)


def _option(before: JSONValue) -> str:
    """The name that an argument list gives to its next item: `--password` and then the password."""
    if not isinstance(before, str) or not re.fullmatch(r"--?[A-Za-z][\w-]{1,40}", before):
        return ""
    return before if _strength(before) not in (None, "weak") else ""


def _is_secret_under(name: str, value: str) -> bool:
    text = value.strip()
    scheme = _SCHEME.match(text)
    rest = text[scheme.end() :] if scheme else text
    return (
        len(rest) >= 4
        and not _is_placeholder(rest[:_JUDGED])
        and not (rest.isdigit() and _strength(name) != "password")
    )
