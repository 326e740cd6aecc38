"""What unit tests share. Those on real session files are collected where `PI_INTENT_SAMPLES` names their folder."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from label_events import Calls
from settings_machine import Load, Machine, loader

from pi_intent.gates.shell.command import shell_parser

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


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may enter, too."""
    folder = Path(tempfile.mkdtemp(prefix="pi-intent-"))
    folder.chmod(0o755)
    yield folder
    for path in folder.rglob("*"):
        if path.is_dir():
            path.chmod(0o700)
    shutil.rmtree(folder)


@pytest.fixture
def no_parser(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Python finds no parser, as where it is not installed."""
    monkeypatch.setitem(sys.modules, "tree_sitter_bash", None)
    shell_parser.cache_clear()
    yield
    shell_parser.cache_clear()
