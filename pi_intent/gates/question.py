"""What a person is asked about one call, and what they can answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, get_args, runtime_checkable

from pi_intent.gates.situation import Situation
from pi_intent.types import JSONObject

if TYPE_CHECKING:  # a host names these types where no gate is loaded
    from pi_intent.gates.evidence import Evidence
    from pi_intent.gates.kinds import Reason

Show = Literal["both", "literal"]
"""Whether the person sees what the agent says beside what the call does."""

Scope = Literal["once", "session"]
"""`session`: this exact call again in this session, too."""

SCOPES: tuple[Scope, ...] = get_args(Scope)


class AskingStopped(Exception):
    """Raised by an asker whose host stopped the call while somebody was asked."""


class Question(NamedTuple):
    """One call that waits for a person: the literal action first, and what is said of it after that.

    `reasons` say why it is asked about; `before` is what stands in the file that a `write` would replace, None where
    there is none (then it `creates` it) or where that cannot be shown; `shows_words` is false where the person wants
    to see the literal action alone, `intent_asked` where the agent is not asked for an intent; `misfit` says why the
    tool may refuse the call anyway; `intent` and `rationale` are None where the model gave none or they are not to be
    shown. `given` are the names of the credentials that the call gets. `digest` names exactly this call, for this
    ledger; `number` counts the questions on one call from 1.
    """

    call_id: str
    situation: Situation
    arguments: JSONObject
    reasons: tuple[Reason, ...]
    digest: str
    number: int = 1
    before: str | None = None
    creates: bool = False
    shows_words: bool = True
    misfit: str | None = None
    intent_asked: bool = True
    intent: str | None = None
    rationale: str | None = None
    evidence: Evidence | None = None
    given: tuple[str, ...] = ()


class Seen(NamedTuple):
    """How much of a question has been on a person's screen: the first so many of all its lines."""

    lines: int
    of: int


class Answer(NamedTuple):
    """What was said. `note` is for the model to read; `seen` is None where it is not known what somebody saw.

    `by` is "application" where a program answered and it is not known who stands behind that.
    """

    approved: bool
    scope: Scope = "once"
    note: str | None = None
    seen: Seen | None = None
    by: Literal["person", "application"] = "person"


@runtime_checkable
class Asker(Protocol):
    """A host's way to a person.

    - `ask` waits for the answer, one question at a time; an answer that nobody gave (a dialog closed, a client that
      went away) is a denial without a note.
    - It may raise: the call is then denied, and the model is told that asking failed. `AskingStopped` says that the
      host stopped the call, which is then cancelled. Raising `Deferred`, it has handed the question on, and the call
      waits for the answer, in a host that can wait.
    - It is cancelled with the call, and takes its dialog back then.
    """

    async def ask(self, question: Question) -> Answer: ...
