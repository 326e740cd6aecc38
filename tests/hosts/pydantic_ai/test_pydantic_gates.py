"""Permissions, credentials, artifacts and the limit on results, in pydantic-ai."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelRetry, Tool, ToolReturn
from pydantic_ai.messages import ModelMessage, ModelResponse, TextContent, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import FunctionToolset
from pydantic_gated import Person
from user_config import write_config

import pi_intent
from pi_intent import CredentialError, artifact_reference, credential
from pi_intent.hosts.pydantic_ai import Intents, IntentToolset, sessions
from pi_intent.hosts.pydantic_ai.held import WAITING
from pi_intent.hosts.pydantic_ai.sessions import MOST_SESSIONS, STORES, GivenSecrets
from pi_intent.ledger.calls import read_ledger
from pi_intent.ledger.location import find_ledger

CANARY = "c4n4ry-0f-the-m1ne-3141592"
PAGE = "<h1>Hello</h1>\n" * 3
SETTINGS = """
artifacts = true

[credentials]
mine = "env:WHERE_IT_IS"

[tools.fetch]
needs = ["mine"]
stores = ["page"]
result_limit = 2048

[tools.keep]
wants = { page = "page" }

[tools.open]
touches = ["external_net"]

[permissions]
external_net = "deny"
"""


@pytest.fixture(autouse=True)
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.setenv("WHERE_IT_IS", CANARY)
    monkeypatch.setattr(sessions, "GIVEN", GivenSecrets())
    write_config(tmp_path / "config", SETTINGS)
    monkeypatch.chdir(tmp_path)


class Shy(int):
    """A number that does not say what it is."""

    __str__ = int.__repr__

    def __repr__(self) -> str:
        raise RuntimeError("no")


class Told:
    """An agent that calls its tools one after the other, and everything that was told of that."""

    def __init__(self, *calls: tuple[str, dict[str, Any]]) -> None:
        self.kept: list[str] = []
        self.says = "kept"
        self.results: list[str] = []
        self._calls = list(calls)
        self.events = pi_intent.MemorySink()

    def model(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if not self._calls:
            return ModelResponse(parts=[TextPart("done")])
        name, arguments = self._calls.pop(0)
        return ModelResponse(parts=[ToolCallPart(name, {"intent": f"Try {name}", **arguments})])

    def run(self, session: str | None = None) -> None:
        agent = Agent(FunctionModel(self.model), capabilities=[Intents(session_id=session)])

        @agent.tool_plain
        def fetch(what: str) -> Any:
            own = credential("mine")
            match what:
                case "length":
                    return str(len(own))
                case "own":
                    return {"token": own}
                case "raise":
                    raise ModelRetry(f"wrong token {own}")
                case "much":
                    return "p4yl0ad " * 500
                case _:
                    said = {"artifact": {"kind": "page", "text": PAGE}}
                    return ToolReturn(artifact_reference("page", PAGE), metadata={"pi_intent": said})

        @agent.tool_plain
        def keep(page: str) -> str:
            self.kept.append(page)
            return self.says

        @agent.tool_plain
        def look(what: str) -> Any:
            match what:
                case "raise":
                    raise ModelRetry(f"wrong token {CANARY}")
                case "metadata":
                    return ToolReturn("looked", metadata={"token": CANARY})
                case "escaped":
                    return "".join(f"\\u{ord(character):04x}" for character in CANARY)
                case "two parts":
                    return ToolReturn("looked", content=[CANARY[:9], CANARY[9:]])
                case "two parts of text":
                    return ToolReturn("looked", content=[TextContent(CANARY[:9]), TextContent(CANARY[9:])])
                case "two items":
                    return {"found": ["first", CANARY[:9], CANARY[9:], "last"]}
                case "two blocks":
                    return [{"type": "text", "text": CANARY[:9]}, {"type": "text", "text": CANARY[9:]}]
                case "two halves":
                    return ToolReturn({"begin": CANARY[:9]}, content=CANARY[9:])
                case "shy":
                    return Shy(7)
                case _:
                    return [CANARY]

        @agent.tool_plain(name="open")
        def open_it() -> str:
            self.kept.append("opened")
            return "opened"

        stop = pi_intent.subscribe(self.events)
        try:
            result = asyncio.run(agent.run("go"))
        finally:
            stop()
        self.results = [
            str(part.content)
            for message in result.all_messages()
            for part in message.parts
            if part.part_kind in ("tool-return", "retry-prompt")
        ]
        self.messages = result.all_messages_json().decode()

    def everything(self, folder: Path) -> str:
        files = [path for path in folder.rglob("*") if path.is_file() and "config" not in path.parts]
        return (
            repr(self.events.events)
            + self.messages
            + "".join(path.read_bytes().decode(errors="replace") for path in files)
        )

    @property
    def statuses(self) -> list[str]:
        return [event.status for event in self.events if isinstance(event, pi_intent.ToolExecutionEnd)]


def test_a_tool_gets_the_credential_that_it_needs_and_nobody_else(tmp_path: Path):
    told = Told(("fetch", {"what": "length"}))
    told.run()
    assert told.results == [str(len(CANARY))]
    assert CANARY not in told.everything(tmp_path)
    with pytest.raises(CredentialError):
        credential("mine")


@pytest.mark.parametrize("what", ["own", "raise"])
def test_what_holds_it_is_withheld(tmp_path: Path, what: str):
    told = Told(("fetch", {"what": what}))
    told.run()
    assert "its result is withheld: it holds a credential" in told.results[0]
    assert CANARY not in told.everything(tmp_path)


FETCH: tuple[str, dict[str, Any]] = ("fetch", {"what": "length"})
PIECES = ["two parts", "two parts of text", "two items", "two blocks", "two halves"]


@pytest.mark.parametrize("what", ["own", "raise", "metadata", "escaped", *PIECES])
def test_what_one_tool_was_given_no_other_brings_back(tmp_path: Path, what: str):
    told = Told(("fetch", {"what": "length"}), ("look", {"what": what}))
    told.run()
    assert "look did run, and its result is withheld: it holds a credential" in told.results[1]
    assert CANARY not in told.everything(tmp_path)
    assert "\\u0063" not in told.everything(tmp_path)
    assert CANARY[9:] not in told.everything(tmp_path)


def test_a_result_that_does_not_show_itself_is_let_through(tmp_path: Path):
    told = Told(("fetch", {"what": "length"}), ("look", {"what": "shy"}))
    told.run()
    assert told.results[1] == "7"
    assert told.statuses == ["ok", "ok"]


def test_before_anything_was_given_no_result_is_touched():
    told = Told(("look", {"what": "own"}))
    told.run()
    assert CANARY in told.results[0]


def test_without_it_nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("WHERE_IT_IS")
    told = Told(("fetch", {"what": "length"}))
    told.run()
    assert told.results[0].startswith("Nothing was executed: fetch needs the credential mine")
    assert told.statuses == ["denied"]


def test_a_result_over_the_limit_is_nowhere(tmp_path: Path):
    told = Told(("fetch", {"what": "much"}))
    told.run()
    assert "it has 4000 bytes, and the limit here is 2048" in told.results[0]
    assert "p4yl0ad" not in told.everything(tmp_path)
    assert told.statuses == ["ok"]
    (call,) = read_ledger(find_ledger(tmp_path, {"XDG_STATE_HOME": str(tmp_path / "state")}).root).calls
    assert call.done is not None
    assert call.done.flags == ("withheld",)


def test_an_argument_can_refer_to_what_was_stored(tmp_path: Path):
    reference = artifact_reference("page", PAGE)
    told = Told(("fetch", {"what": "page"}), ("keep", {"page": reference}), ("keep", {"page": reference[:-1]}))
    told.run()
    assert told.kept == [PAGE]
    assert f"it is no whole reference. Those that can be named here: {reference}" in told.results[2]
    assert told.statuses == ["ok", "ok", "denied"]


def test_what_one_run_has_stored_can_be_named_in_the_next_of_its_session(tmp_path: Path):
    Told(("fetch", {"what": "page"})).run("s-1")
    again, another = (Told(("keep", {"page": artifact_reference("page", PAGE)})) for _ in range(2))
    again.run("s-1")
    another.run("s-2")
    assert (again.kept, another.kept) == ([PAGE], [])
    assert "Those that can be named here: none" in another.results[0]
    assert len(list(tmp_path.rglob("artifacts/*/page.*"))) == 1
    STORES.close()  # as when the process ends
    assert list(tmp_path.rglob("artifacts/*")) == []


def test_what_one_run_was_given_no_later_one_of_its_session_brings_back(tmp_path: Path):
    Told(("fetch", {"what": "length"})).run("s-given")
    later, another = (Told(("keep", {"page": "x"})) for _ in range(2))
    for told in (later, another):
        told.says = CANARY  # as from a file in which the first run has left it
    later.run("s-given")
    another.run("s-other")
    assert "holds a credential" in later.results[0]
    assert CANARY in another.results[0]


def test_what_a_conversation_was_given_long_ago_is_not_forgotten(tmp_path: Path):
    Told(FETCH).run("s-first")
    for number in range(MOST_SESSIONS + 2):
        sessions.GIVEN.add([f"s-{number}"], frozenset({f"an0ther-0ne-{number}"}))
    for _ in range(2):  # also when it was given something anew
        first = Told(("keep", {"page": "x"}), FETCH)
        first.says = CANARY
        first.run("s-first")
        assert "holds a credential" in first.results[0]


class Nested:
    """An agent whose tool runs another one, in a conversation of its own; both have the same tools."""

    def __init__(self, folder: Path) -> None:
        self.left = folder / "left"
        self.told: list[str] = []
        """What the models of the inner agents saw, in the order in which their runs ended."""

    def agent(self, *calls: tuple[str, dict[str, Any]], inner: Agent[None, str] | None = None) -> Agent[None, str]:
        agent = Agent(FunctionModel(Told(*calls).model), capabilities=[Intents()])

        @agent.tool_plain
        def fetch(what: str) -> str:
            self.left.write_text(credential("mine"))
            return "fetched"

        @agent.tool_plain
        def look() -> str:
            return self.left.read_text()

        @agent.tool_plain
        async def delegate() -> str:
            assert inner is not None
            result = await inner.run("go")
            self.told.append(result.all_messages_json().decode())
            return result.output

        return agent


@pytest.fixture
def nested(tmp_path: Path) -> Nested:
    return Nested(tmp_path)


LOOK: tuple[str, dict[str, Any]] = ("look", {})
DELEGATE: tuple[str, dict[str, Any]] = ("delegate", {})


def test_what_a_run_was_given_an_agent_that_its_tool_runs_does_not_bring_back(nested: Nested):
    inner = nested.agent(DELEGATE, inner=nested.agent(LOOK))
    nested.agent(FETCH, DELEGATE, inner=inner).run_sync("go")
    assert nested.told[0].count("holds a credential") == 1
    assert CANARY not in "".join(nested.told)


def test_what_an_agent_was_given_that_a_tool_runs_the_run_around_it_does_not_bring_back(nested: Nested):
    middle = nested.agent(DELEGATE, inner=nested.agent(FETCH))
    outer = nested.agent(DELEGATE, LOOK, inner=middle).run_sync("go").all_messages_json().decode()
    assert "holds a credential" in outer
    assert CANARY not in outer


def test_what_two_agents_do_that_tools_run_is_one(nested: Nested):
    inner = iter([nested.agent(FETCH), nested.agent(LOOK)])

    class Either:
        async def run(self, prompt: str) -> Any:
            return await next(inner).run(prompt)

    nested.agent(DELEGATE, DELEGATE, inner=Either()).run_sync("go")  # type: ignore[arg-type]
    assert "holds a credential" in nested.told[1]
    assert CANARY not in nested.told[1]


def test_another_conversation_beside_it_may_have_it(nested: Nested):
    nested.agent(FETCH).run_sync("go")
    assert CANARY in nested.agent(LOOK).run_sync("go").all_messages_json().decode()


def test_what_is_approved_later_does_not_bring_back_what_was_given_before(tmp_path: Path):
    told = Told(("fetch", {"what": "length"}), ("look", {}))
    output: Any = [str, DeferredToolRequests]
    agent: Agent[None, Any] = Agent(FunctionModel(told.model), capabilities=[Intents()], output_type=output)

    @agent.tool_plain
    def fetch(what: str) -> str:
        (tmp_path / "left").write_text(credential("mine"))
        return "fetched"

    @agent.tool_plain(requires_approval=True)
    def look() -> str:
        return (tmp_path / "left").read_text()

    first = agent.run_sync("go")
    (call,) = first.output.approvals
    yes = DeferredToolResults(approvals={call.tool_call_id: True})
    done = agent.run_sync(message_history=first.all_messages(), deferred_tool_results=yes)
    assert CANARY not in done.all_messages_json().decode()
    assert "holds a credential" in done.all_messages_json().decode()


def test_what_is_not_permitted_does_not_run(tmp_path: Path):
    told = Told(("open", {}))
    told.run()
    assert told.results == [
        "Nothing was executed: open touches external_net, which is not permitted here (the settings say so). "
        "Choose a way that does without it."
    ]
    assert told.kept == []
    assert told.statuses == ["denied"]


def test_a_text_in_place_of_a_reference_is_asked_about_once_whatever_stands_around_its_tool(tmp_path: Path):
    kept: list[str] = []
    person = Person(pi_intent.Answer(True))

    def keep(page: str) -> None:
        kept.append(page)

    def fetch(what: str) -> Any:
        return ToolReturn("stored", metadata={"pi_intent": {"artifact": {"kind": "page", "text": PAGE}}})

    told = Told(("fetch", {"what": "page"}), ("keep", {"page": artifact_reference("page", PAGE)}))
    toolsets = [IntentToolset(FunctionToolset([keep, fetch]))]
    stop = pi_intent.ask_when(lambda arguments, situation: True, tools="keep")
    Agent(FunctionModel(told.model), toolsets=toolsets, capabilities=[Intents(asker=person)]).run_sync("go")
    stop()
    assert kept == [PAGE]
    assert [question.arguments for question in person.questions] == [{"page": PAGE}]


def test_a_credential_is_fetched_after_everybody_was_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("WHERE_IT_IS")
    toolset = FunctionToolset([Tool(lambda what: "fetched", name="fetch", requires_approval=True)])
    told = Told(("fetch", {"what": "length"}))
    output: Any = [str, DeferredToolRequests]
    agent: Agent[None, Any] = Agent(
        FunctionModel(told.model), toolsets=[toolset], capabilities=[Intents()], output_type=output
    )
    first = agent.run_sync("go")
    assert isinstance(first.output, DeferredToolRequests)
    (call,) = first.output.approvals
    yes = DeferredToolResults(approvals={call.tool_call_id: True})
    done = agent.run_sync(message_history=first.all_messages(), deferred_tool_results=yes)
    assert "needs the credential mine" in done.all_messages_json().decode()
    WAITING.close()
