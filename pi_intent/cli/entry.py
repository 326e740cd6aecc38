"""The program `pi-intent`; the proxy is started once a server and session, and loads no command line library."""

from __future__ import annotations

import os
import sys

_HELP = frozenset({"-h", "--help"})


def main() -> None:
    """Run what the command line asks for, and exit."""
    words = sys.argv[1:]
    if words[:2] == ["mcp", "wrap"] and len(words) > 2 and words[2] not in _HELP:
        from pi_intent.hosts.mcp.options import WrongUsage, read_options

        try:
            options = read_options(words[2:])
        except WrongUsage:
            pass  # it is said by the command of that name
        else:
            from pi_intent.hosts.mcp.wrap import wrap

            wrap(options, os.environ)
    from pi_intent.cli.main import main as commands

    commands()
