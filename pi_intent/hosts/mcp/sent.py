"""A call as the client spelt it, and the line that the server gets of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from pi_intent.hosts.mcp import wire
from pi_intent.hosts.mcp.wire import Cut
from pi_intent.types import JSONObject

_ANSWERS = ("inputResponses", "requestState")
"""The parameters of a call that is sent again with answers."""


class SentCall(NamedTuple):
    """The message at `start` of a text, which has been read; `cuts` are those in the whole text.

    `first_answers` are the answers to the server with which the call was sent first, as JSON text, where it was sent
    again with answers to us.
    """

    text: str
    start: int
    message: dict[str, Any]
    cuts: list[Cut]
    first_answers: dict[str, str] | None = None

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the call."""
        params: dict[str, Any] = self.message["params"]
        return params

    @property
    def has_id(self) -> bool:
        """Whether the client expects an answer."""
        return "id" in self.message

    @property
    def raw_id(self) -> str:
        """The id as JSON text."""
        return wire.raw_member(self.text, self.start, "id") or "null"

    @property
    def line(self) -> bytes:
        """The call alone, with what is cut out of it."""
        piece = wire.piece(self.text, *wire.span(self.text, self.start), self.cuts)
        return wire.one_line(f"{piece}\n".encode())

    @property
    def answers(self) -> dict[str, str]:
        """What it holds of answers to the server, as JSON text."""
        if self.first_answers is not None:
            return self.first_answers
        at = self._params_at
        raw = {name: wire.raw_member(self.text, at, name) for name in _ANSWERS if name in self.params}
        return {name: value for name, value in raw.items() if value is not None}

    def with_answers(self, answers: dict[str, str]) -> SentCall:
        """Return the call with these answers in the place of those that it holds, which are to us."""
        at = self._params_at
        instead = [
            Cut(value, end, answers[key]) for key, _, value, end in wire.members(self.text, at) if key in answers
        ]
        gone = wire.without(self.text, at, tuple(name for name in _ANSWERS if name not in answers))
        return self._replace(cuts=sorted((*self.cuts, *instead, *gone)), first_answers=answers)

    def redeemed(self, before: JSONObject, after: JSONObject) -> SentCall:
        """Return the call with the texts of `after` in the place of the references of `before`."""
        changed = {name: text for name, text in after.items() if before.get(name) is not text}
        if not changed:
            return self
        at = wire.value_at(self.text, self.start, "params", "arguments")
        if at is None:
            return self
        if not isinstance(self.params.get("arguments"), dict):  # arguments that were sent as a text
            begin, end = wire.span(self.text, at)
            others = [cut for cut in self.cuts if not begin <= cut.start < end]
            return self._replace(cuts=sorted((*others, Cut(begin, end, wire.dumped(after)))))
        instead = [
            Cut(value, end, wire.dumped(changed[key]))
            for key, _, value, end in wire.members(self.text, at)
            if key in changed
        ]
        return self._replace(cuts=sorted((*self.cuts, *instead)))

    @property
    def _params_at(self) -> int:
        return wire.value_at(self.text, self.start, "params") or self.start
