"""The layers hold, and what must stay light does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


def loaded_by(code: str) -> set[str]:
    """Return the top-level modules that a fresh Python has loaded after running some code."""
    script = (
        f"{code}\nimport json, sys; print(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.one_python
def test_the_layers_hold():
    # In a process of its own: it sets up logging, and would leave our loggers silent for all tests after it.
    code = "from importlinter import cli; raise SystemExit(cli.lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=CHECKOUT, timeout=120)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("code", "without"),
    [
        ("import pi_intent", {"pydantic", "click", "sqlite3", "rich", "anyio", "tau_coding", "dataclasses"}),
        ("from pi_intent import read_call, inject_intent", {"pydantic", "click", "sqlite3", "rich", "anyio"}),
        (
            "import pi_intent.runtime, pi_intent.settings",
            {"pydantic", "click", "sqlite3", "rich", "tau_coding", "opentelemetry"},
        ),
        (
            "import pi_intent.cli.entry, pi_intent.ledger.journal, pi_intent.hosts.mcp.wrap as wrap\n"
            "from pi_intent.hosts.mcp import policy, proxy, pump, recording",
            {"pydantic", "click", "sqlite3", "rich", "anyio", "asyncio", "tau_coding", "mcp", "opentelemetry"},
        ),
        (
            "import pi_intent.tracing.live, pi_intent.tracing.past",
            {"click", "sqlite3", "tau_coding", "opentelemetry"},
        ),
        ("from pi_intent.cli import export_otel, export_rows", {"tau_coding", "anyio", "opentelemetry"}),
        (
            "from pi_intent.cli.main import main",
            {"pydantic", "sqlite3", "rich", "tau_coding", "anyio", "opentelemetry"},
        ),
        ("from pi_intent.ledger import calls, journal", {"pydantic", "click", "sqlite3", "rich"}),
        # What is asked of the index is answered in less time than pydantic or Rich take to load.
        ("import pi_intent.cli.log, pi_intent.render.timeline", {"pydantic", "rich", "tau_coding", "anyio"}),
    ],
)
def test_importing_stays_light(code, without):
    assert loaded_by(code) & without == set()


def test_the_host_part_runs_where_there_is_no_click(tmp_path):
    code = f"""
import sys
sys.modules["click"] = None  # as if it were not installed
sys.path.insert(0, {str(CHECKOUT / "tests")!r})
import asyncio, os
from pathlib import Path
os.environ.update(HOME={str(tmp_path)!r}, XDG_STATE_HOME={str(tmp_path)!r}, XDG_CONFIG_HOME={str(tmp_path)!r})
from tau_desk import Desk, calls, says
async def main():
    desk = Desk(Path({str(tmp_path / "desk")!r}))
    silent, good = {{"command": "true"}}, {{"intent": "Be true", "command": "true"}}
    events = await desk.run(calls(("bash", silent), ("bash", good)))
    assert [event.is_error for event in events] == [True, False]
    for session in desk.sessions:
        await session.aclose()
asyncio.run(main())
"""
    assert "pi_intent" in loaded_by(code)
