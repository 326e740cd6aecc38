"""Calls wait for a list of the tools, the client's or one that the proxy asks for itself."""

from __future__ import annotations

from mcp_desk import ECHO, Desk, line


def test_a_tool_that_no_list_has_shown_is_asked_for_in_the_callers_words():
    desk = Desk("--policy", "require")
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "other": 1}
    desk.ask(1, "tools/call", name="echo", arguments={"intent": "See", "text": "x"}, _meta=meta)
    (asked,) = desk.sent()
    assert asked["method"] == "tools/list"
    assert asked["params"] == {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
    desk.answer(asked["id"], tools=[], nextCursor="two")
    assert desk.sent()[1]["params"]["cursor"] == "two"
    desk.answer(desk.sent()[1]["id"], tools=[ECHO])
    assert desk.client == []  # the client did not ask
    assert desk.sent()[2]["params"]["arguments"] == {"text": "x"}
    assert desk.proxy.deadline is None


def test_calls_wait_for_the_clients_own_list():
    desk = Desk("--policy", "require")
    desk.ask("list", "tools/list")
    desk.call(1, text="x")
    desk.call(2, intent="See", text="y")
    assert len(desk.server) == 1
    desk.answer("list", tools=[ECHO])
    assert [message["params"]["arguments"] for message in desk.sent()[1:]] == [{"text": "y"}]
    assert [message["id"] for message in desk.said()] == ["list", 1]
    assert desk.ends() == ["rejected"]


def test_a_tool_that_is_nowhere_is_refused_under_require_and_let_through_otherwise():
    strict, lax = Desk("--policy", "require"), Desk()
    for desk in (strict, lax):
        desk.list_tools(ECHO)
        desk.call(1, "nope", intent="See", text="x")
        desk.answer(desk.sent()[0]["id"], tools=[ECHO])
    assert len(strict.server) == 1
    assert strict.said()[0]["result"]["isError"] is True
    assert strict.ends() == ["rejected"]
    assert strict.starts()[0].intent == "See"
    assert lax.sent()[1]["params"]["arguments"] == {"intent": "See", "text": "x"}


def test_a_server_that_gives_no_list_in_time_is_not_waited_for():
    desk = Desk("--policy", "require")
    desk.call(1, intent="See", text="x")
    assert desk.proxy.deadline == 10.0
    desk.proxy.give_up()
    assert desk.proxy.deadline is None
    assert desk.said()[0]["result"]["isError"] is True


def test_a_call_that_is_cancelled_while_it_waits_never_runs():
    desk = Desk("--policy", "require")
    desk.call(1, intent="See", text="x")
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    desk.proxy.from_client(line(cancel))
    desk.answer(desk.sent()[0]["id"], tools=[ECHO])
    assert [message.get("method") for message in desk.sent()] == ["tools/list", "notifications/cancelled"]
    assert len(desk.events) == 0


def test_what_was_forgotten_by_the_last_list_is_asked_for_again():
    desk = Desk("--policy", "require")
    desk.list_tools(ECHO)
    desk.list_tools({**ECHO, "name": "new"})
    desk.call(1, intent="See", text="x")
    assert desk.sent()[0]["method"] == "tools/list"


def test_a_tool_of_an_unfinished_list_is_known():
    desk = Desk("--policy", "require")
    desk.ask(1, "tools/list")
    desk.answer(1, tools=[ECHO], nextCursor="two")
    desk.call(2, intent="See", text="x")
    assert desk.sent()[1]["params"]["arguments"] == {"text": "x"}


def test_a_page_that_is_asked_for_again_makes_no_tool_unknown():
    desk = Desk("--policy", "require")
    desk.call(0, "a", intent="See")  # before any list
    desk.answer("ours-1", tools=[{"name": "a", "inputSchema": {"type": "object"}}])
    for cursor, name, following in ((None, "a", "two"), ("two", "b", None), ("two", "b", None)):
        desk.ask(1, "tools/list", **({"cursor": cursor} if cursor else {}))
        listed = {"tools": [{"name": name, "inputSchema": {"type": "object"}}]}
        desk.answer(1, **listed, **({"nextCursor": following} if following else {}))
    desk.server.clear()
    desk.call(2, "a", intent="See")
    assert desk.sent()[0]["params"] == {"name": "a", "arguments": {}}


def test_the_answer_to_a_list_of_ours_is_taken_out_of_a_batch():
    desk = Desk("--policy", "require")
    desk.ask("p", "ping")
    desk.call(1, intent="See", text="x")
    pong = {"jsonrpc": "2.0", "id": "p", "result": {}}
    listed = {"jsonrpc": "2.0", "id": "ours-1", "result": {"tools": [ECHO]}}
    desk.proxy.from_server(line([listed, pong]))
    assert desk.said() == [[pong]]
    assert desk.sent()[-1]["params"]["arguments"] == {"text": "x"}


def test_an_answer_of_ours_that_comes_too_late_stays_with_us():
    desk = Desk("--policy", "require")
    desk.call(1, intent="See", text="x")
    desk.proxy.give_up()
    desk.client.clear()
    desk.answer("ours-1", tools=[ECHO])
    assert desk.client == []


def test_under_adaptive_a_call_waits_for_a_list_too():
    desk = Desk("--policy", "adaptive")
    desk.call(1, text="x")
    desk.answer("ours-1", tools=[ECHO])
    assert desk.ends() == ["rejected"]


def test_a_list_that_the_client_calls_off_is_asked_for_again_where_something_waits_for_it():
    desk = Desk("--policy", "require")
    desk.ask("list", "tools/list")
    desk.call(1, intent="See", text="x")
    desk.proxy.from_client(
        line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "list"}})
    )
    assert [message["method"] for message in desk.sent()] == ["tools/list", "tools/list", "notifications/cancelled"]


def test_no_call_overtakes_one_that_waits():
    desk = Desk("--policy", "require")
    desk.list_tools(ECHO)
    desk.call(1, "new", intent="Write")
    desk.call(2, intent="Read", text="x")
    desk.answer("ours-1", tools=[ECHO, {"name": "new", "inputSchema": {"type": "object"}}])
    assert [message["params"]["name"] for message in desk.sent()[1:]] == ["new", "echo"]


def test_an_answer_to_us_stays_with_us_though_it_cannot_be_read():
    desk = Desk("--policy", "require")
    desk.call(1, intent="See", text="x")
    deep = b"[" * 100_000 + b"]" * 100_000
    desk.proxy.from_server(b'{"jsonrpc":"2.0","id":"ours-1","result":' + deep + b"}\n")
    assert [message["id"] for message in desk.said()] == [1]
    assert desk.said()[0]["result"]["isError"] is True


def test_an_answer_of_ours_that_comes_twice_is_swallowed_twice():
    desk = Desk("--policy", "require")
    desk.call(1, intent="See", text="x")
    desk.answer("ours-1", tools=[ECHO])
    desk.ask("p", "ping")
    desk.answer("ours-1", tools=[ECHO])
    assert desk.client == []


def test_a_call_of_a_tool_of_page_two_waits_for_a_whole_list():
    desk = Desk("--policy", "require")
    desk.ask("list", "tools/list")
    desk.call(1, intent="See", text="x")
    desk.answer("list", tools=[{"name": "other", "inputSchema": {}}], nextCursor="two")
    assert desk.sent()[-1]["id"] == "ours-1"
    desk.answer("ours-1", tools=[ECHO])
    assert desk.sent()[-1]["params"] == {"name": "echo", "arguments": {"text": "x"}}


def test_a_list_that_comes_too_late_is_learnt_all_the_same():
    desk = Desk("--policy", "require")
    desk.call(1, intent="See", text="x")
    desk.proxy.give_up()
    desk.answer("ours-1", tools=[ECHO])
    desk.server.clear()
    desk.call(2, intent="See", text="x")
    assert desk.sent()[0]["params"]["arguments"] == {"text": "x"}
