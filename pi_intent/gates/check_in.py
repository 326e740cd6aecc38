"""Hold a call up until a person has seen it, where something asks for that."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from copy import deepcopy

from pi_intent.contract.rows import target_argument
from pi_intent.contract.texts import ModelTexts
from pi_intent.errors import CallDenied, LedgerError
from pi_intent.gates.capabilities import NotPermitted, check
from pi_intent.gates.configured import Gated
from pi_intent.gates.declared import Declarations
from pi_intent.gates.evidence import gather
from pi_intent.gates.faults import unasked
from pi_intent.gates.identity import identity
from pi_intent.gates.kept import Keeping
from pi_intent.gates.kinds import Reason
from pi_intent.gates.later import Arrived, Asked, Deferred
from pi_intent.gates.memory import Decided, Memory
from pi_intent.gates.question import SCOPES, Answer, Asker, AskingStopped, Question
from pi_intent.gates.rules import reasons_to_ask
from pi_intent.gates.situation import Situation, Surroundings
from pi_intent.gates.tiers import is_asked, raised, tier_of
from pi_intent.pipeline import OpenCall, failure
from pi_intent.protocols import Decision
from pi_intent.types import NOT_ASKED, JSONObject, Status

MOST_QUESTIONS = 3
"""On one call, where its arguments change while somebody is asked."""

MOST_SHOWN = 100_000
"""Characters of a call's arguments, as JSON: nobody reads more, and what cannot be read whole is not approved."""

MOST_GRANTS = 10_000
MOST_PAST = 100
"""Decisions of a session that are kept to be listed."""


class CheckIn:
    """The check-ins of one session: what was approved for all of it, and what was decided.

    `digest` makes the digests that stand in the ledger, `keeping` says what else of a question may; `turn` lets one
    question at a time be asked.
    """

    def __init__(
        self,
        *,
        texts: ModelTexts,
        around: Surroundings,
        memory: Memory,
        declared: Declarations,
        turn: AbstractAsyncContextManager[object],
        digest: Callable[[bytes], str],
        keeping: Keeping,
    ) -> None:
        self.decided = memory.decided
        self.unasked = 0
        """How many calls did not run because nobody could be asked."""
        self._texts = texts
        self._around = around
        self._history = memory.history
        self._declared = declared
        self._turn = turn
        self._digest = digest
        self._keeping = keeping
        self._granted = memory.granted

    async def admit(
        self,
        opened: OpenCall,
        arguments: JSONObject,
        situation: Situation,
        gated: Gated,
        asker: Asker | None,
        *,
        misfit: str | None = None,
        arrived: Arrived | None = None,
    ) -> None:
        """Return when a call with these arguments may run; they are those that the tool gets, literally.

        Asks `asker`, None where nobody can be asked, if anything asks for that; `arrived` is the answer to an earlier
        question on the call, which counts for exactly what was asked about, or for what it wrote itself. Raises
        `CallDenied` with the text for the model, and then the call is settled as denied; raises `LedgerError` where a
        strict ledger vetoes it, and `Deferred` where `asker` does: then the call is still open.
        """
        permits = await self._permits(opened, arguments, situation, gated)
        if arrived is None and not permits and not self._reasons(opened, arguments, situation, gated):
            return
        async with self._turn:
            first = 1
            if arrived is not None:
                if self._is_covered(opened, arguments, situation, arrived):
                    return
                first = arrived.asked.decision.number + 1
            for number in range(first, MOST_QUESTIONS + 1):
                reasons = permits + self._reasons(opened, arguments, situation, gated)
                if not reasons:
                    return
                key = _identity(situation, arguments)
                if key is None:
                    decision = Decision(
                        call_id=opened.start.call_id,
                        number=number,
                        reasons=self._keeping.reasons(reasons, arguments),
                        approved=False,
                        by="failure",
                    )
                    self._record(opened, situation.tool_name, decision)
                    raise self._denied(opened, "unreadable")
                if await self._is_approved(
                    opened, arguments, situation, gated, asker, reasons, key, number=number, misfit=misfit
                ):
                    return
        raise self._denied(opened, "changing")

    async def _permits(
        self, opened: OpenCall, arguments: JSONObject, situation: Situation, gated: Gated
    ) -> tuple[Reason, ...]:
        """Return why a person is asked about what the tool touches; raises `CallDenied` where it may not."""
        governed = (*gated.governed, *self._declared.governed)
        if not governed:
            return ()
        touched = (*gated.touched, *self._declared.touched(situation.tool_name, situation.tool_source))
        try:
            return await check(touched, governed, situation)
        except NotPermitted as denial:
            key = _identity(situation, arguments)
            decision = Decision(
                call_id=opened.start.call_id,
                number=1,
                reasons=(f"touches {denial.capability}: {denial.reason}",),
                digest=None if key is None else self._digest(key),
                approved=False,
                by="permission",
            )
            self._record(opened, literal_action(situation.tool_name, arguments), decision)
            raise self._denied(opened, "permission", capability=denial.capability, reason=denial.reason) from denial

    def _reasons(
        self, opened: OpenCall, arguments: JSONObject, situation: Situation, gated: Gated
    ) -> tuple[Reason, ...]:
        declared = gated.tier or self._declared.tier(situation.tool_name, situation.tool_source)
        # Others' code may change what it gets, and must hide nothing from the rules.
        given = apart(arguments) if callable(declared) else arguments
        tiered = raised(tier_of(declared, situation.tool_name, situation.tool_source, given), gated.floor)
        found = []
        if is_asked(gated.ask, tiered):
            # A function of the arguments may say a piece of them.
            said = tiered.reason or gated.meanwhile or ""
            found.append(Reason(f"tier {tiered.tier}", said, is_said=not callable(declared)))
        start = opened.start
        found += reasons_to_ask(
            gated.rules,
            arguments,
            situation,
            self._around,
            stated=start.intent_source == "model",
            notes=lambda: [note.text for note in self._history.notes_on(start, arguments)],
        )
        found += self._declared.reasons(arguments, situation)
        return tuple(found)

    async def _is_approved(
        self,
        opened: OpenCall,
        arguments: JSONObject,
        situation: Situation,
        gated: Gated,
        asker: Asker | None,
        reasons: tuple[Reason, ...],
        key: bytes,
        *,
        number: int,
        misfit: str | None,
    ) -> bool:
        """Ask about a call, and say whether exactly this one may run. False: what was approved is no longer so."""
        start = opened.start
        literal = apart(arguments)
        decision = Decision(
            call_id=start.call_id,
            number=number,
            reasons=self._keeping.reasons(reasons, literal),
            digest=self._digest(key),
        )
        action = literal_action(situation.tool_name, literal)
        if key in self._granted:
            self._record(opened, action, decision._replace(approved=True, by="grant", scope="session"))
            return True
        if asker is None:
            if gated.unattended == "defer":
                self._record(opened, action, decision)
                self.unasked += 1
                raise self._denied(opened, "deferred", reasons)
            self._record(opened, action, decision._replace(approved=False, by="nobody"))
            raise self._denied(opened, "nobody", reasons)
        if len(key) > MOST_SHOWN:
            self._record(opened, action, decision._replace(approved=False, by="length"))
            raise self._denied(opened, "unreadable")
        opened.ask(action)
        opened.record(decision)
        try:
            question = self._question(opened, literal, situation, gated, reasons, decision, misfit)
            answer = _checked(await asker.ask(question))
        except Deferred as deferred:
            deferred.asked = Asked(action, decision, key)
            raise
        except AskingStopped as stop:
            self._record(opened, action, decision._replace(approved=False, by="cancelled"))
            raise self._denied(opened, "stopped", status="cancelled") from stop
        except Exception as error:  # a host's dialog may fail in its own ways
            self._record(opened, action, decision._replace(approved=False, by="failure"))
            raise self._denied(opened, "failed", reason=unasked(error)) from error
        except BaseException:  # the call is cancelled while somebody is asked
            with suppress(LedgerError):  # it must not stand in the way of the cancellation
                self._record(opened, action, decision._replace(approved=False, by="cancelled"))
            raise
        if opened.settled:  # the host ended the call while somebody was asked
            raise self._denied(opened, "stopped", status="cancelled")
        shown = self._keeping.shown(question, answer.seen)
        self._take(opened, action, _answered(decision, answer, shown), answer)
        if _identity(situation, arguments) != key:
            return False
        self._grant(answer, key)
        return True

    def _is_covered(self, opened: OpenCall, arguments: JSONObject, situation: Situation, arrived: Arrived) -> bool:
        """Keep an answer that came later, and say whether exactly this call may run because of it."""
        asked, answer = arrived.asked, arrived.answer
        key = _identity(situation, arguments)
        decision = _answered(asked.decision, answer)
        covers = self._is_about(asked, key)
        if not covers and key is not None and arrived.original is not None:
            covers = self._is_about(asked, _identity(situation, arrived.original))
            if covers:  # what runs is what the answer says
                decision = decision._replace(digest=self._digest(key))
        self._take(opened, asked.action, decision, answer)
        if covers and key is not None:
            self._grant(answer, key)
        return covers

    def _take(self, opened: OpenCall, action: str, decision: Decision, answer: Answer) -> None:
        """Keep an answer, and deny the call where that is what it says."""
        self._record(opened, action, decision)
        if not answer.approved:
            raise self._denied(opened, "denied with a note" if answer.note else "denied", note=answer.note or "")

    def _is_about(self, asked: Asked, key: bytes | None) -> bool:
        if key is None:
            return False
        return key == asked.key if asked.key is not None else self._digest(key) == asked.decision.digest

    def _grant(self, answer: Answer, key: bytes) -> None:
        if answer.scope == "session" and len(self._granted) < MOST_GRANTS:
            self._granted[key] = None

    def answered(self, opened: OpenCall, arrived: Arrived) -> None:
        """Keep the answer to an earlier question on a call that nothing of ours runs any more.

        Raises `LedgerError` where a strict ledger cannot; then the call is settled as denied.
        """
        decision = _answered(arrived.asked.decision, arrived.answer)
        self._record(opened, arrived.asked.action, decision)

    def _question(
        self,
        opened: OpenCall,
        literal: JSONObject,
        situation: Situation,
        gated: Gated,
        reasons: tuple[Reason, ...],
        decision: Decision,
        misfit: str | None,
    ) -> Question:
        start, path = opened.start, literal.get("path")
        both = gated.show == "both"
        written = path if situation.tool_name == "write" and isinstance(path, str) else None
        evidence = gather(
            literal,
            situation,
            self._around,
            tuple(self._history.calls),
            rationale=start.rationale if both else None,
            notes=[note.text for note in self._history.notes_on(start, literal)] if both else (),
        )
        if not both:
            reasons = tuple(reason._replace(text="") if reason.rule == "noted" else reason for reason in reasons)
            evidence = evidence._replace(led=tuple(call._replace(intent=None) for call in evidence.led))
        return Question(
            call_id=start.call_id,
            situation=situation,
            arguments=literal,
            reasons=reasons,
            digest=decision.digest or "",
            number=decision.number,
            before=None if written is None else self._around.text(written),
            creates=written is not None and not self._around.exists(written),
            shows_words=both,
            misfit=misfit,
            intent_asked=opened.policy not in NOT_ASKED,
            intent=start.intent if both and start.intent_source == "model" else None,
            rationale=start.rationale if both else None,
            evidence=evidence,
            given=gated.given,
        )

    def _record(self, opened: OpenCall, action: str, decision: Decision) -> None:
        self.unasked += decision.by == "nobody"
        by, note, scope = decision.by, decision.note, decision.scope
        self.decided.append(Decided(action, decision.reasons, decision.approved, by, note, scope))
        del self.decided[:-MOST_PAST]
        opened.record(decision)
        if decision.approved is not None and decision.by is not None:
            opened.decide(approved=decision.approved, by=decision.by, note=decision.note)

    def refused(self, opened: OpenCall, sentence: str, **words: str) -> CallDenied:
        """Return what to raise where something that the call needs cannot be had; the call is settled."""
        return self._denied(opened, sentence, (), status="denied", **words)

    def _denied(
        self, opened: OpenCall, why: str, reasons: tuple[Reason, ...] = (), *, status: Status = "denied", **words: str
    ) -> CallDenied:
        text = self._texts.consent[why].format_map(
            {
                "tool": opened.start.tool_name,
                "reasons": ", ".join(dict.fromkeys(reason.rule for reason in reasons)),
                **words,
            }
        )
        opened.settle(failure(status, text))
        return CallDenied(text)


def _checked(answer: Answer) -> Answer:
    """Return an answer that is one. Raises `TypeError` for anything else: it approves nothing."""
    if isinstance(answer, Answer) and isinstance(answer.approved, bool) and answer.scope in SCOPES:
        return answer
    raise TypeError("the asker gave no answer")


def _identity(situation: Situation, arguments: JSONObject) -> bytes | None:
    return identity(situation.tool_name, situation.tool_source, situation.cwd, arguments)


def _answered(decision: Decision, answer: Answer, shown: str | None = None) -> Decision:
    return decision._replace(
        approved=answer.approved,
        by=answer.by,
        scope=answer.scope if answer.approved else None,
        note=answer.note,
        shown=shown,
    )


def apart(arguments: JSONObject) -> JSONObject:
    """Copy the arguments for others to look at: the tool runs with the original."""
    try:
        return deepcopy(arguments)
    except Exception:  # nested too deeply, or values of a host's own: neither can be asked about
        return dict(arguments)


def literal_action(tool_name: str, arguments: JSONObject) -> str:
    """Return what a call does in its own literal words: the command, the file, or its arguments as JSON."""
    target = target_argument(tool_name, arguments)
    if isinstance(target, str):
        return target if tool_name == "bash" else f"{tool_name} {target}"
    try:
        return f"{tool_name} {json.dumps(arguments, default=repr)}"
    except (RecursionError, ValueError):
        return tool_name
