"""What the proxy does with each message, told on its lines alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp_desk import ECHO, Desk, line

from pi_intent.events import ToolExecutionEnd, ToolExecutionStart, ToolExecutionUpdate
from pi_intent.hosts.mcp.options import read_options
from pi_intent.hosts.mcp.policy import ServerPolicy


def test_a_call_is_told_as_the_server_gets_it():
    desk = Desk("--policy", "require")
    desk.list_tools(ECHO)
    desk.call(1, intent=" See it ", rationale="README:3", text="x")
    assert desk.sent()[0]["params"]["arguments"] == {"text": "x"}
    desk.answer(1, content=[{"type": "text", "text": "ok"}], _meta={"pi-intent/outcome": {"outcome": "Saw it"}})
    start, end = desk.events
    assert isinstance(start, ToolExecutionStart)
    assert isinstance(end, ToolExecutionEnd)
    assert (start.intent, start.rationale, start.args) == ("See it", "README:3", {"text": "x"})
    assert (start.tool_call_id, start.tool_source, start.host) == ("1", "srv", "mcp")
    assert (end.status, end.outcome) == ("ok", "Saw it")


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ({"claudecode/toolUseId": "toolu_1"}, "toolu_1"),
        ({"callId": "call_1"}, "call_1"),
        ({"callId": 5}, "7"),
        ({"callId": ""}, "7"),
        ("x", "7"),
    ],
)
def test_the_clients_own_id_of_a_call_is_kept(meta: Any, expected: str):
    desk = Desk()
    desk.list_tools(ECHO)
    desk.ask(7, "tools/call", name="echo", arguments={}, _meta=meta)
    assert [start.tool_call_id for start in desk.starts()] == [expected]


def test_who_the_client_is_is_told_once():
    desk = Desk()
    desk.ask(1, "initialize", clientInfo={"name": "acme", "version": "2"})
    desk.ask(2, "ping")
    assert desk.hello == ["acme 2"]


def test_a_client_of_the_later_era_says_it_in_every_request():
    desk = Desk()
    desk.ask(1, "server/discover", _meta={"io.modelcontextprotocol/clientInfo": {"name": "acme", "version": "2"}})
    assert desk.hello == ["acme 2"]


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


def test_a_call_that_is_cancelled_ends_once_though_it_is_answered():
    desk = Desk()
    desk.list_tools(ECHO)
    desk.call(1, text="x")
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    desk.proxy.from_client(line(cancel))
    desk.answer(1, content=[])
    assert desk.ends() == ["cancelled"]
    assert len(desk.client) == 1


def test_a_question_to_a_person_keeps_one_call_open():
    desk = Desk("--policy", "require")
    desk.list_tools(ECHO)
    desk.call(1, intent="See", text="x")
    desk.answer(1, resultType="input_required", requestState="abc", inputRequests={})
    again = {"name": "echo", "arguments": {"intent": "See", "text": "x"}, "requestState": "abc", "inputResponses": {}}
    desk.ask(2, "tools/call", **again)
    assert desk.sent()[1]["params"]["arguments"] == {"text": "x"}
    assert (len(desk.starts()), desk.ends()) == (1, [])
    desk.answer(2, resultType="complete", content=[])
    assert (len(desk.starts()), desk.ends()) == (1, ["ok"])


def test_a_call_that_is_sent_again_still_has_to_say_why():
    desk = Desk("--policy", "require")
    desk.list_tools(ECHO)
    desk.call(1, intent="See", text="x")
    desk.answer(1, resultType="input_required", requestState="abc")
    desk.ask(2, "tools/call", name="echo", arguments={"text": "x"}, requestState="abc")
    assert len(desk.server) == 1
    assert desk.ends() == ["rejected"]
    desk.ask(3, "tools/call", name="echo", arguments={"intent": "See", "text": "x"}, requestState="abc")
    desk.answer(3, content=[])
    assert desk.ends() == ["rejected", "ok"]


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ({"id": 2, "result": {"content": []}}, "ok"),
        ({"id": 2, "result": {"content": [], "isError": True}}, "error"),
        ({"id": 2, "error": {"code": -1, "message": "no"}}, "error"),
        ({"method": "notifications/tasks/status", "params": {"taskId": "t", "status": "failed"}}, "error"),
        ({"method": "notifications/tasks/status", "params": {"taskId": "t", "status": "cancelled"}}, "cancelled"),
        (
            {"method": "notifications/tasks", "params": {"taskId": "t", "status": "completed", "result": {}}},
            "ok",
        ),
    ],
)
def test_a_task_settles_with_its_harvest_and_not_with_its_dispatch(message: dict[str, Any], status: str):
    desk = Desk("--policy", "require")
    desk.list_tools(ECHO)
    desk.ask(1, "tools/call", name="echo", arguments={"intent": "See", "text": "x"}, task={"ttl": 1})
    assert desk.sent()[0]["params"] == {"name": "echo", "arguments": {"text": "x"}, "task": {"ttl": 1}}
    desk.answer(1, task={"taskId": "t", "status": "working"})
    (update,) = [event for event in desk.events if isinstance(event, ToolExecutionUpdate)]
    assert update.backgrounded is True
    working = {"method": "notifications/tasks/status", "params": {"taskId": "t", "status": "working"}}
    desk.proxy.from_server(line(working))
    assert desk.ends() == []
    if "id" in message:
        desk.ask(2, "tasks/result", taskId="t")
    desk.proxy.from_server(line(message))
    desk.proxy.from_server(line(message))
    assert desk.ends() == [status]


def test_a_task_that_is_refused_is_an_error_because_no_result_is_expected():
    desk = Desk("--policy", "require")
    desk.list_tools(ECHO)
    desk.ask(1, "tools/call", name="echo", arguments={}, task={})
    assert desk.said()[0]["error"]["code"] == -32602
    assert desk.server == []


def test_a_task_that_the_client_calls_off_is_cancelled():
    desk = Desk()
    desk.list_tools(ECHO)
    desk.ask(1, "tools/call", name="echo", arguments={}, task={})
    desk.answer(1, task={"taskId": "t", "status": "working"})
    desk.ask(2, "tasks/cancel", taskId="t")
    desk.answer(2, taskId="t", status="cancelled")
    assert desk.ends() == ["cancelled"]


def test_a_request_of_the_servers_answers_nothing_though_it_has_a_number_of_the_clients():
    desk = Desk()
    desk.list_tools(ECHO)
    desk.call(1, text="x")
    desk.proxy.from_server(line({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}}))
    assert desk.ends() == []
    desk.answer(1.0, content=[])
    assert desk.ends() == ["ok"]


def test_each_refused_round_counts_once_and_adaptive_gives_in():
    desk = Desk("--policy", "adaptive")
    desk.list_tools(ECHO)
    for _ in range(3):
        desk.call(1, text="x")
        desk.call(2, text="y")  # in the same answer
        desk.now += 1
    assert desk.ends() == ["rejected"] * 6
    desk.call(3, text="z")
    assert desk.sent()[0]["params"]["arguments"] == {"text": "z"}
    assert [start.intent for start in desk.starts()][-1] == "echo"
    assert len({start.group_id for start in desk.starts()}) == 4


def test_a_tools_own_intent_is_passed_on_and_is_not_a_stated_intent():
    desk = Desk("--policy", "require")
    own = {"name": "book", "inputSchema": {"type": "object", "properties": {"intent": {"enum": ["buy", "sell"]}}}}
    assert desk.list_tools(own) == [own]
    assert len(desk.told) == 1
    assert desk.told[0].startswith("book: ")
    desk.list_tools(own)
    assert len(desk.told) == 1
    desk.call(1, "book", intent="buy")
    assert desk.sent()[0]["params"]["arguments"] == {"intent": "buy"}
    (start,) = desk.starts()
    assert (start.intent, start.args) == (None, {"intent": "buy"})


def test_a_server_cannot_get_out_of_it_with_our_mark():
    (shown,) = Desk("--policy", "require").list_tools(ECHO)
    desk = Desk("--policy", "require")
    assert desk.list_tools(shown) == [shown]
    desk.call(1, text="x")
    assert desk.server == []
    desk.call(2, intent="See", text="x")
    assert desk.sent()[0]["params"]["arguments"] == {"intent": "See", "text": "x"}  # its schema asks for it
    assert desk.starts()[-1].intent == "See"


def test_only_the_chosen_tools_are_asked():
    other = {**ECHO, "name": "other_tool"}
    assert Desk("--tools", "ec*").list_tools(ECHO, other)[1] == other
    assert Desk("--exempt", "other-*").list_tools(ECHO, other)[1] == other
    desk = Desk("--policy", "require", "--exempt", "echo")
    desk.list_tools(ECHO)
    desk.call(1, text="x")
    assert len(desk.server) == 1


def test_a_project_can_ask_for_more_than_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".pi-intent.toml").write_text('[tools."srv/echo"]\npolicy = "require"\n')
    monkeypatch.chdir(tmp_path)
    for words in (["--policy", "optional"], ["--exempt", "*"], ["--tools", "x"]):
        desk = Desk(*words)
        desk.list_tools(ECHO)
        desk.call(1, text="x")
        assert desk.ends() == ["rejected"]


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


def test_another_call_of_a_tool_is_not_taken_for_the_one_that_waits():
    desk = Desk("--policy", "require")
    desk.list_tools(ECHO)
    desk.call(1, intent="Delete old logs", text="logs")
    desk.answer(1, resultType="input_required", requestState="s")
    desk.call(2, intent="Drop the table", text="prod")
    again = {"name": "echo", "requestState": "s", "inputResponses": {}}
    desk.ask(3, "tools/call", **again, arguments={"intent": "Delete more", "text": "all logs"})
    assert [start.intent for start in desk.starts()] == ["Delete old logs", "Drop the table", "Delete more"]
    desk.ask(4, "tools/call", **again, arguments={"intent": "Delete old logs", "text": "logs"})
    assert len(desk.starts()) == 3


def test_calls_that_wait_without_a_state_are_told_apart_by_their_arguments():
    desk = Desk("--policy", "require")
    desk.list_tools(ECHO)
    for number, text in ((1, "a"), (2, "b")):
        desk.call(number, intent="See", text=text)
        desk.answer(number, resultType="input_required")
    for number, text in ((3, "a"), (4, "b")):
        arguments = {"intent": "See", "text": text}
        desk.ask(number, "tools/call", name="echo", arguments=arguments, inputResponses={})
        desk.answer(number, content=[])
    assert (len(desk.starts()), desk.ends()) == (2, ["ok", "ok"])


def test_a_call_that_waits_for_a_person_is_given_up_when_too_many_do():
    desk = Desk()
    desk.list_tools(ECHO)
    for number in range(300):
        desk.call(number, text="x")
        desk.answer(number, resultType="input_required", requestState=str(number))
    assert desk.ends() == ["interrupted"] * 44


@pytest.mark.parametrize("unsettled", ["no id", "task", "question"])
def test_a_call_that_goes_on_for_long_does_not_stop_the_counting_of_rounds(unsettled: str):
    desk = Desk("--policy", "adaptive")
    desk.list_tools(ECHO)
    params = {"name": "echo", "arguments": {"intent": "See", "text": "x"}}
    if unsettled == "no id":
        desk.proxy.from_client(line({"jsonrpc": "2.0", "method": "tools/call", "params": params}))
    else:
        desk.ask(1, "tools/call", **params)
        desk.answer(1, **({"task": {"taskId": "t"}} if unsettled == "task" else {"resultType": "input_required"}))
    for number in range(2, 6):
        desk.now += 10
        desk.call(number, text="x")
    assert desk.ends() == ["rejected"] * 3


def test_calls_that_a_client_runs_one_by_one_are_one_answer_of_the_model():
    desk = Desk()
    desk.list_tools(ECHO)
    for number in range(3):
        desk.call(number, text="x")
        desk.now += 5
        desk.answer(number, content=[])
        desk.now += 0.05
    assert len({start.group_id for start in desk.starts()}) == 1
    desk.now += 1
    desk.call(9, text="x")
    assert len({start.group_id for start in desk.starts()}) == 2


@pytest.mark.parametrize("depth", [300, 600, 900, 2000])
def test_arguments_of_any_depth_go_through_or_are_answered(depth: int):
    desk = Desk("--policy", "require")
    desk.list_tools({"name": "any", "inputSchema": {"type": "object"}})
    nested = "[" * depth + "]" * depth
    arguments = f'{{"intent":"x","a":{nested}}}'
    params = f'{{"name":"any","arguments":{arguments}}}'
    text = f'{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}\n'
    desk.proxy.from_client(text.encode())
    if desk.server:
        assert desk.server == [text.replace('"intent":"x",', "")]
    else:
        assert desk.client[0].startswith('{"jsonrpc":"2.0","id":')


def test_arguments_that_are_text_are_stripped_as_they_are_spelt():
    desk = Desk("--policy", "require")
    desk.list_tools({"name": "any", "inputSchema": {"type": "object"}})
    inner = '{\n"a": 1E400,\r\n"intent": "See",\n"b": "\u2028"}'
    desk.ask(1, "tools/call", name="any", arguments=inner)
    desk.ask(2, "tools/call", name="any", arguments=json.dumps(inner))
    for sent in desk.server:
        assert '"arguments":{ "a": 1E400, "b": "\\u2028"}' in sent.replace('": {', '":{').replace("   ", " ").replace(
            "  ", " "
        )
        assert len(sent.splitlines()) == 1
    assert [start.intent for start in desk.starts()] == ["See", "See"]


@pytest.mark.parametrize(
    "answer",
    [
        b'{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"mean":NaN}}}\n',
        b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
        b'{"result":' + b"[" * 100_000 + b"]" * 100_000 + b',"jsonrpc":"2.0","id":1}\n',
    ],
)
def test_an_answer_that_is_hard_to_read_ends_its_call(answer: bytes):
    desk = Desk()
    desk.list_tools(ECHO)
    desk.call(1, text="x")
    desk.proxy.from_server(answer)
    assert desk.client == [answer.decode()]
    assert desk.ends() == ["ok"]
    assert desk.proxy.is_answered


def test_a_definition_in_which_a_key_stands_twice_is_left_alone_and_no_other():
    desk = Desk("--policy", "require")
    desk.ask(1, "tools/list")
    twice = '{"name":"twice","name":"twice","inputSchema":{"type":"object"}}'
    desk.proxy.from_server(f'{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{twice},{json.dumps(ECHO)}]}}}}\n'.encode())
    first, second = desk.said()[0]["result"]["tools"]
    assert "properties" not in first["inputSchema"]
    assert list(second["inputSchema"]["properties"]) == ["intent", "rationale", "text"]
    assert len(desk.told) == 1


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


def test_a_task_that_has_failed_when_it_is_made_ends_at_once():
    desk = Desk()
    desk.list_tools(ECHO)
    desk.ask(1, "tools/call", name="echo", arguments={}, task={})
    desk.answer(1, task={"taskId": "t", "status": "failed", "statusMessage": "no"})
    assert desk.ends() == ["error"]


def test_a_list_of_tasks_tells_of_each():
    desk = Desk()
    desk.list_tools(ECHO)
    for number, task in ((1, "t"), (2, "u")):
        desk.ask(number, "tools/call", name="echo", arguments={}, task={})
        desk.answer(number, task={"taskId": task, "status": "working"})
    desk.ask(3, "tasks/list")
    desk.answer(3, tasks=[{"taskId": "t", "status": "cancelled"}, {"taskId": "u", "status": "working"}])
    assert desk.ends() == ["cancelled"]
    desk.ask(4, "tasks/result", taskId="u")
    desk.answer(4, resultType="input_required")
    assert desk.ends() == ["cancelled"]


def test_a_call_whose_id_is_used_again_is_interrupted():
    desk = Desk()
    desk.list_tools(ECHO)
    desk.call(1, text="x")
    desk.call(1, text="y")
    desk.answer(1, content=[])
    assert desk.ends() == ["interrupted", "ok"]


def test_what_else_is_set_for_a_tool_that_is_left_alone_holds(tmp_path: Path):
    (tmp_path / "pi-intent").mkdir()
    (tmp_path / "pi-intent" / "config.toml").write_text('[tools]\n"vault_get" = { redact_args = true }\n')
    policy = ServerPolicy(
        read_options(["--exempt", "vault*", "x"]), "srv", {"XDG_CONFIG_HOME": str(tmp_path)}, tell=print
    )
    assert policy.settings_for("vault_get").redact_args is True
    assert policy.settings_for("vault_get").policy == "omit"


def test_a_number_that_is_none_in_one_schema_spares_the_others():
    desk = Desk("--policy", "require")
    desk.ask(1, "tools/list")
    odd = '{"name":"odd","inputSchema":{"type":"object","properties":{"a":{"default":NaN}}}}'
    desk.proxy.from_server(f'{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{odd},{json.dumps(ECHO)}]}}}}\n'.encode())
    assert odd in desk.client[0]
    assert desk.client[0].count('"intent"') == 2  # the property, and that it is required
    assert [sentence.partition(":")[0] for sentence in desk.told] == ["odd"]


def test_an_answer_to_us_stays_with_us_though_it_cannot_be_read():
    desk = Desk("--policy", "require")
    desk.call(1, intent="See", text="x")
    deep = b"[" * 100_000 + b"]" * 100_000
    desk.proxy.from_server(b'{"jsonrpc":"2.0","id":"ours-1","result":' + deep + b"}\n")
    assert [message["id"] for message in desk.said()] == [1]
    assert desk.said()[0]["result"]["isError"] is True


def test_what_a_server_logs_of_a_call_does_not_answer_it():
    desk = Desk()
    desk.list_tools(ECHO)
    desk.call(5, text="x")
    desk.proxy.from_server(b'received {"jsonrpc":"2.0","method":"tools/call","params":{},"id":5}\n')
    assert desk.ends() == []


def test_a_long_number_leaves_the_others_numbers():
    desk = Desk("--policy", "require")
    desk.list_tools({"name": "any", "inputSchema": {"type": "object"}})
    digits = "9" * 5000
    for intent in ('"See"', "7"):
        arguments = f'{{"intent":{intent},"n":{digits}}}'
        text = f'{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{{"name":"any","arguments":{arguments}}}}}\n'
        desk.proxy.from_client(text.encode())
    assert len(desk.server) == 1
    desk.answer(5, content=[])
    assert sorted(desk.ends()) == ["ok", "rejected"]


@pytest.mark.parametrize("params", [["echo", {"text": "x"}], {"arguments": {}}, {"name": ["echo"]}, "echo", None])
def test_a_call_that_names_no_tool_does_not_pass_where_one_is_under_require(params: Any):
    desk = Desk("--policy", "require", "--tools", "echo")
    desk.list_tools(ECHO)
    desk.proxy.from_client(line({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
    assert desk.server == []
    assert desk.said()[0]["error"]["code"] == -32602


def test_an_answer_of_ours_that_comes_twice_is_swallowed_twice():
    desk = Desk("--policy", "require")
    desk.call(1, intent="See", text="x")
    desk.answer("ours-1", tools=[ECHO])
    desk.ask("p", "ping")
    desk.answer("ours-1", tools=[ECHO])
    assert desk.client == []


def test_a_last_line_without_an_end_is_given_one_where_something_waits():
    desk = Desk("--policy", "require")
    desk.call(1, intent="See", text="x")
    desk.proxy.from_client(b'{"jsonrpc":"2.0","id":2,"method":"ping"}')
    desk.answer("ours-1", tools=[ECHO])
    assert all(text.endswith("\n") for text in desk.server)


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


def test_arguments_sent_as_text_keep_half_characters():
    desk = Desk("--policy", "require")
    desk.list_tools({"name": "any", "inputSchema": {"type": "object"}})
    desk.ask(1, "tools/call", name="any", arguments='{"intent":"See","half":"\ud800"}')
    assert '"arguments":{"half":"\\ud800"}' in desk.server[0].replace('": {', '":{')
