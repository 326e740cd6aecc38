"""What is no setting: what it may have meant, and whether that was to guard something."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pi_intent.gates.kinds import RULE_WORDS
from pi_intent.gates.tiers import MODES
from pi_intent.settings.layers import GUARDS, SAYS_WHEN
from pi_intent.settings.slips import misspelt
from pi_intent.settings.wording import Lapse, Source, nearest, setting_path, shown

_MOST_NAMED = 5
_MOST_LOOKED_AT = 256
_DEEPEST = 3


def told(sentence: str, key: str | None) -> str:
    """Return a sentence as what it is, by the key that does not count."""
    return Lapse(sentence, key) if key in GUARDS else sentence


def unknown_keys(
    data: Mapping[str, object], known: tuple[str, ...], source: Source, path: tuple[str, ...], warnings: list[str]
) -> list[str]:
    """Return a few unknown keys, those that may guard first; more are counted, as there may be thousands."""
    unknown = [str(key) for key in data if key not in known]
    if len(unknown) > _MOST_NAMED:
        where = source.where(setting_path(*path)) if path else source.name
        sentence = f"{where} has {len(unknown)} unknown keys; the first {_MOST_NAMED} are named here."
        # Nobody looks through as many as that.
        warnings.append(told(sentence, "tools" if len(unknown) > _MOST_LOOKED_AT else None))
        unknown = sorted(unknown[:_MOST_LOOKED_AT], key=lambda key: meant(key, data.get(key), known) not in GUARDS)
    return unknown[:_MOST_NAMED]


def at_the_top(key: str, value: object, source: Source, known: tuple[str, ...], of_a_tool: tuple[str, ...]) -> str:
    """Return the sentence on a key at the top of a source that is none of the settings."""
    where = source.where(setting_path(key))
    if key == "off":
        return f"{source.where(key)} cannot be set here; set PI_INTENT=off in the environment."
    if key in of_a_tool:
        return told(f"{where} is a setting of one tool; write it in [tools.NAME].", key)
    lost = meant(key, value, known)
    guess = lost or nearest(key, known)
    hint = f'did you mean "{guess}"?' if guess else f"the settings are {', '.join(known)}."
    return told(f"{where} is not a setting; {hint}", lost)


def in_a_tool(
    key: str, value: object, pattern: str, source: Source, known: tuple[str, ...], top: tuple[str, ...]
) -> str:
    """Return the sentence on a key in the table of a tool that is none of a tool's settings."""
    where = source.where(setting_path("tools", pattern, key))
    if key in top:
        return told(f"{where} cannot be set for one tool; set it at the top of the file.", key)
    lost = meant(key, value, known) or misspelt(pattern, SAYS_WHEN)
    if guess := lost if lost in known else nearest(key, known):
        return told(f'{where} is not a setting of a tool; did you mean "{guess}"?', lost)
    if isinstance(value, str | Mapping):
        # TOML reads github.search without quotes as a table in a table.
        quoted = shown(f"{pattern}/{key}")
        sentence = f"{where} is not a setting of a tool; a tool of a server is written in quotes: {quoted}."
    else:
        sentence = f"{where} is not a setting of a tool; those are {', '.join(known)}."
    return told(sentence, lost)


def meant(key: str, value: object, known: Iterable[str]) -> str | None:
    """Return the setting that a key was meant to be, by its name but for a slip, or by what stands there."""
    if (guess := misspelt(key.lower().removeprefix("pi_intent_"), known)) is not None:
        return guess
    if _is_list_of_rules(value):
        return "check_in"
    return "tools" if asks(value) else None


def asks(value: object, depth: int = 0) -> bool:
    """Whether a table has keys by which a person is asked, also further down."""
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return False
    for key, said in list(value.items())[:_MOST_LOOKED_AT]:
        is_set = key in ("check_in", "override") or (key == "ask" and said in MODES[1:])
        if said and (is_set or asks(said, depth + 1)):
            return True
    return False


def _is_list_of_rules(value: object) -> bool:
    return isinstance(value, list) and value != [] and all(one in RULE_WORDS for one in value[:_MOST_LOOKED_AT])
