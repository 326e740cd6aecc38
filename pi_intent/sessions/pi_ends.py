"""Say how a call ended by what pi and its kin wrote as its result: a flag, details, and sentences of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, get_args

from pi_intent.sessions.wrapped import held_up, our_words
from pi_intent.types import Code, JSONValue, Status

_LOOKED_AT = 4096
"""Characters at the beginning and at the end of a text in which a sentence of the agent is looked for."""

_NOT_FOUND = re.compile(r"Tool \S{1,200} not found\b")
_INVALID = re.compile(r"Validation failed for tool |Invalid arguments for tool ")
_NOT_JSON = "Invalid arguments for tool "
BLOCKED = "Tool call blocked: "
"""How Tau answers for a hook that blocks a call."""

_BLOCKED = re.compile(rf"{BLOCKED}|Tool execution was blocked")
_STOPPED = re.compile(
    r"Operation aborted\Z|Tool call interrupted by user\Z"
    r"|Tool execution was aborted|Skipped due to queued user message"
)
_COMMAND_STOPPED = "Command aborted"
_COMMAND_TIMED_OUT = re.compile(r"Command timed out after [0-9.]{1,20} ?s(?:econds?)?\.?")
_FIELD = re.compile(r"^\s*-? ?(?P<field>intent|rationale|i|_i|agent__intent): (?P<what>.*)$", re.MULTILINE)


class End(NamedTuple):
    """How a call ended; `unknown_tool` says that there is no tool of that name."""

    status: Status
    codes: tuple[Code, ...] = ()
    unknown_tool: bool = False


def end_of(text: str, *, is_error: bool, ran: bool | None, details: Mapping[str, JSONValue]) -> End:
    """Return how the call with this result ended.

    `ran` says whether the tool itself was reached, None where the file does not tell: of a tool that ran, the text is
    its own and no verdict of the agent. An error of a tool that was not reached is a rejection unless the text says
    otherwise.
    """
    if details.get("cancelled") is True:
        return End("cancelled")
    if details.get("timed_out") is True:
        return End("timeout")
    if not is_error:
        return End("error" if _failed(details.get("exit_code", details.get("exitCode"))) else "ok")
    if ran is not True:
        if (status := held_up(text[:_LOOKED_AT])) is not None:
            return End(status)
        if _NOT_FOUND.match(text):
            return End("rejected", unknown_tool=True)
        if (codes := _refusal(text[:_LOOKED_AT])) is not None:
            return End("rejected", codes)
        if _BLOCKED.match(text):
            return End("denied")
    last = text[-_LOOKED_AT:].rstrip().rpartition("\n")[2]
    if _STOPPED.match(text) or last == _COMMAND_STOPPED:
        return End("cancelled")
    if _COMMAND_TIMED_OUT.fullmatch(last):
        return End("timeout")
    return End("rejected" if ran is False else "error")


def _failed(exit_code: JSONValue) -> bool:
    return isinstance(exit_code, int) and exit_code != 0


def _refusal(text: str) -> tuple[Code, ...] | None:
    """Return what a refusal found wrong with our fields; None for a text that refuses nothing."""
    if _INVALID.match(text):
        said = text.partition("Received arguments:")[0]
        found: set[Code | None] = {_code(line["field"], line["what"]) for line in _FIELD.finditer(said)}
        if text.startswith(_NOT_JSON):
            found.add("arguments_not_json")
    else:
        opening, problems = our_words()
        if not text.startswith(opening):
            return None
        found = {code for code, problem in problems.items() if problem in text}
    return tuple(code for code in get_args(Code) if code in found)


def _code(field: str, what: str) -> Code | None:
    rationale = field == "rationale"
    if "missing" in what or "required" in what:
        return None if rationale else "intent_missing"
    if re.search(r"(?:at least|fewer than) 1 character", what):
        return "rationale_blank" if rationale else "intent_blank"
    if re.search(r"(?:expected|must be)(?: a)? string", what):
        return "rationale_not_text" if rationale else "intent_not_text"
    return None
