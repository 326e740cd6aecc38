"""Responses as providers stream them, who listens to them, and a loop whose steps are counted."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from tau_ai import OpenAICompatibleProvider
from tau_ai.env import OpenAICompatibleConfig

from pi_intent.hosts.tau.live import LISTENER

type Streamed = Sequence[tuple[str, str, Sequence[str]]]
"""Calls as (id, tool, pieces of the arguments)."""
type Label = tuple[int, str, str | None, str, bool]


# What providers stream


def event(record: dict[str, Any]) -> bytes:
    name = f"event: {record['type']}\n" if "type" in record else ""
    return f"{name}data: {json.dumps(record)}\n\n".encode()


def chat(calls: Streamed) -> list[bytes]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return event({"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def part(index: int, arguments: str, **more: Any) -> bytes:
        name = {"name": more.pop("name")} if "name" in more else {}
        return chunk({"tool_calls": [{"index": index, **more, "function": {**name, "arguments": arguments}}]})

    stream = [chunk({"role": "assistant", "content": "On it."})]
    for index, (call_id, tool, pieces) in enumerate(calls):
        stream += [part(index, "", id=call_id, type="function", name=tool), *(part(index, piece) for piece in pieces)]
    return [*stream, chunk({}, "tool_calls" if calls else "stop"), b"data: [DONE]\n\n"]


def responses(calls: Streamed) -> list[bytes]:
    stream = [event({"type": "response.created", "response": {"status": "in_progress"}})]
    for index, (call_id, tool, pieces) in enumerate(calls):
        item = {"id": f"fc_{call_id}", "type": "function_call", "call_id": call_id, "name": tool}
        at, whole = {"output_index": index, "item_id": f"fc_{call_id}"}, {"arguments": "".join(pieces)}
        kind = "response.function_call_arguments"
        stream += [
            event({"type": "response.output_item.added", "output_index": index, "item": {**item, "arguments": ""}}),
            *(event({"type": f"{kind}.delta", **at, "delta": piece}) for piece in pieces),
            event({"type": f"{kind}.done", **at, **whole}),
            event({"type": "response.output_item.done", "output_index": index, "item": {**item, **whole}}),
        ]
    return [*stream, event({"type": "response.completed", "response": {"status": "completed"}})]


def anthropic(calls: Streamed) -> list[bytes]:
    stream = [event({"type": "message_start", "message": {"content": []}})]
    for index, (call_id, tool, pieces) in enumerate(calls):
        block = {"type": "tool_use", "id": call_id, "name": tool, "input": {}}
        stream += [
            event({"type": "content_block_start", "index": index, "content_block": block}),
            *(
                event(
                    {
                        "type": "content_block_delta",
                        "index": index,
                        "delta": {"type": "input_json_delta", "partial_json": piece},
                    }
                )
                for piece in pieces
            ),
            event({"type": "content_block_stop", "index": index}),
        ]
    return [
        *stream,
        event({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        event({"type": "message_stop"}),
    ]


type Dialect = Callable[[Streamed], list[bytes]]
DIALECTS = pytest.mark.parametrize("dialect", [chat, responses, anthropic])

CALLS = (
    ("c1", "write", ('{"intent":"Fix', 'ing the schema","content', '":"x"}')),
    ("c2", "deploy", ('{"intent":"not', ' ours"}')),
    ("c3", "write", ('{"content":"y","int', 'ent":"Adding the test"}')),
)
LABELS: list[Label] = [
    (0, "write", "c1", "Fix", False),
    (0, "write", "c1", "Fixing the schema", True),
    (2, "write", "c3", "Adding the test", True),
]


# Who listens, and where


@dataclass
class Heard:
    """Keeps what it hears of the tool `write`, and raises where it is told to."""

    raises: tuple[str, ...] = ()
    labels: list[Label] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    on_label: Callable[[Label], None] = lambda label: None

    def wants(self, tool_name: str) -> bool:
        self._raise_in("wants")
        return tool_name == "write"

    def label(self, position: int, tool_name: str, tool_call_id: str | None, intent: str, complete: bool) -> None:
        self._raise_in("label")
        self.labels.append((position, tool_name, tool_call_id, intent, complete))
        self.on_label(self.labels[-1])

    def failed(self, sentence: str) -> None:
        self.failures.append(sentence)
        self._raise_in("failed")

    def _raise_in(self, method: str) -> None:
        if method in self.raises:
            raise LookupError(f"\x1b]0;no screen\x07 for {method}")


async def without[T](run: Callable[[], Awaitable[T]]) -> T:
    """Run with the httpx that nobody wrapped."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpx.AsyncClient, "send", inspect.unwrap(httpx.AsyncClient.send))
        assert not hasattr(httpx.AsyncClient.send, "__pi_intent__")
        return await run()


async def heard_by[T](heard: Heard, run: Callable[[], Awaitable[T]]) -> T:
    token = LISTENER.set(heard)
    try:
        return await run()
    finally:
        LISTENER.reset(token)


# Where it comes from: in step with the loop, or over a socket


class Steps:
    """Counts the steps of the loop, logs what happens in which, and interrupts a task in one of them."""

    def __init__(self, interrupt_at: int | None = None) -> None:
        self.log: list[tuple[int, str, object]] = []
        self.task: asyncio.Task[Any] | None = None
        self._now = 0
        self._interrupt_at = interrupt_at
        self._count()

    def _count(self) -> None:
        self._now += 1
        if self._now == self._interrupt_at and self.task is not None:
            self.task.cancel()
        self._next = asyncio.get_running_loop().call_soon(self._count)

    def note(self, what: str, value: object = None) -> None:
        self.log.append((self._now, what, value))

    def stop(self) -> None:
        self._next.cancel()


class Body(httpx.AsyncByteStream):
    """Gives a piece a step, and notes how it is read and left."""

    def __init__(self, steps: Steps, pieces: Sequence[bytes], dies_at: int | None) -> None:
        self._steps, self._pieces, self._dies_at = steps, pieces, dies_at

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            for number, piece in enumerate(self._pieces):
                await asyncio.sleep(0)
                if number == self._dies_at:
                    raise httpx.ReadError("the line went dead")
                self._steps.note("came", number)
                yield piece
        except BaseException as error:
            self._steps.note("left by", repr(error))
            raise

    async def aclose(self) -> None:
        self._steps.note("closed")


class InProcess(httpx.AsyncBaseTransport):
    def __init__(self, body: httpx.AsyncByteStream, kind: str = "text/event-stream; charset=utf-8") -> None:
        self._body, self._kind = body, kind

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"Content-Type": self._kind}, stream=self._body)


type Way = Callable[[Steps, httpx.Response, int], Awaitable[None]]


async def to_the_end(steps: Steps, response: httpx.Response, last: int) -> None:
    async for line in response.aiter_lines():
        steps.note("got", line)


async def steps_of(pieces: Sequence[bytes], way: Way, last: int, dies_at: int | None = None) -> list[Any]:
    """Read a response in one way, up to one line; return everything that happened, step by step."""
    steps = Steps()

    async def read() -> None:
        try:
            transport = InProcess(Body(steps, pieces, dies_at))
            async with (
                httpx.AsyncClient(transport=transport) as client,
                client.stream("GET", "http://model/") as response,
            ):
                await way(steps, response, last)
                steps.note("read", (response.is_closed, response.is_stream_consumed))
        except BaseException as error:
            steps.note("raised", repr(error))
            raise
        finally:
            steps.note("out")

    async with asyncio.timeout(10):
        done = await asyncio.gather(asyncio.create_task(read()), return_exceptions=True)
        for _ in range(9):  # what the loop closes later, it closes in so many steps
            await asyncio.sleep(0)
    steps.stop()
    return [*steps.log, repr(done[0])]


# Tau's adapters over a socket

type Part = bytes | asyncio.Event | None
"""What a server sends, what it waits for before it goes on, or None: it dies."""


@asynccontextmanager
async def serving(answer: Callable[[dict[str, Any]], Sequence[Part]]) -> AsyncIterator[str]:
    """A provider on the loopback interface; `answer` is given the request's body."""
    tasks: list[asyncio.Task[Any] | None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.append(asyncio.current_task())
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.split("content-length:")[1].split("\r\n")[0])
            body = json.loads(await reader.readexactly(length))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n")
            writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
            for part in answer(body):
                if part is None:
                    return
                if isinstance(part, asyncio.Event):
                    await part.wait()
                else:
                    writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
                    await writer.drain()
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        except ConnectionError:
            pass  # the client went away, which some tests are about
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        async with asyncio.timeout(20):
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            if task is not None:
                task.cancel()
        await asyncio.gather(*(task for task in tasks if task is not None), return_exceptions=True)


def completions_adapter(url: str, client: httpx.AsyncClient | None = None, api: str = "openai-completions") -> Any:
    config = OpenAICompatibleConfig(api_key="none", base_url=url, max_retries=0, api=api)
    return OpenAICompatibleProvider(config, client=client)
