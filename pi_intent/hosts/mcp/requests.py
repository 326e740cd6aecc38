"""Remember what the client has asked and the server has not answered."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from pi_intent.pipeline import OpenCall

type Kind = Literal["other", "list", "own list", "call", "task result", "task cancel"]

_KINDS: dict[object, Kind] = {
    "tools/list": "list",
    "tools/call": "call",
    "tasks/result": "task result",
    "tasks/cancel": "task cancel",
}


class Asked(NamedTuple):
    """One request. `opened` is the call that it made, `detail` what its answer has to be read with:

    the cursor of a list, the id of a task, the tool and the state of a call.
    """

    kind: Kind
    opened: OpenCall | None = None
    detail: Any = None


class Requests:
    """The requests without an answer, by the ids that the client gave them."""

    def __init__(self) -> None:
        self._open: dict[object, Asked] = {}

    def __len__(self) -> int:
        return len(self._open)

    def add(self, request_id: object, asked: Asked) -> Asked | None:
        """Note a request; return the one of the same id whose answer can no longer be told from its own."""
        displaced = self._open.get(_key(request_id))
        self._open[_key(request_id)] = asked
        return displaced

    def take(self, request_id: object) -> Asked | None:
        """Return a request that is answered or called off, and forget it; None for any other id."""
        return self._open.pop(_key(request_id), None)

    def lists_are_open(self) -> bool:
        """Whether a list of tools is on its way."""
        return any(asked.kind in ("list", "own list") for asked in self._open.values())

    def forget_own(self) -> None:
        """Wait for no list of ours any more."""
        self._open = {key: asked for key, asked in self._open.items() if asked.kind != "own list"}


def same_id(one: object, other: object) -> bool:
    """Whether two messages speak of one request; a server may spell `1.0` as `1`."""
    return bool(_key(one) == _key(other))


def asked_by(method: object, params: object) -> Asked:
    """Say what kind of request a method makes."""
    detail = params.get("taskId", params.get("cursor")) if isinstance(params, dict) else None
    return Asked(_KINDS.get(method, "other") if isinstance(method, str) else "other", detail=detail)


def _key(request_id: object) -> object:
    plain = isinstance(request_id, str | int | float) and not isinstance(request_id, bool)
    return request_id if plain else ("", repr(request_id))
