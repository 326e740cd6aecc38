"""Check what a person says of artifacts: which tools may store them, and which arguments may refer to them."""

from __future__ import annotations

from collections.abc import Mapping

from pi_intent.contract.rows import ROWS
from pi_intent.gates.artifacts import KIND
from pi_intent.settings.wording import shown

_MOST = 64
_SHAPE = "small letters, digits, - and _, such as page"


def stored(value: object, where: str, warnings: list[str]) -> tuple[str, ...] | None:
    """Return the kinds of a tool's `stores`."""
    if not isinstance(value, list):
        warnings.append(f'{where} is {shown(value)}, but must be a list of kinds, such as ["page"].')
        return None
    wrong = [kind for kind in value if not isinstance(kind, str) or KIND.fullmatch(kind) is None]
    warnings += [f"{where} holds {shown(kind)}, which is no kind: {_SHAPE}." for kind in wrong[:_MOST]]
    return tuple(kind for kind in value[:_MOST] if kind not in wrong)


def wanted(value: object, where: str, tool: str, warnings: list[str]) -> tuple[tuple[str, str], ...] | None:
    """Return a tool's `wants`: the kind by the name of the argument."""
    if not isinstance(value, Mapping):
        expected = 'a table of arguments and kinds, such as { url = "page" }'
        warnings.append(f"{where} is {shown(value)}, but must be {expected}.")
        return None
    row = ROWS.get(tool)
    found = []
    for name, kind in list(value.items())[:_MOST]:
        if not isinstance(kind, str) or KIND.fullmatch(kind) is None:
            warnings.append(f"{where}.{name} is {shown(kind)}, which is no kind: {_SHAPE}.")
        elif row is not None and name not in (*row.required, *row.optional):
            warnings.append(f"{where}.{name} can never count: {tool} takes no {name}.")
        else:
            found.append((name, kind))
    return tuple(found)
