"""What holds for all tests."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# A slow machine is no fault of the code: speed is measured in tests/bench.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# What is started in the background or by nohup ignores these, and so would every program that a test starts.
for _number, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)


@pytest.hookimpl(optionalhook=True)  # pytest-xdist's
def pytest_xdist_auto_num_workers() -> int | None:
    """`-n auto` is half as many again as there are processors: for a third of their time tests wait for a program."""
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else ((os.cpu_count() or 1) * 3 + 1) // 2


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder whose name leaves room for that of a socket."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="pi-") as folder:
        yield Path(folder)
