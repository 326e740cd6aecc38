"""What is heard of a call while it is written: its intent, and no other."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from types import FrameType

import pytest
from tau_streams import DIALECTS, Dialect, Heard, Label, anthropic, chat, event, heard_by, steps_of, to_the_end

from pi_intent.hosts.tau import live
from pi_intent.hosts.tau.live import LISTENER

pytestmark = pytest.mark.usefixtures("fresh_tee")


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
