"""A wrapped server with tracing on: its calls are spans, and the proxy is as light as ever without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from mcp_peer import Outcome
from otlp_receiver import receiving

SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    name = message["params"].get("name")
    content = [{"type": "text", "text": "hidden result"}]
    result = {"content": content, "isError": name == "fail"} if name else {"tools": [
        {"name": tool, "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}}}
        for tool in ("search", "fail")
    ]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
REQUESTS = [
    ("tools/list", {}),
    ("tools/call", {"name": "search", "arguments": {"intent": "Find the cause", "q": "hidden words"}}),
    ("tools/call", {"name": "fail", "arguments": {"q": "x"}}),
]


def session(folder: Path, **environ: str) -> Outcome:
    """Wrap a server, make the requests one after the other, and end."""
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / "server.py").write_text(SERVER)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "PI_INTENT"))}
    process = subprocess.Popen(
        [sys.executable, "-m", "pi_intent", "mcp", "wrap", "--server", "docs", sys.executable, "server.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**kept, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "GIT_CEILING_DIRECTORIES": "/", **environ},
    )
    with process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            said = b""
            for number, (method, params) in enumerate(REQUESTS):
                request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
                process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.flush()
                said += process.stdout.readline()
            rest, errors = process.communicate(timeout=30)
        finally:
            process.kill()
    return Outcome(stdout=said + rest, stderr=errors, code=process.returncode)


def test_the_calls_of_a_server_are_spans_and_the_answers_are_the_same(tmp_path: Path) -> None:
    with receiving() as received:
        (tmp_path / "plain").mkdir()
        (tmp_path / "traced").mkdir()
        plain = session(tmp_path / "plain", OTEL_EXPORTER_OTLP_ENDPOINT=received.url)
        assert received.paths == []
        traced = session(tmp_path / "traced", OTEL_EXPORTER_OTLP_ENDPOINT=received.url, PI_INTENT_TRACING="on")
    assert (traced.stdout, traced.stderr, traced.code) == (plain.stdout, b"", 0)
    root, search, fail = received.spans
    assert [span.name for span in (root, search, fail)] == ["mcp session", "execute_tool search", "execute_tool fail"]
    assert [span.parent_id for span in (root, search, fail)] == ["", root.span_id, root.span_id]
    assert search.attributes["pi_intent.tool.source"] == "docs"
    assert [span.attributes["pi_intent.status"] for span in (search, fail)] == ["ok", "error"]
    assert [span.attributes["pi_intent.intent.source"] for span in (search, fail)] == ["model", "absent"]
    assert b"hidden" not in received.all_bytes


def test_an_endpoint_that_is_gone_is_said_and_changes_no_answer(tmp_path: Path) -> None:
    gone = "http://127.0.0.1:9"
    for name in ("plain", "traced"):
        (tmp_path / name).mkdir()
    plain = session(tmp_path / "plain", OTEL_EXPORTER_OTLP_ENDPOINT=gone)
    traced = session(tmp_path / "traced", OTEL_EXPORTER_OTLP_ENDPOINT=gone, PI_INTENT_TRACING="on")
    assert (len(plain.lines), plain.stderr, plain.code) == (3, b"", 0)
    assert (traced.stdout, traced.code) == (plain.stdout, 0)
    assert traced.stderr.decode().splitlines() == [
        f"pi-intent: tracing: spans do not reach {gone}/v1/traces (nobody listens there) and are dropped until "
        "they do; the calls go on",
        f"pi-intent: tracing: 3 of 3 spans did not reach {gone}/v1/traces; "
        '"pi-intent export otel" sends again what the ledger has of them',
    ]
