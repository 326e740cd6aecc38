"""Intents while they are written: Tau's adapters get what they get without us, and the listener hears in time."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import inspect
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from types import FrameType, ModuleType
from typing import Any

import httpx
import pytest
from tau_agent.messages import UserMessage
from tau_ai import OpenAICompatibleProvider
from tau_ai.anthropic import AnthropicProvider
from tau_ai.env import AnthropicConfig, OpenAICompatibleConfig
from tau_ai.openai_codex import OpenAICodexConfig, OpenAICodexCredentials, OpenAICodexProvider
from tau_desk import Desk

from pi_intent.hosts.tau import live
from pi_intent.hosts.tau.live import LISTENER, install_tee

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


@pytest.fixture(autouse=True)
def _fresh_tee(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(httpx.AsyncClient, "send", inspect.unwrap(httpx.AsyncClient.send))
    monkeypatch.setattr(live, "_TEE", live._Tee())
    assert install_tee()


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

    await heard_by(Heard(), read)
    gc.collect()
    assert [left for left in gc.get_objects() if isinstance(left, live._TeedLines)] == []


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


async def _credentials() -> OpenAICodexCredentials:
    return OpenAICodexCredentials(access_token="none", account_id="none")


def completions_adapter(url: str, client: httpx.AsyncClient | None = None, api: str = "openai-completions") -> Any:
    config = OpenAICompatibleConfig(api_key="none", base_url=url, max_retries=0, api=api)
    return OpenAICompatibleProvider(config, client=client)


def responses_adapter(url: str, client: httpx.AsyncClient | None = None) -> Any:
    return completions_adapter(url, client, api="openai-responses")


def anthropic_adapter(url: str, client: httpx.AsyncClient | None = None) -> Any:
    return AnthropicProvider(AnthropicConfig(api_key="none", base_url=url, max_retries=0), client=client)


def codex_adapter(url: str, client: httpx.AsyncClient | None = None) -> Any:
    config = OpenAICodexConfig(credential_resolver=_credentials, base_url=url, max_retries=0)
    return OpenAICodexProvider(config, client=client)


ADAPTERS = pytest.mark.parametrize(
    ("adapter", "dialect"),
    [
        (completions_adapter, chat),
        (responses_adapter, responses),
        (codex_adapter, responses),
        (anthropic_adapter, anthropic),
    ],
)
type Adapter = Callable[..., Any]


async def told_by(
    adapter: Adapter,
    url: str,
    *,
    leave_after: int | None = None,
    on_event: Callable[[Any], None] = lambda event: None,
) -> list[dict[str, Any]]:
    """What an adapter of Tau's makes of a response, without the times."""
    provider = adapter(url)
    told: list[dict[str, Any]] = []
    try:
        stream = provider.stream_response(model="m", system="", messages=[UserMessage(content="go")], tools=[])
        async for happened in stream:
            on_event(happened)
            told.append(_timeless(happened.model_dump()))
            if len(told) == leave_after:
                await stream.aclose()
                break
    finally:
        await provider.aclose()
    return told


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(inner) for key, inner in value.items() if key not in ("timestamp", "timing")}
    return [_timeless(inner) for inner in value] if isinstance(value, list) else value


@ADAPTERS
async def test_taus_adapters_make_the_same_of_a_response(adapter: Adapter, dialect: Dialect):
    heard = Heard()
    for cut_at in (None, *range(len(dialect(CALLS)))):
        stream: list[Part] = [*dialect(CALLS)] if cut_at is None else [*dialect(CALLS)[:cut_at], None]
        async with serving(lambda body, stream=stream: stream) as url:
            plain = await without(lambda url=url: told_by(adapter, url))
            teed = await heard_by(heard, lambda url=url: told_by(adapter, url))
        assert teed == plain
        if cut_at is None:
            assert plain[-1]["type"] == "done"
            assert heard.labels == LABELS
        else:
            assert plain[-1]["type"] == "error"
    assert heard.failures == []


@ADAPTERS
async def test_an_adapter_that_is_interrupted_in_any_step_ends_in_the_same_way(adapter: Adapter, dialect: Dialect):
    async def interrupted_at(step: int | None) -> list[Any]:
        steps = Steps(step)

        async def read() -> None:
            async with httpx.AsyncClient(transport=InProcess(Body(steps, dialect(CALLS), None))) as client:
                stream = adapter("http://model", client).stream_response(
                    model="m", system="", messages=[UserMessage(content="go")], tools=[]
                )
                async for happened in stream:
                    steps.note(happened.type)

        async with asyncio.timeout(10):
            steps.task = asyncio.create_task(read())
            done = await asyncio.gather(steps.task, return_exceptions=True)
            for _ in range(9):
                await asyncio.sleep(0)
        steps.stop()
        return [*steps.log, repr(done[0])]

    heard = Heard()
    whole = await without(lambda: interrupted_at(None))
    assert await heard_by(heard, lambda: interrupted_at(None)) == whole
    assert heard.labels == LABELS
    last = whole[-2][0]
    assert last > len(dialect(CALLS))
    for step in range(2, last + 2):
        plain = await without(lambda step=step: interrupted_at(step))
        assert await heard_by(Heard(), lambda step=step: interrupted_at(step)) == plain
        assert (plain == whole) is (step > last)


@ADAPTERS
async def test_a_tau_that_stops_reading_stops_for_the_server_too(adapter: Adapter, dialect: Dialect):
    async with serving(lambda body: [dialect(CALLS)[0], asyncio.Event()]) as url:
        plain = await without(lambda: told_by(adapter, url, leave_after=1))
        teed = await heard_by(Heard(), lambda: told_by(adapter, url, leave_after=1))
        assert [told["type"] for told in teed] == ["start"]
        assert teed == plain


@ADAPTERS
async def test_a_label_grows_while_the_model_is_still_writing(adapter: Adapter, dialect: Dialect):
    stream = dialect([("c1", "write", ('{"intent":"Fix', "ing the sch", 'ema","content":"', "x" * 50, '"}'))])
    grown, told_at = [asyncio.Event() for _ in range(3)], []
    heard = Heard()

    def on_label(label: Label) -> None:
        grown[len(heard.labels) - 1].set()

    heard.on_label = on_label
    # After each piece with something of the intent, the server goes on when the label for it was heard.
    paused: list[Part] = []
    for part in stream:
        paused.append(part)
        paused += [
            event
            for event, text in zip(grown, (b"Fix", b"ing the sch", b"ema"), strict=True)
            if _is_piece(part, text)
        ]
    assert len(paused) == len(stream) + 3

    def on_event(happened: Any) -> None:
        told_at.append((happened.type, len(heard.labels)))

    async with serving(lambda body: paused) as url:
        await heard_by(heard, lambda: told_by(adapter, url, on_event=on_event))
    assert heard.labels == [
        (0, "write", "c1", "Fix", False),
        (0, "write", "c1", "Fixing the sch", False),
        (0, "write", "c1", "Fixing the schema", True),
    ]
    assert [labels for kind, labels in told_at if kind == "toolcall_start"] == [3]


def _is_piece(part: bytes, text: bytes) -> bool:
    """Whether this is the one piece of the arguments with the text, and not the whole of them."""
    return text in part and b"xxxx" not in part


# What is heard


async def heard_in(pieces: Sequence[bytes]) -> list[Label]:
    heard = Heard()
    await heard_by(heard, lambda: steps_of(pieces, to_the_end, 0))
    assert heard.failures == []
    return heard.labels


TEXTS = ["إصلاح المخطط", "اصلاح طرح‌واره", "スキーマを直す", "Ship it 🚀👩‍💻", 'Say "hi"\\n\u2028 \ud83d alone']


@pytest.mark.parametrize("escaped", [True, False], ids=["escaped", "as it is"])
@pytest.mark.parametrize("intent", TEXTS)
@DIALECTS
async def test_an_intent_may_be_cut_anywhere(dialect: Dialect, intent: str, escaped: bool):
    if not escaped and ("\ud83d" in intent or "\u2028" in intent):
        intent = "half a 🚀"
    arguments = json.dumps({"content": "x", "intent": intent}, ensure_ascii=escaped)
    shown = intent.replace("\ud83d", "\ufffd")
    for at in range(1, len(arguments)):
        labels = await heard_in(dialect([("c1", "write", [arguments[:at], arguments[at:]])]))
        assert labels[-1] == (0, "write", "c1", shown, True)
        assert all(shown.startswith(text) and not complete for _, _, _, text, complete in labels[:-1])
    # The response itself, byte by byte.
    raw = b"".join(dialect([("c1", "write", list(arguments))]))
    if not escaped:
        raw = b"".join(_unescaped(part) for part in dialect([("c1", "write", list(arguments))]))
        assert any(byte > 127 for byte in raw)
    labels = await heard_in([raw[at : at + 1] for at in range(len(raw))])
    assert labels[-1] == (0, "write", "c1", shown, True)
    texts = [text for _, _, _, text, _ in labels[:-1]]
    # A character at a time; only what stands for half a pair waits for the next.
    assert texts == [shown[: n + 1] for n in range(len(shown)) if shown[n] != "\ufffd"]


def _unescaped(part: bytes) -> bytes:
    head, _, record = part.decode().strip().rpartition("data: ")
    if record == "[DONE]":
        return part
    return f"{head}data: {json.dumps(json.loads(record), ensure_ascii=False)}\n\n".encode()


@DIALECTS
async def test_a_tool_with_an_intent_of_its_own_never_shows_a_label(dialect: Dialect):
    assert await heard_in(dialect([("c1", "deploy", list('{"intent":"not ours"}'))])) == []


@DIALECTS
async def test_only_the_intent_of_the_object_itself_is_heard(dialect: Dialect):
    arguments = '{"edits":[{"intent":"no"}],"content":"\\"intent\\":\\"no\\"","intent":"","x":"intent"}'
    assert await heard_in(dialect([("c1", "write", list(arguments))])) == []


async def test_that_an_intent_is_complete_is_told_once():
    # Pieces that a proxy put together: the call goes on in the event that completes the intent.
    parts = [
        {"index": 0, "function": {"name": "write", "arguments": text}} for text in ('{"intent":"A"', ',"x":', "1")
    ]
    assert await heard_in([event({"choices": [{"delta": {"tool_calls": parts}}]})]) == [(0, "write", None, "A", True)]


def test_once_an_intent_is_complete_a_line_costs_next_to_nothing():
    reading = live._Reading(Heard())
    calls: list[str] = []
    before, after = [], []

    def count(frame: FrameType, what: str, argument: object) -> None:
        if what == "call" and f"{os.sep}pi_intent{os.sep}" in frame.f_code.co_filename:
            calls.append(frame.f_code.co_name)

    for line in b"".join(chat([("c1", "write", ['{"intent":"A",', *["x" * 10_000] * 3])])).decode().splitlines():
        calls.clear()
        sys.setprofile(count)
        reading.read(line)
        sys.setprofile(None)
        (after if "xxx" in line else before).append([*calls])
    assert max(len(entered) for entered in before) > 10
    assert after == [["read", "feed"]] * 3


async def test_two_streams_at_once_do_not_mix():
    stories = [[f"{name}, told in many pieces", f"{name} again"] for name in ("One", "Two", "Three")]

    async def listen(intents: list[str], dialect: Dialect) -> list[Label]:
        heard = Heard()
        LISTENER.set(heard)  # in this task only
        calls = [(intent, "write", list(json.dumps({"intent": intent}))) for intent in intents]
        await steps_of(dialect(calls), to_the_end, 0)
        return heard.labels

    found = await asyncio.gather(
        *(listen(intents, dialect) for intents, dialect in zip(stories, (chat, chat, anthropic), strict=True))
    )
    assert [[(at, text) for at, _, _, text, complete in labels if complete] for labels in found] == [
        list(enumerate(intents)) for intents in stories
    ]
    assert all(call_id and call_id.startswith(text) for labels in found for _, _, call_id, text, _ in labels)


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
