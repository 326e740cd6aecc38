"""Stand between an MCP client and a server: decide for each line whether it goes on, is answered, or waits.

No I/O: it is given lines, and hands lines to two functions. They go on byte for byte, but for the schemas in lists of
tools, the two fields of ours in calls, and what readers of lines could take differently.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_intent.contract.texts import ModelTexts
from pi_intent.errors import CallDenied, IntentRejected, LedgerError
from pi_intent.hosts.mcp import wire
from pi_intent.hosts.mcp.ambiguous import CALL, ambiguity
from pi_intent.hosts.mcp.answers import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    error_answer,
    is_of_results,
    refusal,
)
from pi_intent.hosts.mcp.calls import Calls, client_call_id, client_name
from pi_intent.hosts.mcp.ends import CANCELLED, INTERRUPTED, Ends
from pi_intent.hosts.mcp.replies import Afterwards, Replies
from pi_intent.hosts.mcp.requests import Asked, Requests, asked_by
from pi_intent.hosts.mcp.sent import SentCall
from pi_intent.hosts.mcp.stripping import stripped
from pi_intent.hosts.mcp.tools import KnownTool, Tools
from pi_intent.hosts.mcp.unlisted import Unlisted, is_call
from pi_intent.hosts.mcp.wire import Cut, Unreadable
from pi_intent.pipeline import OpenCall

if TYPE_CHECKING:
    from pi_intent.hosts.mcp.bounding import Bounds
    from pi_intent.hosts.mcp.holding import Holding, Outcome

_NOT_PASSED_ON = "pi-intent did not pass this on"


class _Refused(Exception):
    """A message does not go on; `answer` is the JSON text that the client gets, None where it expects nothing."""

    def __init__(self, answer: str | None) -> None:
        super().__init__(answer)
        self.answer = answer


class Proxy:
    """One session of a client with a server.

    `to_client` and `to_server` take whole lines; `tell` shows a person a sentence; `on_hello` is told once, by the
    first request, who the client says it is; `own_id` begins the ids of our own requests and is used by nobody else;
    `clock` gives monotonic seconds; `holding` holds calls up that a person must approve, None where nobody is asked;
    `bounds` withholds and stores results, None where nothing is set.
    """

    def __init__(
        self,
        *,
        tools: Tools,
        calls: Calls,
        texts: ModelTexts,
        to_client: Callable[[bytes], None],
        to_server: Callable[[bytes], None],
        tell: Callable[[str], None],
        on_hello: Callable[[str | None], None],
        own_id: str,
        clock: Callable[[], float],
        holding: Holding | None = None,
        bounds: Bounds | None = None,
    ) -> None:
        self._tools = tools
        self._calls = calls
        self._texts = texts
        self._to_client = to_client
        self._to_server = to_server
        self._tell = tell
        self._on_hello: Callable[[str | None], None] | None = on_hello
        self._holding = holding
        self._bounds = bounds
        self._requests = Requests()
        self._ends = Ends()
        self._unlisted = Unlisted(tools=tools, requests=self._requests, send=to_server, own_id=own_id, clock=clock)
        self._replies = Replies(
            tools=tools,
            calls=calls,
            requests=self._requests,
            ends=self._ends,
            unlisted=self._unlisted,
            bounds=bounds,
        )

    @property
    def holds_lines(self) -> bool:
        """Whether something of the client's has still to go to the server."""
        return bool(self._unlisted)

    @property
    def is_answered(self) -> bool:
        """Whether nothing that the client asked is still without an answer."""
        return not self._requests and not self._unlisted

    @property
    def deadline(self) -> float | None:
        """When to call `give_up`; None while nothing waits."""
        return self._unlisted.deadline

    def give_up(self) -> None:
        """Let what waits for a list go its way without one."""
        for line in self._unlisted.let_go():
            self._take(line, may_wait=False)

    def hang_up(self) -> None:
        """The client or the server has gone: nobody can be asked, and no call that waits for that will run."""
        if self._holding is not None:
            self._carry_out(self._holding.hang_up())

    def from_client(self, line: bytes) -> None:
        """Take a line of the client's."""
        if self._unlisted and not line.endswith(b"\n"):
            line += b"\n"  # what waits may come behind it
        self._take(line, may_wait=True)

    def from_server(self, line: bytes) -> None:
        """Take a line of the server's."""
        passed: bytes | None = line
        afterwards: list[Afterwards] = []
        if self._replies.matter:
            try:
                passed, afterwards = self._replies.look_at(line)
            except Unreadable:  # a banner, say, or an answer that is nested too deeply
                passed, afterwards = self._replies.glance_at(line)
            except Exception as error:  # a boundary: a fault of ours must not lose what the server says
                self._tell(f"a message of the server was not looked at, by a fault of ours ({_named(error)})")
        if passed is not None and self._bounds is not None:
            passed, back = self._bounds.clean(passed)
            if back is not None:
                self._to_server(back)
        if passed is not None:
            self._to_client(passed)
        for act in afterwards:  # the client need not wait for it
            act()
        for waiting in self._unlisted.listed() if self._unlisted else ():
            self._take(waiting, may_wait=True)

    # From the client.

    def _take(self, line: bytes, *, may_wait: bool) -> None:
        try:
            self._pass(line, may_wait=may_wait)
        except Exception as error:  # a boundary: a fault of ours must not end the session, nor let a call slip by
            self._tell(f"a message was not passed on, by a fault of ours ({_named(error)})")
            for answer in self._stumbled_over(line):
                self._answer(answer)

    def _stumbled_over(self, line: bytes) -> list[str]:
        """Return the errors for a line that a fault of ours keeps from the server, and end the calls it made."""
        why = f"{_NOT_PASSED_ON}, by a fault of its own"
        answers = []
        with suppress(Exception):  # within the boundary: it may be the reading that fails
            text, message = wire.read_line(line)
            for start, part in wire.parts(text, message):
                if isinstance(part, dict) and "id" in part and "method" in part:
                    answers.append(_error(text, start, part, INTERNAL_ERROR, why) or "")
                    asked = self._requests.take(part["id"])
                    if asked is not None and asked.opened is not None:
                        self._calls.answered(asked.opened)
                        asked.opened.settle(INTERRUPTED)
        return answers or [error_answer("null", INTERNAL_ERROR, why)]

    def _pass(self, line: bytes, *, may_wait: bool) -> None:
        if not line.strip():
            self._to_server(line)
            return
        try:
            text, message = wire.read_line(line)
            if (made := wire.one_line(line)) is not line:
                line = made
                text, message = wire.read_line(line)
            parts = wire.parts(text, message)
        except Unreadable as error:
            self._answer(error_answer("null", PARSE_ERROR, f"{_NOT_PASSED_ON}: {error}"))
            return
        if may_wait and any(self._unlisted.must_wait(part) for _, part in parts):
            self._unlisted.hold(line, [part for _, part in parts])
            return
        cuts: list[Cut] = []
        refused: list[int] = []
        answers: list[str] = []
        for index, (start, part) in enumerate(parts):
            try:
                cuts += self._asked(text, start, part)
            except _Refused as refusal:
                refused.append(index)
                answers += [refusal.answer] if refusal.answer is not None else []
        if not refused:
            self._to_server(wire.one_line(wire.applied(text, cuts).encode("utf-8")) if cuts else line)
        elif len(refused) < len(parts):  # of a batch
            self._to_server(wire.one_line(wire.rest_of_array(text, cuts, refused).encode("utf-8")))
        if answers:
            self._answer(f"[{','.join(answers)}]" if isinstance(message, list) else answers[0])

    def _answer(self, text: str) -> None:
        self._to_client(text.encode("utf-8", "surrogatepass") + b"\n")

    def _asked(self, text: str, start: int, message: object) -> list[Cut]:
        """Return what is cut out of a message that goes on. Raises `_Refused` for one that does not."""
        if isinstance(message, list):
            raise _Refused(error_answer("null", INVALID_REQUEST, f"{_NOT_PASSED_ON}: a batch inside a batch"))
        if not isinstance(message, dict):
            return []
        if self._holding is not None and "method" not in message and self._holding.is_own(message.get("id")):
            self._carry_out(self._holding.answered(message))
            raise _Refused(None)
        if (why := ambiguity(message)) is not None:
            raise _Refused(_error(text, start, message, INVALID_REQUEST, f"{_NOT_PASSED_ON}: {why}"))
        if "method" not in message:
            return []
        method, params = message["method"], message.get("params")
        if self._on_hello is not None and "id" in message:
            hello, self._on_hello = self._on_hello, None
            hello(client_name(params))
        if self._holding is not None and method == "initialize":
            self._holding.greeted(params)
        if method == CALL:
            return self._called(text, start, message)
        if "id" in message:
            self._expect(message["id"], asked_by(method, params))
        elif method == "notifications/cancelled" and isinstance(params, dict):
            self._cancelled(params.get("requestId"))
        return []

    def _called(self, text: str, start: int, message: dict[str, Any]) -> list[Cut]:
        if not is_call(message):
            if self._tools.may_require or self._holding is not None:
                why = f"{_NOT_PASSED_ON}: a call needs `params` with the `name` of a tool"
                raise _Refused(_error(text, start, message, INVALID_PARAMS, why))
            if "id" in message:
                self._expect(message["id"], Asked("other"))
            return []
        params = message["params"]
        name, arguments = params["name"], params.get("arguments")
        call_id = client_call_id(params, message.get("id"))
        settings = self._tools.settings_for(name)
        tool = self._tools.find(name)
        if tool is None:
            tool = KnownTool(name, "nothing", settings, None)
            if settings.policy == "require":
                why = self._texts.rejections["unlisted"].format(tool=name[:40])
                self._calls.refuse(tool, arguments, call_id, why)
                raise self._refusal(text, start, message, why)
        sent = SentCall(text, start, message, stripped(text, start, tool, arguments))
        opened = None
        if self._holding is not None and self._holding.is_own(params.get("requestState")):
            sent = self._sent_again(self._holding, tool, sent)
        else:
            opened = self._resumed(tool, params)
        if opened is None:
            opened, sent = self._opened(tool, sent, call_id)
        if sent.has_id:
            self._expect(message["id"], Asked("call", opened))
            self._calls.expect(opened)
        return sent.cuts

    def _opened(self, tool: KnownTool, sent: SentCall, call_id: str) -> tuple[OpenCall, SentCall]:
        """Return a call that goes on, and what goes on of it. Raises `_Refused` for one that does not, or not yet."""
        try:
            opened = self._calls.open(tool, sent.params.get("arguments"), call_id)
            admitted = sent if self._holding is None else self._holding.admit(opened, tool, sent)
            if admitted is not None:
                return opened, admitted
        except (IntentRejected, CallDenied, LedgerError) as error:
            raise self._refusal(sent.text, sent.start, sent.message, str(error)) from error
        if not is_of_results(sent.params):  # otherwise it may never be sent again
            self._calls.expect(opened)
        raise _Refused(None)

    def _sent_again(self, holding: Holding, tool: KnownTool, sent: SentCall) -> SentCall:
        """Take a call that is sent again with what a person said of it; the server is told nothing of that.

        Returns it as a new one where it is not the call that was asked about. Raises `_Refused` otherwise.
        """
        sent = sent.with_answers(holding.first_answers(sent.params["requestState"]))
        call = self._calls.read(tool, sent.params.get("arguments"))
        outcomes = holding.sent_again(sent, None if call is None else call.arguments)
        if outcomes is None:
            return sent
        self._carry_out(outcomes)
        raise _Refused(None)

    def _carry_out(self, outcomes: list[Outcome]) -> None:
        """Do what was decided about calls that were held up."""
        for held, kind, why in outcomes:
            sent = held.sent
            if kind == "run":
                self._expect(sent.message["id"], Asked("call", held.opened))
                self._calls.expect(held.opened)
                self._to_server(sent.line)
                continue
            self._calls.answered(held.opened)
            if kind == "refuse":
                self._answer(refusal(sent.raw_id, sent.params, why))

    def _resumed(self, tool: KnownTool, params: dict[str, Any]) -> OpenCall | None:
        """Return the call that these parameters send again, with what a person said."""
        if not self._ends.may_resume(tool.name, params):
            return None
        call = self._calls.read(tool, params.get("arguments"))
        return None if call is None else self._ends.resumed(tool.name, params, call.arguments)

    def _expect(self, request_id: object, asked: Asked) -> None:
        displaced = self._requests.add(request_id, asked)
        if displaced is not None and displaced.opened is not None:  # which of them is answered, nobody can tell
            self._calls.answered(displaced.opened)
            displaced.opened.settle(INTERRUPTED)

    def _refusal(self, text: str, start: int, message: dict[str, Any], why: str) -> _Refused:
        if "id" not in message:
            self._tell(f"a call without an id, which nobody can answer, was not passed on: {why}")
            return _Refused(None)
        return _Refused(refusal(wire.raw_member(text, start, "id") or "null", message["params"], why))

    def _cancelled(self, request_id: object) -> None:
        if request_id is not None:
            self._unlisted.call_off(request_id)
        if self._holding is not None:
            self._carry_out(self._holding.cancelled(request_id))
        asked = self._requests.take(request_id)
        if asked is not None and asked.opened is not None:
            self._calls.answered(asked.opened)
            asked.opened.settle(CANCELLED)
        self._unlisted.see_to_it()


def _error(text: str, start: int, message: dict[str, Any], code: int, why: str) -> str | None:
    """Return the error that answers a message, with its id as the client spelt it; None for a notification."""
    return error_answer(wire.raw_member(text, start, "id") or "null", code, why) if "id" in message else None


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
