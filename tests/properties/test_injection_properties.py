"""Whatever the schema: arguments are judged with our properties as without, or the injection says why not."""

from __future__ import annotations

import os
from copy import deepcopy
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from injection_run import KEYWORDS, run

from pi_intent import InjectionSkipped, inject_intent, remove_intent
from pi_intent.contract.inject import owns
from pi_intent.errors import SkipReason

COUNT = int(os.environ.get("PI_INTENT_SCHEMAS", "400"))
"""How many random schemas are judged; tests/bench/bench_injection.py judges 5,000 and prints what it found."""

NOT_IN_DRAFT_7 = {"unevaluatedProperties", "dependentRequired", "dependentSchemas"}

ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.sampled_from(["intent", "object", "#", "#/$defs/a", "a", "(["]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "a",
                    "intent",
                    "type",
                    "properties",
                    "required",
                    "$ref",
                    "$defs",
                    "$id",
                    "$anchor",
                    "items",
                    "const",
                    *KEYWORDS,
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("draft_7", [False, True])
def test_arguments_are_judged_alike_before_and_after(draft_7):
    figures = run(COUNT // 2 if draft_7 else COUNT, draft_7=draft_7)
    print(figures.report())
    assert figures.mismatches == []
    assert figures.unconfirmed == []
    assert figures.share_skipped < 0.05
    lacking = NOT_IN_DRAFT_7 if draft_7 else {"dependencies"}
    assert {keyword for keyword in KEYWORDS if figures.keywords[keyword] < COUNT / 100} == lacking
    assert min(figures.judged[True], figures.judged[False]) > COUNT / 2
    assert figures.undecided < COUNT / 20


@given(ANY_JSON, st.sampled_from(["require", "optional", "omit"]), st.booleans())
def test_any_json_for_a_schema_is_injected_into_or_skipped_with_a_reason(schema, policy, strict):
    before, reason = deepcopy(schema), None
    try:
        injected = inject_intent(schema, policy=policy, strict=strict)
    except InjectionSkipped as skipped:
        reason = skipped.reason
    assert schema == before
    if reason is not None:
        assert reason in get_args(SkipReason)
        return
    assert inject_intent(injected, policy=policy, strict=strict) == injected
    assert policy == "omit" or next(iter(injected["properties"])) == "intent"
    assert policy == "omit" or not owns(injected, "intent")


@given(st.dictionaries(st.sampled_from(["properties", "type", *KEYWORDS]), ANY_JSON, max_size=5))
def test_taking_out_and_asking_who_owns_a_name_never_fails(schema: dict[str, Any]):
    before = deepcopy(schema)
    assert remove_intent(remove_intent(schema)) == remove_intent(schema)
    assert owns(schema, "intent") in (True, False)
    marked = {**schema, "properties": {"intent": {"type": "string", "minLength": 1, "description": "Mandatory goal"}}}
    assert "intent" not in remove_intent(marked)["properties"]
    assert schema == before
