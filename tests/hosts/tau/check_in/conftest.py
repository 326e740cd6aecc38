"""A desk at which a person is asked about every call."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tau_desk import Desk

from pi_intent.gates.declared import PROCESS


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder whose name is always as long: it stands in the question."""
    folder = Path(tempfile.mkdtemp(prefix="ask-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch, desk: Desk) -> Iterator[None]:
    monkeypatch.setenv("PI_INTENT_CHECK_IN", "always")
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    yield
    for declared in (PROCESS._asked, PROCESS._tiers):
        declared.clear()
