"""A call that goes on after its first answer, as a task or for a person, is one call that ends once."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_desk import ECHO, Desk, line

from pi_intent.events import ToolExecutionUpdate


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
