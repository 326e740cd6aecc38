"""Follow Tau's events, so that every call has its end, also those that never reached our executor.

How a call can end in Tau without our executor's doing: an earlier call was interrupted (a result message only), the
run was aborted (a start and an end, “Operation aborted”), the run was left (nothing but `agent_settled`).
"""

from __future__ import annotations

from typing import Any

from pi_intent.hosts.tau.extension import TauExtension
from pi_intent.hosts.tau.results import ABORTED
from pi_intent.hosts.tau.screen import greet, has_screen
from pi_intent.hosts.tau.session import SESSIONS, HostCall, TauSession
from pi_intent.hosts.tau.streaming import StreamedMessage
from pi_intent.pipeline import failure
from pi_intent.protocols import Settlement
from pi_intent.runtime import new_id
from pi_intent.types import Status


def follow(extension: TauExtension) -> None:
    """Subscribe to what Tau tells of its calls. Handlers hold the screen up, so they do little."""

    async def message_end(event: Any, context: Any) -> None:
        message = event.message
        session = extension.session()
        if message.role == "assistant":
            await _settle_waiting(session, "interrupted")
            written, session.message = session.message, None
            session.announce(
                new_id() if written is None else written.group_id,
                [
                    HostCall(
                        call.id,
                        call.name,
                        call.arguments,
                        None if written is None else written.take(position, call.name),
                    )
                    for position, call in enumerate(message.tool_calls)
                    if extension.follows(call.name)
                ],
            )
            if written is not None:
                _listen(None)
                written.abandon()
            if session.runtime.journal is not None:
                session.runtime.journal.look_at_head()
        elif message.role == "toolResult":
            await _settle(session, session.take_answered(message.tool_call_id), message)

    async def tool_execution_end(event: Any, context: Any) -> None:
        if extension.follows(event.tool_name):
            session = extension.session()
            await _settle(session, session.take_ended(event.tool_call_id), event.result)

    async def agent_start(event: Any, context: Any) -> None:
        extension.session().turn_groups.clear()

    async def turn_start(event: Any, context: Any) -> None:
        session = extension.session()
        _abandon(session)
        if not extension.loaded.settings.live:
            return
        message = StreamedMessage(extension.shadows, session)
        session.message = message if _listen(message) else None

    async def agent_settled(event: Any, context: Any) -> None:
        session = extension.session()
        _abandon(session)
        await _settle_waiting(session, "interrupted")
        session.pipeline.settle_all("interrupted")
        if (unasked := session.take_unasked()) and not extension.is_watched:
            held = "1 call was" if unasked == 1 else f"{unasked} calls were"
            way_out = "pi-intent audit tells which; in a session with a screen you are asked"
            extension.tell(f"{held} not run, because nobody could be asked: {way_out}", "info")
        await session.runtime.sync()

    async def session_start(event: Any, context: Any) -> None:
        greet(extension)
        if has_screen(extension):
            from pi_intent.hosts.tau.restored import restore  # nothing is drawn of a session without a screen

            await restore(extension)

    async def session_shutdown(event: Any, context: Any) -> None:
        session = extension.session()
        try:
            _abandon(session)
            await session.started()
            await _settle_waiting(session, "interrupted")
            session.pipeline.settle_all("interrupted")
            await session.runtime.sync()
        finally:
            if event.reason != "reload":
                session.close()
                SESSIONS.forget(session)

    def _abandon(session: TauSession) -> None:
        written, session.message = session.message, None
        if written is not None:
            _listen(None)
            written.abandon()

    def _listen(message: StreamedMessage | None) -> bool:
        from pi_intent.hosts.tau import live  # with the first request, not at start

        if message is not None and not live.install_tee():
            return False
        live.LISTENER.set(message)
        return True

    async def _settle(session: TauSession, call: HostCall | None, result: Any) -> None:
        """End a call that Tau ended without our executor."""
        if call is not None:
            status: Status = "cancelled" if result.text in ABORTED else "error"
            await _tell(session, call, failure(status, result.text, result=result))

    async def _settle_waiting(session: TauSession, status: Status) -> None:
        waiting, session.waiting = session.waiting, []
        for call in waiting:
            await _tell(session, call, Settlement(status=status, is_error=True))

    async def _tell(session: TauSession, call: HostCall, settlement: Settlement) -> None:
        await session.runtime.start()
        request = extension.request(
            session,
            call.tool_name,
            call.tool_call_id,
            call.arguments,
            group_id=session.group_id,
            call_id=call.call_id,
            chosen=extension.settings_of(call.tool_name),
        )
        session.pipeline.settle_unopened(request, settlement)

    for handler in (
        agent_start,
        turn_start,
        message_end,
        tool_execution_end,
        agent_settled,
        session_start,
        session_shutdown,
    ):
        extension.tau.on(handler.__name__, handler)
