"""Set pi-intent up in one Tau runtime."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tau_agent.tools import AgentTool
from tau_coding.extensions.api import ExtensionAPI
from tau_coding.tools import create_coding_tools

from pi_intent.contract.rows import ROWS
from pi_intent.hosts.tau import layers, plain
from pi_intent.hosts.tau.command import register_command
from pi_intent.hosts.tau.compaction import remember_after_compaction
from pi_intent.hosts.tau.extension import TauExtension
from pi_intent.hosts.tau.following import follow
from pi_intent.hosts.tau.shadowing import InnerLayer, Shadowing


def setup(tau: ExtensionAPI) -> None:
    """Shadow the session's tools. No effect outside this runtime, but for one method of Tau's, wrapped once."""
    runtime = getattr(tau, "_runtime", None)  # not public: the one way from here to `compose_tools`
    if runtime is not None and layers.is_shadowed(runtime):
        return
    extension = TauExtension(tau)
    if runtime is not None and layers.can_compose():
        layers.compose_with(runtime, Shadowing(extension, runtime))
        for tool in create_coding_tools(cwd=Path.cwd()):
            if tool.name in ROWS:
                tau.register_tool(
                    AgentTool(
                        name=tool.name,
                        label=tool.label,
                        description=tool.description,
                        parameters=tool.parameters,
                        execute_fn=InnerLayer(extension, tool.name),
                        render_call=partial(extension.row, tool.name),
                    )
                )
    else:
        plain.shadow_plainly(extension)
    follow(extension)
    remember_after_compaction(extension)
    if extension.loaded.settings.checkpoints:
        from pi_intent.hosts.tau.checkpoints import name_checkpoints  # only who asked for them pays for them

        name_checkpoints(extension, checkpoints=True)
    register_command(extension)
