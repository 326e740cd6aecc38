"""Say what holds for one tool: the most specific rule of the user, raised by every rule of the project."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pi_intent.gates.credentials import Credential
from pi_intent.gates.kinds import Match, Rule, rule_name
from pi_intent.gates.naming import alike, covers, tool_names
from pi_intent.gates.permissions import Ruling
from pi_intent.gates.tiers import MODES, TIERS, AskMode, Tiered, own_tier
from pi_intent.settings.slips import is_slip
from pi_intent.settings.tool import ToolRule, ToolSettings
from pi_intent.settings.wording import ASKED_MEANWHILE, Idle, nearest, setting_path, shown, shown_table
from pi_intent.types import STRICTNESS, Policy, Profile

DEFAULT_BUDGET = 3
"""Rounds of rejection under `adaptive` before a call runs without an intent."""

FOREVER = "forever"

_DAYS = {"d": 1, "w": 7}
_MOST_DIGITS = 5

MOST_UNMATCHED = 3
"""Rules without a tool that a session names one by one: a cloned project may hold any number."""

MORE_UNMATCHED = "more rules match no tool; pi-intent doctor tells all"
"""The end of the sentence that stands for the rules without a tool that a session does not name."""

_MEANWHILE: AskMode = "write"
"""From which tier on a person is asked where something that is to guard does not count."""

_MOST_NAMED = 4
"""Rules that are named where it is said what asks."""

_TOLD = "policy"
"""A setting for all tools where one for a tool is expected: that is told when it is read."""

_CACHED_TOOLS = 1024
"""A host has tens of tools; the bound is for one that makes up names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that was set, in force for a session.

    `policy` and `profile` are None where nobody chose and the host's default holds. `tools` are the user's rules,
    sources in ascending order of precedence. `floors` are the project's: they raise what the user's side says and
    never lower it. `ask`, `check_in`, `consent` and `unattended` say when a person is asked before a call runs, what
    they are shown, and what holds where nobody can be asked; `permissions` rule on what tools touch. `keep` says how
    long the ledger is kept: "forever", or such as "90d" or "12w". With `off` nothing of pi-intent may take part in
    the session.
    """

    policy: Policy | None = None
    profile: Profile | None = None
    budget: int = DEFAULT_BUDGET
    redact_args: bool = False
    strict: bool = False
    live: bool = True
    checkpoints: bool = False
    tracing: bool = False
    keep: str = FOREVER
    ask: AskMode = "none"
    check_in: tuple[Rule, ...] = ()
    consent: Literal["both", "literal"] = "both"
    unattended: Literal["deny", "defer"] = "deny"
    permissions: tuple[tuple[str, Ruling], ...] = ()
    permissions_of_project: tuple[str, ...] = ()
    """Those of them that the project's file says."""
    credentials: tuple[Credential, ...] = ()
    artifacts: bool = False
    result_limit: int | None = None
    tools: tuple[ToolRule, ...] = ()
    floors: tuple[ToolRule, ...] = ()
    off: bool = False
    meanwhile: str | None = None
    """Why `ask` is higher than anybody set it: what is to guard and does not count."""
    _known: dict[tuple[str, str | None, bool, Profile, bool], ToolSettings] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def can_ask(self) -> bool:
        """Whether a person may be asked about any call."""
        tables = (*self.tools, *self.floors)
        return (
            self.ask != "none"
            or bool(self.check_in)
            or bool(self.permissions)
            or any(rule.check_in or rule.override or rule.needs or rule.wants for rule in tables)
        ) and not self.off

    @property
    def asking(self) -> str:
        """What a person may be asked because of, in a few words; '' where nothing is set."""
        from pi_intent.facts import many  # only who is told has a use for them
        from pi_intent.labels.printable import printable

        tables = (*self.tools, *self.floors)
        rules = dict.fromkeys((*self.check_in, *(rule for table in tables for rule in table.check_in or ())))
        named = [printable(rule_name(rule), width=40) for rule in rules]
        more = len(named) - _MOST_NAMED
        said = [f"ask = {self.ask}"] if self.ask != "none" else []
        said = [f"{said[0]} ({self.meanwhile})"] if self.meanwhile else said
        said += named[:_MOST_NAMED] + ([many(more, "more rule")] if more > 0 else [])
        counted = (
            (sum(bool(rule.override) for rule in tables), "override"),
            (sum(ruling != "allow" for _, ruling in self.permissions), "permission"),
        )
        said += [many(number, what) for number, what in counted if number]
        return ", ".join(said)

    def asking_meanwhile(self, why: str) -> Settings:
        """Return the settings as they hold while something that is to guard does not count: `why` says what."""
        if MODES.index(self.ask) >= MODES.index(_MEANWHILE):
            return self
        return replace(self, ask=_MEANWHILE, meanwhile=why)

    def for_tools(self, tool_names: Collection[str]) -> Settings:
        """Return the settings as they hold in a session that has these tools, named as for `unmatched`."""
        told = self.for_session(tool_names).unmatched(tool_names)
        lost = next((sentence.rule for sentence in told if isinstance(sentence, Idle) and sentence.guards), None)
        return self if lost is None else self.asking_meanwhile(f"{lost} matches no tool")

    @property
    def may_bound(self) -> bool:
        """Whether results of any tool may be withheld or stored."""
        return self.result_limit is not None or any(
            rule.result_limit is not None or rule.needs or rule.stores for rule in self.tools
        )

    def for_tool(
        self,
        tool_name: str,
        *,
        tool_source: str | None = None,
        watched: bool,
        profile: Profile = "lean",
        is_shadow: bool = False,
    ) -> ToolSettings:
        """Return what holds for a tool; cheap enough to ask for each call.

        `tool_source` is the server or extension that supplied the tool (None: the host itself), `watched` whether
        a person follows the session, `profile` the host's default. `is_shadow` says that the tool has the name of one
        of the host's own, and is asked for its intent as that one is.
        """
        key = (tool_name, tool_source, watched, profile, is_shadow)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _CACHED_TOOLS:
                self._known.clear()
            known = self._known[key] = self._resolve(*key)
        return known

    def _resolve(
        self, tool_name: str, tool_source: str | None, watched: bool, profile: Profile, is_shadow: bool
    ) -> ToolSettings:
        names = tool_names(tool_name, tool_source)
        policy = self.policy or _host_default(None if is_shadow else tool_source, watched)
        profile = self.profile or profile
        budget, redact_args = self.budget, self.redact_args
        tier, reason, override, check_in = own_tier(tool_name, tool_source), None, False, self.check_in
        is_set, floor_tier, floor_override = False, TIERS[0], False
        touches: tuple[str, ...] = ()
        needs: tuple[str, ...] = ()
        stores: tuple[str, ...] = ()
        wants: dict[str, str] = {}
        result_limit = self.result_limit
        # Ascending, so that the most specific rule has the last word on each key; among equals the later source.
        for rule in sorted((rule for rule in self.tools if rule.matches(names)), key=lambda rule: rule.specificity):
            policy = rule.policy or policy
            profile = rule.profile or profile
            budget = rule.budget or budget
            redact_args = redact_args if rule.redact_args is None else rule.redact_args
            is_set |= not (rule.tier is None and rule.override is None)
            tier, reason = rule.tier or tier, rule.reason or reason
            override = override if rule.override is None else rule.override
            check_in += rule.check_in or ()  # every rule asks, not the most specific one alone
            touches += rule.touches or ()
            needs += rule.needs or ()
            stores += rule.stores or ()
            wants |= dict(rule.wants or ())
            result_limit = rule.result_limit or result_limit
        # All that match, not the most specific: a narrow rule of a project must not shadow its own wider one either.
        for floor in (floor for floor in self.floors if floor.matches(names)):
            policy = stricter(policy, floor.policy or policy)
            budget = max(budget, floor.budget or budget)
            redact_args = redact_args or bool(floor.redact_args)
            floor_tier = max(floor_tier, floor.tier or floor_tier, key=TIERS.index)
            floor_override = floor_override or bool(floor.override)
            check_in += floor.check_in or ()
            touches += floor.touches or ()
        return ToolSettings(
            policy="omit" if self.off else policy,
            profile=profile,
            budget=budget,
            redact_args=redact_args,
            tier=Tiered(tier, reason, override) if is_set else None,
            floor=Tiered(floor_tier, None, floor_override) if floor_tier != TIERS[0] or floor_override else None,
            check_in=tuple(dict.fromkeys(check_in)),
            touches=tuple(dict.fromkeys(touches)),
            needs=tuple(dict.fromkeys(needs)),
            stores=tuple(dict.fromkeys(stores)),
            wants=tuple(wants.items()),
            result_limit=result_limit,
        )

    def naming(self, servers: Iterable[str]) -> Settings:
        """Return the patterns alone that name a tool of one of these servers, by the server's name."""
        names = set(servers)
        return self._only(lambda pattern: _server_of(pattern) in names)

    def for_session(self, tool_names: Iterable[str]) -> Settings:
        """Return the patterns without those that name a server, by its name, which these tools are none of.

        They are for other agents; one whose name is much like that of a server here is not left out.
        """
        servers = {_server_of(name) for name in tool_names} - {""}

        def concerns(pattern: str) -> bool:
            server = _server_of(pattern)
            is_literal = bool(server) and not set(server) & set("*?")
            return not is_literal or covers(server, servers) or nearest(server, servers) is not None

        return self._only(concerns)

    def _guards(self, rule: ToolRule) -> bool:
        """Whether a rule may have a person asked."""
        tiered = rule.tier is not None and self.ask != "none"
        return bool(rule.check_in or rule.override or tiered or (rule.touches and self.permissions))

    def _is_guarded(self, tool_name: str) -> bool:
        """Whether a rule for this tool, and not for all, may have a person asked."""
        names = (tool_name, tool_name.rpartition("/")[2])
        lists = (self.check_in, *(floor.check_in or () for floor in self.floors))
        named = (rule.tool for rules in lists for rule in rules if isinstance(rule, Match) and rule.tool is not None)
        tables = (rule for rule in self.tools + self.floors if rule.pattern != "*" and self._guards(rule))
        return any(covers(pattern, names) for pattern in named) or any(rule.matches(names) for rule in tables)

    def _only(self, keeps: Callable[[str], bool]) -> Settings:
        """Return the patterns that are to be kept, and beside them only what says whether they guard."""

        def kept(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
            return tuple(rule for rule in rules if not isinstance(rule, Match) or keeps(rule.tool or ""))

        return Settings(
            ask=self.ask,
            permissions=self.permissions,
            tools=tuple(rule for rule in self.tools if keeps(rule.pattern)),
            floors=tuple(
                replace(floor, check_in=kept(floor.check_in or ())) for floor in self.floors if keeps(floor.pattern)
            ),
            check_in=kept(self.check_in),
        )

    def unmatched(self, tool_names: Iterable[str], *, most: int | None = None) -> tuple[str, ...]:
        """Return a sentence for each pattern, of `[tools]` or of a check-in, that covers none of these tools.

        A tool that is not the host's own is given as `server/tool`; its plain name counts as well. Beyond `most`, one
        more sentence gives the number of the others.
        """
        forms = [(name, name.rpartition("/")[2]) for name in tool_names]
        # What a pattern may have meant: a name in either form, or all the tools of a server.
        meant = {form for names in forms for form in names} | {
            name[: -len(plain)] + "*" for name, plain in forms if name != plain
        }
        named = [(f"{rule.origin}: {setting_path('tools', rule.pattern)}", rule) for rule in self.tools + self.floors]
        named += [
            (
                f"check_in: {shown_table(_given(rule))}",
                ToolRule(pattern=rule.tool, origin="check_in", check_in=(rule,)),
            )
            for rules in (self.check_in, *(floor.check_in or () for floor in self.floors))
            for rule in rules
            if isinstance(rule, Match) and rule.tool is not None
        ]
        sentences: list[Idle] = []
        for where, rule in named:
            if rule.pattern in ("*", _TOLD) or any(rule.matches(names) for names in forms):
                continue
            guess = _meant_by(rule.pattern, sorted(meant))
            hint = f"did you mean {shown(guess)}?" if guess else "this session has none of a similar name."
            guards = guess is not None and self._guards(rule) and _is_close(rule.pattern, guess)
            if guards and guess is not None and self._is_guarded(guess):
                guards = False  # who has a rule for that tool as well means another one, of another agent
            hint += f" It is to guard, so {ASKED_MEANWHILE}" if guards else ""
            sentences.append(Idle(f"{where} matches no tool; {hint}", where, guards=guards))
        ordered = sorted(dict.fromkeys(sentences), key=lambda sentence: not sentence.guards)
        told: tuple[str, ...] = tuple(ordered)
        if most is None or len(told) <= most:
            return told
        return (*told[:most], f"{len(told) - most} {MORE_UNMATCHED}")


def without_unmatched(warnings: Iterable[str], unmatched: Iterable[str]) -> list[str]:
    """Return the warnings without those on what has no effect in a rule that, as is told, matches no tool."""
    lost = {sentence.rule for sentence in unmatched if isinstance(sentence, Idle)}
    return [told for told in warnings if not (isinstance(told, Idle) and told.rule in lost)]


def _meant_by(pattern: str, known: Sequence[str]) -> str | None:
    """Return which of the known names a pattern may have meant: of a server that is known, by the tool's name."""
    server, tool = _server_of(pattern), pattern.rpartition("/")[2]
    of_it = {name.rpartition("/")[2]: name for name in known if server and alike(_server_of(name)) == alike(server)}
    if (guess := nearest(tool, of_it)) is not None:
        return of_it[guess]
    return nearest(pattern, [name for name in known if name not in of_it.values()])


def _is_close(pattern: str, name: str) -> bool:
    """Whether a pattern is a name, or all the tools of a server, but for a slip."""
    parts = zip(pattern.rpartition("/")[::2], name.rpartition("/")[::2], strict=True)
    return all(meant == "*" or is_slip(written, meant) for written, meant in parts)


def _server_of(pattern: str) -> str:
    """Return the server that a pattern names literally, or ''."""
    return pattern.rpartition("/")[0]


def _given(rule: Match) -> dict[str, object]:
    said = {"tool": rule.tool, "runs": rule.runs, "path": rule.path}
    return {key: value for key, value in said.items() if value is not None}


def days_of(age: str) -> int | None:
    """Return the days of an age such as "90d" or "12w", at least 1; None for what is no such age."""
    number, unit = age[:-1], age[-1:]
    # A month and a minute share their letter, and what is removed is gone: neither is read.
    if unit not in _DAYS or not (number.isascii() and number.isdigit() and len(number) <= _MOST_DIGITS):
        return None
    return int(number) * _DAYS[unit] or None


def stricter(one: Policy, other: Policy) -> Policy:
    """Return the stricter of two policies."""
    return max(one, other, key=STRICTNESS.__getitem__)


def _host_default(tool_source: str | None, watched: bool) -> Policy:
    # A tool that is not the host's own was not written with an intent in mind: asking is all we do.
    if tool_source is not None:
        return "optional"
    return "require" if watched else "adaptive"
