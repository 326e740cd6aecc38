"""What pi-intent raises on purpose.

PiIntentError
├── IntentRejected      a call was read and refused; str() is the text for the model
├── InjectionSkipped    a schema cannot carry our properties; .reason says why
├── EventError          a text is not an event of ours
├── SettingsError       a settings file or variable cannot be used
├── LedgerError         the ledger cannot be written or read
└── HostError           a host is missing or is not what we know
"""

from __future__ import annotations

from typing import Literal

from pi_intent.types import Code, IntentCall

SkipReason = Literal["not_an_object", "owns_intent", "composed_schema"]
"""Why a schema cannot carry an intent.

`not_an_object`: it describes something other than an object · `owns_intent`: the tool has a parameter of that
name · `composed_schema`: keywords that our injection does not preserve the meaning of.
"""


class PiIntentError(Exception):
    """The root of everything raised on purpose; `str()` is one sentence for whoever must act."""


class IntentRejected(PiIntentError):
    """A call was refused before anything ran; `str()` is the text for the model, `call` what could be read of it."""

    def __init__(self, text: str, codes: tuple[Code, ...], call: IntentCall) -> None:
        super().__init__(text)
        self.codes = codes
        self.call = call


class InjectionSkipped(PiIntentError):
    """A tool's schema cannot carry the intent; the schema stays as it is."""

    def __init__(self, reason: SkipReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class EventError(PiIntentError):
    """A text is not an event of ours."""


class SettingsError(PiIntentError):
    """A settings file or variable cannot be used."""


class LedgerError(PiIntentError):
    """The ledger cannot be written or read."""


class HostError(PiIntentError):
    """A host is missing, or is not what we know."""
