"""Make identifiers that sort by time (ULID: 48 bits of milliseconds, 80 random bits, Crockford base 32)."""

from __future__ import annotations

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [high + low for high in _CROCKFORD for low in _CROCKFORD]
_SHIFTS = range(120, -1, -10)


def ulid(milliseconds: int, entropy: bytes) -> str:
    """Return the 26 characters of a ULID for a Unix time in milliseconds and ten random bytes."""
    number = (milliseconds & (2**48 - 1)) << 80 | int.from_bytes(entropy[:10], "big")
    return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])
