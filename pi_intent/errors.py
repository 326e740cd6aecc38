"""What pi-intent raises on purpose.

PiIntentError
├── IntentRejected      a call was read and refused; str() is the text for the model
├── CallDenied          a call was not let through; str() is the text for the model
├── CredentialError     a credential could not be fetched; str() says nothing of its value
├── ResultWithheld      a failure's text was too large to be passed on; str() is the text for the model
├── InjectionSkipped    a schema cannot carry our properties; .reason says why
├── EventError          a text is not an event of ours
├── SettingsError       a settings file or variable cannot be used
├── LedgerError         the ledger cannot be written or read
├── SessionError        a file is no session file that can be read
├── TracingError        spans could not be sent
└── HostError           a host is missing or is not what we know
"""

from __future__ import annotations

from typing import Literal

from pi_intent.types import Code, IntentCall

SkipReason = Literal[
    "malformed_schema",
    "boolean_schema",
    "not_an_object",
    "owns_intent",
    "pattern_matches_intent",
    "unreadable_pattern",
    "fixed_arguments",
    "counted_properties",
    "remote_reference",
    "unresolved_reference",
    "circular_reference",
    "dynamic_reference",
    "embedded_id",
    "too_deep",
]
"""Why a schema cannot carry an intent. Each also comes with a sentence that names what is in the way.

`malformed_schema`: a keyword holds what is no schema, such as `properties` as a list · `boolean_schema`: it is
`true` or `false` · `not_an_object`: it describes something other than an object · `owns_intent`: the tool has a
parameter called `intent` · `pattern_matches_intent`: a rule of `patternProperties` takes the name `intent`, so that
a plain text may break it · `unreadable_pattern`: a pattern that Python cannot read, or not in bounded time, may be
such a rule ·
`fixed_arguments`: `const` or `enum` lists whole argument objects · `counted_properties`: properties are counted in a
draft older than 7, which cannot say "one more if there is an intent" · `remote_reference`: what the arguments must
be stands in another document · `unresolved_reference`: a `$ref` points at nothing · `circular_reference`: a
`$ref` leads back to itself before any argument is reached · `dynamic_reference`: `$dynamicRef` or `$recursiveRef`
means another schema once the root has changed · `embedded_id`: an `$id` below the root changes what the references
around it mean · `too_deep`: the schema is nested too deeply to be walked.
"""


class PiIntentError(Exception):
    """The root of everything raised on purpose; `str()` is one sentence for whoever must act."""


class CallDenied(PiIntentError):
    """A call was not let through, and nothing ran; `str()` is the text for the model."""


class CredentialError(PiIntentError):
    """A credential could not be fetched; `name` is its name, and `str()` says nothing of its value."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name


class ResultWithheld(PiIntentError):
    """A tool ran and failed with a text larger than what is set; `str()` is what the model gets in its place."""


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


class SessionError(PiIntentError):
    """A file is no session file that can be read."""


class HostError(PiIntentError):
    """A host is missing, or is not what we know."""


class TracingError(PiIntentError):
    """Spans could not be sent."""
