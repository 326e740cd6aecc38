"""What a tool call, and later its result, ask a screen to draw: a closed union with the tag `card`.

Cards are functions of the arguments and the result alone, so a session draws the same live and when it is read again.
They hold the literal text; making it safe and fitting it is the screen's part.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, assert_never

from pi_intent.hunks import (
    _PATCH_CHARACTERS,
    HUNK_LINES,
    LARGEST,
    Hunk,
    added,
    bounded,
    changes,
    count_lines,
    grouped,
    patch_hunks,
)
from pi_intent.types import JSONObject, JSONValue

CardKind = Literal["read", "edit", "execute", "search", "fetch", "other"]

_KINDS: dict[str, CardKind] = {"read": "read", "write": "edit", "edit": "edit", "bash": "execute"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A file that a call is about, and the line where it begins to be, counted from 1."""

    path: str
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDiff:
    """One replacement in a file; `old_text` is None where there was none or it is not known.

    `new_text` is None where the arguments hold only the size of the text, as a ledger keeps them; `size` is that
    number of bytes.
    """

    path: str
    old_text: str | None
    new_text: str | None
    size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GenericCard:
    """A call that a title says enough about, or whose arguments have to speak for themselves."""

    card: Literal["generic"] = "generic"
    title: str
    kind: CardKind
    raw_input: JSONValue = None
    content: str | None = None
    locations: tuple[Location, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalCard:
    """A command; the title is its literal text."""

    card: Literal["terminal"] = "terminal"
    title: str
    description: str | None = None
    cwd: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffCard:
    """Changes to files."""

    card: Literal["diff"] = "diff"
    title: str
    diffs: tuple[FileDiff, ...]
    locations: tuple[Location, ...] = ()


type Card = GenericCard | TerminalCard | DiffCard


@dataclass(frozen=True, slots=True, kw_only=True)
class GenericResult:
    """A result that is text."""

    card: Literal["generic"] = "generic"
    title: str | None = None
    content: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalResult:
    """What a command printed and how it ended: with an exit code, or by a signal."""

    card: Literal["terminal"] = "terminal"
    title: str | None = None
    output: str | None = None
    exit_code: int | None = None
    signal: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffResult:
    """What changed; `note` says what the hunks do not show, such as '… 120 more lines'."""

    card: Literal["diff"] = "diff"
    hunks: tuple[Hunk, ...]
    note: str | None = None


type ResultView = GenericResult | TerminalResult | DiffResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFacts:
    """What a host knows of a result, in plain values.

    `text`: the text for the model · `patch`: the unified diff of what changed · `is_error`: nothing came of the call.
    """

    text: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    patch: str | None = None
    is_error: bool = False


def call_card(tool_name: str, arguments: JSONValue, *, backgrounded: bool = False) -> Card:
    """Return what a call asks to draw; one whose arguments are not its tool's is drawn as it stands."""
    args: JSONObject = arguments if isinstance(arguments, dict) else {}
    match tool_name:
        case "read" if path := _text(args.get("path")):
            return _read_card(path, args)
        case "bash" if command := _text(args.get("command")):
            if backgrounded:
                return GenericCard(title=command, kind="execute")
            description, cwd = args.get("description"), args.get("cwd")
            return TerminalCard(
                title=command,
                description=description if isinstance(description, str) else None,
                cwd=cwd if isinstance(cwd, str) else None,
            )
        case "write" | "edit" if diffs := _diffs(tool_name, args):
            title = f"{tool_name.capitalize()} {diffs[0].path}"
            return DiffCard(title=title, diffs=diffs, locations=_locations(args))
        case _:
            return GenericCard(title=tool_name, kind=_KINDS.get(tool_name, "other"), raw_input=arguments)


def result_card(tool_name: str, arguments: JSONValue, result: ResultFacts) -> ResultView:
    """Return what a result asks to draw, next to the card of its call."""
    if result.exit_code is not None or result.signal is not None:
        return TerminalResult(output=result.text, exit_code=result.exit_code, signal=result.signal)
    if result.is_error:
        return GenericResult(content=result.text)
    match call_card(tool_name, arguments):
        case GenericCard():
            return GenericResult(content=result.text)
        case TerminalCard():
            return TerminalResult(output=result.text)
        case DiffCard(diffs=diffs):
            return _diff_result(diffs, result.patch)
        case never:
            assert_never(never)


def card_to_json(card: Card | ResultView) -> str:
    """Write a card as one line of ASCII JSON; absent fields are left out, except for the texts of a diff.

    Arguments that JSON cannot hold are replaced by a sentence.
    """
    record = _plain(card)
    try:
        return json.dumps(record, separators=(",", ":"), allow_nan=False)
    except (RecursionError, ValueError, TypeError):  # nested too deeply, or numbers that JSON does not have
        record["rawInput"] = "[arguments that cannot be written as JSON]"
        return json.dumps(record, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if not is_dataclass(value):
        return value
    named = [(field.name, getattr(value, field.name)) for field in fields(value)]
    return {
        re.sub("_(.)", lambda found: found[1].upper(), name): _plain(item)
        for name, item in named
        if name in ("old_text", "new_text") or not (item is None or (name == "locations" and item == ()))
    }


def _unkept_size(value: JSONValue) -> int | None:
    """Return how many bytes a value has that a ledger kept as size and digest; None for any other value."""
    match value:
        case {"bytes": size, "digest": str(digest), **rest} if not rest and digest.startswith("hmac:"):
            return _count(size)
        case _:
            return None


def _text(value: JSONValue) -> str | None:
    """Return a text as it is, or what a ledger says of one that it did not keep."""
    if isinstance(value, str):
        return value
    size = _unkept_size(value)
    return None if size is None else f"[{size} bytes, not kept]"


def _count(value: JSONValue) -> int | None:
    """Return a number of lines or bytes that can be shown; None for any other value."""
    return value if type(value) is int and 0 <= value < LARGEST else None


def _read_card(path: str, args: JSONObject) -> GenericCard:
    first, lines = _count(args.get("offset")) or None, _count(args.get("limit")) or None
    last = (first or 1) + lines - 1 if lines else ""
    where = f":{first or 1}-{last}" if first or lines else ""
    return GenericCard(title=f"Read {path}{where}", kind="read", locations=_locations(args, line=first))


def _locations(args: JSONObject, *, line: int | None = None) -> tuple[Location, ...]:
    path = args.get("path")
    return (Location(path=path, line=line),) if isinstance(path, str) and path else ()


def _diffs(tool_name: Literal["write", "edit"], args: JSONObject) -> tuple[FileDiff, ...]:
    """Return the changes a call asks for; none where one is not a change, because its tool then refuses them all."""
    path = _text(args.get("path"))
    if not path:
        return ()
    diffs: list[FileDiff] = []
    for old, new in [("", args.get("content"))] if tool_name == "write" else _replacements(args):
        if isinstance(old, str) and isinstance(new, str):
            diffs.append(FileDiff(path=path, old_text=old or None, new_text=new))
        elif sizes := [size for value in (old, new) if (size := _unkept_size(value)) is not None]:
            diffs.append(FileDiff(path=path, old_text=None, new_text=None, size=sum(sizes)))
        else:
            return ()
    return tuple(diffs)


def _replacements(args: JSONObject) -> list[tuple[JSONValue, JSONValue]]:
    """Return the old and new values of an edit, in any shape that hosts repair: a list, its JSON text, no list."""
    edits, old, new = args.get("edits"), args.get("oldText"), args.get("newText")
    if isinstance(edits, str):
        try:
            edits = json.loads(edits)
        except (ValueError, RecursionError):
            edits = None
    pairs: list[tuple[JSONValue, JSONValue]] = []
    if isinstance(edits, list):
        items = [edit if isinstance(edit, dict) else {} for edit in edits]
        pairs = [(item.get("oldText"), item.get("newText")) for item in items]
    elif _unkept_size(edits) is not None:
        pairs = [("", edits)]
    if _text(old) is not None and _text(new) is not None:
        pairs.append((old, new))
    return pairs


def _diff_result(diffs: tuple[FileDiff, ...], patch: str | None) -> DiffResult:
    path, hidden, notes = diffs[0].path, 0, []
    hunks = patch_hunks(path, patch) if patch else None
    if patch and hunks is not None:
        hidden = patch.count("\n", _PATCH_CHARACTERS)
    else:
        hunks = []
        for diff in diffs:
            old, new = diff.old_text, diff.new_text
            if new is None:
                notes.append(f"[{diff.size} bytes, not kept]")
            elif sum(len(hunk.lines) for hunk in hunks[-HUNK_LINES:]) >= HUNK_LINES:  # no more than that is drawn
                hidden += count_lines(old or "") + count_lines(new)
            elif old is None:
                hunks.append(added(path, new))
                hidden += max(count_lines(new) - HUNK_LINES, 0)
            else:
                script, more = changes(old, new)
                hunks += grouped(path, script, None, None)
                hidden += more
    shown, left = bounded(hunks)
    if hidden + left:
        notes.insert(0, f"… {hidden + left} more line{'' if hidden + left == 1 else 's'}")
    return DiffResult(hunks=shown, note=", ".join(notes) or None)
