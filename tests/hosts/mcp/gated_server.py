"""A small MCP server for the gates: it tells how long a credential is, and stores and takes texts."""

from __future__ import annotations

import base64
import json
import os
import sys
from typing import Any

PAGE = "<h1>Hello</h1>\n" * 3


def called(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    meta: dict[str, Any] = {}
    own = os.environ.get("MINE", "")
    match name:
        case "length":
            text = str(len(own))
        case "halves":
            half = len(own) // 2
            parts = [{"type": "text", "text": piece} for piece in (own[:half], own[half:])]
            return {"content": parts, "isError": False}
        case "own" | "escaped":
            text = f"the token is {own}"
        case "much":
            text = "p4yl0ad " * 500
        case "fetch":
            text, meta = "fetched", {"pi-intent/artifact": {"kind": "page", "text": PAGE}}
        case _:
            text = json.dumps(arguments)
    return {"content": [{"type": "text", "text": text}], "_meta": meta, "isError": False}


TOOLS = [
    {"name": name, "inputSchema": {"type": "object", "properties": {"page": {"type": "string"}}}}
    for name in ("length", "own", "much", "fetch", "keep", "net", "chatty", "escaped", "halves")
]


def log(text: str, end: bytes = b"\n") -> None:
    os.write(2, text.encode() + end)


def main() -> None:
    own = os.environ.get("MINE", "")
    os.write(2, b"starting \xff\n")
    log(f"with {own}")
    log(f"with {base64.b64encode(own.encode()).decode()} for the header")
    log("x" * 300_000)
    for line in sys.stdin:
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                result: Any = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {}}
            case "tools/list":
                result = {"tools": TOOLS}
            case "resources/read":
                result = {"contents": [{"uri": "x", "text": f"it is {os.environ.get('MINE', '')}"}]}
            case "tools/call":
                if message["params"]["name"] == "chatty":
                    said = {"progressToken": 1, "message": f"using {os.environ.get('MINE', '')}"}
                    for line in (
                        {"method": "notifications/progress", "params": said},
                        {"method": "sampling/createMessage", "id": "s1", "params": said},
                        {"method": "notifications/progress", "params": {"progressToken": 1, "message": "half"}},
                    ):
                        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **line}) + "\n")
                result = called(message["params"]["name"], message["params"].get("arguments", {}))
            case _:
                continue
        answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})
        if (
            own and message.get("params", {}).get("name") == "escaped"
        ):  # as other writers of JSON escape other letters
            answer = answer.replace(own, "".join(f"\\u{ord(character):04X}" for character in own))
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()
    log(f"ends with {own}", end=b"")


if __name__ == "__main__":
    main()
