"""Every collected way a model has sent a call, and the verdict on it."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_intent import IntentRejected, inject_intent, read_call
from pi_intent.contract.rejections import MAX_LENGTH

CASES = json.loads((Path(__file__).parents[1] / "cases" / "reading_a_call.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_call_is_read_as_the_case_says(case):
    arguments, want = deepcopy(case["arguments"]), case["want"]
    if "violation" in want:
        with pytest.raises(IntentRejected) as refusal:
            read_call(case["tool"], arguments)
        assert list(refusal.value.codes) == want["violation"]
        text = str(refusal.value)
        assert "Nothing was executed" in text
        assert len(text) <= MAX_LENGTH
        assert all(f"`{name}`" in text for name in want.get("mentions", []))
        assert all(f"`{name}`" not in text for name in want.get("must_not_mention", []))
    else:
        call = read_call(case["tool"], arguments)
        assert call.intent_source == "model"
        for name in ("intent", "rationale", "arguments"):
            if name in want:
                assert getattr(call, name) == want[name]
        assert "intent" not in call.arguments
        assert "rationale" not in call.arguments
    assert arguments == case["arguments"], "what the host handed over was changed"


def test_a_host_field_that_the_intent_replaces_is_dropped():
    call = read_call("bash", {"intent": "List files", "command": "ls", "description": "Listing"})
    assert call.arguments == {"command": "ls"}


def test_a_host_field_stays_where_nothing_was_injected():
    call = read_call("bash", {"command": "ls", "description": "Listing"}, policy="omit")
    assert call.arguments == {"command": "ls", "description": "Listing"}


def test_a_text_of_ours_given_back_is_flagged_and_runs():
    call = read_call("bash", {"intent": " Mandatory goal ", "command": "ls"})
    assert (call.intent, call.flags) == ("Mandatory goal", ("copied",))


def test_fields_inside_edits_are_dropped_and_flagged_also_in_text():
    edits = [{"oldText": "a", "newText": "b", "intent": "x"}, "not an object"]
    for sent in (edits, json.dumps(edits)):
        call = read_call("edit", {"intent": "Rename", "path": "a", "edits": sent})
        assert call.arguments["edits"] == [{"oldText": "a", "newText": "b"}, "not an object"]
        assert call.flags == ("edit_fields_dropped",)


def test_edits_without_our_fields_are_passed_on_untouched():
    edits = '[{"oldText":"a" ,"newText":"b"}]'
    assert read_call("edit", {"intent": "Rename", "path": "a", "edits": edits}).arguments["edits"] is edits


def test_the_hosts_schema_names_what_else_is_missing():
    schema = inject_intent({"type": "object", "properties": {"query": {}, "limit": {}}, "required": ["query"]})
    with pytest.raises(IntentRejected, match="`query` is missing too"):
        read_call("search", {}, parameters=schema)


def test_a_tools_own_intent_is_neither_read_nor_taken_away():
    schema = {"type": "object", "properties": {"intent": {"type": "string", "enum": ["billing", "sales"]}}}
    call = read_call("route", {"intent": "billing"}, parameters=schema)
    assert (call.intent, call.intent_source, call.arguments) == (None, "absent", {"intent": "billing"})


def test_a_tools_own_rationale_is_neither_read_nor_taken_away():
    schema = {"type": "object", "properties": {"rationale": {"type": "number"}}}
    call = read_call("grade", {"intent": "Grade it", "rationale": 5}, parameters=schema)
    assert (call.intent, call.rationale, call.arguments) == ("Grade it", None, {"rationale": 5})


@pytest.mark.parametrize(
    ("policy", "arguments", "intent", "source", "flags"),
    [
        ("adaptive", {"intent": "Go", "rationale": "  "}, "Go", "model", ("rationale_dropped",)),
        ("optional", {}, None, "absent", ()),
        ("optional", {"intent": 5, "rationale": []}, None, "absent", ("intent_dropped", "rationale_dropped")),
        ("optional", {"intent": "Go"}, "Go", "model", ()),
        ("derive", {"intent": "Go"}, None, "absent", ()),
        ("omit", {"intent": "Go", "rationale": "Because"}, "Go", "model", ()),
        ("omit", {"intent": ""}, None, "absent", ("intent_dropped",)),
    ],
)
def test_the_laxer_policies_run_what_the_strict_one_refuses(policy, arguments, intent, source, flags):
    call = read_call("bash", {**arguments, "command": "ls"}, policy=policy)
    assert (call.intent, call.intent_source, call.flags, call.arguments) == (intent, source, flags, {"command": "ls"})


def test_a_derived_intent_comes_from_the_arguments_and_survives_a_broken_function():
    call = read_call("read", {"path": "a.py"}, policy="derive", derive=lambda arguments: f"read {arguments['path']}")
    assert (call.intent, call.intent_source) == ("read a.py", "derived")
    call = read_call("read", {}, policy="derive", derive=lambda arguments: f"read {arguments['path']}")
    assert (call.intent, call.intent_source) == (None, "absent")


@pytest.mark.parametrize("policy", ["require", "adaptive", "optional", "derive", "omit"])
@pytest.mark.parametrize(
    "arguments", ["{", "[1]", None, 7, [], "[" * 200_000, '{"a":' * 3_000, '{"n":NaN}', '{"n":' + "9" * 5_000 + "}"]
)
def test_what_cannot_be_read_is_refused_under_every_policy(policy, arguments):
    with pytest.raises(IntentRejected, match="Nothing was executed"):
        read_call("bash", arguments, policy=policy)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
_KEYS = st.sampled_from(["intent", "rationale", "path", "edits", "command", "_raw_arguments", "description"])


@given(tool=st.sampled_from(["read", "write", "edit", "bash", "other"]), sent=st.dictionaries(_KEYS, _JSON) | _JSON)
def test_reading_never_fails_otherwise_and_never_lets_our_fields_through(tool, sent):
    before = deepcopy(sent)
    try:
        call = read_call(tool, sent)
    except IntentRejected as refused:
        refusal = refused
        assert (bool(refusal.codes), len(str(refusal)) <= MAX_LENGTH) == (True, True)
    else:
        assert call.intent
        assert call.intent == call.intent.strip()
        assert not {"intent", "rationale"} & call.arguments.keys()
    assert sent == before
