"""A credential that could not be kept out of what is recorded is not given to anybody."""

from __future__ import annotations

import os

import pytest

from pi_intent.credentials import fetch
from pi_intent.errors import CredentialError
from pi_intent.gates.credentials import Credential
from pi_intent.redaction import Redactor

MINE = Credential(name="mine", origin="env", where="MINE", variable="MINE")


@pytest.mark.parametrize(
    "value",
    ["short", "ab+cd+ef", "my dog 12", "a'b'c'd'e", '"1234567"', "\\1\\2\\3\\4", "1234567\u200b\u200b", "1\n" * 7],
)
def test_what_has_too_few_characters_that_count_is_refused_and_not_quoted(value: str):
    with pytest.raises(CredentialError) as refused:
        fetch([MINE], {"MINE": value})
    assert str(refused.value).endswith(
        "it must have 8 characters or more, not counting blanks, quotes, backslashes and +"
    )
    assert value not in str(refused.value)


@pytest.mark.parametrize(
    "value", ["12345678", "ab+cd+efgh", "my dog is 12", "a'b'c'd'e'f'g'h", "käsewein", "\\1" * 8]
)
def test_what_is_given_is_found(value: str):
    assert fetch([MINE], {"MINE": value}) == {"mine": value}
    redactor = Redactor(os.urandom(32))
    redactor.learn([value])
    assert redactor.holds_known(f"see {value}.")
    assert value not in redactor.text(f"see {value}.")
