"""Find out at once that nobody receives spans on this machine."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def nobody_listens(url: str, *, within: float = 2.0) -> bool:
    """Whether this machine refuses a connection to an address of its own: no use in trying again and again.

    It takes no time, unless something is there that does not answer: then `within` seconds.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if parts.hostname not in _LOOPBACK:
            return False
        socket.create_connection((parts.hostname, port), timeout=within).close()
    except ConnectionRefusedError:
        return True
    except (OSError, ValueError):  # a ValueError: what is set is no address
        return False
    return False
