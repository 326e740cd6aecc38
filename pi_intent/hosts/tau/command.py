"""The `/intent` command: what is on, what the last calls were for, what a missing intent means."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tau_coding.extensions.api import ExtensionCommandContext

from pi_intent.hosts.tau.extension import TauExtension
from pi_intent.hosts.tau.rows import target_lines
from pi_intent.hosts.tau.screen import refresh_sign, sign_text
from pi_intent.hosts.tau.session import PastCall
from pi_intent.labels.literal import literal_lines
from pi_intent.labels.printable import printable
from pi_intent.runtime import may_ask
from pi_intent.settings import Settings
from pi_intent.settings.load import user_file
from pi_intent.types import Policy

if TYPE_CHECKING:
    from pi_intent.ledger.journal import SessionJournal

CHOICES: dict[str, Policy] = {"require": "require", "adaptive": "adaptive", "off": "optional"}
"""What a person can choose for a session: `off` refuses nothing, and the schema stays as it is."""

MEANING = {
    "require": "a call without an intent is refused",
    "adaptive": "a call without an intent is refused for a few rounds, and then runs",
    "off": "a call without an intent runs; the model is still asked for one",
}
USAGE = "/intent [require|adaptive|off|checkins]"
MOST_DECIDED = 20


def register_command(extension: TauExtension) -> None:
    """Give Tau the command `/intent`."""

    def run(arguments: str, context: ExtensionCommandContext) -> str:
        choice = arguments.strip().lower()
        if not choice:
            return _state(extension)
        if choice == "checkins":
            return _check_ins(extension)
        if choice not in CHOICES:
            return f"{printable(choice, width=40)} is not a choice: {USAGE}"
        if not any(shadow.injected for shadow in extension.shadows.values()):
            return "no tool of this session has a field for an intent, so none can be required"
        extension.session().override = CHOICES[choice]
        refresh_sign(extension)
        return f"intents, for this session: {choice} ({MEANING[choice]})"

    extension.tau.register_command(
        "intent",
        run,
        description="Show why the agent did what it did and what you were asked; change what a missing intent means.",
        usage=USAGE,
    )


def _state(extension: TauExtension) -> str:
    session = extension.session()
    calls = [line for past in reversed(session.recent) for line in _past(past)]
    asking = f"check-ins: {_asking(extension) or 'off'}"
    return "\n".join([sign_text(extension), asking, _kept(session.runtime.journal), *calls])


def _asking(extension: TauExtension) -> str:
    """Say what has a person asked about calls; '' where nothing does."""
    declares = may_ask(Settings())  # what stands in files is told first, and credentials and limits ask nobody
    return extension.settings.asking or ("as this session's code declares" if declares else "")


def _check_ins(extension: TauExtension) -> str:
    gates = extension.session().gates
    decided = [] if gates is None else gates.check_in.decided
    if not decided:
        if asking := _asking(extension):
            return f"check-ins are on ({asking}); nobody was asked about a call in this session yet"
        where = printable(user_file(os.environ), width=400)
        return f"check-ins are off, and nobody was asked about a call in this session; set ask or check_in in {where}"
    from pi_intent.render.asked import answer_words, reasons_text  # a session without check-ins has no use for it

    lines = []
    if len(decided) > MOST_DECIDED:
        lines.append(f"the last {MOST_DECIDED} of {len(decided)} decisions; pi-intent log --asked shows all of them")
    for one in reversed(decided[-MOST_DECIDED:]):
        lines += literal_lines(one.action, width=100, max_lines=3)
        lines.append(f"  {reasons_text(one.reasons)} · {answer_words(one.approved, one.by, one.scope, one.note)}")
    return "\n".join(lines)


def _kept(journal: SessionJournal | None) -> str:
    if journal is None:
        return "no call yet; the ledger is opened with the first one"
    kept = printable(f"kept in {journal.location.root}", width=400)
    if journal.location.note is not None:
        kept += printable(f" ({journal.location.note.partition(': the ledger lies in')[0]})", width=200)
    return f"{kept}, {journal.lost} records lost" if journal.lost else kept


def _past(past: PastCall) -> list[str]:
    start = past.start
    ended = (past.end.status, past.end.facts) if past.end else ("running", None)
    status = " · ".join(part for part in ended if part)
    intent = printable(start.intent or "(no intent stated)", width=100)
    return [f"{intent} · {status}", *(f"  {line}" for line in target_lines(start.tool_name, start.args)[:2])]
