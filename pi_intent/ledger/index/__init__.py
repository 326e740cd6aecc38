"""A disposable index over the ledger: SQLite beside the segments, which stay the truth."""

from pi_intent.ledger.index.filters import Filter, Outcome
from pi_intent.ledger.index.index import Index, Place, open_index

__all__ = ["Filter", "Index", "Outcome", "Place", "open_index"]
