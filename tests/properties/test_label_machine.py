"""A board is walked through any session, with events twice, late or never, and keeps its promises all the way."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from pi_intent.events import (
    CheckInDecision,
    CheckInRequest,
    GroupSummary,
    OutcomePatch,
    ToolEvent,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    ToolIntentUpdate,
    event_to_json,
    parse_event,
)
from pi_intent.labels.board import HEADER_STAYS_MS, CallLabel, GroupHeader, LabelBoard, twin_tails
from pi_intent.labels.lifecycle import LAST, TRANSITIONS

GROUPS = st.sampled_from(["g1", "g2", "g3", "g4", "g5", "g6"])
TOOLS = st.sampled_from(["read", "bash", "mcp/x"])
TEXTS = st.sampled_from(["Run", "Run the tests", "Look at {{it}}", "", " \u200b", "a\ud800\x1b[31m"])
MAYBE_TEXT = st.none() | TEXTS
ARGUMENTS = st.sampled_from([{}, {"path": "a.py"}, {"command": "ls\nrm"}, {"path": 5}, {"command": " "}])
STATUSES = st.sampled_from(["ok", "ok", "error", "rejected", "denied", "cancelled", "interrupted", "timeout"])
PATCHES = st.sampled_from([None, OutcomePatch(from_="Run", to="Ran"), OutcomePatch(from_="", to="x")])

KEPT = 12
TICK = 50  # ms: the clock moves by it, and 200 is a multiple, so that no change is overlooked


class Session(RuleBasedStateMachine):
    calls = Bundle("calls")

    @initialize()
    def begin(self) -> None:
        self.board = LabelBoard(kept=KEPT)
        self.now = 0
        self.seq = 0
        self.events: list[ToolEvent] = []  # as they came
        self.delayed: list[ToolEvent] = []
        self.groups: list[str] = []  # in the order of their first event
        self.settled: dict[str, CallLabel] = {}
        self.gone: set[str] = set()
        self.last_speaker: dict[str, int] = {}  # by group: place of the settled call whose words the header last had
        self.truths: list[GroupHeader] = []
        self.seen_truth = 0
        self.shown_since: tuple[GroupHeader, int] | None = None

    # What can happen

    def identity(self, call: tuple[str, str, str]) -> dict[str, Any]:
        call_id, group, tool = call
        return {**self.place(group), "call_id": call_id, "tool_call_id": call_id, "tool_name": tool}

    def place(self, group: str) -> dict[str, Any]:
        self.seq += 1
        return {"session_id": "s", "agent_id": "main", "group_id": group, "seq": self.seq, "host": "tau"}

    def tell(self, event: ToolEvent, late: bool = False) -> None:
        if late:
            self.delayed.append(event)
            return
        before = {label.call_id: label for label in self.board.labels}
        self.board.apply(event, self.now)
        self.events.append(event)
        after = {label.call_id: label for label in self.board.labels}
        if event.group_id not in self.groups:
            self.groups.append(event.group_id)
        self.check_labels(event, before, after)
        header = self.board.header
        assert header is not None
        self.check_header(header, after)
        self.truths.append(header)

    @rule(target=calls, number=st.integers(0, 5), group=GROUPS, tool=TOOLS)
    def know_a_call(self, number: int, group: str, tool: str) -> tuple[str, str, str]:
        return f"{group} {tool} {number}", group, tool  # an id belongs to one call: its group and tool never change

    @rule(target=calls, group=GROUPS, size=st.integers(2, 5), intent=TEXTS)
    def start_siblings(self, group: str, size: int, intent: str) -> Any:
        siblings = [(f"{group} sibling {number}", group, "bash") for number in range(size)]
        for call in siblings:
            self.starts(call, intent, {}, False)
        return multiple(*siblings)

    @rule(call=calls, intent=TEXTS, complete=st.booleans(), late=st.booleans())
    def writes(self, call: tuple[str, str, str], intent: str, complete: bool, late: bool) -> None:
        self.tell(ToolIntentUpdate(**self.identity(call), intent=intent, complete=complete), late)

    @rule(call=calls, intent=MAYBE_TEXT, args=ARGUMENTS, late=st.booleans())
    def starts(self, call: tuple[str, str, str], intent: str | None, args: Any, late: bool) -> None:
        source = "absent" if intent is None else "model"
        self.tell(ToolExecutionStart(**self.identity(call), args=args, intent=intent, intent_source=source), late)

    @rule(call=calls, args=ARGUMENTS, backgrounded=st.sampled_from([None, True, False]), late=st.booleans())
    def goes_on(self, call: tuple[str, str, str], args: Any, backgrounded: bool | None, late: bool) -> None:
        self.tell(ToolExecutionUpdate(**self.identity(call), args=args, backgrounded=backgrounded), late)

    @rule(call=calls, late=st.booleans())
    def asks(self, call: tuple[str, str, str], late: bool) -> None:
        self.tell(CheckInRequest(**self.identity(call), request="x"), late)

    @rule(call=calls, approved=st.booleans(), late=st.booleans())
    def decides(self, call: tuple[str, str, str], approved: bool, late: bool) -> None:
        self.tell(CheckInDecision(**self.identity(call), approved=approved, by="person"), late)

    @rule(call=calls, status=STATUSES, outcome=MAYBE_TEXT, patch=PATCHES, late=st.booleans())
    def ends(self, call: tuple[str, str, str], status: Any, outcome: Any, patch: Any, late: bool) -> None:
        failed = status != "ok"
        identity = self.identity(call)
        end = ToolExecutionEnd(
            **identity, status=status, is_error=failed, duration_ms=1, outcome=outcome, outcome_patch=patch
        )
        self.tell(end, late)

    @rule(group=GROUPS, text=TEXTS)
    def sums_up(self, group: str, text: str) -> None:
        self.tell(GroupSummary(**self.place(group), text=text))

    @rule(data=st.data())
    def a_late_event_arrives(self, data: st.DataObject) -> None:
        if self.delayed:
            self.tell(self.delayed.pop(data.draw(st.integers(0, len(self.delayed) - 1))))

    @rule(data=st.data())
    def an_event_comes_again(self, data: st.DataObject) -> None:
        if self.events:
            self.tell(self.events[data.draw(st.integers(0, len(self.events) - 1))])

    @rule(ticks=st.integers(1, 6))
    def time_passes(self, ticks: int) -> None:
        for _ in range(ticks):
            self.now += TICK
            self.check_what_is_shown()

    # What must hold

    def check_labels(self, event: ToolEvent, before: dict[str, CallLabel], after: dict[str, CallLabel]) -> None:
        for call_id, label in before.items():
            now = after.get(call_id)
            if now is None:
                self.gone.add(call_id)
            elif now != label:
                assert call_id == event.call_id  # nothing but the call at hand changes
                assert now.state == label.state or now.state in TRANSITIONS[label.state].values()
        assert not self.gone & after.keys()  # what was let go of does not come back
        assert len(after) <= max(KEPT, sum(label.group_id == self.latest_group() for label in after.values()))
        for call_id, label in after.items():
            assert (label.state == LAST) == (label.status is not None)
            assert label.text is None or label.text.strip(" \u200b")
            assert self.settled.get(call_id, label) == label
            if label.state == LAST:
                assert not label.backgrounded
                self.settled[call_id] = label

    def latest_group(self) -> str:
        header = self.board.header
        assert header is not None
        return header.group_id

    def check_header(self, header: GroupHeader, labels: dict[str, CallLabel]) -> None:
        if self.truths:
            assert self.groups.index(header.group_id) >= self.groups.index(self.truths[-1].group_id)
            if self.truths[-1].phase == "summary" and self.truths[-1].group_id == header.group_id:
                assert header.phase == "summary"
        group = [label for label in labels.values() if label.group_id == header.group_id]
        in_flight = [label for label in group if label.status is None]
        assert (header.calls, header.in_flight) == (len(group), len(in_flight))
        assert set(header.tools) == {label.tool_name for label in group}
        if header.phase == "count":
            assert {label.text for label in group} <= {None}
        if header.call is not None:
            assert (header.call, header.text) == (labels[header.call.call_id], header.call.text)
            place = group.index(header.call)
            later = {label.text for label in group[place + 1 :] if header.phase == "settled" or label in in_flight}
            assert later <= {None}
            if header.phase == "settled":
                assert {label.text for label in in_flight} <= {None}
                assert place >= self.last_speaker.get(header.group_id, 0)  # it never goes back in time
                self.last_speaker[header.group_id] = place

    @invariant()
    def check_what_is_shown(self) -> None:
        shown = self.board.header_at(self.now)
        if shown is None:
            assert self.truths == []
            return
        # What is shown has been true, and never before what was shown earlier.
        assert shown in self.truths[self.seen_truth :]
        self.seen_truth += self.truths[self.seen_truth :].index(shown)
        if self.shown_since is None:
            self.shown_since = shown, self.now
        elif shown.subject == self.shown_since[0].subject:
            self.shown_since = shown, self.shown_since[1]
        else:
            assert self.now >= self.shown_since[1] + HEADER_STAYS_MS
            self.shown_since = shown, self.now
        if self.now >= self.shown_since[1] + HEADER_STAYS_MS:
            assert shown == self.board.header

    @invariant()
    def twins_differ_and_have_the_same_text(self) -> None:
        labels = {label.call_id: label for label in self.board.labels}
        tails = twin_tails(labels.values())
        assert all(labels[call_id].text is not None for call_id in tails)

    def teardown(self) -> None:
        replayed = LabelBoard(kept=KEPT)
        for event in self.events:
            replayed.apply(parse_event(event_to_json(event)))
        assert (replayed.labels, replayed.header) == (self.board.labels, self.board.header)


Session.TestCase.settings = settings(max_examples=100, stateful_step_count=60, deadline=None)
TestSession = Session.TestCase
