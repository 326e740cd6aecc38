"""No line of a server that holds a credential reaches its client, whatever the line is and however it is written."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from pi_intent.descriptions import model_texts
from pi_intent.hosts.mcp.bounding import Bounds
from pi_intent.recorded import RecordedSession
from pi_intent.settings import Settings

CREDENTIAL = "cAn<ry&-77x9Qz-s3cr3t"


class Session(RecordedSession):
    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []
        self.looked_at: list[str] = []

    def tell_once(self, message: str) -> None:
        self.told.append(message)

    def holds_given(self, text: str) -> bool:
        self.looked_at.append(text)
        return super().holds_given(text)


@pytest.fixture
def session() -> Session:
    session = Session()
    session.learn([CREDENTIAL])
    return session


@pytest.fixture
def bounds(session: Session) -> Bounds:
    return Bounds(session, model_texts(), lambda name: Settings().for_tool(name, watched=False))


def as_go(text: str) -> str:
    return text.replace("&", "\\u0026").replace("<", "\\u003c")


def all_escaped(text: str) -> str:
    return text.replace(CREDENTIAL, "".join(f"\\u{ord(character):04X}" for character in CREDENTIAL))


@pytest.mark.parametrize("write", [str, as_go, all_escaped])
@pytest.mark.parametrize("said", [{"result": {"x": [CREDENTIAL]}}, {"error": {"code": 1, "message": CREDENTIAL}}])
def test_an_answer_becomes_an_error(bounds: Bounds, write: Callable[[str], str], said: object):
    for message in ({"jsonrpc": "2.0", "id": 7, **said}, {"jsonrpc": "2.0", **said, "id": 7}):  # type: ignore[dict-item]
        to_client, to_server = bounds.clean(write(json.dumps(message)).encode() + b"\n")
        assert to_server is None
        answer = json.loads(to_client or b"")
        assert answer["id"] == 7
        assert "holds a credential" in answer["error"]["message"]


@pytest.mark.parametrize(
    "params",
    [
        {"message": CREDENTIAL},
        {CREDENTIAL: 1},
        {"parts": [CREDENTIAL[:9], CREDENTIAL[9:]]},
        {"parts": [{"type": "text", "text": piece, "x": 1} for piece in (CREDENTIAL[:9], CREDENTIAL[9:])]},
        {"nested": json.dumps({"text": as_go(CREDENTIAL)})},
        {"message": CREDENTIAL[:9] + "\x1b[1m" + CREDENTIAL[9:]},
    ],
)
def test_a_notification_goes_nowhere(bounds: Bounds, params: object):
    line = json.dumps({"jsonrpc": "2.0", "method": "notifications/x", "params": params})
    assert bounds.clean(as_go(line).encode()) == (None, None)
    assert bounds.clean(b"not json " + as_go(line).encode()) == (None, None) or "parts" in str(params)


def test_what_holds_none_is_the_very_same(bounds: Bounds):
    line = b'{"jsonrpc":"2.0","id":1,"result":{"text":"a \\u0026 \\u003c b\\n"}}\n'
    assert bounds.clean(line) == (line, None)
    assert bounds.clean(line)[0] is line


def test_one_tool_may_not_say_what_another_was_given(bounds: Bounds):
    message = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": CREDENTIAL}]}}
    bounded = bounds.answer(as_go(json.dumps(message)), 0, message, "another")
    assert bounded is not None
    assert bounded.settlement.flags == ("withheld",)
    assert bounded.settlement.result is None


def test_an_answer_is_looked_at_once(bounds: Bounds, session: Session):
    said = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "a line of text"}]}}
    line = json.dumps(said)
    assert bounds.answer(line, 0, said, "a tool") is None
    assert bounds.clean(line.encode()) == (line.encode(), None)
    assert sum("a line of text" in text for text in session.looked_at) == 3  # the line, its texts, its blocks
    assert bounds.clean(line.encode()) == (line.encode(), None)
    assert len(session.looked_at) == 6


def test_what_stands_beside_a_result_is_looked_at_too(bounds: Bounds):
    said = {"jsonrpc": "2.0", "id": 1, "result": {"content": []}, "more": CREDENTIAL}
    line = json.dumps(said)
    assert bounds.answer(line, 0, said, "a tool") is None
    assert bounds.clean(line.encode())[0] != line.encode()


def test_every_answer_of_a_batch_is_looked_at(bounds: Bounds):
    good, bad = ({"jsonrpc": "2.0", "id": at, "result": {"x": text}} for at, text in enumerate(["a", CREDENTIAL]))
    line = json.dumps([good, bad])
    assert bounds.answer(line, 1, good, "a tool") is None
    assert bounds.clean(line.encode())[0] != line.encode()
    assert bounds.answer(line, line.index("{", line.index("}}")), bad, "a tool") is not None
