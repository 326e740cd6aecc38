"""A ledger to send from, and a receiver that nothing else of this machine names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from otel_exporting import journal_of
from otlp_receiver import Receiver, receiving

from pi_intent.ledger.journal import SessionJournal


@pytest.fixture(autouse=True)
def project(shop: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    return shop


@pytest.fixture
def received() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def journal() -> Iterator[SessionJournal]:
    journal = journal_of("s-1")
    yield journal
    journal.close()
