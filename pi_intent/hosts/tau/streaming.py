"""The labels of calls that the model is still writing: ids before there is a call, an end where none ever comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pi_intent.runtime import new_id

if TYPE_CHECKING:
    from pi_intent.hosts.tau.extension import Shadow
    from pi_intent.hosts.tau.session import TauSession


class StreamedCall:
    """A call as far as the model has written it: the id that it will have, if it comes."""

    __slots__ = ("call_id", "tool_call_id", "tool_name")

    def __init__(self, tool_name: str, tool_call_id: str) -> None:
        self.call_id = new_id()
        self.tool_name = tool_name
        self.tool_call_id = tool_call_id


class StreamedMessage:
    """The assistant message that is being written: its group, and its calls by their place among all its calls.

    It is the listener of the tee; see `pi_intent.hosts.tau.live.Listener` for the promise.
    """

    def __init__(self, shadows: Mapping[str, Shadow], session: TauSession) -> None:
        self.group_id = new_id()
        self.calls: dict[int, StreamedCall] = {}
        self._shadows = shadows
        self._session = session

    def wants(self, tool_name: str) -> bool:
        shadow = self._shadows.get(tool_name)
        return shadow is not None and shadow.injected

    def label(self, position: int, tool_name: str, tool_call_id: str | None, intent: str, complete: bool) -> None:
        call = self.calls.get(position)
        if call is None or call.tool_name != tool_name:
            call = self.calls[position] = StreamedCall(tool_name, tool_call_id or f"tool-call-{position}")
            self._session.start_soon()
        self._session.pipeline.streamed(
            call_id=call.call_id,
            tool_call_id=call.tool_call_id,
            tool_name=tool_name,
            group_id=self.group_id,
            intent=intent,
            complete=complete,
        )

    def failed(self, sentence: str) -> None:
        self._session.runtime.tell_once(sentence)

    def take(self, position: int, tool_name: str) -> str | None:
        """Return the id of the call that came at last, None where nothing of it was shown."""
        call = self.calls.get(position)
        if call is None or call.tool_name != tool_name:
            return None
        del self.calls[position]
        return call.call_id

    def abandon(self) -> None:
        """End the labels of calls that never came: the stream broke off, or the message was another one."""
        calls, self.calls = self.calls, {}
        for call in calls.values():
            self._session.pipeline.abandoned(
                call_id=call.call_id,
                tool_call_id=call.tool_call_id,
                tool_name=call.tool_name,
                group_id=self.group_id,
            )
