"""The table of `docs/shell-rules.md`, made from the cases that the tests hold the rules to."""

from __future__ import annotations

import json
from pathlib import Path

CASES = json.loads((Path(__file__).parent / "cases" / "shell_commands.json").read_text(encoding="utf-8"))
DOCS = Path(__file__).parents[1] / "docs" / "shell-rules.md"
START, END = "<!-- made by tests/shell_table.py -->", "<!-- end -->"


def _row(case: dict) -> str:
    shown = case["command"].replace("\n", "⏎").replace("|", "\\|")
    ticks = "``" if "`" in shown else "`"
    pad = " " if "`" in shown else ""
    return f"| {ticks}{pad}{shown}{pad}{ticks} | {', '.join(case['dangers']) or '–'} | {case['note']} |"


def tables() -> str:
    """Both tables, as Markdown."""
    head = "| command | dangers | |\n|---|---|---|\n"
    parts = []
    for title, cases in (("## What is told", CASES["commands"]), ("## What cannot be told", CASES["cannot"])):
        parts.append(f"{title}\n\n{head}" + "\n".join(_row(case) for case in cases))
    return "\n\n".join(parts)


def written() -> str:
    """The page with the tables as they should stand in it."""
    page = DOCS.read_text(encoding="utf-8")
    return page[: page.index(START)] + f"{START}\n\n{tables()}\n\n{END}" + page[page.index(END) + len(END) :]


if __name__ == "__main__":
    DOCS.write_text(written(), encoding="utf-8")
