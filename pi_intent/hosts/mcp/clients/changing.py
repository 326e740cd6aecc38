"""Change a client's configs: plan, replace, ask the client, and put back what it does not understand."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from pi_intent.errors import HostError
from pi_intent.hosts.mcp.clients.client import Client, Elsewhere, Look, Place, Scope, Surroundings
from pi_intent.hosts.mcp.clients.files import Changed, Snapshot, read, refusal, replace
from pi_intent.hosts.mcp.clients.plan import Plan, Planned, plan_install, plan_uninstall, servers_of
from pi_intent.hosts.mcp.clients.text import Malformed
from pi_intent.hosts.mcp.clients.wrapping import Launcher, wrapped

Verb = Literal["install", "uninstall"]
Action = Literal["changed", "unchanged", "failed"]

LOOK_SECONDS = 20.0
"""How long the client's own command may take in all, before and again after a change."""
_TRIES = 5


class UnknownServer(HostError):
    """A server was asked for that no config has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileResult:
    """What became of one file, or would: `verified` says who confirmed it, `unverified` why nobody did."""

    path: Path
    action: Action
    servers: tuple[Planned, ...] = ()
    before: str = ""
    after: str = ""
    verified: str = ""
    unverified: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What became of a client's configs. `looked_at` are the files that were looked for, `hints` sentences about
    servers in scopes that were not asked for."""

    files: tuple[FileResult, ...]
    looked_at: tuple[Path, ...]
    elsewhere: tuple[Elsewhere, ...]
    hints: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to do: `scopes` () stands for all but those that are shared, `only` () for all servers.

    `launchers` start pi-intent, from the user's own files and from shared ones.
    """

    verb: Verb
    launchers: tuple[Launcher, Launcher]
    scopes: tuple[Scope, ...] = ()
    only: tuple[str, ...] = ()
    dry_run: bool = False
    verify: bool = True


def change(client: Client, surroundings: Surroundings, request: Request) -> Report:
    """Wrap or unwrap the servers of a client. A file that cannot be changed is left alone and does not stop others.

    Raises `UnknownServer` for a name in `only` that nothing has, and `HostError` for a scope that the client lacks.
    """
    for scope in request.scopes:
        if scope not in client.scopes:
            raise HostError(f"{client.title} has no scope {scope}: it has {' and '.join(client.scopes)}")
    places = client.places(surroundings)
    chosen = [place for place in places if _is_chosen(place, request)]
    files: dict[str, list[Place]] = {}
    for place in chosen:
        files.setdefault(os.path.realpath(place.path), []).append(place)
    elsewhere = client.elsewhere(surroundings)
    _know(client, request, places, elsewhere)
    results = [_change_file(client, surroundings, request, group) for group in files.values()]
    return Report(
        files=tuple(result for result in results if result is not None and _is_meant(request, result)),
        looked_at=tuple(dict.fromkeys(place.path for place in chosen)),
        elsewhere=tuple(one for one in elsewhere if not request.only or one.name in request.only),
        hints=tuple(_hints(request, [place for place in places if place not in chosen])),
    )


def _is_chosen(place: Place, request: Request) -> bool:
    return place.scope in request.scopes if request.scopes else not place.is_shared


def _is_meant(request: Request, result: FileResult) -> bool:
    """Whether a file is worth a word: not where it holds none of the servers that were named."""
    return bool(result.servers) or not request.only or result.action == "failed"


def _know(client: Client, request: Request, places: Sequence[Place], elsewhere: Sequence[Elsewhere]) -> None:
    """Refuse names that nothing has; where a file cannot be read, they may be in there."""
    if not request.only:
        return
    here, everywhere = set[str](), {one.name for one in elsewhere}
    for place in places:
        try:
            snapshot = read(place.path)
            names = {server.name for server in servers_of(place, snapshot.text())} if snapshot is not None else set()
        except (HostError, Malformed):
            return
        everywhere |= names
        here |= names if _is_chosen(place, request) else set()
    here |= {one.name for one in elsewhere}
    for name in request.only:
        if name in here:
            continue
        if name in everywhere:
            scopes = [place.scope for place in places if not _is_chosen(place, request)]
            raise UnknownServer(f"{name!r} is a server of another scope: add --scope {scopes[-1]}")
        nearest = get_close_matches(name, sorted(everywhere), n=1)
        known = f"the servers are {', '.join(sorted(everywhere))}" if everywhere else "it has none here"
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"{known}."
        raise UnknownServer(f"{client.title} has no server {name!r}; {hint}")


def _hints(request: Request, others: Sequence[Place]) -> list[str]:
    """Say what lies in scopes that were not asked for, and how to ask."""
    if request.scopes:
        return []
    hints = []
    for place in others:
        try:
            snapshot = read(place.path)
            servers = servers_of(place, snapshot.text()) if snapshot is not None else []
        except (HostError, Malformed):
            continue
        asked_for = [
            server for server in servers if server.line and (not request.only or server.name in request.only)
        ]
        names = [one.name for one in asked_for if (wrapped(one) is not None) == (request.verb == "uninstall")]
        if names:
            hints.append(
                f"{place.path} is shared with everyone who has the project and was left alone "
                f"({', '.join(names)}): add --scope {place.scope} to {request.verb} there"
            )
    return hints


def _change_file(
    client: Client, surroundings: Surroundings, request: Request, places: Sequence[Place]
) -> FileResult | None:
    path = places[0].path
    try:
        for _ in range(_TRIES):
            snapshot = read(path)
            if snapshot is None:
                return None
            plan = _plan(client, request, places, snapshot)
            if plan.text == snapshot.text():
                return FileResult(path=path, action="unchanged", servers=plan.servers)
            try:
                return _carry_out(client, surroundings, request, snapshot, plan)
            except Changed:
                continue  # by its own program, in between: begin again with what it says now
        raise refusal(path, "keeps being changed by another program: end it and try again")
    except HostError as error:
        return FileResult(path=path, action="failed", error=str(error))


def _plan(client: Client, request: Request, places: Sequence[Place], snapshot: Snapshot) -> Plan:
    text = snapshot.text()
    try:
        if request.verb == "install":
            return plan_install(client, places, text, request.only, request.launchers)
        return plan_uninstall(places, text, request.only)
    except Malformed as error:
        raise refusal(snapshot.path, f"{error.sentence}; nothing in it was changed") from error


def _carry_out(
    client: Client, surroundings: Surroundings, request: Request, snapshot: Snapshot, plan: Plan
) -> FileResult:
    before = snapshot.text()
    verified, unverified = "", ""
    if not request.dry_run:
        looks = _Looks(client, surroundings, plan.servers) if request.verify else None
        known = looks.before(before) if looks is not None else {}
        locks = plan.servers[0].place.client_locks
        written = replace(snapshot, plan.text.encode(), client_locks=locks)
        if looks is not None:
            wrong = looks.wrong(plan.text, known)
            if wrong:
                _put_back(client, plan, written, snapshot, wrong, looks.failed)
            verified = looks.asked if known else ""
            unverified = looks.not_asked
    return FileResult(
        path=snapshot.path,
        action="changed",
        servers=plan.servers,
        before=before,
        after=plan.text,
        verified=verified,
        unverified=unverified,
    )


def _put_back(
    client: Client, plan: Plan, written: Snapshot, original: Snapshot, wrong: Collection[str], failed: str
) -> None:
    """Undo a change that the client does not understand, and say so by raising `HostError`."""
    names = ", ".join(sorted(wrong))
    said = f"{client.title} did not understand the change of {names}{f' ({failed})' if failed else ''}"
    try:
        replace(written, original.data, client_locks=plan.servers[0].place.client_locks)
    except Changed as error:
        raise refusal(
            original.path,
            f"was changed by another program just now, so it was not put back, though {said}: "
            f'see whether {client.title} still starts them, and run "pi-intent mcp uninstall" if not',
        ) from error
    raise refusal(original.path, f"was put back as it was, because {said}; --no-verify does without asking it")


class _Looks:
    """What the client's own command says before and after a change of its config."""

    def __init__(self, client: Client, surroundings: Surroundings, servers: Sequence[Planned]) -> None:
        self._look: Callable[[Place, str, Sequence[str]], Look] = lambda place, text, names: client.look(
            surroundings, place, text, names, timeout=LOOK_SECONDS
        )
        self._title = client.title
        self._groups: dict[Place, list[Planned]] = {}
        for server in servers:
            if server.is_changed:
                self._groups.setdefault(server.place, []).append(server)
        self.asked = ""
        self.not_asked = ""
        self.failed = ""

    def before(self, text: str) -> dict[Place, list[Planned]]:
        """Return the servers that the client shows as they are: only of those can it confirm a change."""
        known: dict[Place, list[Planned]] = {}
        for place, servers in self._groups.items():
            look = self._look(place, text, [server.name for server in servers])
            shown = [server for server in servers if look.lines.get(server.name) == server.before]
            if shown:
                known[place] = shown
                self.asked = look.asked
            if len(shown) < len(servers) and not self.not_asked:
                missing = ", ".join(server.name for server in servers if server not in shown)
                self.not_asked = look.not_asked or f"{look.asked} does not show {missing} as the file has it"
                if look.failed:
                    self.not_asked += "; it did so before the change, which therefore cannot be confirmed"
        return known

    def wrong(self, text: str, known: dict[Place, list[Planned]]) -> list[str]:
        """Return the servers that it showed before and does not show as they should be now."""
        wrong = []
        for place, servers in known.items():
            look = self._look(place, text, [server.name for server in servers])
            wrong += [server.name for server in servers if look.lines.get(server.name) != server.after]
            self.failed = self.failed or (look.not_asked if look.failed else "")
        return wrong
