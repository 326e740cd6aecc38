"""Make identifiers that sort by time (ULID: 48 bits of milliseconds, 80 random bits, Crockford base 32)."""

from __future__ import annotations

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def ulid(milliseconds: int, entropy: bytes) -> str:
    """Return the 26 characters of a ULID for a Unix time in milliseconds and ten random bytes."""
    number = (milliseconds & (2**48 - 1)) << 80 | int.from_bytes(entropy[:10], "big")
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
