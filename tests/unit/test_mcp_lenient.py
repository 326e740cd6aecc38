"""The careless reader finds calls where a strict one does not, or the tests of bypasses could not fail."""

from __future__ import annotations

import pytest
from mcp_lenient import smuggled_calls

CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":"smuggled"}}}'


@pytest.mark.parametrize(
    "received",
    [
        CALL.encode(),
        b"banner " + CALL.encode() + b"\n",
        f"[1,{CALL}]".encode(),
        f'{{"method":"ping","params":\r{CALL}\r}}'.encode(),
        f'{{"method":"ping","params":\u2028{CALL}'.encode(),
        b"\xef\xbb\xbf" + CALL.encode(),
        CALL.encode("utf-16"),
        CALL.encode("utf-16-le"),
        CALL.replace("tools/call", r"tools\/call").encode(),
        CALL.replace("tools/call", " Tools/CALL ").encode(),
        CALL.replace('"method"', '"method":"ping","method"').encode(),
        CALL.replace('"params"', '"method":"ping","params"').encode(),
        CALL.encode().replace(b"echo", b"\xff\xfe"),
        b"\x00" + CALL.encode() + b"\x00",
        (CALL + CALL).encode(),
    ],
)
def test_a_hidden_call_is_found(received: bytes):
    assert smuggled_calls(received)


@pytest.mark.parametrize(
    "received",
    [
        b"",
        CALL.replace("smuggled", "stated").encode(),
        b'{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"smuggled"}}',
        b'{"method":"x","params":{"text":"{\\"method\\":\\"tools/call\\",\\"params\\":\\"smuggled\\"}"}}',
    ],
)
def test_what_is_no_call_is_not_found(received: bytes):
    assert smuggled_calls(received) == []
