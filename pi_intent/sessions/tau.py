"""Read the session files of Tau."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pi_intent.sessions.fields import word
from pi_intent.sessions.lines import Numbered
from pi_intent.sessions.moments import moment
from pi_intent.sessions.pi_ends import BLOCKED, End
from pi_intent.sessions.stated import Stated
from pi_intent.sessions.transcript import Transcript, seconds_as_ms
from pi_intent.sessions.undeclared import Undeclared
from pi_intent.sessions.values import Found, Head, Unread
from pi_intent.types import JSONObject


def is_ours(first: Sequence[JSONObject]) -> bool:
    """Tell by its first objects whether a file is Tau's: entries in snake case, without a header."""
    if any(entry.get("type") == "session" for entry in first):
        return False
    return any(
        (entry.get("type") == "session_info" and "created_at" in entry)
        or (isinstance(entry.get("type"), str) and "parent_id" in entry and isinstance(entry.get("id"), str))
        for entry in first
    )


def read(items: Iterable[Numbered | Unread]) -> Iterator[Found]:
    """Yield what a Tau session tells.

    The file holds neither the session's id nor the schemas of its tools. An `intent` counts for the four tools of the
    contract and for a tool that turns out not to exist, as `Undeclared` says. Tau runs a command that fails without
    calling it an error; it is one here, as it is for a live call.
    """
    return _Tau().read(items)


class _Tau(Transcript):
    def __init__(self) -> None:
        super().__init__()
        self._undeclared = Undeclared()

    def head(self, entry: JSONObject) -> Head | None:
        return Head(session=None, cwd=word(entry.get("cwd")), started=moment(entry.get("created_at")))

    def stated(self, tool: str, block: JSONObject) -> tuple[Stated, Stated | None]:
        return self._undeclared.stated(tool, block)

    def ran(self, message: JSONObject) -> bool | None:
        details = message.get("details")
        return True if isinstance(details, dict) and "exit_code" in details else None

    def end(self, text: str, message: JSONObject) -> End:
        # A call that a hook blocks is no error to Tau, and has no details.
        if message.get("isError") is not True and not message.get("details") and text.startswith(BLOCKED):
            return End("denied")
        return super().end(text, message)

    def duration(self, message: JSONObject) -> int | None:
        details = message.get("details")
        return seconds_as_ms(details.get("duration_seconds")) if isinstance(details, dict) else None
