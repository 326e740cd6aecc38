"""A raw MCP server of both protocol eras that does what no server should, on the standard library alone.

Run it as `python hostile_server.py OPTIONS`, where OPTIONS is a JSON object: `record` (a file that gets every byte
received), `catalogue` and `then` (the tools listed first, and after the tool `change`), `page` (tools a page),
`shift` (other tools after the first page), `before` and `greeting` (text written at the start, and after the
handshake), `stderr`, `crlf`, `slow` (a byte a write), `pretty`
(spaces in list answers), `at_end` ("exit", "ignore", "late", "unfinished"), `exit` (the
exit code), `ignore_term`, `era` ("both", "handshake"), `mute` (methods that get no answer), `own_list_error`.
"""

from __future__ import annotations

import signal
import sys
from typing import Any

from hostile_json import Number, read
from hostile_protocol import HostileServer


def main() -> None:
    sys.setrecursionlimit(5_000)
    options: dict[str, Any] = {
        key: _plain(value) for key, value in read(sys.argv[1] if sys.argv[1:] else "{}").items()
    }
    options["argv"] = sys.argv
    if options.get("ignore_term"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    HostileServer(options).run()


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, Number) else value


if __name__ == "__main__":
    main()
