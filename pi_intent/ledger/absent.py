"""Stand in for a ledger that could not be opened."""

from __future__ import annotations

from pi_intent.errors import LedgerError
from pi_intent.events import ToolExecutionEnd, ToolExecutionStart
from pi_intent.protocols import CallContext, Decision, Settlement


class NoLedger:
    """Keeps nothing, and vetoes calls where they must be recorded."""

    def __init__(self, reason: str, strict: bool) -> None:
        self._reason = reason
        self._strict = strict

    def opened(self, start: ToolExecutionStart, context: CallContext) -> None:
        if self._strict:
            raise LedgerError(self._reason)

    def resumed(self, start: ToolExecutionStart, context: CallContext) -> None:
        pass

    def decided(self, decision: Decision) -> None:
        if self._strict:
            raise LedgerError(self._reason)

    def closed(self, end: ToolExecutionEnd, settlement: Settlement) -> None:
        pass


def could_not_be_opened(error: Exception) -> str:
    """Say why there is no ledger."""
    return f"the ledger could not be opened ({type(error).__name__}: {error})"


def then(strict: bool) -> str:
    """Say what that means for the calls."""
    return f"calls {'are refused' if strict else 'go on, but are not recorded'}"
