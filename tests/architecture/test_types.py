"""The package's types serve those who use it."""

from __future__ import annotations

from pathlib import Path

import pytest
from mypy import api

CHECKOUT = Path(__file__).parents[2]


@pytest.mark.one_python
def test_what_a_user_writes_is_typed():
    out, err, code = api.run(
        [
            "--strict",
            "--warn-unused-ignores",
            f"--cache-dir={CHECKOUT / '.mypy_cache'}",  # shared with the check of the package itself
            str(CHECKOUT / "tests" / "typing" / "users.py"),
        ]
    )
    assert (out.strip(), err, code) == ("Success: no issues found in 1 source file", "", 0)
