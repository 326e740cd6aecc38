"""The words of the contract: aliases, closed sets and the one value that every layer shares."""

from __future__ import annotations

from typing import Literal, NamedTuple

type JSONValue = None | bool | int | float | str | list[JSONValue] | dict[str, JSONValue]
"""What `json.loads` returns."""

type JSONObject = dict[str, JSONValue]

Policy = Literal["require", "adaptive", "optional", "derive", "omit"]
"""What a missing intent means for a tool; `STRICTNESS` orders them."""

NOT_ASKED: frozenset[Policy] = frozenset({"derive", "omit"})
"""The policies under which a model is asked for no intent, and a tool's schema stays as it is."""

STRICTNESS: dict[Policy, int] = {"omit": 0, "derive": 1, "optional": 2, "adaptive": 3, "require": 4}

Profile = Literal["lean", "full"]
"""How much of the contract the schema itself explains."""

IntentSource = Literal["model", "derived", "absent"]

Host = Literal["tau", "pi", "mcp", "pydantic-ai", "python", "oh-my-pi", "claude-code", "codex", "openhands"]
"""Who ran a call: the hosts we sit in, and the agents whose session files are imported."""

Status = Literal["rejected", "denied", "cancelled", "interrupted", "timeout", "error", "ok"]
"""How a call ended, in the order in which the first match wins."""

Code = Literal[
    "arguments_not_an_object",
    "arguments_not_json",
    "intent_missing",
    "intent_not_text",
    "intent_blank",
    "rationale_not_text",
    "rationale_blank",
]
"""Why reading a call was refused."""

Flag = Literal[
    "budget_spent",
    "copied",
    "edit_fields_dropped",
    "imported",
    "intent_dropped",
    "rationale_dropped",
    "redact_args",
    "sent_as_text",
    "truncated",
    "unserialisable",
    "withheld",
]
"""What is worth knowing about a call that was let through.

`budget_spent`: run without an intent after the rejections its policy allows · `copied`: the intent is a text
of ours, or, of what was imported, the user's prompt · `edit_fields_dropped`: fields of ours stood inside `edits` ·
`imported`: read from a session file afterwards · `intent_dropped`, `rationale_dropped`: there was one, unusable ·
`redact_args`: text is withheld from what leaves the process · `sent_as_text`: the arguments came as JSON text ·
`truncated`: a field was cut for the ledger · `unserialisable`: the arguments are nested too deeply, or hold numbers
too large, to be written down · `withheld`: the result was larger than is set, and went nowhere.
"""


class IntentCall(NamedTuple):
    """A call as it was read: the stated intent and rationale, and the arguments without them.

    A named tuple, because one is made for every call and a frozen dataclass takes five times as long.
    """

    intent: str | None
    rationale: str | None
    intent_source: IntentSource
    arguments: JSONObject
    flags: tuple[Flag, ...] = ()
