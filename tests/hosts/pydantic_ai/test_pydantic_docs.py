"""The example of the page on pydantic-ai runs as it stands, and leaves what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from pydantic_desk import Desk

PAGE = Path(__file__).parents[3] / "docs" / "pydantic-ai.md"


def test_the_example_of_the_page_runs_and_the_log_shows_it(desk: Desk) -> None:
    example = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None

    def run(*command: str) -> str:
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=60, check=True)
        assert done.stderr == ""
        return done.stdout

    assert run("-c", example[1]) == '{"stock":7}\n'
    shown = run("-m", "pi_intent", "log").splitlines()
    assert shown[1].startswith("pydantic-ai ")
    assert [line[10:] for line in shown[2:4]] == ["a", "stock"]
    assert shown[4].strip().startswith("✓ ok")
    assert desk.kept_as == [("stock", "a", "ok")]
