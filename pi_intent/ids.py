"""Make identifiers that sort by time (ULID: 48 bits of milliseconds, 80 random bits, Crockford base 32)."""

from __future__ import annotations

from base64 import b32encode

_CROCKFORD = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", b"0123456789ABCDEFGHJKMNPQRSTVWXYZ")


def ulid(milliseconds: int, entropy: bytes) -> str:
    """Return the 26 characters of a ULID for a Unix time in milliseconds and ten random bytes."""
    number = (milliseconds & (2**48 - 1)) << 80 | int.from_bytes(entropy[:10], "big")
    return b32encode(number.to_bytes(20, "big"))[-26:].translate(_CROCKFORD).decode("ascii")
