"""Decide what becomes of each server of a config, and of the config's text."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pi_intent.hosts.mcp.clients.client import Client, Place
from pi_intent.hosts.mcp.clients.json_config import json_meaning, json_servers
from pi_intent.hosts.mcp.clients.text import Edit, Malformed, Server, apply
from pi_intent.hosts.mcp.clients.toml_config import toml_meaning, toml_servers
from pi_intent.hosts.mcp.clients.wrapping import (
    Launcher,
    Wrapped,
    relaunch,
    unwrap,
    why_not,
    wrap,
    wrapped,
)

State = Literal["wrapped", "relaunched", "unwrapped", "already", "plain", "left"]
"""What becomes of a server.

`wrapped`, `unwrapped`: changed · `relaunched`: was wrapped by a pi-intent that is gone, and gets the present one ·
`already`: is wrapped · `plain`: is not · `left`: should have been changed and cannot be, for a reason.
"""

_MOST_LAYERS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One server: its state, why where that needs a reason, and its command line before and after."""

    place: Place
    name: str
    state: State
    reason: str = ""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Whether the config says something else of it than before."""
        return self.state in ("wrapped", "relaunched", "unwrapped")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a config is to say, and the servers of it that were asked for."""

    text: str
    servers: tuple[Planned, ...]


def servers_of(place: Place, text: str) -> list[Server]:
    """Return the servers of one set. Raises `Malformed`."""
    return toml_servers(text, place.keys) if place.shape == "toml" else json_servers(text, place.keys)


def plan_install(
    client: Client, places: Iterable[Place], text: str, only: Collection[str], launchers: tuple[Launcher, Launcher]
) -> Plan:
    """Wrap what can be; `launchers` start pi-intent for the user and for everyone. Raises `Malformed`."""
    planned: list[Planned] = []
    edits: list[Edit] = []
    for place, server in _asked_for(places, text, only):
        launcher = launchers[1] if place.is_shared else launchers[0]
        found = wrapped(server)
        if found is not None:
            made = relaunch(server, found, launcher, place.shape) if is_gone(found) else []
            state: State = "relaunched" if made else "already"
            reason = found.why or ("" if made or not is_gone(found) else f"{found.launcher} is not there any more")
        else:
            reason = refused(client, server) or ""
            made = [] if reason else wrap(text, server, launcher, place.shape)
            state = "left" if reason else "wrapped"
        edits += made
        planned.append(Planned(place=place, name=server.name, state=state, reason=reason, before=server.line))
    return _checked(text, apply(text, edits), planned)


def plan_uninstall(places: Sequence[Place], text: str, only: Collection[str]) -> Plan:
    """Take pi-intent away wherever it is, however often. Raises `Malformed`."""
    planned: list[Planned] = []
    for place, server in _asked_for(places, text, only):
        found = wrapped(server)
        state: State = "plain" if found is None else "left" if found.real is None else "unwrapped"
        reason = f"{found.why}: take that out by hand" if found is not None and found.why else ""
        planned.append(Planned(place=place, name=server.name, state=state, reason=reason, before=server.line))
    now = text
    for _ in range(_MOST_LAYERS):
        edits = [
            edit
            for _, server in _asked_for(places, now, only)
            if (found := wrapped(server)) is not None
            for edit in unwrap(now, server, found)
        ]
        if not edits:
            break
        now = apply(now, edits)
    return _checked(text, now, planned)


def refused(client: Client, server: Server) -> str | None:
    """Say why a server that is not wrapped cannot be, None where it can."""
    there = os.path.isabs(server.command or "") and os.path.isfile(server.command or "")
    return why_not(server, file_exists=there) or client.why_not(server)


def is_gone(found: Wrapped) -> bool:
    """Whether the pi-intent that a config names is not there; one on PATH cannot be told."""
    return os.path.isabs(found.launcher) and not os.path.exists(found.launcher)


def _asked_for(places: Iterable[Place], text: str, only: Collection[str]) -> list[tuple[Place, Server]]:
    return [
        (place, server) for place in places for server in servers_of(place, text) if not only or server.name in only
    ]


def _checked(before: str, after: str, planned: list[Planned]) -> Plan:
    """Read the new text again: it must say the same of everything but the command lines that were to change."""
    lines = {
        (place.keys, server.name): server.line
        for place in {one.place.keys: one.place for one in planned}.values()
        for server in servers_of(place, after)
    }
    done = tuple(
        Planned(
            place=one.place,
            name=one.name,
            state=one.state,
            reason=one.reason,
            before=one.before,
            after=lines.get((one.place.keys, one.name), ()),
        )
        for one in planned
    )
    changed = {(*one.place.keys, one.name) for one in done if one.is_changed}
    toml = any(one.place.shape == "toml" for one in done)
    meaning: Callable[[str], object] = toml_meaning if toml else json_meaning
    if before != after and _without(meaning(before), (), changed) != _without(meaning(after), (), changed):
        raise Malformed(None, "has a form that pi-intent cannot change without changing more")
    if any(one.before != one.after for one in done if not one.is_changed):
        raise Malformed(None, "has a form that pi-intent cannot change without changing more")
    return Plan(text=after, servers=done)


def _without(meaning: object, path: tuple[str, ...], changed: set[tuple[str, ...]]) -> object:
    """Return what a config says but for the command lines of some servers."""
    match meaning:
        case dict():
            pairs = [*meaning.items()]
        case ("object", [*pairs]):
            pass
        case _:
            return meaning
    if path in changed:
        pairs = [(key, value) for key, value in pairs if key not in ("command", "args")]
    deepest = max(map(len, changed), default=0)
    if len(path) >= deepest:
        return pairs
    return [(key, _without(value, (*path, key), changed)) for key, value in pairs]
