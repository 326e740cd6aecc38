"""What a session file tells goes into the ledger, and no more of it than may."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from importing import BEGAN, CALL, FINE, HEAD, RESULT, UNASKED, assert_holds, segments, take, the_call, told

from pi_intent.ledger.calls import calls, read_ledger
from pi_intent.ledger.entries import CallEntry
from pi_intent.ledger.location import LedgerLocation
from pi_intent.sessions.values import Found, FoundCall, FoundResult, Head, Prompt, Unread
from pi_intent.settings import Settings, ToolRule


def test_a_call_and_its_end_say_all_that_the_file_says(location: LedgerLocation) -> None:
    report = take(location, [HEAD, CALL, RESULT])
    assert told(report) == {"calls": 1, "results": 1, "errors": 1, "intents": 1, "new_calls": 1, "new_ends": 1}
    assert (report.sessions, report.folders, report.dialect) == (("s-1",), ("/home/me/shop",), "pi")
    reading = read_ledger(location.root)
    (session,) = reading.sessions
    assert (session.ts, session.session, session.host, session.host_version, session.cwd, session.imported_from) == (
        "2030-01-01T00:00:00.000Z",
        "s-1",
        "pi",
        "1.6.0",
        "/home/me/shop",
        "/home/me/s.jsonl",
    )
    call, done = the_call(location)
    assert done is not None
    whole: dict[str, Any] = {name: getattr(call, name) for name in CallEntry.__slots__}
    for name in ("id", "args_digest", "prev", "hash"):
        del whole[name]
    assert whole == {
        "v": 1,
        "t": "call",
        "tool_call_id": "call_1",
        "session": "s-1",
        "group": "g1",
        "turn": 1,
        "seq": 1,
        "host": "pi",
        "agent": "main",
        "parent": None,
        "ts": "2030-01-01T00:00:01.000Z",
        "tool": "bash",
        "tool_source": None,
        "intent": "Verify no regressions",
        "intent_source": "model",
        "rationale": "pay.py changed",
        "args": {"command": "pytest -q", "path": "src/pay.py"},
        "policy": "optional",
        "profile": "full",
        "flags": ("imported",),
        "model": "some-model",
        "head": None,
    }
    assert (done.id, done.ts, done.status, done.is_error, done.ms) == (
        call.id,
        "2030-01-01T00:00:03.500Z",
        "error",
        True,
        2500,
    )
    assert (done.facts, done.error, done.bytes_out) == ("1 failed · exit 1", "1 failed", 45)
    assert done.bytes_in == len('{"command":"pytest -q","path":"/home/me/shop/src/pay.py"}')
    assert_holds(location)


def test_a_call_that_nobody_asked_for_an_intent_is_held_to_none(location: LedgerLocation) -> None:
    take(location, [HEAD, UNASKED])
    call, done = the_call(location)
    assert (call.policy, call.intent, call.intent_source, done) == ("omit", None, "absent", None)


def test_the_records_stand_in_the_order_of_the_file(location: LedgerLocation) -> None:
    take(location, [HEAD, CALL, UNASKED, FINE, RESULT])
    (path,) = segments(location)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(record["t"], record["ts"][17:19]) for record in records] == [
        ("session", "00"),
        ("call", "01"),
        ("call", "05"),
        ("done", "06"),
        ("done", "03"),
    ]


def test_a_result_without_a_call_is_counted_and_not_written(location: LedgerLocation) -> None:
    report = take(location, [HEAD, replace(RESULT, key=None), replace(RESULT, key="gone"), UNASKED])
    assert told(report) == {"calls": 1, "results": 2, "errors": 2, "unpaired": 2, "new_calls": 1}
    assert the_call(location)[1] is None


def test_a_result_before_its_call_finds_it(location: LedgerLocation) -> None:
    report = take(location, [HEAD, RESULT, CALL])
    assert told(report) == {"calls": 1, "results": 1, "errors": 1, "intents": 1, "new_calls": 1, "new_ends": 1}
    assert the_call(location)[1] is not None


def test_a_call_names_the_one_it_was_made_inside_of_by_its_id_in_the_ledger(location: LedgerLocation) -> None:
    inner = replace(UNASKED, parent="k1")
    file: list[Found] = [HEAD, CALL, inner, FINE, RESULT, replace(inner, key="k3", parent="gone")]
    take(location, file[:2])
    take(location, file)
    outer, *others = (call.call for call in calls(location.root) if call.call)
    assert [(call.tool_call_id, call.parent) for call in others] == [("call_2", outer.id), ("call_2", None)]


@pytest.mark.parametrize("nonsense", [-5.0, math.nan, math.inf, 2.6e11, 10**400])
def test_a_time_that_cannot_be_is_replaced_by_the_nearest_before_it(
    location: LedgerLocation, nonsense: float
) -> None:
    take(location, [HEAD, CALL, replace(RESULT, ts=nonsense)])
    done = the_call(location)[1]
    assert done is not None
    assert (done.ts, done.ms) == ("2030-01-01T00:00:01.000Z", 0)
    assert_holds(location)


@pytest.mark.parametrize(("stated", "kept"), [(14, 14), (-3, 0), (10**400, 10**12)])
def test_a_stated_duration_goes_before_the_two_times(location: LedgerLocation, stated: int, kept: int) -> None:
    take(location, [HEAD, CALL, replace(RESULT, ms=stated)])
    done = the_call(location)[1]
    assert done is not None
    assert done.ms == kept


@pytest.mark.parametrize(
    ("intent", "flags"),
    [
        ("  fix   the PAYMENT. ", ("imported", "copied")),
        ("a text of ours", ("imported", "copied")),
        ("Fix the payment rounding", ("imported",)),
        ("Go on", ("imported",)),
    ],
)
def test_an_intent_that_repeats_the_prompt_or_us_is_flagged(
    location: LedgerLocation, intent: str, flags: tuple[str, ...]
) -> None:
    prompts = [Prompt(text="Fix the payment."), Prompt(text="Go on")]
    take(location, [HEAD, *prompts, replace(CALL, intent=intent)], echoes=["A text of ours"])
    assert the_call(location)[0].flags == flags


@pytest.mark.parametrize(
    ("tool", "result", "facts"),
    [
        ("bash", {"exit_code": 0, "text": "fine"}, "exit 0"),
        ("bash", {"exit_code": 0, "text": "2 passed in 0.12s"}, "2 passed"),
        ("bash", {"exit_code": 0, "text": "Process exited with code 9"}, "exit 0"),
        ("a tool of somebody's", {"exit_code": 0, "text": "fine"}, "exit 0"),
        ("bash", {"exit_code": None, "text": "fine"}, None),
        ("bash", {"exit_code": 1, "status": "timeout", "error": "slow"}, None),
    ],
)
def test_an_exit_code_that_stands_beside_the_result_is_a_fact(
    location: LedgerLocation, tool: str, result: dict[str, Any], facts: str | None
) -> None:
    ended = replace(RESULT, **{"status": "ok", "is_error": False, "error": None} | result)
    take(location, [HEAD, replace(CALL, tool=tool), ended])
    done = the_call(location)[1]
    assert done is not None
    assert done.facts == facts


def test_flags_and_codes_that_are_none_of_ours_are_left_out(location: LedgerLocation) -> None:
    rejected = replace(RESULT, status="rejected", codes=("intent_missing", "made_up"))
    report = take(location, [HEAD, replace(CALL, flags=("edit_fields_dropped", "made_up"), per_edit=3), rejected])
    assert (report.rejected, report.per_edit) == (1, 3)
    call, done = the_call(location)
    assert done is not None
    assert (call.flags, done.codes, done.status) == (
        ("edit_fields_dropped", "imported"),
        ("intent_missing",),
        "rejected",
    )


def test_what_is_withheld_by_a_rule_is_withheld_here(location: LedgerLocation) -> None:
    rules = Settings(tools=(ToolRule(pattern="bash", origin="config.toml", redact_args=True),))
    take(location, [HEAD, CALL, RESULT], settings=rules)
    call, done = the_call(location)
    assert done is not None
    withheld = "[withheld]"
    assert (call.args, call.intent, call.rationale, done.error, done.facts) == (
        {},
        withheld,
        withheld,
        withheld,
        withheld,
    )
    assert "redact_args" in call.flags


def test_a_working_directory_that_changes_is_followed_and_the_session_is_one(location: LedgerLocation) -> None:
    moved = Head(session=None, cwd="/home/me/shop/src")
    later = replace(UNASKED, args={"path": "pay.py"})
    report = take(location, [HEAD, CALL, moved, later])
    assert (report.sessions, report.folders) == (("s-1",), ("/home/me/shop", "/home/me/shop/src"))
    assert [call.call.args.get("path") for call in calls(location.root) if call.call] == ["src/pay.py", "src/pay.py"]
    assert len(segments(location)) == 1


def test_a_file_of_two_sessions_gives_each_its_own_segment(location: LedgerLocation) -> None:
    report = take(location, [HEAD, CALL, Head(session="s-2"), UNASKED, HEAD, RESULT])
    assert (report.sessions, report.new_calls, report.new_ends) == (("s-1", "s-2"), 2, 1)
    assert [path.name.split(".")[0] for path in segments(location)] == ["s-1", "s-2"]


def test_a_file_without_a_session_takes_its_own_id(location: LedgerLocation) -> None:
    assert take(location, [CALL]).sessions == ("pi-abc",)


def test_a_file_of_more_sessions_than_files_can_be_open_goes_in(location: LedgerLocation) -> None:
    found: list[Found] = []
    for number in range(150):
        found += [Head(session=f"s-{number}"), CALL]
    assert take(location, [*found, *found]).new_calls == 150
    assert len(segments(location)) == 150
    assert_holds(location)


def test_lines_that_were_not_read_are_counted_and_the_first_are_named(location: LedgerLocation) -> None:
    report = take(location, [HEAD, *(Unread(line=number, text="no JSON") for number in range(1, 51))])
    assert (report.unread_lines, len(report.unread), report.unread[0]) == (50, 20, Unread(line=1, text="no JSON"))
    assert not segments(location)


SHAPED = "sk-ant-api03-" + "Qz7" * 31 + "AA"
VALUE = "correct-horse-battery-9"


@pytest.mark.parametrize("secret", [SHAPED, VALUE, "cor\\\n rect-horse-\nbattery-9"])
def test_a_secret_in_any_field_of_a_file_reaches_no_file_of_the_ledger(location: LedgerLocation, secret: str) -> None:
    spoiled: list[Found] = [
        Head(session=f"s {secret}", cwd=f"/home/me/{secret}", version=secret, started=BEGAN, parent=secret),
        Prompt(text=secret),
        FoundCall(
            key=secret,
            tool_call_id=secret,
            tool=f"bash {secret}",
            group=secret,
            turn=1,
            args={"command": f"curl -H {secret}", secret: [secret, {"a": secret}], "path": f"/home/me/shop/{secret}"},
            intent=f"Use {secret} now",
            rationale=secret,
            asked=True,
            ts=BEGAN,
            tool_source=secret,
            agent=secret,
            parent=secret,
            model=secret,
            flags=(secret,),
        ),
        FoundResult(
            key=secret,
            tool_call_id=secret,
            status="error",
            is_error=True,
            error=f"no {secret}",
            text=f"{secret}\nCommand exited with code 1",
            codes=(secret,),
        ),
        Unread(line=3, text=secret),
    ]
    assert take(location, spoiled, environ={"SHOP_TOKEN": VALUE}).new_ends == 1
    needles = {secret, SHAPED[:40], VALUE, "horse"}
    for path in location.root.rglob("*"):
        assert not any(needle in str(path) for needle in needles)
        if path.is_file() and path.name != "key":
            text = path.read_text()
            assert not any(needle in text or json.dumps(needle)[1:-1] in text for needle in needles)
    assert_holds(location)
    assert take(location, spoiled, environ={"SHOP_TOKEN": VALUE}).already == 1


def test_arguments_that_nobody_can_write_down_are_left_out(location: LedgerLocation) -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    take(location, [HEAD, replace(CALL, args={"a": math.nan}), replace(UNASKED, args={"a": deep})])
    kept = [call.call for call in calls(location.root)]
    assert [call is not None and (call.args, "unserialisable" in call.flags) for call in kept] == [({}, True)] * 2
    assert_holds(location)
