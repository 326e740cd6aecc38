"""A session that ends while its ledger is still being opened leaves nothing behind."""

from __future__ import annotations

import asyncio
import subprocess
import threading
from pathlib import Path

import pytest

from pi_intent.channel import live_channels
from pi_intent.runtime import SessionRuntime


@pytest.mark.parametrize("steps", [0, 1, 2, 5, 20])
async def test_what_is_opened_after_the_end_is_given_back(tmp_path: Path, steps: int):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    environ = {"XDG_RUNTIME_DIR": str(tmp_path), "TMPDIR": str(tmp_path), "HOME": str(tmp_path)}
    told: list[str] = []
    runtimes = []
    for number in range(8):
        runtime = SessionRuntime(
            session_id=f"s{number}",
            host="tau",
            host_version="0",
            cwd=tmp_path,
            strict=False,
            tell=told.append,
            withholds=lambda tool_name: False,
            environ=environ,
        )
        starting = asyncio.create_task(runtime.start())
        for _ in range(steps):
            await asyncio.sleep(0.001)
        starting.cancel()
        runtime.close()
        await asyncio.wait({starting})
        runtimes.append(runtime)
    for _ in range(200):
        if not any(thread.name == "pi-intent channel" for thread in threading.enumerate()):
            break
        await asyncio.sleep(0.02)
    else:
        raise AssertionError("a channel is still open")
    assert live_channels(tmp_path / ".git" / "pi-intent", environ) == []
    assert all(runtime.journal is None or runtime.journal._closed for runtime in runtimes)
    assert told == []


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
