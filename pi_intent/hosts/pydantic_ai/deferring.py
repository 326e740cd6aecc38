"""Tell whether a run can end with calls that wait for an answer."""

from __future__ import annotations

from collections.abc import Sequence
from types import UnionType
from typing import Any, TypeAliasType, Union, get_args, get_origin

from pydantic_ai import DeferredToolRequests, RunContext
from pydantic_ai.capabilities import AbstractCapability, HandleDeferredToolCalls


def can_defer(ctx: RunContext[Any]) -> bool:
    """Say whether somebody takes up a call that is deferred: the run's output, or a capability within the run.

    What is known is the agent's own output type: of one that was given to a run alone no hook is told.
    """
    if _handles(ctx.root_capability):
        return True
    return not ctx.realtime and ctx.agent is not None and _holds_requests(ctx.agent.output_type)


def _handles(root: AbstractCapability[Any] | None) -> bool:
    found: list[AbstractCapability[Any]] = []
    if root is not None:
        root.apply(found.append)
    return any(isinstance(capability, HandleDeferredToolCalls) for capability in found)


def _holds_requests(output: object) -> bool:
    if isinstance(output, TypeAliasType):
        output = output.__value__
    if isinstance(output, Sequence) and not isinstance(output, str):
        return any(map(_holds_requests, output))
    if get_origin(output) in (Union, UnionType):
        return any(map(_holds_requests, get_args(output)))
    return output is DeferredToolRequests
