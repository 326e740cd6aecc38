"""What holds for all tests."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# A slow machine is no fault of the code: speed is measured in tests/bench.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.hookimpl(optionalhook=True)  # pytest-xdist's
def pytest_xdist_auto_num_workers() -> int | None:
    """`-n auto` is half as many again as there are processors: for a third of their time tests wait for a program."""
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else ((os.cpu_count() or 1) * 3 + 1) // 2
