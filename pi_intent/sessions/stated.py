"""Take intent and rationale out of the arguments of a past call, as a live call is read."""

from __future__ import annotations

import json
from typing import NamedTuple

from pi_intent.characters import has_visible
from pi_intent.contract.read_call import read_call
from pi_intent.contract.rows import INTENT
from pi_intent.descriptions import model_texts
from pi_intent.errors import IntentRejected
from pi_intent.types import JSONObject, JSONValue


class Stated(NamedTuple):
    """The arguments without our fields, and what stood in these. The names are those of `FoundCall`."""

    args: JSONObject
    intent: str | None = None
    rationale: str | None = None
    asked: bool = False
    per_edit: int = 0
    flags: tuple[str, ...] = ()


def untouched(arguments: JSONValue) -> Stated:
    """Return the arguments with everything in them; what is no object is kept under the name Tau gives it."""
    if isinstance(arguments, dict):
        return Stated(arguments)
    return Stated({} if arguments is None else {"_raw_arguments": arguments})


def stated(tool: str, arguments: JSONValue, *, asked: bool) -> Stated:
    """Take our fields out of the arguments of a tool that carries them; nothing is refused any more."""
    try:
        call = read_call(tool, arguments, texts=model_texts(), policy="optional", replaces=())
    except IntentRejected:  # no object: nothing can be taken out of it
        return untouched(arguments)._replace(asked=asked)
    return Stated(call.arguments, call.intent, call.rationale, asked, per_edit(tool, arguments), call.flags)


def per_edit(tool: str, arguments: JSONValue) -> int:
    """Count the intents that stand inside single edits, where older contracts asked for them."""
    edits = arguments.get("edits") if tool == "edit" and isinstance(arguments, dict) else None
    if isinstance(edits, str):
        try:
            edits = json.loads(edits)
        except (ValueError, RecursionError):
            return 0
    if not isinstance(edits, list):
        return 0
    texts = (edit.get(INTENT) for edit in edits if isinstance(edit, dict))
    return sum(isinstance(text, str) and has_visible(text) for text in texts)
