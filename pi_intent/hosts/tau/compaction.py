"""After a compaction, tell the model once what the session did and why, with its next request.

Tau tells extensions of one kind of compaction only, the one after a context overflow; `/compact` and the automatic
one at the threshold send them no event. All three leave a `compaction` entry in the session, and all three lie before
the next run of the agent. So the entries are looked at when a run starts: where the last compaction of the branch has
no message of ours behind it, one is sent. What is not delivered yet is kept nowhere but in the session itself, and
so it outlives a reload, a resume and another process.

A message that is queued to steer a run before its first request goes along with that request, behind the prompt. It
starts no turn, which every other way that Tau offers would do.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from tau_coding.extensions.api import CustomMessageView, MessageRenderOptions

from pi_intent.contract.rows import target_argument
from pi_intent.hosts.tau.extension import TauExtension
from pi_intent.labels.printable import escape_rich, printable

if TYPE_CHECKING:
    from tau_agent.session import SessionEntry
    from tau_agent.session.memory import SessionState

    from pi_intent.ledger.calls import LedgerCall
    from pi_intent.recall import RecalledCall

RECALL = "pi-intent-recall"
"""Marks our messages in the session; it stands in session files, so it stays as it is."""


def remember_after_compaction(extension: TauExtension) -> None:
    """Have the model told, once a compaction, what the ledger has on the calls of this session."""
    told: str | None = None

    async def agent_start(event: Any, context: Any) -> None:
        nonlocal told
        state = session_state(extension)
        compaction = untold_compaction(state.entries) if state is not None else None
        if compaction is None or compaction == told:
            return
        if not any(shadow.injected for shadow in extension.shadows.values()) or _is_steered(extension):
            return
        runtime = extension.session().runtime
        read = partial(
            _recall,
            None if runtime.journal is None else runtime.journal.location.root,
            extension.cwd,
            runtime.environ,
            runtime.session_id,
        )
        try:
            # Whoever interrupts the run need not wait for the disk.
            text = await anyio.to_thread.run_sync(read, abandon_on_cancel=True)
            if text is not None:
                extension.tau.send_custom_message(text, custom_type=RECALL, deliver_as="steer", trigger_turn=False)
            told = compaction
        except Exception as error:  # a boundary: the run goes on without what only helps it
            told = compaction
            runtime.tell_once(
                "the model could not be told what it did before the compaction "
                f"({type(error).__name__}: {printable(str(error), width=200)})"
            )

    extension.tau.on(agent_start.__name__, agent_start)
    extension.tau.register_message_renderer(RECALL, _drawn)


def session_state(extension: TauExtension) -> SessionState | None:
    """Return the state that Tau keeps of the session's entries in memory; None where this Tau keeps none."""
    return getattr(extension.host_session, "state", None)


def untold_compaction(entries: tuple[SessionEntry, ...]) -> str | None:
    """Return the id of a branch's last compaction, None where there is none or our message came after it."""
    for entry in reversed(entries):
        if entry.type == "compaction":
            return entry.id
        if entry.type == "custom_message" and entry.custom_type == RECALL:
            return None
    return None


def _is_steered(extension: TauExtension) -> bool:
    """Whether other messages wait in front of ours: Tau takes one at a time, and ours would then cost a turn."""
    queued = getattr(extension.host_session, "queued_messages", None)
    return bool(getattr(queued, "steering", ()))


def _recall(root: Path | None, cwd: Path, environ: Mapping[str, str], session_id: str) -> str | None:
    """Read the ledger, in a thread."""
    # Here and not above: most sessions are never compacted.
    from pi_intent.ledger.calls import calls
    from pi_intent.ledger.location import find_ledger
    from pi_intent.recall import recall_text

    root = root or find_ledger(cwd, environ).root
    found = (recalled(call) for call in calls(root, session=session_id))
    return recall_text([call for call in found if call is not None])


def recalled(found: LedgerCall) -> RecalledCall | None:
    """Return what the model may be told of a call; None of one that runs, has no beginning, or is to be withheld."""
    from pi_intent.recall import RecalledCall

    call, done = found.call, found.done
    if call is None or found.state == "running" or "redact_args" in call.flags:
        return None
    target = target_argument(call.tool, call.args)
    return RecalledCall(
        tool=call.tool,
        status="interrupted" if done is None else done.status,
        intent_source=call.intent_source,
        target=target if isinstance(target, str) else None,
        intent=call.intent,
        facts=None if done is None else done.facts,
    )


def _drawn(view: CustomMessageView, options: MessageRenderOptions) -> str:
    """Draw our message in Tau's transcript: in one line, or in full when it is unfolded."""
    head, *lines = view.content.split("\n")
    if options.expanded:
        return "\n".join(escape_rich(printable(line, width=400)) for line in (head, *lines))
    many = "1 earlier call" if len(lines) == 1 else f"{len(lines)} earlier calls"
    return f"pi-intent · reminded the model of {many}"
