"""Name the places in a session where something was changed, so that `/tree` reads as a story.

When a run has settled, each entry whose calls changed something gets their stated intents as its label. Tau keeps the
entries of the branch in memory, with their ids, and has the entry of an assistant message at the branch's end when it
tells extensions of that message: nothing is read for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tau_agent.session import LabelEntry, SessionEntry

from pi_intent.events import ToolEvent, ToolExecutionEnd, ToolExecutionStart
from pi_intent.hosts.tau.compaction import session_state
from pi_intent.hosts.tau.extension import TauExtension
from pi_intent.hosts.tau.session import TauSession
from pi_intent.hosts.tau.shadowing import MUTATING
from pi_intent.labels.printable import printable

LABEL_WIDTH = 80
"""Terminal columns of a label."""

MOST_ONE_BY_ONE = 8
"""Labels of one run, the last ones, where Tau reads its whole file twice for each: that holds up the screen."""

MOST_READ = 16_384
"""Characters of an intent that are looked at for a label."""


class _Change(NamedTuple):
    """A call that changed something and ended well: Tau's id for it, and its intent as it may be shown."""

    tool_call_id: str
    text: str


class _Run:
    """What one run changed, by the entry that holds the calls."""

    def __init__(self, extension: TauExtension, session: TauSession) -> None:
        self.runtime = session.runtime
        self.entry: str | None = None
        self.changes: dict[str, list[_Change]] = {}
        self._extension = extension
        self._open: dict[str, tuple[str, _Change]] = {}
        self.stop: Callable[[], None] = session.pipeline.sinks.subscribe(self._follow)

    def _follow(self, event: ToolEvent) -> None:
        if isinstance(event, ToolExecutionStart):
            if self.entry is not None and event.tool_name in MUTATING:
                self._open[event.call_id] = self.entry, _Change(event.tool_call_id, self._text(event))
        elif isinstance(event, ToolExecutionEnd):
            entry, change = self._open.pop(event.call_id, (None, None))
            if entry is not None and change is not None and event.status == "ok":
                self.changes.setdefault(entry, []).append(change)

    def _text(self, start: ToolExecutionStart) -> str:
        """Return the stated intent as one line, redacted as in the ledger; '' where none may be shown."""
        if start.intent is None or start.intent_source != "model":
            return ""
        if self._extension.settings_of(start.tool_name).redact_args:
            return ""
        text, journal = start.intent[:MOST_READ], self.runtime.journal
        return printable(text if journal is None else journal.redactor.text(text), width=LABEL_WIDTH)


def name_checkpoints(extension: TauExtension, *, checkpoints: bool) -> None:
    """Label the entries of each run that changed something; without `checkpoints`, do nothing at all."""
    if not checkpoints:
        return
    run: _Run | None = None

    async def agent_start(event: Any, context: Any) -> None:
        nonlocal run
        if run is None:  # a run that Tau retries starts more than once and settles once
            run = _Run(extension, extension.session())

    async def message_end(event: Any, context: Any) -> None:
        if run is not None and event.message.role == "assistant":
            state = session_state(extension)
            # Tau has written the message down before it tells of it.
            run.entry = None if state is None else state.active_leaf_id

    async def agent_settled(event: Any, context: Any) -> None:
        nonlocal run
        settled, run = run, None
        if settled is not None:
            settled.stop()
            await _label(extension, settled)

    async def session_shutdown(event: Any, context: Any) -> None:
        nonlocal run
        if run is not None:
            run.stop()
            run = None

    for handler in (agent_start, message_end, agent_settled, session_shutdown):
        extension.tau.on(handler.__name__, handler)


async def _label(extension: TauExtension, run: _Run) -> None:
    state = session_state(extension)
    if state is None or not run.changes:
        return
    called = {
        entry.id: {call.id for call in entry.message.tool_calls}
        for entry in state.entries
        if entry.id in run.changes and entry.type == "message" and entry.message.role == "assistant"
    }
    labels: dict[str, str] = {}
    for entry_id, changes in run.changes.items():
        # An entry that does not hold the calls is not theirs, whatever Tau did.
        texts = [change.text for change in changes if change.tool_call_id in called.get(entry_id, ())]
        label = printable("; ".join(dict.fromkeys(filter(None, texts))), width=LABEL_WIDTH)
        if label:
            labels[entry_id] = label
    try:
        await _set_labels(extension, labels)
    except Exception as error:  # a boundary: Tau's storage may fail in its own ways, and the session goes on
        run.runtime.tell_once(
            f"the changes of this run could not be named in /tree ({type(error).__name__}: "
            f"{printable(str(error), width=200)}); nothing else is missing"
        )


async def _set_labels(extension: TauExtension, labels: dict[str, str]) -> None:
    """Have the session keep the labels, but for those in whose place a person has set one."""
    session = extension.host_session
    # Not public: what `set_label` does, for any number of labels with one writing and one reading of the file.
    append = getattr(session, "_append_session_batch", None)
    refresh = getattr(session, "_refresh_persisted_state", None)
    if append is None or refresh is None or not hasattr(session, "_last_parent_id"):
        for entry_id in list(labels)[-MOST_ONE_BY_ONE:]:
            if not _is_labelled(extension, entry_id):
                await extension.tau.set_label(entry_id, labels[entry_id])
        return
    entries: list[SessionEntry] = []
    parent = session._last_parent_id
    for entry_id, label in labels.items():
        if not _is_labelled(extension, entry_id):
            entries.append(LabelEntry(parent_id=parent, target_id=entry_id, label=label))
            parent = entries[-1].id
    if entries:
        await append(entries)
        session._last_parent_id = parent
        await refresh(leaf_id=parent)


def _is_labelled(extension: TauExtension, entry_id: str) -> bool:
    state = session_state(extension)
    return state is None or entry_id in state.labels_by_id
