"""What stands in the records of the ledger, and what does not."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_events import a_start, an_end
from ledger_schema import assert_fits

from pi_intent.contract.rows import target_argument
from pi_intent.events import FileChange, OutcomePatch, ToolExecutionEnd, ToolExecutionStart
from pi_intent.ledger.entries import CallEntry, DoneEntry, SessionEntry, parse_entry
from pi_intent.ledger.keys import Digester, redaction_key
from pi_intent.ledger.record import (
    ARGUMENTS_LIMIT,
    FILES_LIMIT,
    INTENT_LIMIT,
    OUTCOME_LIMIT,
    VALUE_LIMIT,
    Recorder,
    SessionInfo,
    seal,
    stated_and_true_hash,
    timestamp,
)
from pi_intent.protocols import CallContext, Settlement
from pi_intent.redaction import Redactor

KEY = bytes(range(32))
DIGESTER = Digester(KEY)
CALL_ID = "01JABCDEFGHJKMNPQRSTVWXYZ0"
TS = "2030-01-31T12:00:00.000Z"
HEAD = "0123456789abcdef0123456789abcdef01234567"
ENVIRON = {"DEPLOY_TOKEN": "quite-a-long-value-71"}

START = a_start(
    call_id=CALL_ID,
    seq=17,
    tool_name="edit",
    args={"path": "/home/me/shop/src/pay.py", "edits": [{"oldText": "5", "newText": "3"}]},
    intent="Stop after three attempts",
    rationale="test_retry fails",
    model="m-1",
)
END = an_end(
    call_id=CALL_ID,
    seq=18,
    tool_name="edit",
    facts="1 replacement",
    files=(FileChange(path="/home/me/shop/src/pay.py", op="modify", pre="hmac:01", post="hmac:02"),),
)
CONTEXT = CallContext(turn=4, policy="require", profile="lean", bytes_in=812)
SETTLEMENT = Settlement(status="ok", is_error=False, bytes_out=96)


def recorder(*, project: tuple[str, ...] = ("/home/me/shop",), cwd: str = "/home/me/shop") -> Recorder:
    return Recorder(Redactor(redaction_key(KEY), ENVIRON), DIGESTER, project=project, cwd=cwd)


def call(start: ToolExecutionStart = START, context: CallContext = CONTEXT) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(recorder().call(start, context, ts=TS, head=HEAD))
    assert_fits(record)
    return record


def done(
    end: ToolExecutionEnd = END, settlement: Settlement = SETTLEMENT, *, withheld: bool = False
) -> dict[str, Any]:
    text = recorder().done(end, settlement, ts=TS, bytes_in=812, withheld=withheld)
    record: dict[str, Any] = json.loads(text)
    assert_fits(record)
    return record


def test_a_call_is_one_line_with_its_keys_in_the_order_of_the_format() -> None:
    edits = '[{"newText":"3","oldText":"5"}]'
    whole = '{"edits":' + edits + ',"path":"/home/me/shop/src/pay.py"}'
    line, digest = seal(recorder().call(START, CONTEXT, ts=TS, head=HEAD), "")
    assert line.decode() == (
        '{"v":1,"t":"call","id":"01JABCDEFGHJKMNPQRSTVWXYZ0","toolCallId":"call_1","session":"s-1","group":"g-1"'
        ',"turn":4,"seq":17,"host":"tau","agent":"main","parent":null,"ts":"2030-01-31T12:00:00.000Z","tool":"edit"'
        ',"toolSource":null,"intent":"Stop after three attempts","intentSource":"model"'
        ',"rationale":"test_retry fails"'
        ',"args":{"path":"src/pay.py","edits":{"bytes":31,"digest":"' + DIGESTER.digest(edits.encode()) + '"}}'
        ',"argsDigest":"' + DIGESTER.digest(whole.encode()) + '","policy":"require","profile":"lean","flags":[]'
        ',"model":"m-1","head":"' + HEAD + '","prev":"","hash":"' + digest + '"}\n'
    )


def test_the_end_of_a_call_is_one_line_with_its_keys_in_the_order_of_the_format() -> None:
    end = replace(END, outcome="Stopped after three", outcome_patch=OutcomePatch(from_="Stop", to="Stopped"))
    settlement = SETTLEMENT._replace(error="none", ran_args={"path": "a"})
    text = recorder().done(end, settlement, ts=TS, bytes_in=812, withheld=False)
    line, digest = seal(text, "f" * 64)
    assert line.decode() == (
        '{"v":1,"t":"done","id":"01JABCDEFGHJKMNPQRSTVWXYZ0","ts":"2030-01-31T12:00:00.000Z","status":"ok"'
        ',"isError":false,"ms":14,"codes":[],"outcome":"Stopped after three"'
        ',"outcomePatch":{"from":"Stop","to":"Stopped"},"facts":"1 replacement","error":"none"'
        ',"files":[{"path":"src/pay.py","pre":"hmac:01","post":"hmac:02","op":"modify"}],"ranArgs":{"path":"a"}'
        ',"bytesIn":812,"bytesOut":96,"flags":[],"given":[],"prev":"' + "f" * 64 + '","hash":"' + digest + '"}\n'
    )


def test_a_segment_opens_with_the_session() -> None:
    info = SessionInfo(session="s-1", host="tau", agent="main", cwd="/home/me/shop", version="0.1.0")
    text = recorder().session(info, record_id=CALL_ID, ts=TS, writer="0a1b", pid=42)
    assert (
        seal(text, "")[0]
        .decode()
        .startswith(
            '{"v":1,"t":"session","id":"01JABCDEFGHJKMNPQRSTVWXYZ0","ts":"2030-01-31T12:00:00.000Z","session":"s-1"'
            ',"host":"tau","hostVersion":null,"agent":"main","parent":null,"writer":"0a1b","pid":42,"version":"0.1.0"'
            ',"cwd":"/home/me/shop","importedFrom":null,"prev":"","hash":"'
        )
    )


def test_what_is_written_is_read_back() -> None:
    info = SessionInfo(session="s-1", host="tau", agent="main", cwd="/", version="0.1.0", parent="p")
    session = parse_entry(seal(recorder().session(info, record_id="i", ts=TS, writer="w", pid=1), "")[0])
    begun = parse_entry(seal(recorder().call(START, CONTEXT, ts=TS, head=None), "a")[0])
    ended = parse_entry(seal(recorder().done(END, SETTLEMENT, ts=TS, bytes_in=None, withheld=False), "b")[0])
    assert isinstance(session, SessionEntry)
    assert (session.parent, session.host_version) == ("p", None)
    assert isinstance(begun, CallEntry)
    assert (begun.tool_call_id, begun.intent, begun.flags, begun.prev) == ("call_1", START.intent, (), "a")
    assert isinstance(ended, DoneEntry)
    assert ended.files == (FileChange(path="src/pay.py", op="modify", pre="hmac:01", post="hmac:02"),)
    assert (ended.bytes_in, ended.bytes_out, ended.ran_args) == (None, 96, None)


def test_the_hash_covers_the_line_without_its_own_member() -> None:
    line, digest = seal('{"v":1}', "abc")
    without = line.rstrip(b"\n").replace(b',"hash":"' + digest.encode() + b'"', b"")
    assert without == b'{"v":1,"prev":"abc"}'
    assert hashlib.sha256(without).hexdigest() == digest
    assert stated_and_true_hash(line) == (digest, digest)
    changed = stated_and_true_hash(line.replace(b"abc", b"abd"))
    assert changed is not None
    assert changed[0] == digest != changed[1]
    assert stated_and_true_hash(b"") is None
    assert stated_and_true_hash(line[:-3]) is None
    assert stated_and_true_hash(b'{"v":1}') is None


def test_times_are_utc_with_milliseconds() -> None:
    assert [timestamp(0.0), timestamp(1_900_000_000.9996), timestamp(1_900_000_001.05)] == [
        "1970-01-01T00:00:00.000Z",
        "2030-03-17T17:46:40.999Z",
        "2030-03-17T17:46:41.050Z",
    ]


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/home/me/shop/src/pay.py", "src/pay.py"),
        ("/home/me/shop", "."),
        ("/home/me/shop/", "."),
        ("pay.py", "src/pay.py"),
        ("./a/../pay.py", "src/pay.py"),
        ("../README", "README"),
        ("../../shop/README", "README"),
        ("/home/me/shopping/list", "/home/me/shopping/list"),
        ("../../other/x", "../../other/x"),
        ("/etc/passwd", "/etc/passwd"),
        ("/home/me/shop/../../x", "/home/me/shop/../../x"),
        ("~/notes", "~/notes"),
        ("/link/shop/src/..hidden", "src/..hidden"),
        ("", ""),
        ("a\0b", "a\0b"),
    ],
)
def test_a_path_inside_the_project_is_relative_to_it(path: str, kept: str) -> None:
    here = recorder(project=("/home/me/shop", "/link/shop"), cwd="/home/me/shop/src")
    args = {"path": path, "file_path": path, "url": path}
    record = json.loads(here.call(replace(START, args=args), CONTEXT, ts=TS, head=None))
    assert record["args"] == {"path": kept, "file_path": kept, "url": path}
    end = replace(END, files=(FileChange(path=path, op="create", post="hmac:1"),))
    record = json.loads(here.done(end, SETTLEMENT, ts=TS, bytes_in=0, withheld=False))
    assert record["files"] == [{"path": kept, "pre": None, "post": "hmac:1", "op": "create"}]


def test_outside_any_project_paths_stay_as_they_are() -> None:
    record = json.loads(recorder(project=(), cwd="/x").call(START, CONTEXT, ts=TS, head=None))
    assert record["args"]["path"] == "/home/me/shop/src/pay.py"


def test_content_and_long_values_are_kept_as_size_and_digest() -> None:
    long = "é" * (VALUE_LIMIT + 1)
    args: dict[str, Any] = {"content": "", "command": long, "short": "x" * VALUE_LIMIT, "n": [1, None, True, 2.5]}
    assert call(replace(START, args=args))["args"] == {
        "content": {"bytes": 0, "digest": DIGESTER.digest(b"")},
        "command": {"bytes": 2 * (VALUE_LIMIT + 1), "digest": DIGESTER.digest(long.encode())},
        "short": "x" * VALUE_LIMIT,
        "n": [1, None, True, 2.5],
    }


def test_values_of_many_levels_are_kept_as_size_and_digest() -> None:
    nested: Any = []
    for _ in range(80):
        nested = [nested]
    kept = call(replace(START, args={"deep": nested}))["args"]["deep"]
    assert kept == {"bytes": 162, "digest": DIGESTER.digest(b"[" * 81 + b"]" * 81)}


def bottomless() -> Any:
    nested: Any = []
    for _ in range(100_000):
        nested = [nested]
    return nested


@pytest.mark.parametrize("kind", ["deep", "large", "nan", "infinite", "bytes", "set"])
def test_arguments_that_cannot_be_written_are_left_out_and_flagged(kind: str) -> None:
    values: dict[str, Any] = {
        "deep": bottomless(),
        "large": 10**5000,
        "nan": float("nan"),
        "infinite": float("inf"),
        "bytes": b"bytes",
        "set": {"a": {1, 2}},
    }
    record = call(replace(START, args={"path": "x", "bad": values[kind]}, flags=("sent_as_text",)))
    assert (record["args"], record["argsDigest"]) == ({}, None)
    assert record["flags"] == ["sent_as_text", "unserialisable"]
    assert done(settlement=SETTLEMENT._replace(ran_args={"bad": values[kind]}))["ranArgs"] == {}


def test_too_many_arguments_are_left_out_and_flagged() -> None:
    record = call(replace(START, args={f"key-{number}": "x" * 100 for number in range(ARGUMENTS_LIMIT // 100)}))
    assert (record["args"], record["flags"]) == ({}, ["truncated"])
    assert record["argsDigest"].startswith("hmac:")


def test_a_long_text_is_cut_and_ends_with_size_and_digest_of_the_whole() -> None:
    for length in (INTENT_LIMIT + 1, 30_000, 2_000_000):
        intent = "ä" * length
        record = call(replace(START, intent=intent, rationale="short"))
        rest = f" [cut: {2 * length} bytes in all, {DIGESTER.digest(intent.encode())}]"
        assert record["intent"] == "ä" * (INTENT_LIMIT - len(rest)) + rest
        assert record["flags"] == ["truncated"]
    assert call(replace(START, intent="ä" * INTENT_LIMIT))["intent"] == "ä" * INTENT_LIMIT
    assert call(replace(START, intent="ä" * INTENT_LIMIT))["flags"] == []
    ended = done(replace(END, outcome="x" * 5000, facts="y" * 5000), SETTLEMENT._replace(error="z" * 5000))
    assert [len(ended[name]) for name in ("outcome", "facts", "error")] == [OUTCOME_LIMIT] * 3


def test_a_long_list_of_files_ends_with_the_number_of_those_left_out() -> None:
    files = tuple(FileChange(path=f"f{number}", op="delete") for number in range(FILES_LIMIT + 5))
    text = recorder().done(replace(END, files=files), SETTLEMENT, ts=TS, bytes_in=0, withheld=False)
    assert json.loads(text)["files"][-1] == {"more": 5}
    entry = parse_entry(seal(text, "")[0])
    assert isinstance(entry, DoneEntry)
    assert len(entry.files) == FILES_LIMIT


def test_half_a_surrogate_pair_becomes_a_replacement_character_and_a_whole_one_stays() -> None:
    record = call(replace(START, intent="a\ud800b 😀 힣", args={"k\udfff": ["\udc00", "😀"]}))
    assert record["intent"] == "a\ufffdb 😀 힣"
    assert record["args"] == {"k\ufffd": ["\ufffd", "😀"]}
    assert isinstance(parse_entry(seal(json.dumps(record), "")[0]), CallEntry)


CANARIES = ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "AKIAZ7Q4MXW2RTYPLKJH", ENVIRON["DEPLOY_TOKEN"])


@pytest.mark.parametrize("secret", CANARIES)
def test_no_secret_is_left_in_any_field(secret: str) -> None:
    text = f"use {secret} now"
    start = replace(
        START,
        call_id=secret,
        tool_call_id=secret,
        session_id=secret,
        agent_id=secret,
        group_id=secret,
        tool_name=secret,
        tool_source=secret,
        parent_tool_call_id=secret,
        model=secret,
        intent=text,
        rationale=text,
        args={"path": f"/home/me/shop/{secret}", "command": text, secret: [{secret: text}], "content": text},
    )
    end = replace(
        END,
        call_id=secret,
        outcome=text,
        facts=text,
        outcome_patch=OutcomePatch(from_=text, to=text),
        files=(FileChange(path=f"/home/me/shop/{secret}", op="create", post="hmac:1"),),
    )
    settlement = SETTLEMENT._replace(error=text, ran_args={"command": text, secret: text})
    info = SessionInfo(
        session=secret,
        host=secret,
        agent=secret,
        cwd=f"/{secret}",
        version=secret,
        host_version=secret,
        parent=secret,
    )
    here = recorder()
    for record in (
        here.session(info, record_id=CALL_ID, ts=TS, writer="w", pid=1),
        here.call(start, CONTEXT, ts=TS, head=HEAD),
        here.done(end, settlement, ts=TS, bytes_in=1, withheld=False),
    ):
        assert secret not in record
        assert "[redacted:" in record
    begun, ended = (
        here.call(start, CONTEXT, ts=TS, head=HEAD),
        here.done(end, settlement, ts=TS, bytes_in=1, withheld=False),
    )
    assert json.loads(begun)["id"] == json.loads(ended)["id"]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 60), st.sampled_from([INTENT_LIMIT, INTENT_LIMIT + 16_384]), st.sampled_from(CANARIES))
def test_no_part_of_a_secret_is_left_where_a_text_is_cut(shift: int, edge: int, secret: str) -> None:
    intent = "word " * ((edge - shift) // 5) + secret + " word" * 9000
    kept = call(replace(START, intent=intent))["intent"]
    assert len(kept) <= INTENT_LIMIT
    assert secret[:12] not in kept


def test_half_a_secret_at_the_end_of_what_is_looked_at_is_not_kept() -> None:
    long = "".join(f"{number:x}-" for number in range(5000))[:18_000]
    here = Recorder(Redactor(bytes(32), {"DEPLOY_TOKEN": long}), DIGESTER, project=(), cwd="/")
    for shift in range(1, 40):
        intent = (long + " word" * 1000)[: INTENT_LIMIT + 16_384 - shift] + CANARIES[0] + " word" * 1000
        record = here.call(replace(START, intent=intent), CONTEXT, ts=TS, head=None)
        assert '"intent":"' in record
        assert "ghp_" not in record
        assert "gh" not in json.loads(record)["intent"]


def test_withheld_calls_keep_digests_and_no_text() -> None:
    start = replace(
        START, intent="my words", rationale="my reason", args={"path": "my/file", "command": "my command"}
    )
    end = replace(END, outcome="my outcome", facts="my facts", outcome_patch=OutcomePatch(from_="my a", to="my b"))
    settlement = SETTLEMENT._replace(error="my error", ran_args={"command": "my other command"})
    open_record, open_end = call(start), done(end, settlement)
    record = call(start, CONTEXT._replace(redact_args=True))
    ended = done(end, settlement, withheld=True)
    assert record == open_record | {
        "intent": "[withheld]",
        "rationale": "[withheld]",
        "args": {},
        "flags": ["redact_args"],
    }
    assert ended == open_end | {
        "outcome": "[withheld]",
        "outcomePatch": {"from": "[withheld]", "to": "[withheld]"},
        "facts": "[withheld]",
        "error": "[withheld]",
        "files": [{"path": "[withheld]", "pre": "hmac:01", "post": "hmac:02", "op": "modify"}],
        "ranArgs": {},
    }
    assert "my " not in json.dumps([record, ended])
    absent = call(replace(START, intent=None, rationale=None), CONTEXT._replace(redact_args=True))
    assert (absent["intent"], absent["rationale"]) == (None, None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.text(), JSON, max_size=6), st.text(st.characters()), st.text(st.characters()))
def test_every_record_is_one_line_of_ascii_json_that_can_be_read(args: Any, intent: str, name: str) -> None:
    start = replace(START, args=args, intent=intent, tool_call_id=name, tool_name=name, session_id=name)
    line = seal(recorder().call(start, CONTEXT, ts=TS, head=None), "")[0]
    assert line.isascii()
    assert line.index(b"\n") == len(line) - 1
    entry = parse_entry(line)
    assert isinstance(entry, CallEntry)
    written = json.dumps(args, sort_keys=True, separators=(",", ":"))
    assert entry.args_digest == DIGESTER.digest(written.encode())


@pytest.mark.parametrize("name", ["content", "edits", "old_string", "new_string", "file_text", "patch"])
def test_what_stands_in_files_is_kept_as_its_size_whatever_an_agent_calls_it(name: str) -> None:
    record = json.loads(recorder().call(replace(START, args={name: "Jane, 12 Elm St"}), CONTEXT, ts=TS, head=None))
    assert record["args"] == {name: {"bytes": 15, "digest": DIGESTER.digest(b"Jane, 12 Elm St")}}


@pytest.mark.parametrize(
    ("tool", "args", "target"),
    [
        ("bash", {"path": "a", "command": "ls"}, "ls"),
        ("read", {"command": "ls", "path": "a"}, "a"),
        ("Edit", {"old_string": "x", "file_path": "src/a.py"}, "src/a.py"),
        ("exec_command", {"cmd": "cargo test"}, "cargo test"),
        ("Grep", {"path": "src", "pattern": "def "}, "src"),
        ("Task", {"prompt": "look"}, None),
    ],
)
def test_what_a_call_is_aimed_at_is_told_of_the_tools_of_other_agents_too(
    tool: str, args: dict[str, Any], target: str | None
) -> None:
    assert target_argument(tool, args) == target


def test_ids_of_ours_are_literal_so_that_a_call_is_found_by_those_that_name_it() -> None:
    redactor = Redactor(redaction_key(KEY), {"DEPLOY_TOKEN": CALL_ID})
    start = replace(START, tool_call_id=CALL_ID, parent_tool_call_id=CALL_ID)
    record = json.loads(Recorder(redactor, DIGESTER, project=(), cwd="/").call(start, CONTEXT, ts=TS, head=None))
    assert (record["id"], record["parent"], record["toolCallId"] == CALL_ID) == (CALL_ID, CALL_ID, False)
