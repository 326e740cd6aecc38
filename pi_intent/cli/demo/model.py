"""Answer chat completions from a script: a model that is not one, on the loopback interface.

It streams what a real provider streams (role, text, tool calls whose arguments arrive in pieces, finish reason,
usage, `[DONE]`), keeps every request byte for byte, and can fail in the ways real ones do. Events are ASCII: Tau
0.4.8 reads a stream by lines, and takes a raw U+2028, U+2029 or U+0085 for the end of one.
"""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from pi_intent.types import JSONObject, JSONValue

NUMBERED = "numbered"
"""The `id` of a scripted call that the server counts itself: `call_1`, `call_2`, … over the whole script."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedCall:
    """One tool call of a turn.

    `arguments` that are text go out letter for letter, so that a script can send what is not JSON; anything else
    is written as JSON. With `id=None` no id is sent, as some providers do.
    """

    name: str
    arguments: JSONValue
    id: str | None = NUMBERED


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One answer of the model.

    `status` other than 200 answers with that HTTP error instead. `cut_at` closes the connection after so many
    characters of the last call's arguments, without a finish reason. `repeat` gives the same answer so many times:
    a model that loops, with an end to it.
    """

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    status: int = 200
    cut_at: int | None = None
    repeat: int = 1


type Script = Sequence[Turn | Callable[[JSONObject], Turn]]
"""The turns in order; a function is given the request's body and answers with a turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """What a client asked: `raw` as it came, `body` as it reads."""

    path: str
    raw: bytes
    body: JSONObject

    @property
    def has_tools(self) -> bool:
        """Whether the client offered tools: Tau names a new session in a request without any."""
        return bool(self.body.get("tools"))


class ScriptedModel:
    """A chat-completions server on 127.0.0.1 that answers from a script; use it as a context manager.

    A request without tools gets `without_tools` and takes no turn of the script. When the script has run out, every
    further request gets `afterwards`. `piece` is the number of characters in one delta, `pause` the seconds between
    two deltas.
    """

    def __init__(
        self,
        script: Script,
        *,
        piece: int = 24,
        pause: float = 0.0,
        without_tools: str = "Scripted session",
        afterwards: str = "The script has ended.",
    ) -> None:
        self.requests: list[RecordedRequest] = []
        self._turns = _unrolled(script)
        self._piece = piece
        self._pause = pause
        self._without_tools = without_tools
        self._afterwards = afterwards
        self._calls = 0
        # Held while a request takes its turn: the order of `requests` is the order in which turns were given out.
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def base_url(self) -> str:
        """What a client is configured with."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def tool_requests(self) -> list[RecordedRequest]:
        """The requests that offered tools, in order: one for each turn that was taken."""
        return [request for request in self.requests if request.has_tools]

    def close(self) -> None:
        """Stop answering; streams that are under way end where they are. Closing twice is the same as once."""
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def answer(self, request: RecordedRequest) -> tuple[Turn, Iterator[bytes]]:
        """Record a request and return its turn with the stream of it."""
        with self._lock:
            self.requests.append(request)
            step = next(self._turns, None) if request.has_tools else Turn(text=self._without_tools)
            if step is None:
                step = Turn(text=self._afterwards)
            turn = step if isinstance(step, Turn) else step(request.body)
            ids = [self._id(call) for call in turn.calls]
        return turn, self._stream(turn, ids, request)

    def _id(self, call: ScriptedCall) -> str | None:
        if call.id != NUMBERED:
            return call.id
        self._calls += 1
        return f"call_{self._calls}"

    def _stream(self, turn: Turn, ids: list[str | None], request: RecordedRequest) -> Iterator[bytes]:
        def chunk(delta: JSONObject, finish: str | None = None) -> bytes:
            return _event(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

        head: JSONObject = {
            "id": f"scripted-{len(self.requests)}",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": request.body.get("model"),
        }
        yield chunk({"role": "assistant", "content": ""})
        for piece in self._pieces(turn.text):
            yield chunk({"content": piece})
        for index, (call, call_id) in enumerate(zip(turn.calls, ids, strict=True)):
            opening: JSONObject = {"index": index, "type": "function"}
            if call_id is not None:
                opening["id"] = call_id
            yield chunk({"tool_calls": [opening | {"function": {"name": call.name, "arguments": ""}}]})
            text = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
            if turn.cut_at is not None and index == len(turn.calls) - 1:
                text = text[: turn.cut_at]
            for piece in self._pieces(text):
                yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        if turn.cut_at is not None or self._closing.is_set():
            return
        yield chunk({}, "tool_calls" if turn.calls else "stop")
        yield _event(head | {"choices": [], "usage": _usage(request, turn)})
        yield b"data: [DONE]\n\n"

    def _pieces(self, text: str) -> Iterator[str]:
        for start in range(0, len(text), self._piece):
            if self._closing.wait(self._pause) if self._pause else self._closing.is_set():
                return
            yield text[start : start + self._piece]


def _unrolled(script: Script) -> Iterator[Turn | Callable[[JSONObject], Turn]]:
    for step in script:
        for _ in range(step.repeat if isinstance(step, Turn) else 1):
            yield step


def _event(record: JSONObject) -> bytes:
    return b"data: " + json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n\n"


def _usage(request: RecordedRequest, turn: Turn) -> JSONObject:
    # Four bytes a token is near enough for a model that bills nobody.
    prompt = len(request.raw) // 4
    completion = (len(turn.text) + sum(len(str(call.arguments)) for call in turn.calls)) // 4
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: ScriptedModel) -> None:
        self.model = model
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        # HTTPServer would ask the resolver for the host's name, which can take seconds and leaves the machine.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 30  # of one read or write: a client that hangs must not keep its thread for ever

    def do_POST(self) -> None:
        if not self.path.endswith("/chat/completions"):
            self.send_error(404)
            return
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            body = json.loads(raw)
        except ValueError:
            self.send_error(400, "the body is not JSON")
            return
        turn, stream = self.server.model.answer(RecordedRequest(path=self.path, raw=raw, body=body))
        # A client may go away in the middle: it was killed, or the turn was cancelled.
        with suppress(ConnectionError, TimeoutError):
            if turn.status != 200:
                self._refuse(turn.status)
                return
            # No length and no chunks: the end of the connection is the end of the body, so that a cut stream is
            # what a proxy that gives up looks like to the client.
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for part in stream:
                self.wfile.write(part)

    def _refuse(self, status: int) -> None:
        body = json.dumps({"error": {"message": "scripted failure", "type": "scripted"}}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Keep quiet: the screen belongs to whoever runs the model."""
