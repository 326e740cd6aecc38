"""The live channel tells whoever watches, over real sockets, and no reader can hold up or hurt a call."""

from __future__ import annotations

import socket
from contextlib import suppress

from channel_desk import SECONDS, Desk, end, growing, identity, joined, sent, start, wire

from pi_intent.channel import MOST_READERS, QUEUED_LINES
from pi_intent.events import (
    CheckInDecision,
    CheckInRequest,
    FileChange,
    GroupSummary,
    ToolExecutionUpdate,
    event_to_json,
)


class TestReaders:
    def test_one_gets_every_event_as_it_is_on_the_wire_also_transient_ones(self, desk: Desk) -> None:
        events = [
            growing("See what"),
            growing("See what is there", complete=True),
            start(),
            CheckInRequest(**identity(), request="ls"),
            CheckInDecision(**identity(), approved=True, by="user"),
            ToolExecutionUpdate(**identity(), args={"command": "ls"}, backgrounded=True),
            end(facts="exit 0", outcome="Saw it", files=(FileChange(path="a", op="modify", pre="hmac:1"),)),
            GroupSummary(session_id="s-1", agent_id="main", group_id="g-1", seq=9, host="tau", text="Looked around"),
        ]
        expected = [wire(event) for event in events]
        expected[0]["intent"] = "See"  # the last word may go on
        assert sent(desk, *events) == expected

    def test_a_late_one_is_told_what_is_being_written_until_it_has_begun(self, desk: Desk) -> None:
        channel = desk.channel()
        channel.publish(growing("Look at the plan", complete=True, number=1))
        channel.publish(growing("Look at the log", complete=True, number=2))
        channel.publish(end(2, status="interrupted", is_error=True))
        first = desk.reader(channel)
        told = first.line()
        assert (told["type"], told["intent"]) == ("tool_intent_update", "Look at the plan")
        channel.publish(start(1, "Look at the plan"))
        assert first.line()["type"] == "tool_execution_start"
        second = desk.reader(channel)
        assert second.line() == wire(start(1, "Look at the plan"))
        channel.publish(end(1))
        assert second.line() == wire(end(1))

    def test_a_late_one_is_told_what_is_in_flight_and_no_more(self, desk: Desk) -> None:
        channel = desk.channel()
        for event in (start(1), start(2), end(1), start(3)):
            channel.publish(event)
        reader = desk.reader(channel)
        assert reader.lines(2) == [wire(start(2)), wire(start(3))]
        channel.publish(end(2))
        assert reader.line() == wire(end(2))

    def test_one_that_leaves_is_forgotten_and_the_others_go_on(self, desk: Desk) -> None:
        channel = desk.channel()
        leaving, staying = joined(desk, channel), joined(desk, channel)
        leaving.peer.shutdown(socket.SHUT_RDWR)
        for number in range(1, 200):
            channel.publish(start(number))
        # The one that left got the start and end that the second one joined on, or nothing any more.
        assert [line["callId"] for line in staying.lines(199)] == [f"{number:026d}" for number in range(1, 200)]
        assert channel._server is not None
        assert len(channel._server.readers) == 1

    def test_many_get_the_same_and_one_too_many_nothing(self, desk: Desk) -> None:
        channel = desk.channel()
        readers = [joined(desk, channel) for _ in range(MOST_READERS)]
        assert desk.reader(channel).rest() == b""
        channel.publish(start(7))
        channel.close()
        assert {reader.rest().splitlines()[-1] for reader in readers} == {event_to_json(start(7)).encode()}

    def test_what_one_sends_is_ignored(self, desk: Desk) -> None:
        channel = desk.channel()
        reader = joined(desk, channel)
        reader.peer.setblocking(False)
        with suppress(BlockingIOError):
            while True:  # until nothing more fits
                reader.peer.send(b"x" * 65_536)
        reader.peer.settimeout(SECONDS)
        channel.publish(start(1))
        assert reader.line() == wire(start(1))

    def test_one_that_only_closes_its_own_side_still_reads(self, desk: Desk) -> None:
        channel = desk.channel()
        reader = joined(desk, channel)
        reader.peer.shutdown(socket.SHUT_WR)
        channel.publish(start(1))
        assert reader.line() == wire(start(1))

    def test_one_that_never_reads_holds_up_nobody_and_is_told_what_it_missed(self, desk: Desk) -> None:
        channel = desk.channel()
        slow, quick = joined(desk, channel), joined(desk, channel)
        slow.lines(2)  # of the call on which the other one joined
        number, told = 5 * QUEUED_LINES, 0
        for first in range(0, number, 500):  # far beyond what the kernel and the queue take together
            for at in range(first, first + 500):
                channel.publish(start(at, "x" * 900))
            told += len(quick.lines(500))
        assert told == number
        channel.publish(start(number))
        assert quick.line() == wire(start(number))
        got = []
        while (line := slow.line())["type"] != "dropped":
            got.append(line)
        assert [line["seq"] for line in got] == list(range(len(got)))
        assert len(got) >= QUEUED_LINES
        assert line == {"type": "dropped", "count": number + 1 - len(got)}
        channel.publish(end(number))
        assert slow.line() == wire(end(number))
