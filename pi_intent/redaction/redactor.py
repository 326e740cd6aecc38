"""Put tokens over the secrets of a text or a JSON value."""

from __future__ import annotations

import hashlib
import hmac
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from pi_intent.redaction.context import SCHEME, contextual_spans
from pi_intent.redaction.environment import needle_spans, needles_of, squeezed_readings
from pi_intent.redaction.gaps import joined_spans
from pi_intent.redaction.looks import is_placeholder, mixes_cases, mixes_digits
from pi_intent.redaction.names import strength_of
from pi_intent.redaction.shapes import ANCHORS, SHAPES, pem_spans, shape_spans
from pi_intent.redaction.spans import JUDGED, Span, match_end
from pi_intent.types import JSONValue

if TYPE_CHECKING:
    from pi_intent.redaction.given import Given

MAX_DEPTH = 100
"""Containers nested deeper than this are replaced as a whole."""

_MAX_ROUNDS = 4
_SHORT_KEY = 64


_KINDS = sorted({"private-key", "secret", "env", "entropy", "depth", *(shape.kind for shape in SHAPES)})
_TOKEN = re.compile(rf"(\[redacted:(?:{'|'.join(_KINDS)}):[0-9a-f]{{8}}\])")
_HYPHENED = (*(anchor for anchor in ANCHORS if "-" in anchor), "privatekey")
_UNDERSCORED = tuple(anchor for anchor in ANCHORS if "_" in anchor)
_LETTERED = tuple(anchor for anchor in ANCHORS if anchor.isalpha())
_NAMES = ("pass", "pwd", "secret", "token", "credential", "auth", "key", "curl", "://")
_PAT = ("pat=", "pat:", "-pat", "b_pat")
_DENSE = re.compile(r"[A-Za-z0-9+/=_-]{24,}")
_BETWEEN = "\0"
"""Stands between texts that are looked at together: it is no filler and in no secret."""
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
        or (has("pat") and any(map(has, _PAT)))
        or has("bearer")
        or has("basic")
    )


def _gather(value: JSONValue, texts: list[str], depth: int) -> bool:
    """Add all the texts of a value, keys too, to `texts`; False where one must be looked at for its name or depth."""
    match value:
        case str():
            texts.append(value)
        case list():
            return depth < MAX_DEPTH and all(_gather(item, texts, depth + 1) for item in value)
        case dict():
            label = value.get("name", value.get("key"))
            if depth >= MAX_DEPTH or any(map(_is_secret_name, value)):
                return False
            if "value" in value and isinstance(label, str) and _is_secret_name(label):
                return False
            texts += value
            return all(_gather(item, texts, depth + 1) for item in value.values())
        case _:
            pass
    return True


def _is_secret_name(name: str) -> bool:
    return strength_of(name) in ("password", "strong")


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
        self._needles = needles_of(environment)
        self._given: Given | None = None
        """The values that were learned; loaded with the first of them, as most processes learn none."""
        self._clear: frozenset[str] = frozenset()
        self._key_text = lru_cache(maxsize=512)(self.text)  # the same few, call after call

    def learn(self, values: Iterable[str]) -> None:
        """Take these values out as well from now on, in whatever form they are written."""
        given = tuple(values)
        if not given:
            return
        if self._given is None:
            from pi_intent.redaction.given import Given

            self._given = Given()
        self._given.learn(given)
        self._clear = frozenset()
        self._key_text.cache_clear()

    def holds_known(self, text: str) -> bool:
        """Say whether a text holds the value of a secret that is known as such, in whatever form it is written."""
        if self._given is not None and self._given.is_in(text):
            return True
        readings = squeezed_readings(text) if self._needles else ()
        return any(any(map(reading.__contains__, self._needles)) for reading in readings)

    def look_at(self, *texts: str) -> None:
        """Look at texts that `text` will be asked for next, all at once: that is a fraction of the work."""
        self._clear = frozenset() if self._may_hold_secrets(_BETWEEN.join(texts)) else frozenset(texts)

    def text(self, text: str) -> str:
        """Return the text with tokens in place of secrets; the very same object when there are none."""
        if text in self._clear or not self._may_hold_secrets(text):
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
        if isinstance(value, str):
            return self.text(value)
        texts: list[str] = []
        # All at once first: that is a fraction of the work, and most values hold nothing.
        if _gather(value, texts, 0) and not self._may_hold_secrets(_BETWEEN.join(texts)):
            return value
        return self._value(value, name="", depth=0)

    def _may_hold_secrets(self, text: str) -> bool:
        """Tell cheaply whether the rules need to run on a text, or on one of several with `_BETWEEN` between them."""
        readings = squeezed_readings(text)
        known = any(any(map(reading.__contains__, self._needles)) for reading in readings)
        if known or self._entropy or any(map(_may_hold_secrets, readings)):
            return True
        return self._given is not None and self._given.is_in(text)

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
            new_key = self._key_text(key) if len(key) <= _SHORT_KEY else self.text(key)
            while new_key in result:
                new_key += "_"
            # A token in a key says `secret` itself.
            under = _TOKEN.sub("", label if key == "value" and isinstance(label, str) else new_key)
            is_secret = not isinstance(item, dict) and strength_of(under) in ("password", "strong")
            result[new_key] = self._value(item, name=under if is_secret else "", depth=depth + 1)
        same = all(new is old for new, old in zip(result.values(), value.values(), strict=True))
        return value if same and result.keys() == value.keys() else result

    def _whole(self, value: str, name: str) -> str:
        """Replace a value that stands under a secret name, but not the scheme in front of it."""
        start = match_end(SCHEME, value, 0)
        secret = _TOKEN.sub("", value[start:]).strip()
        digits = secret.isdigit() and strength_of(name) != "password"
        if len(secret) < 4 or digits or is_placeholder(secret[:JUDGED]):
            return self.text(value)
        named = [*self._known_spans(value), *shape_spans(value)]
        return self._replaced(value, [*named, Span(start, len(value), "secret", value[start:])])

    def _piece(self, text: str) -> str:
        spans = [*self._known_spans(text), *shape_spans(text), *pem_spans(text)]
        spans += [*contextual_spans(text), *joined_spans(text)]
        if self._entropy:
            spans += _dense_spans(text)
        return self._replaced(text, spans) if spans else text

    def _known_spans(self, text: str) -> Iterator[Span]:
        yield from needle_spans(text, self._needles)
        if self._given is not None:
            yield from self._given.spans(text)

    def _replaced(self, text: str, spans: list[Span]) -> str:
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


def _overlapping(spans: Iterable[Span]) -> Iterator[list[Span]]:
    group: list[Span] = []
    end = 0
    for span in spans:
        if group and span.start >= end:
            yield group
            group = []
        group.append(span)
        end = max(end, span.end)
    if group:
        yield group


def _dense_spans(text: str) -> Iterator[Span]:
    for match in _DENSE.finditer(text):
        word = match.group()
        shares = [word.count(character) / len(word) for character in set(word)]
        if mixes_digits(word) and mixes_cases(word) and -sum(share * math.log2(share) for share in shares) >= 4:
            yield Span(match.start(), match.end(), "entropy", word)


def _option(before: JSONValue) -> str:
    """The name that an argument list gives to its next item: `--password` and then the password."""
    is_option = (
        isinstance(before, str) and _OPTION.fullmatch(before) and strength_of(before) in ("password", "strong")
    )
    return str(before) if is_option else ""
