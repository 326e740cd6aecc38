"""A session that ends while its ledger is still being opened leaves nothing behind."""

from __future__ import annotations

import asyncio
import subprocess
import threading
from pathlib import Path

import anyio
import anyio.lowlevel
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
    root = tmp_path / ".git" / "pi-intent"

    def left() -> list[object]:
        """What is still open: an opening that was cancelled goes on in its thread for a moment."""
        channels = [thread for thread in threading.enumerate() if thread.name == "pi-intent channel"]
        journals = [runtime for runtime in runtimes if runtime.journal is not None and not runtime.journal._closed]
        return [*channels, *journals, *live_channels(root, environ)]

    calm = 0
    for _ in range(500):
        await asyncio.sleep(0.02)
        calm = 0 if left() else calm + 1
        if calm == 10:
            break
    assert left() == []
    assert told == []


async def test_syncing_reaches_the_disk_even_while_the_task_is_cancelled(tmp_path: Path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    runtime = SessionRuntime(
        session_id="s",
        host="tau",
        host_version="0",
        cwd=tmp_path,
        strict=False,
        tell=print,
        withholds=lambda tool_name: False,
        environ={"HOME": str(tmp_path), "TMPDIR": str(tmp_path)},
    )
    await runtime.start()
    assert runtime.journal is not None
    with anyio.CancelScope() as scope:
        scope.cancel()
        assert runtime.journal.is_dirty
        await runtime.sync()
        assert not runtime.journal.is_dirty
        await anyio.lowlevel.checkpoint()
        raise AssertionError("it was not cancelled")
    runtime.close()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
