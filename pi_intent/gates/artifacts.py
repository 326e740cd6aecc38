"""Let an argument be a reference to something a tool has stored, and put the thing itself in its place."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from pi_intent.types import JSONObject

KIND = re.compile(r"[a-z][a-z0-9_-]{0,31}")
PREFIX = "artifact:"
_REFERENCE = re.compile(rf"{PREFIX}({KIND.pattern}):([0-9a-f]{{32}})")
MOST_LISTED = 20


class Artifact(NamedTuple):
    """What a tool says is to be stored: a text, and what kind of thing it is."""

    kind: str
    text: str


class Live(NamedTuple):
    """An artifact that can be referred to. `size` is in bytes of UTF-8."""

    reference: str
    size: int
    tool: str


class Store(Protocol):
    """The artifacts of one session; nothing here raises.

    `get` returns the text under a reference, None where there is none or it is not what it was; `live` those that
    there are, the newest first.
    """

    def get(self, reference: str) -> str | None: ...

    def live(self) -> Iterable[Live]: ...


class Unredeemed(Exception):
    """An argument refers to nothing that can be had: which one, and why in a few words."""

    def __init__(self, argument: str, why: str) -> None:
        super().__init__(argument)
        self.argument = argument
        self.why = why


def artifact_reference(kind: str, text: str) -> str:
    """Return how a text of a kind is referred to once it is stored: by its content, so that equal texts are one.

    Raises `ValueError` where the kind is none: small letters, digits, - and _.
    """
    if KIND.fullmatch(kind) is None:
        raise ValueError(f"{kind!r} is no kind of an artifact: small letters, digits, - and _, such as page")
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{PREFIX}{kind}:{digest[:32]}"


def kind_of(reference: str) -> str | None:
    """Return the kind that a reference names; None for what is no reference."""
    found = _REFERENCE.fullmatch(reference)
    return None if found is None else found[1]


def redeem(wanted: Mapping[str, str], arguments: JSONObject, store: Store | None) -> JSONObject:
    """Return the arguments with what they refer to in place of the references; the very same where there are none.

    `wanted` gives the kind that an argument may refer to. A text that does not begin like a reference is itself.
    Raises `Unredeemed` for a reference that is stale, unknown or of another kind.
    """
    redeemed: JSONObject = {}
    for name, kind in wanted.items():
        value = arguments.get(name)
        if not isinstance(value, str) or not value.strip().startswith(PREFIX):
            continue
        reference = value.strip()
        named = kind_of(reference)
        if store is None:
            raise Unredeemed(name, "nothing is stored in this session")
        if named is None:
            raise Unredeemed(name, "it is no whole reference")
        if named != kind:
            raise Unredeemed(name, f"it refers to a {named}, and a {kind} is wanted")
        text = store.get(reference)
        if text is None:
            raise Unredeemed(name, "nothing is stored under it, or not any more")
        redeemed[name] = text
    return {**arguments, **redeemed} if redeemed else arguments


def listed(live: Iterable[Live], kinds: Iterable[str]) -> str:
    """Return the references that a model can choose from, of these kinds."""
    wanted = set(kinds)
    fitting = [each for each in live if kind_of(each.reference) in wanted]
    if not fitting:
        return "none"
    shown = ", ".join(f"{each.reference} ({each.size} bytes, from {each.tool})" for each in fitting[:MOST_LISTED])
    more = len(fitting) - MOST_LISTED
    return f"{shown}, and {more} more" if more > 0 else shown


def stated_artifact(said: object) -> Artifact | None:
    """Return what a tool says is to be stored; what has another shape is nothing."""
    artifact = said.get("artifact") if isinstance(said, Mapping) else None
    if not isinstance(artifact, Mapping):
        return None
    kind, text = artifact.get("kind"), artifact.get("text")
    if isinstance(kind, str) and KIND.fullmatch(kind) and isinstance(text, str):
        return Artifact(kind, text)
    return None
