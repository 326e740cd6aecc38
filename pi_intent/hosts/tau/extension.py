"""One runtime of Tau, as pi-intent knows it: its settings, its shadows, and the session it belongs to."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tau_agent.tools import AgentTool
from tau_coding.extensions.api import ExtensionAPI, ExtensionError

from pi_intent.contract.rows import ROWS
from pi_intent.contract.texts import ModelTexts
from pi_intent.descriptions import model_texts
from pi_intent.hosts.tau.layers import RUNNING
from pi_intent.hosts.tau.rows import call_row
from pi_intent.hosts.tau.session import SESSIONS, TauSession
from pi_intent.pipeline import CallRequest
from pi_intent.runtime import SessionRuntime, may_ask, new_id
from pi_intent.settings import PROJECT_FILE, LoadedSettings, Settings, ToolSettings, load_settings, project_root
from pi_intent.settings.rules import MOST_UNMATCHED, without_unmatched
from pi_intent.types import NOT_ASKED, Code, Policy, Profile

if TYPE_CHECKING:
    from textual.widgets import Static

    from pi_intent.hosts.tau.ceiling import Ceiling

PROFILE: Profile = "lean"
"""Tau's system prompt is ours to add to, so the schemas stay short."""


class Shadow(NamedTuple):
    """One shadowed tool of a runtime.

    `parameters` is the schema of the tool it stands over; `policy` and `profile` are those the model's schema was
    made with; `injected` tells whether it holds our fields; `source` names the extension that supplied the tool.
    `only_gated` says that the tool is another extension's, of which nothing is followed unless something holds it.
    """

    parameters: Mapping[str, Any]
    policy: Policy
    profile: Profile
    injected: bool
    source: str | None = None
    only_gated: bool = False


class TauExtension:
    """One runtime of Tau: which of its tools we shadow, and the session that they belong to."""

    def __init__(self, tau: ExtensionAPI) -> None:
        self.tau = tau
        self.texts: ModelTexts = model_texts()
        # The working directory of the session cannot be asked for yet; the schemas go by the process's.
        self._started_in = working_directory()
        self.loaded = load_settings(project=project_root(self._started_in), environ=os.environ)
        self.problems: list[str] = []
        self.shadows: dict[str, Shadow] = {}
        self.tool_names: list[str] = []
        self.own: dict[str, AgentTool] = {}
        self.sign: Static | None = None
        self.is_plain = False
        """Whether the tools are shadowed by registration alone, in one layer."""
        self._session: tuple[str | None, TauSession] | None = None
        self._settled_for: object = None
        self._loaded_there: LoadedSettings = self.loaded
        self._settings: Settings = self.loaded.settings

    @property
    def cwd(self) -> Path:
        """The session's working directory."""
        return Path(self._ask("cwd", None) or self._started_in)

    @property
    def is_watched(self) -> bool:
        """Whether a person follows the session on a screen."""
        return bool(self._ask("has_ui", False))

    def _ask(self, name: str, default: Any) -> Any:
        """Ask Tau's context, which raises before a session is bound and after it was replaced."""
        try:
            return getattr(self.tau.context, name)
        except ExtensionError:
            return default

    @property
    def settings(self) -> Settings:
        """The settings of the session, read again when it works in another directory than the process."""
        cwd = self._ask("cwd", None)
        if cwd is not None and cwd is not self._settled_for:
            root = project_root(Path(cwd))
            same = root == project_root(self._started_in)
            self._loaded_there = self.loaded if same else load_settings(project=root, environ=os.environ)
            self._settings = self._loaded_there.settings.for_tools(self.tool_names)
            self._settled_for = cwd  # last: those who watch are served by another thread, which asks as well
        return self._settings

    def has_tools(self, names: list[str]) -> None:
        """Note the tools that Tau has composed: what is set for one that is not among them may be misspelt."""
        self.tool_names = names
        self._settings = self._loaded_there.settings.for_tools(names)

    @property
    def is_gated(self) -> bool:
        """Whether anything may hold a call of this session up."""
        return may_ask(self.settings)

    def ceiling(self, session: TauSession, tool_name: str, chosen: ToolSettings) -> Ceiling | None:
        """Return what bounds the result of a call; None where nothing does.

        What one tool was given any other may read from where that has left it.
        """
        if chosen.result_limit is None and not chosen.needs and not session.runtime.has_given:
            return None
        from pi_intent.hosts.tau.ceiling import Ceiling

        return Ceiling(session.runtime, tool_name, chosen.result_limit)

    def session(self) -> TauSession:
        """Return the session that this runtime belongs to now."""
        session_id = self._ask("session_id", None)
        if self._session is not None and self._session[0] == session_id is not None:
            return self._session[1]
        bound = self.host_session or self  # what a session without an id is known by
        session = SESSIONS.get(session_id, bound)
        if session is None:
            runtime = SessionRuntime(
                session_id=session_id or new_id(),
                host="tau",
                host_version=tau_version(),
                cwd=self.cwd,
                strict=self.settings.strict,
                tell=_weakly(self.tell),
                withholds=_withheld_by(self),
                traced=self.settings.tracing,
            )
            session = TauSession(runtime)
            if session_id is None:  # no event of Tau's may ever say that it is over
                weakref.finalize(bound, runtime.close)
            SESSIONS.put(session_id, bound, session)
        if session.gates is None and self.is_gated:
            from pi_intent.hosts.tau.check_in import gates_of

            gates_of(session)  # from the first call on, so that it knows what led to the one it asks about
        # Those of an earlier runtime are dead. Weakly, or a session that nobody closed would never be let go.
        session.runtime.tell = _weakly(self.tell)
        session.runtime.withholds = _withheld_by(self)
        session.runtime.pipeline.on_stuck = _weakly(self._tell_stuck)
        self._session = (session_id, session)
        return session

    @property
    def host_session(self) -> Any:
        """The session that Tau has bound to this runtime, None where there is none."""
        # Not public: what Tau offers extensions holds no messages and no ids of entries.
        runtime = getattr(self.tau, "_runtime", None)
        return getattr(runtime, "_session", None)

    def take_problems(self) -> list[str]:
        """Return what the person should know of this session and has not been told, once."""
        settings = self.settings
        found = [*self.problems, *self._loaded_there.warnings]
        self.problems = []
        if self._loaded_there.origins.get("redact_args", "").endswith(PROJECT_FILE):
            found.append(f"this project's {PROJECT_FILE} keeps the texts of calls out of your ledger (redact_args)")
        if settings.can_ask:
            from pi_intent.settings.parsing import missing_parser

            found += [problem] if (problem := missing_parser(settings)) is not None else []
        for name, shadow in self.shadows.items():
            asked = self.settings_of(name).policy
            if name in ROWS and not shadow.injected and shadow.policy in NOT_ASKED and asked not in NOT_ASKED:
                found.append(
                    f"the settings of {self.cwd} ask for the intents of {name}, which needs Tau to be started there"
                )
        names = self.tool_names or list(self.shadows)
        unmatched = settings.for_session(names).unmatched(names, most=MOST_UNMATCHED)
        return [*without_unmatched(found, unmatched), *unmatched]

    def tell(self, message: str, level: Literal["info", "warning"] = "warning") -> None:
        """Show the person a sentence, on the screen or on stderr."""
        with suppress(ExtensionError):  # the session is gone, and with it whoever could be told
            self.tau.notify(message, level)

    def _tell_stuck(self, request: CallRequest, rounds: int, codes: tuple[Code, ...]) -> None:
        self.tell(stuck_sentence(request, rounds, codes, watched=self.is_watched))

    def row(self, tool_name: str, arguments: Mapping[str, Any]) -> str | None:
        """Draw a call of a shadowed tool; None where Tau shall draw it."""
        shadow = self.shadows.get(tool_name)
        if shadow is None or not shadow.injected:
            return None
        shown = self.session().shown
        return call_row(tool_name, arguments, "" if shown is None else shown.ends.of(tool_name, arguments))

    def settings_of(self, tool_name: str) -> ToolSettings:
        """Return what is set for a tool, before what the person chose for the session."""
        shadow = self.shadows.get(tool_name)
        return self.settings.for_tool(
            tool_name,
            tool_source=None if shadow is None else shadow.source,
            watched=self.is_watched,
            profile=PROFILE,
            is_shadow=tool_name in ROWS,
        )

    def follows(self, tool_name: str) -> bool:
        """Whether calls of a tool are read and recorded."""
        shadow = self.shadows.get(tool_name)
        return shadow is not None and (
            not shadow.only_gated or self.is_gated or self.settings_of(tool_name).bounds_results
        )

    def policy_of(self, tool_name: str, session: TauSession, chosen: ToolSettings | None = None) -> Policy:
        """Return the policy in force: what the person chose for this session, else the settings.

        Never one that the schema before the model does not carry.
        """
        shadow = self.shadows[tool_name]
        if not shadow.injected:
            return shadow.policy if shadow.policy in NOT_ASKED else "optional"
        return session.override or (chosen or self.settings_of(tool_name)).policy

    def request(
        self,
        session: TauSession,
        tool_name: str,
        tool_call_id: str,
        arguments: object,
        *,
        group_id: str,
        call_id: str | None,
        chosen: ToolSettings,
    ) -> CallRequest:
        """Describe a call to the pipeline; `chosen` is what is set for the tool."""
        shadow = self.shadows[tool_name]
        parent = RUNNING.get()
        return CallRequest(
            tool_name=tool_name,
            tool_call_id=tool_call_id,
            arguments=arguments,
            group_id=group_id,
            turn=session.turn,
            policy=self.policy_of(tool_name, session, chosen),
            profile=shadow.profile,
            budget=chosen.budget,
            redact_args=chosen.redact_args,
            parameters=shadow.parameters,
            agent_id="main" if parent is None else "child",
            tool_source=shadow.source,
            parent_call_id=None if parent is None else parent.opened.start.call_id,
            model=self._ask("model", None),
            call_id=call_id,
        )


def stuck_sentence(request: CallRequest, rounds: int, codes: tuple[Code, ...], *, watched: bool) -> str:
    """Say to the person why a tool is refused again and again, and what can be done."""
    if codes[0].startswith("arguments"):
        why, then = "its arguments cannot be read", "the model may be running out of room for its answer"
    elif request.policy == "adaptive":
        why = "the model states no usable intent"
        more = request.budget - rounds
        then = f"after {more} more it runs without one" if more > 0 else "its next call runs without one"
    else:
        fields = " and ".join(dict.fromkeys(code.partition("_")[0] for code in codes))
        why = f"the model states no usable {fields}"
        then = "ask it to, or let calls run without: "
        then += "/intent adaptive or /intent off" if watched else "PI_INTENT_POLICY=adaptive"
    return f"{request.tool_name} was refused {rounds} rounds in a row, because {why}; {then}."


def _weakly[**P](method: Callable[P, None]) -> Callable[P, None]:
    """Return what calls a bound method for as long as its object is there."""
    reference = weakref.WeakMethod(method)

    def call(*arguments: P.args, **named: P.kwargs) -> None:
        alive = reference()
        if alive is not None:
            alive(*arguments, **named)

    return call


def _withheld_by(extension: TauExtension) -> Callable[[str], bool]:
    """Return what says of a tool whether its texts stay in this process; where nobody knows any more, they do."""
    reference = weakref.ref(extension)

    def withheld(tool_name: str) -> bool:
        alive = reference()
        return alive is None or alive.settings_of(tool_name).redact_args

    return withheld


def working_directory() -> Path:
    """Return the directory of this process, or the root where it is gone."""
    try:
        return Path.cwd()
    except OSError:
        return Path("/")


def tau_version() -> str:
    """Return the version of the Tau we run in, "unknown" where it does not say."""
    try:
        return metadata.version("tau-ai")
    except metadata.PackageNotFoundError:
        return "unknown"
