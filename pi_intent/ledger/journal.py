"""Write one session's calls into the ledger while they happen, without ever getting in their way."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from pi_intent.errors import LedgerError
from pi_intent.events import ToolExecutionEnd, ToolExecutionStart
from pi_intent.ids import ulid
from pi_intent.ledger.keys import Digester, load_key, lost_key, redaction_key
from pi_intent.ledger.location import LedgerLocation, find_ledger, make_private_folder, read_head
from pi_intent.ledger.record import Recorder, SessionInfo, timestamp
from pi_intent.ledger.segment import Segment
from pi_intent.protocols import CallContext, Decision, Settlement
from pi_intent.redaction import Redactor
from pi_intent.types import JSONObject

_COMMITS_NOTHING = frozenset({"read", "write", "edit"})


class SessionJournal:
    """The ledger of one session, on one thread: two records a call, each handed to the kernel at once.

    A record that cannot be written is counted in `lost`; the first one is told to `on_problem`, in a sentence for a
    person. The next record tries again: when space returns, or a deleted segment is missed, the ledger goes on.
    Under `strict`, `opened` raises `LedgerError` instead of letting a call run unrecorded.
    """

    def __init__(
        self,
        location: LedgerLocation,
        info: SessionInfo,
        *,
        environ: Mapping[str, str],
        on_problem: Callable[[str], None],
        entropy: bool = False,
        strict: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.location = location
        self.info = info
        self.lost = 0
        self._environ = environ
        self._on_problem = on_problem
        self._entropy = entropy
        self._strict = strict
        self._clock = clock
        self._told = False
        self._closed = False
        self._segment: Segment | None = None
        self._calls: dict[str, CallContext] = {}
        self._head: str | None = None
        self._head_is_known = False
        self._learned: set[str] = set()
        self._redactors: list[Redactor] = []
        self._key = b""
        # Until the ledger's key is read. Nothing is written before, but others redact by the same rules.
        self._take_key(os.urandom(32))

    @classmethod
    def open(
        cls,
        info: SessionInfo,
        *,
        environ: Mapping[str, str],
        on_problem: Callable[[str], None],
        entropy: bool = False,
        strict: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> SessionJournal:
        """Find the ledger around `info.cwd`, and begin a segment; never raises.

        It asks git and the disk and takes milliseconds: on an event loop, run it in a thread.
        """
        journal = cls(
            find_ledger(Path(info.cwd), environ),
            info,
            environ=environ,
            on_problem=on_problem,
            entropy=entropy,
            strict=strict,
            clock=clock,
        )
        try:
            journal._ready()
        except Exception as error:  # the boundary of `opened`
            journal._tell(journal._sentence(error))
        return journal

    @property
    def redactor(self) -> Redactor:
        """What takes the secrets out of this session's texts."""
        return self._redactor

    @property
    def digester(self) -> Digester:
        """What makes the digests that stand in this ledger."""
        return self._digester

    def kept_arguments(self, arguments: JSONObject) -> JSONObject:
        """Return the arguments of a call as its record has them: without secrets, contents as size and digest."""
        return self._recorder.kept_arguments(arguments)

    @property
    def path(self) -> Path | None:
        """The segment that is written to; None while there is none."""
        return None if self._segment is None else self._segment.path

    def look_at_head(self) -> None:
        """Read the commit that the next calls start from; a host may do so ahead, when calls are announced.

        It holds until a call ends that may have committed something.
        """
        git_dir = self.location.git_dir
        self._head = None if git_dir is None else read_head(git_dir)
        self._head_is_known = True

    def opened(self, start: ToolExecutionStart, context: CallContext) -> None:
        """Record that a call is about to run. Raises `LedgerError` under `strict` only."""
        self._calls[start.call_id] = context
        try:
            segment = self._ready()
            if not self._head_is_known:
                self.look_at_head()
            segment.append(self._recorder.call(start, context, ts=timestamp(self._clock()), head=self._head))
        except Exception as error:  # a boundary: the promise of `Journal` holds for faults of ours, too
            self._veto(error)

    def resumed(self, start: ToolExecutionStart, context: CallContext) -> None:
        """Go on with a call whose beginning another process recorded, in a segment of its own."""
        self._calls[start.call_id] = context

    def decided(self, decision: Decision) -> None:
        """Record that somebody is asked, or what was decided. Raises `LedgerError` under `strict` only."""
        context = self._calls.get(decision.call_id)
        try:
            record = self._recorder.decision(
                decision, ts=timestamp(self._clock()), withheld=context is None or context.redact_args
            )
            self._ready().append(record)
        except Exception as error:  # the boundary of `opened`
            self._veto(error)

    def closed(self, end: ToolExecutionEnd, settlement: Settlement) -> None:
        """Record how a call ended. Never raises, awaits nothing."""
        context = self._calls.pop(end.call_id, None)
        self._head_is_known = self._head_is_known and end.tool_name in _COMMITS_NOTHING
        try:
            segment = self._ready()
            record = self._recorder.done(
                end,
                settlement,
                ts=timestamp(self._clock()),
                bytes_in=None if context is None else context.bytes_in,
                # Of a call that nobody opened here we do not know whether its texts may be kept.
                withheld=context is None or context.redact_args,
            )
            segment.append(record)
        except Exception as error:  # the boundary of `opened`
            self._lose(error)

    @property
    def is_dirty(self) -> bool:
        """Whether the disk may not have everything yet."""
        segment = self._segment
        return segment is not None and segment.fd >= 0 and segment.is_dirty

    def flush(self) -> None:
        """Wait until the disk has every record; may run in another thread. Never raises `OSError`."""
        segment = self._segment
        try:
            if segment is not None and self.is_dirty:
                segment.flush()
        except OSError as error:
            self._tell(self._sentence(error))

    def close(self) -> None:
        """Bring everything to the disk and give the segment back; what comes later is lost and counted."""
        self._closed = True
        segment, self._segment = self._segment, None
        if segment is None or segment.fd < 0:
            return
        try:
            if segment.is_dirty:
                segment.flush()
        except OSError as error:
            self._tell(self._sentence(error))
        segment.close()

    def _lose(self, error: Exception) -> LedgerError:
        """Count a record that was not written, and tell the first time."""
        self.lost += 1
        problem = self._sentence(error)
        self._tell(problem)
        return LedgerError(problem)

    def _veto(self, error: Exception) -> None:
        """Count a record that was not written, and under `strict` let what it was about not go on."""
        problem = self._lose(error)
        if self._strict:
            raise problem from error

    def _ready(self) -> Segment:
        """Return a segment that can be written to and has told whose it is, a new one where the old one is gone."""
        if self._closed:
            raise LedgerError("the ledger of this session is closed already")
        segment = self._segment
        if segment is None or not segment.is_ours():
            if segment is not None:
                segment.close()
            self._segment = None
            make_private_folder(self.location.root)
            lost = lost_key(self.location.root)
            self._take_key(load_key(self.location.root))
            if lost is not None:
                with suppress(Exception):  # a callback of the host's
                    self._on_problem(lost)
            # The id may hold a secret, and a file's name is as public as its content.
            self._segment = segment = Segment.create(self.location.segments, self._redactor.text(self.info.session))
        if not segment.prev:
            now = self._clock()
            record = self._recorder.session(
                self.info,
                record_id=ulid(int(now * 1000), os.urandom(10)),
                ts=timestamp(now),
                writer=segment.writer,
                pid=os.getpid(),
            )
            segment.append(record)
        return segment

    def learn(self, values: Iterable[str]) -> None:
        """Keep these values out of whatever is recorded from now on: they are secrets."""
        fresh = set(values) - self._learned
        if fresh:
            self._learned |= fresh
            for redactor in self._redactors:  # others may still hold an earlier one
                redactor.learn(fresh)
            self._recorder.forget()

    def _take_key(self, key: bytes) -> None:
        if key == self._key:
            return
        self._key = key
        self._redactor = Redactor(redaction_key(key), self._environ, entropy=self._entropy)
        self._redactor.learn(self._learned)
        self._redactors.append(self._redactor)
        self._digester = Digester(key)
        self._recorder = Recorder(
            self._redactor,
            self._digester,
            project=_spellings(self.location.project, self.info.cwd),
            cwd=self.info.cwd,
        )

    def _sentence(self, error: Exception) -> str:
        if isinstance(error, LedgerError):
            return str(error)
        if not isinstance(error, OSError):
            return f"a record for the ledger could not be made ({type(error).__name__}: {error})"
        where, why = self.path or self.location.segments, error.strerror or error
        return f"the ledger {where} could not be written ({why}): free some space, or look at who owns the folder"

    def _tell(self, problem: str) -> None:
        if self._told:
            return
        self._told = True
        then = (
            "calls are refused until it works" if self._strict else "calls go on, but are not recorded until it works"
        )
        with suppress(Exception):  # a callback of the host's
            self._on_problem(f"{problem}; {then}")


def _spellings(project: Path | None, cwd: str) -> tuple[str, ...]:
    """The project's folder as git names it, and as the working directory does over a symbolic link."""
    if project is None:
        return ()
    real = os.path.realpath(project)
    inside = os.path.relpath(os.path.realpath(cwd), real)
    if inside == ".":
        typed = cwd
    elif not inside.startswith("..") and cwd.endswith("/" + inside):
        typed = cwd[: -len(inside) - 1]
    else:
        typed = real
    return tuple(dict.fromkeys((str(project), real, typed.rstrip("/") or "/")))
