"""Stand in for the validation of a tool's arguments: read the call first, then let the tool's own check what is left.

pydantic-ai validates in two steps: a validator that knows the arguments and not the call, then a function that
knows the call and cannot change what the first made of the arguments. So the first hands the arguments on unread, in
the very object that it returns, and the second fills that object.
"""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from typing import Any, Literal

from pydantic_ai import RunContext
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred
from pydantic_ai.toolsets import ToolsetTool

from pi_intent.hosts.pydantic_ai.options import Options
from pi_intent.hosts.pydantic_ai.results import raised
from pi_intent.hosts.pydantic_ai.run import IntentRun
from pi_intent.pipeline import CallRequest, target_of
from pi_intent.protocols import Settlement
from pi_intent.settings import ToolSettings
from pi_intent.types import JSONObject, Policy

type Partial = bool | Literal["off", "on", "trailing-strings"]


class Unread:
    """What a model sent, `text` where it came as JSON text, and the object that its tool's arguments go into."""

    def __init__(self, sent: Any, text: str | None, how: dict[str, Any]) -> None:
        self.sent = sent
        self.text = text
        self.how = how
        self.arguments: dict[str, Any] = {"unread": self}

    def fill(self, arguments: dict[str, Any]) -> None:
        """Put a tool's arguments where pydantic-ai will look for them."""
        self.arguments.clear()
        self.arguments.update(arguments)


class UnreadArguments:
    """The validator that lets everything through, because the call is not known yet."""

    # The names are those of pydantic-core, which may be called with them.
    def validate_json(
        self,
        input: str | bytes | bytearray,  # noqa: A002
        *,
        allow_partial: Partial = "off",
        **how: Any,
    ) -> dict[str, Any]:
        text = input if isinstance(input, str) else bytes(input).decode("utf-8", "replace")
        try:
            sent = json.loads(text)
        except (ValueError, RecursionError):
            sent = text  # reading it says what is wrong
        return Unread(sent, text, {"allow_partial": allow_partial, **how}).arguments

    def validate_python(
        self,
        input: Any,  # noqa: A002
        *,
        allow_partial: Partial = "off",
        **how: Any,
    ) -> dict[str, Any]:
        return Unread(input, None, {"allow_partial": allow_partial, **how}).arguments


@dataclass(kw_only=True, eq=False)
class Reader:
    """The function that reads the calls of one tool, in one step of a run.

    `tool` is the host's own; `injected` tells whether its schema holds our fields; `options` are those of the
    toolset or capability that it belongs to.
    """

    run: IntentRun
    tool: ToolsetTool[Any]
    source: str | None
    chosen: ToolSettings
    policy: Policy
    injected: bool
    options: Options

    async def __call__(self, ctx: RunContext[Any], unread: Unread) -> None:
        held, arguments = await self.run.read(ctx, lambda group, turn: self._request(ctx, unread, group, turn))
        try:
            given = self._validate(arguments, unread)
            unread.fill(given)
            self.run.note(held, self, arguments, given)
            check = self.tool.args_validator_func
            if check is not None and inspect.isawaitable(checked := check(ctx, **given)):
                await checked
            if self.tool.tool_def.kind == "external":
                raise CallDeferred
            if self.tool.tool_def.kind == "unapproved" and not ctx.tool_call_approved:
                raise ApprovalRequired
        except (ApprovalRequired, CallDeferred) as deferral:
            await self.run.hold(ctx, held, deferral)
            raise
        except Exception as error:
            held.settle(raised(error))
            raise
        except BaseException:
            held.settle(Settlement(status="cancelled", is_error=True))
            raise

    def _request(self, ctx: RunContext[Any], unread: Unread, group_id: str, turn: int) -> CallRequest:
        name = ctx.tool_name or self.tool.tool_def.name
        if self.chosen.redact_args:
            self.run.withheld.add(name)
        model = getattr(ctx.model, "model_name", None)
        return self.request(name, ctx.tool_call_id or "", unread.sent, group_id, turn, model)

    def request(
        self, name: str, tool_call_id: str, sent: object, group_id: str, turn: int, model: str | None
    ) -> CallRequest:
        """Describe a call of the tool to the pipeline; `name` is what the model calls it by."""
        parent = self.run.parent
        return CallRequest(
            tool_name=name,
            tool_call_id=tool_call_id,
            arguments=sent,
            group_id=group_id,
            turn=turn,
            policy=self.policy,
            profile=self.chosen.profile,
            budget=self.chosen.budget,
            redact_args=self.chosen.redact_args,
            parameters=self.tool.tool_def.parameters_json_schema,
            replaces=(),
            derive=lambda arguments: target_of(name, arguments),
            agent_id="main" if parent is None else "child",
            tool_source=self.source,
            parent_call_id=None if parent is None else parent.start.call_id,
            model=model,
        )

    def _validate(self, arguments: JSONObject, unread: Unread) -> dict[str, Any]:
        """Let the tool's own validator check what is left, as JSON where it came as JSON."""
        validator = self.tool.args_validator
        text = unread.text
        if text is not None and arguments != unread.sent:  # something was taken out
            try:
                text = json.dumps(arguments)
            except (RecursionError, ValueError):
                text = None
        given: dict[str, Any]
        if text is None:
            given = validator.validate_python(arguments, **unread.how)
        else:
            given = validator.validate_json(text, **unread.how)
        return given
