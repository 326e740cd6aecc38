"""Quality notes: deterministic, explained doubts about what a call states. They never reject anything."""

from pi_intent.notes.evidence import Exists
from pi_intent.notes.note import KINDS, Note, NoteKind
from pi_intent.notes.session import SessionNotes, in_order, notes_of

__all__ = ["KINDS", "Exists", "Note", "NoteKind", "SessionNotes", "in_order", "notes_of"]
