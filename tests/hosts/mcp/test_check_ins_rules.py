"""Which calls a person must approve: what the settings say of a server's tools and of what a call really does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp_check_in_desk import ASKS, Client, reached, settings
from mcp_desk import ECHO, Desk

from pi_intent.hosts.mcp.questions import ONCE


def test_a_project_can_ask_for_its_tools_and_exempting_one_from_intents_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".pi-intent.toml").write_text('[tools."srv/ec*"]\ncheck_in = ["always"]\n')
    monkeypatch.chdir(tmp_path)
    for words in ([], ["--exempt", "*"], ["--policy", "omit"]):
        desk = Desk(*words)
        client = Client(desk)
        client.call(1, text="x")
        assert len(client.questions()) == 1, words
        assert desk.sent() == []


def test_a_tool_that_overrides_asks_in_every_mode(tmp_path: Path):
    desk = Desk(environ=settings(tmp_path, '[tools]\n"srv/echo" = { override = true, reason = "It talks" }\n'))
    client = Client(desk)
    client.call(1, text="x")
    assert "Asked because of:\n> tier exec: It talks\n" in client.questions()[0].text


def test_a_call_that_its_tool_may_refuse_is_told_to_be_one():
    tool = {"name": "echo", "inputSchema": {**ECHO["inputSchema"], "required": ["text"]}}
    client = Client(Desk(environ=ASKS), lists=(tool,))
    client.call(1, intent="See it")
    assert "The tool may refuse it:\n> text is missing\n" in client.questions()[0].text


def test_what_a_tool_touches_is_ruled_on(tmp_path: Path):
    text = '[permissions]\nmoney = "deny"\nuser_data = "ask"\n[tools]\n"srv/pay" = { touches = ["money"] }\n'
    desk = Desk(environ=settings(tmp_path, text + '"srv/look" = { touches = ["user_data"] }\n'))
    client = Client(desk, lists=({**ECHO, "name": "pay"}, {**ECHO, "name": "look"}, ECHO))
    client.call(1, "pay", text="x")
    assert "touches money, which is not permitted here" in client.refusals()[0]
    client.call(2, "look", text="x")
    client.choose(ONCE)
    client.call(3, text="x")
    assert [params["name"] for params in reached(desk)] == ["look", "echo"]


def test_a_reference_to_something_stored_is_refused_because_nothing_is(tmp_path: Path):
    text = 'artifacts = true\n[tools]\n"srv/echo" = { wants = { text = "page" } }\n'
    desk = Desk(environ=settings(tmp_path, text))
    client = Client(desk)
    client.call(1, text=f"artifact:page:{'0' * 32}")
    assert "nothing is stored in this session" in client.refusals()[0]
    client.call(2, text="as it is")
    assert [params["arguments"] for params in reached(desk)] == [{"text": "as it is"}]


def test_rules_look_at_the_literal_arguments(tmp_path: Path):
    desk = Desk(environ=settings(tmp_path, 'check_in = ["dangers"]\n'))
    client = Client(desk, lists=({"name": "run", "inputSchema": {"type": "object"}},))
    client.call(1, "run", intent="rm -rf /", command="ls")
    assert len(reached(desk)) == 1
    client.call(2, "run", intent="List files", command="rm -rf /tmp/x")
    assert len(reached(desk)) == 1
    assert "deletes" in client.questions()[0].text


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"command": "echo evil > hosts", "cwd": "/etc"}, "outside_project"),
        ({"command": "echo evil > hosts", "options": {"workingDirectory": "../.."}}, "outside_project"),
        ({"command": "echo fine > hosts", "cwd": "src"}, None),
        ({"command": "ls", "cwd": "/etc"}, None),
        ({"program": "rm", "args": ["-rf", "x"]}, "unclear"),
        ({"argv": ["rm", "-rf", "x"]}, "unclear"),
        ({"bash_command": "rm -rf x"}, "unclear"),
    ],
    ids=str,
)
def test_a_command_is_judged_in_the_folder_that_the_call_names(
    tmp_path: Path, arguments: dict[str, Any], kind: str | None
):
    desk = Desk(environ=settings(tmp_path, 'check_in = ["dangers"]\n'))
    client = Client(desk, lists=({"name": "run", "inputSchema": {"type": "object"}},))
    client.call(1, "run", intent="Look", **arguments)
    assert len(reached(desk)) == (kind is None)
    assert [kind in question.text for question in client.questions()] == ([] if kind is None else [True])


@pytest.mark.parametrize(
    ("name", "arguments", "hidden"),
    [
        ("write", {"path": "a", "content": "b", "edits": [{"oldText": "secret"}]}, "secret"),
        ("edit", {"path": "a", "edits": [{"oldText": "b", "newText": "c", "file": "/etc/passwd"}]}, "/etc/passwd"),
        ("read", {"path": "a", "offset": 1, "limit": "; rm -rf"}, "; rm -rf"),
        ("bash", {"command": "ls", "then": "rm -rf"}, "rm -rf"),
    ],
)
def test_a_servers_tool_that_is_called_like_one_of_ours_hides_no_argument(
    name: str, arguments: dict[str, Any], hidden: str
):
    client = Client(Desk(environ=ASKS), lists=({"name": name, "inputSchema": {"type": "object"}},))
    client.call(1, name, **arguments)
    action = client.questions()[0].text.partition("Asked because of")[0]
    assert hidden in action


def test_arguments_sent_as_a_text_are_shown_if_everybody_reads_them_alike():
    desk = Desk(environ=ASKS)
    client = Client(desk)
    for number, arguments in enumerate(('{"text":"x"}', '{"text":"harmful","text":"x"}')):
        desk.ask(number, "tools/call", name="echo", arguments=arguments)
    assert len(client.questions()) == 1
    assert len(client.refusals()) == 1
    client.choose(ONCE)
    assert [params["arguments"] for params in reached(desk)] == [{"text": "x"}]


@pytest.mark.parametrize(
    "arguments",
    ['{"text":"harmful","text":"x"}', '{"a":[{"b":1,"b":2}]}', "[1]", '"text"', '{"n":1E400}'],
)
def test_arguments_that_a_server_may_read_otherwise_than_a_person_do_not_run(arguments: str):
    desk = Desk("--exempt", "echo", environ=ASKS)
    client = Client(desk)
    desk.proxy.from_client(
        f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}\n'.encode()
    )
    assert client.questions() == []
    assert "cannot be shown" in client.refusals()[0]
    assert (desk.sent(), desk.ends()) == ([], ["denied"])


def test_what_is_never_asked_about_passes_as_it_was(tmp_path: Path):
    desk = Desk(environ=settings(tmp_path, 'ask = "write"\n[tools]\n"srv/*" = { tier = "read" }\n'))
    desk.list_tools(ECHO)
    odd = b' {"id":1, "method":"tools/call","params":{"name":"echo","arguments":{"n":1.0,  "m":[]}}}\n'
    desk.proxy.from_client(odd)
    assert desk.server == [odd.decode()]
    assert desk.decisions.made == []


def test_a_call_that_waited_for_a_list_is_held_up_after_it(modern: bool):
    desk = Desk("--policy", "require", environ=ASKS)
    client = Client(desk, modern=modern, lists=())
    client.call(1, intent="See it", text="x")
    (asked,) = desk.sent()
    desk.answer(asked["id"], tools=[ECHO])
    assert len(client.questions()) == 1
    client.choose(ONCE)
    assert reached(desk)[0]["arguments"] == {"text": "x"}


def test_a_fault_of_ours_denies_and_is_told(monkeypatch: pytest.MonkeyPatch):
    desk = Desk(environ=ASKS)
    client = Client(desk)
    monkeypatch.setattr(desk.decisions, "decided", lambda decision: 1 / 0)
    client.call(1, text="x")
    assert (desk.sent(), desk.ends(), len(client.refusals())) == ([], ["denied"], 1)
    assert "by a fault of ours" in desk.told[0]


def test_the_settings_of_the_documents_do_what_they_say(tmp_path: Path):
    text = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text().partition("```toml\n")[2].partition("```")[0]
    tools = [{**ECHO, "name": name} for name in ("search", "merge_pull_request")]
    desk = Desk("--server", "github", environ=settings(tmp_path, text))
    client = Client(desk, lists=tuple(tools))
    assert desk.told == []
    client.call(1, "search", text="x")
    client.call(2, "merge_pull_request", text="x")
    assert len(reached(desk)) == 1
    assert "It changes main" in client.questions()[0].text
    client.call(3, "search", command="rm -rf /")
    assert len(reached(desk)) == 1
