"""The demo's session as data: a rounding bug, a first repair that is wrong, and one that holds.

The intents are meant to be read as examples: a goal each, and for a look or a test run the claim it tests and what
would change the conclusion. The rationale names the evidence, and is left out where it has just been seen.
"""

from __future__ import annotations

from typing import Literal

from pi_intent.cli.demo.model import ScriptedCall, Turn
from pi_intent.types import JSONObject, Status

PROMPT = "50 % off 9.93 comes out as 4.96 on the receipt, the shop's rule says 4.97. Please fix it."

_DISCOUNT = '''"""Prices in whole cents."""


def with_discount(cents: int, percent: int) -> int:
    """Return the price after a discount, to the nearest cent, halves up."""
    return {expression}
'''

_CUT = "int(cents * (1 - percent / 100))"
_ROUNDED = "round(cents * (1 - percent / 100))"
_WHOLE = "(cents * (100 - percent) + 50) // 100"

PRICES = _DISCOUNT.format(expression=_CUT)
REPAIRED = _DISCOUNT.format(expression=_WHOLE)

_TESTS = """import unittest

from prices import with_discount


class Discounts(unittest.TestCase):
    def test_less_than_half_a_cent_is_dropped(self) -> None:
        self.assertEqual(with_discount(1999, 10), 1799)

    def test_half_a_cent_goes_up_to_an_even_cent(self) -> None:
        self.assertEqual(with_discount(995, 50), 498)

    def test_half_a_cent_goes_up_to_an_odd_cent(self) -> None:
        self.assertEqual(with_discount(993, 50), 497)
"""

FILES = {"prices.py": PRICES, "test_prices.py": _TESTS}
"""The project before the session."""

# -B: a repair of the same size in the same second would otherwise run the old bytecode.
_RUN_TESTS = "python3 -B -m unittest -q"

FINAL = (
    "Discounts now round halves up: prices.py computes in whole cents and all three tests pass. "
    "round() was not enough, it sends 496.5 to the even 496."
)


def _replace(old: str, new: str) -> JSONObject:
    return {"path": "prices.py", "edits": [{"oldText": f"return {old}", "newText": f"return {new}"}]}


def _turn(tool: Literal["read", "edit", "bash"], arguments: JSONObject, *, text: str = "") -> Turn:
    return Turn(text=text, calls=(ScriptedCall(name=tool, arguments=arguments),))


SCRIPT = (
    _turn(
        "read",
        {
            "intent": "Find out whether the discount cuts cents off; a rounding step in there would clear it",
            "rationale": "The user: 50 % off 9.93 gives 4.96 where the shop's rule gives 4.97",
            "path": "prices.py",
        },
        text="I start where the price is computed.",
    ),
    _turn("edit", _replace(_CUT, _ROUNDED)),
    _turn(
        "edit",
        {
            "intent": "Round the discounted price to the nearest cent instead of cutting it off",
            "rationale": "prices.py:6 ends in int(), which drops the half cent",
            **_replace(_CUT, _ROUNDED),
        },
    ),
    _turn(
        "bash",
        {
            "intent": "Test that half a cent now goes up; one failing case means that round() follows another rule",
            "command": _RUN_TESTS,
        },
    ),
    _turn(
        "edit",
        {
            "intent": "Make halves go up without exception by computing in whole numbers",
            "rationale": "The failing test: 496.5 became 496, so round() prefers the even neighbour",
            **_replace(_ROUNDED, _WHOLE),
        },
    ),
    _turn(
        "bash",
        {
            "intent": "Prove the repair on all three cases; a failure would put the rule itself in doubt",
            "command": _RUN_TESTS,
        },
    ),
    Turn(text=FINAL),
)

EXPECTED: tuple[tuple[str, Status], ...] = (
    ("read", "ok"),
    ("edit", "rejected"),
    ("edit", "ok"),
    ("bash", "error"),
    ("edit", "ok"),
    ("bash", "ok"),
)
"""Tool and status of every call, in order."""
