"""Replace secrets in text by tokens that can be correlated but not reversed.

A token is `[redacted:KIND:xxxxxxxx]`: eight hexadecimal digits of an HMAC of the secret. The same secret under the
same key has the same token wherever it stands, because the kind follows from the secret: its own shape if it has
one, `env` for a value of the environment, else `secret`.

Every pattern here either consumes what it looked at or is bounded, so that no text takes more than linear time. What
a pattern finds is then judged in code, because "is this a literal or an expression?" is no question for a pattern.
"""

from __future__ import annotations

from pi_intent.redaction.redactor import MAX_DEPTH, Redactor

__all__ = ["MAX_DEPTH", "WITHHELD", "Redactor"]

WITHHELD = "[withheld]"
"""Stands for a text that there was and that `redact_args` keeps out."""
