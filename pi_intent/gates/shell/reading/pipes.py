"""What a stage of a pipe is given by those before it: code, statements, or the names of files."""

from __future__ import annotations

from dataclasses import replace

from pi_intent.gates.shell.databases import reads_statements
from pi_intent.gates.shell.inputs import reads_code, says_nothing
from pi_intent.gates.shell.reading.listed import handed, listed_by, takes_a_file
from pi_intent.gates.shell.running.inner import FETCHERS
from pi_intent.gates.shell.running.shells import SHELLS
from pi_intent.gates.shell.script import Command, Redirect, Word

_NOTHING = Redirect("<", Word("/dev/null", ("/dev/null",)))


def fed(givers: list[Command], takers: list[Command], said: str | None) -> tuple[list[Command], int]:
    """Return the commands of a stage with what they are given, and how many of them run what is said as their text.

    `said` is what the giver prints, where that is only one and its text tells.
    """
    if givers and all(map(says_nothing, givers)):
        takers = [replace(taker, redirects=(*taker.redirects, _NOTHING)) for taker in takers]
    takers = [_asked(taker, said, given=bool(givers)) for taker in _listed(givers, takers)]
    fetched = any(giver.program in FETCHERS for giver in givers)
    runs = 0
    for at, taker in enumerate(takers):
        if not reads_code(taker):
            continue
        if said is not None and not fetched and taker.program in SHELLS:
            runs += 1
        else:
            takers[at] = replace(taker, hidden="fetched" if fetched else "input")
    return takers, runs


def _asked(taker: Command, said: str | None, *, given: bool) -> Command:
    """A client of a database that is given its statements on its input: as a text, or as nobody knows what."""
    if not given or not reads_statements(taker):
        return taker
    if said is None:
        return replace(taker, hidden="input")
    return replace(taker, redirects=(*taker.redirects, Redirect("<<<", Word(said, (said,)))))


def _listed(givers: list[Command], takers: list[Command]) -> list[Command]:
    """A stage that hands on what the ones before it list: where those files are."""
    handing = [taker for taker in takers if taker.program in ("xargs", "parallel")]
    if not givers or not handing or any(map(takes_a_file, handing)):
        return takers
    paths = listed_by(givers)
    return [handed(taker, paths) for taker in takers]
