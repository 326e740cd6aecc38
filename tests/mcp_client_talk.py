"""Conversations in which the client says odd things; the server receives each byte for byte, without our two fields."""

# A raw message is a line of its own, however long.
# ruff: noqa: E501

from __future__ import annotations

from mcp_scenarios import REASONED, STATED, Scenario, both, call, handshake, notify, request, say, trickle

DEEP = 900

LINES = {
    "an unknown request": '{"jsonrpc":"2.0","id":8,"method":"x/y","params":{"intent":"theirs","n":1.0}}',
    "an unknown notification": '{"jsonrpc":"2.0","method":"notifications/x","params":{"intent":"theirs"}}',
    "an answer nobody asked for": '{"jsonrpc":"2.0","id":99,"result":{"intent":"theirs"}}',
    "an error nobody asked for": '{"jsonrpc":"2.0","id":null,"error":{"code":-1.0,"message":"m"}}',
    "odd white space": ' {\t"jsonrpc" :"2.0" , "id": 8 ,"method":\t"ping"  }  ',
    "keys in another order": '{"method":"ping","id":8,"jsonrpc":"2.0"}',
    "an escaped method": r'{"jsonrpc":"2.0","id":8,"method":"resources\/list"}',
    "a method escaped all over": r'{"jsonrpc":"2.0","id":8,"method":"\u0070ing"}',
    "line separators": '{"jsonrpc":"2.0","id":8,"method":"prompts/get","params":{"name":"\u2028\u2029\x85"}}',
    "escapes": r'{"jsonrpc":"2.0","id":8,"method":"prompts/get","params":{"name":"\/\u00e9\ud83d\ude00\b\ud800"}}',
    "numbers": '{"jsonrpc":"2.0","id":8,"method":"x","params":[1.0,1e5,-0.0,1E400,123456789012345678901234567890.5]}',
    "numbers of 4,000 digits": '{"jsonrpc":"2.0","id":8,"method":"x","params":[' + "9" * 4_000 + "]}",
    "unknown members": '{"jsonrpc":"2.0","x":[1.0],"id":8,"method":"ping","params":{"_meta":{"y":null}}}',
    "no version": '{"id":8,"method":"ping"}',
    "params that are a list": '{"jsonrpc":"2.0","id":8,"method":"ping","params":[1,2.0]}',
    "params that are null": '{"jsonrpc":"2.0","id":8,"method":"ping","params":null}',
    "a carriage return at the end": '{"jsonrpc":"2.0","id":8,"method":"ping"}\r',
    "an empty line": "",
    "a line of spaces": "  \t",
    "an empty batch": "[]",
    "a batch of two": '[{"jsonrpc":"2.0","id":1,"method":"ping"} , {"jsonrpc":"2.0","method":"x"}]',
    "a batch of answers": '[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{"n":1.0}}]',
    "nested 900 deep": '{"jsonrpc":"2.0","id":8,"method":"x","params":' + "[" * DEEP + "]" * DEEP + "}",
    "5 MB": '{"jsonrpc":"2.0","id":8,"method":"ping","params":{"x":"' + "é" * 2_500_000 + '"}}',
}  # fmt: skip

METHODS = {
    "ping": None,
    "logging/setLevel": '{"level":"debug"}',
    "resources/list": '{"cursor":"r1"}',
    "resources/templates/list": "{}",
    "resources/read": '{"uri":"mem://a","_meta":{"progressToken":1.0}}',
    "resources/subscribe": '{"uri":"mem://a"}',
    "resources/unsubscribe": '{"uri":"mem://a"}',
    "prompts/list": None,
    "prompts/get": '{"name":"p","arguments":{"intent":"theirs","rationale":"theirs"}}',
    "completion/complete": '{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"intent","value":"w"}}',
}

IDS = {
    "zero": "0",
    "a negative number": "-1",
    "a large number": "123456789012345678901234567890",
    "a float": "1.50",
    "a whole float": "7.0",
    "an exponent": "1e5",
    "a text": '"call-1"',
    "a text of digits": '"7"',
    "an empty text": '""',
    "raw Unicode": '"é\u2028"',
    "an escape": r'"\u00e9\/"',
    "a lone surrogate": r'"\ud800"',
    "null": "null",
    "true": "true",
    "a list": "[1.0]",
    "an object": '{"a":1.0}',
    "a text of 10,000 characters": '"' + "i" * 10_000 + '"',
}

ARGUMENTS = {
    "none": "{}",
    "numbers": '{"a":1.0,"b":1e5,"c":1E400,"d":-0.0,"e":123456789012345678901234567890.5,"f":0.10}',
    "white space": '{ "a" : [ 1 , 2 ] ,\t"b":{ } }',
    "keys in no order": '{"z":1,"a":2,"":3,"10":4,"9":5}',
    "a key that stands twice": '{"b":{"x":1,"x":2}}',
    "escapes": r'{"p\/q":"\/\u00e9\u0041\b\f","\ud800":"\udfff\ud83d\ude00"}',
    "line separators": '{"a":"\u2028\u2029\x85\x7f"}',
    "intent further down": '{"a":{"intent":"theirs","rationale":1.0},"b":[{"intent":null}]}',
    "text that looks like ours": '{"a":"\\"intent\\":\\"theirs\\",","b":"}"}',
    "nested 400 deep": '{"a":' + "[" * 400 + "]" * 400 + "}",
    "nested 900 deep": '{"a":' + '{"b":' * 900 + "1.0" + "}" * 900 + "}",
    "2 MB": '{"a":"' + "x" * 2_000_000 + '","b":1.0}',
    "10,000 members": "{" + ",".join(f'"k{n}":{n}.0' for n in range(10_000)) + "}",
    "a raw tab in a text": '{"a":"x\\ty"}',
}

STATEMENTS = {
    "an intent alone": STATED,
    "a rationale first": f"{REASONED},{STATED}",
    "a rationale that is null": f'{STATED},"rationale":null',
    "an escaped key": r'"\u0069ntent":"Find what the proxy loses"',
    "Unicode": '"intent":"Größe \u2028 \U0001f600 prüfen"',
    "escapes": r'"intent":"say \"why\" \\ \/ \u00e9 \ud83d\ude00 }{][,:"',
    "a lone surrogate": r'"intent":"why \ud800 not"',
    "a long text": '"intent":"' + "why " * 5_000 + '"',
    "spaces round it": f" {STATED} ",
}


def _batch(*parts: str) -> str:
    return "[" + " , ".join(parts) + "]"


def _call(arguments: str, spelt: str = "7") -> str:
    return (
        f'{{"jsonrpc":"2.0","id":{spelt},"method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}'
    )


PING = '{"jsonrpc":"2.0","id":6,"method":"ping"}'

FROM_CLIENT = (
    *(Scenario(name=f"client line: {name}", steps=(*handshake("2025-03-26"), say(text), request("ping", spelt="9")))
      for name, text in LINES.items()),
    *(Scenario(name=f"method: {method}", steps=(*handshake(), request(method, params), call("echo"))) for method, params in METHODS.items()),
    *(Scenario(name=f"id of a call: {name}", steps=(*handshake(), call("echo", '{"a":1.0}', spelt=spelt, hears=('"result":{"content"',)), request("ping", spelt='"end"')))
      for name, spelt in IDS.items()),
    *(Scenario(name=f"id of a list: {name}", lists=('"tools":',), steps=(*handshake(), request("tools/list", spelt=spelt, answered=False), request("ping", spelt='"end"')))
      for name, spelt in IDS.items()),
    *(Scenario(name=f"arguments: {name}", steps=(*handshake(), call("echo", text), call("echo", text, spelt="8", last=True)))
      for name, text in ARGUMENTS.items()),
    *(Scenario(name=f"intent: {name}", steps=(*handshake(), call("echo", '{"a":1.0,"b":[]}', stated=stated), call("echo", '{"a":1.0}', spelt="8", stated=stated, last=True)))
      for name, stated in STATEMENTS.items()),
    Scenario(name="intent: in the middle, with spaces", steps=(*handshake(), both(_call('{ "a": 1.0, "b": 2 }'), _call(f'{{ "a": 1.0, {STATED}, "b": 2 }}'), '"id":7,'))),
    Scenario(name="intent: two fields apart", steps=(*handshake(), both(_call('{"a":1.0,"b":2}'), _call(f'{{{STATED},"a":1.0,{REASONED},"b":2}}'), '"id":7,'))),
    Scenario(name="intent: none, where it is optional", steps=(*handshake(), call("echo", '{"a":1.0}', intent=False))),
    Scenario(name="call: no arguments at all", steps=(*handshake(), say('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}', '"id":7,'))),
    Scenario(name="call: members round it", steps=(*handshake(), call("echo", '{"a":1.0}', more=',"_meta":{"progressToken":1.0,"x":{"intent":"theirs"}},"x":[1e5]'))),
    Scenario(name="call: arguments before the name", steps=(*handshake(), both(
        '{"params":{"arguments":{"a":1.0},"name":"echo"},"method":"tools/call","id":7,"jsonrpc":"2.0"}',
        f'{{"params":{{"arguments":{{{STATED},"a":1.0}},"name":"echo"}},"method":"tools/call","id":7,"jsonrpc":"2.0"}}', '"id":7,'))),
    Scenario(name="call: an escaped method", steps=(*handshake(), both(
        r'{"jsonrpc":"2.0","id":7,"method":"tools\/call","params":{"name":"ech\u006f","\u0061rguments":{"a":1.0}}}',
        r'{"jsonrpc":"2.0","id":7,"method":"tools\/call","params":{"name":"ech\u006f","\u0061rguments":{' + STATED + ',"a":1.0}}}', '"id":7,'))),
    Scenario(name="call: in pieces of one byte", steps=(*handshake(), trickle(PING, '"id":6,'), call("echo"))),
    Scenario(name="call: by a name with a slash of its own", steps=(*handshake(), call("no/such\u2028tool", '{"a":1.0}', intent=False))),
    Scenario(name="call: as a notification", steps=(*handshake(), both(
        '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"a":1.0}}}',
        f'{{"jsonrpc":"2.0","method":"tools/call","params":{{"name":"echo","arguments":{{{STATED},"a":1.0}}}}}}'), request("ping"))),
    Scenario(name="call: before any list", steps=(*handshake(lists=False), call("echo", '{"a":1.0}', intent=False))),
    Scenario(name="call: 500 at once", steps=(*handshake(), both(
        "\n".join(_call('{"a":1.0}', str(n)) for n in range(500)), "\n".join(_call(f'{{{STATED},"a":1.0}}', str(n)) for n in range(500)), '"id":499,'))),
    Scenario(name="batch: calls and others", steps=(*handshake("2025-03-26"), both(
        _batch(PING, _call('{"a":1.0}'), _call('{"a":2.0}', '"8"')), _batch(PING, _call(f'{{{STATED},"a":1.0}}'), _call(f'{{"a":2.0,{STATED}}}', '"8"')), '"id":7,'))),
    Scenario(name="batch: with odd members", steps=(*handshake("2025-03-26"), say(_batch(PING, "1.0", "null"), '"id":6,'))),
    Scenario(name="cancellation: honoured", steps=(*handshake(), call("hold", "{}", hears=()), notify("notifications/cancelled", '{"requestId":7,"reason":"r"}'), request("ping"))),
    Scenario(name="cancellation: ignored", steps=(*handshake(), call("hold", '{"ignore":true}', hears=()), notify("notifications/cancelled", '{"requestId":7}'), request("ping"))),
    Scenario(name="cancellation: of a text id", steps=(*handshake(), call("hold", "{}", spelt='"a"', hears=()), notify("notifications/cancelled", '{"requestId":"a"}'), request("ping"))),
    Scenario(name="cancellation: of nothing", steps=(*handshake(), notify("notifications/cancelled", '{"requestId":"never"}'), request("ping"))),
    Scenario(name="order: answers the other way round", steps=(*handshake(), call("hold", "{}", spelt="1", hears=()), call("hold", "{}", spelt='"1"', hears=()), call("release", spelt="2", hears=("released all",)))),
    Scenario(name="order: one id for two calls", steps=(*handshake(), call("hold", "{}", spelt="1", hears=()), call("echo", '{"a":1.0}', spelt="1"), call("release", spelt="2", hears=("released all",)))),
    *(Scenario(name=f"progress: token {token}", steps=(*handshake(), call("progress", '{"steps":3}', more=f',"_meta":{{"progressToken":{token}}}'), request("ping")))
      for token in ("1", '"t"', "0", "1.50", '"list"', "7")),
)  # fmt: skip
