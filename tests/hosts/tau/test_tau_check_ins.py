"""What a person was asked in Tau is in the ledger, and `/intent checkins` tells of it."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from canaries import SHAPES, bare, leaks
from tau_coding.extensions import StderrUiBridge
from tau_desk import Desk, calls, says
from tau_screen import actions, answer, running, screen, settle, start, type_in

import pi_intent
from pi_intent.hosts.tau.rows import call_row
from pi_intent.settings.load import user_file

HOSTILE = "\x1b]0;owned\x07 [@click=app.quit]here[/]"


@pytest.fixture(autouse=True)
def asking(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_INTENT_ASK", "exec")


def decisions(desk: Desk) -> list[dict[str, Any]]:
    return [record for record in desk.records if record["t"] == "decision"]


async def test_what_was_asked_and_answered_stands_in_the_ledger(desk: Desk):
    turn = calls(("bash", {"intent": "Make a mark", "command": "touch mark"}))
    async with running(await desk.session([turn, says("done")])) as (pilot, app):
        await start(pilot, app, "go")
        await answer(pilot, app, "Approve once")
        await settle(pilot, app)
    assert (desk.project / "mark").exists()
    kinds = [(record["t"], record.get("approved"), record.get("by")) for record in desk.records]
    assert kinds[1:] == [
        ("call", None, None),
        ("decision", None, None),
        ("decision", True, "person"),
        ("done", None, None),
    ]
    asked, told = decisions(desk)
    assert asked["id"] == told["id"] == desk.starts[0].call_id
    assert asked["reasons"] == told["reasons"] == ["tier exec"]
    assert told["scope"] == "once"
    lines = told["shown"].splitlines()
    assert lines[:2] == [f"Wants to run bash in {desk.project}", "$ touch mark"]
    assert lines.index("$ touch mark") < lines.index("> Make a mark")


async def test_a_denial_keeps_the_note_and_a_write_keeps_no_contents(desk: Desk, monkeypatch):
    monkeypatch.setenv("PI_INTENT_ASK", "write")
    turn = calls(("write", {"intent": "Keep a poem", "path": "poem.txt", "content": "the only copy\n"}))
    async with running(await desk.session([turn, says("done")])) as (pilot, app):
        await start(pilot, app, "go")
        await answer(pilot, app, "Deny, and tell the agent why", note="Not on a Friday")
        await settle(pilot, app)
    assert not (desk.project / "poem.txt").exists()
    _, told = decisions(desk)
    assert (told["approved"], told["by"], told["scope"], told["note"]) == (False, "person", None, "Not on a Friday")
    assert '= "content": {"bytes": 14, "digest": "hmac:' in told["shown"]
    ledger = "".join(path.read_text() for path in desk.segments)
    assert "the only copy" not in ledger


async def test_no_secret_of_a_question_is_in_the_ledger(desk: Desk):
    secret = SHAPES["anthropic"]
    command = f"curl --version # {'x' * 90} {secret}"
    turn = calls(("bash", {"intent": f"Use {secret}", "rationale": f"a.py has {secret}", "command": command}))
    async with running(await desk.session([turn, says("done")])) as (pilot, app):
        await start(pilot, app, "go")
        await answer(pilot, app, "Approve this call for the session")
        await settle(pilot, app)
    assert [record["scope"] for record in decisions(desk)] == [None, "session"]
    text = "".join(json.dumps(record) for record in desk.records)
    assert leaks(secret, bare(text)) == []


async def test_nobody_to_ask_is_a_decision_with_no_question(desk: Desk):
    (end,) = await desk.run(calls(("bash", {"intent": "Make a mark", "command": "touch mark"})))
    assert end.is_error
    assert [(record["approved"], record["by"], record["shown"]) for record in decisions(desk)] == [
        (False, "nobody", None)
    ]


async def test_with_nothing_configured_no_decision_is_written(desk: Desk, monkeypatch):
    monkeypatch.delenv("PI_INTENT_ASK")
    await desk.run(calls(("bash", {"intent": "Make a mark", "command": "touch mark"})))
    assert [record["t"] for record in desk.records] == ["session", "call", "done"]


async def test_the_person_can_look_at_what_was_asked_and_decided(desk: Desk):
    turn = calls(
        ("bash", {"intent": "Make a mark", "command": "touch mark"}),
        ("bash", {"intent": "Make another", "command": f"touch other # {HOSTILE}\ntrue"}),
    )
    async with running(await desk.session([turn, says("done")]), size=(110, 40)) as (pilot, app):
        await type_in(pilot, app, "/intent checkins")
        assert "check-ins are on (ask = exec); nobody was asked" in screen(app)
        await start(pilot, app, "go")
        await answer(pilot, app, "Approve once")
        await answer(pilot, app, "Deny, and tell the agent why", note="Not on a [bold]Friday")
        await settle(pilot, app)
        await type_in(pilot, app, "/intent checkins")
        lines = [line.strip(" ▎│┃▌▊") for line in screen(app).splitlines()]
        at = max(number for number, line in enumerate(lines) if line.startswith("touch other"))
        assert lines[at : at + 5] == [
            "touch other # ⟨ESC⟩]0;owned⟨BEL⟩ [@click=app.quit]here[/]",
            "true",
            'tier exec · denied by a person: "Not on a [bold]Friday"',
            "touch mark",
            "tier exec · approved once by a person",
        ]
        assert not [action for action in actions(app) if "quit" in str(action)]
        assert "Make a mark" not in "\n".join(lines[at:])


WAY_OUT = "pi-intent audit tells which; in a session with a screen you are asked"


@pytest.mark.parametrize("unattended", ["deny", "defer"])
async def test_who_comes_back_to_a_run_without_a_screen_hears_that_calls_were_not_run(
    desk: Desk, capsys, monkeypatch, unattended
):
    monkeypatch.setenv("PI_INTENT_UNATTENDED", unattended)
    call = ("bash", {"intent": "Make a mark", "command": "touch mark"})
    session = await desk.session([calls(call, call), says("done"), calls(call), says("done"), says("done")])
    session.extension_runtime.set_ui_bridge(StderrUiBridge())  # as `tau -p` does
    await session.emit_pending_session_start()
    told = []
    for _ in range(3):
        async for _event in session.prompt("go"):
            pass
        told += [line for line in capsys.readouterr().err.splitlines() if "nobody could be asked" in line]
    assert [line.partition("] ")[2] or line for line in told] == [
        "2 calls were not run, because nobody could be asked: " + WAY_OUT,
        "1 call was not run, because nobody could be asked: " + WAY_OUT,
    ]


async def test_only_the_last_decisions_are_listed(desk: Desk):
    turns = [calls(("bash", {"intent": f"Make mark {n}", "command": f"touch mark{n}"})) for n in range(23)]
    session = await desk.session([*turns, says("done")])
    await session.emit_pending_session_start()
    async for _ in session.prompt("go"):
        pass
    lines = session.handle_command("/intent checkins").message.splitlines()
    assert lines[0] == "the last 20 of 23 decisions; pi-intent log --asked shows all of them"
    assert lines[1:3] == ["touch mark22", "  tier exec · nobody to ask"]
    assert lines[-2:] == ["touch mark3", "  tier exec · nobody to ask"]
    assert len(lines) == 1 + 2 * 20


async def test_without_anything_that_asks_it_says_how_to_be_asked(desk: Desk, monkeypatch):
    monkeypatch.delenv("PI_INTENT_ASK")
    session = await desk.session([says("done")])
    assert session.handle_command("/intent checkins").message == (
        "check-ins are off, and nobody was asked about a call in this session; "
        f"set ask or check_in in {user_file(os.environ)}"
    )
    assert session.handle_command("/intent").message.splitlines()[1] == "check-ins: off"


@pytest.mark.parametrize(
    "text",
    [
        '[credentials]\nk = "env:K"\n[tools.bash]\nneeds = ["k"]\n',
        "result_limit = 2048\n",
        'artifacts = true\n[tools.bash]\nstores = ["page"]\nwants = { command = "page" }\n',
        '[permissions]\nexec = "allow"\n',
    ],
)
async def test_what_asks_nobody_is_told_as_off(desk: Desk, monkeypatch, text: str):
    monkeypatch.delenv("PI_INTENT_ASK")
    desk.configure(text)
    session = await desk.session([says("done")])
    assert session.handle_command("/intent").message.splitlines()[1] == "check-ins: off"
    assert session.handle_command("/intent checkins").message.startswith("check-ins are off, and nobody was asked")


async def test_what_asks_is_named_before_anything_was_asked(desk: Desk, monkeypatch):
    monkeypatch.delenv("PI_INTENT_ASK")
    desk.configure(
        'ask = "write"\ncheck_in = ["dangers", { runs = "make" }]\n[permissions]\nmoney = "ask"\nexec = "allow"\n'
        '[tools]\nbash = { check_in = ["noted"], override = true }\n'
    )
    session = await desk.session([says("done")])
    what = "ask = write, dangers, runs = make, noted, 1 override, 1 permission"
    assert session.handle_command("/intent").message.splitlines()[1] == f"check-ins: {what}"
    assert session.handle_command("/intent checkins").message == (
        f"check-ins are on ({what}); nobody was asked about a call in this session yet"
    )


async def test_what_code_declares_is_not_told_as_off(desk: Desk, monkeypatch):
    monkeypatch.delenv("PI_INTENT_ASK")
    session = await desk.session([says("done")])
    stop = pi_intent.ask_when(lambda arguments, situation: True)
    try:
        assert "check-ins: as this session's code declares" in session.handle_command("/intent").message
    finally:
        stop()


async def test_spaces_stay_in_what_was_decided_and_in_the_row_of_a_call(desk: Desk):
    run = {"intent": "Make a mark", "command": "touch  'a  b' "}
    session = await desk.session([calls(("bash", run)), says("done")])
    await session.emit_pending_session_start()
    async for _ in session.prompt("go"):
        pass
    lines = session.handle_command("/intent checkins").message.splitlines()
    assert lines == ["touch  'a  b'⟨SPACE⟩", "  tier exec · nobody to ask"]
    assert call_row("bash", run) == "→ Make a mark\n  $ touch  'a  b'⟨SPACE⟩"
    assert call_row("read", {"path": "a  b\t"}) == "→ read a  b⟨TAB⟩"


async def test_a_guard_of_a_tool_that_there_is_not_has_a_person_asked_and_told_why(desk: Desk, monkeypatch):
    monkeypatch.delenv("PI_INTENT_ASK")
    config = desk.configure('[tools.bsh]\ncheck_in = ["deletes"]\n')
    turn = calls(("bash", {"intent": "Make a mark", "command": "touch mark"}))
    session = await desk.session([turn, says("done")])
    async with running(session) as (pilot, app):
        await start(pilot, app, "go")
        await answer(pilot, app, "Deny")
        await settle(pilot, app)
    why = f"{config}: tools.bsh matches no tool"
    assert session.handle_command("/intent").message.splitlines()[1] == f"check-ins: ask = write ({why}), deletes"
    assert not (desk.project / "mark").exists()
    asked, _ = decisions(desk)
    assert asked["reasons"] == [f"tier exec: {why}"]
