"""Tell what a person was asked about a call, and what came of that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pi_intent.labels.literal import whole_line
from pi_intent.labels.printable import printable
from pi_intent.ledger.calls import LedgerCall
from pi_intent.ledger.entries import DecisionEntry
from pi_intent.past import last_word, questions, took
from pi_intent.render.moments import Moments, duration

STYLES = {"approved": "green", "denied": "magenta", "waiting": "yellow"}
"""How the last word on a call is drawn."""

_WHO = {"person": "a person", "application": "the application"}
_MOST_REASONS = 3
_REASON = 120  # columns
_NOTE = 1_024  # columns: as much as the ledger keeps


def asked_line(call: LedgerCall) -> tuple[str, str] | None:
    """Return one short line on what was asked of a call, or ruled, and its style; None where neither was."""
    if not call.decisions:
        return None
    last = call.decisions[-1]
    numbers = {entry.number for entry in call.decisions}
    times = f" {len(numbers)} times" if len(numbers) > 1 else ""
    held = "ruled on" if last.by == "permission" else f"asked{times}"
    text = f"{held}: {reasons_text(last.reasons)} · {decision_text(call)}"
    return text, STYLES[last_word(last.approved)]


def decision_text(call: LedgerCall) -> str:
    """Return what was decided in the end, in a few words."""
    last = call.decisions[-1]
    if last.approved is not None:
        return answer_text(last)
    if call.state == "running" or (call.done is not None and call.done.status == "denied"):
        return "waits for an answer"
    return "no answer: the process ended" if call.state == "open" else "no answer is recorded"


def answer_text(answer: DecisionEntry, *, noted: bool = True) -> str:
    """Return what an answer says, and whose it is; a denial with the note, where there is one."""
    return answer_words(answer.approved, answer.by, answer.scope, answer.note if noted else None)


def answer_words(approved: bool | None, by: str | None, scope: str | None = None, note: str | None = None) -> str:
    """Return a decision in a few words; a denial with the note, made safe, where there is one."""
    if approved is None:
        return "waits for an answer"
    if approved:
        match by:
            case "person" | "application":
                how = {"once": " once", "session": " for the session"}.get(scope or "", "")
                return f"approved{how} by {_WHO[by]}"
            case "grant":
                return "approved: this exact call was approved before"
            case "permission":
                return "approved: what it touches is permitted"
            case _:
                return "approved"
    match by:
        case "nobody":
            return "nobody to ask"
        case "permission":
            return "denied: what it touches is not permitted"
        case "length":
            return "denied: too long to be read whole"
        case "failure":
            return "denied: asking failed"
        case "cancelled":
            return "not decided: the call ended before"
        case _:
            said = printable(note or "", width=_NOTE)
            return f"denied by {_WHO.get(by or '', 'somebody')}" + (f': "{said}"' if said else "")


def reasons_text(reasons: Sequence[str], most: int = _MOST_REASONS) -> str:
    """Return reasons on one line, each with the literal piece of the call that it found."""
    if not reasons:
        return "no reason is recorded"
    more = f" and {len(reasons) - most} more" if len(reasons) > most else ""
    return ", ".join(map(reason_text, reasons[:most])) + more


def reason_text(reason: str) -> str:
    """Return one reason of a record: the rule, and in brackets what of the call it found."""
    rule, _, piece = reason.partition(": ")
    shown = whole_line(piece, width=_REASON)
    return f"{printable(rule, width=_REASON)} ({shown})" if shown else printable(rule, width=_REASON)


def asked_facts(call: LedgerCall, moments: Moments) -> Iterator[tuple[str, str]]:
    """Yield what the ledger knows of the questions on a call, as names and texts that are not made safe yet.

    A line of what was on the screen comes with the name `|`; a name is empty where a text goes on.
    """
    found = questions(call.decisions)
    for number, (asked, answer) in enumerate(found, start=1):
        said = answer or asked
        if said is None:
            continue
        if len(found) > 1:
            yield "question", f"{number} of {len(found)}"
        for at, reason in enumerate(said.reasons):
            yield ("" if at else "asked because"), reason_text(reason)
        yield "call digest", f"{said.digest} (of tool, supplier, folder and arguments)" if said.digest else ""
        if asked is not None:
            yield "asked", moments.told(asked.ts, exactly=True)
        if answer is None:
            yield "decided", decision_text(call) if number == len(found) else "no answer is recorded"
            continue
        passed = took(asked, answer)
        yield "decided", moments.told(answer.ts, exactly=True)
        yield "", answer_text(answer, noted=False) + ("" if passed is None else f", after {duration(passed)}")
        yield "note", answer.note or ""
        yield from (("|", line) for line in (answer.shown or "").splitlines())
