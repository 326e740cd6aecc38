"""Lay the sources over one another; the project's goes on last and can only raise what it finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Literal

from pi_intent.gates.credentials import Credential
from pi_intent.gates.kinds import Match, Rule
from pi_intent.gates.permissions import RULINGS, Ruling
from pi_intent.gates.tiers import MODES, TIERS, AskMode, own_tier
from pi_intent.settings.rules import Settings, days_of
from pi_intent.settings.slips import misspelt
from pi_intent.settings.tool import ToolRule
from pi_intent.settings.wording import Idle, Lapse, Source, setting_path, shown
from pi_intent.types import STRICTNESS, Policy, Profile

_TOOL_KEYS = (
    "policy",
    "profile",
    "budget",
    "redact_args",
    "tier",
    "reason",
    "override",
    "check_in",
    "touches",
    "result_limit",
    "needs",
    "stores",
    "wants",
)
# No matter of strictness, and so the user's alone.
_LOOKS = ("live", "checkpoints", "tracing", "consent", "unattended", "result_limit", "credentials", "artifacts")
_LOOKS_OF_A_TOOL = ("result_limit", "needs", "stores", "wants")
_GENERAL_KEYS = ("policy", "profile", "budget", "redact_args", "check_in")  # also of all tools
KEYS = (*_GENERAL_KEYS, "strict", *_LOOKS, "keep", "ask", "permissions")
GUARDS = frozenset(
    (
        *("ask", "check_in", "permissions", "touches", "needs"),
        *("override", "tier", "unattended", "consent", "result_limit", "tools"),
    )
)
"""Keys that somebody counts on: where one does not count, less is held up or withheld than was meant."""

SAYS_WHEN = ("ask", "check_in", "override", "tier", "touches", "permissions", "tools")
"""The settings that say when somebody is asked: where one is misspelt, more may be meant, too."""

PROJECTS = "a rule of this project"
"""What a person reads of a rule that stands in the project's file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What one source says; None where it says nothing."""

    source: Source
    policy: Policy | None = None
    profile: Profile | None = None
    budget: int | None = None
    redact_args: bool | None = None
    strict: bool | None = None
    live: bool | None = None
    checkpoints: bool | None = None
    tracing: bool | None = None
    keep: str | None = None
    ask: AskMode | None = None
    check_in: tuple[Rule, ...] | None = None
    adds_check_in: bool = False
    """Whether its rules count beside those before it: some were misspelt, and those may have been meant to stay."""
    consent: Literal["both", "literal"] | None = None
    unattended: Literal["deny", "defer"] | None = None
    permissions: tuple[tuple[str, Ruling], ...] | None = None
    result_limit: int | None = None
    credentials: tuple[Credential, ...] | None = None
    artifacts: bool | None = None
    tools: tuple[ToolRule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The settings in force, where each came from, and a sentence for each that cannot take effect."""

    settings: Settings
    origins: dict[str, str]
    warnings: tuple[str, ...]


def merge(layers: Sequence[Layer], project: Layer | None) -> Merged:
    """Return what holds when each layer overrides those before it and the project raises the outcome."""
    settings = Settings(tools=tuple(rule for layer in layers for rule in layer.tools))
    origins = dict.fromkeys(KEYS, "default")
    for layer in layers:
        said = _said(layer, KEYS)
        if "permissions" in said:  # name by name, as settings go key by key
            said["permissions"] = tuple((dict(settings.permissions) | dict(said["permissions"])).items())
        before = settings.check_in, origins["check_in"]
        settings = replace(settings, **said)
        origins |= {key: layer.source.origin(key) for key in said}
        if layer.adds_check_in and before[0]:
            settings = replace(settings, check_in=tuple(dict.fromkeys((*before[0], *settings.check_in))))
            origins["check_in"] = " and ".join((before[1], *([origins["check_in"]] if layer.check_in else [])))
        for rule in layer.tools:
            origins |= {setting_path("tools", rule.pattern, key): rule.origin for key in _said(rule, _TOOL_KEYS)}
    refused: list[str] = []
    if project is not None:
        project = _without_looks(project, refused)
        settings = _raise(settings, project, origins, refused)
    idle = [sentence for layer in layers for sentence in _idle(layer, settings.tools + settings.floors)]
    idle += [sentence for layer in layers for sentence in _unknown_needs(layer, settings)]
    if settings.artifacts:
        idle += [sentence for layer in layers for sentence in _nowhere_stored(layer, settings)]
    else:
        idle += [sentence for layer in layers for sentence in _unstored(layer)]
        tools = tuple(replace(rule, stores=None, wants=None) for rule in settings.tools)
        settings = replace(settings, tools=tools)
    for layer in (*layers, *([project] if project else [])):
        idle += _unasked(layer, settings)
        idle += _untouched(layer, settings)
    return Merged(settings=settings, origins=origins, warnings=(*idle, *refused))


def _said(table: Layer | ToolRule, keys: tuple[str, ...]) -> dict[str, Any]:
    values = {key: getattr(table, key) for key in keys}
    return {key: value for key, value in values.items() if value is not None}


def _without_looks(project: Layer, warnings: list[str]) -> Layer:
    """Return the project's layer without its profiles and what else is no matter of strictness."""
    scopes: list[tuple[Layer | ToolRule, tuple[str, ...]]] = [(project, ())]
    scopes += [(rule, ("tools", rule.pattern)) for rule in project.tools]
    warnings += [
        f"{project.source.where(setting_path(*path, 'profile'))} does not count: "
        "a project's file only sets how strict to be. Choose the profile in your own config.toml."
        for table, path in scopes
        if table.profile is not None
    ]
    warnings += [
        f"{project.source.where(key)} does not count: set it in your own config.toml."
        for key in _said(project, _LOOKS)
    ]
    warnings += [
        f"{project.source.where(setting_path('tools', rule.pattern, key))} does not count: "
        "set it in your own config.toml."
        for rule in project.tools
        for key in _said(rule, _LOOKS_OF_A_TOOL)
    ]
    warnings += [
        f"{project.source.where(setting_path(*(path or ('check_in',))))} gives a reason, which does not count: "
        "what is read where a person decides is theirs to set."
        for table, path in scopes
        if _explains(table)
    ]
    of_a_tool: dict[str, Any] = dict.fromkeys(_LOOKS_OF_A_TOOL)
    tools = tuple(
        replace(
            rule,
            profile=None,
            reason=None,
            check_in=_unexplained(rule.check_in),
            **of_a_tool,
        )
        for rule in project.tools
    )
    looks: dict[str, Any] = dict.fromkeys(_LOOKS)
    return replace(project, profile=None, check_in=_unexplained(project.check_in), tools=tools, **looks)


def _explains(table: Layer | ToolRule) -> bool:
    matches = [rule for rule in table.check_in or () if isinstance(rule, Match)]
    return any(rule.reason for rule in matches) or (isinstance(table, ToolRule) and table.reason is not None)


def _unexplained(rules: tuple[Rule, ...] | None) -> tuple[Rule, ...] | None:
    """Put our words over a project's rules: no text of a cloned repository stands where a person decides."""
    return rules and tuple(replace(rule, reason=PROJECTS) if isinstance(rule, Match) else rule for rule in rules)


def _raise(settings: Settings, project: Layer, origins: dict[str, str], warnings: list[str]) -> Settings:
    path = project.source.name
    # Where nobody chose a policy, the host's default may be as lax as this for its own tools.
    now = {key: getattr(settings, key) for key in KEYS} | {"policy": settings.policy or "adaptive"}
    raised = _stricter(_said(project, KEYS), now, project.source, (), warnings)
    raised.pop("check_in", None)  # the floor adds its rules
    before = dict(settings.permissions)
    changed = tuple(name for name, ruling in raised.get("permissions", ()) if before.get(name) != ruling)
    settings = replace(settings, permissions_of_project=changed)
    if "permissions" in raised and settings.permissions:
        changes = dict(raised["permissions"]) != dict(settings.permissions)
        origins["permissions"] += f" and {path}" if changes else ""
    origins |= {key: path for key in raised if key != "permissions" or not settings.permissions}
    # The settings the user made for single tools are above the general ones: a floor reaches those too. It also
    # leaves `policy` None where the host's default may be stricter than what the project asks for.
    general = ToolRule(
        pattern="*",
        origin=path,
        policy=project.policy,
        budget=project.budget,
        redact_args=project.redact_args,
        check_in=project.check_in,
    )
    settings = replace(settings, **raised, floors=(general,))
    warnings += _idle_in_project(project, project.source, ())
    for rule in project.tools:
        server, _, name = rule.pattern.rpartition("/")
        current = settings.for_tool(name, tool_source=server or None, watched=False)
        now = {
            key: getattr(current, key)
            for key in ("policy", "profile", "budget", "redact_args", "check_in", "touches")
        }
        tiered = current.tier
        now["tier"] = own_tier(name, server or None) if tiered is None else tiered.tier
        now["override"] = tiered is not None and tiered.override
        keys = ("tools", rule.pattern)
        raised = _stricter(_said(rule, _TOOL_KEYS), now, project.source, keys, warnings)
        origins |= {setting_path(*keys, key): path for key in raised}
        warnings += _idle_in_project(rule, project.source, keys)
    return replace(settings, floors=(general, *project.tools))


def _stricter(
    asked: Mapping[str, Any], now: Mapping[str, Any], source: Source, path: tuple[str, ...], warnings: list[str]
) -> dict[str, Any]:
    """Return what is asked for above what holds now, and warn about what is below it."""
    raised = {}
    for key, value in asked.items():
        if key in ("check_in", "touches"):
            raised[key] = value  # adds to what is there
        elif key == "permissions":
            raised[key] = _stricter_permissions(dict(value), dict(now[key]), source, warnings)
        elif _height(key, value) > _height(key, now[key]):
            raised[key] = value
        elif _height(key, value) < _height(key, now[key]):
            warnings.append(
                f"{source.where(setting_path(*path, key))} asks for {shown(value)} where {shown(now[key])} holds; "
                "the project's file can only make this stricter."
            )
    return raised


def _stricter_permissions(
    asked: dict[str, Ruling], now: dict[str, Ruling], source: Source, warnings: list[str]
) -> tuple[tuple[str, Ruling], ...]:
    for name, ruling in asked.items():
        holds = now.get(name, "allow")
        if RULINGS.index(ruling) < RULINGS.index(holds):
            where = source.where(setting_path("permissions", name))
            warnings.append(
                f"{where} asks for {shown(ruling)} where {shown(holds)} holds; "
                "the project's file can only make this stricter."
            )
        else:
            now[name] = ruling
    return tuple(now.items())


def _height(key: str, value: Any) -> float:
    match key:
        case "policy":
            return STRICTNESS[value]
        case "ask":
            return MODES.index(value)
        case "tier":
            return TIERS.index(value)
        case "keep":
            return days_of(value) or inf  # what was recorded is there for longer
        case _:
            return int(value)


def _idle(layer: Layer, rules: tuple[ToolRule, ...]) -> Iterator[str]:
    """Say which of a layer's settings its own policy, in the same scope, leaves without effect."""
    yield from _idle_in_scope(layer, layer.source, (), {rule.policy for rule in rules})
    for rule in layer.tools:
        yield from _idle_in_scope(rule, layer.source, ("tools", rule.pattern), set())


def _idle_in_scope(
    table: Layer | ToolRule, source: Source, path: tuple[str, ...], elsewhere: set[Policy | None]
) -> Iterator[str]:
    # General settings still reach a tool whose own rule only changes the policy.
    if table.policy is None:
        return
    policies = elsewhere | {table.policy}
    beside = f'has no effect beside the policy "{table.policy}"'
    rule = source.where(setting_path(*path))
    if table.budget is not None and "adaptive" not in policies:
        said = f'{source.where(setting_path(*path, "budget"))} {beside}: only "adaptive" counts rounds.'
        yield Idle(said, rule)
    if table.profile is not None and policies <= {"derive", "omit", None}:
        said = f"{source.where(setting_path(*path, 'profile'))} {beside}: the tool's schema is left alone."
        yield Idle(said, rule)
    if "unstated" in (table.check_in or ()) and policies - {None} == {"require"}:
        said = f'{source.where(setting_path(*path, "check_in"))}: "unstated" {beside}'
        yield Idle(f"{said}: a call without an intent is refused, and nobody is asked.", rule)


def _unknown_needs(layer: Layer, settings: Settings) -> Iterator[str]:
    known = {credential.name for credential in settings.credentials}
    for rule in layer.tools:
        for name in rule.needs or ():
            if name not in known:
                where = layer.source.where(setting_path("tools", rule.pattern, "needs"))
                yield (
                    f"{where} names {shown(name)}, which is not defined: set credentials.{name}; "
                    "until then calls of the tool are refused."
                )


def _unstored(layer: Layer) -> Iterator[str]:
    for rule in layer.tools:
        for key in _said(rule, ("stores", "wants")):
            where = layer.source.where(setting_path("tools", rule.pattern, key))
            yield f"{where} does not count: nothing is stored in any session; set artifacts = true."


def _nowhere_stored(layer: Layer, settings: Settings) -> Iterator[str]:
    stored = {kind for rule in settings.tools for kind in rule.stores or ()}
    for rule in layer.tools:
        for argument, kind in rule.wants or ():
            if kind not in stored:
                where = layer.source.where(setting_path("tools", rule.pattern, "wants", argument))
                yield f"{where} wants {shown(kind)}, which no tool stores: set stores of the tool that makes it."


def _unasked(layer: Layer, settings: Settings) -> Iterator[str]:
    """Say which tiers, and reasons for them, nobody will ever be asked because of."""
    tiered = any(rule.tier is not None or rule.override for rule in settings.tools)
    for rule in layer.tools:
        where = layer.source.where(setting_path("tools", rule.pattern))
        if rule.tier is not None and not rule.override and settings.ask == "none":
            yield Idle(f'{where}.tier has no effect while ask is "none": set ask to "exec", "write" or "all".', where)
        elif rule.reason is not None and not tiered:
            yield Idle(f"{where}.reason has no effect: it is shown where tier or override is set.", where)


def _untouched(layer: Layer, settings: Settings) -> Iterator[str]:
    """Say what is ruled on, and touched under a name that is so close to it that it is probably meant."""
    ruled = dict(settings.permissions)
    for rule in layer.tools:
        for name in rule.touches or ():
            guess = None if name in ruled else misspelt(name, ruled)
            if guess is not None and ruled[guess] != "allow":
                where = layer.source.where(setting_path("tools", rule.pattern, "touches"))
                hint = f"which nothing rules on; did you mean {shown(guess)}?"
                yield Lapse(f"{where} holds {shown(name)}, {hint}", "touches")


def _idle_in_project(table: Layer | ToolRule, source: Source, path: tuple[str, ...]) -> Iterator[str]:
    # Below "require" the user's own policy may be the stricter one, "adaptive", and then the budget counts.
    if table.policy == "require":
        yield from _idle_in_scope(table, source, path, set())
