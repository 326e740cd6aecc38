"""A desk for each test: a project with a ledger in a temporary folder."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from host_desk import move_home
from pydantic_desk import Desk
from pydantic_gated import WAYS

import pi_intent
from pi_intent import ask_when
from pi_intent.hosts.pydantic_ai import options
from pi_intent.hosts.pydantic_ai.held import WAITING


@pytest.fixture(autouse=True)
def loop() -> Iterator[None]:
    """The event loop that `run_sync` takes: it would leave one that it makes open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    asyncio.set_event_loop(None)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    move_home(monkeypatch, tmp_path)
    monkeypatch.setattr(options, "_said", set())
    desk = Desk(tmp_path)
    monkeypatch.chdir(desk.project)
    stop = pi_intent.subscribe(desk.events)
    yield desk
    WAITING.close()
    stop()


@pytest.fixture(params=WAYS)
def how(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def asked() -> Iterator[None]:
    """Somebody must see what is removed."""
    stop = ask_when(lambda arguments, situation: True, tools="remove*", reason="it is gone for good")
    yield
    stop()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # pydantic-ai's
