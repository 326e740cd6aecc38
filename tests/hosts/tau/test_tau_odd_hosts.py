"""Odd sessions: ids that repeat, folders that go, executors called by hand, sessions that nobody closes."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import subprocess
import weakref

import pytest
from tau_coding.extensions import StderrUiBridge
from tau_coding.tui.app import TauTuiApp
from tau_desk import CHECKOUT, Desk, calls, says

import pi_intent
from pi_intent.hosts.tau.extension import stuck_sentence
from pi_intent.ledger.naming import has_writer
from pi_intent.pipeline import CallRequest


async def test_two_calls_with_one_id_in_one_message_are_two_calls(desk: Desk):
    await desk.run(
        says(
            "",
            ("x", "bash", {"intent": "One", "command": "echo 1 >> ran"}),
            ("x", "bash", {"intent": "Two", "command": "echo 2 >> ran"}),
            ("x", "bash", {"command": "echo 3 >> ran"}),
        )
    )
    assert desk.statuses == [("bash", "ok"), ("bash", "ok"), ("bash", "rejected")]
    assert [start.intent for start in desk.starts] == ["One", "Two", None]
    assert (desk.project / "ran").read_text() == "1\n2\n"


async def test_a_tool_works_on_when_its_folder_is_gone(desk: Desk):
    turn = calls(("write", {"intent": "Keep it", "path": str(desk.root / "kept"), "content": "x"}))
    session = await desk.session([turn, says("done")])
    os.chdir(desk.root)
    shutil.rmtree(desk.project)
    async for _ in session.prompt("go"):
        pass
    assert desk.statuses == [("write", "ok")]
    assert (desk.root / "kept").read_text() == "x"


async def test_a_tool_works_on_when_the_folder_of_the_process_is_gone(desk: Desk, monkeypatch):
    session = await desk.session([calls(("bash", {"intent": "Be true", "command": "true"})), says("done")])
    gone = desk.root / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    async for _ in session.prompt("go"):
        pass
    assert desk.statuses == [("bash", "ok")]
    monkeypatch.chdir(desk.root)


async def test_what_a_listener_does_to_an_event_changes_nothing_that_runs(desk: Desk):
    def meddle(event: pi_intent.ToolEvent) -> None:
        if isinstance(event, pi_intent.ToolExecutionStart):
            if "edits" in event.args:
                event.args["edits"][0]["newText"] = "evil"  # type: ignore[index,call-overload]
            event.args["command"] = "touch evil"

    (desk.project / "a").write_text("x")
    stop = pi_intent.subscribe(meddle)
    try:
        await desk.run(
            calls(
                ("bash", {"intent": "Be good", "command": "touch good"}),
                ("edit", {"intent": "Set y", "path": "a", "edits": [{"oldText": "x", "newText": "y"}]}),
            )
        )
    finally:
        stop()
    assert sorted(path.name for path in desk.project.iterdir()) == [".git", "a", "good"]
    assert (desk.project / "a").read_text() == "y"


async def test_a_stray_argument_does_not_hide_what_a_call_is_aimed_at(desk: Desk):
    session = await desk.session([])
    row = session.extension_runtime.render_tool_call
    assert row("write", {"intent": "Tidy", "path": "~/.bashrc", "content": "x", "command": "ls"}) == (
        "→ Tidy\n  write ~/.bashrc"
    )
    assert row("bash", {"intent": "List", "command": "rm -rf ~", "path": "a.py"}) == "→ List\n  $ rm -rf ~"


async def test_an_executor_called_by_hand_is_a_message_of_its_own(desk: Desk):
    session = await desk.session([])
    (bash,) = [tool for tool in session._harness.config.tools if tool.name == "bash"]
    said = []
    for _ in range(4):
        try:
            await bash.execute("same", {"command": "true"})
        except pi_intent.IntentRejected as rejected:
            said.append(rejected.codes)
    assert said == [("intent_missing",)] * 3
    with pytest.raises(Exception, match="must be a string"):
        await bash.execute("same", {"intent": "Odd", "command": object()})  # type: ignore[dict-item]
    assert [status for _, status in desk.statuses] == ["rejected", "rejected", "rejected", "ok", "error"]


async def test_a_session_that_nobody_closes_is_let_go_with_its_segment(desk: Desk):
    session = await desk.session([calls(("bash", {"intent": "Be true", "command": "true"})), says("done")])
    async for _ in session.prompt("go"):
        pass
    (segment,) = desk.segments
    assert has_writer(segment)
    gone = weakref.ref(session)
    desk.sessions.clear()
    await asyncio.sleep(0)
    del session
    for _ in range(3):
        gc.collect()
    assert gone() is None
    assert not has_writer(segment)


async def test_an_interrupt_while_the_ledger_opens_leaves_one_segment(desk: Desk):
    turn = calls(("bash", {"intent": "Be true", "command": "true"}))
    session = await desk.session([turn, turn, says("done")])

    async def run() -> None:
        async for event in session.prompt("go"):
            if event.type == "tool_execution_start":
                asyncio.get_running_loop().call_soon(task.cancel)

    task = asyncio.create_task(run())
    await asyncio.wait([task], timeout=10)
    async for _ in session.prompt("again"):
        pass
    await session.aclose()
    assert len(desk.segments) == 1
    assert desk.statuses[-1] == ("bash", "ok")
    assert not has_writer(desk.segments[0])


async def test_a_ledger_that_cannot_be_opened_is_told_on_the_screen(desk: Desk):
    (desk.project / ".git" / "pi-intent").write_text("in the way")
    state = desk.root / "xdg" / "state"
    state.parent.mkdir()
    state.write_text("in the way")
    turn = calls(("bash", {"intent": "Be true", "command": "true"}))
    app = TauTuiApp(await desk.session([turn, turn, says("done")]))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        await app._submit_prompt("go")
        for _ in range(300):
            await pilot.pause(0.02)
            if not app.session.is_running and app._prompt_worker is None:
                break
        told = [str(note.message) for note in app._notifications]
    assert desk.statuses == [("bash", "ok")] * 2
    assert len([message for message in told if "could not be written" in message]) == 1


async def test_a_flood_of_rules_in_a_project_is_not_a_flood_of_messages(desk: Desk, capsys):
    rules = "\n".join(f'tool{number} = "require"' for number in range(200))
    (desk.project / ".pi-intent.toml").write_text(f"redact_args = true\n[tools]\n{rules}\n")
    session = await desk.session([])
    session.extension_runtime.set_ui_bridge(StderrUiBridge())
    await session.emit_pending_session_start()
    said = capsys.readouterr().err.splitlines()
    assert len(said) <= 10
    assert "197 more rules match no tool" in said[-1]
    assert any("keeps the texts of calls out of your ledger" in line for line in said)


async def test_a_policy_cannot_be_chosen_where_nothing_can_carry_it(desk: Desk, monkeypatch):
    monkeypatch.setenv("PI_INTENT_POLICY", "omit")
    session = await desk.session([])
    assert session.handle_command("/intent require").message == (
        "no tool of this session has a field for an intent, so none can be required"
    )


@pytest.mark.parametrize("how", ["-e", "tau install"])
def test_a_broken_package_is_said_and_tau_goes_on(tmp_path, how):
    from pi_intent.cli.demo.model import ScriptedModel, Turn
    from pi_intent.cli.demo.tau import HermeticTau

    broken = tmp_path / "broken"
    ignored = shutil.ignore_patterns(".*", "__pycache__", "tests")
    shutil.copytree(CHECKOUT, broken, ignore=ignored)
    (broken / "tool_descriptions" / "fields.md").unlink()
    with ScriptedModel([Turn(text="done")]) as model:
        tau = HermeticTau.create(tmp_path / "t", model.base_url)
        options = ("-e", str(broken))
        if how == "tau install":
            command = [str(tau.command), "install", str(broken)]
            subprocess.run(command, env=tau.environment, check=True, timeout=60, capture_output=True)
            options = ()
        done = tau.run("go", options=options, timeout=60)
    assert done.exit_code == 0
    assert "pi-intent is off, calls state no intent" in done.stderr
    assert "tool_descriptions lacks 'fields.md'" in done.stderr
    assert "Error: " not in done.stderr


@pytest.mark.parametrize(
    ("policy", "budget", "codes", "watched", "sentence"),
    [
        (
            "adaptive",
            3,
            ("intent_missing",),
            False,
            "bash was refused 3 rounds in a row, because the model states no usable intent; "
            "its next call runs without one.",
        ),
        (
            "adaptive",
            5,
            ("intent_blank",),
            True,
            "bash was refused 3 rounds in a row, because the model states no usable intent; "
            "after 2 more it runs without one.",
        ),
        (
            "require",
            3,
            ("rationale_blank",),
            True,
            "bash was refused 3 rounds in a row, because the model states no usable rationale; "
            "ask it to, or let calls run without: /intent adaptive or /intent off.",
        ),
        (
            "optional",
            3,
            ("arguments_not_json",),
            True,
            "bash was refused 3 rounds in a row, because its arguments cannot be read; "
            "the model may be running out of room for its answer.",
        ),
    ],
)
def test_the_person_is_told_the_true_cause_and_what_comes(policy, budget, codes, watched, sentence):
    request = CallRequest(
        tool_name="bash", tool_call_id="1", arguments={}, group_id="g", turn=3, policy=policy, budget=budget
    )
    assert stuck_sentence(request, 3, codes, watched=watched) == sentence
