"""Count the rounds in a row in which a tool's calls were refused."""

from __future__ import annotations


class Rounds:
    """The rejections of one session, by tool.

    A round is one assistant message, however many calls of a tool in it were refused. The count goes back to 0 with
    the tool's first call that states an intent; a call that ran with a derived intent changes nothing.
    """

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, str]] = {}
        """By tool, the rounds in a row and the assistant message of the last one."""

    def upcoming(self, tool_name: str, group_id: str) -> int:
        """Return which round in a row a refusal in this assistant message would be, from 1."""
        rounds, group = self._counts.get(tool_name, (0, None))
        return rounds if group == group_id else rounds + 1

    def refused(self, tool_name: str, group_id: str) -> bool:
        """Count a refusal; return whether it opened a new round."""
        rounds, group = self._counts.get(tool_name, (0, None))
        if group == group_id:
            return False
        self._counts[tool_name] = (rounds + 1, group_id)
        return True

    def stated(self, tool_name: str) -> None:
        """Note a call that stated its intent: the tool starts afresh."""
        self._counts.pop(tool_name, None)
