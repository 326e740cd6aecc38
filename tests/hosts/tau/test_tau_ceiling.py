"""A result larger than what is set goes nowhere, and the model is told how to ask for less."""

from __future__ import annotations

import pytest
from tau_desk import Desk, calls

from pi_intent import ToolExecutionUpdate

SECRET = "p4yl0ad"
LIMIT = 2048


@pytest.fixture
def limited(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PI_INTENT_RESULT_LIMIT", str(LIMIT))


def everything_told(desk: Desk) -> str:
    """All that leaves the tool: events, the ledger, and the session that Tau keeps."""
    files = [*desk.segments, *desk.root.glob("s*.jsonl")]
    return repr(list(desk.events)) + "".join(path.read_text() for path in files)


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (f"for i in $(seq 500); do echo {SECRET}; done", "ok"),
        (f"for i in $(seq 500); do echo {SECRET}; done; exit 3", "error"),
        (f"for i in $(seq 500); do echo {SECRET} >&2; sleep 0.001; done", "ok"),
    ],
)
async def test_nothing_of_it_is_anywhere(desk: Desk, limited, command: str, status: str):
    (end,) = await desk.run(calls(("bash", {"command": command.replace(SECRET, "p4yl'0'ad"), "intent": "See it"})))
    assert SECRET not in end.result.model_dump_json()
    assert SECRET not in everything_told(desk)
    assert "bash did run, and its result is withheld: it has" in end.result.text
    assert f"the limit here is {LIMIT}" in end.result.text
    assert end.result.details is None
    assert desk.statuses == [("bash", status)]
    done = desk.records[-1]
    assert done["flags"] == ["withheld"]
    assert done["facts"].endswith("bytes withheld")
    assert done["bytesOut"] == len(end.result.text)
    assert not any(isinstance(event, ToolExecutionUpdate) and event.partial_result for event in desk.events)


RAISES = """
from tau_agent.tools import AgentTool


def setup(tau):
    async def fails(tool_call_id, arguments, signal=None, on_update=None):
        raise ValueError("p4yl0ad " * 500)

    tau.register_tool(AgentTool(name="read", label="read", description="Read.", parameters={"type": "object"},
                                execute_fn=fails))
"""


async def test_the_text_of_an_error_is_a_result_too(desk: Desk, limited):
    desk.extension("another", RAISES)
    (end,) = await desk.run(calls(("read", {"path": "a.txt", "intent": "See it"})))
    assert "read did run, and its result is withheld" in end.result.text
    assert end.is_error
    assert SECRET not in everything_told(desk)
    assert desk.statuses == [("read", "error")]


async def test_what_fits_is_the_very_same(desk: Desk, limited):
    (desk.project / "a.txt").write_text("x" * LIMIT)
    (end,) = await desk.run(calls(("read", {"path": "a.txt", "intent": "See it"})))
    assert end.result.text == "x" * LIMIT
    (desk.project / "a.txt").write_text("ä" * LIMIT)
    (end,) = await desk.run(calls(("read", {"path": "a.txt", "intent": "See it"})))
    assert f"it has {2 * LIMIT} bytes" in end.result.text


async def test_what_a_withheld_call_changed_stays_told(desk: Desk, limited):
    command = f"echo new > b.txt; for i in $(seq 500); do echo {SECRET}; done"
    await desk.run(calls(("bash", {"command": command, "intent": "Write it"})))
    assert (desk.project / "b.txt").read_text() == "new\n"
