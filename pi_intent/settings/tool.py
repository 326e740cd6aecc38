"""What is said of one tool: an entry of a `[tools]` table, and what all of them come to for its calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pi_intent.gates.kinds import Rule
from pi_intent.gates.naming import covers
from pi_intent.gates.tiers import Tier, Tiered
from pi_intent.types import Policy, Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRule:
    """One entry of a `[tools]` table; None where it says nothing.

    `pattern` is a name or a glob as it was written, `origin` the file or the words "command line".
    """

    pattern: str
    origin: str
    policy: Policy | None = None
    profile: Profile | None = None
    budget: int | None = None
    redact_args: bool | None = None
    tier: Tier | None = None
    reason: str | None = None
    override: bool | None = None
    check_in: tuple[Rule, ...] | None = None
    touches: tuple[str, ...] | None = None
    needs: tuple[str, ...] | None = None
    stores: tuple[str, ...] | None = None
    wants: tuple[tuple[str, str], ...] | None = None
    result_limit: int | None = None

    def matches(self, names: Iterable[str]) -> bool:
        """Whether the pattern covers one of a tool's names."""
        return covers(self.pattern, names)

    def of_server(self, server: str) -> bool:
        """Whether the pattern is one of a tool of this server, by the server's name."""
        named = self.pattern.rpartition("/")[0]
        return bool(named) and covers(named, (server,))

    @property
    def specificity(self) -> tuple[bool, int]:
        """Sorts an exact name after every glob, and a longer literal part after a shorter one."""
        literal = self.pattern.replace("*", "").replace("?", "")
        return literal == self.pattern, len(literal)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """What holds for the calls of one tool."""

    policy: Policy
    profile: Profile
    budget: int
    redact_args: bool
    tier: Tiered | None = None
    """What is set of its tier; None where nothing is, and what its author declares holds."""
    floor: Tiered | None = None
    """What the project raises that to, whoever said it."""
    check_in: tuple[Rule, ...] = ()
    touches: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    wants: tuple[tuple[str, str], ...] = ()
    """The kind of artifact that an argument may refer to, by the argument's name."""
    result_limit: int | None = None
    """Bytes of a result that a model may get; None for any number."""

    @property
    def bounds_results(self) -> bool:
        """Whether anything is set that withholds or stores results of the tool."""
        return self.result_limit is not None or bool(self.needs) or bool(self.stores)
