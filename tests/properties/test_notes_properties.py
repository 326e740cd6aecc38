"""What holds for the notes on any session, whoever wrote its texts and arguments."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from notes_calls import past_calls

from pi_intent.notes import KINDS, SessionNotes, notes_of
from pi_intent.past import PastCall

# Pieces that mean something to the notes, so that random texts hit upon verbs, files, commands and their quoting.
WORDS = [
    "Read",
    "Run the tests",
    "Let me",
    "fix",
    "delete",
    " ",
    "src/a.py",
    ":12",
    "README",
    ".env",
    "é",
    "の",
    "les",
    "le",
]
SHELL = ["`", "'", '"', "$(", ")", "\\", "&&", ";", "|", ">", "<<EOF\n", "\n", "{}", "*", "#L3", "~", "/", "0"]
COMMANDS = ["rm -rf", "git", "push", "-C", "--force", "curl", "sh", "sudo", "-u", "find", "-exec", "npm", "install"]
PIECES = st.sampled_from([*WORDS, *SHELL, *COMMANDS, "\ud800", "\x1b[0m", "\u202e", "🏴", "http://x/y.py"])
TEXTS = st.lists(PIECES | st.characters(codec=None), max_size=10).map("".join)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
ARGS = st.dictionaries(
    st.sampled_from(["path", "command", "cmd", "file_path", "files", "input", "edits", "content"]) | TEXTS,
    VALUES,
    max_size=4,
)
TOOLS = ["read", "write", "edit", "bash", "Grep", "file_editor", "x/y", "mcp__a__delete_b"]
CALLS = st.fixed_dictionaries(
    {
        "tool": st.sampled_from(["read", "write", "edit", "bash", "Grep", "file_editor", "x/y", "mcp__a__delete_b"])
        | TEXTS,
        "args": ARGS,
        "intent": st.none() | TEXTS,
        "rationale": st.none() | TEXTS,
        "intent_source": st.sampled_from(["model", "derived", "absent"]),
        "status": st.sampled_from([None, "ok", "error", "rejected", "denied", "cancelled", "timeout", "interrupted"]),
        "agent": st.sampled_from(["main", "child"]),
        "files": st.lists(TEXTS, max_size=2),
        "flags": st.sampled_from([[], ["copied"], ["imported"]]),
        "facts": st.none() | TEXTS,
        "error": st.none() | TEXTS,
    }
)
SESSIONS = st.lists(CALLS, max_size=4).map(lambda said: past_calls(*said))


@given(SESSIONS)
def test_notes_are_the_same_every_time_and_each_call_has_at_most_one_of_a_kind(calls: list[PastCall]) -> None:
    given_notes = notes_of(calls)
    assert given_notes == notes_of(calls)
    assert set(given_notes) <= {call.id for call in calls}
    for notes in given_notes.values():
        kinds = [note.kind for note in notes]
        assert kinds
        assert kinds == sorted(set(kinds), key=KINDS.index)


@given(SESSIONS)
def test_a_note_is_one_short_line_that_every_encoding_of_unicode_can_take(calls: list[PastCall]) -> None:
    for notes in notes_of(calls).values():
        for note in notes:
            assert len(note.text) < 300
            assert note.text.isprintable()
            note.text.encode()


@given(SESSIONS)
def test_a_call_is_told_its_notes_at_once_but_for_what_it_promised(calls: list[PastCall]) -> None:
    afterwards = notes_of(calls)
    session = SessionNotes()
    for call in calls:
        kept = tuple(note for note in afterwards.get(call.id, ()) if note.kind != "unfulfilled")
        assert session.take(call) == kept


@given(SESSIONS, st.integers(0, 4))
def test_what_comes_later_changes_no_note_but_what_was_promised(calls: list[PastCall], cut: int) -> None:
    whole, beginning = notes_of(calls), notes_of(calls[:cut])
    for call in calls[:cut]:
        kept = tuple(note for note in whole.get(call.id, ()) if note.kind != "unfulfilled")
        assert kept == tuple(note for note in beginning.get(call.id, ()) if note.kind != "unfulfilled")


@given(SESSIONS)
def test_a_world_in_which_every_file_exists_changes_no_note(calls: list[PastCall]) -> None:
    assert notes_of(calls, exists=lambda path: True) == notes_of(calls)
