"""Find the values of secret environment variables, in every form in which they are commonly written."""

from __future__ import annotations

import base64
import json
import re
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, quote_plus, unquote

from pi_intent.redaction.context import contextual_spans
from pi_intent.redaction.looks import PATH, is_placeholder, is_random
from pi_intent.redaction.names import HARMLESS_ENDINGS, PASSWORD_PARTS, STRONG_PARTS, name_parts
from pi_intent.redaction.shapes import shape_spans
from pi_intent.redaction.spans import ANY_LEADER, LEAST_ENVIRONMENT, Span
from pi_intent.word_sets import word_set

_ENVIRONMENT_PARTS = PASSWORD_PARTS | STRONG_PARTS | word_set("auth key keys pass passwords private tokens")


def is_secret_variable(name: str, value: str) -> bool:
    """Tell whether an environment variable holds a secret.

    The socket, file, host or kind of a secret is none (`SSH_AUTH_SOCK`, `KEY_FILE`), nor is the path of a file under
    any name, a public key or a fingerprint (`GPG_KEY` of an image), nor a value that only stands for one.
    """
    parts = name_parts(name)
    if len(value) < LEAST_ENVIRONMENT or name in ("PWD", "OLDPWD"):
        return False
    if _ENVIRONMENT_PARTS.isdisjoint(parts) and parts[-1:] not in (["pat"], ["cookie"], ["cookies"]):
        return False
    if parts[-1] in HARMLESS_ENDINGS or not {"public", "fingerprint"}.isdisjoint(parts) or is_placeholder(value):
        return False
    if "gpg" in parts and re.fullmatch(r"[0-9A-Fa-f]{8,40}", value):
        return False
    return not (
        PATH.fullmatch(value) and re.search(r"\.\w{2,5}$|^(?:~|/(?:home|etc|root|run|tmp|usr|var|Users)/)", value)
    )


_URL_USER = re.compile(r"://(?P<user>[^\s/:@]{20,})@")


def _secrets_within(value: str) -> Iterator[str]:
    """The passwords and keys that a URL or a connection string holds, whatever the variable is called."""
    found = [span.secret for span in contextual_spans(value)]
    found += [match["user"] for match in _URL_USER.finditer(value) if is_random(match["user"])]
    for secret in found:
        yield from (form for form in {secret, unquote(secret)} if len(form) >= LEAST_ENVIRONMENT)


# What can stand between the characters of a secret without changing what a shell or a program reads.
_FILLER = r"\s\"'`\\+\u00ad\u200b-\u200f\u2060\ufeff"
NEXT_IN_COMMENT = re.compile(rf"(?:[\r\n]|\\[nr])[ \t]{{0,80}}+{ANY_LEADER}")
_FILLERS = (
    re.compile(f"[{_FILLER}]+"),
    re.compile(rf"(?:\\[nrt]|[{_FILLER}])+"),
    re.compile(rf"(?:{NEXT_IN_COMMENT.pattern}|\\[nrt]|[{_FILLER}])+"),
)
_WIDE_FILLER = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff\x85\xa0]|[^\S\x00-\x7f]")
ASCII_FILLER = b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\"'`\\+"


def squeezed_readings(text: str) -> tuple[str, ...]:
    """The text without fillers. A `\\n` written out is a filler in one reading, a backslash and an n in the other.

    In one more the lines of a comment follow one another without what each begins with.
    """
    plain = text.encode("utf-8", "surrogatepass").translate(None, ASCII_FILLER).decode("utf-8", "surrogatepass")
    if not text.isascii() and _WIDE_FILLER.search(plain):
        plain = _FILLERS[0].sub("", plain)
    readings = (plain, _FILLERS[1].sub("", text)) if "\\" in text else (plain,)
    return (*readings, _FILLERS[2].sub("", text)) if NEXT_IN_COMMENT.search(text) else readings


def _forms(value: str) -> Iterator[str]:
    """The ways in which a value is commonly written: as it is, in JSON, in a URL and in base64."""
    yield value
    yield json.dumps(value)[1:-1]
    raw = value.encode("utf-8", "surrogatepass")
    for escaped in (quote(raw), quote(raw, safe=""), quote_plus(raw)):
        yield escaped
        yield re.sub(r"%..", lambda match: match.group().lower(), escaped)
    yield from base64_forms(raw)


def base64_forms(raw: bytes) -> Iterator[str]:
    """The digits of bytes in base64, whatever stands around them."""
    for offset, skipped in enumerate((0, 2, 3)):
        # What stands before and after the value changes the digits at both ends; those between are the value's own.
        digits = base64.b64encode(b"\0" * offset + raw)[skipped : (offset + len(raw)) * 8 // 6].decode()
        yield digits
        yield digits.replace("+", "-").replace("/", "_")


BASE64_DIGITS = string.ascii_letters + string.digits + "+/=_-"


@dataclass(frozen=True, slots=True)
class Needle:
    """What the token of a secret value is made from; `margin` is how far its form reaches into what is beside it."""

    kind: str
    secret: str
    margin: int


def needles_of(environment: Mapping[str, str]) -> dict[str, Needle]:
    """The secrets of an environment by each of their forms, squeezed."""
    needles: dict[str, Needle] = {}
    for name, value in environment.items():
        if is_secret_variable(name, value):
            _add_needles(needles, value)
        for secret in _secrets_within(value):
            _add_needles(needles, secret)
    return needles


def _add_needles(needles: dict[str, Needle], value: str) -> None:
    plain, coded = needle_for(value, margin=0), needle_for(value, margin=2)
    for form in _forms(value):
        for squeezed in squeezed_readings(form):
            # Behind a backslash its first letter reads as the end of a line that is written out.
            for reading in (squeezed, squeezed[1:] if squeezed[:1] in ("n", "r", "t") else ""):
                if len(reading) >= LEAST_ENVIRONMENT:
                    needles.setdefault(reading, plain if form == value else coded)


def needle_for(value: str, *, margin: int) -> Needle:
    """What is looked for of a value. Its token is that of its shape, if it has one."""
    own = next((span for span in shape_spans(value) if (span.start, span.end) == (0, len(value))), None)
    return Needle(own.kind, own.secret, margin) if own else Needle("env", value, margin)


def needle_spans(text: str, needles: Mapping[str, Needle]) -> Iterator[Span]:
    readings = squeezed_readings(text)
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
                    start -= len(before) - len(before.rstrip(BASE64_DIGITS))
                    end += len(after) - len(after.lstrip(BASE64_DIGITS))
                yield Span(start, end, needle.kind, needle.secret)
