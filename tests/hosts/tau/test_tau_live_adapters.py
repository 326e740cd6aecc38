"""Tau's adapters make the same of a response whether its intents are heard or not, over a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tau_agent.messages import UserMessage
from tau_ai.anthropic import AnthropicProvider
from tau_ai.env import AnthropicConfig
from tau_ai.openai_codex import OpenAICodexConfig, OpenAICodexCredentials, OpenAICodexProvider
from tau_streams import (
    CALLS,
    LABELS,
    Body,
    Dialect,
    Heard,
    InProcess,
    Label,
    Part,
    Steps,
    anthropic,
    chat,
    completions_adapter,
    heard_by,
    responses,
    serving,
    without,
)

pytestmark = pytest.mark.usefixtures("fresh_tee")


async def _credentials() -> OpenAICodexCredentials:
    return OpenAICodexCredentials(access_token="none", account_id="none")


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
