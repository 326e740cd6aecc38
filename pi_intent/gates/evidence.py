"""What a person can hold against the words of a call: what the session did before, read off its own record."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pi_intent.contract.rows import action_text, full_name
from pi_intent.gates.kinds import PARSER
from pi_intent.gates.rules import commands_of, first_of_each, paths_of
from pi_intent.gates.situation import Situation, Surroundings
from pi_intent.notes.words import files_in
from pi_intent.past import PastCall
from pi_intent.types import JSONObject, Status

MOST = 5
"""Lines of each part: a person reads them while they are held up."""

_MENTIONS = 4
_LONGEST = 4096

_NOT_READ = "not read in this session"
_UNREAD = f"not known, as what reads commands is not installed where this runs ({PARSER})"

_DOES = {
    "deletes": "deletes",
    "git_history": "rewrites or drops what git keeps",
    "publishes": "publishes",
    "network": "goes to the network",
    "installs": "installs software",
    "privileges": "takes higher rights",
    "system": "changes the system",
    "secrets": "touches secrets",
    "runs_fetched": "runs what it fetches",
    "opaque": "runs code that is not in the command",
    "recipe": "runs a recipe of the project",
    "outside_project": "writes outside the project",
    "infra": "changes infrastructure",
}


class Earlier(NamedTuple):
    """An earlier call that bears on this one: its tool, what it did, its end, and what it was said to be for."""

    tool: str
    action: str
    status: Status | None
    intent: str | None


class Evidence(NamedTuple):
    """The pack: each part a few lines, literal texts of the model among them.

    `does` says what the call does, with the piece of it that tells ('' for the whole call); `read` the files it
    touches and whether the session saw them before; `led` the calls before it; `pointers` the places that the
    rationale names, and whether they are there and were read; `notes` the doubts about its words.
    """

    does: tuple[tuple[str, str], ...] = ()
    read: tuple[tuple[str, str], ...] = ()
    led: tuple[Earlier, ...] = ()
    pointers: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def gather(
    arguments: JSONObject,
    situation: Situation,
    around: Surroundings,
    history: Sequence[PastCall],
    *,
    rationale: str | None,
    notes: Iterable[str],
) -> Evidence:
    """Return the evidence on a call, from the calls before it in their order. Never raises over what they hold."""
    seen = [call for call in history if call.status not in ("rejected", "denied")]
    return Evidence(
        does=_does(arguments, situation),
        read=tuple(_read(arguments, seen, situation, around))[:MOST],
        led=tuple(map(_earlier, list(history)[-3:])),
        pointers=_pointers(rationale, seen, situation, around),
        notes=tuple(notes)[:MOST],
    )


def _does(arguments: JSONObject, situation: Situation) -> tuple[tuple[str, str], ...]:
    found: dict[tuple[str, str], None] = {}
    for script, dangers in commands_of(arguments, situation):
        for danger in dangers:
            found[_DOES[danger.kind], danger.text] = None
        for unclear in script.unclear:
            if unclear.why == "no_parser":
                found[_UNREAD, ""] = None
                continue
            found["holds what cannot be read beforehand", unclear.text] = None
    return first_of_each(found, lambda one: one[0])[:MOST]


def _read(
    arguments: JSONObject, calls: Sequence[PastCall], situation: Situation, around: Surroundings
) -> Iterator[tuple[str, str]]:
    for path in paths_of(arguments)[:MOST]:
        seen = _seen(path, calls, situation)
        # Nobody can have read the file that a call makes; the question says that it is not there yet.
        if seen != _NOT_READ or situation.tool_name != "write" or around.exists(path):
            yield path, seen


def _seen(path: str, calls: Sequence[PastCall], situation: Situation) -> str:
    """Say what the session did with a file, most recent first."""
    wanted = _plain(path, situation)
    for back, call in enumerate(reversed(calls), start=1):
        if any(_plain(named, situation) == wanted for named in (*paths_of(call.args), *call.files)):
            done = {"read": "read", "write": "written", "edit": "edited"}.get(call.tool, f"touched by {call.tool}")
            return f"{done} {back} call{'' if back == 1 else 's'} before"
        if any(wanted.rsplit("/", 1)[-1] in word for word in _words(call)):
            return f"named in a command {back} call{'' if back == 1 else 's'} before"
    return _NOT_READ


def _words(call: PastCall) -> list[str]:
    command = call.args.get("command")
    return command[:_LONGEST].split() if isinstance(command, str) else []


def _plain(path: str, situation: Situation) -> str:
    return posixpath.normpath(posixpath.join(situation.cwd, path))


def _earlier(call: PastCall) -> Earlier:
    return Earlier(
        full_name(call.tool, call.tool_source), action_text(call.tool, call.args), call.status, call.intent
    )


def _pointers(
    rationale: str | None, calls: Sequence[PastCall], situation: Situation, around: Surroundings
) -> tuple[tuple[str, str], ...]:
    if rationale is None:
        return ()
    found: dict[str, str] = {}
    for mention in files_in(rationale[:_LONGEST]):
        path = mention.text.partition(":")[0].partition("#")[0]
        there = "is there" if around.exists(path) else "is not there"
        found[mention.text] = f"{there}, {_seen(path, calls, situation)}"
        if len(found) == _MENTIONS:
            break
    return tuple(found.items())
