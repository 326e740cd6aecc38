"""What a server says on its standard error, without the credentials that it was given."""

from __future__ import annotations

import os
from collections.abc import Iterable

from pi_intent.redaction import Redactor

_LEAST_LINE = 12
"""Characters from which on one line of a credential, such as a key in a file, tells something of it."""


class Told:
    """Takes the credentials out of the lines of a log, and leaves every other byte."""

    def __init__(self, credentials: Iterable[str]) -> None:
        self._redactor = Redactor(os.urandom(32))
        for credential in credentials:
            lines = [line.strip() for line in credential.splitlines()]
            self._redactor.learn([credential, *(line for line in lines if len(line) >= _LEAST_LINE)])

    def __call__(self, line: bytes) -> bytes:
        """Return a line as it may be passed on."""
        text = line.decode("utf-8", "surrogateescape")
        if not self._redactor.holds_known(text):
            return line
        safe = self._redactor.text(text)
        if self._redactor.holds_known(safe):
            safe = "[redacted: a line with a credential]\n"
        return safe.encode("utf-8", "surrogateescape")
