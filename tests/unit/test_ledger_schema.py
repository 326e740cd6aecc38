"""The published schema of a record is that of the records."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator
from ledger_events import a_question, a_start, an_end
from ledger_schema import SCHEMA, assert_records_fit, faults_of
from pydantic.alias_generators import to_camel

from pi_intent.events import FileChange, OutcomePatch
from pi_intent.gates.question import Scope
from pi_intent.ledger.entries import CallEntry, DecisionEntry, DoneEntry, SessionEntry
from pi_intent.ledger.journal import SessionJournal
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.reader import LINE_LIMIT
from pi_intent.ledger.record import (
    FILES_LIMIT,
    INTENT_LIMIT,
    NAME_LIMIT,
    OUTCOME_LIMIT,
    REASONS_LIMIT,
    VALUE_LIMIT,
    SessionInfo,
)
from pi_intent.protocols import CallContext, DecidedBy, Settlement
from pi_intent.types import STRICTNESS, IntentSource, Profile, Status

KINDS: dict[str, Any] = {"session": SessionEntry, "call": CallEntry, "done": DoneEntry, "decision": DecisionEntry}
DIGEST = "hmac:" + "0" * 32
LONG = "ä\ud800 😀 ghp_0123456789abcdefghijABCDEFGHIJ012345 " * 2000


def properties(kind: str) -> dict[str, Any]:
    found: dict[str, Any] = SCHEMA["$defs"][kind]["properties"]
    return found


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["oneOf"] == [{"$ref": f"#/$defs/{kind}"} for kind in KINDS]


@pytest.mark.parametrize("kind", KINDS)
def test_it_names_what_is_read_and_wants_all_of_it(kind: str) -> None:
    assert [*properties(kind)] == [to_camel(field.name) for field in fields(KINDS[kind])]
    assert SCHEMA["$defs"][kind]["required"] == [*properties(kind)]


def test_its_words_and_limits_are_ours() -> None:
    call, done = properties("call"), properties("done")
    assert done["status"]["enum"] == [*get_args(Status)]
    assert set(call["policy"]["enum"]) == set(STRICTNESS)
    assert (call["profile"]["enum"], call["intentSource"]["enum"]) == (
        [*get_args(Profile)],
        [*get_args(IntentSource)],
    )
    assert done["files"]["maxItems"] == FILES_LIMIT + 1
    decision = properties("decision")
    assert decision["by"]["enum"] == [*get_args(DecidedBy), None]
    assert decision["scope"]["enum"] == [*get_args(Scope), None]
    assert [
        decision["reasons"]["maxItems"],
        decision["reasons"]["items"]["maxLength"],
        decision["note"]["maxLength"],
        decision["shown"]["maxLength"],
    ] == [REASONS_LIMIT, NAME_LIMIT, OUTCOME_LIMIT, INTENT_LIMIT]
    assert [
        SCHEMA["$defs"]["name"]["maxLength"],
        SCHEMA["$defs"]["file"]["properties"]["path"]["maxLength"],
        *{call[name]["maxLength"] for name in ("intent", "rationale")},
        *{done[name]["maxLength"] for name in ("outcome", "facts", "error")},
    ] == [NAME_LIMIT, VALUE_LIMIT, INTENT_LIMIT, OUTCOME_LIMIT]


@pytest.mark.parametrize("redact_args", [False, True])
@pytest.mark.parametrize("text", [None, "", "short", LONG], ids=["none", "empty", "short", "long"])
def test_what_is_written_fits_however_little_or_much_there_is(
    tmp_path: Any, text: str | None, redact_args: bool
) -> None:
    name = text or "x"
    info = SessionInfo(session=name, host=name, agent=name, cwd=name, version=name, host_version=text, parent=text)
    location = LedgerLocation(root=tmp_path / "root", project=None)
    journal = SessionJournal(location, info, environ={}, on_problem=pytest.fail)
    for source in get_args(IntentSource):
        start = a_start(
            call_id=f"{source}-{name}",
            seq=0,
            tool_call_id=name,
            session_id=name,
            agent_id=name,
            tool_name=name,
            tool_source=text,
            parent_tool_call_id=text,
            model=text,
            intent=text,
            rationale=text,
            intent_source=source,
            args={name: [{name: text}], "content": text, "path": name, "bad": float("nan") if text == "" else 1.5},
            flags=("sent_as_text", "sent_as_text"),
        )
        context = CallContext(turn=0, policy="omit", profile="full", bytes_in=0, redact_args=redact_args)
        journal.opened(start, context)
        asked = a_question(start.call_id, reasons=(name,) * (1 if text is None else 300))
        journal.decided(asked)
        for by in get_args(DecidedBy):
            answer = asked._replace(
                approved=by == "person", by=by, scope="once", note=text, shown=text, digest=DIGEST
            )
            journal.decided(answer)
        for status in get_args(Status):
            end = an_end(
                call_id=start.call_id,
                seq=1,
                status=status,
                is_error=status != "ok",
                outcome=text,
                facts=text,
                outcome_patch=None if text is None else OutcomePatch(from_=text, to=text),
                files=tuple(FileChange(path=name, op="create") for _ in range(0 if text is None else 300)),
                codes=("intent_missing",),
            )
            ran = None if text is None else {name: text}
            journal.closed(end, Settlement(status=status, is_error=False, error=text, ran_args=ran))
    journal.close()
    segments = [*location.segments.iterdir()]
    assert (len(segments), journal.lost) == (1, 0)
    questions = 1 + len(get_args(DecidedBy))
    assert len(segments[0].read_bytes().splitlines()) == 1 + 3 * (1 + questions + len(get_args(Status)))
    assert max(map(len, segments[0].read_bytes().splitlines())) < LINE_LIMIT
    assert_records_fit(segments)


def test_what_is_no_such_record_does_not_fit() -> None:
    done = {
        "v": 1,
        "t": "done",
        "id": "a",
        "ts": "2030-01-31T12:00:00.000Z",
        "status": "ok",
        "isError": False,
        "ms": 1,
        "codes": [],
        "outcome": None,
        "outcomePatch": None,
        "facts": None,
        "error": None,
        "files": [],
        "ranArgs": None,
        "bytesIn": None,
        "bytesOut": 0,
        "flags": [],
        "given": [],
        "prev": "",
        "hash": "0" * 64,
    }
    assert faults_of(done) == []
    wrong: list[dict[str, Any]] = [
        {"v": 2},
        {"status": "fine"},
        {"ts": "2030-01-31"},
        {"facts": "x" * (OUTCOME_LIMIT + 1)},
        {"files": [{"path": "a"}]},
        {"hash": "0"},
        {"later": 1},
    ]
    assert [len(faults_of(done | change)) for change in wrong] == [1] * len(wrong)
    for name in done:
        if name != "t":
            assert faults_of({key: value for key, value in done.items() if key != name}) != []


def test_what_is_no_such_decision_does_not_fit() -> None:
    decision = {
        "v": 1,
        "t": "decision",
        "id": "a",
        "ts": "2030-01-31T12:00:00.000Z",
        "number": 1,
        "reasons": ["deletes: rm -rf build"],
        "digest": DIGEST,
        "approved": None,
        "by": None,
        "scope": None,
        "note": None,
        "shown": None,
        "prev": "",
        "hash": "0" * 64,
    }
    assert faults_of(decision) == []
    wrong: list[dict[str, Any]] = [
        {"number": 0},
        {"approved": "yes"},
        {"by": "the model"},
        {"scope": "ever"},
        {"digest": "rm -rf build"},
        {"reasons": ["x"] * (REASONS_LIMIT + 1)},
        {"note": "x" * (OUTCOME_LIMIT + 1)},
        {"intent": "To tidy up"},
    ]
    assert [len(faults_of(decision | change)) for change in wrong] == [1] * len(wrong)
    for name in decision:
        if name != "t":
            assert faults_of({key: value for key, value in decision.items() if key != name}) != []
