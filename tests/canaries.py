"""Secrets of every known shape, put together at run time so that no file holds one, and what is left of them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from urllib.parse import quote

ALPHANUMERIC = "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zAbC3dEf6hIj9kLm2"
HEX = "0f1e2d3c4b5a69788796a5b4c3d2e1f0" * 2
ACCESS = "hunt" + "er2-" + "Zq"

SHAPES = {
    "openai": "sk" + "-" + ALPHANUMERIC,
    "openai-project": "sk" + "-proj-" + ALPHANUMERIC[:20] + "_" + ALPHANUMERIC[5:30] + "-" + ALPHANUMERIC[:9],
    "anthropic": "sk" + "-ant-" + "api03-" + ALPHANUMERIC + "_" + ALPHANUMERIC + "-AA",
    "openrouter": "sk" + "-or-v1-" + HEX,
    "sk-live": "sk" + "-live-" + ALPHANUMERIC[:24],
    "stripe-live": "sk" + "_live_" + ALPHANUMERIC[:24],
    "stripe-restricted": "rk" + "_live_" + ALPHANUMERIC[:24],
    "ghp": "gh" + "p_" + ALPHANUMERIC[:36],
    "gho": "gh" + "o_" + ALPHANUMERIC[:36],
    "ghu": "gh" + "u_" + ALPHANUMERIC[:36],
    "ghs": "gh" + "s_" + ALPHANUMERIC[:36],
    "ghr": "gh" + "r_" + ALPHANUMERIC[:36],
    "github-fine-grained": "github" + "_pat_" + ALPHANUMERIC[:22] + "_" + ALPHANUMERIC + ALPHANUMERIC[:12],
    "slack-bot": "xox" + "b-" + "123456789012-1234567890123-" + ALPHANUMERIC[:24],
    "slack-user": "xox" + "p-" + "123456789012-1234567890123-" + ALPHANUMERIC[:24],
    "slack-app": "xapp" + "-1-A0123456789-" + "1234567890123-" + HEX,
    "aws": "AK" + "IA" + "Q3EGB7XWUZ2LN4TY",
    "aws-temporary": "AS" + "IA" + "Q3EGB7XWUZ2LN4TY",
    "google": "AI" + "za" + "SyD-" + ALPHANUMERIC[:31],
    "huggingface": "hf" + "_" + ALPHANUMERIC[:34],
    "npm": "npm" + "_" + ALPHANUMERIC[:36],
    "pypi": "pypi" + "-AgEIcHlwaS5vcmc" + ALPHANUMERIC * 2,
    "gitlab": "gl" + "pat-" + ALPHANUMERIC[:20],
    "jwt": "ey" + "JhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + ALPHANUMERIC[:43],
}


def pem(ending: str = "\n", *, cut: bool = False) -> str:
    lines = ["-----BEGIN RSA " + "PRIVATE KEY-----", ALPHANUMERIC + "+/aB" * 4, ALPHANUMERIC[::-1], "aB3="]
    return ending.join(lines if cut else [*lines, "-----END RSA " + "PRIVATE KEY-----"])


VALUE = "tulip" + "-Mango+42/kiosk?"
"""The value of a secret variable."""

LEFT = 12
"""So many characters of a secret in a row are too many."""


def bare(text: str) -> str:
    """Only letters and digits: whatever a part of a secret is written between, it is found."""
    return re.sub(r"[^A-Za-z0-9]", "", text)


def leaks(secret: str, text: str) -> list[str]:
    """The parts of a secret that a text has, however they are broken into lines."""
    digits, within = bare(secret), bare(text)
    parts = (digits[at : at + LEFT] for at in range(max(1, len(digits) - LEFT + 1)))
    return [part for part in parts if part in within]


def forms_of(number: int, secret: str) -> Iterator[str]:
    """How it is met: alone, in a command or quoted, and broken by a line's end; what there is of that takes turns."""
    yield secret
    yield (f"curl -H 'X-Api-Key: {secret}' https://h/?q={secret}&b=1", json.dumps({"a": f'"{secret}"\n'}))[number % 2]
    breaks = (("\n", 2), ("\n", 16), ("\r\n", 9), ("\\\n", 3), ("\\n", 12), ('" + "', -7))
    for gap, at in (breaks[number % 6], breaks[(number + 3) % 6]):
        yield f"say '{secret[:at]}{gap}{secret[at:]}'\nand go on"


def other_forms() -> Iterator[tuple[str, str]]:
    """Secrets that are known by where they stand, or that are written in another alphabet."""
    yield ACCESS, f"PASSWORD={ACCESS} make"
    yield ACCESS, f"postgres://me:{ACCESS}@db/x"
    yield ACCESS, json.dumps({"password": ACCESS})
    for text in (base64.b64encode(VALUE.encode()), base64.urlsafe_b64encode(b"me:" + VALUE.encode())):
        yield text.decode().rstrip("="), f"curl -d {text.decode()} h"
    yield quote(VALUE, safe=""), f"curl 'https://h/?t={quote(VALUE, safe='')}'"
    yield VALUE, "\u200b".join(VALUE)
    for ending in ("\n", "\r\n", "\\n"):
        yield pem().partition("\n")[2].partition("\n")[0], f"echo '{pem(ending)}' > k"


CANARIES = [
    *((secret, form) for number, secret in enumerate([*SHAPES.values(), VALUE]) for form in forms_of(number, secret)),
    *other_forms(),
]
