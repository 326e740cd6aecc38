"""Ways to get a call past the proxy without an intent, as lines that a client sends under `--policy require`."""

# A raw message is a line of its own, however long.
# ruff: noqa: E501

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mcp_lenient import SMUGGLED

type Expected = Literal["rejected", "error", "answered", "silent", "any"]
"""What the client hears of it: a failed result, a JSON-RPC error, either of them once, nothing, or whatever comes."""

ARGUMENTS = f'{{"a":"{SMUGGLED}"}}'
META = f',"_meta":{{"m":"{SMUGGLED}"}}'
PING = '{"jsonrpc":"2.0","id":6,"method":"ping"}'
OK = '"intent":"Find the way round"'


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """What is sent, after a list or before any, and what the client gets for it."""

    name: str
    sent: bytes
    expected: Expected = "rejected"
    id: object = 7
    listed: bool = True
    before: tuple[bytes, ...] = ()
    """Lines that are sent, each answered, before the attempt."""
    options: Mapping[str, Any] = field(default_factory=dict)
    wraps: int = 1
    good: str = "echo"
    """The tool that a good call goes to afterwards; "" for a server that can answer none."""


def call(
    arguments: str | None = ARGUMENTS,
    *,
    name: str = '"echo"',
    spelt: str | None = "7",
    method: str = '"method":"tools/call"',
    more: str = META,
    params: str | None = None,
) -> str:
    """Spell a call with the mark in it; every part may be replaced."""
    inside = "" if arguments is None else f',"arguments":{arguments}'
    told = "" if spelt is None else f'"id":{spelt},'
    return f'{{"jsonrpc":"2.0",{told}{method},"params":{params or f'{{"name":{name}{inside}{more}}}'}}}'


def _of(texts: Mapping[str, str | bytes], prefix: str, expected: Expected, **rest: Any) -> list[Attempt]:
    return [
        Attempt(
            name=f"{prefix}: {name}",
            sent=(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")) + b"\n",
            expected=expected,
            **rest,
        )
        for name, text in texts.items()
    ]


WITHOUT = {
    "no intent": call(),
    "no members": call("{}"),
    "no arguments": call(None),
    "arguments that are null": call("null"),
    "arguments that are a list": call('[{"intent":"Find"}]'),
    "arguments that are a number": call("1"),
    "arguments that are true": call("true"),
    "arguments that are text": call('"intent: Find"'),
    "arguments that are the JSON text of an object": call(json.dumps(ARGUMENTS)),
    "arguments that are the JSON text of a list": call('"[1]"'),
    "a rationale alone": call('{"rationale":"Because"}'),
    "an intent in another case": call('{"Intent":"Find","INTENT":"Find"}'),
    "an intent with a space": call('{"intent ":"Find"}'),
    "an intent in other letters": call('{"\u0456ntent":"Find"}'),
    "an intent further down": call('{"arguments":{"intent":"Find"},"a":{"intent":"Find"}}'),
    "an intent beside the arguments": call(more=f',{OK}'),
    "an intent in the metadata": call(more=f',"_meta":{{{OK}}}'),
    "an intent at the top": call(method=f'{OK},"method":"tools/call"'),
    "a bad rationale": call(f'{{{OK},"rationale":7}}'),
}  # fmt: skip

BLANKS = {
    "null": "null",
    "a number": "1.0",
    "true": "true",
    "a list": '["Find"]',
    "an object": '{"text":"Find"}',
    "empty": '""',
    "a space": '" "',
    "a line feed": r'"\n\t\r"',
    "a zero width space": '"\u200b"',
    "joiners": r'"\u200d\u2060\ufeff"',
    "a soft hyphen": '"\u00ad"',
    "a turn of direction": '"\u202e\u2066"',
    "a Hangul filler": '"\u3164\uffa0"',
    "a Braille blank": '"\u2800"',
    "NULs": r'"\u0000\u0000"',
    "an escape": r'"\u001b[2K"',
    "variation selectors": '"\ufe0f\ufe0e"',
    "tags": '"\U000e0041\U000e0042"',
}

METHODS = {
    "an escaped slash": r'"method":"tools\/call"',
    "an escaped letter": r'"method":"t\u006fols/call"',
    "escaped altogether": '"method":"' + "".join(f"\\u{ord(letter):04x}" for letter in "tools/call") + '"',
    "an escaped key": r'"\u006dethod":"tools/call"',
}

ODD_METHODS = {
    "capitals": '"method":"Tools/Call"',
    "all capitals": '"method":"TOOLS/CALL"',
    "a space before": '"method":" tools/call"',
    "a space behind": '"method":"tools/call "',
    "a line feed": r'"method":"tools/call\n"',
    "a NUL": r'"method":"tools/call\u0000"',
    "a slash behind": '"method":"tools/call/"',
    "a key in capitals": '"Method":"tools/call"',
    "a second key in capitals": '"method":"ping","METHOD":"tools/call"',
}

TWICE = {
    "method, the call last": call(method='"method":"ping","method":"tools/call"'),
    "method, the call first": call(method='"method":"tools/call","method":"ping"'),
    "method, one of them escaped": call(method=r'"method":"ping","m\u0065thod":"tools/call"'),
    "method, a notification first": call(method='"method":"notifications/x","method":"tools/call"', spelt=None)[:-1] + ',"id":7}',
    "params, the intent last": f'{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"echo","arguments":{ARGUMENTS}}},"params":{{"name":"echo","arguments":{{{OK}}}}}}}',
    "params, the intent first": f'{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"echo","arguments":{{{OK}}}}},"params":{{"name":"echo","arguments":{ARGUMENTS}}}}}',
    "name": call(f'{{{OK},"a":"{SMUGGLED}"}}', name='"echo","name":"emit"'),
    "arguments, the intent last": call(f'{ARGUMENTS},"arguments":{{{OK}}}'),
    "arguments, the intent first": call(f'{{{OK}}},"arguments":{ARGUMENTS}'),
    "arguments, one of them escaped": call(f'{{{OK}}},"argument\\u0073":{ARGUMENTS}'),
    "intent, blank last": call(f'{{{OK},"intent":"","a":"{SMUGGLED}"}}'),
    "intent, one of them escaped": call(f'{{{OK},"int\\u0065nt":null,"a":"{SMUGGLED}"}}'),
}  # fmt: skip

INNER = call()

HIDDEN = {
    "carriage returns round a call": f'{{"jsonrpc":"2.0","id":7,"method":"x","params":{{"a":\r{INNER}\r}}}}',
    "a carriage return before a call": f'[{PING},\r{INNER}\r]',
    "line separators round a call": f'{{"jsonrpc":"2.0","id":7,"method":"x","params":{{"a":\u2028{INNER}\u2028}}}}',
    "a next line round a call": f'{{"jsonrpc":"2.0","id":7,"method":"x","params":{{"a":\x85{INNER}\x85}}}}',
    "form feeds round a call": f'{{"jsonrpc":"2.0","id":7,"method":"x","params":{{"a":\x0c{INNER}\x0b}}}}',
    "separators of records round a call": f'{{"jsonrpc":"2.0","id":7,"method":"x","params":{{"a":\x1e{INNER}\x1c}}}}',
    "NULs round a call": f'{{"jsonrpc":"2.0","id":7,"method":"x","params":{{"a":\x00{INNER}\x00}}}}',
    "a carriage return behind": call() + "\r",
    "a carriage return after a ping": f"{PING}\r{INNER}",
    "carriage returns alone": f"\r{INNER}\r",
}  # fmt: skip

UNREADABLE = {
    "two values in a line": PING + call(),
    "two values with a comma": f"{PING},{call()}",
    "text before": "x" + call(),
    "text behind": call() + "x",
    "a comment": call() + "//",
    "a comment before": "/**/" + call(),
    "a trailing comma": call()[:-1] + ",}",
    "single quotes": call().replace('"', "'"),
    "bare keys": call().replace('"method"', "method"),
    "a bracket too few": call()[:-1],
    "a NUL before": b"\x00" + call().encode(),
    "a NUL behind": call().encode() + b"\x00",
    "a byte order mark": b"\xef\xbb\xbf" + call().encode(),
    "UTF-16": call().encode("utf-16"),
    "UTF-16 without a mark": call().encode("utf-16-be"),
    "UTF-32": call().encode("utf-32"),
    "UTF-7": call().encode("utf-7").replace(b"{", b"+AHs-"),
    "bytes that are no UTF-8": call(f'{{{OK},"a":"{SMUGGLED}"}}').encode().replace(b"Find", b"\xff\xfe"),
    "an overlong slash": call().encode().replace(b"tools/call", b"tools\xc0\xafcall"),
    "a surrogate in UTF-8": call().encode().replace(b'"echo"', b'"echo","x":"\xed\xa0\x80"'),
    "100,000 lists": call('{"a":' + "[" * 100_000 + "]" * 100_000 + "}"),
    "100,000 objects": call('{"a":' * 100_000 + "1" + "}" * 100_000),
    "lists never closed": "[" * 100_000 + call(),
    "NaN": call('{"a":NaN}'),
    "a raw tab in a text": call('{"a":"\t"}'),
}  # fmt: skip

SHAPES = {
    "params that are a list": call(params=f'["echo",{ARGUMENTS}]'),
    "params that are text": call(params=json.dumps(ARGUMENTS)),
    "params that are a number": call(params="1", method=f'"x":"{SMUGGLED}","method":"tools/call"'),
    "params that are null": call(params="null", method=f'"x":"{SMUGGLED}","method":"tools/call"'),
    "no params": f'{{"jsonrpc":"2.0","id":7,"method":"tools/call","x":"{SMUGGLED}"}}',
    "no name": call(params=f'{{"arguments":{ARGUMENTS}}}'),
    "a name that is null": call(name="null"),
    "a name that is a number": call(name="1"),
    "a name that is a list": call(name='["echo"]'),
    "a result beside the method": call(method='"result":{},"method":"tools/call"'),
    "an error beside the method": call(method='"error":null,"method":"tools/call"'),
    "no version": call().replace('"jsonrpc":"2.0",', ""),
    "another version": call().replace("2.0", "1.0"),
    "a version in small print": call().replace('"2.0"', "2.0"),
}

NAMES = {
    "never listed": '"never"',
    "in capitals": '"Echo"',
    "with a space": '"echo "',
    "with a NUL": r'"echo\u0000"',
    "in wide letters": '"\uff45cho"',
    "empty": '""',
    "of another server": '"other/echo"',
    "like our own settings": '"*"',
}

NESTED = '{"a":' + "[" * 900 + "]" * 900 + "}"
LONG = '{"a":"' + "x" * 8_000_000 + '"}'
STATED = f'{{{OK},"a":"stated"}}'
FIRST = call(STATED, name='"ask_first"', more="").encode() + b"\n"
CHANGE = call(f"{{{OK}}}", name='"change"', more="").encode() + b"\n"
LIST = b'{"jsonrpc":"2.0","id":5,"method":"tools/list"}\n'
LATE = {"page": 3, "catalogue": "plain"}

ATTEMPTS: tuple[Attempt, ...] = (
    *_of(WITHOUT, "without", "rejected"),
    *_of({name: call(f'{{"intent":{blank},"a":"{SMUGGLED}"}}') for name, blank in BLANKS.items()}, "intent", "rejected"),
    *_of({name: call(method=method) for name, method in METHODS.items()}, "method", "rejected"),
    *_of({name: call(method=method) for name, method in ODD_METHODS.items()}, "method", "answered"),
    *_of(TWICE, "twice", "answered"),
    *_of({"id": call(spelt='7,"id":8')}, "twice", "answered", id=8),
    *_of(HIDDEN, "hidden", "any"),
    *_of(UNREADABLE, "unreadable", "error", id=None),
    *_of(SHAPES, "shape", "answered"),
    *_of({name: call(f'{{{OK},"a":"{SMUGGLED}"}}', name=spelt) for name, spelt in NAMES.items()}, "name with an intent", "rejected"),
    *_of({name: call(name=spelt) for name, spelt in NAMES.items()}, "name", "rejected"),
    *_of({"one call": f"[{call()}]", "among others": f"[{PING},{call()}]", "with a good one": f'[{call(STATED, spelt="8", more="")},{call()}]'}, "batch", "any"),
    *_of({"in a batch": f"[[{call()}]]", "in an object": f'[{{"0":{call()}}}]', "with spaces": f" [ {call()} , {PING} ] "}, "batch", "any"),
    *_of({"deep": call(NESTED), "8 MB": call(LONG), "a number of 5,000 digits": call('{"a":' + "9" * 5_000 + "}"), "spaces before": " \t" + call(), "an empty line before": "\n\n" + call()}, "size", "rejected"),
    *_of({"a task": call(more=f',"task":{{"ttl":1}}{META}'), "a task of a tool for tasks": call(name='"slow_task"', more=f',"task":{{}}{META}')}, "task", "answered"),
    *_of({"none": call(spelt=None)}, "id", "silent"),
    *_of({"null": call(spelt="null")}, "id", "answered", id=None),
    *_of({"an object": call(spelt='{"a":1}')}, "id", "answered", id={"a": 1}),
    *_of({"a list": call(spelt="[7]")}, "id", "answered", id=[7]),
    *_of({"zero": call(spelt="0")}, "id", "rejected", id=0),
    *_of({"text": call(spelt='"7"')}, "id", "rejected", id="7"),
    *_of({"that of the list": call(spelt='"list"')}, "id", "rejected", id="list"),
    *_of({"a known tool": call(), "an unknown tool": call(name='"never"')}, "before any list", "rejected", listed=False),
    *_of({"a known tool, unreadable": call(params="[]", method=f'"x":"{SMUGGLED}","method":"tools/call"')}, "before any list", "answered", listed=False),
    *_of({"a tool": call(name='"ask_first"')}, "of page two", "rejected", options=LATE),
    *_of({"a tool, before any list": call(name='"slow_task"')}, "of page two", "rejected", options=LATE, listed=False),
    *_of({"a call behind the request": LIST + call().encode()}, "during a list", "any"),
    *_of({"after the tools have changed": call(name='"emit"')}, "changed", "rejected", before=(CHANGE,)),
    *_of({"a tool that is gone": call(f'{{{OK},"a":"{SMUGGLED}"}}', name='"emit"')}, "changed", "rejected", before=(CHANGE, LIST)),
    *_of({"a tool that came": call(name='"newcomer"')}, "changed", "rejected", before=(CHANGE,)),
    *_of({"a schema that moved": call()}, "changed", "rejected", before=(CHANGE, LIST)),
    *_of({"without": call(name='"ask_first"', more=f',"requestState":"c3RhdGU=:14","inputResponses":{{}}{META}'),
          "with a blank": call('{"intent":" "}', name='"ask_first"', more=f',"requestState":"c3RhdGU=:14"{META}'),
          "of another tool": call(more=f',"requestState":"c3RhdGU=:14"{META}')}, "retry", "rejected", before=(FIRST,)),
    *_of({"of a call that never was": call(name='"ask_first"', more=f',"requestState":"load","inputResponses":{{}}{META}')}, "retry", "rejected"),
    *_of({"marked": call(name='"marked"'), "marked and required": call(name='"marked_and_required"'), "marked beside": call(name='"marked_meta"')},
         "a server's own mark", "rejected", options={"catalogue": "marked"}),
    *_of({"the first": call(name='"twin"')}, "two tools of one name", "any", options={"catalogue": "twins"}),
    *_of({"without": call(), "blank": call('{"intent":"\u200b"}')}, "wrapped twice", "rejected", wraps=2),
    *_of({"without": call()}, "a server without a list", "rejected", listed=False, options={"own_list_error": True}, good=""),
    *_of({"with an intent": call(f'{{{OK},"a":"{SMUGGLED}"}}')}, "a server without a list", "rejected", listed=False, options={"own_list_error": True}, good=""),
    *_of({"Content-Length": f"Content-Length: {len(call())}\r\n\r\n{call()}"}, "framed", "any"),
    Attempt(name="pieces: after half a line", sent=call()[:40].encode() + call()[40:].encode() + b"\n"),
    Attempt(name="pieces: two lines in one", sent=f"{call()}\n{call(spelt='7')}\n".encode(), expected="any"),
)  # fmt: skip
