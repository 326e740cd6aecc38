"""A ledger to import into."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_intent.ledger.location import LedgerLocation


@pytest.fixture
def location(tmp_path: Path) -> LedgerLocation:
    return LedgerLocation(root=tmp_path / "ledger-root", project=Path("/home/me/shop"))
