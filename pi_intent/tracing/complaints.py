"""Keep what OpenTelemetry's library complains of, and let nothing of it onto the screen."""

from __future__ import annotations

import logging
import re
from http import HTTPStatus

_PASSING = re.compile(r"Transient error (.+?) encountered")
_STATUSES = {status.phrase: str(status.value) for status in HTTPStatus}


class Complaints(logging.Handler):
    """Keeps the last complaint, until the process ends.

    With no handler at all Python would print what is logged across whatever screen there is, and the library's
    threads may complain after all else is closed.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last = ""
        self._passing: str | None = None
        logging.getLogger("opentelemetry").addHandler(self)

    @property
    def answer(self) -> str | None:
        """What the receiver answered last: its HTTP status; None where none is known."""
        if (refused := re.search(r"\bcode: (\d+)", self.last)) is not None:
            return refused[1]
        return self._passing

    def emit(self, record: logging.LogRecord) -> None:
        self.last = record.getMessage()
        # What is tried again is told by its words alone, and in the end only that there was no time for more.
        if (passing := _PASSING.search(self.last)) is not None:
            self._passing = _STATUSES.get(passing[1], self._passing)
