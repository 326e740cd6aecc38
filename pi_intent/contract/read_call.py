"""Read a call: one function for every host, from what the model sent to what the tool may run with."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NoReturn

from pi_intent.characters import has_visible
from pi_intent.contract.inject import owns
from pi_intent.contract.rejections import rejection_text
from pi_intent.contract.rows import INTENT, RATIONALE, ROWS, replaced_fields
from pi_intent.contract.texts import ModelTexts
from pi_intent.errors import IntentRejected
from pi_intent.types import NOT_ASKED, Code, Flag, IntentCall, IntentSource, JSONObject, JSONValue, Policy

type Derive = Callable[[JSONObject], str | None]
"""Makes an intent from possibly partial arguments; None or an exception means there is none."""

_RAW = "_raw_arguments"  # how Tau hands over arguments that are not a JSON object

_PROBLEMS: dict[str, dict[str, Code]] = {
    INTENT: {"missing": "intent_missing", "not_text": "intent_not_text", "blank": "intent_blank"},
    RATIONALE: {"not_text": "rationale_not_text", "blank": "rationale_blank"},
}


def read_call(
    tool_name: str,
    arguments: object,
    *,
    texts: ModelTexts,
    policy: Policy = "require",
    parameters: Mapping[str, Any] | None = None,
    derive: Derive | None = None,
    replaces: tuple[str, ...] | None = None,
    rounds: int = 1,
) -> IntentCall:
    """Read one call's arguments, as the model sent them, under a policy.

    `parameters` is the host's own schema: it names what else is missing and which names are the tool's own; without
    it the row of the four tools does. `derive` makes the intent where the policy lets a call run that states none.
    `replaces` names host fields that are dropped, by default those of the row. `rounds` is for the text. Never
    changes its arguments. Raises `IntentRejected`, whose `str()` is the text for the model.
    """
    asks = policy not in NOT_ASKED
    replaced = replaces if replaces is not None else replaced_fields(tool_name)
    call, unreadable, was_text = _as_object(arguments)
    intent, intent_problem = _take(call, INTENT, parameters)
    rationale, rationale_problem = _take(call, RATIONALE, parameters)
    refused: tuple[Code, ...] = ()
    if unreadable is not None:
        refused = (unreadable,)
    elif intent_problem is not None or rationale_problem is not None:
        binding = {"require": (intent_problem, rationale_problem), "adaptive": (intent_problem,)}.get(policy, ())
        refused = tuple(code for code in binding if code is not None)
    missing = _missing(tool_name, call, parameters, replaced) if refused and unreadable is None else ()

    flags: list[Flag] = ["sent_as_text"] if was_text else []
    if intent in texts.echoes:
        flags.append("copied")
    if not refused and intent_problem not in (None, "intent_missing"):
        flags.append("intent_dropped")
    if not refused and rationale_problem is not None:
        flags.append("rationale_dropped")
    if tool_name == "edit" and _drop_edit_fields(call):
        flags.append("edit_fields_dropped")
    if asks:
        for name in replaced:
            call.pop(name, None)

    source: IntentSource = "model"
    if not refused and (policy == "derive" or (intent is None and derive is not None)):
        intent, source = _derived(derive, call), "derived"
    if intent is None:
        source = "absent"
    read = IntentCall(intent, rationale, source, call, tuple(flags))
    if refused:
        text = rejection_text(tool_name, refused, missing, texts=texts, rounds=rounds)
        raise IntentRejected(text, refused, read)
    return read


def _as_object(arguments: object) -> tuple[JSONObject, Code | None, bool]:
    """Return a shallow copy of the arguments as an object, why they are none, and whether they came as text."""
    if isinstance(arguments, Mapping):
        raw = arguments.get(_RAW)
        if not isinstance(raw, str) or len(arguments) != 1:
            return dict(arguments), None, False
        arguments = raw
    if not isinstance(arguments, str):
        return {}, "arguments_not_an_object", False
    try:
        value: object = json.loads(arguments, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return {}, "arguments_not_json", True
    if isinstance(value, str):  # JSON text inside JSON text
        with suppress(ValueError, RecursionError):
            value = json.loads(value, parse_constant=_no_constant)
    return (value, None, True) if isinstance(value, dict) else ({}, "arguments_not_an_object", True)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _take(call: JSONObject, name: str, parameters: Mapping[str, Any] | None) -> tuple[str | None, Code | None]:
    """Take one of our fields out of the call: its text, or what is wrong with it."""
    if parameters is not None and owns(parameters, name):
        return None, None
    sent = call.pop(name, None)
    if sent is None:
        return None, _PROBLEMS[name].get("missing")
    if not isinstance(sent, str):
        return None, _PROBLEMS[name]["not_text"]
    text = sent.strip()
    return (text, None) if has_visible(text) else (None, _PROBLEMS[name]["blank"])


def _missing(
    tool_name: str, call: JSONObject, parameters: Mapping[str, Any] | None, replaces: tuple[str, ...]
) -> tuple[str, ...]:
    """Name the tool's own required arguments that the call lacks."""
    row = ROWS.get(tool_name)
    required = parameters.get("required", ()) if parameters is not None else row.required if row else ()
    repaired = {"edits"} if isinstance(call.get("oldText"), str) and isinstance(call.get("newText"), str) else set()
    ours = {INTENT, RATIONALE} if not owns(parameters, INTENT) else set()
    return tuple(name for name in required if name not in {*call, *replaces, *repaired, *ours})


def _drop_edit_fields(call: JSONObject) -> bool:
    """Drop our fields from the items of `edits`, an old habit of models; say whether there were any."""
    edits: JSONValue = call.get("edits")
    if isinstance(edits, str):
        try:
            edits = json.loads(edits)
        except (ValueError, RecursionError):
            return False
    if not isinstance(edits, list):
        return False
    stray = any(isinstance(item, dict) and (INTENT in item or RATIONALE in item) for item in edits)
    if stray:
        call["edits"] = [
            {key: value for key, value in item.items() if key not in (INTENT, RATIONALE)}
            if isinstance(item, dict)
            else item
            for item in edits
        ]
    return stray


def _derived(derive: Derive | None, call: JSONObject) -> str | None:
    if derive is None:
        return None
    try:
        text = derive(dict(call))
    except Exception:  # the promise of `Derive`: an exception means there is no text
        return None
    return text.strip() or None if text else None
