"""The examples of the page on pydantic-ai run as they stand, and leave what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from pydantic_desk import Desk
from pydantic_gated import decisions

PAGE = Path(__file__).parents[3] / "docs" / "pydantic-ai.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def run(*command: str, typed: str = "") -> str:
    arguments = [sys.executable, *command]
    done = subprocess.run(arguments, input=typed, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    return done.stdout


def test_the_example_of_the_page_runs_and_the_log_shows_it(desk: Desk) -> None:
    assert run("-c", EXAMPLES[0]) == '{"stock":7}\n'
    shown = run("-m", "pi_intent", "log").splitlines()
    assert shown[1].startswith("pydantic-ai ")
    assert [line[10:] for line in shown[2:4]] == ["a", 'stock {"item": "a"}']
    assert shown[4].strip().startswith("✓ ok")
    assert desk.kept_as == [("stock", "a", "ok")]


def test_the_example_of_deferred_check_ins_asks_and_goes_on(desk: Desk) -> None:
    assert run("-c", EXAMPLES[1]).splitlines() == [
        'remove {"path": "a"} because ["it is gone for good"]',
        "the agent says it is for: a",
        '{"remove":"removed a"}',
    ]
    assert (desk.kept_as, decisions(desk)) == ([("remove", "a", "ok")], [(None, None, 1), (True, "application", 1)])


def test_the_example_of_an_asker_asks_at_the_terminal(desk: Desk) -> None:
    denied = run("-c", EXAMPLES[2], typed="n\n").splitlines()
    assert denied[0] == "Wants to run remove in" or denied[0].startswith("Wants to run remove in /")
    assert denied.index('= "path": "a"') < denied.index("> tier exec: it is gone for good") < denied.index("> a")
    assert desk.kept_as == [("remove", "a", "denied")]
    approved = run("-c", EXAMPLES[2], typed="y\n").splitlines()
    assert approved[-1] == 'Run it? [y/N] {"remove":"removed a"}'
    assert [by for _, by, _ in decisions(desk)] == [None, "person", None, "person"]
