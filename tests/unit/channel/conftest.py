"""A channel for each test, in a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from channel_desk import Desk


@pytest.fixture
def desk(short_path: Path) -> Iterator[Desk]:
    made = Desk(short_path)
    yield made
    made.close()
