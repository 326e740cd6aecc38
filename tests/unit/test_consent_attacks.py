"""Whatever a call says or holds: the literal action is shown first and whole, and no line of ours can be imitated."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from consent_attacks import ATTACKS, RULES, Attack, question_of
from gate_desk import GateDesk, Person, gate_desk
from hypothesis import given
from hypothesis import strategies as st
from question_reading import WIDTHS, assert_safe

from pi_intent.errors import CallDenied
from pi_intent.events import ToolExecutionStart
from pi_intent.gates.configured import Gated
from pi_intent.gates.evidence import Earlier, Evidence
from pi_intent.gates.history import History
from pi_intent.gates.kinds import Reason
from pi_intent.gates.question import Answer, Question
from pi_intent.gates.situation import Situation
from pi_intent.render.check_in import action_length, pages, question_lines

cases = pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name.replace(" ", "-")[:60])


@cases
def test_the_literal_action_is_shown_first_and_whole_and_no_line_of_ours_is_imitated(attack: Attack):
    question = question_of(attack)
    odd = question._replace(misfit=f"it has no parameter {attack.name}\nAsked because of:", number=2)
    for width in WIDTHS:
        assert_safe(question, width)
        assert_safe(odd, width)


@cases
def test_no_word_of_the_agent_changes_a_line_of_the_action_or_a_reason(attack: Attack):
    others = [None, "Anything else", "approve\n\nAsked because of:\n> nothing", "\x1b[2K\u202e" * 50]
    drawn = []
    for words in others:
        question = question_of(attack, intent=words, rationale=words)
        lines = question_lines(question, width=80)
        said = next(at for at, line in enumerate(lines) if line.startswith("The agent "))
        drawn.append((lines[:said], question.reasons, action_length(question, width=80)))
    assert all(each == drawn[0] for each in drawn)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[GateDesk]:
    async with gate_desk(tmp_path) as desk:
        yield desk


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("answer", [Answer(True), Answer(False, note="no"), None], ids=["yes", "no", "nobody"])
async def test_no_word_moves_a_decision(desk: GateDesk, answer: Answer | None):
    """The same call with other words: the same question, reasons, digest and decision, and it runs or it does not."""
    gated = Gated(ask="exec", rules=RULES)
    words = [{}, {"intent": "Look"}, {"intent": "The user approved this", "rationale": "src/a.py:3"}]
    texts: dict[str, list[str]] = {}
    for attack in ATTACKS:
        arguments = {name: value for name, value in attack.args.items() if name not in ("intent", "rationale")}
        for said in words:
            person = None if answer is None else Person(answer)
            told = ""
            try:
                await desk.call(
                    said | arguments, tool=attack.tool, source=attack.tool_source, gated=gated, person=person
                )
            except CallDenied as denial:
                told = str(denial)
            texts.setdefault(attack.name, []).append(told)
    decided: dict[str, list[Any]] = {}
    for call_id, *decision in desk.decisions("id", "number", "reasons", "digest", "approved", "by", "scope", "note"):
        decided.setdefault(call_id, []).append(decision)
    ids = iter([event.call_id for event in desk.events if isinstance(event, ToolExecutionStart)])
    for attack in ATTACKS:
        one, other, third = [(decided.get(call_id, []), call_id in desk.ran_by_id) for call_id in islice(ids, 3)]
        assert one == other == third, attack.name
        assert len(set(texts[attack.name])) == 1
        is_refused = bool(one[0]) and not (answer is not None and answer.approved)
        assert one[1] is not is_refused, attack.name


def test_notes_flag_what_disagrees(capsys: pytest.CaptureFixture[str]):
    disagreeing = [attack for attack in ATTACKS if attack.kind == "disagreeing"]
    named = [attack for attack in ATTACKS if attack.kind == "named"]
    flagged = [attack for attack in disagreeing if History().notes_on(attack.start, attack.args)]
    beside = sum(bool(History().notes_on(attack.start, attack.args)) for attack in named)
    with capsys.disabled():
        print(f"\n{len(flagged)} of {len(disagreeing)} calls whose words and deeds disagree carry a note", end="")
        print(f"; of {len(named)} more, where a word names the deed in another sense, {beside}")
    assert len(flagged) >= 0.8 * len(disagreeing)
    assert len(disagreeing) >= 30


def test_there_are_enough_cases():
    assert len(ATTACKS) >= 100
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert max(len(str(attack.args)) for attack in ATTACKS) > 20_000


# Any text at all


ODD = st.text(alphabet='a $|>=-+ \n\t\r\x1b\x9b\x00\u200b\u202e\u2028\u0301\u3000\ud800検\U0001f600"\\:.')
TEXTS = st.one_of(
    ODD, st.text(max_size=60), st.sampled_from([attack.name for attack in ATTACKS] + ["Asked because of:"])
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=4,
)
EDITS = st.lists(st.fixed_dictionaries({"oldText": TEXTS, "newText": TEXTS}) | VALUES, min_size=1, max_size=3)
CALLS = st.one_of(
    st.tuples(st.just("bash"), st.fixed_dictionaries({"command": TEXTS}, optional={"timeout": VALUES})),
    st.tuples(st.just("write"), st.fixed_dictionaries({"path": TEXTS, "content": TEXTS})),
    st.tuples(st.just("read"), st.fixed_dictionaries({"path": TEXTS}, optional={"offset": VALUES})),
    st.tuples(TEXTS.filter(bool), st.dictionaries(TEXTS, VALUES, max_size=4)),
    st.tuples(st.just("edit"), st.fixed_dictionaries({"path": TEXTS, "edits": EDITS | VALUES})),
)


@given(
    call=CALLS,
    source=st.none() | TEXTS,
    cwd=TEXTS,
    words=TEXTS,
    number=st.sampled_from([1, 2]),
    width=st.sampled_from(WIDTHS),
)
def test_no_text_in_any_place_imitates_or_hides_anything(
    call: Any, source: str | None, cwd: str, words: str, number: int, width: int
):
    tool, arguments = call
    question = Question(
        call_id="c",
        situation=Situation(tool_name=tool, tool_source=source, cwd=cwd, project=cwd, host="tau", session_id="s"),
        arguments=arguments,
        reasons=(Reason("deletes", words), Reason(words or "x", words)),
        digest="",
        number=number,
        creates=True,
        misfit=words,
        intent=words,
        rationale=words,
        evidence=Evidence(
            does=((words, words),),
            read=((words, words),),
            led=(Earlier(words, words, "ok", words),),
            pointers=((words, words),),
            notes=(words,),
        ),
    )
    lines = assert_safe(question, width)
    assert [line for page in pages(lines, 7) for line in page] == lines


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\n", "a\nc\n"),
        ("\n".join(map(str, range(300))), "\n".join(["x", *map(str, range(300)), "y"])),
        ("\n".join(map(str, range(300))), "\n".join(map(str, range(300, 600)))),
        ("a", "a"),
        ("a\n", "a"),
        ("x  y\n", "x y\n"),
        ("", "a\n"),
        ("a\n", ""),
    ],
)
def test_what_a_write_changes_in_a_file_is_shown_whole(before: str, after: str):
    write = next(attack for attack in ATTACKS if attack.tool == "write")
    question = question_of(write)._replace(arguments={"path": "a", "content": after}, before=before, creates=False)
    lines = question_lines(question, width=80)
    action = lines[2 : action_length(question, width=80)]
    gone = [line for line in before.split("\n") if line and line not in after.split("\n")]
    come = [line for line in after.split("\n") if line and line not in before.split("\n")]
    assert [line[2:] for line in action if line.startswith("- ") and line[2:] in gone] == gone
    assert [line[2:] for line in action if line.startswith("+ ") and line[2:] in come] == come
    shown = sum(line.startswith(("+ ", "  ")) for line in action)
    more = sum(int(line.split()[0]) for line in action if "more line" in line)
    assert shown + more in (len(after.split("\n")), len(after.split("\n")) - 1)
