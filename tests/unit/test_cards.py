"""A call and its result become cards: what a screen is asked to draw."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pi_intent.cards import (
    DiffCard,
    DiffResult,
    FileDiff,
    GenericCard,
    GenericResult,
    Hunk,
    Location,
    ResultFacts,
    TerminalCard,
    TerminalResult,
    call_card,
    card_to_json,
    result_card,
)
from pi_intent.hunks import HUNK_CHARACTERS, HUNK_LINES, LINE_CHARACTERS

PATH = "src/pay.py"
HERE = (Location(path=PATH),)
UNKEPT = {"bytes": 812, "digest": "hmac:0123456789abcdef0123456789abcdef"}


def edited(*replacements: tuple[str | None, str]) -> DiffCard:
    diffs = tuple(FileDiff(path=PATH, old_text=old, new_text=new) for old, new in replacements)
    return DiffCard(title="Edit src/pay.py", diffs=diffs, locations=HERE)


def edit(*replacements: tuple[str, str]) -> dict[str, Any]:
    return {"path": PATH, "edits": [{"oldText": old, "newText": new} for old, new in replacements]}


@pytest.mark.parametrize(
    ("tool_name", "arguments", "card"),
    [
        ("read", {"path": PATH}, GenericCard(title="Read src/pay.py", kind="read", locations=HERE)),
        (
            "read",
            {"path": PATH, "offset": 10, "limit": 20},
            GenericCard(title="Read src/pay.py:10-29", kind="read", locations=(Location(path=PATH, line=10),)),
        ),
        (
            "read",
            {"path": PATH, "offset": 10},
            GenericCard(title="Read src/pay.py:10-", kind="read", locations=(Location(path=PATH, line=10),)),
        ),
        ("read", {"path": PATH, "limit": 20}, GenericCard(title="Read src/pay.py:1-20", kind="read", locations=HERE)),
        (
            "read",
            {"path": PATH, "offset": 10**5000, "limit": True},
            GenericCard(title="Read src/pay.py", kind="read", locations=HERE),
        ),
        ("bash", {"command": "pytest -q\nls"}, TerminalCard(title="pytest -q\nls")),
        (
            "bash",
            {"command": "ls", "description": "Listing", "cwd": "/x", "timeout": 3},
            TerminalCard(title="ls", description="Listing", cwd="/x"),
        ),
        ("bash", {"command": UNKEPT}, TerminalCard(title="[812 bytes, not kept]")),
        (
            "write",
            {"path": PATH, "content": "a\n"},
            DiffCard(
                title="Write src/pay.py", diffs=(FileDiff(path=PATH, old_text=None, new_text="a\n"),), locations=HERE
            ),
        ),
        (
            "write",
            {"path": PATH, "content": UNKEPT},
            DiffCard(
                title="Write src/pay.py",
                diffs=(FileDiff(path=PATH, old_text=None, new_text=None, size=812),),
                locations=HERE,
            ),
        ),
        ("edit", edit(("a", "b"), ("c", "")), edited(("a", "b"), ("c", ""))),
        ("edit", edit(("", "b")), edited((None, "b"))),
        ("edit", {"path": PATH, "oldText": "a", "newText": "b"}, edited(("a", "b"))),
        ("edit", {**edit(("a", "b")), "oldText": "c", "newText": "d"}, edited(("a", "b"), ("c", "d"))),
        ("edit", {"path": PATH, "edits": '[{"oldText": "a", "newText": "b"}]'}, edited(("a", "b"))),
        ("edit", {"path": PATH, "edits": "no list", "oldText": "a", "newText": "b"}, edited(("a", "b"))),
        (
            "edit",
            {"path": PATH, "edits": UNKEPT},
            DiffCard(
                title="Edit src/pay.py",
                diffs=(FileDiff(path=PATH, old_text=None, new_text=None, size=812),),
                locations=HERE,
            ),
        ),
        (
            "edit",
            {"path": PATH, "oldText": UNKEPT, "newText": "short"},
            DiffCard(
                title="Edit src/pay.py",
                diffs=(FileDiff(path=PATH, old_text=None, new_text=None, size=812),),
                locations=HERE,
            ),
        ),
        ("web/search", {"q": "x"}, GenericCard(title="web/search", kind="other", raw_input={"q": "x"})),
    ],
)
def test_a_call_has_a_card(tool_name: str, arguments: Any, card: Any) -> None:
    before = repr(arguments) if 10**5000 not in arguments.values() else None
    assert call_card(tool_name, arguments) == card
    assert before is None or repr(arguments) == before


@pytest.mark.parametrize(
    ("tool_name", "kind", "arguments"),
    [
        ("read", "read", {}),
        ("read", "read", {"path": ""}),
        ("bash", "execute", {"command": ["ls"]}),
        ("write", "edit", {"path": PATH}),
        ("write", "edit", {"content": "a"}),
        ("write", "edit", {"path": PATH, "content": {"bytes": 3, "digest": "md5:00"}}),
        ("write", "edit", {"path": PATH, "content": {**UNKEPT, "more": 1}}),
        ("edit", "edit", {"path": PATH}),
        ("edit", "edit", {"path": PATH, "edits": []}),
        ("edit", "edit", {"path": PATH, "edits": [{"oldText": "a", "newText": "b"}, {"oldText": "c"}]}),
        ("edit", "edit", {"path": PATH, "edits": "[" * 100_000}),
        ("edit", "edit", [1, 2]),
        ("read", "read", None),
    ],
)
def test_a_call_without_the_arguments_of_its_tool_is_drawn_as_it_stands(tool_name, kind, arguments) -> None:
    assert call_card(tool_name, arguments) == GenericCard(title=tool_name, kind=kind, raw_input=arguments)


def test_a_command_in_the_background_has_no_terminal() -> None:
    assert call_card("bash", {"command": "make"}, backgrounded=True) == GenericCard(title="make", kind="execute")


TAU_PATCH = """\
--- /p/src/pay.py
+++ /p/src/pay.py
@@ -8,7 +8,7 @@
 eight
 nine
 ten
--- eleven
+++ eleven
 twelve
 thirteen
 fourteen
"""
TAU_HUNK = Hunk(
    path=PATH,
    old_start=8,
    new_start=8,
    lines=(" eight", " nine", " ten", "--- eleven", "+++ eleven", " twelve", " thirteen", " fourteen"),
)


@pytest.mark.parametrize(
    ("tool_name", "arguments", "result", "view"),
    [
        ("read", {"path": PATH}, ResultFacts(text="a\n"), GenericResult(content="a\n")),
        ("bash", {"command": "ls"}, ResultFacts(text="a", exit_code=0), TerminalResult(output="a", exit_code=0)),
        (
            "bash",
            {"command": "ls"},
            ResultFacts(text="a", signal="SIGKILL", is_error=True),
            TerminalResult(output="a", signal="SIGKILL"),
        ),
        ("bash", {}, ResultFacts(text="a", exit_code=1), TerminalResult(output="a", exit_code=1)),
        ("bash", {"command": "ls"}, ResultFacts(text="a"), TerminalResult(output="a")),
        ("bash", {"command": "ls"}, ResultFacts(text="No.", is_error=True), GenericResult(content="No.")),
        ("other", {}, ResultFacts(text="a"), GenericResult(content="a")),
        (
            "edit",
            edit(("a", "b")),
            ResultFacts(text="Not found.", is_error=True),
            GenericResult(content="Not found."),
        ),
        ("edit", edit(("-- eleven", "++ eleven")), ResultFacts(patch=TAU_PATCH), DiffResult(hunks=(TAU_HUNK,))),
        ("edit", {"path": PATH, "edits": UNKEPT}, ResultFacts(patch=TAU_PATCH), DiffResult(hunks=(TAU_HUNK,))),
        (
            "edit",
            {"path": PATH, "edits": UNKEPT},
            ResultFacts(text="Done."),
            DiffResult(hunks=(), note="[812 bytes, not kept]"),
        ),
        (
            "edit",
            edit(("a\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n"), ("x", "y\nz")),
            ResultFacts(),
            DiffResult(
                hunks=(
                    Hunk(path=PATH, old_start=None, new_start=None, lines=(" b", " c", " d", "-e", "+E")),
                    Hunk(path=PATH, old_start=None, new_start=None, lines=("-x", "+y", "+z")),
                )
            ),
        ),
        (
            "write",
            {"path": PATH, "content": "a\n\nb"},
            ResultFacts(text="Wrote."),
            DiffResult(hunks=(Hunk(path=PATH, old_start=0, new_start=1, lines=("+a", "+", "+b")),)),
        ),
        ("write", {"path": PATH, "content": ""}, ResultFacts(), DiffResult(hunks=())),
    ],
)
def test_a_result_has_a_view(tool_name: str, arguments: Any, result: ResultFacts, view: Any) -> None:
    assert result_card(tool_name, arguments, result) == view


FROM_ARGUMENTS = DiffResult(hunks=(Hunk(path=PATH, old_start=None, new_start=None, lines=("-a", "+b")),))


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "no patch",
        "--- a\n+++ a\n",
        "@@ -1 +1 @@",
        "@@ -1 +1 @@\n-a",
        "@@ -1 +1 @@\n-a+b",  # what difflib writes where the last line of a file has no line end
        "@@ -1 +1 @@\n-a\n+b\n+hidden\n",
        "@@ -1 +1 @@\n-a\n+b\n--- other\n+++ other\n@@ -1 +1 @@\n-c\n+d\n",
        "@@ -1 +1 @@\n-a\n?b\n",
        "@@ -1,2 +1,2 @@\n-a\n+b\n",
        "@@ -1,2 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n",
        "@@ -9999999999 +1 @@\n-a\n+b\n",
        "@@ -x +y @@\n-a\n+b\n",
        "@@ -0,0 +0,0 @@\n",
    ],
)
def test_a_patch_that_does_not_add_up_is_not_drawn(patch: str) -> None:
    assert result_card("edit", edit(("a", "b")), ResultFacts(patch=patch)) == FROM_ARGUMENTS


def test_hunks_have_three_lines_of_context_whatever_the_patch_has() -> None:
    same = "".join(f" {number}\n" for number in range(1, 11))
    patch = f"@@ -1,22 +1,22 @@\n{same}-a\n+b\n{same}+c\n-d\n"
    view = result_card("edit", edit(("a", "b")), ResultFacts(patch=patch))
    assert view == DiffResult(
        hunks=(
            Hunk(path=PATH, old_start=8, new_start=8, lines=(" 8", " 9", " 10", "-a", "+b", " 1", " 2", " 3")),
            Hunk(path=PATH, old_start=19, new_start=19, lines=(" 8", " 9", " 10", "+c", "-d")),
        )
    )


@pytest.mark.parametrize(("between", "hunks"), [(6, 1), (7, 2)])
def test_changes_share_a_hunk_where_their_context_touches(between: int, hunks: int) -> None:
    same = " c\n" * between
    patch = f"@@ -1,{between + 2} +1,{between + 2} @@\n-a\n+b\n{same}-c\n+d\n"
    view = result_card("edit", edit(("a", "b")), ResultFacts(patch=patch))
    assert isinstance(view, DiffResult)
    assert len(view.hunks) == hunks


def test_a_patch_may_say_that_there_is_no_line_end() -> None:
    patch = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"
    view = result_card("edit", edit(("a", "b")), ResultFacts(patch=patch))
    assert view == DiffResult(hunks=(Hunk(path=PATH, old_start=1, new_start=1, lines=("-a", "+b")),))


def drawn(view: Any) -> tuple[int, int, str | None]:
    assert isinstance(view, DiffResult)
    lines = [line for hunk in view.hunks for line in hunk.lines]
    return len(lines), sum(map(len, lines)), view.note


def test_long_results_are_cut_and_say_how_much_is_missing() -> None:
    def written(content: str) -> Any:
        return result_card("write", {"path": PATH, "content": content}, ResultFacts())

    assert drawn(written("x\n" * HUNK_LINES)) == (HUNK_LINES, 2 * HUNK_LINES, None)
    assert drawn(written("x\n" * HUNK_LINES + "x")) == (HUNK_LINES, 2 * HUNK_LINES, "… 1 more line")
    assert drawn(written("x\n" * 50_000)) == (HUNK_LINES, 2 * HUNK_LINES, "… 49800 more lines")
    assert drawn(written("x" * 1_000_000)) == (1, LINE_CHARACTERS, None)
    assert drawn(written(("x" * 499 + "\n") * 50)) == (40, HUNK_CHARACTERS, "… 10 more lines")


@pytest.mark.parametrize("mark", ["-", "+"])
def test_a_long_patch_that_does_not_add_up_is_not_drawn(mark: str) -> None:
    patch = "@@ -2,2 +2,2 @@\n" + f"{mark}a\n" * 100_000
    assert result_card("edit", edit(("a", "b")), ResultFacts(patch=patch)) == FROM_ARGUMENTS


def test_the_line_in_which_a_long_patch_is_cut_is_missing() -> None:
    patch = "@@ -1 +1 @@\n-a\n+" + "x" * 300_000 + "\n"
    assert drawn(result_card("edit", edit(("a", "b")), ResultFacts(patch=patch))) == (1, 2, "… 1 more line")


def test_long_edits_are_cut_and_say_how_much_is_missing() -> None:
    many = [(f"a{number}\n", f"b{number}\n") for number in range(500)]
    assert drawn(result_card("edit", edit(*many), ResultFacts()))[::2] == (HUNK_LINES, "… 800 more lines")
    long = ("a\n" * 1000, "b\n" * 1000)
    assert drawn(result_card("edit", edit(long), ResultFacts()))[::2] == (HUNK_LINES, "… 1800 more lines")
    inside = ("a\n" * 1000 + "x\n" + "a\n" * 1000, "a\n" * 1000 + "y\n" + "a\n" * 1000)
    assert drawn(result_card("edit", edit(inside), ResultFacts()))[::2] == (8, None)
    patch = "".join(f"@@ -{at},2 +{at},2 @@\n c\n-o\n+n\n" for at in range(1, 300_000, 10))
    lines, _, note = drawn(result_card("edit", edit(("o", "n")), ResultFacts(patch=patch)))
    assert (lines, note is not None) == (HUNK_LINES, True)


def test_only_short_changes_are_matched_line_by_line() -> None:
    def marks(lines: int) -> str:
        old, new = ["a", "x"] * (lines // 2), ["y", "a"] * (lines // 2)
        view = result_card("edit", edit(("\n".join(old), "\n".join(new))), ResultFacts())
        assert isinstance(view, DiffResult)
        return "".join(line[0] for hunk in view.hunks for line in hunk.lines)

    assert marks(4) == "+ -+ -"
    assert marks(102) == "-" * 102 + "+" * 98


@pytest.mark.parametrize(
    ("card", "written"),
    [
        (
            call_card("read", {"path": PATH, "offset": 3}),
            {
                "card": "generic",
                "title": "Read src/pay.py:3-",
                "kind": "read",
                "locations": [{"path": PATH, "line": 3}],
            },
        ),
        (
            call_card("other", {"snake_case": None, "locations": []}),
            {"card": "generic", "title": "other", "kind": "other", "rawInput": {"snake_case": None, "locations": []}},
        ),
        (call_card("bash", {"command": "ls"}), {"card": "terminal", "title": "ls"}),
        (
            call_card("write", {"path": PATH, "content": UNKEPT}),
            {
                "card": "diff",
                "title": "Write src/pay.py",
                "diffs": [{"path": PATH, "oldText": None, "newText": None, "size": 812}],
                "locations": [{"path": PATH}],
            },
        ),
        (GenericResult(), {"card": "generic"}),
        (TerminalResult(output="", exit_code=0), {"card": "terminal", "output": "", "exitCode": 0}),
        (
            DiffResult(hunks=(TAU_HUNK,), note="… 1 more line"),
            {
                "card": "diff",
                "hunks": [{"path": PATH, "oldStart": 8, "newStart": 8, "lines": list(TAU_HUNK.lines)}],
                "note": "… 1 more line",
            },
        ),
        (DiffResult(hunks=()), {"card": "diff", "hunks": []}),
    ],
)
def test_a_card_is_one_line_of_json(card: Any, written: Any) -> None:
    text = card_to_json(card)
    assert text.isascii()
    assert json.loads(text) == written
    assert list(json.loads(text)) == list(written)


def test_arguments_that_json_cannot_hold_become_a_sentence() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for arguments in (deep, {"x": float("nan")}, {"x": 10**5000}):
        assert json.loads(card_to_json(call_card("other", arguments))) == {
            "card": "generic",
            "title": "other",
            "kind": "other",
            "rawInput": "[arguments that cannot be written as JSON]",
        }
