"""What somebody who adds intents to an agent may choose, and the settings that come of it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pi_intent.errors import SettingsError
from pi_intent.gates.question import Asker
from pi_intent.labels.printable import printable
from pi_intent.settings import Settings, ToolRule, ToolSettings, load_settings, project_root
from pi_intent.settings.rules import MOST_UNMATCHED
from pi_intent.types import STRICTNESS, Policy

DEFAULT_POLICY: Policy = "adaptive"
"""Whoever adds intents wants them, so they are asked for; nobody watches a library, so nothing may loop for ever."""

MOST_SAID = 1000
"""Sentences that are remembered as said: a server may run for months, on tools whose names are made up."""

_LONGEST = 1000
_log = logging.getLogger("pi_intent")
_said: set[str] = set()


def tell_once(sentence: str) -> None:
    """Log a sentence as a warning, once a process: an agent is run again and again."""
    if sentence not in _said and len(_said) < MOST_SAID:
        _said.add(sentence)
        _log.warning(printable(sentence, width=_LONGEST))  # it may quote what others wrote


@dataclass(frozen=True, kw_only=True)
class Options:
    """The choices; see `Intents` for what each means."""

    policy: Policy | None = None
    tools: tuple[str, ...] = ()
    exempt: tuple[str, ...] = ()
    session_id: str | None = None
    cwd: Path | None = None
    ledger: bool = True
    asker: Asker | None = None
    defer: bool | None = None

    @classmethod
    def of(
        cls,
        *,
        policy: Policy | None,
        tools: Sequence[str],
        exempt: Sequence[str],
        session_id: str | None,
        cwd: str | Path | None,
        ledger: bool,
        asker: Asker | None,
        defer: bool | None,
    ) -> Options:
        """Take the choices as they were written. Raises `SettingsError` for one that there is not."""
        if policy is not None and policy not in STRICTNESS:
            raise SettingsError(f"there is no policy {policy!r}: use one of {', '.join(reversed(STRICTNESS))}")
        if session_id is not None and not isinstance(session_id, str):
            raise SettingsError(f"session_id must be text, and is {session_id!r}")
        if asker is not None and not isinstance(asker, Asker):
            raise SettingsError(f"asker must have a method ask(question), and is {asker!r}")
        return cls(
            policy=policy,
            tools=_patterns(tools),
            exempt=_patterns(exempt),
            session_id=session_id,
            cwd=None if cwd is None else Path(cwd),
            ledger=ledger,
            asker=asker,
            defer=defer,
        )

    @property
    def folder(self) -> Path:
        """The directory whose project the ledger and the settings belong to; never raises."""
        if self.cwd is not None:
            return self.cwd.absolute()
        try:
            return Path.cwd()
        except OSError:
            return Path("/")


def _patterns(given: object) -> tuple[str, ...]:
    patterns = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (given,)
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise SettingsError(f"tools= and exempt= take names of tools or globs, and not {pattern!r}")
    return patterns


class Chosen:
    """The settings of one run: what was chosen in code, the user's files, and the project's, which only raise."""

    def __init__(self, options: Options) -> None:
        self.options = options
        loaded = load_settings(
            project=project_root(options.folder), environ=os.environ, overrides={"policy": options.policy}
        )
        for sentence in loaded.warnings:
            tell_once(sentence)
        settings = loaded.settings
        asked = settings.policy or DEFAULT_POLICY
        self._rules = (
            *(ToolRule(pattern=pattern, origin="tools=", policy=asked) for pattern in options.tools),
            *(ToolRule(pattern=pattern, origin="exempt=", policy="omit") for pattern in options.exempt),
        )
        self.settings: Settings = replace(
            settings, policy="omit" if options.tools else asked, tools=(*settings.tools, *self._rules)
        )

    def of(self, tool_name: str, source: str | None) -> ToolSettings:
        """Return what holds for a tool. Only the schema reaches the model, so it explains itself in full."""
        return self.settings.for_tool(tool_name, tool_source=source, watched=False, profile="full")

    def tell_unmatched(self, tool_names: Iterable[str]) -> None:
        """Say which of the patterns in code cover no tool, and which in files, where they name one of these servers.

        Others of the files are for the user's other agents, too. Where one is to guard, and close to a tool, a person
        is asked meanwhile.
        """
        names = tuple(tool_names)
        servers = {server for name in names if (server := name.rpartition("/")[0])}
        settings = self.settings.naming(servers) if servers else Settings()
        if (lost := settings.for_tools(names).meanwhile) is not None:
            self.settings = self.settings.asking_meanwhile(lost)
        for sentence in (
            *(Settings(tools=self._rules).unmatched(names) if self._rules else ()),
            *settings.unmatched(names, most=MOST_UNMATCHED),
        ):
            tell_once(sentence)
