"""A call that comes back with an answer: the answer counts once, for exactly what was asked about."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_check_in_desk import ASKS, Client, decided, reached
from mcp_desk import Desk

from pi_intent.hosts.mcp.questions import ONCE


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
