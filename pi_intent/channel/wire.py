"""What an event is as a line on the channel: without secrets, bounded, and without the texts that are withheld."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, assert_never

from pi_intent.characters import pair_surrogates
from pi_intent.events import (
    CallEvent,
    CheckInDecision,
    CheckInRequest,
    GroupSummary,
    OutcomePatch,
    ToolEvent,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    ToolIntentUpdate,
    event_to_json,
)
from pi_intent.redaction import WITHHELD, Redactor
from pi_intent.redaction.environment import needles_of, squeezed_readings
from pi_intent.types import Flag, JSONObject, JSONValue

_TEXT_LIMIT = 4096
_VALUE_LIMIT = 2048
_ARGUMENTS_LIMIT = 16_384
_FILES_LIMIT = 256
# A secret is recognised as a whole: what lies this close to the end of a piece may be half of one.
_CUT_MARGIN = 16_384
_ALWAYS_SIZED = frozenset({"content", "edits"})
_NAMES = (
    "tool_call_id",
    "session_id",
    "agent_id",
    "group_id",
    "tool_name",
    "tool_source",
    "parent_tool_call_id",
    "model",
    "by",
)


class Wire:
    """Writes events as lines; `environ` is what the redactor knows the secrets of.

    `withholds` tells of a tool's name whether `redact_args` holds for it: for calls that are still being written, and
    carry no flag yet.
    """

    def __init__(self, redactor: Redactor, environ: Mapping[str, str], withholds: Callable[[str], bool]) -> None:
        self._redactor = redactor
        self._environ = environ
        self._withholds = withholds
        self._name = lru_cache(maxsize=256)(self._text)  # the same few, call after call

    def line(self, event: ToolEvent, *, withheld: bool) -> bytes | None:
        """Return an event as a line; None where nothing of it may be told."""
        if isinstance(event, ToolIntentUpdate) and self._withholds(event.tool_name):
            return None
        return event_to_json(self.safe(event, withheld)).encode("ascii") + b"\n"

    def safe[Event: ToolEvent](self, event: Event, withheld: bool) -> Event:
        """Return the event without secrets, and without its texts where they are withheld."""

        def text(value: str | None) -> str | None:
            return None if value is None else WITHHELD if withheld else self._text(value)

        changes: dict[str, Any] = {
            name: self._name(value) for name in _NAMES if isinstance(value := getattr(event, name, None), str)
        }
        if isinstance(event, CallEvent):
            changes["call_id"] = event.call_id if _is_ours(event.call_id) else self._text(event.call_id)
        match event:
            case ToolIntentUpdate():
                changes["intent"] = self._text(event.intent) if event.complete else self._unfinished(event.intent)
            case ToolExecutionStart():
                args, flag = self._arguments(event.args, withheld)
                changes |= {"args": args, "intent": text(event.intent), "rationale": text(event.rationale)}
                changes["flags"] = event.flags if flag is None else tuple(sorted({*event.flags, flag}))
            case ToolExecutionUpdate():
                # It ends anywhere, and half a secret looks like none.
                told = isinstance(event.partial_result, str) and not withheld
                partial = {"bytes": _size(event.partial_result)} if told else None
                changes |= {"args": self._arguments(event.args, withheld)[0], "partial_result": partial}
            case ToolExecutionEnd():
                patch = event.outcome_patch
                if patch is not None:
                    patch = OutcomePatch(from_=text(patch.from_) or "", to=text(patch.to) or "")
                files = [replace(file, path=text(file.path) or "") for file in event.files[:_FILES_LIMIT]]
                changes |= {"outcome": text(event.outcome), "outcome_patch": patch, "facts": text(event.facts)}
                changes |= {"files": tuple(files), "result": None}
            case CheckInRequest():
                changes["request"] = text(event.request)
            case CheckInDecision():
                changes["note"] = text(event.note)
            case GroupSummary():
                changes["text"] = text(event.text)
            case _:
                assert_never(event)
        return replace(event, **changes)

    def _text(self, text: str) -> str:
        """Return a text without secrets; a long one cut, and saying so."""
        safe = self._redactor.text(text[: _TEXT_LIMIT + _CUT_MARGIN])
        if len(text) > _TEXT_LIMIT + _CUT_MARGIN:
            safe = safe[: max(0, len(safe) - _CUT_MARGIN)]
        elif len(safe) <= _TEXT_LIMIT:
            return pair_surrogates(safe)
        return pair_surrogates(f"{safe[:_TEXT_LIMIT]}… [cut: {len(text)} characters in all]")

    def _unfinished(self, text: str) -> str:
        """Return as much of a text that is still being written as cannot turn out to be half a secret.

        That is its plain beginning, up to the first quote, assignment, option or line break, without a last word that
        may go on and without what a secret of the environment begins with. The rest shows when it is complete.
        """
        plain = _PLAIN.match(text[:_TEXT_LIMIT])
        words = "" if plain is None else _LAST_WORD.sub("", plain.group()).rstrip()
        squeezed = squeezed_readings(words)[0]
        held = max((_overlap(squeezed, needle) for needle in self._needles), default=0)
        while held:
            held -= bool(squeezed_readings(words[-1])[0])
            words = words[:-1]
        return self._text(words.rstrip())

    @cached_property
    def _needles(self) -> tuple[str, ...]:
        return tuple(needles_of(self._environ))

    def _arguments(self, args: JSONObject, withheld: bool) -> tuple[JSONObject, Flag | None]:
        """Return arguments without secrets; of what is large, or content of a file, only the size."""
        if withheld:
            return {}, None
        kept: dict[str, JSONValue] = {}
        try:
            for key, value in args.items():
                size = _size(value)
                kept[key] = {"bytes": size} if key in _ALWAYS_SIZED or size > _VALUE_LIMIT else value
            safe = self._redactor.value(kept)
            if not isinstance(safe, dict) or _size(safe) > _ARGUMENTS_LIMIT:
                return {}, "truncated"
        except (RecursionError, ValueError, TypeError):
            return {}, "unserialisable"
        return safe, None


# Quotes, signs and line breaks begin what the redactor judges by more than one word; a word may begin with a dash.
_PLAIN = re.compile(r"(?:(?<=\S)-|[^-\r\n\v\f\x1c-\x1e\x85\u2028\u2029\"'`\\=:@<>|&])*+")
_LAST_WORD = re.compile(r"[!-~]*\Z")  # scripts without spaces go on growing, and hold no token of a service


def _overlap(text: str, needle: str) -> int:
    """How many characters at the end of a text a needle begins with."""
    size = len(needle)
    while size and text:
        size = needle.rfind(text[-1], 0, size) + 1
        if size and text.endswith(needle[:size]):
            return size
        size = max(0, size - 1)
    return 0


def _is_ours(call_id: str) -> bool:
    return len(call_id) == 26 and call_id.isascii() and call_id.isalnum()


def _size(value: JSONValue) -> int:
    """Return the bytes of a text, or of a value as JSON. Raises where it cannot be written as JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)
    return len(text.encode("utf-8", "surrogatepass"))
