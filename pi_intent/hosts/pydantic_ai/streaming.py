"""The labels of calls that the model is still writing, from the pieces of its answer."""

from __future__ import annotations

from collections.abc import Callable, Container

from pydantic_ai.messages import (
    AgentStreamEvent,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    ToolCallPart,
    ToolCallPartDelta,
)

from pi_intent.labels.reader import IntentReader, read_arguments
from pi_intent.pipeline import Pipeline


class _Written:
    """A call as far as it is written: the id that it will have, if it comes."""

    __slots__ = ("call_id", "complete", "group_id", "reader", "shown", "tool_call_id", "tool_name")

    def __init__(self, call_id: str, part: ToolCallPart, group_id: str) -> None:
        self.call_id = call_id
        self.tool_name = part.tool_name
        self.tool_call_id = part.tool_call_id
        self.group_id = group_id
        self.reader = IntentReader()
        self.shown: str | None = None
        self.complete = False


class Labels:
    """The calls of the answer that is being written, by their place in it.

    `asked` holds the tools whose calls carry our intent: a tool's own parameter of that name is never shown.
    """

    def __init__(self, pipeline: Pipeline, asked: Container[str], new_id: Callable[[], str]) -> None:
        self._pipeline = pipeline
        self._asked = asked
        self._new_id = new_id
        self._written: dict[int, _Written] = {}

    def wants(self, event: AgentStreamEvent) -> bool:
        """Whether an event of pydantic-ai's begins, continues or ends a call that is shown."""
        match event:
            case PartStartEvent(part=ToolCallPart(tool_name=name)):
                return name in self._asked or event.index in self._written
            case PartStartEvent() | PartDeltaEvent() | PartEndEvent():
                return event.index in self._written
            case _:
                return False

    def follow(self, event: AgentStreamEvent, group_id: str) -> None:
        """Take in an event of the answer that is being written."""
        match event:
            case PartStartEvent(index=index, part=part):
                # pydantic-ai lets a part be begun again, and an answer be asked for once more.
                self._abandon(self._written.pop(index, None))
                if isinstance(part, ToolCallPart) and part.tool_name in self._asked:
                    written = self._written[index] = _Written(self._new_id(), part, group_id)
                    self._show(written, self._read(written, part.args) or "")
            case PartDeltaEvent(index=index, delta=ToolCallPartDelta() as delta):
                written = self._written[index]
                written.tool_call_id = delta.tool_call_id or written.tool_call_id
                if (text := self._read(written, delta.args_delta)) is not None or written.reader.complete:
                    self._show(written, text or written.reader.intent or "")
            case PartEndEvent(index=index, part=ToolCallPart() as part):
                written = self._written[index]
                written.tool_call_id = part.tool_call_id
                if not written.complete:
                    written.complete = True
                    self._tell(written, written.shown or "")
            case _:
                pass

    def take(self, tool_name: str, tool_call_id: str) -> str | None:
        """Return the id of a label whose call came at last, None where nothing of it was shown."""
        for index, written in self._written.items():
            if written.tool_call_id == tool_call_id and written.tool_name == tool_name:
                del self._written[index]
                return written.call_id
        return None

    def abandon(self) -> None:
        """End the labels of calls that never came: the answer broke off, or another one took its place."""
        written, self._written = self._written, {}
        for call in written.values():
            self._abandon(call)

    def _read(self, written: _Written, piece: object) -> str | None:
        if isinstance(piece, str):
            return written.reader.feed(piece)
        text = read_arguments(piece)  # some providers send whole objects
        written.complete = written.complete or text is not None
        return text

    def _show(self, written: _Written, text: str) -> None:
        complete = written.complete or written.reader.complete
        if text != written.shown or complete is not written.complete:
            written.shown, written.complete = text, complete
            self._tell(written, text)

    def _tell(self, written: _Written, text: str) -> None:
        self._pipeline.streamed(
            call_id=written.call_id,
            tool_call_id=written.tool_call_id,
            tool_name=written.tool_name,
            group_id=written.group_id,
            intent=text,
            complete=written.complete,
        )

    def _abandon(self, written: _Written | None) -> None:
        if written is not None:
            self._pipeline.abandoned(
                call_id=written.call_id,
                tool_call_id=written.tool_call_id,
                tool_name=written.tool_name,
                group_id=written.group_id,
            )
