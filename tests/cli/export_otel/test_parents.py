"""A call is sent under the one that it was made inside of."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from otel_exporting import call_of, journal_of, name_of, sent
from otlp_receiver import Receiver
from session_files import as_bytes, subagent_session

from pi_intent.cli.main import commands
from pi_intent.ledger.calls import calls
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import find_ledger
from pi_intent.tracing.ids import call_span_id, session_span_id, trace_id


def test_a_call_that_another_ones_tool_made_is_under_it_and_in_its_trace(received: Receiver) -> None:
    child, parent = journal_of("a-child"), journal_of("z-parent")  # the child's file is read first
    call_of(parent, 1)
    call_of(child, 2, parent_tool_call_id=name_of(1), agent_id="child")
    call_of(child, 3, parent_tool_call_id=name_of(2), agent_id="child")
    call_of(child, 4, parent_tool_call_id="nobody's")
    child.close()
    parent.close()
    told = {span.span_id: span for span in sent(received)}
    spans = [told[f"{call_span_id(name_of(number)):016x}"] for number in range(1, 5)]
    whole, own = f"{trace_id('z-parent'):032x}", f"{trace_id('a-child'):032x}"
    assert [span.trace_id for span in spans] == [whole, whole, whole, own]
    assert [span.parent_id for span in spans] == [
        f"{session_span_id('z-parent'):016x}",
        spans[0].span_id,
        spans[1].span_id,
        f"{session_span_id('a-child'):016x}",
    ]
    alone = sent(received, "--session", "a-child")
    assert {span.span_id for span in alone} == {
        spans[1].span_id,
        spans[2].span_id,
        spans[3].span_id,
        spans[3].parent_id,
    }
    assert all(span == told[span.span_id] for span in alone)


def test_a_call_that_a_subagent_made_is_under_the_one_that_started_it_after_an_import(
    project: Path, tmp_path: Path, received: Receiver
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(as_bytes(*subagent_session(str(project))))
    CliRunner().invoke(commands, ["import", str(path)], catch_exceptions=False)
    by_tool = {call.call.tool: call.call for call in calls(find_ledger(Path(), os.environ).root) if call.call}
    task, read, bash = (by_tool[name] for name in ("Task", "Read", "Bash"))
    assert (task.parent, read.parent, bash.parent) == (None, task.id, None)
    spans = {span.name: span for span in sent(received)}
    own, of_task = spans["claude-code session"], spans["execute_tool Task"]
    assert [spans[f"execute_tool {name}"].parent_id for name in ("Task", "Read", "Bash")] == [
        own.span_id,
        of_task.span_id,
        own.span_id,
    ]
    assert {span.trace_id for span in spans.values()} == {own.trace_id}


def test_of_too_many_calls_before_their_parent_the_first_hangs_under_its_session(
    journal: SessionJournal, received: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pi_intent.tracing.early.MOST_EARLY", 2)
    for number in (1, 2, 3):
        call_of(journal, number, parent_tool_call_id=name_of(9))
    call_of(journal, 9)
    told = {span.span_id: span.parent_id for span in sent(received)}
    session, parent = f"{session_span_id('s-1'):016x}", f"{call_span_id(name_of(9)):016x}"
    assert [told[f"{call_span_id(name_of(number)):016x}"] for number in (1, 2, 3, 9)] == [
        session,
        parent,
        parent,
        session,
    ]


def test_a_call_that_is_its_own_parent_is_sent_all_the_same(journal: SessionJournal, received: Receiver) -> None:
    call_of(journal, 1, parent_tool_call_id=name_of(1))
    call_of(journal, 2, parent_tool_call_id=name_of(3))
    call_of(journal, 3, parent_tool_call_id=name_of(2))
    assert len(sent(received)) == 4
