"""When a run has settled, the entries that changed something carry their intents in `/tree`."""

from __future__ import annotations

from typing import Any

import pytest
from rich.cells import cell_len
from tau_agent.session import InMemorySessionStorage, JsonlSessionStorage
from tau_coding.extensions import StderrUiBridge
from tau_coding.session import CodingSession
from tau_desk import Desk, calls, says
from tau_screen import running, screen, type_in

from pi_intent.hosts.tau.checkpoints import LABEL_WIDTH, MOST_ONE_BY_ONE, name_checkpoints
from pi_intent.hosts.tau.extension import TauExtension


def write(intent: str, path: str = "a.txt") -> tuple[str, Any]:
    return "write", {"intent": intent, "path": path, "content": "x\n"}


def bash(intent: str, command: str = "true") -> tuple[str, Any]:
    return "bash", {"intent": intent, "command": command}


def extension_of(session: CodingSession) -> TauExtension:
    return session._extension_runtime.__pi_intent__._extension


async def opted_in(desk: Desk, *turns: Any, **config: Any) -> CodingSession:
    session = await desk.session(turns, **config)
    name_checkpoints(extension_of(session), checkpoints=True)
    return session


async def run(session: CodingSession) -> None:
    async for _ in session.prompt("go"):
        pass


async def story(session: CodingSession) -> list[str | None]:
    """The labels of the tree's entries, None for those without one."""
    return [choice.bookmark_label for choice in await session.tree_choices()]


@pytest.mark.parametrize("storage", ["file", "memory"])
async def test_the_entries_of_calls_that_changed_something_get_their_intents(desk: Desk, storage: str):
    (desk.project / "there.txt").write_text("x\n")
    session = await opted_in(
        desk,
        calls(("read", {"intent": "Look first", "path": "there.txt"})),
        calls(write("Rewriting the zod schema"), bash("Checking it"), bash("Checking it", "true #")),
        calls(bash("Seeing it fail", "exit 3")),
        calls(bash("Cleaning up")),
        says("done"),
        storage=InMemorySessionStorage() if storage == "memory" else JsonlSessionStorage(desk.root / "s.jsonl"),
    )
    await run(session)
    assert await story(session) == [None, None, "Rewriting the zod schema; Checking it", None, "Cleaning up", None]


async def test_nothing_is_labelled_unless_asked_for(desk: Desk):
    session = await desk.session([calls(write("Keep the notes")), says("done")])
    name_checkpoints(extension_of(session), checkpoints=False)
    await run(session)
    assert await story(session) == [None, None, None]
    assert [entry.type for entry in session.state.entries if entry.type == "label"] == []


async def test_each_run_labels_its_own_entries_once_although_ids_begin_anew(desk: Desk):
    session = await opted_in(
        desk, calls(write("First")), says("ok"), calls(write("Second")), calls(write("Third")), says("ok")
    )
    await run(session)
    await run(session)
    assert await story(session) == [None, "First", None, None, "Second", "Third", None]
    labels = [(entry.label, entry.target_id) for entry in session.state.entries if entry.type == "label"]
    assert len(labels) == len(set(labels)) == 3


async def test_a_label_that_a_person_set_stays(desk: Desk):
    session = await desk.session([calls(write("Mine")), calls(write("Ours")), says("ok")])

    async def agent_settled(event: Any, context: Any) -> None:
        choice = next(choice for choice in await session.tree_choices() if choice.is_tool_call)
        await session.set_label(choice.entry_id, "the person's")

    extension_of(session).tau.on("agent_settled", agent_settled)  # comes before ours
    name_checkpoints(extension_of(session), checkpoints=True)
    await run(session)
    assert await story(session) == [None, "the person's", "Ours", None]


async def test_a_label_is_one_printable_line_of_bounded_width(desk: Desk):
    session = await opted_in(desk, calls(write("\x1b]0;title\x07Umbau\n\u202eder " + "日本" * 100)), says("ok"))
    await run(session)
    label = (await story(session))[1]
    assert label.startswith("Umbau der 日本")
    assert label.endswith("…")
    assert cell_len(label) <= LABEL_WIDTH


async def test_secrets_and_withheld_intents_stand_in_no_label(desk: Desk):
    (desk.project / ".pi-intent.toml").write_text("[tools.bash]\nredact_args = true\n")
    token = "ghp_" + "a1B2" * 9
    session = await opted_in(desk, calls(write(f"Use {token} here")), calls(bash("Hidden")), says("ok"))
    await run(session)
    first, second = (await story(session))[1:3]
    assert first.startswith("Use ")
    assert token not in first
    assert second is None


async def test_an_intent_that_no_model_stated_names_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PI_INTENT_POLICY", "optional")
    session = await opted_in(desk, calls(("write", {"path": "a.txt", "content": "x"})), says("ok"))
    await run(session)
    assert desk.statuses == [("write", "ok")]
    assert await story(session) == [None, None, None]


async def test_a_run_that_is_left_has_its_finished_changes_named(desk: Desk):
    session = await opted_in(desk, calls(write("Kept")), calls(write("Never reached")), says("ok"), says("ok"))
    events = session.prompt("go")
    async for event in events:
        if event.type == "turn_end":
            break
    await events.aclose()
    assert (await story(session))[:2] == [None, "Kept"]
    assert "Never reached" not in await story(session)


async def test_a_storage_that_fails_is_told_once_and_the_session_goes_on(
    desk: Desk, capsys: pytest.CaptureFixture[str]
):
    class Failing(JsonlSessionStorage):
        async def append(self, entry: Any) -> None:
            if entry.type == "label":
                raise OSError(28, "No space left on device")
            await super().append(entry)

        async def append_batch(self, entries: Any) -> None:
            for entry in entries:
                await self.append(entry)

    session = await opted_in(
        desk,
        calls(write("First")),
        says("ok"),
        calls(write("Second")),
        says("ok"),
        storage=Failing(desk.root / "failing.jsonl"),
    )
    session.extension_runtime.set_ui_bridge(StderrUiBridge())
    await run(session)
    await run(session)
    assert capsys.readouterr().err.count("could not be named in /tree (OSError: [Errno 28] No space left") == 1
    assert session.messages[-1].text == "ok"
    assert [diagnostic for diagnostic in session.resource_diagnostics if diagnostic.severity == "error"] == []


async def test_where_tau_keeps_no_batches_the_last_changes_are_named_one_by_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delattr(CodingSession, "_append_session_batch")
    changes = [calls(write(f"Step {number}")) for number in range(MOST_ONE_BY_ONE + 2)]
    session = await opted_in(desk, *changes, says("ok"))
    await run(session)
    steps = [f"Step {number}" for number in range(2, MOST_ONE_BY_ONE + 2)]
    assert await story(session) == [None, None, None, *steps, None]


async def test_a_session_with_labels_is_taken_up_again_where_it_was(desk: Desk):
    storage = JsonlSessionStorage(desk.root / "kept.jsonl")
    session = await opted_in(desk, calls(write("First")), calls(write("Second")), says("ok"), storage=storage)
    await run(session)
    texts = [message.text for message in session.messages]
    again = await opted_in(desk, calls(write("Third")), says("done"), storage=storage)
    assert [message.text for message in again.messages] == texts
    await run(again)
    assert await story(again) == [None, "First", "Second", None, None, "Third", None]
    assert len(again.messages) == len(texts) + 4


async def test_a_person_can_go_back_to_a_label(desk: Desk):
    session = await opted_in(desk, calls(write("Rewriting")), says("ok"), says("Again"))
    await run(session)
    choice = next(choice for choice in await session.tree_choices() if choice.bookmark_label == "Rewriting")
    await session.branch_to_entry(choice.entry_id)
    await run(session)
    assert session.messages[-1].text == "Again"
    assert "Rewriting" in await story(session)


async def test_on_taus_screen_the_tree_reads_as_a_story(desk: Desk):
    session = await opted_in(desk, calls(write("Rewriting [bold]the[/bold] schema")), says("ok"))
    async with running(session) as (pilot, app):
        await type_in(pilot, app, "go")
        await type_in(pilot, app, "/tree")
        assert "[Rewriting [bold]the[/bold] schema] tool call: write" in screen(app)
