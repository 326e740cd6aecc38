"""What the project says of itself is true: its README, its packaging, its texts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from mcp_world import VARIABLE, installed_world

import pi_intent
from pi_intent.cli.main import SECTIONS

CHECKOUT = Path(__file__).parents[2]
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def test_the_python_in_the_readme_runs(capsys, tmp_path):
    agent, code = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    # Elsewhere: an agent keeps a ledger of the folder it runs in, and leaves its event loop open.
    environ = os.environ | {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", agent], cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, '{"stock":7}\n')
    assert len(list(tmp_path.glob("pi-intent/*/ledger/*.jsonl"))) == 1
    scope: dict = {}
    try:
        exec(code, scope)
    finally:
        scope["stop"]()
    assert capsys.readouterr().out == (
        "Nothing was executed: `intent` is missing. "
        "Call bash again with `intent` first: text that states the goal of the call.\n"
    )


def test_the_readme_names_every_command():
    commands = {command.name for section in SECTIONS.values() for command in section}
    assert {name for name in commands if f"`pi-intent {name}" not in README} == set()


def test_every_file_that_the_readme_points_to_is_there():
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", README):
        assert (CHECKOUT / target).is_file(), target


def test_contributing_names_every_part_in_the_order_of_the_layers():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    rank = {part.strip(" ()"): at for at, layer in enumerate(layers) for part in layer.split("|")}
    rows = re.findall(r"^\| (`.*?) \|", (CHECKOUT / "CONTRIBUTING.md").read_text(), flags=re.M)
    named = [re.split(r"[./]", part)[0] for row in rows for part in re.findall(r"`(.*?)`", row)]
    assert {*named} == {*rank} - {"__main__"}
    assert [rank[part] for part in named] == sorted(rank[part] for part in named)


def test_the_version_is_one():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    assert project["version"] == pi_intent.__version__
    assert f"## {pi_intent.__version__}" in (CHECKOUT / "CHANGELOG.md").read_text()


def test_every_name_we_offer_is_there_and_says_what_it_is():
    for name in pi_intent.__all__:
        offered = getattr(pi_intent, name)
        assert offered.__doc__, name
    assert set(pi_intent.__all__) <= set(dir(pi_intent))


def test_ci_has_the_real_mcp_servers_and_clients():
    world = installed_world()
    assert world is not None or "CI" not in os.environ, f"run .ci/mcp_world, and set {VARIABLE} to its folder"
    assert world is None or (world.claude.exists() and world.python.exists()), f"{VARIABLE} is not such a folder"
