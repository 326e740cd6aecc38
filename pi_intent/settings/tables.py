"""Check what one source says and keep what is right: the only module of the settings that loads pydantic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from pi_intent.gates.kinds import Rule
from pi_intent.gates.naming import alike
from pi_intent.gates.tiers import MODES, TIERS, AskMode, Tier
from pi_intent.settings.artifacts import stored, wanted
from pi_intent.settings.asking import check_ins
from pi_intent.settings.credentials import credentials, needed
from pi_intent.settings.layers import GUARDS, SAYS_WHEN, Layer
from pi_intent.settings.permissions import capabilities, permissions
from pi_intent.settings.rules import FOREVER, days_of
from pi_intent.settings.slips import misspelt
from pi_intent.settings.tool import ToolRule
from pi_intent.settings.unknown import asks, at_the_top, in_a_tool, told, unknown_keys
from pi_intent.settings.wording import Lapse, Source, nearest, setting_path, shown
from pi_intent.types import STRICTNESS, Policy, Profile

MAX_RULES = 256
"""Per source. Each costs a little when a tool is first asked about, and a project chooses how many there are."""

_MAX_PATTERN = 200
_STAY = "The rules of your file stay in force."

_ASKING_WORDS = ("ask", "always", "deny")
"""What is written behind a tool by who means that a person is to be asked."""
_WORDS: dict[str, tuple[str, ...]] = {
    "policy": tuple(reversed(STRICTNESS)),
    "profile": get_args(Profile),
    "keep": (FOREVER,),
    "ask": MODES,
    "tier": TIERS,
    "consent": ("both", "literal"),
    "unattended": ("deny", "defer"),
}
_EXPECTED = {
    **{
        key: " or ".join((", ".join(map(shown, words[:-1])), shown(words[-1])))
        for key, words in _WORDS.items()
        if len(words) > 1
    },
    "budget": "a whole number from 1 to 100",
    "redact_args": "true or false",
    "strict": "true or false",
    "artifacts": "true or false",
    "override": "true or false",
    "result_limit": "a whole number of bytes, at least 1024",
    "reason": "a text",
    "live": "true or false",
    "checkpoints": "true or false",
    "tracing": "true or false",
    "keep": '"forever", or a number of days or weeks such as "90d" or "12w"',
}


def _age(text: str) -> str:
    if text != FOREVER and days_of(text) is None:
        raise ValueError(text)
    return text


class _ToolTable(BaseModel):
    policy: Policy | None = None
    profile: Profile | None = None
    budget: Annotated[int, Field(ge=1, le=100)] | None = None
    redact_args: bool | None = None
    result_limit: Annotated[int, Field(ge=1024, le=1_000_000_000)] | None = None


class _OneTool(_ToolTable):
    tier: Tier | None = None
    reason: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    override: bool | None = None


class _TopTable(_ToolTable):
    strict: bool | None = None
    live: bool | None = None
    checkpoints: bool | None = None
    tracing: bool | None = None
    keep: Annotated[str, AfterValidator(_age)] | None = None
    ask: AskMode | None = None
    consent: Literal["both", "literal"] | None = None
    unattended: Literal["deny", "defer"] | None = None
    artifacts: bool | None = None


_TOOL_KEYS = (*_OneTool.model_fields, "check_in", "touches", "needs", "stores", "wants")
_TOP_KEYS = (*_TopTable.model_fields, "check_in", "permissions", "credentials", "tools")


def read_layer(data: Mapping[str, object], source: Source, *, typed: bool) -> tuple[Layer, list[str]]:
    """Return what counts of a source, and a sentence for each thing that does not.

    `typed` is for a format that has numbers and booleans of its own; otherwise "5" and "yes" are read as well.
    """
    warnings: list[str] = []
    data = _moved_up(data, source, typed, warnings)
    unknown = unknown_keys(data, _TOP_KEYS, source, (), warnings)
    warnings += [at_the_top(key, data[key], source, _TOP_KEYS, _TOOL_KEYS) for key in unknown]
    top = _checked(_TopTable, data, source, (), typed, warnings)
    rules, is_faulty = _general_check_ins(data, source, typed, warnings)
    layer = Layer(
        source=source,
        policy=top.policy,
        profile=top.profile,
        budget=top.budget,
        redact_args=top.redact_args,
        strict=top.strict,
        live=top.live,
        checkpoints=top.checkpoints,
        tracing=top.tracing,
        keep=top.keep,
        ask=top.ask,
        check_in=rules,
        adds_check_in=is_faulty and not typed,
        consent=top.consent,
        unattended=top.unattended,
        permissions=_read(permissions, "permissions", data, source, (), warnings),
        result_limit=top.result_limit,
        artifacts=top.artifacts,
        credentials=credentials(data["credentials"], source.where("credentials"), warnings)
        if "credentials" in data
        else None,
        tools=tuple(_rules(data.get("tools"), source, typed, warnings)),
    )
    return layer, warnings


def _moved_up(data: Mapping[str, object], source: Source, typed: bool, warnings: list[str]) -> Mapping[str, object]:
    """Return a source with the settings for all tools that stand below `[tools]` put where they belong.

    A tool could be called like a setting, so only what is no entry for a tool, or is a right value of the setting, is
    put there. `policy` reads the same in both places and stays.
    """
    tools = data.get("tools")
    if not isinstance(tools, Mapping):
        return data
    moved: dict[str, object] = {}
    for key in (key for key in _TOP_KEYS if key in tools and key != "tools"):
        said = tools[key]
        right = said not in ({}, "") and not read_layer({key: said}, source, typed=typed)[1]
        if not right and isinstance(said, str | Mapping):
            continue
        here = f"{source.where(key)} is a setting for all tools"
        move = f"write [{key}]" if isinstance(said, Mapping) else "move it above [tools]"
        if key == "policy":
            warnings.append(f"{here}: {move}; below it, it is for a tool that is called so.")
        elif key in data:
            moved[key] = data[key]
            warnings.append(
                told(f"{here} and stands above [tools] as well: what stands below it does not count.", key)
            )
        else:
            moved[key] = said
            warnings.append(f"{here}: {move}" + ("; until then it counts as if it stood there." if right else "."))
    left = {pattern: said for pattern, said in tools.items() if pattern not in moved}
    return {**data, **moved, "tools": left}


def _rules(tools: object, source: Source, typed: bool, warnings: list[str]) -> Iterable[ToolRule]:
    if tools is None:
        return
    if not isinstance(tools, Mapping):
        wrong = f"{source.where('tools')} is {shown(tools)}, but must be a table of tool names."
        warnings.append(Lapse(wrong, "tools"))
        return
    seen: dict[str, str] = {}
    for number, (pattern, said) in enumerate(tools.items()):
        if number == MAX_RULES:
            said_of = f"{source.where('tools')} has more than {MAX_RULES} entries; the others do not count."
            warnings.append(Lapse(said_of, "tools"))
            return
        if not isinstance(pattern, str) or not pattern.strip() or len(pattern) > _MAX_PATTERN:
            bad_key = f"has the key {shown(pattern)}, but a key must be the name of a tool or a glob."
            warnings.append(told(f"{source.where('tools')} {bad_key}", "tools" if asks(said) else None))
            continue
        path = ("tools", pattern)
        where = source.where(setting_path(*path))
        if alike(pattern) in seen:
            first = shown(seen[alike(pattern)])
            warnings.append(f"{where} names the same tools as {first}, - and _ being alike; keep one of them.")
        seen[alike(pattern)] = pattern
        touches: tuple[str, ...] | None = None
        needs: tuple[str, ...] | None = None
        stores: tuple[str, ...] | None = None
        wants: tuple[tuple[str, str], ...] | None = None
        if isinstance(said, Mapping):
            unknown = unknown_keys(said, _TOOL_KEYS, source, path, warnings)
            warnings += [in_a_tool(key, said[key], pattern, source, _TOOL_KEYS, _TOP_KEYS) for key in unknown]
            table = _checked(_OneTool, said, source, path, typed, warnings)
            rules = _check_ins(said, source, path, pattern, warnings)
            if "stores" in said:
                stores = stored(said["stores"], source.where(setting_path(*path, "stores")), warnings)
            if "wants" in said:
                found: list[str] = []
                wants = wanted(said["wants"], source.where(setting_path(*path, "wants")), pattern, found)
                # What follows the table of wants is in it, as TOML reads it.
                warnings += [told(sentence, "tools" if asks(said["wants"]) else None) for sentence in found]
            needs = _read(needed, "needs", said, source, path, warnings)
            touches = _read(capabilities, "touches", said, source, path, warnings)
        elif isinstance(said, str):
            # The short form: the sentence about a bad one names what was written, not `policy`.
            found = []
            table = _checked(_OneTool, {"policy": said}, source, path, typed, found, short=True)
            is_lost = said in _ASKING_WORDS or misspelt(pattern, SAYS_WHEN) is not None
            warnings += [told(sentence, "tools" if is_lost else None) for sentence in found]
            rules = None
        else:
            wrong = f"{where} is {shown(said)}, but must be {_EXPECTED['policy']}, or a table of settings."
            is_lost = pattern in GUARDS or said is True or isinstance(said, list)
            warnings.append(told(wrong, "tools" if is_lost else None))
            continue
        yield ToolRule(
            pattern=pattern,
            origin=source.name,
            policy=table.policy,
            profile=table.profile,
            budget=table.budget,
            redact_args=table.redact_args,
            tier=table.tier,
            reason=table.reason,
            override=table.override,
            check_in=rules,
            touches=touches,
            needs=needs,
            stores=stores,
            wants=wants,
            result_limit=table.result_limit,
        )


def _general_check_ins(
    data: Mapping[str, object], source: Source, typed: bool, warnings: list[str]
) -> tuple[tuple[Rule, ...] | None, bool]:
    """Return the rules for all tools, and whether any of them does not count.

    Where a variable has such a one, it is told that the rules of the file stay.
    """
    found: list[str] = []
    rules = _check_ins(data, source, (), None, found)
    if found and not typed:
        found[-1] = told(f"{found[-1]} {_STAY}", "check_in")
    warnings += found
    return rules, bool(found)


def _check_ins(
    data: Mapping[str, object], source: Source, path: tuple[str, ...], tool: str | None, warnings: list[str]
) -> tuple[Rule, ...] | None:
    def read(value: object, where: str, warnings: list[str]) -> tuple[Rule, ...] | None:
        return check_ins(value, where, tool, warnings)

    return _read(read, "check_in", data, source, path, warnings)


def _read[T](
    read: Callable[[object, str, list[str]], T | None],
    key: str,
    data: Mapping[str, object],
    source: Source,
    path: tuple[str, ...],
    warnings: list[str],
) -> T | None:
    """Read a value that is more than a word or a number; None where nothing is said."""
    if key not in data:
        return None
    found: list[str] = []
    value = read(data[key], source.where(setting_path(*path, key)), found)
    warnings += [told(sentence, key) for sentence in found]
    return value


def _checked[T: _ToolTable](
    table: type[T],
    data: Mapping[str, object],
    source: Source,
    path: tuple[str, ...],
    typed: bool,
    warnings: list[str],
    *,
    short: bool = False,
) -> T:
    values = {key: data[key] for key in table.model_fields if key in data}
    try:
        return table.model_validate(values, strict=typed)
    except ValidationError as error:
        wrong = {
            str(problem["loc"][0])
            for problem in error.errors(include_url=False, include_context=False, include_input=False)
        }
    for key in (key for key in values if key in wrong):
        where = source.where(setting_path(*path) if short else setting_path(*path, key))
        value = values[key]
        guess = nearest(value, _WORDS.get(key, ())) if isinstance(value, str) else None
        hint = f'; did you mean "{guess}"?' if guess else "."
        warnings.append(told(f"{where} is {shown(value)}, but must be {_EXPECTED[key]}{hint}", key))
    return table.model_validate({key: value for key, value in values.items() if key not in wrong}, strict=typed)
