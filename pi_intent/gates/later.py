"""Questions whose answers come later: what is kept of one meanwhile, and what its answer says."""

from __future__ import annotations

from typing import NamedTuple

from pi_intent.gates.question import Answer
from pi_intent.protocols import Decision
from pi_intent.types import JSONObject


class Asked(NamedTuple):
    """A question that waits: the literal action it is about, and what the ledger keeps of it.

    `key` is the identity of the call; None where it was asked about elsewhere, and its digest alone is known.
    """

    action: str
    decision: Decision
    key: bytes | None = None


class Arrived(NamedTuple):
    """The answer to a question that was asked before.

    `original` are the arguments that the question was about, where the answer came with arguments of its own; None
    where it came with none.
    """

    asked: Asked
    answer: Answer
    original: JSONObject | None = None


class Deferred(Exception):
    """Raised by an `Asker` that has handed a question on: the call stays open until the answer arrives.

    `asked` is what to keep until then; it is there once the exception has left the gates.
    """

    asked: Asked | None = None
