"""Listening while a model writes changes nothing for whoever reads, in any step, and whatever goes wrong."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import inspect
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from types import ModuleType
from typing import Any

import httpx
import pytest
from tau_desk import Desk
from tau_streams import (
    CALLS,
    DIALECTS,
    LABELS,
    Body,
    Dialect,
    Heard,
    InProcess,
    Label,
    Part,
    Steps,
    Streamed,
    Way,
    chat,
    completions_adapter,
    heard_by,
    serving,
    steps_of,
    to_the_end,
    without,
)

from pi_intent.hosts.tau import live
from pi_intent.hosts.tau.live import LISTENER, install_tee

pytestmark = pytest.mark.usefixtures("fresh_tee")


async def leaving(steps: Steps, response: httpx.Response, last: int) -> None:
    count = 0
    async for line in response.aiter_lines():
        steps.note("got", line)
        count += 1
        if count == last:
            break
    steps.note("after the loop")
    await asyncio.sleep(0)


async def closing(steps: Steps, response: httpx.Response, last: int) -> None:
    async with aclosing(response.aiter_lines()) as lines:  # type: ignore[type-var]
        async for line in lines:
            steps.note("got", line)
            last -= 1
            if not last:
                break
    steps.note("after closing")
    with pytest.raises(StopAsyncIteration):
        await anext(lines)


async def cancelled(steps: Steps, response: httpx.Response, last: int) -> None:
    task = asyncio.current_task()
    assert task is not None
    async for line in response.aiter_lines():
        steps.note("got", line)
        last -= 1
        if not last:
            asyncio.get_running_loop().call_soon(task.cancel)  # while it waits for the next


async def raising(steps: Steps, response: httpx.Response, last: int) -> None:
    async for line in response.aiter_lines():
        steps.note("got", line)
        last -= 1
        if not last:
            raise KeyError(line)


def pieces_of(stream: Sequence[bytes], size: int | None) -> list[bytes]:
    whole = b"".join(stream)
    return list(stream) if size is None else [whole[at : at + size] for at in range(0, len(whole), size)]


@pytest.mark.parametrize("size", [None, 97, 400], ids=["event by event", "in the middle", "several at once"])
@pytest.mark.parametrize("way", [to_the_end, leaving, closing, cancelled, raising])
@DIALECTS
async def test_whoever_reads_gets_the_same_in_the_same_step_however_reading_ends(
    dialect: Dialect, way: Way, size: int | None
):
    pieces = pieces_of(dialect(CALLS), size)
    lines = b"".join(pieces).decode().splitlines()
    for last in range(1, len(lines) + 1) if way is not to_the_end else [len(lines)]:
        heard = Heard()
        plain = await without(lambda last=last: steps_of(pieces, way, last))
        teed = await heard_by(heard, lambda last=last: steps_of(pieces, way, last))
        assert teed == plain
        got = [step[2] for step in plain[:-1] if step[1] == "got"]
        # Who is cancelled while lines are there gets those first.
        assert got == (lines[: len(got)] if way is cancelled and len(got) > last else lines[:last])
        assert heard.labels == LABELS[: len(heard.labels)]
        assert heard.failures == []
    assert heard.labels == LABELS


@DIALECTS
async def test_a_connection_that_dies_dies_for_the_reader_in_the_same_way(dialect: Dialect):
    pieces = dialect(CALLS)
    for number in range(len(pieces)):
        plain = await without(lambda number=number: steps_of(pieces, to_the_end, 0, number))
        teed = await heard_by(Heard(), lambda number=number: steps_of(pieces, to_the_end, 0, number))
        assert teed == plain
        assert plain[-1] == repr(httpx.ReadError("the line went dead"))


async def test_lines_that_nobody_reads_to_the_end_leave_nothing_behind():
    async def read() -> None:
        await steps_of(chat(CALLS), leaving, 3)

    def teed() -> list[object]:
        gc.collect()
        return [lines for lines in gc.get_objects() if isinstance(lines, live._TeedLines)]

    kept = teed()  # as long as it is kept, no other object has its id
    before = {id(lines) for lines in kept}
    await heard_by(Heard(), read)
    assert [left for left in teed() if id(left) not in before] == [], f"besides {kept}"


# What goes wrong, and what is left alone


@pytest.mark.parametrize("method", ["wants", "label"])
@pytest.mark.parametrize("and_failed", [False, True])
async def test_a_listener_that_raises_is_told_so_once_and_never_called_again(method: str, and_failed: bool):
    heard = Heard(raises=(method, "failed") if and_failed else (method,))
    other = Heard()
    plain = await without(lambda: steps_of(chat(CALLS), to_the_end, 0))
    assert await heard_by(heard, lambda: steps_of(chat(CALLS), to_the_end, 0)) == plain
    assert await heard_by(other, lambda: steps_of(chat(CALLS), to_the_end, 0)) == plain
    assert heard.failures == [
        f"intents are not shown while they are written any more (LookupError: for {method}); calls are not affected"
    ]
    assert (heard.labels, other) == ([], Heard())


async def test_a_listener_that_raises_ends_it_for_streams_that_are_under_way_too():
    bad, good = Heard(raises=("label",)), Heard()

    async def listen(heard: Heard, calls: Streamed) -> None:
        LISTENER.set(heard)
        await steps_of(chat(calls), to_the_end, 0)

    late = [("c1", "write", ["{", '"content":"x"', ",", '"intent":"too late"', "}"])]
    await asyncio.gather(listen(bad, CALLS), listen(good, late))
    assert (len(bad.failures), good) == (1, Heard())


@pytest.mark.parametrize(
    ("kind", "listens", "teed"),
    [
        ("text/event-stream", True, True),
        ("Text/Event-Stream;charset=utf-8", True, True),
        ("text/event-stream", False, False),
        ("application/json", True, False),
        ("", True, False),
    ],
)
async def test_only_streams_of_events_that_somebody_listens_to_are_touched(kind: str, listens: bool, teed: bool):
    steps = Steps()
    LISTENER.set(Heard() if listens else None)
    async with httpx.AsyncClient(transport=InProcess(Body(steps, [b"data: x\n"], None), kind)) as client:
        response = await client.get("http://model/")
    steps.stop()
    LISTENER.set(None)
    assert ("aiter_lines" in vars(response)) is teed
    assert [line async for line in response.aiter_lines()] == ["data: x"]


def test_installing_twice_wraps_once():
    send = httpx.AsyncClient.send
    assert install_tee()
    assert httpx.AsyncClient.send is send
    assert not hasattr(inspect.unwrap(send), "__pi_intent__")


async def test_a_module_that_is_loaded_anew_takes_over():
    spec = importlib.util.spec_from_file_location("live_again", live.__file__)
    assert spec is not None
    assert spec.loader is not None
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    assert again.install_tee()
    heard = Heard()
    again.LISTENER.set(heard)
    await heard_by(Heard(raises=("wants",)), lambda: steps_of(chat(CALLS), to_the_end, 0))
    assert (heard.labels, heard.failures) == (LABELS, [])


class SlottedResponse:
    __slots__ = ()

    async def aiter_lines(self) -> AsyncIterator[str]:
        yield ""


@pytest.mark.parametrize("change", ["no httpx", "no client", "send is no coroutine", "lines in a list", "slots"])
def test_an_unknown_httpx_is_left_alone(change: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(httpx.AsyncClient, "send", inspect.unwrap(httpx.AsyncClient.send))
    match change:
        case "no httpx":
            monkeypatch.setitem(sys.modules, "httpx", None)
        case "no client":
            monkeypatch.delattr(httpx, "AsyncClient")
        case "send is no coroutine":
            monkeypatch.setattr(httpx.AsyncClient, "send", lambda self, request: None)
        case "lines in a list":
            monkeypatch.setattr(httpx.Response, "aiter_lines", lambda self: [])
        case _:
            monkeypatch.setattr(httpx, "Response", SlottedResponse)
    before = vars(httpx.AsyncClient)["send"] if change != "no client" else None
    assert not install_tee()
    assert before is (vars(httpx.AsyncClient)["send"] if before else None)


# In a session of Tau's, whose only extension is the one that listens

EXTENSION = """
from pi_intent.hosts.tau.live import LISTENER
import who_listens

def setup(tau):
    async def turn_start(event, context):
        LISTENER.set(who_listens.listener)
    tau.on("turn_start", turn_start)
"""


async def test_a_listener_set_when_a_turn_starts_hears_each_response_of_a_session(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    heard, complete = Heard(), [asyncio.Event(), asyncio.Event()]

    def on_label(label: Label) -> None:
        if label[-1]:
            next(event for event in complete if not event.is_set()).set()

    heard.on_label = on_label
    module = ModuleType("who_listens")
    module.listener = heard  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "who_listens", module)
    desk.extension("listening", EXTENSION)
    turns: list[list[Part]] = []
    for number, seen in enumerate(complete):
        intent = f"Writing file {number}"
        arguments = json.dumps({"intent": intent, "path": f"{number}.txt", "content": "x" * 100})
        stream = chat([(f"c{number}", "write", [arguments[:12], arguments[12:60], arguments[60:]])])
        turns.append([*stream[:4], seen, *stream[4:]])  # the rest of the arguments comes when the label was heard
    turns.append([*chat([])])

    def answer(body: dict[str, Any]) -> Sequence[Part]:
        return turns.pop(0) if body.get("tools") else chat([])

    async with serving(answer) as url:
        provider = completions_adapter(url)
        session = await desk.session([], provider=provider, intents=False)
        await session.emit_pending_session_start()
        happened = [
            (event.type, len([label for label in heard.labels if label[-1]]))
            async for event in session.prompt("go")
            if event.type in ("tool_execution_start", "tool_execution_end")
        ]
        await provider.aclose()
    assert [label for label in heard.labels if label[-1]] == [
        (0, "write", "c0", "Writing file 0", True),
        (0, "write", "c1", "Writing file 1", True),
    ]
    assert happened == [
        ("tool_execution_start", 1),
        ("tool_execution_end", 1),
        ("tool_execution_start", 2),
        ("tool_execution_end", 2),
    ]
    assert heard.failures == []
    assert (desk.project / "1.txt").exists()
