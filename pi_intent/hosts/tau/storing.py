"""Store what a tool says is to be stored, where its settings let it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tau_agent.tools import AgentToolResult

from pi_intent.gates.artifacts import stated_artifact
from pi_intent.runtime import SessionRuntime


def store(runtime: SessionRuntime, result: AgentToolResult, tool_name: str, kinds: Collection[str]) -> None:
    """Store the artifact that a result states in `details["pi_intent"]`, if it is of one of these kinds."""
    details = result.details
    artifact = stated_artifact(details.get("pi_intent")) if isinstance(details, Mapping) else None
    if artifact is not None and artifact.kind in kinds:
        runtime.store(artifact, tool_name)
