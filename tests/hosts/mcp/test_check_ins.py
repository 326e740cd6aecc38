"""A call that a person must approve is held up until the client has asked them, in the way of its version of MCP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp_check_in_desk import ASKS, Client, decided, reached, settings
from mcp_desk import ECHO, Desk, line

from pi_intent.events import CheckInDecision, CheckInRequest
from pi_intent.hosts.mcp.questions import DENY, ONCE, SESSION


def test_a_call_that_is_approved_runs_and_the_server_hears_nothing_of_the_question(modern: bool):
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=modern)
    client.call(1, intent="See it", text="x")
    assert desk.sent() == []
    (question,) = client.questions()
    client.choose(ONCE)
    (sent,) = desk.sent()
    params = {"name": "echo", "arguments": {"text": "x"}} | ({"_meta": question.about["_meta"]} if modern else {})
    assert sent == {"jsonrpc": "2.0", "id": "again" if modern else 1, "method": "tools/call", "params": params}
    desk.answer(sent["id"], content=[])
    assert desk.ends() == ["ok"]
    assert decided(desk) == [(None, None), (True, "application")]
    assert [type(event) for event in desk.events][1:3] == [CheckInRequest, CheckInDecision]


def test_the_literal_action_stands_first_and_what_the_agent_says_last(modern: bool):
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=modern)
    client.call(1, intent="Only\x1b]0;owned\x07 look", rationale="See notes.md:3", text="rm -rf \x1b[2K\u202e~")
    (question,) = client.questions()
    assert question.text.splitlines()[:10] == [
        "Wants to run echo of srv in /srv/shop",
        r'= "text": "rm -rf \u001b[2K⟨U+202E⟩~"',
        "Asked because of:",
        "> tier exec",
        "The agent says, unverified:",
        "> Only look",
        "and points at:",
        "> See notes.md:3",
        "The evidence it names:",
        "> notes.md:3: is not there, not read in this session",
    ]
    assert question.params["requestedSchema"] == {
        "type": "object",
        "properties": {
            "decision": {"type": "string", "title": "Decision", "enum": [DENY, ONCE, SESSION], "default": DENY},
            "note": {"type": "string", "title": "Note", "description": "If you deny: what the agent shall know."},
        },
        "required": ["decision"],
    }


def test_arguments_of_20_000_characters_are_shown_and_run_whole(modern: bool):
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=modern)
    text = "".join(f"line {number} of a long text\n" for number in range(800))
    client.call(1, intent="Write it", text=text)
    (question,) = client.questions()
    action = question.text.partition("Asked because of:")[0].splitlines()
    assert action[1:] == ['= "text":', *(f"  {line}" for line in text.split("\n"))]
    client.choose(ONCE)
    assert reached(desk)[0]["arguments"] == {"text": text}


def test_who_wants_the_literal_action_alone_gets_no_intent(tmp_path: Path):
    desk = Desk(environ=settings(tmp_path, 'ask = "exec"\nconsent = "literal"\n'))
    client = Client(desk)
    client.call(1, intent="Trust me", text="x")
    assert "Trust" not in client.questions()[0].text


def test_an_approval_for_the_session_is_for_exactly_this_call(modern: bool):
    other = {**ECHO, "name": "other"}
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=modern, lists=(ECHO, other))
    client.call(1, intent="See it", text="x")
    client.choose(SESSION, number=2)
    client.call(3, intent="Another reason", text="x")
    assert len(client.questions()) == 1
    assert len(reached(desk)) == 2
    client.call(4, intent="See it", text="y")
    client.call(5, "other", intent="See it", text="x") if modern else None
    assert len(client.questions()) == (3 if modern else 2)
    assert len(reached(desk)) == 2
    assert decided(desk)[:3] == [(None, None), (True, "application"), (True, "grant")]


def test_an_approval_for_the_session_holds_for_no_other_server():
    for name in ("one", "two"):
        desk = Desk("--server", name, environ=ASKS)
        client = Client(desk)
        client.call(1, text="x")
        assert len(client.questions()) == 1
        client.choose(SESSION)


def test_an_approval_for_once_is_for_once(modern: bool):
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=modern)
    for number in (1, 2):
        client.call(number, text="x")
        client.choose(ONCE, number=f"again {number}")
    assert len(client.questions()) == 2
    assert len(reached(desk)) == 2


def test_a_denial_with_a_note_gives_the_note_to_the_model(modern: bool):
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=modern)
    client.call(1, text="x")
    client.choose(DENY, note=" Ask Ada first. ")
    (refusal,) = client.refusals()
    assert refusal.endswith(
        "this call of echo was not approved; do not try it again in other words. The answer was: Ask Ada first."
    )
    assert desk.sent() == []
    assert desk.ends() == ["denied"]
    assert decided(desk)[-1] == (False, "application")
    assert desk.decisions.made[-1].note == "Ask Ada first."


@pytest.mark.parametrize(
    ("result", "by"),
    [
        ({"action": "accept", "content": {"decision": DENY}}, "application"),
        ({"action": "accept", "content": {"decision": DENY, "note": 5}}, "application"),
        ({"action": "decline"}, "application"),
        ({"action": "decline", "content": {"decision": ONCE}}, "application"),
        ({"action": "cancel"}, "application"),
        ({"action": "accept"}, "failure"),
        ({"action": "accept", "content": {}}, "application"),
        ({"action": "accept", "content": None}, "failure"),
        ({"action": "accept", "content": [ONCE]}, "failure"),
        ({"action": "accept", "content": {"decision": "approve"}}, "failure"),
        ({"action": "accept", "content": {"decision": True}}, "failure"),
        ({"action": "accept", "content": {"decision": [ONCE]}}, "failure"),
        ({"action": "Accept", "content": {"decision": ONCE}}, "failure"),
        ({"content": {"decision": ONCE}}, "failure"),
        ({}, "failure"),
        (None, "failure"),
        ("accept", "failure"),
        ([{"action": "accept"}], "failure"),
    ],
)
def test_whatever_is_no_approval_denies(modern: bool, result: Any, by: str):
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=modern)
    client.call(1, text="x")
    client.reply(client.questions()[0], result)
    assert desk.sent() == []
    assert len(client.refusals()) == 1
    assert desk.ends() == ["denied"]
    assert decided(desk)[1:] == [(False, by)]


@pytest.mark.parametrize(
    "twice",
    [
        '"result":{"action":"accept","content":{"decision":"deny","decision":"approve once"}}',
        '"result":{"action":"decline","action":"accept","content":{"decision":"approve once"}}',
        '"result":{"action":"accept","content":{"decision":"deny"},"content":{"decision":"approve once"}}',
        '"result":{"action":"decline"},"result":{"action":"accept","content":{"decision":"approve once"}}',
        '"error":{"code":1,"message":"no"},"result":{"action":"accept","content":{"decision":"approve once"}}',
    ],
)
def test_an_answer_that_says_two_things_denies(twice: str):
    desk = Desk(environ=ASKS)
    client = Client(desk)
    client.call(1, text="x")
    key = client.questions()[0].key
    desk.proxy.from_client(f'{{"jsonrpc":"2.0","id":"{key}",{twice}}}\n'.encode())
    assert (desk.sent(), decided(desk)[-1]) == ([], (False, "failure"))


def test_an_answer_beside_which_stands_another_of_its_name_denies():
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=True)
    client.call(1, text="x")
    (question,) = client.questions()
    again = json.dumps({**question.about, "requestState": question.key})[:-1]
    approve = '{"action":"accept","content":{"decision":"approve once"}}'
    responses = f'"inputResponses":{{"pi-intent":{{"action":"decline"}},"pi-intent":{approve}}}'
    desk.proxy.from_client(f'{{"id":2,"method":"tools/call","params":{again},{responses}}}}}\n'.encode())
    assert (desk.sent(), decided(desk)[-1]) == ([], (False, "failure"))


def test_a_client_that_answers_with_an_error_is_named_to_the_person():
    desk = Desk(environ=ASKS)
    client = Client(desk)
    client.call(1, text="x")
    error = {"code": -32601, "message": "Method not found"}
    desk.proxy.from_client(line({"jsonrpc": "2.0", "id": client.questions()[0].key, "error": error}))
    assert decided(desk)[-1] == (False, "failure")
    assert desk.told == ["the client could not ask about a call of echo: Method not found"]
    assert desk.sent() == []


@pytest.mark.parametrize(
    "elicitation", [None, True, {"url": {}}, {"form": None, "url": {}}, {"form": True}, "form", []], ids=repr
)
def test_where_the_client_shows_no_form_the_answer_is_no(modern: bool, elicitation: object):
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=modern, elicitation={})
    if modern:
        client.capabilities = {"elicitation": elicitation}
    else:
        desk.ask("init", "initialize", capabilities={"elicitation": elicitation})
        desk.server.clear()
    client.call(1, text="x")
    assert client.questions() == []
    (refusal,) = client.refusals()
    assert "needs a person's approval (tier exec), and nobody can be asked" in refusal
    assert (reached(desk), desk.ends(), decided(desk)) == ([], ["denied"], [(False, "nobody")])


@pytest.mark.parametrize("elicitation", [{"form": {}}, {"form": {}, "url": {}}, {"x": 1, "form": {"y": 2}}], ids=repr)
def test_a_client_that_says_so_shows_forms(modern: bool, elicitation: object):
    client = Client(Desk(environ=ASKS), modern=modern, elicitation=elicitation)
    client.call(1, text="x")
    assert len(client.questions()) == 1


def test_each_request_of_the_later_era_says_itself_whether_somebody_can_be_asked():
    desk = Desk(environ=ASKS)
    client = Client(desk)  # by handshake: it can
    client.modern, client.capabilities = True, {}
    client.call(1, text="x")
    assert client.questions() == []
    assert len(client.refusals()) == 1


def test_a_call_can_be_put_off_where_nobody_can_be_asked(tmp_path: Path):
    desk = Desk(environ=settings(tmp_path, 'ask = "exec"\nunattended = "defer"\n'))
    desk.list_tools(ECHO)
    desk.call(1, text="x")
    assert "waits for a person's approval" in desk.said()[0]["result"]["content"][0]["text"]
    assert (desk.sent(), decided(desk)) == ([], [(None, None)])
