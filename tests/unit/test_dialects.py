"""The arguments of calls, read out of the lines of each dialect."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_intent.hosts.tau.dialects import DialectReader, ToolDelta

type Streamed = Sequence[tuple[str, str, Sequence[str]]]
"""Calls as (id, tool, pieces of the arguments)."""


def chat(calls: Streamed) -> list[dict[str, Any]]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }

    events = [chunk({"role": "assistant", "content": ""}), chunk({"content": 'I call it by "name".'})]
    for index, (call_id, tool, pieces) in enumerate(calls):
        head = {"index": index, "id": call_id, "type": "function", "function": {"name": tool, "arguments": ""}}
        events.append(chunk({"tool_calls": [head]}))
        events += [chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}) for piece in pieces]
    return [*events, chunk({}, "tool_calls"), {"choices": [], "usage": {"prompt_tokens": 1}}]


def responses(calls: Streamed) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"status": "in_progress", "tools": [{"name": "write"}]}},
        {"type": "response.output_item.added", "output_index": 0, "item": {"id": "rs_1", "type": "reasoning"}},
        {"type": "response.output_item.done", "output_index": 0, "item": {"id": "rs_1", "type": "reasoning"}},
        {"type": "response.output_item.added", "output_index": 1, "item": {"id": "msg_1", "type": "message"}},
        {"type": "response.output_text.delta", "output_index": 1, "item_id": "msg_1", "delta": "I call it"},
    ]
    for index, (call_id, tool, pieces) in enumerate(calls, start=2):
        at = {"output_index": index, "item_id": f"fc_{call_id}"}
        item = {"id": f"fc_{call_id}", "type": "function_call", "call_id": call_id, "name": tool}
        whole = {"arguments": "".join(pieces)}
        events += [
            {"type": "response.output_item.added", "output_index": index, "item": {**item, "arguments": ""}},
            *({"type": "response.function_call_arguments.delta", **at, "delta": piece} for piece in pieces),
            {"type": "response.function_call_arguments.done", **at, **whole},
            {"type": "response.output_item.done", "output_index": index, "item": {**item, **whole}},
        ]
    return [*events, {"type": "response.completed", "response": {"status": "completed"}}]


def anthropic(calls: Streamed) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "msg_1", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I call it"}},
        {"type": "content_block_stop", "index": 0},
    ]
    for index, (call_id, tool, pieces) in enumerate(calls, start=1):
        block = {"type": "tool_use", "id": call_id, "name": tool, "input": {}}
        events += [
            {"type": "content_block_start", "index": index, "content_block": block},
            *(
                {
                    "type": "content_block_delta",
                    "index": index,
                    "delta": {"type": "input_json_delta", "partial_json": p},
                }
                for p in ("", *pieces)
            ),
            {"type": "content_block_stop", "index": index},
        ]
    return [*events, {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, {"type": "message_stop"}]


DIALECTS = pytest.mark.parametrize("dialect", [chat, responses, anthropic])
CALLS = (("c1", "write", ('{"intent":"Fix', 'ing","path":"a"}')), ("c2", "bash", ('{"command":', '"ls"}')))


def lines(events: Sequence[dict[str, Any]]) -> list[str]:
    """The lines as a response gives them, with the event's name where Anthropic and OpenAI send it."""
    found: list[str] = []
    for event in events:
        found += [f"event: {event['type']}"] if "type" in event else []
        found += [f"data: {json.dumps(event)}", ""]
    return [*found, "data: [DONE]", ""]


def read(given_lines: Sequence[str], reader: DialectReader | None = None) -> list[ToolDelta]:
    reader = reader or DialectReader()
    return [delta for line in given_lines for delta in reader.feed(line)]


def delta(position: int, call_id: str | None, tool: str, text: str) -> ToolDelta:
    return ToolDelta(position=position, tool_call_id=call_id, tool_name=tool, text=text)


@DIALECTS
def test_each_piece_of_each_calls_arguments_is_reported_as_it_comes(dialect: Callable[[Streamed], Any]):
    assert read(lines(dialect(CALLS))) == [
        delta(0, "c1", "write", '{"intent":"Fix'),
        delta(0, "c1", "write", 'ing","path":"a"}'),
        delta(1, "c2", "bash", '{"command":'),
        delta(1, "c2", "bash", '"ls"}'),
    ]


@DIALECTS
def test_a_call_that_is_skipped_is_silent_and_the_next_one_is_not(dialect: Callable[[Streamed], Any]):
    reader, found = DialectReader(), []
    for line in lines(dialect(CALLS)):
        for piece in reader.feed(line):
            found.append(piece)
            reader.skip(piece.position)
    assert found == [delta(0, "c1", "write", '{"intent":"Fix'), delta(1, "c2", "bash", '{"command":')]


@DIALECTS
@given(data=st.data())
def test_the_pieces_put_together_are_the_arguments_however_they_were_cut(
    dialect: Callable[[Streamed], Any], data: st.DataObject
):
    texts = data.draw(st.lists(st.text(min_size=1), min_size=1, max_size=3))
    cut = [[text[:at], text[at:]] for text in texts for at in [data.draw(st.integers(0, len(text)))]]
    calls = [(f"c{number}", "write", pieces) for number, pieces in enumerate(cut)]
    found = read(lines(dialect(calls)))
    assert ["".join(d.text for d in found if d.position == number) for number in range(len(texts))] == texts


def test_calls_of_chat_completions_may_take_turns():
    first, second = (
        [event for event in chat(CALLS) if _index_of(event) == 0],
        [event for event in chat(CALLS) if _index_of(event) == 1],
    )
    turns = [first[0], second[0], first[1], second[1], first[2], second[2]]
    assert [(d.position, d.text) for d in read(lines(turns))] == [
        (0, '{"intent":"Fix'),
        (1, '{"command":'),
        (0, 'ing","path":"a"}'),
        (1, '"ls"}'),
    ]


def _index_of(event: dict[str, Any]) -> int | None:
    parts = event["choices"][0]["delta"].get("tool_calls") if event["choices"] else None
    return parts[0]["index"] if parts else None


def chunk(*parts: Any) -> str:
    return "data:" + json.dumps({"choices": [{"delta": {"tool_calls": list(parts)}}]})


def part(arguments: object, **more: Any) -> dict[str, Any]:
    name = {"name": more.pop("name")} if "name" in more else {}
    return {**more, "function": {**name, "arguments": arguments}}


def test_a_provider_may_send_no_id_count_from_anywhere_and_repeat_the_name():
    stream = [
        chunk(part('{"a"', index=3, name="read")),
        chunk(part(":1}", index=3, name="read", id=None), part("{}", index=7, name="bash", id="")),
        chunk(part(" ", index=7, name="")),
    ]
    assert read(stream) == [
        delta(0, None, "read", '{"a"'),
        delta(0, None, "read", ":1}"),
        delta(1, None, "bash", "{}"),
        delta(1, None, "bash", " "),
    ]


def test_a_call_may_come_without_an_index_and_with_its_arguments_as_an_object():
    assert read([chunk(part({"intent": "Why"}, name="read", id="x"))]) == [delta(0, "x", "read", '{"intent": "Why"}')]


def test_after_a_call_out_of_order_nothing_more_is_reported():
    stream = [
        chunk(part("{", index=1, name="read")),
        chunk(part("{", index=0, name="bash"), part("}", index=1)),
        chunk(part("}", index=1)),
        chunk(part("{", index=2, name="read")),
    ]
    assert read(stream) == [delta(0, None, "read", "{")]


def test_arguments_that_begin_before_their_tool_is_named_are_not_reported():
    stream = [
        chunk(part("{", index=0, name="read")),
        chunk(part('{"a":"', index=1)),
        chunk(part('{"intent":"No"}', index=1, name="write")),
    ]
    assert read(stream) == [delta(0, None, "read", "{")]


@pytest.mark.parametrize("last", ["function_call_arguments.done", "output_item.done", "output_item.completed"])
def test_arguments_that_responses_send_whole_are_reported_once(last: str):
    events = [event for event in responses(CALLS) if not event["type"].endswith("arguments.delta")]
    end = events.index(next(e for e in events if e["type"].endswith("arguments.done")))
    if last != "function_call_arguments.done":
        events = [event for event in events if not event["type"].endswith("arguments.done")]
        events = [
            {**event, "type": event["type"].replace("output_item.done", last)} if "item" in event else event
            for event in events
        ]
    assert end
    assert read(lines(events)) == [
        delta(0, "c1", "write", '{"intent":"Fixing","path":"a"}'),
        delta(1, "c2", "bash", '{"command":"ls"}'),
    ]


@pytest.mark.parametrize("missing", ["item_id", "output_index", "both"])
def test_an_event_of_responses_names_its_call_in_more_than_one_way(missing: str):
    events = []
    for event in responses(CALLS):
        if event["type"].startswith("response.function_call_arguments"):
            call_id = event["item_id"].removeprefix("fc_")
            gone = ("item_id", "output_index") if missing == "both" else (missing,)
            event = {key: value for key, value in event.items() if key not in gone}
            event |= {"call_id": call_id} if missing == "both" else {}
        events.append(event)
    assert read(lines(events)) == read(lines(responses(CALLS)))


def test_arguments_that_responses_send_whole_at_the_start_are_not_reported_again_in_pieces():
    whole = '{"command":"ls"}'
    events = []
    for event in responses([("c1", "bash", (whole,))]):
        is_start = event["type"].endswith("added") and event["item"]["type"] == "function_call"
        events.append({**event, "item": {**event["item"], "arguments": whole}} if is_start else event)
    assert read(lines(events)) == [delta(0, "c1", "bash", whole)]


def test_nothing_is_reported_of_a_call_after_its_end():
    block = anthropic([("c1", "read", ["{"])])
    piece = next(event for event in block if event.get("delta", {}).get("partial_json"))
    assert read(lines([*block, *block[4:5], piece])) == [delta(0, "c1", "read", "{")]
    items = responses([("c1", "read", ["{"])])
    piece = next(event for event in items if event["type"].endswith("arguments.delta"))
    opens_another = responses([("c1", "read", []), ("c2", "bash", [])])[-5]
    assert read(lines([*items, opens_another, piece])) == [delta(0, "c1", "read", "{")]


def test_pieces_for_a_call_that_never_opened_are_not_reported():
    opened = {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "name": "a"}}
    piece = {"type": "content_block_delta", "index": 4, "delta": {"type": "input_json_delta", "partial_json": "{"}}
    stray = {"type": "response.function_call_arguments.delta", "item_id": "fc_9", "delta": "{"}
    assert read(lines([opened, piece, stray])) == []


ODD = [
    "",
    "data:",
    "data: [DONE]",
    ": keep-alive",
    "event: ping",
    "retry: 5",
    'data: {"name',
    'data: "name"',
    'data: ["name"]',
    'data: {"name":' + "[" * 100_000,
    'data: {"name":' + "9" * 5000 + "}",
    'data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"write","args":{"intent":"x"}}}]}}]}',
    'data: {"choices":["name"]}',
    'data: {"choices":[],"name":1}',
    'data: {"choices":[{"delta":{"tool_calls":["name",null,{"index":"0","function":{"name":[],"arguments":"{"}}]}}]}',
    'data: {"choices":[{"delta":{"tool_calls":[{"index":true,"id":[],"function":"name"}]}}]}',
    'data: {"type":["name"]}',
    'data: {"type":"response.output_item.added","item":{"type":"function_call","id":[],"call_id":{},"name":7}}',
    'data: {"type":"content_block_start","index":[1],"content_block":{"type":"tool_use","name":"a"}}',
]


def test_what_is_no_piece_of_arguments_says_nothing():
    reader = DialectReader()
    assert read(ODD, reader) == []
    assert read(lines(anthropic(CALLS)), reader) != []


FIELDS = (
    *("choices", "delta", "tool_calls", "index", "id", "function", "name", "arguments", "type", "item", "item_id"),
    *("call_id", "output_index", "content_block", "partial_json"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from(["write", "function_call", "tool_use", "{"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(FIELDS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
KINDS = st.sampled_from([event["type"] for event in [*responses(CALLS), *anthropic(CALLS)]])


@given(events=st.lists(st.tuples(JSON, st.none() | KINDS), max_size=8), texts=st.lists(st.text(), max_size=3))
def test_no_line_makes_it_raise(events: list[tuple[Any, str | None]], texts: list[str]):
    reader = DialectReader()
    for value, kind in events:
        event = {**value, "type": kind} if isinstance(value, dict) and kind else value
        assert all(isinstance(found.text, str) for found in reader.feed(f"data: {json.dumps(event)}"))
        for text in texts:
            assert reader.feed(f"data: {text}") == []
