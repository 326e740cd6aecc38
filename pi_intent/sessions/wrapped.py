"""Know from a session file itself which of its MCP tools carried our two fields, and take them out of their calls.

The proxy in front of a server adds `intent` and `rationale` to the tools it lists. An agent's session file holds no
list of tools as a rule, and an `intent` may be the tool's own argument. So a tool counts as ours from where the file
proves it: it shows the tool's schema with our mark, or a refusal in our words. Until then its arguments stay as they
are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, get_args

from pi_intent.contract.inject import our_properties
from pi_intent.descriptions import model_texts
from pi_intent.sessions.fields import identity, mapping, parsed, stated
from pi_intent.types import Code, JSONObject, JSONValue, Status

_MOST_TOOLS = 2_000
_BEGINNING = 400
"""Characters of a result in which a refusal begins and says what is wrong, whatever an agent puts before it."""


class Taken(NamedTuple):
    """What was taken out of a call's arguments, and whether its tool is known to carry it."""

    intent: str | None
    rationale: str | None
    args: JSONObject
    asked: bool


class WrappedTools:
    """The tools that are known to be behind our proxy, under the names that the agent gives them."""

    def __init__(self) -> None:
        self._fields: dict[str, frozenset[str]] = {}

    def learn(self, tool: str, parameters: JSONValue) -> None:
        """Take note of a tool's schema."""
        fields = our_properties(mapping(mapping(parameters).get("properties")))
        if fields and len(self._fields) < _MOST_TOOLS:
            self._fields[tool] = fields

    def refused(self, tool: str, text: str) -> tuple[Code, ...]:
        """Return what a refusal of ours says is wrong, and take note of the tool; () for any other text."""
        codes = refusal_codes(text)
        if codes and len(self._fields) < _MOST_TOOLS:
            self._fields.setdefault(tool, frozenset({"intent", "rationale"}))
        return codes

    def take(self, tool: str, args: JSONObject) -> Taken:
        """Part a call's arguments into our fields and the tool's own."""
        fields = self._fields.get(tool, frozenset())
        if not fields:
            return Taken(None, None, args, asked=False)
        rest = {name: value for name, value in args.items() if name not in fields}
        rationale = stated(args.get("rationale")) if "rationale" in fields else None
        return Taken(stated(args.get("intent")), rationale, rest, asked=True)


def refusal_codes(text: str) -> tuple[Code, ...]:
    """Return the codes of a refusal in our words; () for any other text."""
    opening, problems = our_words()
    at = text.find(opening, 0, _BEGINNING)
    if at < 0:
        return ()
    refusal = text[at : at + _BEGINNING]
    return tuple(code for code, problem in problems.items() if problem in refusal)


def listed_functions(text: str) -> Iterator[tuple[str, JSONValue]]:
    """Yield names and parameters of the tools that a search for tools has shown as `<function>{…}</function>`."""
    for piece in text.split("<function>")[1:]:
        function = mapping(parsed(piece.partition("</function>")[0]))
        name = identity(function.get("name"))
        if name is not None:
            yield name, function.get("parameters", function.get("input_schema"))


def held_up(text: str) -> Status | None:
    """Return how a call ended that was not let through, if a text says so in our words; None for any other text."""
    stopped, denied = _consent_words()
    if stopped.match(text):
        return "cancelled"
    return "denied" if denied.match(text) else None


@cache
def _consent_words() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return how our texts begin of a call that was stopped while somebody was asked, and of any other held up."""
    texts = model_texts()
    opening = texts.rejections["frame"].partition("{")[0]
    begins = {why: _pattern(text) for why, text in texts.consent.items() if text.startswith(opening)}
    stopped = begins.pop("stopped")
    return re.compile(stopped), re.compile("|".join(begins.values()))


def _pattern(template: str) -> str:
    """Return what the first sentence of a template matches once its braces are filled in."""
    first = re.split(r"[.;] ", template, maxsplit=1)[0]
    # Bounded, so that a text that is made for it does not take long.
    fills = {"tool": r"\S{1,200}?", "name": r"\S{1,200}?", "argument": r"\S{1,200}?"}
    return re.sub(r"\\{(\w+)\\}", lambda hole: fills.get(hole[1], r"[\s\S]{1,1000}?"), re.escape(first))


@cache
def our_words() -> tuple[str, dict[Code, str]]:
    """Return how a refusal of ours begins, and what it says of each thing that is wrong."""
    texts = model_texts()
    codes: tuple[Code, ...] = get_args(Code)
    return texts.rejections["frame"].partition("{")[0], {code: texts.problem(code) for code in codes}
