"""Say what a client is shown of a server's tools, beside what the server itself says of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pi_intent.contract.texts import ModelTexts
from pi_intent.hosts.mcp.listing import list_tools
from pi_intent.hosts.mcp.options import WrapOptions, server_name
from pi_intent.hosts.mcp.policy import ServerPolicy
from pi_intent.hosts.mcp.tools import Tools
from pi_intent.types import NOT_ASKED


class ShownTool(NamedTuple):
    """A tool as a server defines it and as its client gets it; `reason` says why the two are the same."""

    own: dict[str, Any]
    shown: dict[str, Any]
    reason: str | None

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.own.get("name"))


def shown_tools(
    options: WrapOptions, *, texts: ModelTexts, environ: Mapping[str, str], warnings: list[str]
) -> list[ShownTool]:
    """Start a server for a moment and return its tools. Raises `HostError` where it cannot be asked."""
    policy = ServerPolicy(options, options.server or server_name(options.command), environ, tell=warnings.append)
    return shown(list_tools(options.command, environ=environ), policy=policy, texts=texts)


def shown(definitions: Sequence[dict[str, Any]], *, policy: ServerPolicy, texts: ModelTexts) -> list[ShownTool]:
    """Return tools as a client gets them under a policy."""
    skipped: dict[str, str] = {}
    tools = Tools(texts=texts, settings_for=policy.settings_for, on_skipped=skipped.__setitem__)
    found = []
    for own in definitions:
        tool = tools.learn(own, json.dumps(own["inputSchema"]) if "inputSchema" in own else None)
        if tool is not None and tool.shown is not None:
            found.append(ShownTool(own, own | {"inputSchema": json.loads(tool.shown)}, None))
        else:
            asked = tool is None or tool.settings.policy not in NOT_ASKED
            why = skipped.get(str(own.get("name")), "it has no name") if asked else "the settings leave it alone"
            found.append(ShownTool(own, own, why))
    return found
