"""What unit tests share. Those on real session files are collected where `PI_INTENT_SAMPLES` names their folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from label_events import Calls
from settings_machine import Load, Machine, loader

collect_ignore_glob = [] if os.environ.get("PI_INTENT_SAMPLES") else ["test_sessions_samples*.py"]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def load(machine: Machine) -> Load:
    return loader(machine)


@pytest.fixture
def calls() -> Calls:
    return Calls()
