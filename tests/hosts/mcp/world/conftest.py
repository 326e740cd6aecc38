"""A desk with real MCP servers and clients for each test, where `.ci/mcp_world` has installed them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_world import Desk, desk_in, installed_world

# Without the programs there is nothing to test; that CI has them is tests/architecture's business.
collect_ignore_glob = [] if installed_world() else ["test_*.py"]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    world = installed_world()
    assert world is not None
    with desk_in(world, tmp_path) as desk:
        yield desk
