"""Find secrets by their own shape: the keys of known services, JWTs, private keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from pi_intent.redaction.looks import is_blanked, is_random, mixes_digits
from pi_intent.redaction.spans import ANY_LEADER, LINE_BREAK, Span, after_break, match_end


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


SHAPES = (
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
ANCHORS = [anchor for shape in SHAPES for anchor in shape.anchors]
_ANY_ANCHOR = re.compile("|".join(map(re.escape, ANCHORS)))
_LONG_RUN = re.compile(r"[A-Za-z0-9]{12,}")
_LINE_END = re.compile(r"[ \t\"'`,;)\]}*/|]*+\\?(?:[\r\n]|\Z|\\+[nr])")


def shape_spans(text: str) -> Iterator[Span]:
    for shape in SHAPES:
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
                    yield Span(match.start(), end, shape.kind, match["prefix"] + secret)
                    break


def _continued(shape: _Shape, text: str, end: int, body: str) -> tuple[int, str]:
    """Add to a body what reads like the rest of it: what stands alone on the next lines, or must belong to it."""
    pieces, size = [body], len(body)
    while gap := LINE_BREAK.match(text, end):
        starts = after_break(text, gap.end())
        found = (shape.more.match(text, at) for at in starts)
        more = next((more for more in found if more and _goes_on(shape, text, pieces[-1], size, more)), None)
        if not more:
            break
        pieces.append(more.group())
        size += len(more.group())
        end = more.end()
    return end, "".join(pieces)


def _goes_on(shape: _Shape, text: str, before: str, size: int, more: re.Match[str]) -> bool:
    piece = more.group()
    if _ANY_ANCHOR.match(text, more.start()) and not before.endswith("."):
        return False
    if not _LINE_END.match(text, more.end()) and not _completes(shape, size, piece):
        return False
    return size < shape.full or ("open" in shape.traits and len(piece) >= 6 and mixes_digits(piece))


def _completes(shape: _Shape, size: int, piece: str) -> bool:
    """Is this the rest of a body, though other text follows it on its line?"""
    if "open" in shape.traits:
        return any(map(mixes_digits, _LONG_RUN.findall(piece)))
    return size + len(piece) == shape.full


def _convinces(shape: _Shape, body: str) -> bool:
    if len(body) < shape.least or is_blanked(body):
        return False
    if shape.kind == "jwt":
        parts = body.split(".", 2)
        return len(parts) > 2 or (len(parts) == 2 and parts[1].startswith("eyJ"))
    return "mixed" not in shape.traits or is_random(body)


_PEM_BEGIN = re.compile(r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_LINES = re.compile(
    rf"""(?x) (?: (?: [\ \t"'`,+]{{0,80}} (?: [\r\n] | \\{{1,4}}[nr\n] ) )++ [\ \t"'`]{{0,80}} (?:{ANY_LEADER})?
    (?: [A-Za-z-]{{1,40}}:\ [^\n\\"']*+ | [A-Za-z0-9+/=]++ ) (?= [\ \t]{{0,80}} (?: [-"'`,\\\r\n] | \Z ) ) )*+"""
)


def pem_spans(text: str) -> Iterator[Span]:
    begins = list(_PEM_BEGIN.finditer(text)) if "PRIVATE KEY" in text else []
    for begin, following in zip_longest(begins, begins[1:]):
        limit = following.start() if following else len(text)
        ending = _PEM_END.search(text, begin.end(), limit)
        end = ending.end() if ending else match_end(_PEM_LINES, text, begin.end())
        body = text[begin.end() : ending.start() if ending else end]
        digits = re.sub(r"\\+[nrt]|[^A-Za-z0-9+/=]", "", body)
        if len(digits) >= 16:
            yield Span(begin.start(), end, "private-key", digits)
