"""A desk for each test: a real Tau in a temporary home."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from host_desk import move_home
from tau_desk import Desk

import pi_intent
from pi_intent.hosts.tau import live


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    move_home(monkeypatch, tmp_path)
    monkeypatch.setenv("TAU_HOME", str(tmp_path / "tau"))
    monkeypatch.setenv("TAU_NO_UPDATE_CHECK", "1")
    desk = Desk(tmp_path)
    monkeypatch.chdir(desk.project)
    stop = pi_intent.subscribe(desk.events)
    yield desk
    for session in desk.sessions:
        await session.aclose()
    stop()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # Tau's


@pytest.fixture
def fresh_tee(monkeypatch: pytest.MonkeyPatch) -> None:
    """An httpx that only we have wrapped, once."""
    monkeypatch.setattr(httpx.AsyncClient, "send", inspect.unwrap(httpx.AsyncClient.send))
    monkeypatch.setattr(live, "_TEE", live._Tee())
    assert live.install_tee()
