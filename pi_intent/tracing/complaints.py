"""Keep what OpenTelemetry's library complains of, and let nothing of it onto the screen."""

from __future__ import annotations

import logging


class Complaints(logging.Handler):
    """Keeps the last complaint, until the process ends.

    With no handler at all Python would print what is logged across whatever screen there is, and the library's
    threads may complain after all else is closed.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last = ""
        logging.getLogger("opentelemetry").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.last = record.getMessage()
