"""Hold calls up while a person is asked about them, beside all other traffic, without an event loop.

What the gates do is a coroutine. It is moved on by hand: when its turn has come, and when the client has answered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from pi_intent.contract.texts import ModelTexts
from pi_intent.errors import CallDenied, LedgerError
from pi_intent.gates.faults import unasked
from pi_intent.gates.question import Answer, Asker, Question, Seen
from pi_intent.gating import Gates, Session, gated_by
from pi_intent.hosts.mcp import questions
from pi_intent.hosts.mcp.answers import is_of_results
from pi_intent.hosts.mcp.ends import CANCELLED, INTERRUPTED, MOST_WAITING
from pi_intent.hosts.mcp.requests import same_id
from pi_intent.hosts.mcp.sent import SentCall
from pi_intent.hosts.mcp.tools import KnownTool
from pi_intent.hosts.mcp.turn import Turn, Waiting
from pi_intent.hosts.mcp.wire import Unreadable, holds_repeated, read_line, same_json
from pi_intent.pipeline import OpenCall, failure
from pi_intent.protocols import Settlement
from pi_intent.render.check_in import question_lines
from pi_intent.settings import Settings


class ForAnswer(Waiting):
    """A coroutine waits for a client's answer to `message`."""

    def __init__(self, message: str) -> None:
        self.message = message


class ClientAsker(Asker):
    """Asks through the client. An answer that cannot be read raises, and so denies."""

    async def ask(self, question: Question) -> Answer:
        lines = question_lines(question, width=questions.WIDTH)
        return questions.answer_of(await ForAnswer("\n".join(lines)), Seen(len(lines), len(lines)))


class Held:
    """A call between its start and the decision on it. `sent` is the client's request of now."""

    def __init__(
        self, opened: OpenCall, tool: KnownTool, sent: SentCall, coroutine: Coroutine[Any, Any, Any]
    ) -> None:
        self.opened = opened
        self.tool = tool
        self.sent = sent
        self.coroutine = coroutine
        self.question_id: str | None = None
        self.is_answered = False
        """Whether the request of now is answered: with the question."""


class Outcome(NamedTuple):
    """What is to be done with a call: it goes on to the server, is refused with `why`, or nobody waits for it."""

    held: Held
    kind: Literal["run", "refuse", "forget"]
    why: str = ""


class Holding:
    """The calls of one session that are held up. `own_id` begins the ids of its questions; no server is told it."""

    def __init__(
        self,
        *,
        session: Session,
        settings: Callable[[], Settings],
        texts: ModelTexts,
        to_client: Callable[[bytes], None],
        tell: Callable[[str], None],
        own_id: str,
    ) -> None:
        self._turn = Turn()
        self._gates = Gates(session, lambda: self._turn)
        self._settings = settings
        self._texts = texts
        self._to_client = to_client
        self._tell = tell
        self._own_id = own_id
        self._asked: set[str] = set()
        """The ids of all questions so far."""
        self._shows_forms = False
        """Whether a client that has said it once, in a handshake, shows forms."""
        self._is_over = False
        self._held: list[Held] = []
        self._queue: deque[Held] = deque()
        """Those of them that wait for their turn."""

    def greeted(self, params: object) -> None:
        """Note what a client can do, from the parameters of its handshake."""
        self._shows_forms = questions.shows_forms(params.get("capabilities") if isinstance(params, dict) else None)

    def admit(self, opened: OpenCall, tool: KnownTool, sent: SentCall) -> SentCall | None:
        """Return what the server gets of a call that may run now; None for one that is held up.

        Raises `CallDenied` or `LedgerError`, and then the call is settled.
        """
        is_open = gated_by(self._settings(), tool.settings).is_open
        if not is_open and _is_ambiguous(tool, sent.params.get("arguments")):
            why = self._texts.consent["unreadable"].format(tool=tool.name)
            opened.settle(failure("denied", why))
            raise CallDenied(why)
        admission = self._gates.admit(
            opened,
            opened.call.arguments,
            settings=self._settings(),
            chosen=replace(tool.settings, needs=()),  # the server has them since it started
            asker=ClientAsker() if self._can_ask(sent) else None,
            parameters=tool.parameters,
        )
        held = Held(opened, tool, sent, admission)
        outcome = self._moved(held, None)
        if outcome is None:
            self._held.append(held)
            return None
        if outcome.kind == "refuse":
            raise CallDenied(outcome.why)
        return held.sent

    def is_own(self, name: object) -> bool:
        """Whether an id, or the state of a call that is sent again, is of a question of ours; also of a past one."""
        return isinstance(name, str) and name in self._asked

    def answered(self, message: dict[str, Any]) -> list[Outcome]:
        """Take the answer to a request of ours; one that nobody waits for any more changes nothing."""
        held = self._find(message.get("id"))
        if held is None or held.is_answered:
            return []
        if "error" not in message:
            return self._went_on(held, _unambiguous(message).get("result"))
        self._tell(f"the client could not ask about a call of {held.tool.name}: {_said(message['error'])}")
        return self._went_on(held, None)

    def sent_again(self, sent: SentCall, arguments: dict[str, Any] | None) -> list[Outcome] | None:
        """Take a call that is sent again with the answer; None where it is to be read as a new one.

        It is the same call only if its tool and arguments are; an answer counts once. `arguments` are None where
        they do not say what they have to.
        """
        held = self._find(sent.params.get("requestState"))
        if held is None or not held.is_answered:
            return None
        is_same = held.tool.name == sent.params["name"] and same_json(held.opened.call.arguments, arguments)
        if not is_same:
            self._call_off(held, CANCELLED)
            return None
        held.sent, held.is_answered = sent, False
        return self._went_on(held, _unambiguous(sent.params.get("inputResponses")).get(questions.KEY))

    def first_answers(self, state: object) -> dict[str, str]:
        """Return the answers to the server that a call held which was answered with this state."""
        held = self._find(state)
        return {} if held is None else held.sent.answers

    def cancelled(self, request_id: object) -> list[Outcome]:
        """The client has called a request off."""
        found = [held for held in self._held if same_id(held.sent.message.get("id"), request_id) and held.sent.has_id]
        for held in found:
            self._call_off(held, CANCELLED)
        return [*(Outcome(held, "forget") for held in found), *self._next()]

    def hang_up(self) -> list[Outcome]:
        """The client or the server has gone: nobody is asked any more, and what waits has ended."""
        self._is_over = True
        self._queue.clear()
        found = []
        for held in tuple(self._held):
            self._call_off(held, INTERRUPTED)
            why = self._texts.consent["failed"].format(tool=held.tool.name, reason="the session has ended")
            found.append(Outcome(held, "forget" if held.is_answered else "refuse", why))
        return found

    def _can_ask(self, sent: SentCall) -> bool:
        if self._is_over or not sent.has_id:  # nobody would wait for a call without one
            return False
        if is_of_results(sent.params):
            return questions.shows_forms(questions.own_capabilities(sent.params))
        return self._shows_forms

    def _find(self, question_id: object) -> Held | None:
        if question_id is None:
            return None
        return next((held for held in self._held if held.question_id == question_id), None)

    def _went_on(self, held: Held, answer: object) -> list[Outcome]:
        held.question_id = None
        outcome = self._moved(held, answer)
        return [*self._leaves(held, outcome), *self._next()]

    def _leaves(self, held: Held, outcome: Outcome | None) -> list[Outcome]:
        if outcome is None:
            return []
        self._held.remove(held)
        return [outcome]

    def _next(self) -> list[Outcome]:
        """Let those go on whose turn it is now."""
        found = []
        while self._queue and self._turn.holder is None:
            held = self._queue.popleft()
            found += self._leaves(held, self._moved(held, None))
        return found

    def _moved(self, held: Held, value: object) -> Outcome | None:
        """Move a call on, as far as it goes; None where it waits again."""
        self._turn.driven = held
        try:
            wanted = held.coroutine.send(value)
        except StopIteration as over:
            held.sent = held.sent.redeemed(held.opened.call.arguments, over.value.arguments)
            return Outcome(held, "run")
        except (CallDenied, LedgerError) as error:
            return Outcome(held, "refuse", str(error))
        except Exception as error:  # a boundary: a fault of ours must not let a call slip by
            why = self._texts.consent["failed"].format(tool=held.tool.name, reason=unasked(error))
            self._tell(f"a call of {held.tool.name} was denied, by a fault of ours ({type(error).__name__}: {error})")
            held.opened.settle(failure("denied", why))
            return Outcome(held, "refuse", why)
        if isinstance(wanted, ForAnswer):
            self._ask(held, wanted.message)
        else:
            self._queue.append(held)
        return None

    def _ask(self, held: Held, message: str) -> None:
        held.question_id = f"{self._own_id}{len(self._asked) + 1}"
        self._asked.add(held.question_id)
        if not is_of_results(held.sent.params):
            self._to_client(questions.as_request(held.question_id, message))
            return
        self._to_client(questions.as_result(held.sent.raw_id, held.question_id, message))
        held.is_answered = True
        self._turn.holder = None  # a client does not tell when it will not send the call again
        answered = [one for one in self._held if one.is_answered]
        if len(answered) >= MOST_WAITING:
            self._call_off(answered[0], INTERRUPTED)

    def _call_off(self, held: Held, settlement: Settlement) -> None:
        """End a call that waits; the decision on it is that there is none."""
        self._held.remove(held)
        with suppress(ValueError):
            self._queue.remove(held)
        self._turn.driven = held
        with suppress(LedgerError):
            held.coroutine.close()
        held.opened.settle(settlement)
        if held.question_id is not None and not held.is_answered:
            self._to_client(questions.withdrawal(held.question_id))


def _is_ambiguous(tool: KnownTool, arguments: object) -> bool:
    """Whether a server may read other arguments than a person would be shown."""
    try:
        while isinstance(arguments, str) and tool.carries != "nothing":  # an object that was sent as a text
            _, arguments = read_line(arguments.encode("utf-8", "surrogatepass"))
    except Unreadable:
        return True
    return arguments is not None and (not isinstance(arguments, dict) or holds_repeated(arguments))


def _unambiguous(answers: object) -> dict[str, Any]:
    """Return an object that everybody reads alike; in the place of any other an empty one."""
    return answers if isinstance(answers, dict) and not holds_repeated(answers) else {}


def _said(error: object) -> str:
    said = error.get("message") if isinstance(error, dict) else None
    return said if isinstance(said, str) else "it gave no reason"
