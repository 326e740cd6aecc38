"""Know a server's tools as the client was shown them: which we gave an intent, and which have one of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

from pi_intent.contract.inject import inject_intent, our_properties
from pi_intent.contract.rows import INTENT, RATIONALE
from pi_intent.contract.texts import ModelTexts
from pi_intent.errors import InjectionSkipped
from pi_intent.hosts.mcp.wire import Unreadable, dumped, read_exactly
from pi_intent.settings.tool import ToolSettings
from pi_intent.types import JSONObject

Carries = Literal["ours", "inherited", "nothing"]
"""What a tool's schema says of an intent: `ours` was put there by us and is taken out of its calls; `inherited` came
from the server with our mark, so the call must state it and the server gets it; `nothing` is asked of the others."""


_OURS = (INTENT, RATIONALE)


class KnownTool(NamedTuple):
    """A tool that a list has shown; `parameters` is as much of its own schema as reading a call takes."""

    name: str
    carries: Carries
    settings: ToolSettings
    parameters: JSONObject | None
    ours: tuple[str, ...] = ()
    """The fields that are taken out of its calls."""
    shown: str | None = None
    """The schema that the client gets instead, as JSON text; None where it gets the server's own."""


class Tools:
    """The tools by name. `settings_for` says what holds for one; `on_skipped(name, reason)` is told once a tool,
    `on_listed(names)` when the first whole list has come.
    """

    def __init__(
        self,
        *,
        texts: ModelTexts,
        settings_for: Callable[[str], ToolSettings],
        on_skipped: Callable[[str, str], None],
        on_listed: Callable[[Iterable[str]], None] = lambda names: None,
        may_require: bool = False,
    ) -> None:
        self._texts = texts
        self.settings_for = settings_for
        self._on_skipped = on_skipped
        self._on_listed = on_listed
        self.may_require = may_require
        """Whether any tool may be under `require`, and a call that names none must not pass."""
        self._told: set[str] = set()
        self._known: dict[str, KnownTool] = {}
        """Of the last whole list."""
        self._listing: dict[str, KnownTool] = {}
        """Of the list whose pages are being shown: what the client saw last goes first."""
        self._next_page: str | None = None
        self._is_whole = False
        """Whether the pages that are being shown began with the first one."""

    def find(self, name: str) -> KnownTool | None:
        """Return a tool that a list has shown, or None."""
        return self._listing.get(name) or self._known.get(name)

    def learn(self, definition: dict[str, Any], schema: str | None) -> KnownTool | None:
        """Take a tool from a list, with the text of its `inputSchema`; None where it has no name.

        Where the text is None, the client cannot be shown another one.
        """
        name = definition.get("name")
        if not isinstance(name, str):
            return None
        tool = self._listing[name] = self._read(name, "inputSchema" in definition, schema)
        return tool

    def begin_page(self, cursor: object) -> None:
        """A page is about to be learnt: the first one of a list, or the one that the last page led to."""
        if cursor is None or cursor != self._next_page:
            self._known |= self._listing  # of a list that was never finished
            self._listing = {}
            self._is_whole = cursor is None

    def end_page(self, next_cursor: object) -> None:
        """A page has been learnt; with the last one, what the list did not show is forgotten."""
        if isinstance(next_cursor, str):
            self._next_page = next_cursor
        else:
            self._next_page = None
            if self._is_whole and not self._known:
                self._on_listed(self._listing)
            self._known = self._listing if self._is_whole else self._known | self._listing
            self._listing = {}

    def _read(self, name: str, has_schema: bool, schema: str | None) -> KnownTool:
        settings = self.settings_for(name)
        plain = KnownTool(name, "nothing", settings, None)
        if settings.policy in ("omit", "derive"):
            return plain
        if schema is None:
            self._skip(name, "a key stands twice in its list" if has_schema else "it has no schema")
            return plain
        try:
            parameters = read_exactly(schema)
            shown = inject_intent(parameters, texts=self._texts, profile=settings.profile, policy=settings.policy)
            text = dumped(shown)
        except InjectionSkipped as skipped:
            self._skip(name, str(skipped))
            return plain
        except (Unreadable, ValueError, RecursionError) as error:
            self._skip(name, str(error) if isinstance(error, Unreadable) else "its schema cannot be written again")
            return plain
        inherited = our_properties(parameters.get("properties"))
        asked = inherited or our_properties(shown.get("properties"))
        # Whatever of these two is not ours is the tool's. Said here once, because asking a schema that is composed
        # takes longer than a whole call does.
        reading: JSONObject = {
            "properties": {field: {} for field in _OURS if field not in asked},
            "required": [field for field in parameters.get("required", ()) if field not in asked],
        }
        if inherited:
            return KnownTool(name, "inherited", settings, reading, (), text)
        return KnownTool(name, "ours", settings, reading, tuple(field for field in _OURS if field in asked), text)

    def _skip(self, name: str, reason: str) -> None:
        if name not in self._told:
            self._told.add(name)
            self._on_skipped(name, reason)
