"""Read back, from the lines that were on a screen, what a person could go by beside the action itself."""

from __future__ import annotations

from collections.abc import Sequence

GIVEN = "It is given the credential"
DOES = "What it would do:"
ALSO = "It would also:"
READ = "Read before:"
NAMED = "The evidence it names:"
DOUBTS = "Doubts about its words:"
EARLIER = "Earlier in this session:"
_TITLES = (DOES, ALSO, READ, NAMED, DOUBTS, EARLIER)


def given(names: Sequence[str]) -> str:
    """Say which credentials a tool gets."""
    return f"{GIVEN}{'s' if len(names) > 1 else ''} {', '.join(names)}"


def basis(shown: str | None, without: Sequence[str] = ()) -> tuple[tuple[str, str], ...]:
    """Return what stood under each of these titles, in one text each; () where nothing did, or nothing was shown."""
    parts: dict[str, list[str]] = {}
    items: list[str] | None = None
    for line in (shown or "").splitlines():
        if line in _TITLES:
            items = parts.setdefault(line, [])
        elif line.startswith(GIVEN):
            parts[GIVEN], items = [line.removeprefix(GIVEN).removeprefix("s").strip(" .")], None
        elif items is not None and line.startswith("> "):
            items.append(line[2:])
        elif items and line.startswith("| "):
            items[-1] += line[2:]
        else:
            items = None
    return tuple((title, "; ".join(items)) for title, items in parts.items() if items and title not in without)
