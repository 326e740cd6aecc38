"""Make a coding agent say why before it reads, writes, edits or runs.

The names below are the ones that others may rely on; they are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pi_intent.contract.inject import remove_intent
    from pi_intent.contract.texts import INTENT_MARKER
    from pi_intent.defaults import inject_intent, read_call
    from pi_intent.errors import (
        CallDenied,
        CredentialError,
        EventError,
        HostError,
        InjectionSkipped,
        IntentRejected,
        LedgerError,
        PiIntentError,
        SettingsError,
    )
    from pi_intent.events import (
        CheckInDecision,
        CheckInRequest,
        FileChange,
        GroupSummary,
        OutcomePatch,
        ToolEvent,
        ToolExecutionEnd,
        ToolExecutionStart,
        ToolExecutionUpdate,
        ToolIntentUpdate,
        event_to_json,
        parse_event,
    )
    from pi_intent.gates.artifacts import artifact_reference
    from pi_intent.gates.capabilities import Permit
    from pi_intent.gates.credentials import credential
    from pi_intent.gates.declared import ask_when, declare_tier, declare_touched, govern
    from pi_intent.gates.question import Answer, Question
    from pi_intent.gates.situation import Situation
    from pi_intent.gates.tiers import Tiered
    from pi_intent.labels.board import CallLabel, GroupHeader, LabelBoard
    from pi_intent.labels.printable import printable
    from pi_intent.labels.reader import IntentReader
    from pi_intent.labels.settled import settled_text
    from pi_intent.sinks import MemorySink, subscribe
    from pi_intent.types import IntentCall

__version__ = "0.1.0"

_HOME = {
    "pi_intent.contract.inject": ("remove_intent",),
    "pi_intent.contract.texts": ("INTENT_MARKER",),
    "pi_intent.defaults": ("inject_intent", "read_call"),
    "pi_intent.errors": (
        "CallDenied",
        "CredentialError",
        "EventError",
        "HostError",
        "InjectionSkipped",
        "IntentRejected",
        "LedgerError",
        "PiIntentError",
        "SettingsError",
    ),
    "pi_intent.events": (
        "CheckInDecision",
        "CheckInRequest",
        "FileChange",
        "GroupSummary",
        "OutcomePatch",
        "ToolEvent",
        "ToolExecutionEnd",
        "ToolExecutionStart",
        "ToolExecutionUpdate",
        "ToolIntentUpdate",
        "event_to_json",
        "parse_event",
    ),
    "pi_intent.gates.artifacts": ("artifact_reference",),
    "pi_intent.gates.capabilities": ("Permit",),
    "pi_intent.gates.credentials": ("credential",),
    "pi_intent.gates.declared": ("ask_when", "declare_tier", "declare_touched", "govern"),
    "pi_intent.gates.question": ("Answer", "Question"),
    "pi_intent.gates.situation": ("Situation",),
    "pi_intent.gates.tiers": ("Tiered",),
    "pi_intent.labels.board": ("CallLabel", "GroupHeader", "LabelBoard"),
    "pi_intent.labels.printable": ("printable",),
    "pi_intent.labels.reader": ("IntentReader",),
    "pi_intent.labels.settled": ("settled_text",),
    "pi_intent.sinks": ("MemorySink", "subscribe"),
    "pi_intent.types": ("IntentCall",),
}
_MODULES = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "INTENT_MARKER",
    "Answer",
    "CallDenied",
    "CallLabel",
    "CheckInDecision",
    "CheckInRequest",
    "CredentialError",
    "EventError",
    "FileChange",
    "GroupHeader",
    "GroupSummary",
    "HostError",
    "InjectionSkipped",
    "IntentCall",
    "IntentReader",
    "IntentRejected",
    "LabelBoard",
    "LedgerError",
    "MemorySink",
    "OutcomePatch",
    "Permit",
    "PiIntentError",
    "Question",
    "SettingsError",
    "Situation",
    "Tiered",
    "ToolEvent",
    "ToolExecutionEnd",
    "ToolExecutionStart",
    "ToolExecutionUpdate",
    "ToolIntentUpdate",
    "artifact_reference",
    "ask_when",
    "credential",
    "declare_tier",
    "declare_touched",
    "event_to_json",
    "govern",
    "inject_intent",
    "parse_event",
    "printable",
    "read_call",
    "remove_intent",
    "settled_text",
    "subscribe",
]


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
