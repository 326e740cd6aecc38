"""What the hostile server does when one of its tools is called; the arguments choose the harm."""

from __future__ import annotations

import json
import os
import signal
from typing import Any, Protocol

from hostile_json import Number, spell

WHEN = '"2026-01-02T03:04:05Z"'


class Peer(Protocol):
    """What a behaviour may do to the client."""

    options: dict[str, Any]
    catalogue: str
    held: dict[str, dict[str, Any]]
    asked: dict[str, dict[str, Any]]

    def write(self, data: bytes) -> None: ...
    def line(self, text: str) -> None: ...
    def answer(self, call: dict[str, Any], result: str) -> None: ...


def text_result(text: str, more: str = "") -> str:
    return f'{{"content":[{{"type":"text","text":{json.dumps(text)}}}]{more}}}'


def _echo(server: Peer, call: dict[str, Any]) -> None:
    server.answer(call, text_result(spell(call["params"].get("arguments"))))


def _raw(arguments: dict[str, Any]) -> bytes:
    return bytes.fromhex(arguments["hex"]) * int(arguments.get("repeat", 1))


def _emit(server: Peer, call: dict[str, Any]) -> None:
    """Write the bytes of `hex` as they are, then answer."""
    server.write(_raw(call["params"]["arguments"]))
    server.answer(call, text_result("emitted"))


def _reply(server: Peer, call: dict[str, Any]) -> None:
    """Answer with the text of `hex` as the result; `id` of the call is spelled as it came."""
    server.answer(call, _raw(call["params"]["arguments"]).decode("utf-8", "surrogateescape"))


def _fail(server: Peer, call: dict[str, Any]) -> None:
    """Answer with the text of `hex` as the JSON-RPC error."""
    error = _raw(call["params"]["arguments"]).decode("utf-8", "surrogateescape")
    server.line(f'{{"jsonrpc":"2.0","id":{spell(call["id"])},"error":{error}}}')


def _build(server: Peer, call: dict[str, Any]) -> None:
    """Answer with something too large to send through the arguments."""
    arguments = call["params"]["arguments"]
    size = int(arguments["size"])
    match arguments["kind"]:
        case "text":
            result = text_result("x" * size)
        case "deep":
            result = '{"content":[],"structuredContent":' + '{"a":' * size + "[]" + "}" * size + "}"
        case "lists":
            result = '{"content":[],"structuredContent":' + "[" * size + "]" * size + "}"
        case "many":
            result = '{"content":[' + ",".join(['{"type":"text","text":"é"}'] * size) + "]}"
        case kind:
            raise ValueError(kind)
    server.answer(call, result)


def _ask(server: Peer, call: dict[str, Any]) -> None:
    """Send the client a request; the call is answered with the line that comes back."""
    arguments = call["params"]["arguments"]
    request_id = spell(arguments["id"])
    server.asked[request_id] = call
    params = f',"params":{spell(arguments["params"])}' if "params" in arguments else ""
    server.line(f'{{"jsonrpc":"2.0","id":{request_id},"method":{json.dumps(arguments["method"])}{params}}}')


def _hold(server: Peer, call: dict[str, Any]) -> None:
    """Do not answer until the call is cancelled or released."""
    server.held[spell(call["id"])] = call


def _release(server: Peer, call: dict[str, Any]) -> None:
    """Answer the held calls, the last one first, and then this one."""
    for held in reversed(server.held.values()):
        server.answer(held, text_result("released"))
    server.held.clear()
    server.answer(call, text_result("released all"))


def _progress(server: Peer, call: dict[str, Any]) -> None:
    arguments = call["params"].get("arguments") or {}
    token = spell(call["params"]["_meta"]["progressToken"])
    steps = int(arguments.get("steps", 3))
    for step in range(steps):
        params = f'{{"progressToken":{token},"progress":{step}.50,"total":{steps},"message":"Step {step}"}}'
        server.line(f'{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}')
    server.answer(call, text_result("done"))


def _change(server: Peer, call: dict[str, Any]) -> None:
    """List other tools from now on, and say so before the answer."""
    server.catalogue = server.options.get("then", "changed")
    server.line('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')
    server.answer(call, text_result("changed"))


def _inside(server: Peer, call: dict[str, Any]) -> None:
    """Tell what the server was started with."""
    handlers = {
        number.name: str(signal.getsignal(number)) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)
    }
    told = {
        "environment": dict(os.environ),
        "cwd": os.getcwd(),
        "argv": list(server.options["argv"]),
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
        "handlers": handlers,
        "terminal": [os.isatty(0), os.isatty(1), os.isatty(2)],
        "files": sorted(fd for fd in range(3, 64) if _is_inherited(fd)),
    }
    server.answer(call, text_result(json.dumps(told)))


def _is_inherited(fd: int) -> bool:
    try:
        return os.get_inheritable(fd)
    except OSError:
        return False


def _die(server: Peer, call: dict[str, Any]) -> None:
    """End without an answer, or in the middle of one."""
    arguments = call["params"]["arguments"]
    match arguments["how"]:
        case "exit":
            os._exit(int(arguments.get("code", 0)))
        case "answer":
            server.answer(call, text_result("farewell"))
            os._exit(int(arguments.get("code", 0)))
        case "half":
            server.write(f'{{"jsonrpc":"2.0","id":{spell(call["id"])},"result":{{"content":[{{"typ'.encode())
            os._exit(int(arguments.get("code", 0)))
        case "half kill":
            server.write(f'{{"jsonrpc":"2.0","id":{spell(call["id"])},"res'.encode())
            os.kill(os.getpid(), signal.SIGKILL)
        case "signal":
            os.kill(os.getpid(), int(arguments["code"]))
        case "deaf":
            os.close(0)
            server.answer(call, text_result("deaf"))
        case "mute":
            os.close(1)
        case how:
            raise ValueError(how)


def _ask_first(server: Peer, call: dict[str, Any]) -> None:
    """In the era without server requests: ask through the result, and answer the retry."""
    params = call["params"]
    if "inputResponses" in params or params.get("requestState") == "load":
        server.answer(call, text_result(spell([params.get("requestState"), params.get("inputResponses")])))
        return
    wanted = '{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}'
    question = (
        f'{{"method":"elicitation/create","params":{{"mode":"form","message":"Who?","requestedSchema":{wanted}}}}}'
    )
    server.answer(
        call,
        f'{{"resultType":"input_required","inputRequests":{{"who":{question},"roots":{{"method":"roots/list"}}}},'
        f'"requestState":"c3RhdGU=:{len(spell(params.get("arguments")))}"}}',
    )


def _slow_task(server: Peer, call: dict[str, Any]) -> None:
    _echo(server, call)


TOOLS = {
    "emit": _emit,
    "reply": _reply,
    "fail": _fail,
    "build": _build,
    "ask": _ask,
    "hold": _hold,
    "release": _release,
    "progress": _progress,
    "change": _change,
    "inside": _inside,
    "die": _die,
    "ask_first": _ask_first,
    "slow_task": _slow_task,
}
"""Every other name echoes its arguments."""


def call_tool(server: Peer, call: dict[str, Any]) -> None:
    """Run one call, as leniently as any server might: whatever has a name is called."""
    params = call.get("params")
    name = params.get("name") if isinstance(params, dict) else None
    if not isinstance(params, dict) or isinstance(name, Number):
        server.answer(call, text_result(spell(params)))
        return
    TOOLS.get(name, _echo)(server, call)  # type: ignore[arg-type]
