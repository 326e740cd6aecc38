"""Batches, tasks, calls without an id and a server's own questions, where calls are held up."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_check_in_desk import ASKS, Client, decided, reached
from mcp_desk import Desk, line

from pi_intent.hosts.mcp.questions import DENY, ONCE


def test_a_call_of_a_batch_is_held_up_alone(modern: bool):
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=modern)
    client.call(0, text="x")
    params = client.calls[0]
    client.choose(DENY)
    desk.client.clear()
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    client.calls[1] = params
    desk.proxy.from_client(line([{"jsonrpc": "2.0", "id": 7, "method": "ping"}, call]))
    assert desk.sent() == [[{"jsonrpc": "2.0", "id": 7, "method": "ping"}]]
    client.choose(ONCE, number=1)
    assert desk.sent()[1:] == [call]


def test_answers_in_a_batch_are_taken_and_the_rest_goes_on():
    desk = Desk(environ=ASKS)
    client = Client(desk)
    client.call(1, text="x")
    (question,) = client.questions()
    answer = {"jsonrpc": "2.0", "id": question.key, "result": {"action": "decline"}}
    theirs = {"jsonrpc": "2.0", "id": "s", "result": {}}
    desk.proxy.from_client(line([theirs, answer]))
    assert desk.sent() == [[theirs]]
    assert desk.ends() == ["denied"]


def test_a_task_is_held_up_and_told_no_by_an_error():
    desk = Desk(environ=ASKS)
    client = Client(desk)
    client.call(1, more={"task": {"ttl": 1}}, text="x")
    client.choose(ONCE)
    assert reached(desk) == [{"name": "echo", "arguments": {"text": "x"}, "task": {"ttl": 1}}]
    client.call(2, more={"task": {"ttl": 1}}, text="y")
    client.choose(DENY)
    assert desk.said()[-1]["error"]["code"] == -32602
    assert len(reached(desk)) == 1


def test_a_call_without_an_id_asks_nobody_and_does_not_run():
    desk = Desk(environ=ASKS)
    Client(desk)
    params = {"name": "echo", "arguments": {"text": "x"}}
    desk.proxy.from_client(line({"jsonrpc": "2.0", "method": "tools/call", "params": params}))
    assert (desk.sent(), desk.client, desk.ends()) == ([], [], ["denied"])
    assert "which nobody can answer" in desk.told[0]


@pytest.mark.parametrize("key", ["asks-", "asks-2", "asks-01", "asks_1", "pi-intent-asks-1", "1", 1, 1.0], ids=repr)
def test_a_servers_own_question_passes_whatever_its_id(key: Any):
    desk = Desk(environ=ASKS)
    client = Client(desk)
    client.call(1, text="x")
    theirs = line({"jsonrpc": "2.0", "id": key, "method": "elicitation/create", "params": {"message": "?"}})
    desk.proxy.from_server(theirs)
    assert desk.client[-1] == theirs.decode()
    answer = line({"jsonrpc": "2.0", "id": key, "result": {"action": "accept", "content": {"decision": ONCE}}})
    desk.proxy.from_client(answer)
    assert desk.server == [answer.decode()]
    assert desk.ends() == []


def test_an_answer_never_reaches_the_server_whether_it_is_wanted_or_not():
    desk = Desk(environ=ASKS)
    client = Client(desk)
    client.call(1, text="x")
    (question,) = client.questions()
    for _ in range(3):
        client.reply(question, {"action": "decline"})
    assert desk.sent() == []


def test_a_server_that_goes_or_a_client_that_ends_leaves_nothing_waiting(modern: bool):
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=modern)
    client.call(1, text="x")
    client.call(2, text="y")
    asked = len(client.questions())
    desk.proxy.hang_up()
    desk.proxy.hang_up()
    assert desk.ends() == ["interrupted"] * 2
    assert [by for approved, by in decided(desk) if approved is not None] == ["cancelled"] * asked
    withdrawn = [message for message in desk.said() if message.get("method") == "notifications/cancelled"]
    assert len(withdrawn) == (0 if modern else 1)
    assert len(client.refusals()) == (0 if modern else 2)
    client.choose(ONCE, number=3)
    assert reached(desk) == []
    client.call(4, text="z")
    assert decided(desk)[-1] == (False, "nobody")
