"""A credential goes to the tool that needs it, after consent, and nowhere else."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest
from tau_agent.events import ToolExecutionEndEvent
from tau_coding.extensions import StderrUiBridge
from tau_desk import Desk, calls, says
from user_config import write_config

from pi_intent.ledger.calls import calls as calls_of
from pi_intent.render.audit_words import told as as_told
from pi_intent.render.call import call_lines
from pi_intent.render.moments import Moments

CANARY = "c4n4ry-0f-the-m1ne-3141592"
SETTINGS = """
[credentials]
mine = {{ from = "{origin}", as = "MINE_TOKEN" }}

[tools.bash]
needs = ["mine"]
"""


@pytest.fixture
def configured(desk: Desk):
    def configure(origin: str, more: str = "") -> None:
        desk.configure(more + SETTINGS.format(origin=origin))

    return configure


def everything_told(desk: Desk) -> str:
    """All that leaves the tool: events, the ledger, and the session that Tau keeps, which is what the model reads."""
    files = [path for path in desk.root.rglob("*") if path.is_file() and "config" not in path.parts]
    return repr(list(desk.events)) + "".join(path.read_bytes().decode(errors="replace") for path in files)


def told(desk: Desk, capsys) -> str:
    return everything_told(desk) + "".join(capsys.readouterr())


LENGTH = {"command": 'test "$MINE_TOKEN" && echo "${#MINE_TOKEN}"', "intent": "Use it"}


async def test_the_tool_gets_it_from_a_variable_and_nobody_else_does(desk: Desk, configured, monkeypatch, capsys):
    configured("env:WHERE_IT_IS")
    monkeypatch.setenv("WHERE_IT_IS", CANARY)
    (end,) = await desk.run(calls(("bash", LENGTH)))
    assert end.result.text.strip() == str(len(CANARY))
    assert "MINE_TOKEN" not in os.environ
    assert CANARY not in told(desk, capsys)


async def test_who_looks_later_finds_which_call_got_it(desk: Desk, configured, monkeypatch):
    configured("env:WHERE_IT_IS", 'ask = "write"\n')
    monkeypatch.setenv("WHERE_IT_IS", CANARY)
    await desk.run(calls(("bash", LENGTH), ("read", {"path": "x", "intent": "Look"})))
    configured("env:WHERE_IT_IS")
    await desk.run(calls(("bash", LENGTH)))
    done = [(record["status"], record.get("given")) for record in desk.records if record["t"] == "done"]
    assert sorted(done, key=str) == [("denied", []), ("error", []), ("ok", ["mine"])]
    kept = calls_of(desk.project / ".git" / "pi-intent")
    (got,) = [call for call in kept if call.done is not None and call.done.given]
    assert as_told(got, Moments()).given == "It is given the credential mine"
    lines = call_lines(got, (), notes=(), before=(), after=())
    assert ["given", "the", "credentials", "mine"] in [line.plain.split() for line in lines]


async def test_from_a_command(desk: Desk, configured, tmp_path: Path, capsys):
    (tmp_path / "secret.txt").write_text(CANARY + "\n")
    configured(f"command:cat {tmp_path / 'secret.txt'}")
    (end,) = await desk.run(calls(("bash", LENGTH)))
    assert end.result.text.strip() == str(len(CANARY))
    (tmp_path / "secret.txt").unlink()
    assert CANARY not in told(desk, capsys)


@pytest.mark.parametrize(
    "prints",
    [
        'echo "$MINE_TOKEN"',
        'printf %s "$MINE_TOKEN" | base64',
        'echo "$MINE_TOKEN" | fold -w 9',
        'echo "$MINE_TOKEN"; exit 1',
        'for i in $(seq 3000); do echo "line $i"; done; echo "$MINE_TOKEN"',
        "env",
    ],
)
async def test_a_result_that_holds_it_is_withheld(desk: Desk, configured, monkeypatch, capsys, prints: str):
    configured("env:WHERE_IT_IS")
    monkeypatch.setenv("WHERE_IT_IS", CANARY)
    before = set(Path("/tmp").glob("tau-bash-*"))
    (end,) = await desk.run(calls(("bash", {"command": prints, "intent": "See it"})))
    assert "bash did run, and its result is withheld: it holds a credential" in end.result.text
    assert desk.records[-1]["flags"] == ["withheld"]
    text = told(desk, capsys)
    assert CANARY not in text
    assert base64.b64encode(CANARY.encode()).decode()[:-4] not in text
    assert set(Path("/tmp").glob("tau-bash-*")) <= before


READS = """
from pathlib import Path

from tau_agent.tools import AgentTool, AgentToolResult


def setup(tau):
    async def look(tool_call_id, arguments, signal=None, on_update=None):
        text = Path(arguments["path"]).read_text()
        if on_update is not None:
            on_update(AgentToolResult(content=text))
        if arguments.get("raises"):
            raise ValueError(f"it says {text}")
        return AgentToolResult(content="looked", details={"found": [text]})

    tau.register_tool(AgentTool(name="look", label="look", description="d", parameters={"type": "object"},
                                execute_fn=look))
"""


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read", {"path": "left.txt", "intent": "Read it back"}),
        ("look", {"path": "left.txt"}),
        ("look", {"path": "left.txt", "raises": True}),
    ],
)
async def test_what_the_tool_has_left_somewhere_no_other_tool_brings_back(
    desk: Desk, configured, monkeypatch, capsys, tool: str, arguments: dict[str, object]
):
    configured("env:WHERE_IT_IS")
    monkeypatch.setenv("WHERE_IT_IS", CANARY)
    monkeypatch.chdir(desk.project)
    desk.extension("another", READS)
    leaves = {"command": 'printf %s "$MINE_TOKEN" > left.txt', "intent": "Leave it"}
    _, end = await desk.run(calls(("bash", leaves)), calls((tool, arguments)))
    assert f"{tool} did run, and its result is withheld: it holds a credential" in end.result.text
    assert desk.records[-1]["flags"] == ["withheld"]
    (desk.project / "left.txt").unlink()
    assert CANARY not in told(desk, capsys)


async def test_before_anything_was_given_no_result_is_touched(desk: Desk, configured):
    configured("env:WHERE_IT_IS")
    (desk.project / "a.txt").write_text(CANARY)
    (end,) = await desk.run(calls(("read", {"path": "a.txt", "intent": "See it"})))
    assert end.result.text == CANARY


async def test_what_the_model_writes_of_it_later_is_redacted(desk: Desk, configured, monkeypatch, capsys):
    configured("env:WHERE_IT_IS")
    monkeypatch.setenv("WHERE_IT_IS", CANARY)
    said = {"path": "a.txt", "content": "x", "intent": f"Write {CANARY}", "rationale": f"{CANARY} is it"}
    await desk.run(calls(("bash", LENGTH)), calls(("write", said)))
    assert CANARY not in "".join(path.read_text() for path in desk.segments)


@pytest.mark.parametrize(
    ("origin", "why"),
    [
        ("env:NOT_SET_ANYWHERE", "the variable NOT_SET_ANYWHERE is not set"),
        ("command:false", "its command ended with 1; run it by hand to see why\n"),
        ("command:no-such-program-anywhere", "there is no program no-such-program-anywhere; is it installed, and on"),
        ("command:/etc/passwd", "/etc/passwd cannot be run (Permission denied)"),
        ("command:echo short", "it must have 8 characters or more, not counting blanks, quotes, backslashes and +"),
        ("command:true", "it is empty\n"),
        (
            "command:sh -c 'echo c4n4ry-0f-the-m1ne-3141592; exit 3'",
            "its command ended with 3; run it by hand to see why\n",
        ),
        (
            "command:sh -c 'echo x >&2; echo it is locked >&2; exit 3'",
            "its command ended with 3 (it is locked); run it by hand",
        ),
        (
            "command:sh -c 'echo c4n4ry-0f-the-m1ne-3141592; echo no c4n4ry-0f-the-m1ne-3141592 here >&2; exit 3'",
            "its command ended with 3 (no [redacted:",
        ),
    ],
)
async def test_without_it_nothing_runs_and_both_are_told(desk: Desk, configured, capsys, origin: str, why: str):
    configured(origin)
    session = await desk.session([calls(("bash", {"command": "touch ran", "intent": "Run it"})), says("done")])
    session.extension_runtime.set_ui_bridge(StderrUiBridge())
    (end,) = [event async for event in session.prompt("go") if isinstance(event, ToolExecutionEndEvent)]
    assert end.is_error
    assert end.result.text.startswith(
        "Nothing was executed: bash needs the credential mine, which could not be fetched."
    )
    assert not (desk.project / "ran").exists()
    assert desk.statuses == [("bash", "denied")]
    text = told(desk, capsys)
    assert "could not fetch the credential mine: " in text
    assert why in text
    assert CANARY not in text


async def test_who_waits_for_it_is_told_for_what(desk: Desk, configured, capsys):
    configured("command:sh -c 'sleep 1.4; echo c4n4ry-0f-the-m1ne-3141592'")
    session = await desk.session([calls(("bash", LENGTH)), says("done")])
    session.extension_runtime.set_ui_bridge(StderrUiBridge())
    (end,) = [event async for event in session.prompt("go") if isinstance(event, ToolExecutionEndEvent)]
    assert end.result.text.strip() == str(len(CANARY))
    assert "waiting for the credential mine" in capsys.readouterr().err


async def test_who_waits_for_a_moment_is_told_nothing(desk: Desk, configured, monkeypatch, capsys):
    configured("env:WHERE_IT_IS")
    monkeypatch.setenv("WHERE_IT_IS", CANARY)
    session = await desk.session([calls(("bash", LENGTH)), says("done")])
    session.extension_runtime.set_ui_bridge(StderrUiBridge())
    assert [event async for event in session.prompt("go") if isinstance(event, ToolExecutionEndEvent)]
    assert "waiting" not in capsys.readouterr().err


async def test_it_is_not_fetched_before_somebody_has_approved(desk: Desk, configured, tmp_path: Path):
    configured(f"command:touch {tmp_path / 'fetched'}", more='ask = "exec"\n')
    (end,) = await desk.run(calls(("bash", {"command": "touch ran", "intent": "Run it"})))
    assert "needs a person's approval" in end.result.text
    assert not (tmp_path / "fetched").exists()
    assert not (desk.project / "ran").exists()


async def test_other_calls_at_the_same_time_do_not_get_it(desk: Desk, configured, monkeypatch):
    configured("env:WHERE_IT_IS")
    monkeypatch.setenv("WHERE_IT_IS", CANARY)
    desk.extension(
        "beside",
        """
import asyncio

from tau_agent.tools import AgentTool, AgentToolResult


def setup(tau):
    async def look(tool_call_id, arguments, signal=None, on_update=None):
        found = []
        for _ in range(5):
            process = await asyncio.create_subprocess_shell('echo "[$MINE_TOKEN]"', stdout=asyncio.subprocess.PIPE)
            found.append((await process.communicate())[0].decode().strip())
        return AgentToolResult(content=" ".join(found))

    tau.register_tool(AgentTool(name="look", label="look", description="d", parameters={"type": "object"},
                                execute_fn=look))
""",
    )
    slow = {"command": "sleep 0.3; echo done", "intent": "Wait"}
    ends = await desk.run(calls(("bash", slow), ("look", {}), ("bash", {**slow, "intent": "Wait again"})))
    texts = {end.result.text.strip() for end in ends if end.tool_name == "look"}
    assert texts == {" ".join(["[]"] * 5)}


def test_a_project_can_neither_name_credentials_nor_give_them_away(tmp_path: Path):
    from pi_intent.settings import load_settings

    (tmp_path / ".pi-intent.toml").write_text(SETTINGS.format(origin="command:touch pwned"))
    loaded = load_settings(project=tmp_path, environ={"HOME": str(tmp_path)})
    assert loaded.settings.credentials == ()
    assert loaded.settings.for_tool("bash", watched=True).needs == ()
    assert any("credentials does not count" in warning for warning in loaded.warnings)


@pytest.mark.parametrize(
    "said",
    ['"hunter2-hunter2"', '"vault:x"', '{ from = "env:" }', '{ as = "X" }', '{ from = "env:A", as = "1 2" }', "3"],
)
def test_a_wrong_entry_is_named_and_never_quoted(tmp_path: Path, said: str):
    from pi_intent.settings import load_settings

    write_config(tmp_path / ".config", f"[credentials]\nmine = {said}\n")
    loaded = load_settings(project=None, environ={"HOME": str(tmp_path)})
    assert loaded.settings.credentials == ()
    (warning,) = loaded.warnings
    assert "credentials.mine" in warning
    assert "hunter2" not in warning
