"""A disposable index over the ledger: SQLite beside the segments, which stay the truth."""

from pi_intent.ledger.index.filters import Filter, Outcome
from pi_intent.ledger.index.index import Index, Place, open_index
from pi_intent.ledger.index.stretch import Stretch

__all__ = ["Filter", "Index", "Outcome", "Place", "Stretch", "open_index"]
