"""Say in words what failed where a call is decided on: nobody who reads it should have to know Python."""

from __future__ import annotations

from pi_intent.errors import PiIntentError

_LONGEST = 200


def unasked(error: Exception) -> str:
    """Say for the model why a person could not be asked, or gave no answer."""
    match error:
        case PiIntentError():
            return str(error)
        case EOFError() | ConnectionError():
            return "whoever was to answer is gone"
        case TimeoutError():
            return "nobody answered in time"
        case TypeError():
            return "there was no usable answer"
        case _:
            return "the question could not be shown"


def not_worked_out(what: str, error: Exception) -> str:
    """Say for a person that the code which says `what` failed, with what it says of that itself."""
    try:
        said = " ".join(str(error).split())
    except Exception:  # somebody else's, too
        said = ""
    return f"{what} could not be worked out" + (f": {said[:_LONGEST]}" if said else "")
