"""Fold events into the labels of calls, and into one header for the group of calls that runs.

A board reads no clock: whoever draws says what time it is. Its texts are those of models and tools as they wrote
them; a screen makes them safe when it draws. One board follows one session.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Any, Literal, NamedTuple, assert_never

from pi_intent.contract.rows import target_argument
from pi_intent.events import (
    CheckInDecision,
    CheckInRequest,
    GroupSummary,
    ToolEvent,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    ToolIntentUpdate,
)
from pi_intent.labels.lifecycle import FIRST, LAST, CallChange, State, next_state, step_of
from pi_intent.labels.printable import printable
from pi_intent.labels.settled import seen, settled_text
from pi_intent.types import IntentSource, JSONObject, Status

HEADER_STAYS_MS = 200
"""How long a header can be read before another one takes its place."""

KEPT = 1000
"""How many calls and groups, taken together, a board keeps."""

IN_BACKGROUND = " · in background"
"""What is drawn after the text of a call that was moved to the background and has not ended there."""

_REMEMBERED = 1000  # groups let go of, whose late events must not bring them back

Phase = Literal["summary", "in_flight", "settled", "count"]
"""Whose words a header has: the host's summary, those of the latest call in flight that has a text, of the latest
settled one that has, or nobody's, which leaves the number of calls."""

type _GroupKey = tuple[str, str]


class CallLabel(NamedTuple):
    """One call as a screen shows it; a named tuple, because every event makes a new one.

    `text` is None where there is nothing to say but the target; once `status` is there nothing changes any more.
    For every status but `ok` the text is the intent as stated, and it is for the screen to say that it failed.
    `target` is the command or the path that the call is aimed at.
    """

    call_id: str
    tool_call_id: str
    session_id: str
    agent_id: str
    group_id: str
    tool_name: str
    state: State = FIRST
    status: Status | None = None
    text: str | None = None
    intent_source: IntentSource = "absent"
    target: str | None = None
    facts: str | None = None
    backgrounded: bool = False
    parent_tool_call_id: str | None = None
    tool_source: str | None = None


_IDENTITY = ("call_id", "tool_call_id", "session_id", "agent_id", "group_id", "tool_name")


class GroupHeader(NamedTuple):
    """What a group of calls is about, in one line; `call` is the one whose words it has."""

    session_id: str
    group_id: str
    phase: Phase
    text: str
    tools: tuple[str, ...]
    calls: int
    in_flight: int
    call: CallLabel | None = None

    @property
    def subject(self) -> tuple[str, str, str]:
        """What it speaks of: a header may take the place of one with the same subject at once."""
        return self.session_id, self.group_id, self.phase if self.call is None else f"call {self.call.call_id}"

    @property
    def tail(self) -> str:
        """What is drawn after the text, however much of that is cut: the distinct tools."""
        return self._background + (f" · {', '.join(self.tools)}" if self.tools else "")

    @property
    def accessible_text(self) -> str:
        """The header for whoever hears it: with the number of calls."""
        names = f": {', '.join(self.tools)}" if self.tools else ""
        said = "" if self.phase == "count" else f"{self.text}{self._background} · "
        return f"{said}{_tools(self.calls)}{names}"

    @property
    def _background(self) -> str:
        return IN_BACKGROUND if self.call is not None and self.call.backgrounded else ""


class _Call:
    __slots__ = ("label", "seq", "text_seq")

    def __init__(self, label: CallLabel) -> None:
        self.label = label
        self.seq = self.text_seq = 0  # of the newest event, and of the one that has given the text


class _Group:
    __slots__ = ("calls", "summary", "summary_seq")

    def __init__(self) -> None:
        self.calls: dict[str, _Call] = {}
        self.summary: str | None = None
        self.summary_seq = 0

    @property
    def is_settled(self) -> bool:
        return all(call.label.state == LAST for call in self.calls.values())


class LabelBoard:
    """The labels of one session's calls, and the header of its latest group.

    Events may come twice, late, in any order, or not at all: nothing raises, a call settles once, and what has
    settled stays as it is. Groups and calls keep the place in which they first appeared.
    """

    def __init__(self, *, kept: int = KEPT) -> None:
        self._kept = kept
        self._calls: dict[str, _Call] = {}
        self._groups: dict[_GroupKey, _Group] = {}
        self._forgotten: dict[_GroupKey, None] = {}
        self._latest: GroupHeader | None = None
        self._shown: GroupHeader | None = None
        self._shown_since: float | None = None

    @property
    def labels(self) -> tuple[CallLabel, ...]:
        """The calls, group by group, in the order of their appearance; the oldest are let go of after a while."""
        return tuple(call.label for group in self._groups.values() for call in group.calls.values())

    @property
    def header(self) -> GroupHeader | None:
        """The header of the latest group as things stand; for a screen there is `header_at`."""
        return self._latest

    def header_at(self, now_ms: float) -> GroupHeader | None:
        """Return the header to show at a time: one is never replaced before it has been there for 200 ms."""
        due = self.header_due_ms
        return self._shown if due is not None and now_ms < due else self._latest

    @property
    def header_due_ms(self) -> float | None:
        """When another header takes the place of the one that is shown, None where none is waiting to."""
        if self._shown_since is None or _same_subject(self._latest, self._shown):
            return None
        return self._shown_since + HEADER_STAYS_MS

    def apply(self, event: ToolEvent, now_ms: float | None = None) -> None:
        """Take in an event that came at a time, of any clock that only goes forward; without one nothing waits."""
        due = self.header_due_ms
        if due is not None and now_ms is not None and now_ms >= due:
            self._shown, self._shown_since = self._latest, due
        if isinstance(event, GroupSummary):
            self._summarise(event)
        else:
            self._change(event)
        self._forget()
        self._latest = self._header()
        due = self.header_due_ms
        if due is None or now_ms is None or now_ms >= due:
            if not _same_subject(self._latest, self._shown):
                self._shown_since = now_ms
            self._shown = self._latest

    def _summarise(self, event: GroupSummary) -> None:
        group = self._group((event.session_id, event.group_id))
        if group is not None and seen(event.text) and event.seq >= group.summary_seq:
            group.summary, group.summary_seq = event.text, event.seq

    def _change(self, event: CallChange) -> None:
        call = self._calls.get(event.call_id) or self._appear(event)
        if call is None or call.label.state == LAST:
            return
        label, step = call.label, step_of(event)
        late, newer_text = event.seq < call.seq, event.seq >= call.text_seq
        state = label.state if step is None or (late and step != "ended") else next_state(label.state, step)
        changes: dict[str, Any] = {}
        match event:
            case ToolIntentUpdate():
                # A part of an intent never takes the place of a whole one.
                if newer_text and (step == "complete" or (step == "growing" and state == "streaming")):
                    changes = {"text": event.intent, "intent_source": "model"}
            case ToolExecutionStart():
                changes = {"parent_tool_call_id": event.parent_tool_call_id, "tool_source": event.tool_source}
                if newer_text:
                    changes |= {"text": seen(event.intent), "intent_source": event.intent_source}
                if not late:
                    changes["target"] = _target(event.tool_name, event.args)
            case ToolExecutionUpdate():
                if not late:
                    changes["target"] = _target(event.tool_name, event.args)
                    if event.backgrounded is not None:
                        changes["backgrounded"] = event.backgrounded
            case ToolExecutionEnd():
                text = settled_text(label.text, event.status, event.outcome, event.outcome_patch)
                changes = {"text": text, "status": event.status, "facts": event.facts, "backgrounded": False}
            case CheckInRequest() | CheckInDecision():
                pass
            case _:
                assert_never(event)
        if "text" in changes:
            call.text_seq = event.seq
        if not isinstance(event, ToolIntentUpdate):  # its order is that of the texts
            call.seq = max(call.seq, event.seq)
        call.label = label._replace(state=state, **changes)

    def _appear(self, event: CallChange) -> _Call | None:
        group = self._group((event.session_id, event.group_id))
        if group is None:
            return None
        call = _Call(CallLabel(**{name: getattr(event, name) for name in _IDENTITY}))
        self._calls[event.call_id] = group.calls[event.call_id] = call
        return call

    def _group(self, key: _GroupKey) -> _Group | None:
        """Return a group, a new one where it is not known, None where it was let go of."""
        if key in self._forgotten:
            return None
        return self._groups.setdefault(key, _Group())

    def _forget(self) -> None:
        """Let go of the oldest groups but the latest; those that still run go last."""
        while len(self._calls) + len(self._groups) > self._kept and len(self._groups) > 1:
            earlier = islice(self._groups.items(), len(self._groups) - 1)
            oldest = next(iter(self._groups))
            key = next((key for key, group in earlier if group.is_settled), oldest)
            for call_id in self._groups.pop(key).calls:
                del self._calls[call_id]
            self._forgotten[key] = None
            if len(self._forgotten) > _REMEMBERED:
                del self._forgotten[next(iter(self._forgotten))]

    def _header(self) -> GroupHeader | None:
        if not self._groups:
            return None
        (session_id, group_id), group = next(reversed(self._groups.items()))
        in_flight = 0
        flying: CallLabel | None = None
        settled: CallLabel | None = None
        for label in (call.label for call in group.calls.values()):
            if label.state != LAST:
                in_flight += 1
                flying = flying if label.text is None else label
            elif label.text is not None:
                settled = label
        speaks = None if group.summary else flying or settled
        phase: Phase
        if group.summary:
            phase, text = "summary", group.summary
        elif speaks is None or speaks.text is None:
            phase, text = "count", _tools(len(group.calls))
        else:
            phase, text = "in_flight" if speaks is flying else "settled", speaks.text
        return GroupHeader(
            session_id=session_id,
            group_id=group_id,
            phase=phase,
            text=text,
            tools=tuple(dict.fromkeys(call.label.tool_name for call in group.calls.values())),
            calls=len(group.calls),
            in_flight=in_flight,
            call=speaks,
        )


def twin_tails(labels: Iterable[CallLabel], *, width: int = 120) -> dict[str, str]:
    """Return, by `call_id`, what is drawn after texts that look the same in one group: what each call is aimed at.

    Calls that nobody confuses are not in it, and the labels stay as they are. A target may have many lines.
    """
    drawn = {
        label: (label.session_id, label.group_id, printable(label.text, width=width))
        for label in labels
        if label.text is not None
    }
    times = Counter(drawn.values())
    return {
        label.call_id: f" · {label.target or label.tool_name}" for label, looks in drawn.items() if times[looks] > 1
    }


def _same_subject(one: GroupHeader | None, other: GroupHeader | None) -> bool:
    return one is not None and other is not None and one.subject == other.subject


def _target(tool_name: str, args: JSONObject) -> str | None:
    match target_argument(tool_name, args):
        case str(target) if target.strip():
            return target
        case {"bytes": int(size)}:  # what others are told of a long one
            return f"({size} bytes)"
        case _:
            return None


def _tools(count: int) -> str:
    return f"{count} tool{'' if count == 1 else 's'}"
