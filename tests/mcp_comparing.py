"""What differs between a conversation held directly and the same one held through the proxy, and should not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from mcp_peer import lines_of
from mcp_scenarios import Run, Scenario
from mcp_spelling import children, ordered, tokens, value_span, without

from pi_intent.contract.texts import INTENT_MARKER


def differences(scenario: Scenario, direct: Run, wrapped: Run) -> list[str]:
    """Say everything that the proxy changed and should not have."""
    return [
        *_line_differences("client heard", direct.outcome.stdout, wrapped.outcome.stdout, scenario, _list_difference),
        *_line_differences(
            "server received", direct.received, _asked(scenario, wrapped.received), scenario, _call_difference
        ),
        *_stderr_difference(direct.outcome.stderr, wrapped.outcome.stderr),
        *(
            [f"exit code: {direct.outcome.code} became {wrapped.outcome.code}"]
            if direct.outcome.code != wrapped.outcome.code
            else []
        ),
    ]


def _stderr_difference(direct: bytes, wrapped: bytes) -> list[str]:
    theirs = b"".join(line for line in lines_of(wrapped) if not line.startswith(b"pi-intent"))
    return [] if theirs == direct else [f"stderr: {direct!r} became {theirs!r}"]


def _asked(scenario: Scenario, received: bytes) -> bytes:
    """Leave out the lists that the proxy asked for itself, where it may: their ids begin with its name."""
    own = re.compile(rb'"id":"pi-intent[^"]*","method":"tools/list"')
    return b"".join(line for line in lines_of(received) if not (scenario.asks and own.search(line)))


def escaped(text: str) -> str:
    """Spell the line separators as escapes, as the proxy does: some servers take them for the end of a line."""
    return text.replace("\u2028", r"\u2028").replace("\u2029", r"\u2029").replace("\x85", r"\u0085")


type _Difference = Callable[[Scenario, str, str], str | None]


def _line_differences(what: str, direct: bytes, wrapped: bytes, scenario: Scenario, judge: _Difference) -> list[str]:
    before, after = lines_of(direct), lines_of(wrapped)
    found = [f"{what}: {len(before)} lines became {len(after)}"] if len(before) != len(after) else []
    for number, (original, changed) in enumerate(zip(before, after, strict=False), 1):
        if original == changed and judge is _call_difference:
            continue
        told = judge(scenario, _text(original), _text(changed))
        if told:
            found.append(f"{what}, line {number}: {told}: {original[:400]!r} became {changed[:400]!r}")
    return found


def _text(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")


def _call_difference(scenario: Scenario, original: str, changed: str) -> str | None:
    """Judge a line that the server received: only white space inside the arguments of a call may differ."""
    original = escaped(original)
    if original == changed:
        return None
    spans = [value_span(text, "params", "arguments") for text in (original, changed)]
    if None in spans or value_span(original, "method") is None or "tools/call" not in original:
        return "it changed"
    if without(original, spans[0]) != without(changed, spans[1]):
        return "it changed outside its arguments"
    inside = [tokens(text[slice(*span)]) for text, span in zip((original, changed), spans, strict=True)]
    return None if inside[0] == inside[1] else "its arguments changed"


_LIST = re.compile(r'"tools"\s*:\s*\[')


def _list_difference(scenario: Scenario, original: str, changed: str) -> str | None:
    """Judge a line that the client heard: only the schemas of listed tools may differ, by our properties."""
    if original[:1] != "{" or not _LIST.search(original) or not any(text in original for text in scenario.lists):
        return None if original == changed else "it changed"
    if original == changed:
        schemas = [tool.get("inputSchema") for tool in json.loads(original)["result"]["tools"]]
        return (
            "nothing was put in"
            if any(isinstance(schema, dict) for schema in schemas) and not scenario.same
            else None
        )
    (before, theirs), (after, ours) = _taken_apart(original), _taken_apart(changed)
    if before != after:
        return "it changed outside the schemas"
    for (name, schema), (_, shown) in zip(theirs, ours, strict=True):
        if told := _schema_difference(scenario, name, schema, shown):
            return f"{told} ({name!r})"
    return None


def _taken_apart(text: str) -> tuple[str, list[tuple[str, str | None]]]:
    """Return a list of tools without its schemas, and each tool's name with its schema as it is written."""
    spans: list[tuple[int, int]] = []
    tools: list[tuple[str, str | None]] = []
    for span in children(text, value_span(text, "result", "tools") or (0, 0)).values():
        members = children(text, span)
        name, schema = members["name"], members.get("inputSchema")
        tools.append((json.loads(text[slice(*name)]), None if schema is None else text[slice(*schema)]))
        spans += [] if schema is None else [schema]
    return without(text, *spans), tools


def _schema_difference(scenario: Scenario, name: str, original: str | None, changed: str | None) -> str | None:
    if (
        original is None
        or changed is None
        or name in scenario.same
        or (name in scenario.either and original == changed)
    ):
        return None if original == changed else "a schema changed that cannot carry an intent"
    properties = json.loads(changed).get("properties", {}) if changed.lstrip()[:1] == "{" else {}
    if next(iter(properties), None) != "intent" or INTENT_MARKER not in str(properties["intent"]):
        return "the intent is not the first property of a schema that can carry it"
    if name in scenario.changed_inside:
        return None
    return None if removed(original, changed) == members(original) else "more than our properties was added"


def members(text: str) -> dict[str, Any]:
    """Read an object whose own keys may stand in any order; further inside, order and spelling count."""
    return dict(ordered(text)[1:])


def removed(original: str, changed: str) -> dict[str, Any]:
    """Take our properties out of the root of a schema, and what had to come with them."""
    theirs = json.loads(original)
    result: dict[str, Any] = {}
    for key, value in members(changed).items():
        if key == "properties":
            value = (value[0], *(pair for pair in value[1:] if pair[0] not in ("intent", "rationale")))
        elif key == "required" and isinstance(value, list):
            value = [name for name in value if name != "intent"]
        if key not in theirs and (key, value) in (("properties", ("object",)), ("required", []), ("type", "object")):
            continue
        result[key] = value
    return result
