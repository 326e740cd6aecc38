"""Count the rounds in a row in which a tool's calls were refused."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class _Count:
    rounds: int = 0
    group: str | None = None


@dataclass(slots=True)
class Rounds:
    """The rejections of one session, by tool.

    A round is one assistant message, however many calls of a tool in it were refused. The count goes back to 0 with
    the tool's first call that states an intent; a call that ran with a derived intent changes nothing.
    """

    _counts: dict[str, _Count] = field(default_factory=dict)

    def upcoming(self, tool_name: str, group_id: str) -> int:
        """Return which round in a row a refusal in this assistant message would be, from 1."""
        count = self._counts.get(tool_name, _Count())
        return count.rounds if count.group == group_id else count.rounds + 1

    def refused(self, tool_name: str, group_id: str) -> bool:
        """Count a refusal; return whether it opened a new round."""
        count = self._counts.setdefault(tool_name, _Count())
        if count.group == group_id:
            return False
        count.rounds += 1
        count.group = group_id
        return True

    def stated(self, tool_name: str) -> None:
        """Note a call that stated its intent: the tool starts afresh."""
        self._counts.pop(tool_name, None)

    @property
    def by_tool(self) -> dict[str, int]:
        """The rounds in a row of each tool that has any."""
        return {tool: count.rounds for tool, count in self._counts.items()}
