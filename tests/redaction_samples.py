"""Read the calls of session files of any dialect, and say what redaction replaced in them without showing it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pi_intent.redaction import Redactor

REDACTOR = Redactor(b"samples")

_NAMES = ("name", "toolName", "tool_name", "tool", "action")
_ARGUMENTS = ("arguments", "input", "args", "tool_input", "parameters")
_TOKEN = re.compile(r"\[redacted:([a-z-]+):[0-9a-f]{8}\]")


@dataclass(frozen=True, slots=True)
class SampleCall:
    tool: str
    args: Any


@dataclass(frozen=True, slots=True)
class Touched:
    """Where something was replaced, and of each replacement the kind and the number of characters that are gone."""

    where: str
    replaced: tuple[tuple[str, int], ...]


def files_in(folder: Path) -> list[Path]:
    """Every session file; not what says how many calls a reader must find."""
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".jsonl", ".json", ".traj") and path.parent != folder
    ]


def _documents(path: Path) -> Iterator[tuple[int, Any]]:
    """The whole file where it is one document, else the objects on its lines, but for torn ones."""
    text = path.read_text("utf-8", "replace")
    try:
        yield 1, json.loads(text)
        return
    except ValueError:
        pass
    decoder = json.JSONDecoder()
    for number, line in enumerate(text.split("\n"), 1):
        at = 0
        while (start := line.find("{", at)) >= 0:
            try:
                value, at = decoder.raw_decode(line, start)
            except ValueError:
                break
            yield number, value


def _walk(value: Any) -> Iterator[Any]:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        yield item
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item


def calls_in(folder: Path, path: Path) -> Iterator[tuple[str, SampleCall]]:
    """Whatever has a name and arguments; a call that a file tells more than once counts once in it."""
    seen: set[str] = set()
    for number, document in _documents(path):
        for item in _walk(document):
            call = _call(item)
            if call is None:
                continue
            key = json.dumps([item.get("id") or item.get("call_id"), call.tool, call.args], sort_keys=True)
            if key not in seen:
                seen.add(key)
                yield f"{path.relative_to(folder)}:{number}", call


def call_arguments(folder: Path) -> list[tuple[str, Any]]:
    """The arguments of every call there is, each with its file, line and tool."""
    found = ((path, item) for path in files_in(folder) for item in calls_in(folder, path))
    return [(f"{where} {call.tool}", call.args) for _, (where, call) in found]


def _call(item: Any) -> SampleCall | None:
    if not isinstance(item, dict):
        return None
    if isinstance(item.get("action"), str) and isinstance(item.get("observation"), str):  # SWE-agent
        return SampleCall("action", {"command": item["action"]})
    tool = next((item[name] for name in _NAMES if isinstance(item.get(name), str)), None)
    args = next((item[name] for name in _ARGUMENTS if isinstance(item.get(name), dict | str)), None)
    if tool is None or args is None:
        return None
    if isinstance(args, str):
        try:
            args = json.loads(args)
        except ValueError:
            args = {"input": args}
    # A tool that is only declared has `parameters`, too.
    return None if not isinstance(args, dict) or "properties" in args else SampleCall(tool, args)


def strings_in(folder: Path, path: Path) -> Iterator[tuple[str, str]]:
    """Every string of a file, each once."""
    seen: set[str] = set()
    for number, document in _documents(path):
        for item in _walk(document):
            if isinstance(item, str) and item not in seen:
                seen.add(item)
                yield f"{path.relative_to(folder)}:{number}", item


def touched_by(values: Iterable[tuple[str, Any]]) -> list[Touched]:
    """What redaction replaced, in the order of the values."""
    found = []
    for where, value in values:
        safe = REDACTOR.value(value)
        if safe is not value:
            found.append(Touched(where, tuple(_replaced(value, safe))))
    return found


def _replaced(value: Any, safe: Any) -> Iterator[tuple[str, int]]:
    if isinstance(value, str):
        kinds = _TOKEN.findall(safe)
        rests = [re.escape(rest) for rest in _TOKEN.split(safe)[::2]]
        match = re.fullmatch("(.+?)".join(rests), value, re.DOTALL)
        sizes = map(len, match.groups()) if match else [0] * len(kinds)
        yield from zip(kinds, sizes, strict=True)
    elif isinstance(value, list):
        for item, safe_item in zip(value, safe, strict=True):
            yield from _replaced(item, safe_item)
    elif isinstance(value, dict):
        for (key, item), (safe_key, safe_item) in zip(value.items(), safe.items(), strict=True):
            yield from _replaced(key, safe_key)
            yield from _replaced(item, safe_item)
