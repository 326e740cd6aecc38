"""What a session file tells, the same for every dialect: whose it is, the calls and what came of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pi_intent.types import JSONObject, Status

Dialect = Literal["tau", "pi", "oh-my-pi", "claude-code", "codex", "openhands"]
"""Whose file it is; also the `host` of what is imported from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Whose session it is. Comes first; again where a file changes its mind (a working directory, a version).

    `session` is the agent's own id, or None where the file has none. Times everywhere are Unix seconds.
    """

    session: str | None
    cwd: str | None = None
    version: str | None = None
    started: float | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What the user asked for. It is compared with intents, and never stored."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCall:
    """A call that stands in the file.

    `key` tells it from every other call of the session and stays the same when the file grows. `args` are the
    arguments as the tool was to get them: without the intent, without the rationale. `asked` says that the tool is
    known to carry an intent in this dialect, so that a missing one means something; without it `intent` is None.
    `per_edit` is the number of intents that stood inside single edits: counted, never merged into one. `group` is
    the assistant message, `turn` its number from 1. `parent` is the call it was made inside of.
    """

    key: str
    tool_call_id: str
    tool: str
    group: str
    turn: int
    args: JSONObject
    intent: str | None = None
    rationale: str | None = None
    asked: bool = False
    per_edit: int = 0
    ts: float | None = None
    tool_source: str | None = None
    agent: str = "main"
    parent: str | None = None
    model: str | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundResult:
    """What came of a call. `key` is that of its `FoundCall`; None for a result whose call is not in the file.

    `is_error` is what the agent says, `status` what we make of it. `error` is the text of a failure, `text` what the
    model got, to read facts off; both literal, cut and redacted by whoever keeps them. `bytes_out` is the size of
    that text in UTF-8, `ms` the duration and `exit_code` the code where the file has one beside the text.
    """

    key: str | None
    tool_call_id: str
    status: Status
    is_error: bool
    ts: float | None = None
    ms: int | None = None
    error: str | None = None
    text: str | None = None
    bytes_out: int = 0
    exit_code: int | None = None
    codes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A line that could not be read, or a kind of record that is not known; `text` is a sentence for a person."""

    line: int
    text: str


type Found = Head | Prompt | FoundCall | FoundResult | Unread
