"""Conversations in which the server says odd things; the proxy passes each on byte for byte."""

# A raw message is a line of its own, however long.
# ruff: noqa: E501

from __future__ import annotations

from mcp_scenarios import Scenario, call, handshake, notify, raw, request, say

DEEP = 900
VERY_DEEP = 100_000

LINES: dict[str, str | bytes] = {
    "a log message": '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"n":1.0}}}',
    "progress nobody asked for": '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"?","progress":1e5}}',
    "a changed list of tools": '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
    "a changed list of prompts": '{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{"_meta":{}}}',
    "a changed list of resources": '{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}',
    "an unknown notification": '{"jsonrpc":"2.0","method":"notifications/x/y","params":[1,{"intent":"theirs"}]}',
    "a cancellation": '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}',
    "an elicitation that is complete": '{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}',
    "a task that moved": '{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"?","status":"failed"}}',
    "a task with odd params": '{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":{},"status":[]}}',
    "params that are null": '{"jsonrpc":"2.0","method":"notifications/tasks/status","params":null}',
    "a method that is a number": '{"jsonrpc":"2.0","method":5,"params":{}}',
    "a ping": '{"jsonrpc":"2.0","id":"p","method":"ping"}',
    "a ping with the id of a call": '{"jsonrpc":"2.0","id":7,"method":"ping"}',
    "a call of a tool of the client": '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{}}}',
    "a request for the client's tools": '{"jsonrpc":"2.0","id":"list","method":"tools/list"}',
    "an answer nobody asked for": '{"jsonrpc":"2.0","id":99,"result":{"content":[]}}',
    "an answer to the text of an id": '{"jsonrpc":"2.0","id":"7","result":{"content":[]}}',
    "an answer to a float of an id": '{"jsonrpc":"2.0","id":7.5,"result":{}}',
    "an answer to null": '{"jsonrpc":"2.0","id":null,"result":{}}',
    "an answer to an object": '{"jsonrpc":"2.0","id":{"a":[7]},"result":{}}',
    "an answer to a list": '{"jsonrpc":"2.0","id":[7],"result":{}}',
    "an answer to true": '{"jsonrpc":"2.0","id":true,"result":{}}',
    "an answer without an id": '{"jsonrpc":"2.0","result":{}}',
    "an error without an id": '{"jsonrpc":"2.0","error":{"code":-32000,"message":"lost"}}',
    "an error with null for its id": '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
    "tools in an answer to nothing": '{"jsonrpc":"2.0","id":98,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}',
    "tools in a second answer to the list": '{"jsonrpc":"2.0","id":"init","result":{"tools":[{"name":"echo","inputSchema":{}}]}}',
    "unknown members": '{"jsonrpc":"2.0","x":1.0,"method":"notifications/message","params":{"level":"?","data":null},"y":[]}',
    "no version": '{"method":"notifications/message","params":{"data":1}}',
    "another version": '{"jsonrpc":"1.0","id":99,"result":null,"error":null}',
    "odd white space": ' {\t"jsonrpc" :"2.0" , "method":\t"notifications/message"  ,"params": {"data" :1}  }  ',
    "keys in another order": '{"params":{"data":1},"method":"notifications/message","jsonrpc":"2.0"}',
    "a key that stands twice": '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":1,"data":2},"params":{}}',
    "escapes": r'{"jsonrpc":"2.0","method":"notifications\/message","params":{"data":"\/ \u00e9 \b\f\u001f \ud83d\ude00"}}',
    "lone surrogates": r'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"\ud800 \udfff \ud800x"}}',
    "raw line separators": '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"\u2028\u2029\x85"}}',
    "raw Unicode": '{"jsonrpc":"2.0","method":"notifications/message","params":{"größe":"\U0001f600 \u202e e\u0301"}}',
    "numbers": '{"jsonrpc":"2.0","method":"x","params":[1.0,1e5,-0,-0.0,1E400,123456789012345678901234567890.5,1e-7]}',
    "numbers that are none": '{"jsonrpc":"2.0","method":"x","params":[NaN,Infinity,-Infinity]}',
    "a number of 5,000 digits": '{"jsonrpc":"2.0","method":"x","params":[' + "9" * 5_000 + "]}",
    "an id of 5,000 digits": '{"jsonrpc":"2.0","id":' + "9" * 5_000 + ',"result":{}}',
    "a batch of notifications": '[{"jsonrpc":"2.0","method":"a"} , {"jsonrpc":"2.0","method":"b","params":{"n":1.0}}]',
    "a batch in a batch": '[[{"jsonrpc":"2.0","method":"a"}],[]]',
    "an empty batch": "[]",
    "an empty object": "{}",
    "a number": "1.0",
    "a string": '"tools/list"',
    "null": "null",
    "an empty line": "",
    "a line of spaces": " \t ",
    "a banner": "Server 1.0 listening on stdio {not JSON}",
    "a banner with colours": "\x1b[32mready\x1b[0m \x07",
    "half a message": '{"jsonrpc":"2.0","method":"notifications/mess',
    "two messages in a line": '{"jsonrpc":"2.0","method":"a"}{"jsonrpc":"2.0","method":"b"}',
    "a carriage return at the end": '{"jsonrpc":"2.0","method":"a"}\r',
    "a carriage return inside": '{"jsonrpc":"2.0",\r"method":"a"}',
    "a NUL": "\x00\x00",
    "bytes that are no UTF-8": b'{"jsonrpc":"2.0","method":"\xff\xfe","params":"\xc0\xaf"}',
    "a byte order mark": b'\xef\xbb\xbf{"jsonrpc":"2.0","method":"a"}',
    "UTF-16": '{"jsonrpc":"2.0","method":"a"}'.encode("utf-16"),
    "a message nested 900 deep": '{"jsonrpc":"2.0","method":"x","params":' + '{"a":' * DEEP + "[]" + "}" * DEEP + "}",
    "a message nested 100,000 deep": '{"jsonrpc":"2.0","method":"x","params":' + "[" * VERY_DEEP + "]" * VERY_DEEP + "}",
}  # fmt: skip

SHORT = [text for text in LINES.values() if isinstance(text, str) and len(text) < 200 and '"list"' not in text]

RESULTS = {
    "structured content": '{"content":[],"structuredContent":{"a":1.0,"b":[1e5,null],"c":{"intent":"theirs"}}}',
    "structured content that is a list": '{"content":[],"structuredContent":[1,2.50]}',
    "unknown content": '{"content":[{"type":"hologram","data":{"x":1.0}},7,null,"text"]}',
    "every content": '{"content":[{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"audio","data":"","mimeType":"a/b"},'
    '{"type":"resource","resource":{"uri":"a:b","text":"t"}},{"type":"resource_link","uri":"a:b","name":"n","size":1.0}]}',
    "an error of the tool": '{"isError":true,"content":[{"text":"failed","type":"text"}]}',
    "an error flag that is text": '{"isError":"true","content":"failed"}',
    "meta everywhere": '{"_meta":{"a/b":{"c":1.0}},"content":[{"type":"text","text":"t","_meta":{"n":[]},"annotations":{"priority":1.0}}]}',
    "an outcome": '{"content":[],"_meta":{"pi-intent/outcome":{"outcome":"Done","outcomePatch":{"from":"a","to":"b"}}}}',
    "an outcome that is none": '{"content":[],"_meta":{"pi-intent/outcome":[1.0]}}',
    "no content": "{}",
    "null": "null",
    "a list": "[1.0]",
    "a text": '"done"',
    "tools in the result of a call": '{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{}}}],"content":[]}',
    "keys that stand twice": '{"content":[],"content":[{"type":"text","text":"2"}],"content":[]}',
    "spaces": '{ "content" : [ { "type" : "text" , "text" : "t" } ] }',
    "an unknown result type": '{"resultType":"x/later","content":[]}',
    "a task nobody asked for": '{"task":{"taskId":"t","status":"working","ttl":null}}',
    "intent fields": '{"intent":"theirs","rationale":"theirs","content":[{"type":"text","text":"Mandatory goal"}]}',
}  # fmt: skip

ERRORS = {
    "invalid params": '{"code":-32602,"message":"Unknown tool"}',
    "an error with data": '{"code":-32603,"message":"m","data":{"n":1.0,"deep":[[[{}]]],"intent":"theirs"}}',
    "a URL to open": '{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","url":"a:b","elicitationId":"e"}]}}',
    "a missing capability": '{"code":-32021,"message":"m","data":{"requiredCapabilities":{"sampling":{}}}}',
    "a code that is a float": '{"code":-32000.50,"message":"m"}',
    "a message that is null": '{"code":1,"message":null,"data":null}',
    "an error that is text": '"failed"',
    "an error that is null": "null",
}

BUILT = {
    "a text of 5 MB": '{"kind":"text","size":5000000}',
    "a result nested 900 deep": '{"kind":"deep","size":900}',
    "a result nested 100,000 deep": '{"kind":"deep","size":100000}',
    "a result of 100,000 lists in lists": '{"kind":"lists","size":100000}',
    "a result with 50,000 blocks": '{"kind":"many","size":50000}',
}

ASKED = {
    "sampling": ('"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1e2,"tools":[{"name":"echo","inputSchema":{}}]}',
                 '"result":{"role":"assistant","content":{"type":"text","text":"s"},"model":"m"}'),
    "elicitation": ('"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"intent":{"type":"string"}}}}',
                    '"result":{"action":"accept","content":{"intent":"mine"}}'),
    "roots": ('"method":"roots/list"', '"result":{"roots":[{"uri":"file:///a","name":"n"}]}'),
    "a ping": ('"method":"ping"', '"result":{}'),
    "a refused request": ('"method":"sampling/createMessage","params":{}', '"error":{"code":-1,"message":"no","data":{"n":1.0}}'),
    "a task of the client": ('"method":"tasks/get","params":{"taskId":"c"}', '"result":{"taskId":"c","status":"working"}'),
}  # fmt: skip

ASKED_IDS = {
    "an own id": '"s-1"',
    "the id of the call": "7",
    "the id of the handshake": '"init"',
    "id 0": "0",
    "a float": "1.0",
}


def _ask(asked: str, reply: str, spelt: str) -> tuple:
    method = asked.partition(",")[0]
    return (
        *handshake("2025-11-25"),
        call("ask", f'{{"id":{spelt},{asked}}}', hears=(method,)),
        say(f'{{"jsonrpc":"2.0","id":{spelt},{reply}}}', '"id":7,"result":{"content"'),
        request("ping", spelt="8"),
    )


def _spoken(text: str | bytes) -> str:
    data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    return raw(data + b"\n")


FROM_SERVER = (
    *(
        Scenario(
            name=f"server line: {name}",
            # Said while a request is open and while none is, because a proxy may look closer at the one than the other.
            steps=(*handshake(), call("emit", _spoken(text), hears=("emitted",)), request("ping", spelt="8")),
        )
        for name, text in LINES.items()
    ),
    Scenario(name="server line: every short one while nothing is asked", options={"greeting": "\n".join((*SHORT, ""))}, steps=(*handshake(), call("echo"))),
    *(Scenario(name=f"result: {name}", steps=(*handshake(), call("reply", raw(text), hears=('"id":7,"result"',)), request("ping")))
      for name, text in RESULTS.items()),
    *(Scenario(name=f"error: {name}", steps=(*handshake(), call("fail", raw(text), hears=('"id":7,"error"',)), request("ping")))
      for name, text in ERRORS.items()),
    *(Scenario(name=f"large: {name}", steps=(*handshake(), call("build", arguments), request("ping")))
      for name, arguments in BUILT.items()),
    *(Scenario(name=f"server asks: {what}", steps=_ask(asked, reply, "7")) for what, (asked, reply) in ASKED.items()),
    *(Scenario(name=f"server asks: under {what}", steps=_ask(*ASKED["sampling"], spelt)) for what, spelt in ASKED_IDS.items()),
    Scenario(name="server line: 5,000 lines at once", steps=(*handshake(), call("emit", raw('{"jsonrpc":"2.0","method":"n"}\n', 5_000), hears=("emitted",)))),
    Scenario(name="server line: a banner before everything", options={"before": "Starting…\n\n{\n"}, steps=(*handshake(), call("echo"))),
    Scenario(name="server line: a line of 5 MB that is no JSON", steps=(*handshake(), call("emit", raw("x", 5_000_000), hears=("emitted",)))),
    Scenario(name="server: line ends of two characters", options={"crlf": True}, steps=(*handshake(), call("echo", '{"a":1.0}'))),
    Scenario(name="server: a byte at a time", options={"slow": True, "catalogue": "changed"}, steps=(*handshake(), call("newcomer", '{"a":1.0}'))),
    Scenario(name="server: spaces in its list", options={"pretty": True}, steps=(*handshake(), call("echo"))),
    Scenario(name="server: noise on its standard error", options={"stderr": "warning: ü\n" * 2_000}, steps=(*handshake(), call("echo"))),
    Scenario(name="server asks: roots after a notification", steps=(*handshake(), notify("notifications/roots/list_changed"),
             say('{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}'), request("ping", spelt="1"))),
)  # fmt: skip
