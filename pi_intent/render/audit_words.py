"""Word a report for a reviewer, for any medium: numbers, calls, and what the record cannot prove."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pi_intent.contract.rows import action_text, full_name
from pi_intent.facts import many
from pi_intent.labels.printable import UNCUT
from pi_intent.ledger.audit import NEVER_RAN, Numbers, Soundness
from pi_intent.ledger.calls import LedgerCall
from pi_intent.ledger.entries import CallEntry
from pi_intent.ledger.verify import LIMITS
from pi_intent.past import LastWord, last_word, questions, took
from pi_intent.render.asked import answer_text, decision_text
from pi_intent.render.basis import GIVEN, basis, given
from pi_intent.render.moments import Moments, duration
from pi_intent.render.timeline import ending
from pi_intent.stats import Answers
from pi_intent.types import NOT_ASKED, JSONObject

TITLES: dict[LastWord, str] = {
    "waiting": "Waiting for an answer",
    "denied": "Denied",
    "approved": "Approved, and what came of it",
}

NOT_PROVEN = (
    '"A person" means that somebody answered in the agent\'s own dialog, "the application" that a program around the '
    "agent did. Who that was, and whether they read what they were asked, stands nowhere.",
    "A call that did not go through pi-intent stands in no ledger: nothing here says that there was none.",
    "A call without a question is counted by what its tool can do where nothing else was set: read reads, write and "
    "edit write, and any other tool can do anything (exec).",
    LIMITS,
)

INTENT_WIDTH = 600
"""Columns that are told of an intent."""

_BY = {
    "person": "a person",
    "application": "the application",
    "grant": "an earlier approval of the same call",
    "permission": "a ruling on what it touches",
    "nobody": "nobody could be asked",
    "length": "too long to be read whole",
    "failure": "asking failed",
    "cancelled": "ended before an answer",
}


class Row(NamedTuple):
    """A number of the summary, or a `part` of one: of the last row before it that is none."""

    what: str
    calls: int
    part: bool = False


class Told(NamedTuple):
    """A call as a report tells it: the literal action before anything else. Texts are not made safe yet.

    `tool` is who acts with what, `action` the literal words of the call, `ran_as` those that really ran where they
    are others. `reasons` are rules, each with the piece of the call that it found. `came` is what came of it, None
    where that goes without saying, `given` the credentials that the tool got; `surprises` says that it ran although
    it was denied. `intent` and `rationale` are the model's, `intent_asked` is false where it was asked for none;
    `basis` is what else a person was shown, each part with its title.
    """

    call: LedgerCall
    tool: str
    action: str
    ran_as: str | None
    reasons: tuple[tuple[str, str], ...]
    decision: str
    when: str
    note: str | None
    digest: str | None
    came: str | None
    given: str | None
    surprises: bool
    intent: str | None
    intent_asked: bool
    rationale: str | None
    basis: tuple[tuple[str, str], ...]


def span(numbers: Numbers) -> str:
    """Say how many calls and sessions a report is on."""
    return f"{many(numbers.calls, 'call')} in {many(numbers.sessions, 'session')}"


def rows(numbers: Numbers) -> Iterator[Row]:
    """Yield the summary: every call counts once among the rows that are no parts."""
    yield Row("asked about, or ruled on, before they ran", sum(numbers.asked.values()))
    for word, count in numbers.asked.items():
        yield Row({"waiting": "waiting for an answer"}.get(word, word), count, part=True)
    yield Row("ran, or may have, without being asked", sum(numbers.unasked.values()))
    for tier, count in numbers.unasked.items():
        yield Row(tier, count, part=True)
    yield Row("refused when they were read; nothing ran", numbers.rejected)
    yield Row("denied without a question; nothing ran", numbers.blocked)
    yield Row("imported: whether it was asked is unknown", numbers.imported)
    if numbers.unknown:
        yield Row("without a record of their beginning", numbers.unknown)


def deciders(numbers: Numbers) -> list[tuple[str, int]]:
    """Return who decided, and how often."""
    return [(_BY.get(by, by), count) for by, count in numbers.check_ins.by.items()]


def tables(numbers: Numbers) -> Iterator[tuple[str, Mapping[str, Answers]]]:
    """Yield what was asked by rule and by tool."""
    if numbers.check_ins.rules:
        yield "rule", numbers.check_ins.rules
    if numbers.check_ins.tools:
        yield "tool", numbers.check_ins.tools


def times(numbers: Numbers) -> str | None:
    """Say how long answers took; None where nobody answered."""
    found = numbers.check_ins
    if found.median_ms is None:
        return None
    return f"Half of the {many(found.answered, 'answer')} came within {duration(found.median_ms)}."


def told(call: LedgerCall, moments: Moments) -> Told:
    """Return a call as a report tells it."""
    begun, done = call.call, call.done
    tool, action = ("", "the record of its beginning is missing") if begun is None else act(begun, begun.args)
    last = call.decisions[-1] if call.decisions else None
    word = None if last is None else last_word(last.approved)
    ran = done is not None and done.status not in NEVER_RAN
    is_told = ran or (call.state == "open" if done is None else word in (None, "approved"))
    return Told(
        call=call,
        tool=tool,
        action=action,
        ran_as=None if begun is None or done is None or done.ran_args is None else act(begun, done.ran_args)[1],
        reasons=() if last is None else tuple(_parted(reason) for reason in last.reasons),
        decision="" if last is None else _decision(call),
        when=_when(call, moments),
        note=None if last is None else last.note,
        digest=None if last is None else last.digest,
        came=ending(call, UNCUT).plain if is_told else None,
        given=given(done.given) if done is not None and done.given else None,
        surprises=word in ("denied", "waiting") and ran,
        intent=begun.intent if begun is not None and begun.intent_source == "model" else None,
        intent_asked=begun is None or begun.policy not in NOT_ASKED,
        rationale=None if begun is None else begun.rationale,
        basis=() if last is None else basis(last.shown, without=(GIVEN,) if done is not None and done.given else ()),
    )


def nothing_said(call: Told) -> str:
    """Say why nothing stands there that the call is for."""
    return f"the agent {'did not say' if call.intent_asked else 'was not asked'} what it is for"


def act(begun: CallEntry, args: JSONObject) -> tuple[str, str]:
    """Return who acts with which tool, and the literal words of what it does, as far as the ledger keeps them."""
    tool = full_name(begun.tool, begun.tool_source)
    who = tool if begun.agent == "main" else f"{begun.agent}: {tool}"
    if "redact_args" in begun.flags:
        return who, "(its arguments are withheld)"
    return who, action_text(begun.tool, args)


def soundness_text(soundness: Soundness) -> list[str]:
    """Say whether the records hold, or how to find out."""
    files = many(soundness.files, "file")
    if soundness.holds is None:
        size = f"{soundness.size / 1e6:,.0f} MB"
        return [f'The {size} in the {files} of these calls were not checked here: run "pi-intent verify".']
    if soundness.holds:
        return [f"✓ All that stands in the {files} of these calls is as it was written, as far as hashes can tell."]
    said = [f'✗ {soundness.bad:,} of the {files} of these calls cannot be trusted; "pi-intent verify" tells more.']
    for fault in soundness.unsound:
        said.append(f"{fault.name}, {'' if fault.line is None else f'line {fault.line}, '}{fault.text}")
    return said


def _decision(call: LedgerCall) -> str:
    last = call.decisions[-1]
    numbers = {entry.number for entry in call.decisions}
    times = f", asked {len(numbers)} times" if len(numbers) > 1 else ""
    return (decision_text(call) if last.approved is None else answer_text(last, noted=False)) + times


def _when(call: LedgerCall, moments: Moments) -> str:
    found = questions(call.decisions)
    if not found:
        return moments.told(call.ts)
    asked, answer = found[-1]
    said = [] if asked is None else [f"asked {moments.told(asked.ts)}"]
    if answer is not None:
        passed = took(asked, answer)
        said.append(f"decided {moments.told(answer.ts)}" + ("" if passed is None else f", after {duration(passed)}"))
    return ", ".join(said)


def _parted(reason: str) -> tuple[str, str]:
    rule, _, piece = reason.partition(": ")
    return rule, piece
