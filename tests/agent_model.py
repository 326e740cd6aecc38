"""Answer an agent from a script, in its vendor's dialect: a model that is not one, on the loopback interface.

Claude Code speaks Anthropic's messages, Codex speaks OpenAI's responses. The turns are those of the scripted model
of the demo; a tool of an MCP server is `mcp__SERVER__TOOL` for both, whatever it is called on the wire.
"""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Protocol, Self

from pi_intent.cli.demo.model import ScriptedCall, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What the model is told of a call. `is_error` is None where the dialect does not say."""

    text: str
    is_error: bool | None


class Dialect(Protocol):
    """How a vendor's clients talk to its models."""

    path: str

    def stream(self, turn: Turn, ids: Sequence[str], body: Any) -> Iterator[tuple[str, Any]]:
        """The events of one answer, with their names."""

    def tools(self, body: Any) -> dict[str, Any]:
        """The schemas of the tools that a request offers, by name."""

    def results(self, body: Any) -> dict[str, ToolResult]:
        """The results that a request tells the model, by the id of their call."""


class AnthropicMessages:
    """`POST /v1/messages`."""

    path = "/v1/messages"

    def stream(self, turn: Turn, ids: Sequence[str], body: Any) -> Iterator[tuple[str, Any]]:
        def event(kind: str, **fields: Any) -> tuple[str, Any]:
            return kind, {"type": kind, **fields}

        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
        yield event("message_start", message=message | {"stop_reason": None, "stop_sequence": None, "usage": usage})
        blocks: list[tuple[Any, Any]] = []
        if turn.text:
            blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": turn.text}))
        for call, call_id in zip(turn.calls, ids, strict=True):
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
            blocks.append(({"type": "tool_use", "id": call_id, "name": call.name, "input": {}}, delta))
        for index, (block, delta) in enumerate(blocks):
            yield event("content_block_start", index=index, content_block=block)
            yield event("content_block_delta", index=index, delta=delta)
            yield event("content_block_stop", index=index)
        reason = "tool_use" if turn.calls else "end_turn"
        yield event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=usage)
        yield event("message_stop")

    def tools(self, body: Any) -> dict[str, Any]:
        return {tool["name"]: tool["input_schema"] for tool in body.get("tools", ()) if "input_schema" in tool}

    def results(self, body: Any) -> dict[str, ToolResult]:
        return {
            block["tool_use_id"]: ToolResult(text=_text(block["content"]), is_error=block.get("is_error", False))
            for message in body["messages"]
            if not isinstance(message["content"], str)
            for block in message["content"]
            if block["type"] == "tool_result"
        }


class OpenAIResponses:
    """`POST /v1/responses`. An MCP server's tools come in a namespace of their own."""

    path = "/v1/responses"

    def stream(self, turn: Turn, ids: Sequence[str], body: Any) -> Iterator[tuple[str, Any]]:
        items: list[Any] = []
        if turn.text:
            content = [{"type": "output_text", "text": turn.text, "annotations": []}]
            items.append({"type": "message", "id": "msg_1", "role": "assistant", "content": content})
        for call, call_id in zip(turn.calls, ids, strict=True):
            namespace, _, name = call.name.rpartition("__")
            item = {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": name}
            items.append(item | {"namespace": namespace, "arguments": json.dumps(call.arguments)})
        answer = {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}
        yield "response.created", {"type": "response.created", "response": answer}
        for index, item in enumerate(items):
            for kind in ("response.output_item.added", "response.output_item.done"):
                yield kind, {"type": kind, "output_index": index, "item": item | {"status": "completed"}}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        answer = answer | {"status": "completed", "output": items, "usage": usage}
        yield "response.completed", {"type": "response.completed", "response": answer}

    def tools(self, body: Any) -> dict[str, Any]:
        return {
            f"{space['name']}__{tool['name']}": tool["parameters"]
            for space in body.get("tools", ())
            if space["type"] == "namespace"
            for tool in space["tools"]
        }

    def results(self, body: Any) -> dict[str, ToolResult]:
        return {
            item["call_id"]: ToolResult(text=_text(item["output"]), is_error=None)
            for item in body["input"]
            if item["type"] == "function_call_output"
        }


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


class AgentModel:
    """A model server on 127.0.0.1 that gives its turns in order; use it as a context manager.

    It is also a proxy that lets nobody through: set as `HTTPS_PROXY`, it learns whom else an agent wanted to reach.
    """

    def __init__(self, dialect: Dialect, turns: Sequence[Turn]) -> None:
        self.dialect = dialect
        self.bodies: list[Any] = []
        """The requests that offered tools, in order."""
        self.strays: list[str] = []
        """What was asked for besides the model."""
        self._turns = iter(turns)
        self._calls = 0
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The server's address, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def offered(self) -> dict[str, Any]:
        """The schemas of the tools that the last request offered, by name."""
        return self.dialect.tools(self.bodies[-1])

    @property
    def told(self) -> dict[str, ToolResult]:
        """The results of all calls as the model has them in the last request, by call id."""
        return self.dialect.results(self.bodies[-1])

    def answer(self, body: Any) -> bytes:
        """Return the stream that answers a request; one without tools takes no turn."""
        turn = Turn(text="A name")
        with self._lock:
            if body.get("tools"):
                self.bodies.append(body)
                turn = next(self._turns, Turn(text="The script has ended."))
            ids = [self._id(call) for call in turn.calls]
        events = self.dialect.stream(turn, ids, body)
        return b"".join(f"event: {name}\ndata: {json.dumps(event)}\n\n".encode("ascii") for name, event in events)

    def _id(self, call: ScriptedCall) -> str:
        self._calls += 1
        return f"call_{self._calls}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model: AgentModel) -> None:
        self.model = model
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        # HTTPServer would ask the resolver for the host's name, which can take seconds and leaves the machine.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 30  # of one read or write: an agent that hangs must not keep its thread for ever

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.partition("?")[0] != self.server.model.dialect.path:
            self._stray()
            return
        answer = self.server.model.answer(json.loads(raw))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def _stray(self) -> None:
        self.server.model.strays.append(f"{self.command} {self.path}")
        self.send_error(404)

    do_CONNECT = do_GET = do_HEAD = _stray  # noqa: N815 - the names are the base class's

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Keep quiet: what was asked stands in the model."""
