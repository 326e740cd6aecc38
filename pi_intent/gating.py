"""Put the gates of one session together, from its settings and what Python declares; hosts call them here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pi_intent.around import Disk
from pi_intent.errors import CredentialError
from pi_intent.gates.artifacts import Store, Unredeemed, listed, redeem
from pi_intent.gates.capabilities import Governed, Permit
from pi_intent.gates.check_in import CheckIn, apart
from pi_intent.gates.configured import Gated
from pi_intent.gates.credentials import Credential
from pi_intent.gates.declared import PROCESS
from pi_intent.gates.kept import kept_question, kept_reasons
from pi_intent.gates.kinds import Reason
from pi_intent.gates.later import Arrived
from pi_intent.gates.memory import Memory
from pi_intent.gates.misfits import misfit
from pi_intent.gates.question import Asker, Question, Seen
from pi_intent.gates.situation import Situation
from pi_intent.render.check_in import question_lines
from pi_intent.settings import PROJECT_FILE, Settings, ToolSettings, project_root
from pi_intent.types import Host, JSONObject

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from pi_intent.pipeline import OpenCall, Pipeline


class Session(Protocol):
    """What gates know of the session that they stand in.

    `artifacts` is what its tools have stored, None where nothing is; `digest` names bytes in its ledger; `learn`
    keeps texts out of everything that leaves the process; `redacted` takes out of a text what must not;
    `kept_arguments` are those of a call as the ledger has them, None without one; `tell_once` shows a person a
    sentence.
    """

    @property
    def pipeline(self) -> Pipeline: ...

    @property
    def cwd(self) -> Path: ...

    @property
    def host(self) -> Host: ...

    @property
    def artifacts(self) -> Store | None: ...

    def digest(self, data: bytes) -> str: ...

    def learn(self, secrets: Iterable[str]) -> None: ...

    def redacted(self, text: str) -> str: ...

    def kept_arguments(self, arguments: JSONObject) -> JSONObject | None: ...

    def tell_once(self, message: str) -> None: ...


KEPT_WIDTH = 110
"""Columns of what the ledger keeps of a question."""


class Admitted(NamedTuple):
    """A call that may run, and what its tool gets: the literal arguments that were asked about."""

    arguments: JSONObject
    given: Mapping[str, str] = MappingProxyType({})
    """Credentials by name: for the tool alone."""
    environ: Mapping[str, str] = MappingProxyType({})
    """The same for a process of the tool, by variable."""


async def fetch_in_thread(needed: tuple[Credential, ...]) -> dict[str, str]:
    """Fetch credentials beside the loop, with what only those load who have some. Raises `CredentialError`."""
    import anyio.to_thread

    from pi_intent.credentials import fetch

    return await anyio.to_thread.run_sync(fetch, needed)


class Gates:
    """The gates of one session, whatever its host. Make them when the session begins: they remember what it did.

    `turn` makes a lock, so that one person is asked one question at a time; `fetch` gets credentials, None where the
    host has no way to give them to a tool. Nothing here needs an event loop: where these wait for nothing, nothing is
    waited for. `memory` is what a session remembers whose host makes new gates for each of its runs.
    """

    def __init__(
        self,
        session: Session,
        turn: Callable[[], AbstractAsyncContextManager[Any]],
        fetch: Callable[[tuple[Credential, ...]], Awaitable[dict[str, str]]] | None = None,
        *,
        memory: Memory | None = None,
    ) -> None:
        self._session = session
        self._fetch = fetch
        memory = Memory() if memory is None else memory
        session.pipeline.sinks.subscribe(memory.history.apply)
        self.check_in = CheckIn(
            texts=session.pipeline.texts,
            around=Disk(session.cwd),
            memory=memory,
            declared=PROCESS,
            turn=turn(),
            digest=session.digest,
            keeping=SessionKeeping(session),
        )

    async def admit(
        self,
        opened: OpenCall,
        arguments: JSONObject,
        *,
        settings: Settings,
        chosen: ToolSettings,
        asker: Asker | None,
        parameters: Mapping[str, Any] | None = None,
        filled: Collection[str] = (),
        arrived: Arrived | None = None,
    ) -> Admitted:
        """Return when a call may run, and with what. Raises as `CheckIn.admit` does; then the call is settled.

        `chosen` is what is set for the tool, `asker` the way to a person, None where nobody can be asked; `arrived`
        is the answer to an earlier question on the call.
        `parameters` is the tool's schema where only the tool itself checks its arguments; `filled` are those of it
        that are filled in later.
        """
        start, session = opened.start, self._session
        if chosen.wants:  # first: whoever decides on the call decides on the text itself
            arguments = self._redeemed(opened, arguments, dict(chosen.wants))
        gated = gated_by(settings, chosen)
        if arrived is None and gated.is_open and not PROCESS.concerns(start.tool_name, start.tool_source):
            return await self._with_credentials(opened, arguments, settings, chosen)
        if chosen.needs:  # nobody else may change what was approved while they are fetched
            arguments = apart(arguments)
        situation = Situation(
            tool_name=start.tool_name,
            tool_source=start.tool_source,
            cwd=str(session.cwd),
            project=str(project_root(session.cwd)),
            host=session.host,
            session_id=start.session_id,
            agent_id=start.agent_id,
            model=start.model,
        )
        doubt = None if parameters is None else misfit(parameters, arguments, filled=filled)
        await self.check_in.admit(opened, arguments, situation, gated, asker, misfit=doubt, arrived=arrived)
        return await self._with_credentials(opened, arguments, settings, chosen)

    def _redeemed(self, opened: OpenCall, arguments: JSONObject, wanted: dict[str, str]) -> JSONObject:
        store = self._session.artifacts
        try:
            return redeem(wanted, arguments, store)
        except Unredeemed as refusal:
            live = listed(() if store is None else store.live(), wanted.values())
            raise self.check_in.refused(
                opened, "unredeemed", argument=refusal.argument, problem=refusal.why, live=live
            ) from None

    async def _with_credentials(
        self, opened: OpenCall, arguments: JSONObject, settings: Settings, chosen: ToolSettings
    ) -> Admitted:
        """Fetch what the tool needs, now that it may run."""
        if not chosen.needs:
            return Admitted(arguments)
        known = {credential.name: credential for credential in settings.credentials}
        missing = next((name for name in chosen.needs if name not in known), None)
        if missing is not None or self._fetch is None:
            raise self.check_in.refused(opened, "credential", name=missing or chosen.needs[0])
        needed = tuple(known[name] for name in chosen.needs)
        try:
            given = await self._fetch(needed)
        except CredentialError as error:
            self._session.tell_once(str(error))
            raise self.check_in.refused(opened, "credential", name=error.name) from None
        self._session.learn(given.values())
        opened.given = tuple(given)
        return Admitted(arguments, given, {credential.variable: given[credential.name] for credential in needed})


class SessionKeeping:
    """What of a question the ledger of a session may hold."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def reasons(self, reasons: Iterable[Reason], arguments: JSONObject) -> tuple[str, ...]:
        return kept_reasons(reasons, arguments, self._session.redacted)

    def shown(self, question: Question, seen: Seen | None) -> str | None:
        arguments = self._session.kept_arguments(question.arguments)
        if arguments is None or seen is None:
            return None
        lines = question_lines(kept_question(question, arguments, self._session.redacted), width=KEPT_WIDTH)
        if seen.lines < seen.of:
            lines.insert(0, f"Only the first {seen.lines} of {seen.of} lines were on the screen.")
        return "\n".join(lines)


def gated_by(settings: Settings, chosen: ToolSettings) -> Gated:
    """Return the gates that settings put before a tool."""
    return Gated(
        ask=settings.ask,
        meanwhile=settings.meanwhile,
        tier=chosen.tier,
        floor=chosen.floor,
        rules=chosen.check_in,
        show=settings.consent,
        unattended=settings.unattended,
        touched=chosen.touches,
        given=chosen.needs,
        governed=(_governed_by(settings),) if settings.permissions else (),
    )


def _governed_by(settings: Settings) -> Governed:
    """Return the checker that the settings are."""
    said = dict.fromkeys(settings.permissions_of_project, f"this project's {PROJECT_FILE} says so")
    rulings = {name: Permit(ruling, said.get(name, "the settings say so")) for name, ruling in settings.permissions}
    return Governed(lambda capability, situation: rulings[capability], frozenset(rulings))
