"""A result larger than what is set goes nowhere, and the model is told how to ask for less."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tau_agent.messages import TextContent
from tau_agent.tools import AgentToolResult
from tau_desk import Desk, calls

from pi_intent import ToolExecutionUpdate
from pi_intent.descriptions import model_texts
from pi_intent.hosts.tau.ceiling import Ceiling
from pi_intent.protocols import Settlement
from pi_intent.recorded import RecordedSession

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


DETAILED = """
from tau_agent.tools import AgentTool, AgentToolResult


def setup(tau):
    async def looks(tool_call_id, arguments, signal=None, on_update=None):
        details = {"pi_intent": {"outcome": "p4yl0ad"}, "more": "p4yl0ad"}
        return AgentToolResult(content="x" * 5000, details=details)

    tau.register_tool(AgentTool(name="read", label="read", description="Read.", parameters={"type": "object"},
                                execute_fn=looks))
"""


async def test_of_the_details_of_a_withheld_result_nothing_is_left_either(desk: Desk, limited):
    desk.extension("another", DETAILED)
    (end,) = await desk.run(calls(("read", {"path": "a.txt", "intent": "See it"})))
    assert "read did run, and its result is withheld" in end.result.text
    assert end.result.details is None
    assert SECRET not in everything_told(desk)


async def test_details_which_no_model_sees_are_not_counted(desk: Desk, limited):
    desk.extension(
        "another", DETAILED.replace('"x" * 5000', '"x"').replace('"more": "p4yl0ad"', '"more": "y" * 5000')
    )
    (end,) = await desk.run(calls(("read", {"path": "a.txt", "intent": "See it"})))
    assert end.result.text == "x"


@pytest.mark.parametrize("details", [object(), {"a": {1, 2}}, "\ud800"])
def test_a_result_that_json_cannot_hold_is_looked_at_as_it_shows_itself(details: object):
    class Session(RecordedSession):
        pipeline = SimpleNamespace(texts=model_texts())

    session = Session()
    session.learn(["c4n4ry-0f-the-m1ne"])
    ceiling = Ceiling(session, "look", None)  # type: ignore[arg-type]
    settlement = Settlement(status="ok", is_error=False)
    content = [TextContent(text="looked")]
    result = AgentToolResult.model_construct(content=content, details=details)
    assert ceiling.result(result, settlement) == (result, settlement)
    result = AgentToolResult.model_construct(content=content, details=[details, "c4n4ry-0f-the-m1ne"])
    assert "holds a credential" in ceiling.result(result, settlement)[0].text


async def test_a_file_that_another_tool_names_stays(desk: Desk, limited):
    theirs = desk.project / "tau-bash-mine.log"
    theirs.write_text("mine")
    desk.extension("another", DETAILED.replace('"more": "p4yl0ad"', f'"full_output_path": {str(theirs)!r}'))
    (end,) = await desk.run(calls(("read", {"path": "a.txt", "intent": "See it"})))
    assert "read did run, and its result is withheld" in end.result.text
    assert theirs.read_text() == "mine"


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
