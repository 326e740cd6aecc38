"""How a client's config starts this pi-intent."""

from __future__ import annotations

import os
import sys

from pi_intent.hosts.mcp.clients.wrapping import Launcher

SHARED = Launcher(command="pi-intent")
"""For files that others get through git: where pi-intent lies on this machine means nothing on theirs."""


def own_launcher(executable: str = sys.executable) -> Launcher:
    """Return how to start this very installation, from programs that know nothing of its environment."""
    script = os.path.abspath(os.path.join(os.path.dirname(executable), "pi-intent"))
    if os.path.isfile(script) and os.access(script, os.X_OK):
        return Launcher(command=script)
    return Launcher(command=os.path.abspath(executable), arguments=("-m", "pi_intent"))
