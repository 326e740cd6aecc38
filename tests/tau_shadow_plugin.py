"""A pytest plugin that hands Tau's own tests our shadows; named with `-p`, so that it comes before their imports."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import tau_coding
from tau_agent.tools import AgentTool
from tau_coding.extensions.runtime import ExtensionRuntime
from tau_coding.paths import TauPaths
from tau_coding.resources import TauResourcePaths

CHECKOUT = Path(__file__).parents[1]
SHADOWED: set[str] = set()


def shadows(tools: list[AgentTool]) -> list[AgentTool]:
    """Compose tools as a session with pi-intent would, and have every call state an intent."""
    home = Path(tempfile.mkdtemp())
    paths = TauPaths(home=home, agents_home=home / "agents")
    runtime = ExtensionRuntime(paths=paths)
    runtime.load(
        TauResourcePaths(root=home, agents_root=home / "agents", paths=paths),
        extra_paths=(CHECKOUT,),
        include_resource_dirs=False,
    )
    return [with_intent(tool) for tool in runtime.compose_tools(tools)]


def with_intent(tool: AgentTool) -> AgentTool:
    assert next(iter(tool.parameters["properties"])) == "intent"
    SHADOWED.add(tool.name)

    async def execute(call_id: str, arguments: Any, signal: Any = None, on_update: Any = None) -> Any:
        return await tool.execute_fn(call_id, {"intent": "Test the tool", **arguments}, signal, on_update)

    return replace(tool, execute_fn=execute)


def shadowing(factory: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(factory)
    def create(*arguments: Any, **options: Any) -> Any:
        made = factory(*arguments, **options)
        return shadows(made) if isinstance(made, list) else shadows([made])[0]

    return create


for _name in ("create_read_tool", "create_write_tool", "create_edit_tool", "create_bash_tool", "create_coding_tools"):
    setattr(tau_coding, _name, shadowing(getattr(tau_coding, _name)))


def pytest_sessionfinish() -> None:
    assert {"read", "write", "edit", "bash"} == SHADOWED, "the tests did not run on the shadows"
