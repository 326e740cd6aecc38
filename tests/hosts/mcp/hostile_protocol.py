"""How the hostile server speaks: both protocol eras, every answer spelled by hand."""

from __future__ import annotations

import os
import select
from typing import Any

from hostile_catalogue import CATALOGUES
from hostile_json import read, spell
from hostile_tools import WHEN, call_tool, text_result

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
ENVELOPE = "io.modelcontextprotocol/protocolVersion"
INFO = '{"name":"hostile","version":"1.0"}'
CAPABILITIES = (
    '{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"completions":{},"logging":{},'
    '"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}},"experimental":{"x":1.0}}'
)
PATIENCE = 30.0
"""Seconds after which a server that ignores the end of its input leaves by itself."""

FIXED = {
    "ping": "{}",
    "logging/setLevel": "{}",
    "resources/list": '{"resources":[{"uri":"mem://a","name":"a","size":1e3,"_meta":{"k":[]}}],"nextCursor":"r2"}',
    "resources/templates/list": '{"resourceTemplates":[{"uriTemplate":"mem://{id}","name":"t"}]}',
    "resources/read": '{"contents":[{"uri":"mem://a","text":"\\u2028 \\/ é"},{"uri":"mem://b","blob":"AAEC"}]}',
    "resources/subscribe": "{}",
    "resources/unsubscribe": "{}",
    "prompts/list": '{"prompts":[{"name":"p","arguments":[{"name":"intent","required":true}]}]}',
    "prompts/get": '{"messages":[{"role":"user","content":{"type":"text","text":"p"}}],"_meta":{"k":1.0}}',
    "completion/complete": '{"completion":{"values":["a"],"total":100,"hasMore":true}}',
}


class HostileServer:
    """Answers what it can read, in the spelling it was asked in."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.catalogue: str = options.get("catalogue", "plain")
        self.held: dict[str, dict[str, Any]] = {}
        self.asked: dict[str, dict[str, Any]] = {}
        self.tasks: dict[str, dict[str, Any]] = {}
        self.listens: dict[str, dict[str, Any]] = {}
        self.end = b"\r\n" if options.get("crlf") else b"\n"
        self.batch: list[str] | None = None
        record = options.get("record")
        self.record = os.open(record, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600) if record else None

    def write(self, data: bytes) -> None:
        step = 1 if self.options.get("slow") else len(data)
        while data:
            data = data[os.write(1, data[:step]) :]

    def line(self, text: str) -> None:
        self.write(text.encode("utf-8", "surrogateescape") + self.end)

    def answer(self, call: dict[str, Any], result: str) -> None:
        if "id" not in call:
            return
        meta = (call.get("params") or {}).get("_meta") if isinstance(call.get("params"), dict) else None
        if isinstance(meta, dict) and ENVELOPE in meta and not result.startswith('{"resultType"'):
            result = '{"resultType":"complete"}' if result == "{}" else f'{{"resultType":"complete",{result[1:]}'
        message = f'{{"jsonrpc":"2.0","id":{spell(call["id"])},"result":{result}}}'
        if self.batch is None:
            self.line(message)
        else:
            self.batch.append(message)

    def error(self, request_id: Any, code: int, message: str, data: str = "{}") -> None:
        self.line(
            f'{{"jsonrpc":"2.0","id":{spell(request_id)},"error":{{"code":{code},"message":"{message}","data":{data}}}}}'
        )

    def run(self) -> None:
        self.write(self.options.get("before", "").encode("utf-8", "surrogateescape"))
        os.write(2, self.options.get("stderr", "").encode())
        pending = b""
        while chunk := self.read_chunk():
            if self.record is not None:
                os.write(self.record, chunk)
            *lines, pending = (pending + chunk).split(b"\n")
            for line in lines:
                self.receive(line)
        if pending:
            self.receive(pending)
        self.finish()

    def read_chunk(self) -> bytes:
        try:
            return os.read(0, 1 << 20)
        except OSError:
            return b""

    def finish(self) -> None:
        match self.options.get("at_end", "exit"):
            case "ignore":
                select.select([], [], [], PATIENCE)
            case "late":
                select.select([], [], [], 0.2)
                self.line(
                    '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"late"}}'
                )
                for held in self.held.values():
                    self.answer(held, text_result("late"))
            case "unfinished":
                self.write(b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"no newline"}}')
        os._exit(self.options.get("exit", 0))

    def receive(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = read(line.decode("utf-8", "surrogateescape"))
        except (ValueError, RecursionError):
            self.error(None, -32700, "Parse error")
            return
        if isinstance(message, list):
            self.batch = []
            for part in message:
                self.handle(part)
            answers, self.batch = self.batch, None
            if answers:
                self.line("[" + ",".join(answers) + "]")
        else:
            self.handle(message)

    def handle(self, message: Any) -> None:
        if not isinstance(message, dict):
            self.error(None, -32600, "Not a message")
            return
        method = message.get("method")
        if method is None:
            call = self.asked.pop(spell(message.get("id")), None)
            if call is not None:
                self.answer(call, text_result(spell(message)))
            return
        if method in self.options.get("mute", ()):
            return
        if method == "tools/call":
            params = message.get("params")
            if isinstance(params, dict) and "task" in params:
                self.make_task(message)
            else:
                call_tool(self, message)
        elif method in FIXED:
            self.answer(message, FIXED[method])
            if method == "resources/subscribe":
                self.line('{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"mem://a"}}')
        elif isinstance(method, str) and (own := getattr(self, "on_" + method.replace("/", "_"), None)):
            own(message)
        elif "id" in message:
            self.error(message["id"], -32601, "Method not found", '{"known":[1.0,null]}')

    def on_initialize(self, message: dict[str, Any]) -> None:
        asked = message["params"]["protocolVersion"]
        version = asked if asked in HANDSHAKES else HANDSHAKES[-1]
        self.answer(
            message,
            f'{{"protocolVersion":"{version}","capabilities":{CAPABILITIES},"serverInfo":{INFO},"instructions":"Be\\u2028good"}}',
        )

    def on_notifications_initialized(self, message: dict[str, Any]) -> None:
        self.write(self.options.get("greeting", "").encode("utf-8", "surrogateescape"))

    def on_server_discover(self, message: dict[str, Any]) -> None:
        if self.options.get("era") == "handshake":
            self.error(message["id"], -32601, "Method not found")
            return
        meta = message["params"]["_meta"]
        if meta[ENVELOPE] != MODERN:
            self.error(message["id"], -32022, "Unsupported version", f'{{"supported":["{MODERN}"],"requested":"x"}}')
            return
        self.answer(
            message,
            f'{{"supportedVersions":["{MODERN}"],"capabilities":{CAPABILITIES},"ttlMs":1e3,"cacheScope":"public"}}',
        )

    def on_tools_list(self, message: dict[str, Any]) -> None:
        if self.options.get("own_list_error"):
            self.error(message["id"], -32603, "No list today")
            return
        params = message.get("params") or {}
        tools = CATALOGUES[self.catalogue]
        size = self.options.get("page", len(tools) or 1)
        start = int(str(params.get("cursor") or "page:0")[5:])
        page = tools[start : start + size]
        if self.options.get("shift") and start == 0:
            self.catalogue = self.options["shift"]
        more = f',"nextCursor":"page:{start + size}"' if start + size < len(tools) else ""
        gap = "  " if self.options.get("pretty") else ""
        hints = ',"ttlMs":300000,"cacheScope":"private"' if ENVELOPE in (params.get("_meta") or {}) else ""
        self.answer(
            message,
            f'{{{gap}"tools"{gap}:{gap}[{gap}' + f",{gap}".join(page) + f'{gap}]{more}{hints},"_meta":{{"n":1.0}}}}',
        )

    def on_subscriptions_listen(self, message: dict[str, Any]) -> None:
        self.listens[spell(message["id"])] = message
        meta = f'"_meta":{{"io.modelcontextprotocol/subscriptionId":{spell(message["id"])}}}'
        agreed = spell(message["params"]["notifications"])
        params = f'{{{meta},"notifications":{agreed}}}'
        self.line(f'{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{params}}}')
        self.line(f'{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{{meta}}}}}')

    def on_notifications_cancelled(self, message: dict[str, Any]) -> None:
        request_id = spell(message["params"]["requestId"])
        if listen := self.listens.pop(request_id, None):
            self.answer(
                listen,
                f'{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/subscriptionId":{request_id}}}}}',
            )
        held = self.held.get(request_id)
        if held is not None and (held["params"].get("arguments") or {}).get("ignore"):
            self.answer(self.held.pop(request_id), text_result("not cancelled"))
        else:
            self.held.pop(request_id, None)

    def on_notifications_roots_list_changed(self, message: dict[str, Any]) -> None:
        self.line('{"jsonrpc":"2.0","id":1,"method":"roots/list"}')

    def make_task(self, message: dict[str, Any]) -> None:
        task_id = f"task-{len(self.tasks)}"
        self.tasks[task_id] = {"status": "working", "call": message}
        self.answer(message, f'{{"task":{self.spell_task(task_id)}}}')
        self.line(f'{{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{self.spell_task(task_id)}}}')

    def spell_task(self, task_id: str) -> str:
        status = self.tasks[task_id]["status"]
        times = f'"createdAt":{WHEN},"lastUpdatedAt":{WHEN},"ttl":6e4,"pollInterval":1'
        return f'{{"taskId":"{task_id}","status":"{status}",{times}}}'

    def on_tasks_get(self, message: dict[str, Any]) -> None:
        task_id = message["params"]["taskId"]
        if task_id not in self.tasks:
            self.error(message["id"], -32602, "No such task", '{"taskId":null}')
            return
        self.answer(message, self.spell_task(task_id))
        if self.tasks[task_id]["status"] == "working":
            self.tasks[task_id]["status"] = "completed"

    def on_tasks_list(self, message: dict[str, Any]) -> None:
        self.answer(message, '{"tasks":[' + ",".join(map(self.spell_task, self.tasks)) + "]}")

    def on_tasks_result(self, message: dict[str, Any]) -> None:
        task_id = message["params"]["taskId"]
        arguments = spell(self.tasks[task_id]["call"]["params"].get("arguments"))
        related = f',"_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"{task_id}"}}}}'
        self.answer(message, text_result(arguments, related))

    def on_tasks_cancel(self, message: dict[str, Any]) -> None:
        self.tasks[message["params"]["taskId"]]["status"] = "cancelled"
        self.answer(message, self.spell_task(message["params"]["taskId"]))
