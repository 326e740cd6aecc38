"""What a server says on its standard error, without the credentials that it was given."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from pi_intent.redaction import Redactor

_LEAST_LINE = 12
"""Characters from which on one line of a credential, such as a key in a file, tells something of it."""

_MOST = 64 * 1024
"""Bytes of a line that are kept back until it ends."""
_OVERLAP = 8 * 1024
"""Bytes that a credential may go on over, where a line is passed on before its end."""


class Told:
    """Takes the credentials out of a log and leaves all other bytes; `put` gets what may be passed on."""

    def __init__(self, credentials: Iterable[str], put: Callable[[bytes], None]) -> None:
        self._put = put
        self._rest = b""
        self._redactor = Redactor(os.urandom(32))
        for credential in credentials:
            lines = [line.strip() for line in credential.splitlines()]
            self._redactor.learn([credential, *(line for line in lines if len(line) >= _LEAST_LINE)])

    def feed(self, piece: bytes) -> None:
        """Take a piece of the log and hand on the lines that it completes; a carriage return ends one, too."""
        rest = self._rest + piece
        end = max(rest.rfind(b"\n"), rest.rfind(b"\r")) + 1
        if end:
            whole, rest = rest[:end], rest[end:]
            self._put(self._safe(whole))
        if len(rest) > _MOST:
            safe = self._safe(rest)
            rest = safe[-_OVERLAP:]
            self._put(safe[:-_OVERLAP])
        self._rest = rest

    def end(self) -> None:
        """Hand on what has no end of line."""
        self._put(self._safe(self._rest))
        self._rest = b""

    def _safe(self, lines: bytes) -> bytes:
        text = lines.decode("utf-8", "surrogateescape")
        if not self._redactor.holds_known(text):
            return lines
        safe = "".join(map(self._safe_line, text.splitlines(keepends=True)))
        if self._redactor.holds_known(safe):
            safe = "[redacted: lines with a credential]\n"
        return safe.encode("utf-8", "surrogateescape")

    def _safe_line(self, line: str) -> str:
        return self._redactor.text(line) if self._redactor.holds_known(line) else line
