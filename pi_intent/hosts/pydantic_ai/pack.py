"""What an application finds beside a call that a person must decide on, as plain JSON: the literal action first."""

from __future__ import annotations

from pi_intent.gates.check_in import literal_action
from pi_intent.gates.evidence import Earlier, Evidence
from pi_intent.gates.question import Question
from pi_intent.types import JSONObject


def pack(question: Question) -> JSONObject:
    """Return what a person needs, in the order in which to show it.

    `action`, `arguments`, `tool`, `source` (of a tool that is not the agent's own), `cwd`, `reasons` and `given` (the
    names of the credentials that the call gets) are literal;
    `intent`, `rationale` and `notes` are the model's words and the doubts about them, and left out where the person
    wants to see the literal action alone; `digest` names exactly this call.
    """
    situation, evidence = question.situation, question.evidence
    said: JSONObject = {
        "action": literal_action(situation.tool_name, question.arguments),
        "arguments": question.arguments,
        "tool": situation.tool_name,
    }
    if situation.tool_source is not None:
        said["source"] = situation.tool_source
    said["cwd"] = situation.cwd
    said["reasons"] = [reason.words for reason in question.reasons]
    if question.given:
        said["given"] = list(question.given)
    if question.number > 1:
        said["number"] = question.number  # asked again: the arguments are not those that were approved
    if question.shows_words:
        said["intent"] = question.intent
        said["rationale"] = question.rationale
    if evidence is not None:
        said["evidence"] = _evidence(evidence, question.shows_words)
        if question.shows_words:
            said["notes"] = list(evidence.notes)
    said["digest"] = question.digest
    return said


def _evidence(evidence: Evidence, shows_words: bool) -> JSONObject:
    """Return the parts that hold anything."""
    parts: JSONObject = {
        "does": [{"what": what, "piece": piece} for what, piece in evidence.does],
        "read": [{"path": path, "seen": seen} for path, seen in evidence.read],
        "pointers": [{"place": place, "found": found} for place, found in evidence.pointers],
        "led": [_earlier(call, shows_words) for call in evidence.led],
    }
    return {name: part for name, part in parts.items() if part}


def _earlier(call: Earlier, shows_words: bool) -> JSONObject:
    said: JSONObject = {"tool": call.tool, "action": call.action, "status": call.status}
    return {**said, "intent": call.intent} if shows_words else said
