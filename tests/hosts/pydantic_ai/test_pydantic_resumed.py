"""Calls that were asked about in one process, and decided on in another."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic_ai import DeferredToolRequests, DeferredToolResults, ToolApproved
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter
from pydantic_desk import Desk, Script
from pydantic_gated import (
    CALL,
    SENT,
    Store,
    decisions,
    digest_of,
    gated_agent,
    in_time,
    with_arguments,
)
from pydantic_process import in_another_process

from pi_intent import ask_when
from pi_intent.hosts.pydantic_ai.held import WAITING
from pi_intent.hosts.pydantic_ai.sessions import SESSIONS


@pytest.fixture(autouse=True)
def asked() -> Iterator[None]:
    """Somebody must see what is removed."""
    stop = ask_when(lambda arguments, situation: True, tools="remove", reason="it is gone for good")
    yield
    stop()


def test_it_runs_once_and_is_one_call_of_the_ledger(desk: Desk, how: str) -> None:
    first = in_another_process(how=how, turns=[[CALL]])
    assert (list(first["output"]), first["removed"]) == (["call-a"], [])
    assert desk.kept_as == [("remove", "Free some space", "open")]
    yes = {"how": how, "turns": ["done"], "history": first["history"], "approvals": {"call-a": True}}
    second = in_another_process(**yes)
    assert (second["output"], second["removed"]) == ("done", ["/tmp/x"])
    assert desk.kept_as == [("remove", "Free some space", "ok")]
    assert decisions(desk) == [(None, None, 1), (True, "application", 1)]
    (call,) = shown("log", "--json")["calls"]
    assert (call["call"]["intent"], call["state"]) == ("Free some space", "settled")
    verified = shown("verify", "--json")
    assert (verified["ok"], verified["calls"]) == (True, {"running": 0, "open": 0})

    third = in_another_process(**yes)  # the same answer once more
    assert (list(third["output"]), third["removed"]) == (["call-a"], [])


def shown(*command: str) -> Any:
    """What a command of ours says, as JSON."""
    arguments = [sys.executable, "-m", "pi_intent", *command]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


class Process:
    """Stands for one after another: each knows nothing of the one before but its history, and the ledger."""

    def __init__(self, how: str, **options: Any) -> None:
        self.how = how
        self.options = options
        self.history: list[ModelMessage] = []
        self.waiting: dict[str, Any] = {}

    async def ask(self, *turns: Any) -> None:
        """Have a call asked about."""
        result = await gated_agent(self.how, Script(*(turns or ([CALL],))), Store().toolset, **self.options).run("go")
        self._over(result.all_messages())
        self.waiting = result.output.metadata

    async def answer(
        self, approval: Any, *turns: Any, history: list[ModelMessage] | None = None, **more: Any
    ) -> tuple[Any, list[str]]:
        """Go on elsewhere; return the text, or the metadata of what waits, and what was removed."""
        store = Store()
        result = await gated_agent(self.how, Script(*(turns or ("done",))), store.toolset, **self.options).run(
            message_history=self.history if history is None else history,
            deferred_tool_results=DeferredToolResults(approvals={"call-a": approval}, **more),
        )
        self._over(self.history)
        output = result.output
        return output.metadata if isinstance(output, DeferredToolRequests) else output, store.removed

    def _over(self, messages: list[ModelMessage]) -> None:
        self.history = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(messages))
        WAITING.close()  # as at the end of a process
        SESSIONS._known.clear()


async def test_what_the_approver_writes_is_what_runs(desk: Desk, how: str) -> None:
    process = Process(how)
    await process.ask()
    assert await process.answer(ToolApproved(override_args={"path": "/tmp/y"})) == ("done", ["/tmp/y"])
    (kept,) = desk.kept
    assert kept.call is not None
    assert kept.done is not None
    assert (kept.call.intent, kept.call.args, kept.done.ran_args) == (
        "Free some space",
        {"path": "/tmp/x"},
        {"path": "/tmp/y"},
    )
    assert [entry.digest for entry in in_time(kept)] == [
        digest_of(desk, {"path": "/tmp/x"}),
        digest_of(desk, {"path": "/tmp/y"}),
    ]


async def test_a_denial_is_the_end_of_that_call_where_the_whole_agent_has_intents(desk: Desk) -> None:
    process = Process("all")
    await process.ask()
    assert await process.answer(False) == ("done", [])
    assert desk.kept_as == [("remove", "Free some space", "denied")]
    assert decisions(desk) == [(None, None, 1), (False, "application", 1)]


async def test_a_denial_of_what_nobody_asked_about_is_a_call_of_its_own(desk: Desk) -> None:
    process = Process("all")
    await process.ask()
    history = with_arguments(process.history, path="/etc")
    assert await process.answer(False, history=history) == ("done", [])
    assert desk.kept_as == [("remove", "Free some space", "open"), ("remove", "Free some space", "denied")]


async def test_an_approval_does_not_cover_a_history_that_changed(desk: Desk, how: str) -> None:
    process = Process(how)
    await process.ask()
    history = with_arguments(process.history, path="/etc")
    waiting, removed = await process.answer(True, history=history)
    assert (removed, waiting["call-a"]["pi_intent"]["action"]) == ([], "remove /etc")
    assert decisions(desk) == [(None, None, 1), (None, None, 1)]
    # Each of the two can be decided on.
    assert await process.answer(True) == ("done", ["/tmp/x"])
    assert await process.answer(True, history=history) == ("done", ["/etc"])


async def test_without_a_ledger_the_application_hands_back_what_was_asked(desk: Desk, how: str) -> None:
    process = Process(how, ledger=False)
    await process.ask()
    waiting, removed = await process.answer(True)
    assert (list(waiting), removed) == (["call-a"], [])
    assert await process.answer(True, metadata=process.waiting) == ("done", ["/tmp/x"])
    other = with_arguments(process.history, path="/etc")
    assert (await process.answer(True, history=other, metadata=process.waiting))[1] == []
    for changed in ({"tool": "remove_all"}, {"cwd": "/"}, {"source": "files"}):
        said = {**process.waiting["call-a"]["pi_intent"], **changed}
        assert (await process.answer(True, metadata={"call-a": {"pi_intent": said}}))[1] == []


async def test_what_is_handed_back_does_not_count_twice_where_there_is_a_ledger(desk: Desk, how: str) -> None:
    process = Process(how)
    await process.ask()
    assert await process.answer(True, metadata=process.waiting) == ("done", ["/tmp/x"])
    waiting, removed = await process.answer(True, metadata=process.waiting)
    assert (list(waiting), removed) == (["call-a"], [])


async def test_a_strict_ledger_that_is_gone_meanwhile_vetoes_the_call(
    desk: Desk, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_INTENT_STRICT", "true")
    process = Process(how)
    await process.ask()
    ledger = desk.project / ".git" / "pi-intent" / "ledger"
    shutil.rmtree(ledger)
    ledger.write_text("in the way")
    assert await process.answer(True, metadata=process.waiting) == ("done", [])
    assert [end.status for end in desk.ends] == ["denied"]


async def test_a_call_approved_for_the_session_is_not_in_another_process(desk: Desk, how: str) -> None:
    process = Process(how)
    await process.ask()
    scope = {"call-a": {"pi_intent": {"scope": "session"}}}
    again = [("remove", SENT, "call-b")]
    assert await process.answer(True, again, "done", metadata=scope) == ("done", ["/tmp/x", "/tmp/x"])
    waiting, _ = await process.answer(True, again, "done", metadata=scope)
    assert list(waiting) == ["call-a"]


async def test_a_new_process_reads_off_the_history_what_came_before(desk: Desk) -> None:
    process = Process("all", ledger=False)
    await process.ask([("list_all", {"intent": "See what is there"}, "call-l")], [CALL])
    more = [("remove", {**SENT, "path": "/tmp/y"}, "call-b")]
    waiting, _ = await process.answer(True, more, metadata=process.waiting)
    led = waiting["call-b"]["pi_intent"]["evidence"]["led"]
    assert [(call["tool"], call["status"], call["intent"]) for call in led] == [
        ("list_all", "ok", "See what is there"),
        ("remove", "ok", "Free some space"),
    ]
