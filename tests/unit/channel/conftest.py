"""A channel for each test, in a folder of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from channel_desk import Desk


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder whose name leaves room for that of a socket."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="pi-") as folder:
        yield Path(folder)


@pytest.fixture
def desk(short_path: Path) -> Iterator[Desk]:
    made = Desk(short_path)
    yield made
    made.close()
