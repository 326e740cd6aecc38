"""The seams of the pipeline, each with its promise.

The values that are made for every call are named tuples: a frozen dataclass takes five times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol

from pi_intent.events import FileChange, OutcomePatch, ToolEvent, ToolExecutionEnd, ToolExecutionStart
from pi_intent.types import Code, Flag, JSONObject, Policy, Profile, Status

type Sink = Callable[[ToolEvent], None]
"""A plain function that is told every event.

- Called on the loop, in order for one call, after the journal; it must return at once.
- It may raise: that is counted, reported once, and stops neither the call nor the other sinks.
- What it is given is literal text of the model: what leaves the process is redacted by whoever sends it.
"""


class CallContext(NamedTuple):
    """What the ledger keeps of a call beside its start event.

    `turn` counts the assistant messages of the session from 1; `bytes_in` is the size of the arguments as the
    tool gets them, as JSON in UTF-8; `redact_args` withholds every text of the call from what leaves the process.
    """

    turn: int
    policy: Policy
    profile: Profile
    bytes_in: int
    redact_args: bool = False


class Settlement(NamedTuple):
    """How a call ended, as a host adapter reads it off the tool's result.

    `result` is the host's own object; `error` is the text of a failure; `bytes_out` the size in UTF-8 of the text
    the model gets; `ran_args` the arguments the tool really got, where another extension changed them; `given` the
    names of the credentials that it got.
    """

    status: Status
    is_error: bool
    result: Any = None
    error: str | None = None
    outcome: str | None = None
    outcome_patch: OutcomePatch | None = None
    facts: str | None = None
    codes: tuple[Code, ...] = ()
    files: tuple[FileChange, ...] = ()
    bytes_out: int = 0
    ran_args: JSONObject | None = None
    flags: tuple[Flag, ...] = ()
    given: tuple[str, ...] = ()


DecidedBy = Literal["person", "application", "grant", "permission", "nobody", "length", "failure", "cancelled"]
"""`person`: was asked · `application`: the program around the agent answered, and who stands behind that is not
known · `grant`: this exact call was approved before, for the session · `permission`: a setting or a checker
governs what the tool touches · `nobody`: nobody could be asked · `failure`: asking failed · `cancelled`: the call
ended while somebody was asked."""


class Decision(NamedTuple):
    """What came of asking about a call; `approved` is None while it waits.

    `number` counts the questions on one call from 1; `reasons` say why it was asked about; `digest` names the exact
    call, under the ledger's key; `shown` is what was on the person's screen; `note` is what the model was told.
    """

    call_id: str
    number: int
    reasons: tuple[str, ...]
    digest: str | None = None
    approved: bool | None = None
    by: DecidedBy | None = None
    scope: Literal["once", "session"] | None = None
    note: str | None = None
    shown: str | None = None


class Journal(Protocol):
    """The ledger's side of one session.

    - `opened` is called once a call, before the tool runs, and returns when the record is in the kernel's hands.
      It raises `LedgerError` under `strict` only: the call is then vetoed. Otherwise it never raises.
    - `closed` is called once for each opened call, also while a task is being cancelled, and never raises. Where a
      call is let go without an end, another process may go on with it: there it is `resumed` instead of opened.
    - `decided` is called between the two, whenever somebody is asked and whenever that is decided. It raises
      `LedgerError` under `strict` only: the call is then vetoed.
    - None of them awaits, sleeps or starts a thread.
    """

    def opened(self, start: ToolExecutionStart, context: CallContext) -> None: ...

    def resumed(self, start: ToolExecutionStart, context: CallContext) -> None: ...

    def decided(self, decision: Decision) -> None: ...

    def closed(self, end: ToolExecutionEnd, settlement: Settlement) -> None: ...
