"""Several calls at once are asked about one after the other, and a call that is cancelled takes its question back."""

from __future__ import annotations

from pathlib import Path

from mcp_check_in_desk import ASKS, Client, cancel, decided, reached, settings
from mcp_desk import ECHO, Desk, line

from pi_intent.hosts.mcp.questions import DENY, ONCE, SESSION


def test_two_calls_at_once_are_asked_about_one_after_the_other():
    desk = Desk(environ=ASKS)
    client = Client(desk)
    for number in (1, 2, 3):
        client.call(number, text=f"text {number}")
    assert len(client.questions()) == 1
    client.choose(DENY)
    assert len(client.questions()) == 2
    client.choose(ONCE)
    actions = [asked.text.partition("Asked because of")[0] for asked in client.questions()]
    assert ["text 1" in action for action in actions] == [True, False, False]
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
