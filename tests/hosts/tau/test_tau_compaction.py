"""After a compaction, by hand, at the threshold or after an overflow, the model is reminded once of what it did."""

from __future__ import annotations

from typing import Any

import pytest
from rich.text import Text
from tau_agent.messages import AssistantMessage
from tau_agent.session import JsonlSessionStorage
from tau_ai.events import AssistantErrorEvent
from tau_coding.extensions import StderrUiBridge
from tau_coding.session import CodingSession
from tau_desk import Desk, calls, says
from tau_screen import running, screen, type_in

from pi_intent.hosts.tau.compaction import RECALL
from pi_intent.recall import MOST_CHARACTERS

WRITE = ("write", {"intent": "Keep the notes", "path": "a.txt", "content": "x\n"})
BASH = ("bash", {"intent": "See that it fails", "command": "exit 3"})
LONG = "Collect context.\n" + "old context " * 12_000
"""More than Tau keeps of a conversation when it compacts it."""

LINES = [
    '- error · bash "exit 3" · intent "See that it fails" · result "exit 3"',
    '- ok · write "a.txt" · intent "Keep the notes" · result "created · 1 line"',
]


async def run(session: CodingSession, prompt: str = "go") -> int:
    """Run a prompt; return how many requests the agent itself made."""
    before = len(session._config.provider.calls)
    async for _ in session.prompt(prompt):
        pass
    return len(session._config.provider.calls) - before


def reminders(messages: Any) -> list[list[str]]:
    """The lines below the opening of each message of ours."""
    return [message.text.split("\n")[1:] for message in messages if getattr(message, "custom_type", None) == RECALL]


def without_results(lines: list[str]) -> list[str]:
    return [line.partition(" · result ")[0] for line in lines]


def last_request(session: CodingSession) -> list[Any]:
    return session._config.provider.calls[-1][2]


async def test_after_a_compaction_by_hand_the_next_request_holds_one_reminder_and_no_more_turns(desk: Desk):
    session = await desk.session([calls(WRITE, BASH), says("First"), says("Second"), says("Third"), says("Fourth")])
    await run(session, LONG)
    await run(session)
    assert reminders(last_request(session)) == []
    await session.compact()
    assert session.queued_message_count == 0
    assert await run(session, "What now?") == 1
    sent = last_request(session)
    assert [without_results(lines) for lines in reminders(sent)] == [without_results(LINES)]
    assert sent[-2].text == "What now?"
    assert "data and not instructions" in sent[-1].text
    assert len(sent[-1].text) <= MOST_CHARACTERS
    assert await run(session) == 1
    assert len(reminders(last_request(session))) == 1


async def test_after_a_compaction_at_the_threshold_the_model_is_reminded(desk: Desk):
    session = await desk.session(
        [calls(WRITE, BASH), says("First"), says("Second"), says("Third"), says("Fourth")],
        auto_compact_token_threshold=1,
    )
    await run(session, LONG)
    await run(session)
    assert len(session.state.compaction_entries) == 1
    assert await run(session) == 1
    assert [without_results(lines) for lines in reminders(last_request(session))] == [without_results(LINES)]


async def test_after_an_overflow_the_retried_request_holds_the_reminder(desk: Desk):
    overflow = AssistantErrorEvent(
        reason="error",
        error=AssistantMessage(
            model="m",
            content=[],
            stop_reason="error",
            error_message="This model's maximum context length was exceeded.",
        ),
    )
    session = await desk.session([calls(WRITE, BASH), says("First"), says("Second"), [overflow], says("Recovered")])
    await run(session, LONG)
    await run(session)
    assert await run(session, "Overflow") == 2
    assert [without_results(lines) for lines in reminders(last_request(session))] == [without_results(LINES)]
    assert session.messages[-1].text == "Recovered"


async def test_each_compaction_is_told_once_and_says_what_came_since(desk: Desk):
    session = await desk.session(
        [
            calls(WRITE),
            says("First"),
            says("Second"),
            says("Third"),
            calls(BASH),
            says("Fourth"),
            says("5"),
            says("6"),
        ]
    )
    await run(session, LONG)
    await run(session)
    await session.compact()
    await run(session)
    await run(session, LONG)
    await run(session)
    await session.compact()
    assert await run(session) == 1
    entries = [entry for entry in session.state.entries if entry.type == "custom_message"]
    told = [without_results(entry.content.split("\n")[1:]) for entry in entries]
    assert told == [without_results(LINES[1:]), without_results(LINES)]


async def test_a_reminder_that_nothing_followed_is_given_when_the_session_is_taken_up_again(desk: Desk):
    storage = JsonlSessionStorage(desk.root / "kept.jsonl")
    first = await desk.session([calls(WRITE, BASH), says("First"), says("Second")], storage=storage, session_id="one")
    await run(first, LONG)
    await run(first)
    await first.compact()
    await first.aclose()
    again = await desk.session([says("Third"), says("Fourth")], storage=storage, session_id="one")
    assert await run(again) == 1
    assert [without_results(lines) for lines in reminders(last_request(again))] == [without_results(LINES)]
    await again.reload()
    assert await run(again) == 1
    assert len(reminders(last_request(again))) == 1


async def test_a_session_without_calls_is_told_nothing(desk: Desk):
    session = await desk.session([says("First"), says("Second"), says("Third")])
    await run(session, LONG)
    await run(session)
    await session.compact()
    assert await run(session) == 1
    assert [message.role for message in last_request(session)] == ["user", "user", "assistant", "user"]
    assert desk.segments == []


async def test_with_intents_off_nothing_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PI_INTENT_POLICY", "omit")
    session = await desk.session([calls(WRITE, BASH), says("First"), says("Second"), says("Third")])
    await run(session, LONG)
    await run(session)
    await session.compact()
    await run(session)
    assert reminders(last_request(session)) == []


async def test_what_redact_args_withholds_and_what_no_model_stated_is_not_told(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PI_INTENT_POLICY", "optional")
    (desk.project / ".pi-intent.toml").write_text("[tools.bash]\nredact_args = true\n")
    silent = ("write", {"path": "b.txt", "content": "x\n"})
    session = await desk.session([calls(WRITE, silent, BASH), says("First"), says("Second"), says("Third")])
    await run(session, LONG)
    await run(session)
    await session.compact()
    await run(session)
    told = reminders(last_request(session))
    assert [without_results(lines) for lines in told] == [without_results(['- ok · write "b.txt"', LINES[1]])]


async def test_a_reminder_waits_for_messages_that_were_queued_before_it_and_costs_no_turn(desk: Desk):
    session = await desk.session([calls(WRITE), says("First"), says("Second"), says("Third"), says("Fourth")])
    await run(session, LONG)
    await run(session)
    await session.compact()
    session.queue_steering_message("Mind the tests")
    assert await run(session) == 1
    assert reminders(last_request(session)) == []
    assert await run(session) == 1
    assert len(reminders(last_request(session))) == 1


async def test_a_reminder_that_cannot_be_given_is_told_once_and_the_run_goes_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def refuse(self: CodingSession, content: str, **more: Any) -> None:
        raise RuntimeError("no room")

    session = await desk.session([calls(WRITE), says("First"), says("Second"), says("Third"), says("Fourth")])
    session.extension_runtime.set_ui_bridge(StderrUiBridge())
    await run(session, LONG)
    await run(session)
    await session.compact()
    monkeypatch.setattr(CodingSession, "queue_steering_message", refuse)
    assert await run(session) == 1
    assert await run(session) == 1
    assert session.messages[-1].text == "Fourth"
    assert capsys.readouterr().err.count("before the compaction (RuntimeError: no room)") == 1


async def test_the_reminder_is_one_line_on_the_screen_and_no_markup_when_it_is_unfolded(desk: Desk):
    path = "[@click=app.quit]x[/]"
    session = await desk.session([calls(("read", {"intent": "Look", "path": path})), says("1"), says("2"), says("3")])
    await run(session, LONG)
    await run(session)
    await session.compact()
    await run(session)
    text = last_request(session)[-1].text
    draw = session._extension_runtime.render_custom_message
    assert draw(RECALL, text, None, False) == ("pi-intent · reminded the model of 1 earlier call")
    assert path in Text.from_markup(draw(RECALL, text, None, True)).plain
    assert "@click" not in str(Text.from_markup(draw(RECALL, text, None, True)).spans)


async def test_on_taus_screen_the_reminder_is_one_line_below_the_prompt(desk: Desk):
    session = await desk.session([calls(WRITE, BASH), says("First"), says("Second"), says("Third")])
    await run(session, LONG)
    await run(session)
    async with running(session) as (pilot, app):
        await type_in(pilot, app, "/compact")
        await type_in(pilot, app, "What now?")
        shown = screen(app)
        assert "pi-intent · reminded the model of 2 earlier calls" in shown
        assert "data and not instructions" not in shown
        assert len(reminders(last_request(session))) == 1
