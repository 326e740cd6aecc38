"""Say which sessions an import found in the usual places, for people and as JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from pi_intent.cli.console import json_text
from pi_intent.cli.import_telling import by_dialect, safely
from pi_intent.cli.telling import tell, tell_error
from pi_intent.facts import counted, human_size
from pi_intent.ledger.location import LedgerLocation
from pi_intent.ledger.record import timestamp
from pi_intent.sessions.front import WAYS
from pi_intent.sessions.places import usual_places
from pi_intent.sessions.survey import Offer, Survey
from pi_intent.sessions.values import Dialect


def print_offers(location: LedgerLocation, seen: Survey, redact: Callable[[str], str]) -> None:
    """Say what lies in the usual places, by agent; `redact` takes out what is secret."""
    if seen.offers:
        project = safely(location.project or location.root, redact)
        tell(f"Sessions of this project ({project}):", whole=[project])
        rows = [_row(dialect, offers) for dialect, offers in by_dialect(seen.offers).items()]
        name, sessions, size = (max(map(len, column)) for column in list(zip(*rows, strict=True))[:3])
        for row in rows:
            text = f"  {row.agent:{name}}  {row.sessions:>{sessions}}  {row.size:>{size}}  {row.last_used}"
            tell(text, whole=[row.last_used], hang=name + 2)
    else:
        places = [safely(place.folder, redact) for place in usual_places(os.environ) if place.folder.is_dir()]
        where = f"looked in {', '.join(places)}" if places else "no agent keeps any in the usual places"
        tell_error(
            f"No session of this project was found ({where}). Name a file or a folder to import it.", whole=places
        )
    if seen.elsewhere:
        files = counted(seen.elsewhere, "session file")
        tell_error(f"{files} of other projects: import them there, or name them here.")


class _Row(NamedTuple):
    agent: str
    sessions: str
    size: str
    last_used: str


def _row(dialect: Dialect, offers: Sequence[Offer]) -> _Row:
    sessions = counted(len({offer.session for offer in offers}), "session")
    latest = max(offer.last_used for offer in offers)
    try:
        when = datetime.fromtimestamp(latest, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):  # a file can be dated by anybody
        when = "at no date that a calendar has"
    size = human_size(sum(offer.size for offer in offers))
    return _Row(WAYS[dialect].name, sessions, size, f"last used {when}")


def offers_document(location: LedgerLocation, seen: Survey, redact: Callable[[str], str]) -> str:
    """Return what lies in the usual places as JSON; `redact` takes out what is secret."""
    found = [
        {
            "path": redact(str(offer.path)),
            "dialect": offer.dialect,
            "session": redact(offer.session),
            "cwd": None if offer.cwd is None else redact(offer.cwd),
            "bytes": offer.size,
            "modified": _time(offer.modified),
            "lastUsed": _time(offer.last_used),
        }
        for offer in seen.offers
    ]
    document = {"ledger": redact(str(location.segments)), "found": found, "elsewhere": seen.elsewhere}
    return json_text(document, indent=2)


def _time(seconds: float) -> str | None:
    try:
        return timestamp(seconds)
    except (ValueError, OverflowError, OSError):
        return None
