"""A call that a person must approve is held up until the client has asked them, in the way of its version of MCP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mcp_desk import ECHO, Desk, line

from pi_intent.events import CheckInDecision, CheckInRequest
from pi_intent.hosts.mcp.questions import DENY, ONCE, SESSION

ENVELOPE = "io.modelcontextprotocol/"
ASKS = {"PI_INTENT_ASK": "exec"}


class Asked(NamedTuple):
    """A question that a client got; `key` goes with the answer, `about` is the call that it asks of."""

    key: str
    params: dict[str, Any]
    about: dict[str, Any]

    @property
    def text(self) -> str:
        return str(self.params["message"])


class Client:
    """A client that shows forms; of 2026-07-28 where it is `modern`."""

    def __init__(
        self, desk: Desk, *, modern: bool = False, elicitation: object = None, lists: tuple[Any, ...] = (ECHO,)
    ) -> None:
        self.desk = desk
        self.modern = modern
        self.calls: dict[object, dict[str, Any]] = {}
        self.capabilities = {"elicitation": {} if elicitation is None else elicitation}
        if not modern:
            desk.ask("init", "initialize", protocolVersion="2025-06-18", capabilities=self.capabilities)
            desk.answer("init", capabilities={})
        desk.list_tools(*lists)

    def call(self, number: Any, name: str = "echo", more: dict[str, Any] | None = None, **arguments: Any) -> None:
        params: dict[str, Any] = {"name": name, "arguments": arguments, **(more or {})}
        if self.modern:
            params["_meta"] = {
                f"{ENVELOPE}protocolVersion": "2026-07-28",
                f"{ENVELOPE}clientCapabilities": self.capabilities,
            }
        self.calls[number] = params
        self.desk.ask(number, "tools/call", **params)

    def questions(self) -> list[Asked]:
        """Every question so far, in order."""
        found = []
        for message in self.desk.said():
            result = message.get("result", {})
            if message.get("method") == "elicitation/create":
                found.append(Asked(message["id"], message["params"], {}))
            elif result.get("resultType") == "input_required":
                (asked,) = result["inputRequests"].values()
                assert asked["method"] == "elicitation/create"
                found.append(Asked(result["requestState"], asked["params"], self.calls[message["id"]]))
        return found

    def reply(self, question: Asked, result: Any, number: Any = "again") -> None:
        """Give the answer: to the request, or with the call sent again under `number`."""
        if self.modern:
            again = {"inputResponses": {"pi-intent": result}, "requestState": question.key}
            self.calls[number] = question.about
            self.desk.ask(number, "tools/call", **{**question.about, **again})
        else:
            self.desk.proxy.from_client(line({"jsonrpc": "2.0", "id": question.key, "result": result}))

    def choose(self, decision: str, *, note: str | None = None, number: Any = "again") -> None:
        content = {"decision": decision} | ({} if note is None else {"note": note})
        self.reply(self.questions()[-1], {"action": "accept", "content": content}, number)

    def refusals(self) -> list[str]:
        """The texts of the calls that ended without a run."""
        results = [message["result"] for message in self.desk.said() if "isError" in message.get("result", {})]
        assert all(result.get("resultType") == ("complete" if self.modern else None) for result in results)
        return [result["content"][0]["text"] for result in results]


def reached(desk: Desk) -> list[Any]:
    """The parameters of the calls that the server got."""
    return [message["params"] for message in desk.sent() if message.get("method") == "tools/call"]


def decided(desk: Desk) -> list[tuple[bool | None, str | None]]:
    return [(decision.approved, decision.by) for decision in desk.decisions.made]


def settings(folder: Path, text: str) -> dict[str, str]:
    (folder / "pi-intent").mkdir()
    (folder / "pi-intent" / "config.toml").write_text(text)
    return {"XDG_CONFIG_HOME": str(folder)}


@pytest.fixture(params=["handshake", "modern"])
def modern(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "modern")


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
        r'= "text": "rm -rf \u001b[2K\u202e~"',
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
    assert refusal.endswith("this call of echo was not approved. The answer was: Ask Ada first.")
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
        ({"action": "accept", "content": {}}, "failure"),
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


def test_two_calls_at_once_are_asked_about_one_after_the_other():
    desk = Desk(environ=ASKS)
    client = Client(desk)
    for number in (1, 2, 3):
        client.call(number, text=f"text {number}")
    assert len(client.questions()) == 1
    client.choose(DENY)
    assert len(client.questions()) == 2
    client.choose(ONCE)
    assert ["text 1" in asked.text for asked in client.questions()] == [True, False, False]
    client.choose(ONCE)
    assert [params["arguments"]["text"] for params in reached(desk)] == ["text 2", "text 3"]
    assert desk.ends() == ["denied"]
    assert len({start.group_id for start in desk.starts()}) == 1


def test_two_equal_calls_at_once_take_one_approval_for_the_session():
    desk = Desk(environ=ASKS)
    client = Client(desk)
    client.call(1, text="x")
    client.call(2, text="x")
    client.choose(SESSION)
    assert len(client.questions()) == 1
    assert len(reached(desk)) == 2
    assert decided(desk)[-1] == (True, "grant")


def test_in_the_later_era_each_call_gets_its_question_because_nobody_tells_when_one_is_left():
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=True)
    client.call(1, text="x")
    client.call(2, text="y")
    first, second = client.questions()
    approve = {"action": "accept", "content": {"decision": ONCE}}
    client.reply(second, approve, 3)
    client.reply(first, approve, 4)
    assert [params["arguments"]["text"] for params in reached(desk)] == ["y", "x"]


def test_a_question_of_the_later_era_frees_nobody_elses_turn():
    desk = Desk(environ=ASKS)
    client = Client(desk)
    client.modern = True
    client.call(1, text="x")
    (question,) = client.questions()
    client.modern = False
    client.call(2, text="y")
    client.call(3, text="z")
    client.modern = True
    client.reply(question, {"action": "accept", "content": {"decision": ONCE}}, 4)
    assert len(reached(desk)) == 1
    assert len(client.questions()) == 2


def test_a_call_that_is_held_up_keeps_the_calls_of_one_answer_together():
    desk = Desk(environ=ASKS)
    client = Client(desk)
    for number, decision in enumerate((DENY, ONCE), start=1):
        client.call(f"{number} a", text="x")
        desk.now += 60
        client.call(f"{number} b", text="y")
        client.choose(decision)
        client.choose(decision)
        for sent in desk.sent():
            desk.answer(sent["id"], content=[])
        desk.now += 60
    assert [start.group_id for start in desk.starts()] == ["1", "1", "2", "2"]


def test_a_call_that_is_never_sent_again_does_not_stop_the_counting_of_answers():
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=True)
    for number in (1, 2):
        client.call(number, text="x")
        desk.now += 60
    assert [start.group_id for start in desk.starts()] == ["1", "2"]


def test_other_traffic_flows_on_while_somebody_is_asked(tmp_path: Path, modern: bool):
    desk = Desk(environ=settings(tmp_path, 'ask = "write"\n[tools]\n"srv/look" = { tier = "read" }\n'))
    client = Client(desk, modern=modern, lists=(ECHO, {**ECHO, "name": "look"}))
    client.call(1, text="x")
    client.call(2, "look", text="y")
    desk.ask(3, "ping")
    desk.proxy.from_client(line({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}))
    assert [message.get("id") for message in desk.sent()] == [2, 3, None]
    desk.answer(2, content=[])
    assert desk.ends() == ["ok"]
    client.choose(ONCE)
    assert len(reached(desk)) == 2


def cancel(request_id: object) -> bytes:
    return line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}})


def test_a_cancelled_call_takes_its_question_back_and_a_late_answer_changes_nothing():
    desk = Desk(environ=ASKS)
    client = Client(desk)
    client.call(1, text="x")
    client.call(2, text="y")
    (question,) = client.questions()
    desk.proxy.from_client(cancel(1))
    withdrawal = next(message for message in desk.said() if message.get("method") == "notifications/cancelled")
    assert withdrawal["params"]["requestId"] == question.key
    assert decided(desk) == [(None, None), (False, "cancelled"), (None, None)]
    client.reply(question, {"action": "accept", "content": {"decision": ONCE}})
    assert reached(desk) == []
    assert (client.refusals(), desk.ends()) == ([], ["cancelled"])
    client.choose(ONCE)  # the second one's turn has come
    assert [params["arguments"]["text"] for params in reached(desk)] == ["y"]


def test_a_call_that_is_cancelled_before_its_turn_is_never_asked_about():
    desk = Desk(environ=ASKS)
    client = Client(desk)
    client.call(1, text="x")
    client.call(2, text="y")
    desk.proxy.from_client(cancel(2))
    client.choose(ONCE)
    assert len(client.questions()) == 1
    assert (desk.ends(), client.refusals(), desk.told) == (["cancelled"], [], [])
    assert all(decision.call_id == desk.starts()[0].call_id for decision in desk.decisions.made)


def test_calls_of_one_id_are_all_cancelled_by_it():
    desk = Desk(environ=ASKS)
    client = Client(desk)
    client.call(1, text="y")
    client.choose(SESSION)
    desk.answer(1, content=[])
    client.call(1, text="x")
    client.call(1, text="y")  # approved, but its turn has not come
    desk.proxy.from_client(cancel(1))
    assert len(reached(desk)) == 1
    assert desk.ends() == ["ok", "cancelled", "cancelled"]


def test_an_answer_counts_once(modern: bool):
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=modern)
    client.call(1, text="x")
    (question,) = client.questions()
    approve = {"action": "accept", "content": {"decision": ONCE}}
    client.reply(question, approve, 2)
    client.reply(question, approve, 3)
    assert len(reached(desk)) == 1
    assert len(client.questions()) == (2 if modern else 1)  # sent again, it is a new call


def test_an_answer_counts_in_the_way_alone_in_which_it_was_asked_for(modern: bool):
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=modern)
    client.call(1, text="x")
    (question,) = client.questions()
    question = question._replace(about=client.calls[1])
    client.modern = not modern
    client.reply(question, {"action": "accept", "content": {"decision": ONCE}}, 2)
    assert reached(desk) == []
    assert (True, "application") not in decided(desk)


def test_a_call_that_comes_back_with_other_arguments_is_asked_about_anew():
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=True)
    client.call(1, text="x")
    (question,) = client.questions()
    changed = question._replace(about={**question.about, "arguments": {"text": "all of it"}})
    client.reply(changed, {"action": "accept", "content": {"decision": ONCE}}, 2)
    assert reached(desk) == []
    assert "all of it" in client.questions()[1].text
    assert desk.ends() == ["cancelled"]
    client.choose(ONCE, number=3)
    assert reached(desk)[0]["arguments"] == {"text": "all of it"}
    assert not {"inputResponses", "requestState"} & set(reached(desk)[0])


@pytest.mark.parametrize(("first", "second"), [(1, True), (1, 1.0), (0.0, -0.0), ("1", 1), ([], {})], ids=repr)
def test_what_is_equal_to_python_is_not_the_same_call(first: Any, second: Any):
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=True)
    client.call(1, n=first)
    (question,) = client.questions()
    changed = question._replace(about={**question.about, "arguments": {"n": second}})
    client.reply(changed, {"action": "accept", "content": {"decision": ONCE}}, 2)
    assert (reached(desk), len(client.questions())) == ([], 2)


def test_a_call_that_comes_back_without_its_intent_is_rejected_where_that_is_required():
    desk = Desk("--policy", "require", environ=ASKS)
    client = Client(desk, modern=True)
    client.call(1, text="x")
    assert (client.questions(), desk.ends()) == ([], ["rejected"])  # reading comes first: nobody is asked
    client.call(2, intent="See it", text="x")
    (question,) = client.questions()
    bare = question._replace(about={**question.about, "arguments": {"text": "x"}})
    client.reply(bare, {"action": "accept", "content": {"decision": ONCE}}, 3)
    assert (reached(desk), desk.ends()) == ([], ["rejected", "cancelled", "rejected"])


def test_a_call_that_comes_back_to_a_server_that_asks_itself_keeps_what_was_meant_for_the_server():
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=True)
    theirs = {"inputResponses": {"who": {"action": "accept", "content": {"n": 1.5}}}, "requestState": "of the server"}
    client.call(1, more=theirs, text="x")
    (question,) = client.questions()
    client.choose(ONCE, number=2)
    (params,) = reached(desk)
    assert {name: params[name] for name in theirs} == theirs
    assert question.key not in desk.server[-1]


def test_a_servers_own_question_about_an_approved_call_is_not_asked_about_again():
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=True)
    client.call(1, text="x")
    client.choose(ONCE, number=2)
    desk.answer(2, resultType="input_required", requestState="s", inputRequests={})
    client.call(3, more={"requestState": "s", "inputResponses": {}}, text="x")
    desk.answer(3, resultType="complete", content=[])
    assert len(reached(desk)) == 2
    assert (len(desk.starts()), desk.ends()) == (1, ["ok"])


def test_questions_that_nobody_comes_back_to_make_room():
    desk = Desk(environ=ASKS)
    client = Client(desk, modern=True)
    for number in range(300):
        client.call(number, text=str(number))
    assert desk.ends() == ["interrupted"] * 44
    client.reply(client.questions()[0], {"action": "accept", "content": {"decision": ONCE}}, 1000)
    assert reached(desk) == []


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
