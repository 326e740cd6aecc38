"""Bring the calls of one session file into the ledger, as far as it does not have them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from pi_intent import __version__
from pi_intent.ledger.record import SessionInfo, timestamp
from pi_intent.protocols import CallContext, Settlement
from pi_intent.sessions.as_events import begun_by, end_event, start_event
from pi_intent.sessions.clamped import sane_time
from pi_intent.sessions.copied import Texts
from pi_intent.sessions.known import call_identity, id_at, which
from pi_intent.sessions.report import Counts, FileReport
from pi_intent.sessions.session_calls import SessionCalls
from pi_intent.sessions.session_writer import SessionWriter, Target
from pi_intent.sessions.values import Dialect, Found, FoundCall, FoundResult, Head, Prompt, Unread
from pi_intent.settings import Settings
from pi_intent.types import JSONObject

_MOST_WAITING = 4096
"""Results that stand before their call, which no agent writes on purpose."""
_KEPT_OF_TEXT = 65_536

_TO_COME = 86_400.0
"""Seconds that a clock may go before ours."""

_MOST_OPEN = 64
"""Segments that are open at a time: a file of thousands of sessions must not use up what a process may open."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


class FileImport:
    """Takes what a reader finds in one file, in its order. `path` is told in the ledger.

    `modified` is the time of the file, for calls that have none and none before them; `own_id` the session's id
    where the file states none; `echoes` the texts that are no intent of the model's own.
    """

    def __init__(
        self,
        target: Target,
        settings: Settings,
        *,
        path: Path,
        dialect: Dialect,
        modified: float,
        own_id: str,
        echoes: Iterable[str],
    ) -> None:
        self._target = target
        self._settings = settings
        self._path = path
        self._dialect: Dialect = dialect
        self._modified = sane_time(modified) or 0.0
        self._own_id = own_id
        self._texts = Texts(echoes)
        self._counts = Counts()
        self._latest: float | None = None
        self._seq = 0
        self._sessions: dict[str, SessionCalls] = {}
        self._head = Head(session=None)
        self._take_head(self._head)

    def take_all(self, found: Iterable[Found]) -> FileReport:
        """Take everything and return the numbers. Raises `LedgerError`; what was written before stays."""
        try:
            for item in found:
                self.take(item)
            for session in self._sessions.values():
                self._counts.unpaired += len(session.waiting)
                session.take_open()
        finally:
            for session in self._sessions.values():
                session.writer.close()
        return self.report()

    def report(self) -> FileReport:
        """Return the numbers as far as the file was read."""
        return self._counts.report(self._path, self._dialect)

    def take(self, item: Found) -> None:
        """Take what comes next in the file."""
        match item:
            case Head():
                self._take_head(item)
            case Prompt():
                self._texts.add(item.text)
            case FoundCall():
                self._take_call(self._with_possible_time(item))
            case FoundResult():
                self._take_result(self._with_possible_time(item))
            case Unread():
                self._counts.not_read(item)

    def _with_possible_time[T: (FoundCall, FoundResult)](self, item: T) -> T:
        """Return an item without its time where that cannot be, and count it; more than a day to come cannot."""
        if item.ts is None:
            return item
        sane = sane_time(item.ts)
        if sane is not None and sane <= self._target.clock() + _TO_COME:
            return item
        self._counts.impossible_times += 1
        return replace(item, ts=None)

    def _take_head(self, head: Head) -> None:
        before = self._head
        self._head = head = replace(
            head,
            session=head.session or before.session,
            cwd=head.cwd or before.cwd,
            version=head.version or before.version,
            parent=head.parent or before.parent,
        )
        started = sane_time(head.started)
        if self._latest is None:
            self._latest = started
        folder = self._target.location.project
        self._recorder = self._target.recorder(head.cwd or ("" if folder is None else str(folder)))
        self._session: SessionCalls | None = None

    def _current(self, ts: float | None) -> SessionCalls:
        """Return the session that the file is about now; the ledger is asked about it when its first call comes."""
        if self._session is not None:
            return self._session
        head = self._head
        name = head.session or self._own_id
        began = sane_time(head.started)
        if began is None:
            began = self._time(ts)
        session = self._sessions.get(name)
        if session is None:
            info = SessionInfo(
                session=name,
                host=self._dialect,
                host_version=head.version,
                agent="main",
                cwd=head.cwd or "",
                version=__version__,
                parent=head.parent,
                imported_from=str(self._path),
            )
            writer = SessionWriter(self._target, info, began=began)
            if len(self._sessions) % _MOST_OPEN == _MOST_OPEN - 1:
                for other in self._sessions.values():
                    other.writer.close()
            session = self._sessions[name] = SessionCalls(name, self._dialect, self._target, writer, self._counts)
        self._counts.sessions[name] = None
        if head.cwd is not None:
            self._counts.folders[head.cwd] = None
        self._session = session
        return session

    def _time(self, stated: float | None) -> float:
        """Return a time that is stated, else the nearest before it in the file, else the file's."""
        sane = sane_time(stated)
        if sane is not None:
            self._latest = sane
        return self._modified if self._latest is None else self._latest

    def _take_call(self, found: FoundCall) -> None:
        session = self._current(found.ts)
        if found.key in session.ids:
            return
        self._counts.call(found)
        proxied = None
        if found.tool_source is not None:
            proxied = self._target.proxied_as(found.tool_call_id, found.tool)
        if proxied is not None:  # its result is the proxy's to tell, too
            session.ids[found.key] = proxied
            self._counts.recorded += 1
            return
        self._seq += 1
        when = self._time(found.ts)
        chosen = self._settings.for_tool(found.tool, tool_source=found.tool_source, watched=True, profile="full")
        identity = call_identity(self._dialect, session.id, found.key)
        fresh = id_at(int(when * 1000), identity)
        is_repeated = which(fresh) in self._target.planned
        is_known = is_repeated or which(fresh) in session.known.begun
        start = start_event(
            found,
            host=self._dialect,
            session=session.id,
            call_id=session.known.begun.get(which(fresh), fresh),
            parent=None if found.parent is None else session.id_of(found.parent),
            seq=self._seq,
            copied=found.intent is not None and found.intent in self._texts,
        )
        context = CallContext(
            turn=max(0, found.turn),
            policy="optional" if found.asked else "omit",
            profile="full",
            bytes_in=_size(found.args),
            redact_args=chosen.redact_args,
        )
        record = None
        if is_known:
            self._counts.repeated += is_repeated
            self._counts.already += not is_repeated
        else:
            record = self._recorder.call(start, context, ts=timestamp(when), head=None)
        session.begin(found.key, begun_by(start, found, context), record)
        early = session.waiting.pop(found.key, None)
        if early is not None:
            self._end(session, found.key, early)

    def _take_result(self, found: FoundResult) -> None:
        if found.key is None:
            self._time(found.ts)
            self._counts.result(found)
            self._counts.unpaired += 1
            return
        session = self._current(found.ts)
        if found.key not in session.ids:
            if found.key in session.waiting:
                return
            self._counts.result(found)
            if len(session.waiting) < _MOST_WAITING:
                session.waiting[found.key] = _shortened(found)
            else:
                self._counts.unpaired += 1
            return
        if session.is_open(found.key):
            self._counts.result(found)
            self._end(session, found.key, found)

    def _end(self, session: SessionCalls, key: str, found: FoundResult) -> None:
        when = self._time(found.ts)
        begun = session.end(key, sane_time(found.ts))
        if begun is None:
            return
        if self._target.dry_run:
            if f"end of {which(begun.call_id)}" in self._target.planned:
                return
            self._target.planned.add(f"end of {which(begun.call_id)}")
        end = end_event(begun, found, host=self._dialect, session=session.id)
        settlement = Settlement(found.status, found.is_error, error=found.error, bytes_out=max(0, found.bytes_out))
        record = self._recorder.done(
            end, settlement, ts=timestamp(when), bytes_in=begun.bytes_in, withheld=begun.withheld
        )
        session.writer.append(record)
        self._counts.new_ends += 1


def _shortened(found: FoundResult) -> FoundResult:
    return replace(
        found,
        text=None if found.text is None else found.text[-_KEPT_OF_TEXT:],
        error=None if found.error is None else found.error[:_KEPT_OF_TEXT],
    )


def _size(arguments: JSONObject) -> int:
    try:
        return len(_encode(arguments).encode("utf-8", "surrogatepass"))
    except (RecursionError, ValueError):
        return 0
