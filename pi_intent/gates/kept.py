"""Make what a person was asked fit to be kept: secrets go before anything is cut out of a text or folded.

A piece of a command, or a line of a screen, can hold half of a secret, which nobody recognises any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from pi_intent.gates.kinds import Reason
from pi_intent.gates.question import Question, Seen
from pi_intent.types import JSONObject, JSONValue

LEFT_OUT = "[redacted]"
"""Stands for a piece that has part of a secret."""

type Redact = Callable[[str], str]


class Keeping(Protocol):
    """What of a question may stand in the ledger. Neither raises.

    `reasons` gets the reasons and the literal arguments that they were found in, `shown` the question and how much of
    it was on the screen; None where nothing is kept.
    """

    def reasons(self, reasons: Iterable[Reason], arguments: JSONObject) -> tuple[str, ...]: ...

    def shown(self, question: Question, seen: Seen | None) -> str | None: ...


class _Pieces:
    """Redacts pieces of the texts of a call, each as it stands in the whole."""

    def __init__(self, whole: JSONObject, redact: Redact) -> None:
        texts = [*_texts(whole)]
        self._safe = [redact(text) for text in texts]
        self._hides = self._safe != texts
        self._redact = redact

    def kept(self, piece: str) -> str:
        """Return a piece without secrets; nothing of it where it may have part of one."""
        safe = self._redact(piece)
        return LEFT_OUT if self._hides and not any(safe in text for text in self._safe) else safe

    def kept_reason(self, reason: Reason) -> Reason:
        """Return a reason without secrets."""
        if not reason.text:
            return reason
        return reason._replace(text=self._redact(reason.text) if reason.is_said else self.kept(reason.text))


def kept_reasons(reasons: Iterable[Reason], arguments: JSONObject, redact: Redact) -> tuple[str, ...]:
    """Return reasons as they may be kept, each as the rule and the piece of the call that it found."""
    pieces = _Pieces(arguments, redact)
    return tuple(pieces.kept_reason(reason).words for reason in reasons)


def kept_question(question: Question, arguments: JSONObject, redact: Redact) -> Question:
    """Return a question as it may be drawn to be kept; `arguments` are those of the call, as they may be kept."""
    pieces = _Pieces(question.arguments, redact)
    evidence = question.evidence
    if evidence is not None:
        evidence = evidence._replace(
            does=tuple((what, piece and pieces.kept(piece)) for what, piece in evidence.does),
            read=tuple((redact(path), seen) for path, seen in evidence.read),
            led=tuple(
                call._replace(action=redact(call.action), intent=_redacted(call.intent, redact))
                for call in evidence.led
            ),
            pointers=tuple((redact(place), found) for place, found in evidence.pointers),
            notes=tuple(map(pieces.kept, evidence.notes)),
        )
    return question._replace(
        situation=question.situation._replace(cwd=redact(question.situation.cwd)),
        arguments=arguments,
        reasons=tuple(map(pieces.kept_reason, question.reasons)),
        before=None,
        misfit=_redacted(question.misfit, redact),
        intent=_redacted(question.intent, redact),
        rationale=_redacted(question.rationale, redact),
        evidence=evidence,
    )


def _redacted(text: str | None, redact: Redact) -> str | None:
    return None if text is None else redact(text)


def _texts(value: JSONValue) -> Iterator[str]:
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case list() as items:
                waiting += items
            case dict() as members:
                waiting += members.values()
            case _:
                pass
