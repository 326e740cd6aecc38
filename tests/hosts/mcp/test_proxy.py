"""What the proxy does with each message, told on its lines alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp_desk import ECHO, Desk, line
from user_config import write_config

from pi_intent.events import ToolExecutionEnd, ToolExecutionStart
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


def test_a_call_that_is_cancelled_ends_once_though_it_is_answered():
    desk = Desk()
    desk.list_tools(ECHO)
    desk.call(1, text="x")
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    desk.proxy.from_client(line(cancel))
    desk.answer(1, content=[])
    assert desk.ends() == ["cancelled"]
    assert len(desk.client) == 1


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


def test_a_call_whose_id_is_used_again_is_interrupted():
    desk = Desk()
    desk.list_tools(ECHO)
    desk.call(1, text="x")
    desk.call(1, text="y")
    desk.answer(1, content=[])
    assert desk.ends() == ["interrupted", "ok"]


def test_what_else_is_set_for_a_tool_that_is_left_alone_holds(tmp_path: Path):
    write_config(tmp_path, '[tools]\n"vault_get" = { redact_args = true }\n')
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


def test_a_last_line_without_an_end_is_given_one_where_something_waits():
    desk = Desk("--policy", "require")
    desk.call(1, intent="See", text="x")
    desk.proxy.from_client(b'{"jsonrpc":"2.0","id":2,"method":"ping"}')
    desk.answer("ours-1", tools=[ECHO])
    assert all(text.endswith("\n") for text in desk.server)


def test_arguments_sent_as_text_keep_half_characters():
    desk = Desk("--policy", "require")
    desk.list_tools({"name": "any", "inputSchema": {"type": "object"}})
    desk.ask(1, "tools/call", name="any", arguments='{"intent":"See","half":"\ud800"}')
    assert '"arguments":{"half":"\\ud800"}' in desk.server[0].replace('": {', '":{')
