"""Say what holds for a server's tools: the person's and the project's settings, and the proxy's own command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pi_intent.hosts.mcp.options import WrapOptions
from pi_intent.settings.load import load_settings, project_root
from pi_intent.settings.rules import MOST_UNMATCHED, Settings
from pi_intent.settings.tool import ToolRule, ToolSettings


class ServerPolicy:
    """The settings of a wrapped server. `tell` gets the warnings, once."""

    def __init__(
        self, options: WrapOptions, server: str, environ: Mapping[str, str], *, tell: Callable[[str], None]
    ) -> None:
        project = None
        with suppress(OSError):  # the folder is gone
            project = project_root(Path(os.getcwd()))
        loaded = load_settings(project=project, environ=environ)
        for warning in loaded.warnings:
            tell(warning)
        self._tell = tell
        rules = loaded.settings.tools + loaded.settings.floors
        self.may_require = "require" in (options.policy, loaded.settings.policy, *(rule.policy for rule in rules))
        self.strict = loaded.settings.strict
        self.traced = loaded.settings.tracing
        self._options = options
        self._server = server
        # The command line goes before what the person has set in general; rules for single tools, which are more
        # specific, and the project's floors go before it.
        self.settings = replace(loaded.settings, policy=options.policy or loaded.settings.policy)
        # Of a tool that is left alone only the project may ask something; what else is set for it holds.
        tools = tuple(replace(rule, policy=None) for rule in loaded.settings.tools)
        self._alone = replace(loaded.settings, policy="omit", tools=tools)

    def settings_for(self, tool_name: str) -> ToolSettings:
        """Return what holds for a tool of this server."""
        chosen = self.settings if self._is_asked(tool_name) else self._alone
        return chosen.for_tool(tool_name, tool_source=self._server, watched=False, profile="full")

    def tell_unmatched(self, tool_names: Iterable[str]) -> None:
        """Say which globs of the command line cover no tool, and which settings name a tool that the server lacks.

        Where one of those is to guard, and close to a tool of the server, a person is asked meanwhile.
        """
        rules = tuple(
            ToolRule(pattern=glob, origin=option)
            for option, globs in (("--tools", self._options.tools), ("--exempt", self._options.exempt))
            for glob in globs
        )
        names = [f"{self._server}/{name}" for name in tool_names]
        named = self.settings.naming((self._server,))
        for sentence in (*Settings(tools=rules).unmatched(names), *named.unmatched(names, most=MOST_UNMATCHED)):
            self._tell(sentence)
        if (lost := named.for_tools(names).meanwhile) is not None:
            self.settings, self._alone = (held.asking_meanwhile(lost) for held in (self.settings, self._alone))

    def _is_asked(self, tool_name: str) -> bool:
        def any_of(globs: tuple[str, ...]) -> bool:
            return any(ToolRule(pattern=glob, origin="command line").matches((tool_name,)) for glob in globs)

        return (not self._options.tools or any_of(self._options.tools)) and not any_of(self._options.exempt)
