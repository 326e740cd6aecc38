"""What is asked of the index: filters, names of calls, and that it says no more than the ledger does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from indexed_ledger import Ledger, answers

from pi_intent.events import FileChange
from pi_intent.ledger.calls import read_ledger
from pi_intent.ledger.entries import (
    CallEntry,
    DecisionEntry,
    DoneEntry,
    parse_entry,
    reread_call,
    reread_decision,
    reread_done,
)
from pi_intent.ledger.index import Filter, Stretch, open_index
from pi_intent.ledger.index.place import NAME
from pi_intent.ledger.index.rows import call_texts, done_texts


def fits(**asked: Any) -> Callable[[Path], list[str]]:
    def ask(root: Path) -> list[str]:
        with open_index(root) as index:
            wanted = Filter(**asked)
            calls = [call.id for call in index.calls(wanted)]
            assert sum(index.counts(wanted).values()) == len(calls)
            last = index.last(wanted, 3)
            assert [call.id for call in index.calls(wanted, within=last)] == calls[-3:]
            shown = index.counts(wanted, within=last)
            of_each = [
                [call.id for call in index.calls(wanted, within=replace(last, session=session))] for session in shown
            ]
            assert [len(ids) for ids in of_each] == [*shown.values()]
            assert [ids[-1] for ids in of_each] == sorted(ids[-1] for ids in of_each)
            assert sorted(chain.from_iterable(of_each)) == calls[-3:]
            if last.start is not None:
                before = Stretch(stop=last.start)
                assert [call.id for call in index.calls(wanted, within=before)] == calls[:-3]
            assert [call.id for call in index.past(wanted)] == calls
            return calls

    return ask


@pytest.fixture
def told(tmp_path: Path) -> Path:
    """Five calls, named by their ids."""
    ledger = Ledger(tmp_path)
    edit = {"tool_name": "edit", "args": {"path": "src/pay.py"}, "intent": "Stop after (three) attempts"}
    bash = {"tool_name": "bash", "args": {"command": "pytest -q\n x"}, "intent": "Verify ÜBUNG", "rationale": "a log"}
    fetch = {"tool_name": "get-page", "tool_source": "web", "args": {"url": "u"}, "intent": None}
    clean: dict[str, Any] = {"files": (), "facts": None, "outcome": None, "outcome_patch": None, "codes": ()}
    lines = [
        ledger.session("s", "w"),
        ledger.call("A" * 26, "s", **edit),
        ledger.done("A" * 26, **clean | {"files": (FileChange(path="src/pay.py", op="modify"),)}),
        ledger.call("B" * 26, "s", **bash),
        ledger.done("B" * 26, **clean | {"status": "error", "facts": "exit 1"}),
        ledger.call("C" * 26, "t", **fetch),
        ledger.done(
            "C" * 26,
            **clean
            | {"status": "ok", "outcome": "Got a page", "files": (FileChange(path="out/a.html", op="create"),)},
        ),
        ledger.call("D" * 26, "t", **bash | {"rationale": None}),
    ]
    ledger.path("s", "w").write_bytes(b"".join(lines))
    return tmp_path


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, "ABCD"),
        ({"session": "t"}, "CD"),
        ({"tool": lambda name, source: name == "edit" or source == "web"}, "AC"),
        ({"path": lambda path: path.endswith((".py", ".html"))}, "AC"),
        ({"path": lambda path: path == "src/pay.py"}, "A"),
        ({"outcomes": frozenset({"open"})}, "D"),
        ({"outcomes": frozenset({"running"})}, ""),
        ({"outcomes": frozenset({"open", "error"})}, "BD"),
        ({"since": "9999"}, ""),
        ({"since": "2030-01-31T12:00:05"}, "BCD"),
        ({"grep": "(three)"}, "A"),
        ({"grep": r"\(THREE\)"}, "A"),
        ({"grep": "übung"}, "BD"),
        ({"grep": "ü[B]ung"}, "BD"),
        ({"grep": "pytest -q ⏎  x"}, "BD"),
        ({"grep": "^verify"}, "BD"),
        ({"grep": r"\Averify"}, "BD"),
        ({"grep": "exit 1$"}, "B"),
        ({"grep": r"log\Z"}, "B"),
        ({"grep": "got.a|attempts"}, "AC"),
        ({"grep": "[^a]log"}, "B"),
        ({"grep": r"g\s+p"}, ""),
        ({"grep": ""}, "ABCD"),
        ({"grep": "^$"}, ""),
        ({"grep": "übung\na log"}, ""),
        ({"grep": "Attempts\n"}, ""),
        ({"grep": "(übung)\na"}, ""),
        ({"grep": "verify", "session": "t", "outcomes": frozenset({"open"})}, "D"),
        ({"grep": "verify", "tool": lambda name, source: name == "edit"}, ""),
    ],
)
def test_filters_combine(asked: dict[str, Any], found: str, told: Path) -> None:
    assert fits(**asked)(told) == [letter * 26 for letter in found]


EXPRESSIONS = [
    *("a", "stop after", "look at the parser", "stop after 7", "nothing of the kind", "exit 1", " ", "straße"),
    *(
        "o.",
        "s.o",
        r"\d\d\d",
        r"after \d+$",
        "^look",
        "^a",
        r"\bls\b",
        "[a-c]",
        r"parser\.?$",
        "stop|exit",
        "x*y*",
        ".*",
    ),
    *(
        r"\s",
        r"\S\s\S",
        "[^a]t",
        "[^x]*",
        "(?<=p)a",
        "(?!a)",
        r"\Alook",
        r"1\Z",
        "(?i:EXIT)",
        r"\W",
        "[A-Z]",
        r"k\nb",
    ),
]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[str]]]:
    """Two thousand records, and the fields of each call: some texts stand in nearly all of them, others in a few."""
    root = tmp_path_factory.mktemp("crowd")
    ledger = Ledger(root)
    ids = [f"{number:026}" for number in range(1000)]
    lines = [line for name in ids for line in (ledger.call(name, "s"), ledger.done(name))]
    ledger.path("s", "w").write_bytes(b"".join([ledger.session("s", "w"), *lines]))
    found = {
        call.id: (call_texts(call.call) + done_texts(call.done)).split("\n")
        for call in read_ledger(root).calls
        if call.call is not None and call.done is not None
    }
    return root, found


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_search_finds_what_going_through_every_field_finds(
    expression: str, crowd: tuple[Path, dict[str, list[str]]]
) -> None:
    root, fields = crowd
    search = re.compile(expression, re.IGNORECASE).search
    expected = [call for call, lines in fields.items() if any(line and search(line) for line in lines)]
    with open_index(root) as index:
        wanted = Filter(grep=expression)
        assert [call.id for call in index.past(wanted)] == expected
        assert index.counts(replace(wanted, outcomes=frozenset({"open"}))) == {}
        assert sum(index.counts(replace(wanted, since="2030")).values()) == len(expected)


def test_a_call_is_found_by_what_it_may_be_named(told: Path) -> None:
    with open_index(told) as index:
        assert index.named("A" * 26) == ["A" * 26]
        assert index.named("aaaa") == ["A" * 26]
        assert index.named("%") == index.named("_") == index.named("x") == []
        assert len(index.named("call_1")) == 4
        assert index.of_message("s", "g-1") == ["A" * 26, "B" * 26]
        found = index.one("B" * 26)
        assert found is not None
        call, places = found
        assert [(place.kind, place.line) for place in places] == [("call", 4), ("done", 5)]
        lines = places[0].path.read_bytes().splitlines()
        assert [place.raw for place in places] == lines[3:5]
        assert call == read_ledger(told).calls[1]
        assert index.one("nobody") is None


def test_no_secret_reaches_the_index(tmp_path: Path) -> None:
    canary = "ghp_0123456789abcdefABCDEF0123456789abcd"
    ledger = Ledger(tmp_path)
    texts = dict.fromkeys(("intent", "rationale"), f"Use {canary}")
    lines = [
        ledger.session("s", "w"),
        ledger.call("A" * 26, "s", **texts, args={"command": f"echo {canary}", "path": canary}),
        ledger.done("A" * 26, facts=canary, outcome=canary, files=(FileChange(path=f"src/{canary}", op="create"),)),
    ]
    ledger.path("s", "w").write_bytes(b"".join(lines))
    answers(tmp_path)
    assert canary.encode() not in (tmp_path / NAME).read_bytes()


ODD_VALUES = [
    *(1, 1.0, True, "1", "x", None, [], {}, 10**30, float("nan"), ["a"], -0.0),
    *([{"more": 1}], [{"path": "p", "op": "modify", "z": 1}], {"from": "a", "to": "b", "z": 1}),
]


def test_an_entry_that_is_read_again_is_the_one_that_was_checked(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    compared = 0
    rereads = {"call": reread_call, "done": reread_done, "decision": reread_decision}
    for line in (ledger.call("a", "s"), ledger.done("a"), ledger.decision("a"), ledger.decision("a", approved=True)):
        record = json.loads(line)
        for changed in (json.dumps(record | {name: value}).encode() for name in record for value in ODD_VALUES):
            entry = parse_entry(changed)
            if isinstance(entry, CallEntry | DoneEntry | DecisionEntry):
                assert repr(rereads[entry.t](changed)) == repr(entry)
                compared += 1
    assert compared > 100
