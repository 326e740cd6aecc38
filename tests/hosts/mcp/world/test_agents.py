"""Real agents on a scripted model, with real servers behind the proxy: Claude Code and Codex."""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from agent_model import AgentModel, AnthropicMessages, Dialect, OpenAIResponses
from mcp_world import FIRST, SECOND, SECONDS, SERVERS, THIRD, Desk, Server

from pi_intent.cli.demo.model import ScriptedCall, Turn
from pi_intent.hosts.mcp.questions import ONCE

pytestmark = pytest.mark.one_python

EVERYTHING, GIT, MEMORY = (SERVERS[name] for name in ("everything", "git", "memory"))
REFUSAL = "Nothing was executed: `intent` is missing. Call {tool} again with `intent` first"


type Command = tuple[list[str], dict[str, str]]
"""The words of a command, and what it needs in its environment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent: what its model speaks, how it is given one prompt, what it does to what it is given."""

    dialect: Callable[[], Dialect]
    command: Callable[[Desk, AgentModel, Sequence[Server]], Command]
    keeps_order: bool
    tells_errors: bool
    spelling: Callable[[str], str] = str
    """How it spells a tool's name for its model."""


def claude_code(desk: Desk, model: AgentModel, servers: Sequence[Server]) -> Command:
    """One prompt for Claude Code; `--bare` reads nothing of a user's, and nothing but the model is asked."""
    wrapped = {server.name: desk.wrapped(server) for server in servers}
    config = {"mcpServers": {name: {"command": words[0], "args": words[1:]} for name, words in wrapped.items()}}
    allowed = ",".join(f"mcp__{name}" for name in wrapped)
    return (
        [
            *(str(desk.world.claude), "--print", "Go", "--bare", "--model", "scripted", "--tools", ""),
            *("--strict-mcp-config", "--mcp-config", json.dumps(config), "--allowedTools", allowed),
        ],
        {
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "HTTPS_PROXY": model.url,
        },
    )


def codex(desk: Desk, model: AgentModel, servers: Sequence[Server]) -> Command:
    """One prompt for Codex; its plugins and apps would ask the network, and its daemon would outlive it."""
    lines = [
        'model = "scripted"',
        'model_provider = "scripted"',
        "check_for_update_on_startup = false",
        "features = {plugins = false, apps = false, multi_agent = false, daemon_auto_start = false}",
        "analytics = {enabled = false}",
        "[model_providers.scripted]",
        f'name = "scripted"\nbase_url = "{model.url}/v1"\nwire_api = "responses"',
    ]
    for server in servers:
        words = desk.wrapped(server)
        lines.append(f"[mcp_servers.{server.name}]\ncommand = {json.dumps(words[0])}\nargs = {json.dumps(words[1:])}")
        # Without it the first request may go out before the server's tools are there.
        lines.append("required = true")
        lines.append('default_tools_approval_mode = "approve"')
    (desk.home / ".codex").mkdir()
    (desk.home / ".codex" / "config.toml").write_text("\n".join(lines))
    return [str(desk.world.codex), "exec", "Go"], {"HTTPS_PROXY": model.url}


AGENTS = {
    "claude": Agent(dialect=AnthropicMessages, command=claude_code, keeps_order=True, tells_errors=True),
    "codex": Agent(
        dialect=OpenAIResponses,
        command=codex,
        keeps_order=False,  # it sorts by name
        tells_errors=False,
        spelling=lambda name: name.replace("-", "_"),
    ),
}


def run(agent: Agent, desk: Desk, model: AgentModel) -> str:
    """Let the agent answer one prompt, with both servers; return what it says in the end."""
    words, environment = agent.command(desk, model, [MEMORY, GIT])
    done = desk.run(words, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def call(desk: Desk, server: Server, word: str, **intent: Any) -> Turn:
    """A turn of the model with one call."""
    arguments = {**intent, **server.arguments(desk, word)}
    return Turn(calls=(ScriptedCall(name=f"mcp__{server.name}__{server.tool}", arguments=arguments),))


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_lists_is_refused_and_recovers(desk: Desk, name: str) -> None:
    agent = AGENTS[name]
    turns = [
        call(desk, MEMORY, FIRST, intent="Remember the first word"),
        call(desk, MEMORY, SECOND),
        call(desk, MEMORY, THIRD, intent="Remember the third word", rationale="The second was refused"),
        call(desk, GIT, FIRST, intent=" "),
        call(desk, GIT, SECOND, intent="Mark where the words begin"),
        Turn(text="All done."),
    ]
    with AgentModel(agent.dialect(), turns) as model:
        said = run(agent, desk, model)

    assert said == "All done."
    # What the model was offered.
    ours = {
        tool: schema for tool, schema in model.offered.items() if tool.startswith(("mcp__memory__", "mcp__git__"))
    }
    assert {f"mcp__{server.name}__{server.tool}" for server in (MEMORY, GIT)} <= ours.keys()
    for schema in ours.values():
        assert "intent" in schema["required"]
        assert not agent.keeps_order or next(iter(schema["properties"])) == "intent"
    # What it was told.
    told = model.told
    assert list(told) == ["call_1", "call_2", "call_3", "call_4", "call_5"]
    assert REFUSAL.format(tool=MEMORY.tool) in told["call_2"].text
    assert "Nothing was executed: `intent` is blank." in told["call_4"].text
    if agent.tells_errors:
        assert [result.is_error for result in told.values()] == [False, True, False, True, False]
    # What was done.
    assert MEMORY.done(desk) == [FIRST, THIRD]
    assert GIT.done(desk) == [SECOND]
    assert [parameters["arguments"] for parameters in desk.reached(MEMORY)] == [
        MEMORY.arguments(desk, FIRST),
        MEMORY.arguments(desk, THIRD),
    ]
    assert [parameters["arguments"] for parameters in desk.reached(GIT)] == [GIT.arguments(desk, SECOND)]
    # What the ledger says: each call under the id that the model gave it.
    assert [
        (
            entry.tool_call_id,
            entry.tool_source,
            entry.tool,
            entry.intent,
            entry.rationale,
            call.done and call.done.status,
        )
        for call in desk.ledger
        if (entry := call.call) is not None
    ] == [
        ("call_1", "memory", MEMORY.tool, "Remember the first word", None, "ok"),
        ("call_2", "memory", MEMORY.tool, None, None, "rejected"),
        ("call_3", "memory", MEMORY.tool, "Remember the third word", "The second was refused", "ok"),
        ("call_4", "git", GIT.tool, None, None, "rejected"),
        ("call_5", "git", GIT.tool, "Mark where the words begin", None, "ok"),
    ]
    # Nobody but the model was asked for anything.
    assert model.strays == []


@pytest.mark.parametrize("name", AGENTS)
def test_calls_in_parallel_are_refused_one_by_one(desk: Desk, name: str) -> None:
    agent = AGENTS[name]
    turns = [
        call(desk, MEMORY, FIRST, intent="Remember the first word"),
        call(desk, MEMORY, SECOND),
        call(desk, GIT, FIRST, intent="Mark where the words begin"),
        call(desk, GIT, SECOND),
    ]
    one = Turn(calls=tuple(scripted for turn in turns for scripted in turn.calls))
    with AgentModel(agent.dialect(), [one, Turn(text="All done.")]) as model:
        said = run(agent, desk, model)

    assert said == "All done."
    refused = {call_id for call_id, result in model.told.items() if "Nothing was executed" in result.text}
    assert refused == {"call_2", "call_4"}
    assert (MEMORY.done(desk), GIT.done(desk)) == ([FIRST], [FIRST])
    assert {
        (entry.tool_call_id, call.done and call.done.status)
        for call in desk.ledger
        if (entry := call.call) is not None
    } == {("call_1", "ok"), ("call_2", "rejected"), ("call_3", "ok"), ("call_4", "rejected")}


def read_until(pipe: int, wanted: bytes | None) -> bytes:
    """Read a pipe until something has come, or until its writers are all gone."""
    deadline, read = time.monotonic() + SECONDS, b""
    while wanted is None or wanted not in read:
        ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"waited {SECONDS} seconds; there was {read!r}"
        piece = os.read(pipe, 65536)
        if not piece and wanted is None:
            break
        assert piece, f"the server ended; there was {read!r}"
        read += piece
    return read


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_that_is_killed_in_a_call_leaves_no_server_behind(desk: Desk, name: str) -> None:
    agent, pipe = AGENTS[name], desk.root / "pipe"
    os.mkfifo(pipe)
    # The proxy and the server hold the pipe as long as they live; what the server is sent comes out of it.
    desk.starter[:] = ["bash", "-c", 'exec 9>"$0"; exec "$@"', str(pipe)]
    held = ["bash", "-c", 'exec 9>"$0"; exec "$@" < <(exec tee /dev/fd/9)', str(pipe)]
    slow = replace(EVERYTHING, command=lambda desk: [*held, *EVERYTHING.command(desk)])
    arguments = {"intent": "See what a long wait does", "duration": 600, "steps": 1}
    waits = ScriptedCall(
        name=f"mcp__everything__{agent.spelling('trigger-long-running-operation')}", arguments=arguments
    )
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with AgentModel(agent.dialect(), [Turn(calls=(waits,))]) as model:
            words, environment = agent.command(desk, model, [slow])
            with desk.running(words, **environment) as process:
                read_until(reader, b'"tools/call"')
                process.kill()
                read_until(reader, None)
    finally:
        os.close(reader)

    (left,) = desk.ledger
    assert (left.call and left.call.intent, left.done and left.done.status) == (arguments["intent"], "interrupted")


@pytest.mark.parametrize("server", [MEMORY, GIT], ids=lambda server: server.name)  # of the two eras
@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_at_which_nobody_sits_runs_nothing_that_needs_an_approval(
    desk: Desk, name: str, server: Server
) -> None:
    # Codex hands its servers few variables: what the person has set elsewhere than in ~/.config would not be found.
    (desk.project / ".pi-intent.toml").write_text('ask = "write"\n')
    agent = AGENTS[name]
    turns = [call(desk, server, FIRST, intent="Try the first word"), Turn(text="All done.")]
    with AgentModel(agent.dialect(), turns) as model:
        assert run(agent, desk, model) == "All done."
    assert server.done(desk) == []
    (left,) = desk.ledger
    assert (left.done and left.done.status) == "denied"
    assert [decision.approved for decision in left.decisions] == [None, False]


@pytest.mark.parametrize("server", [MEMORY, GIT], ids=lambda server: server.name)  # of the two eras
def test_what_a_hook_of_claude_code_answers_is_taken_for_an_answer(desk: Desk, server: Server) -> None:
    (desk.project / ".pi-intent.toml").write_text('ask = "write"\n')
    accepted = {"hookEventName": "Elicitation", "action": "accept", "content": {"decision": ONCE}}
    answer = desk.root / "answer.json"
    answer.write_text(json.dumps({"hookSpecificOutput": accepted}))
    hook = {"type": "command", "command": f"cat {answer}"}
    settings = json.dumps({"hooks": {"Elicitation": [{"hooks": [hook]}]}})
    turns = [call(desk, server, FIRST, intent="Try the first word"), Turn(text="All done.")]
    with AgentModel(AnthropicMessages(), turns) as model:
        words, environment = claude_code(desk, model, [server])
        words.remove("--bare")  # it would run no hooks
        done = desk.run([*words, "--settings", settings], **environment)
    assert done.stdout.strip() == "All done.", done.stderr
    assert server.done(desk) == [FIRST]
    (left,) = desk.ledger
    assert [(decision.approved, decision.by) for decision in left.decisions] == [(None, None), (True, "application")]
