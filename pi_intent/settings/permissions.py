"""Check what a source says of capabilities: which tools touch them, and what is permitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from pi_intent.gates.permissions import CAPABILITY, KNOWN, RULINGS, Ruling
from pi_intent.settings.slips import misspelt
from pi_intent.settings.wording import nearest, shown

_MOST = 64


def permissions(value: object, where: str, warnings: list[str]) -> tuple[tuple[str, Ruling], ...] | None:
    """Return the rulings of a `[permissions]` table, and say what is wrong with those that do not count."""
    if not isinstance(value, Mapping):
        expected = 'a table of capabilities, such as { external_net = "ask" }'
        warnings.append(f"{where} is {shown(value)}, but must be {expected}.")
        return None
    if len(value) > _MOST:
        warnings.append(f"{where} has more than {_MOST} entries; the others do not count.")
    found: list[tuple[str, Ruling]] = []
    for name, ruling in list(value.items())[:_MOST]:
        if (fault := _fault(name)) is not None:
            warnings.append(f"{where} has {shown(name)}, {fault}")
        elif ruling not in RULINGS:
            guess = nearest(ruling, RULINGS) if isinstance(ruling, str) else None
            hint = f'; did you mean "{guess}"?' if guess else "."
            warnings.append(f'{where}.{name} is {shown(ruling)}, but must be "allow", "ask" or "deny"{hint}')
        else:
            found.append((name, cast(Ruling, ruling)))
    return tuple(found)


def capabilities(value: object, where: str, warnings: list[str]) -> tuple[str, ...] | None:
    """Return the capabilities of a list, and say what is wrong with those that do not count."""
    if not isinstance(value, list):
        warnings.append(f'{where} is {shown(value)}, but must be a list of capabilities, such as ["external_net"].')
        return None
    if len(value) > _MOST:
        warnings.append(f"{where} has more than {_MOST} entries; the others do not count.")
    found: list[str] = []
    for name in value[:_MOST]:
        if (fault := _fault(name)) is not None:
            warnings.append(f"{where} holds {shown(name)}, {fault}")
        else:
            found.append(name)
    return tuple(found)


def _fault(name: object) -> str | None:
    if not isinstance(name, str) or CAPABILITY.fullmatch(name) is None:
        return "which is no capability: small letters, digits and _, such as external_net."
    guess = None if name in KNOWN else misspelt(name, KNOWN)
    return f'which is so close to "{guess}" that it is probably meant: write that.' if guess else None
