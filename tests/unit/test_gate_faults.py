"""What failed while a call was decided on is told in words, never by the name of a class."""

from __future__ import annotations

import pytest

from pi_intent.errors import PiIntentError
from pi_intent.gates.faults import not_worked_out, unasked
from pi_intent.gates.tiers import tier_of


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (EOFError(), "whoever was to answer is gone"),
        (BrokenPipeError(), "whoever was to answer is gone"),
        (TimeoutError(), "nobody answered in time"),
        (PiIntentError("the answer says neither yes nor no"), "the answer says neither yes nor no"),
        (TypeError("x"), "there was no usable answer"),
        (KeyError("x"), "the question could not be shown"),
    ],
)
def test_why_nobody_could_be_asked_is_told_in_words(error: Exception, words: str):
    assert unasked(error) == words


def test_code_that_fails_is_told_with_what_it_says_itself():
    assert not_worked_out("it", ValueError("no\n such  thing")) == "it could not be worked out: no such thing"
    assert not_worked_out("it", ValueError()) == "it could not be worked out"
    assert not_worked_out("it", Mute()) == "it could not be worked out"
    assert not_worked_out("it", ValueError("x" * 999)).endswith(": " + "x" * 200)


def test_a_tier_that_fails_says_so_without_a_class():
    def broken(arguments: object) -> str:
        raise ValueError

    assert tier_of(broken, "x", None, {}).reason == "its tier could not be worked out"  # type: ignore[arg-type]
