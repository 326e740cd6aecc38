"""What holds for every call and result, however hostile, that is turned into cards and facts."""

from __future__ import annotations

import difflib
import json
import re
from typing import Any, Literal

from hypothesis import given
from hypothesis import strategies as st

from pi_intent.cards import (
    DiffCard,
    DiffResult,
    ResultFacts,
    call_card,
    card_to_json,
    result_card,
)
from pi_intent.facts import LIMIT, bash_facts, runner_summary, write_facts
from pi_intent.hunks import CONTEXT_LINES, HUNK_CHARACTERS, HUNK_LINES, LINE_CHARACTERS

ANY_CHARACTER = st.characters(codec=None)
TEXTS = st.text(ANY_CHARACTER, max_size=20)
UNKEPT = st.fixed_dictionaries({"bytes": st.integers(), "digest": st.just("hmac:00") | TEXTS})
ATOMS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    ATOMS | UNKEPT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)
EDITS = st.lists(
    st.fixed_dictionaries({}, optional={"oldText": TEXTS | JSON_VALUES, "newText": TEXTS | UNKEPT}), max_size=4
)
ARGUMENTS = JSON_VALUES | st.fixed_dictionaries(
    {},
    optional={
        "path": TEXTS | JSON_VALUES,
        "command": TEXTS | JSON_VALUES,
        "description": JSON_VALUES,
        "content": TEXTS | JSON_VALUES,
        "edits": EDITS | EDITS.map(json.dumps) | JSON_VALUES,
        "oldText": TEXTS | JSON_VALUES,
        "newText": TEXTS | JSON_VALUES,
        "offset": JSON_VALUES,
        "limit": JSON_VALUES,
    },
)
TOOLS = st.sampled_from(["read", "write", "edit", "bash", "other"]) | TEXTS

PATCH_LINES = st.sampled_from(
    ["@@ -1 +1 @@", "@@ -1,2 +1,3 @@ f()", "@@ -0,0 +1 @@", "--- a", "+++ a", "-a", "+b", " c", "", "\\ No newline"]
)
PATCHES = st.lists(PATCH_LINES | TEXTS, max_size=12).map("\n".join)
RESULTS = st.builds(
    ResultFacts,
    text=st.none() | TEXTS,
    exit_code=st.none() | st.integers(-255, 255),
    signal=st.none() | TEXTS,
    patch=st.none() | PATCHES,
    is_error=st.booleans(),
)

# Few different lines, so that old and new have some in common.
FILES = st.lists(st.sampled_from("abcdefgh"), min_size=0, max_size=60).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


@given(TOOLS, ARGUMENTS, st.booleans())
def test_every_call_has_the_same_card_each_time_and_it_can_be_written(
    tool_name: str, arguments: Any, background: bool
) -> None:
    before = repr(arguments)
    card = call_card(tool_name, arguments, backgrounded=background)
    written = card_to_json(card)
    assert repr(arguments) == before
    assert card_to_json(call_card(tool_name, arguments, backgrounded=background)) == written
    assert json.loads(written)["card"] == card.card
    assert "\n" not in written


@given(TOOLS, ARGUMENTS, RESULTS)
def test_every_result_has_a_view_that_can_be_written(tool_name: str, arguments: Any, result: ResultFacts) -> None:
    view = result_card(tool_name, arguments, result)
    assert json.loads(card_to_json(view))["card"] == view.card
    if isinstance(view, DiffResult):
        assert isinstance(call_card(tool_name, arguments), DiffCard)
        assert {line[:1] for hunk in view.hunks for line in hunk.lines} <= {" ", "-", "+"}


def drawn(view: Any) -> list[tuple[int | None, int | None, list[str]]]:
    assert isinstance(view, DiffResult)
    return [(hunk.old_start, hunk.new_start, list(hunk.lines)) for hunk in view.hunks]


def expected(old: str, new: str) -> list[tuple[int | None, int | None, list[str]]]:
    """Read what difflib itself writes with three lines of context, without looking at the counts."""
    hunks: list[tuple[int | None, int | None, list[str]]] = []
    for line in list(difflib.unified_diff(old.splitlines(), new.splitlines(), n=CONTEXT_LINES, lineterm=""))[2:]:
        if header := re.match(r"@@ -(\d+)(?:,\d+)? \+(\d+)", line):
            hunks.append((int(header[1]), int(header[2]), []))
        else:
            hunks[-1][2].append(line)
    return hunks


@given(FILES, FILES, st.integers(CONTEXT_LINES, 70))
def test_a_patch_is_drawn_as_difflib_draws_it(old: str, new: str, context: int) -> None:
    lines = difflib.unified_diff(old.splitlines(True), new.splitlines(True), "a", "a", n=context)
    patch = "".join(lines)
    view = result_card("edit", {"path": "a", "oldText": "x", "newText": "x"}, ResultFacts(patch=patch))
    assert drawn(view) == expected(old, new)


@given(FILES, FILES)
def test_the_hunks_of_an_edit_turn_the_old_lines_into_the_new(old: str, new: str) -> None:
    # Lines that stay are drawn only near a change, so what is compared is how often each line is there.
    view = result_card("edit", {"path": "a", "oldText": old or "x\n", "newText": new}, ResultFacts())
    lines = [line for _, _, hunk in drawn(view) for line in hunk]
    before, after = (old or "x\n").splitlines(), new.splitlines()
    gone, come = [line[1:] for line in lines if line[0] == "-"], [line[1:] for line in lines if line[0] == "+"]
    assert sorted([*before, *come]) == sorted([*after, *gone])
    assert (lines == []) == (before == after)


@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 600), st.sampled_from("ab")), min_size=1, max_size=4),
    st.sampled_from(["write", "edit"]),
)
def test_a_result_is_bounded_and_counts_what_is_missing(
    parts: list[tuple[int, int, str]], tool_name: Literal["write", "edit"]
) -> None:
    text = "".join(character * length + "\n" for count, length, character in parts for _ in range(count))
    arguments = {"path": "a", "content": text, "edits": [{"oldText": "", "newText": text}]}
    view = result_card(tool_name, arguments, ResultFacts())
    lines = [line for _, _, hunk in drawn(view) for line in hunk]
    assert len(lines) <= HUNK_LINES
    assert sum(map(len, lines)) <= HUNK_CHARACTERS
    assert all(len(line) <= LINE_CHARACTERS for line in lines)
    missing = text.count("\n") - len(lines)
    note = view.note if isinstance(view, DiffResult) else ""
    assert note == (None if missing == 0 else "… 1 more line" if missing == 1 else f"… {missing} more lines")


SUMMARIES = st.sampled_from(
    ["3 passed in 0.12s", "Ran 3 tests in 0.1s", "OK", "FAIL\tx\t0.1s", "ok  \tx\t0.1s", "  2 passing (5ms)"]
)
OUTPUTS = st.lists(SUMMARIES | st.text(ANY_CHARACTER, max_size=40), max_size=30).map("\n".join)


@given(st.none() | st.integers(-64, 2**32), OUTPUTS)
def test_facts_are_one_short_line_of_known_characters(exit_code: int | None, output: str) -> None:
    facts = bash_facts(exit_code, output)
    assert facts is None or re.fullmatch(rf"[A-Za-z0-9 ,:=()·…]{{1,{LIMIT}}}", facts)
    assert (facts is None) == (exit_code is None and runner_summary(output) is None)


@given(st.text(ANY_CHARACTER), st.text(ANY_CHARACTER, min_size=1).filter(lambda text: "\n" not in text))
def test_random_text_and_quoted_summaries_have_none(output: str, before: str) -> None:
    assert runner_summary(output) is None
    for mark in "> ", '"', "# ", "It says: ":
        assert runner_summary(f"{output}\n{mark}3 failed, 12 passed in 0.12s") is None
        assert runner_summary(f"{output}\n3 failed, 12 passed in 0.12s{mark}{before}") is None


@given(st.sampled_from(["create", "modify"]) | st.none(), st.none() | st.text(ANY_CHARACTER))
def test_a_write_counts_the_lines_that_reading_it_would_give(
    op: Literal["create", "modify"] | None, content: str | None
) -> None:
    facts = write_facts(op, content)
    if content is not None:
        lines = len(content.split("\n")) - (content.endswith("\n") or content == "")
        assert facts is not None
        assert facts.endswith(f"{lines} line{'' if lines == 1 else 's'}")
