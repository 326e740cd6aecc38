"""Shadow Tau's own tools in two layers, so that reading lies outside every other extension's hooks.

Wrapping the public `ExtensionRuntime.compose_tools` shows both the session's very own tools (what goes in) and the
tools as the agent will have them (what comes out). The inner layer is a tool registered under the built-in's name:
it marks that the built-in was really reached, and with what. The outer layer replaces our names in what comes out:
there a call is read and stripped before any hook of another extension sees it, and over another's override.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from tau_agent.tools import AgentTool
from tau_coding.extensions.runtime import ExtensionRuntime

from pi_intent.events import FileChange
from pi_intent.pipeline import OpenCall
from pi_intent.types import JSONObject

if TYPE_CHECKING:
    from pi_intent.hosts.tau.session import TauSession


class Running:
    """A call between the two layers: whether the tool itself was reached, and what it got and did there."""

    __slots__ = ("files", "opened", "ran_args", "reached", "session")

    def __init__(self, session: TauSession, opened: OpenCall) -> None:
        self.session = session
        self.opened = opened
        self.reached = False
        self.ran_args: JSONObject | None = None
        self.files: tuple[FileChange, ...] = ()


RUNNING: ContextVar[Running | None] = ContextVar("pi_intent_running", default=None)
"""The call that the code at hand runs under; in a child session it is the parent's."""


def running_call(tool_call_id: str) -> Running | None:
    """Return the call that the code at hand runs under, if it is the one with this id of the host's."""
    running = RUNNING.get()
    return running if running is not None and running.opened.start.tool_call_id == tool_call_id else None


class Composer(Protocol):
    """Whoever shadows the tools of one runtime.

    - Called each time that Tau composes the tools of the runtime, with the session's own tools by name and the
      tools as composed, in order.
    - Returns what the agent gets. Must not raise: the session would not start.
    """

    def compose(self, own: dict[str, AgentTool], composed: Sequence[AgentTool]) -> list[AgentTool]: ...


_MARK = "__pi_intent__"
"""Marks Tau's method as wrapped, and holds a runtime's composer on the runtime, which goes when it goes."""


def can_compose() -> bool:
    """Whether this Tau has the method that the two layers hang on."""
    return callable(getattr(ExtensionRuntime, "compose_tools", None))


def is_shadowed(runtime: ExtensionRuntime) -> bool:
    """Whether a copy of pi-intent already shadows the tools of this runtime."""
    return hasattr(runtime, _MARK)


def compose_with(runtime: ExtensionRuntime, composer: Composer) -> None:
    """Have `composer` see the tools of this runtime whenever Tau composes them. Wraps Tau's method once a process."""
    setattr(runtime, _MARK, composer)
    original: Callable[..., list[AgentTool]] = ExtensionRuntime.compose_tools
    if getattr(original, _MARK, False):
        return

    @functools.wraps(original)
    def compose_tools(
        self: ExtensionRuntime, builtin_tools: Sequence[AgentTool], *more: Any, **named: Any
    ) -> list[AgentTool]:
        composed = original(self, builtin_tools, *more, **named)
        composer: Composer | None = getattr(self, _MARK, None)
        return composed if composer is None else composer.compose({t.name: t for t in builtin_tools}, composed)

    setattr(compose_tools, _MARK, True)
    setattr(ExtensionRuntime, "compose_tools", compose_tools)  # noqa: B010 - a method of Tau's, replaced knowingly
