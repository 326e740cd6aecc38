"""Sessions of one project that make spans, and what their person was told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from otlp_receiver import Receiver

from pi_intent.pipeline import CallRequest, OpenCall
from pi_intent.protocols import Settlement
from pi_intent.runtime import SessionRuntime
from pi_intent.tracing import own_provider

OK = Settlement(status="ok", is_error=False)


class Sessions:
    """Sessions of one project, and what their person was told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told: list[str] = []

    async def start(self, session: str = "s-1", *, traced: bool = True, host: Any = "tau") -> SessionRuntime:
        runtime = SessionRuntime(
            session_id=session,
            host=host,
            host_version="0",
            cwd=self.folder,
            strict=False,
            tell=self.told.append,
            withholds=lambda tool_name: False,
            traced=traced,
        )
        await runtime.start()
        return runtime


def opened(runtime: SessionRuntime, **particular: Any) -> OpenCall:
    request = {
        "tool_name": "bash",
        "tool_call_id": "call_1",
        "arguments": {"intent": "Say why", "command": "true"},
        "group_id": "g-1",
        "turn": 1,
        "policy": "require",
    }
    return runtime.pipeline.open(CallRequest(**request | particular))


def flushed(received: Receiver) -> Receiver:
    own_provider.the_provider().flush()
    return received
