"""What a session has of its ledger beside its calls: digests, what tools store, the credentials that it was given."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from pi_intent.types import JSONObject

if TYPE_CHECKING:
    from pi_intent.gates.artifacts import Artifact
    from pi_intent.ledger.artifacts import ArtifactStore
    from pi_intent.ledger.journal import SessionJournal
    from pi_intent.ledger.keys import Digester
    from pi_intent.redaction import Redactor


class RecordedSession:
    """The part of a session that gates and results ask; `journal` is set when the ledger is open, None without one.

    Each thing is loaded by whoever needs it first: most sessions need none of them.
    """

    def __init__(self) -> None:
        self.journal: SessionJournal | None = None
        self._digester: Digester | None = None
        self._artifacts: ArtifactStore | None = None
        self._outlives = False
        """Whether what is stored stays when this object is closed."""
        self._given: Redactor | None = None
        """What knows the credentials that were given."""
        self._secrets: set[str] = set()
        self.on_learned: Callable[[frozenset[str]], None] = lambda secrets: None
        """Told what a tool of the session is given."""
        self._of_spans: Redactor | None = None

    def tell_once(self, message: str) -> None:
        """Show a person a sentence that they have not been shown."""
        raise NotImplementedError

    def digest(self, data: bytes) -> str:
        """Return what names these bytes in the ledger; without one, what nobody else can compute either."""
        if self.journal is not None:
            return self.journal.digester.digest(data)
        if self._digester is None:
            from pi_intent.ledger.keys import Digester

            self._digester = Digester(os.urandom(32))
        return self._digester.digest(data)

    @property
    def artifacts(self) -> ArtifactStore | None:
        """What tools have stored in this session; None where nothing is recorded, and so nothing stored."""
        if self._artifacts is None and self.journal is not None and self.journal.path is not None:
            from pi_intent.ledger.artifacts import ArtifactStore

            self._artifacts = ArtifactStore(self.journal.location.root, self.journal.path)
        return self._artifacts

    def adopt(self, store: ArtifactStore) -> None:
        """Keep what tools store with what was stored before; whoever hands it in closes it."""
        self._artifacts, self._outlives = store, True

    def store(self, artifact: Artifact, tool_name: str) -> None:
        """Keep what a tool says is to be stored, for later calls of this session; say where that cannot be done."""
        store = self.artifacts
        if self.holds_given(artifact.text):
            self.tell_once(f"what {tool_name} wanted to store holds a credential: it was not stored")
        elif store is None:
            self.tell_once(f"what {tool_name} wanted to store was not stored, as this session has no ledger")
        elif (problem := store.put(artifact.kind, artifact.text, tool_name)) is not None:
            self.tell_once(problem)

    def learn(self, secrets: Iterable[str]) -> None:
        """Keep out what a tool of the session is given, and tell of it."""
        given = frozenset(secrets)
        self.on_learned(given)
        self.keep_out(given)

    def keep_out(self, secrets: Iterable[str]) -> None:
        """Keep these texts out of everything that leaves the process from now on."""
        fresh = set(secrets) - self._secrets
        if not fresh:
            return
        from pi_intent.redaction import Redactor

        if self._given is None:
            self._given = Redactor(os.urandom(32))
        self._secrets |= fresh
        self._given.learn(fresh)
        if self._of_spans is not None:
            self._of_spans.learn(fresh)
        if self.journal is not None:
            self.journal.learn(fresh)

    def redacted(self, text: str) -> str:
        """Return a text without its secrets, as the ledger may hold it."""
        return text if self.journal is None else self.journal.redactor.text(text)

    def redactor_of_spans(self, environ: Mapping[str, str]) -> Redactor:
        """Return what takes secrets out of spans: the ledger's, or without a ledger one that knows as much."""
        if self.journal is not None:
            return self.journal.redactor
        if self._of_spans is None:
            from pi_intent.redaction import Redactor

            self._of_spans = Redactor(os.urandom(32), environ)
            self._of_spans.learn(self._secrets)
        return self._of_spans

    def kept_arguments(self, arguments: JSONObject) -> JSONObject | None:
        """Return the arguments of a call as the ledger has them; None where nothing is recorded."""
        return None if self.journal is None else self.journal.kept_arguments(arguments)

    @property
    def has_given(self) -> bool:
        """Whether any tool of the session was given a credential so far."""
        return self._given is not None

    def holds_given(self, text: str) -> bool:
        """Say whether a text holds a credential that was given, in whatever form it is written."""
        return self._given is not None and self._given.holds_known(text)

    def give_back(self) -> None:
        """Close what tools stored, and the ledger."""
        if self._artifacts is not None and not self._outlives:
            self._artifacts.close()
        if self.journal is not None:
            self.journal.close()
