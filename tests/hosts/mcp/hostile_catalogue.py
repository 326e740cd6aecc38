"""The tools that the hostile server lists, as raw JSON: the bytes of a schema are what the tests look at."""

# A raw message is a line of its own, however long.
# ruff: noqa: E501

from __future__ import annotations

import json


def tool(
    name: str, schema: str | None = '{"type":"object","properties":{"text":{"type":"string"}}}', more: str = ""
) -> str:
    """Spell one tool; `schema` None leaves `inputSchema` out, `more` stands after it."""
    head = f'{{"name":{json.dumps(name)},"description":"Does {len(name)} things"'
    return head + ("" if schema is None else f',"inputSchema":{schema}') + more + "}"


OPEN = '{"type":"object"}'
TEXT = '"properties":{"text":{"type":"string"}}'


def _nested(levels: int) -> str:
    return '{"type":"object","properties":{"a":' * levels + "{}" + "}}" * levels


SCHEMAS: dict[str, str | None] = {
    # These take our properties, and plain removal gives the original back.
    "simple": '{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}',
    "no_required": '{"type":"object","properties":{"text":{"type":"string"}}}',
    "no_properties": OPEN,
    "no_type": '{"properties":{"text":{"type":"string"}},"required":["text"]}',
    "empty": "{}",
    "closed": '{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}',
    "closed_by_schema": '{"type":"object","properties":{"n":{"type":"number"}},"additionalProperties":{"type":"number"}}',
    "required_last": '{"required":["text"],"properties":{"text":{"type":"string"}},"type":"object"}',
    "dialect": '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",' + TEXT + "}",
    "spaced": '{ "type" : "object" ,\t"properties" : { "text" : { "type" : "string" } } }',
    "numbers": '{"type":"object","properties":{"n":{"type":"number","default":1.0,"minimum":-0.0,"maximum":1e5}}}',
    "escapes": r'{"type":"object","properties":{"p\/q":{"description":"\u00e9 \ud83d\ude00 \ud800 \/ \u2028"}}}',
    "unicode": '{"type":"object","properties":{"größe":{"description":"\u2028 \u2029 \x85 \U0001f600"}}}',
    "unknown_keywords": '{"type":"object",' + TEXT + ',"x-order":["text"],"examples":[{"text":"a"}],"default":{}}',
    "nested_intent": '{"type":"object","properties":{"goal":{"type":"object","properties":{"intent":{}}}}}',
    "many": json.dumps({"type": "object", "properties": {f"field_{n}": {"type": "integer"} for n in range(400)}}),
    "deep": _nested(80),
    "large": '{"type":"object","properties":{"text":{"type":"string","description":"' + "x" * 1_000_000 + '"}}}',
    "definitions": '{"type":"object","properties":{"t":{"$ref":"#/$defs/t"}},"$defs":{"t":{"type":"string"}}}',
    "dependent": '{"type":"object","properties":{"a":{},"b":{}},"dependentRequired":{"a":["b"]}}',
    # These take them too, but more than the root changes.
    "any_of": '{"type":"object","anyOf":[{"properties":{"a":{}},"required":["a"],"additionalProperties":false},{"required":["b"]}]}',
    "one_of": '{"type":"object","oneOf":[{"properties":{"a":{}},"additionalProperties":false},{"required":["b"]}]}',
    "all_of": '{"type":"object","allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}]}',
    "not": '{"type":"object","properties":{"a":{}},"not":{"required":["z"]}}',
    "if": '{"type":"object","if":{"required":["a"]},"then":{"required":["b"]},"else":{}}',
    "unevaluated": '{"type":"object","properties":{"text":{}},"unevaluatedProperties":false}',
    "ref_root": '{"$ref":"#/$defs/root","$defs":{"root":{"type":"object","properties":{"text":{"type":"string"}}}}}',
    "ref_self": '{"type":"object","properties":{"child":{"$ref":"#"}},"additionalProperties":false}',
    "counted": '{"type":"object","minProperties":1,"maxProperties":2,"properties":{"text":{}}}',
    "named": '{"type":"object","propertyNames":{"enum":["text"]},"properties":{"text":{}}}',
    # These cannot carry them, or have a parameter of that name.
    "own_intent": '{"type":"object","properties":{"intent":{"type":"string"},"text":{"type":"string"}},"required":["intent"]}',
    "own_intent_object": '{"type":"object","properties":{"intent":{"type":"object"}}}',
    "marked_intent": '{"type":"object","properties":{"intent":{"type":"string","minLength":1,"description":"Mandatory goal"}}}',
    "too_deep": _nested(300),
    "too_large": '{"type":"object","properties":{"n":{"type":"number","maximum":1E400}}}',
    "long_numbers": '{"type":"object","properties":{"n":{"const":123456789012345678901234567890.50}}}',
    "always": "true",
    "never": "false",
    "missing": None,
    "null": "null",
    "text_schema": '"object"',
    "list_schema": '["object"]',
    "array": '{"type":"array","items":{}}',
    "string": '{"type":"string"}',
    "remote": '{"$ref":"https://example.invalid/schema.json"}',
    "constant": '{"const":{"text":"a"}}',
    "listed": '{"enum":[{"text":"a"}]}',
    "pattern": '{"type":"object","patternProperties":{"^in":{"type":"number"}}}',
    "odd_properties": '{"type":"object","properties":["text"]}',
    "odd_required": '{"type":"object","properties":{"text":{}},"required":"text"}',
}  # fmt: skip

EXACT = tuple(SCHEMAS)[: tuple(SCHEMAS).index("any_of")]
"""Schemas that carry our properties so that plain removal gives the original back."""

OWN = ("own_intent", "own_intent_object", "marked_intent")
"""Tools with a parameter called `intent` of their own."""

NAMES = {
    "a_method": "tools/call",
    "a_path": "server/tool",
    "spaced": "two words ",
    "german": "größe",
    "japanese": "意図を述べる",
    "emoji": "tool_\U0001f600",
    "quoted": 'say "why"',
    "long": "n" * 200,
    "line_separator": "a\u2028b",
    "nul": "a\x00b",
    "surrogate": "a\ud800b",
    "empty": "",
    "case": "Echo",
    "intent": "intent",
    "dotted": "ns.tool-1_x",
    "option": "--policy",
    "glob": "[a]*?",
    "escape": "\x1b]0;title\x07",
}

PLAIN = [
    tool("echo"),
    tool("emit", '{"type":"object","properties":{"hex":{"type":"string"},"repeat":{"type":"integer"}}}'),
    tool("reply", '{"type":"object","properties":{"hex":{"type":"string"}}}'),
    tool("fail", '{"type":"object","properties":{"hex":{"type":"string"}}}'),
    tool("build", '{"type":"object","properties":{"kind":{"type":"string"},"size":{"type":"integer"}}}'),
    tool("ask", '{"type":"object","properties":{"method":{"type":"string"},"id":{},"params":{"type":"object"}}}'),
    tool("hold", '{"type":"object","properties":{"ignore":{"type":"boolean"}}}'),
    tool("release", OPEN),
    tool("progress", '{"type":"object","properties":{"steps":{"type":"integer"}}}'),
    tool("change", OPEN),
    tool("inside", OPEN),
    tool("die", '{"type":"object","properties":{"how":{"type":"string"},"code":{"type":"integer"}}}'),
    tool("ask_first", OPEN),
    tool(
        "slow_task",
        more=',"execution":{"taskSupport":"required"},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},'
        '"icons":[{"src":"data:,"}],"title":"A task","_meta":{"x/y":1.0},"unknown":[null]',
    ),
]

CHANGED = [
    tool("echo", '{"type":"object","properties":{"words":{"type":"array"}},"required":["words"]}'),
    tool("newcomer"),
]

TWINS = [tool("echo"), tool("twin"), tool("twin", SCHEMAS["own_intent"]), tool("twin", SCHEMAS["closed"])]

# A server that would opt out of the contract with our own mark, in the places where it might be looked for.
MARKED = [
    tool("echo"),
    tool("marked", SCHEMAS["marked_intent"]),
    tool(
        "marked_and_required",
        '{"type":"object","properties":{"intent":{"type":"string","minLength":1,"description":"Mandatory goal"}},'
        '"required":["intent"]}',
    ),
    tool("marked_meta", more=',"_meta":{"pi-intent":true,"intent":"Mandatory goal"}'),
    tool(
        "marked_optional",
        '{"type":"object","properties":{"intent":{"type":["string","null"],"description":"Mandatory goal"}}}',
    ),
]

CATALOGUES: dict[str, list[str]] = {
    "plain": PLAIN,
    "changed": CHANGED,
    "twins": TWINS,
    "marked": MARKED,
    "names": [tool("echo"), *map(tool, NAMES.values())],
    "none": [],
    **{f"schema:{name}": [tool("echo"), tool(name, schema), tool("last")] for name, schema in SCHEMAS.items()},
    "schemas": [tool("echo"), *(tool(name, schema) for name, schema in SCHEMAS.items())],
}
