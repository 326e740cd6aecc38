"""Real calls with what the agent said each was for, read straight from the sample session files.

Few of the sessions carry an intent of ours. Where a call has none, the sentence that its agent wrote directly before
a single call stands in for it, and the sentences before that one, of the same paragraph, for the rationale.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pi_intent.past import PastCall
from pi_intent.types import Status

_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[\"'`(*]?[A-Z])")
_LISTED = re.compile(r"[-*|>`]|\d+[.)] ")
_STATED = {"Bash": "description"}
_MSWEA = re.compile(r"```[a-z_]*\n(.*?)\n```\s*$", re.S)


class Session:
    """Builds the calls of one session file, one after the other."""

    def __init__(self, name: str, host: str) -> None:
        self.name, self.host = name, host
        self.calls: list[PastCall] = []
        self._places: dict[str, int] = {}

    def call(
        self, key: str, tool: str, args: dict[str, Any], group: str, intent: str | None, rationale: str | None = None
    ) -> None:
        if key in self._places:
            return
        self._places[key] = len(self.calls)
        number = len(self.calls) + 1
        intent = intent.strip()[:4096] or None if isinstance(intent, str) else None
        self.calls.append(
            PastCall(
                id=f"{self.name}#{number}",
                session=self.name,
                host=self.host,
                agent="main",
                group=group,
                turn=number,
                seq=number,
                ts=f"2026-01-01T00:00:00.{number % 1000:03d}Z",
                tool=tool,
                tool_source=None,
                intent=intent,
                intent_source="absent" if intent is None else "model",
                rationale=rationale,
                args=_kept(args),
                policy="optional",
                flags=("imported",),
                model=None,
                status="ok",
            )
        )

    def result(self, key: str, failed: bool, text: str = "") -> None:
        place = self._places.get(key)
        if place is not None:
            call = self.calls[place]
            rejected = failed and re.match(r"Validation failed|Invalid arguments|<tool_use_error>InputVal", text)
            status: Status = "rejected" if rejected else "error" if failed else "ok"
            wrote = call.tool.lower() in {"write", "edit", "multiedit", "create"} and not failed
            path = call.args.get("path", call.args.get("file_path"))
            files = (path,) if wrote and isinstance(path, str) else ()
            self.calls[place] = call._replace(status=status, files=files)


def _kept(args: dict[str, Any]) -> dict[str, Any]:
    """Return arguments as a ledger keeps them: long texts and whole files by their size."""
    kept: dict[str, Any] = {}
    for name, value in args.items():
        size = len(value if isinstance(value, str) else json.dumps(value))
        big = name in {"content", "edits", "oldText", "newText", "old_string", "new_string"} or size > 2048
        kept[name] = {"bytes": size, "digest": f"hmac:{hash_of(value)}"} if big else value
    return kept


def hash_of(value: object) -> str:
    import hashlib

    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def said(text: str) -> tuple[str | None, str | None]:
    """Return the last sentence of what was written before a call, and those before it in the same paragraph."""
    paragraphs = [part.strip() for part in text.split("\n\n") if part.strip()]
    if not paragraphs:
        return None, None
    lines = [line.strip() for line in paragraphs[-1].split("\n") if line.strip()]
    if _LISTED.match(lines[-1]):
        return None, None  # the end of a list, a table or a block is no sentence about the call
    sentences = _SENTENCE.split(lines[-1])
    return sentences[-1], " ".join([*lines[:-1], *sentences[:-1]]) or None


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text") or "" for part in content or () if isinstance(part, dict))


def _pi(path: Path, session: Session) -> None:
    for number, entry in enumerate(_objects(path)):
        message = entry.get("message")
        if entry.get("type") != "message" or not isinstance(message, dict):
            continue
        if message.get("role") == "toolResult":
            session.result(message["toolCallId"], bool(message.get("isError")), _text(message.get("content")))
        if message.get("role") != "assistant":
            continue
        blocks = [block for block in message.get("content") or () if block.get("type") in ("text", "toolCall")]
        single = sum(block["type"] == "toolCall" for block in blocks) == 1
        for before, block in zip([{"type": ""}, *blocks], blocks, strict=False):
            if block["type"] != "toolCall" or not isinstance(block.get("arguments"), dict):
                continue
            args = dict(block["arguments"])
            intent, why = args.pop("intent", None) or args.pop("i", None), args.pop("rationale", None)
            if intent is None and single and before["type"] == "text":
                intent, why = said(before["text"])
            session.call(block["id"], block["name"], args, str(number), intent, why if isinstance(why, str) else None)


def _claude(path: Path, session: Session) -> None:
    blocks: dict[str, list[dict[str, Any]]] = {}
    results: list[tuple[str, bool, str]] = []
    for entry in _objects(path):
        message = entry.get("message")
        if not isinstance(message, dict) or not isinstance(message.get("content"), list):
            continue
        if entry.get("type") == "assistant":
            blocks.setdefault(str(message.get("id")), []).extend(message["content"])
        for block in message["content"]:
            if block.get("type") == "tool_result":
                results.append(
                    (str(block.get("tool_use_id")), bool(block.get("is_error")), _text(block.get("content")))
                )
    for group, found in blocks.items():
        kept = [block for block in found if block.get("type") in ("text", "tool_use")]
        single = sum(block["type"] == "tool_use" for block in kept) == 1
        for before, block in zip([{"type": ""}, *kept], kept, strict=False):
            if block["type"] != "tool_use" or "id" not in block:
                continue
            args, why = dict(block["input"]), None
            intent = args.pop(_STATED.get(block["name"], "intent"), None)
            if intent is None and single and before["type"] == "text":
                intent, why = said(before["text"])
            session.call(block["id"], block["name"], args, group, intent, why)
    for key, failed, text in results:
        session.result(key, failed, text)


def _openhands(path: Path, session: Session) -> None:
    for entry in _objects(path):
        key, call = str(entry.get("tool_call_id")), entry.get("tool_call")
        if entry.get("kind") == "ActionEvent" and isinstance(call, dict):
            args = json.loads(call["arguments"]) if isinstance(call.get("arguments"), str) else {}
            intent = args.pop("summary", None)
            args.pop("security_risk", None)
            session.call(key, entry["tool_name"], args, str(entry.get("llm_response_id")), intent)
        elif isinstance(entry.get("observation"), dict):
            session.result(key, bool(entry["observation"].get("is_error")))


def _swe_agent(path: Path, session: Session) -> None:
    for number, step in enumerate(json.loads(path.read_text(encoding="utf-8")).get("trajectory", ())):
        intent, why = said(step["thought"])
        session.call(str(number), "bash", {"command": step["action"].strip()}, str(number), intent, why)


def _mini_swe(path: Path, session: Session) -> None:
    messages = json.loads(path.read_text(encoding="utf-8"))
    messages = messages["messages"] if isinstance(messages, dict) else messages
    for number, message in enumerate(messages):
        if message["role"] == "assistant" and (found := _MSWEA.search(message["content"])):
            intent, why = said(message["content"][: found.start()])
            session.call(str(number), "bash", {"command": found[1]}, str(number), intent, why)
        elif message["role"] == "user":
            session.result(str(number - 1), "<returncode>0<" not in message["content"])


READERS = {
    ("pi", "*.session*.jsonl"): _pi,
    ("pi", "pi-mono__*.jsonl"): _pi,
    ("omp", "*.session.jsonl"): _pi,
    ("claude-code", "**/*.jsonl"): _claude,
    ("openhands", "*sdk*.events.jsonl"): _openhands,
    ("swe-agent", "*.traj"): _swe_agent,
    ("mini-swe", "*.traj.json"): _mini_swe,
}


def sample_sessions(folder: Path) -> list[list[PastCall]]:
    """Return the calls of every session that can be read, in order, by the name of the file."""
    sessions: dict[str, list[PastCall]] = {}
    for (host, pattern), read in READERS.items():
        for path in sorted((folder / host).glob(pattern)):
            session = Session(path.relative_to(folder).as_posix(), host)
            read(path, session)
            if session.calls:
                sessions.setdefault(session.name, session.calls)
    return [calls for _, calls in sorted(sessions.items())]


WANTED = 200
_SCRIPTED = "/generated__"
_SMALL = "/real-llm__"


def stated_calls(folder: Path) -> list[str]:
    """Return the ids of all calls that say what they are for, but for those where a script played the model."""
    return [
        call.id for calls in sample_sessions(folder) for call in calls if call.intent and _SCRIPTED not in call.id
    ]


def honest_calls(folder: Path) -> list[str]:
    """Return the ids of 200 of them, the same ones every time, in the order of the files.

    The sessions of a very small model are left out, too: it does the same call over and over, and notes on that are
    right, which would make the share of the wrong ones look smaller than it is.
    """
    found = [key for key in stated_calls(folder) if _SMALL not in key]
    chosen = set(sorted(found, key=hash_of)[:WANTED])
    return [key for key in found if key in chosen]
