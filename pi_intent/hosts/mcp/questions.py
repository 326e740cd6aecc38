"""Word a question for a client that can show one to a person, and read what the person chose.

A form of one choice and a note, as every version of MCP since 2025-06-18 has it. It has no `mode`: older versions do
not know that, and newer ones take what has none for a form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pi_intent.errors import PiIntentError
from pi_intent.gates.question import Answer, Seen
from pi_intent.hosts.mcp.wire import dumped

DENY = "deny"
ONCE = "approve once"
SESSION = "approve this exact call for the rest of this session"

KEY = "pi-intent"
"""The name of our one question among those of a result."""

WIDTH = 80
"""Columns of the text; a client that shows it in another width folds it anew."""

_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "decision": {"type": "string", "title": "Decision", "enum": [DENY, ONCE, SESSION], "default": DENY},
        "note": {"type": "string", "title": "Note", "description": "If you deny: what the agent shall know."},
    },
    "required": ["decision"],
}


class UnusableAnswer(PiIntentError):
    """A client's answer says neither yes nor no."""


def shows_forms(capabilities: object) -> bool:
    """Whether a client with these capabilities shows forms to a person; nothing said of the kind means forms."""
    kinds = capabilities.get("elicitation") if isinstance(capabilities, Mapping) else None
    return isinstance(kinds, Mapping) and (not kinds or isinstance(kinds.get("form"), Mapping))


def own_capabilities(params: Mapping[str, Any]) -> object:
    """Return the capabilities that a request names itself, as those of 2026-07-28 do."""
    meta = params.get("_meta")
    return meta.get(_CAPABILITIES) if isinstance(meta, Mapping) else None


def as_request(question_id: str, message: str) -> bytes:
    """Return the line that asks in a request to the client."""
    return _line({"id": question_id, "method": "elicitation/create", "params": _params(message)})


def as_result(raw_id: str, question_id: str, message: str) -> bytes:
    """Return the line that asks in the result of the call `raw_id`; the call comes again with the answer."""
    asked = {KEY: {"method": "elicitation/create", "params": _params(message)}}
    result = dumped({"resultType": "input_required", "inputRequests": asked, "requestState": question_id})
    return f'{{"jsonrpc":"2.0","id":{raw_id},"result":{result}}}\n'.encode("utf-8", "surrogatepass")


def withdrawal(question_id: str) -> bytes:
    """Return the line that takes a request to the client back."""
    params = {"requestId": question_id, "reason": "the call that it was about has ended"}
    return _line({"method": "notifications/cancelled", "params": params})


def answer_of(result: object, seen: Seen) -> Answer:
    """Return what the client answered, for whomever. Raises `UnusableAnswer`."""
    match result:
        case {"action": "decline" | "cancel"}:
            return Answer(False, seen=seen, by="application")
        case {"action": "accept", "content": {"decision": decision, **content}}:
            if decision in (ONCE, SESSION):
                return Answer(True, "session" if decision == SESSION else "once", seen=seen, by="application")
            if decision == DENY:
                note = content.get("note")
                note = (note.strip() or None) if isinstance(note, str) else None
                return Answer(False, note=note, seen=seen, by="application")
    raise UnusableAnswer("the answer says neither yes nor no")


def _params(message: str) -> dict[str, Any]:
    return {"message": message, "requestedSchema": _FORM}


def _line(message: dict[str, Any]) -> bytes:
    return dumped({"jsonrpc": "2.0", **message}).encode("ascii") + b"\n"
