"""Both versions of MCP in which a client is asked."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["handshake", "modern"])
def modern(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "modern")
