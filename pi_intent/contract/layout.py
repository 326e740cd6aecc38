"""Where the original and the widened meaning of every referenced schema stand, once a root has been widened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from pi_intent.contract.schema import DEFINITIONS, OBJECT, SAME_INSTANCE, Place, pointer, subschemas
from pi_intent.contract.survey import Survey

SAID = frozenset({"title", "description", "$comment", "default", "examples", "deprecated"})
SAID_OF_ROOT = SAID | {"$schema", "$id", "$anchor"}
"""What the name of another schema says besides."""

# What makes a root more than a name for what it refers to, so that the two cannot become one schema.
_ASSERTING = SAME_INSTANCE | {
    "properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames", "required",
    "dependentRequired", "minProperties", "maxProperties", "const", "enum",
}  # fmt: skip


class Layout:
    """The plan of a widened document.

    A schema that judges the arguments must be widened; the same schema, referenced from within an argument, must stay
    as it was. Where both are wanted, or where the original place is gone, a copy under a new name serves the other.
    """

    def __init__(self, survey: Survey, *, replaces: tuple[str, ...] = ()) -> None:
        self.survey = survey
        self.document = survey.document
        self.replaces = replaces
        self._names: dict[tuple[str, Place], str] = {}

    @cached_property
    def spine(self) -> tuple[Place, ...]:
        """The root, and what it is a mere name for: each place refers to the next and says nothing else."""
        places: list[Place] = [()]
        while isinstance(schema := self.document.at(places[-1]), OBJECT) and "$ref" in schema:
            target = self.document.target(schema["$ref"])
            if not isinstance(target, tuple) or not (self.document.ref_stands_alone or _is_name(schema)):
                break
            places.append(target)
        return tuple(places)

    @property
    def own_root(self) -> dict[str, Any]:
        """Return what the root says itself or by the name of another schema."""
        *names, head = (self.document.at(place) for place in self.spine)
        said = {key: value for name in names for key, value in name.items() if key in (*SAID_OF_ROOT, *DEFINITIONS)}
        return said | (dict(head) if isinstance(head, OBJECT) else {})

    @cached_property
    def kept(self) -> tuple[Place, ...]:
        """The places that are referenced from within an argument, and so must keep their meaning."""
        seen: set[Place] = set()
        found: dict[Place, None] = {}

        def keep(place: Place) -> None:
            if place in seen:
                return
            seen.add(place)
            schema = self.document.at(place)
            if not isinstance(schema, OBJECT):
                return
            target = self.document.target(schema["$ref"]) if "$ref" in schema else None
            if isinstance(target, tuple):
                found[target] = None
                keep(target)
                keep(target[:2] if target[:1] and target[0] in DEFINITIONS else target)  # it stays as a whole
            for steps, _ in subschemas(schema):
                if place or steps[0] not in DEFINITIONS:
                    keep(place + steps)

        for place in self._judging:
            schema = self.document.at(place)
            if not isinstance(schema, OBJECT):
                continue
            branches = set(self.document.branches(schema))
            for steps, _ in subschemas(schema):
                inner = place + steps
                if steps not in branches and not (self._is_definition(inner) and inner in self.survey.judging):
                    keep(inner)
        return tuple(found)

    @cached_property
    def widened(self) -> tuple[Place, ...]:
        """The places that are referenced by a schema that judges the arguments, without those of the spine."""
        found: dict[Place, None] = {}
        for place in self._judging:
            schema = self.document.at(place)
            if place not in self.spine[:-1] and isinstance(schema, OBJECT) and "$ref" in schema:
                target = self.document.target(schema["$ref"])
                if isinstance(target, tuple):
                    found[target] = None
        return tuple(found)

    @cached_property
    def _judging(self) -> tuple[Place, ...]:
        return tuple(sorted(self.survey.judging))

    @cached_property
    def _home(self) -> set[Place]:
        """The places that are widened where they stand in the root; none but the root where it becomes another."""
        return self.survey.home if len(self.spine) == 1 else {()}

    @cached_property
    def _kept_definitions(self) -> set[Place]:
        """The definitions that something within an argument refers to or into."""
        return {place[:2] for place in self.kept}

    def original(self, ref: Any) -> Any:
        """Return the reference, from within an argument, to what `ref` meant before the root was widened."""
        target = self.document.target(ref)
        if not isinstance(target, tuple) or self._stays(target):
            return ref
        return self._named("original", target)

    def judged(self, ref: Any) -> Any:
        """Return the reference, from what judges the arguments, to the widened form of what `ref` means."""
        target = self.document.target(ref)
        if not isinstance(target, tuple) or target in self._home or self.is_widened_in_place(target):
            return ref
        return self._named("widened", target)

    def is_widened_in_place(self, place: Place) -> bool:
        """Whether a definition is widened where it stands, since only what judges the arguments refers to it."""
        is_judging = self._is_definition(place) and place in self.survey.judging
        return is_judging and place not in self._kept_definitions

    def is_gone(self, place: Place) -> bool:
        """Whether a definition has become the root, and nothing else needs it."""
        return place in self.spine[1:] and self.is_widened_in_place(place)

    def copies(self) -> Iterator[tuple[str, str, Place]]:
        """Yield every copy that is needed: its name, whether it is "original" or "widened", and of what."""
        for place in self.kept:
            if not self._stays(place):
                yield self._name("original", place), "original", place
        for place in self.widened:
            if place not in self._home and not self.is_widened_in_place(place):
                yield self._name("widened", place), "widened", place

    @cached_property
    def container(self) -> str:
        """The keyword under which copies stand."""
        root = self.document.root
        return "definitions" if "definitions" in root and "$defs" not in root else "$defs"

    @cached_property
    def _moved(self) -> set[Place]:
        """The places below which nothing stands where it stood: rules for names get wrapped, replaced fields go."""
        return {(*home, "propertyNames") for home in self._home} | {("properties", name) for name in self.replaces}

    def _stays(self, place: Place) -> bool:
        """Whether the original meaning stands where it stood."""
        if place not in self.document.places:
            return False  # below a keyword that nobody knows, where references are not rewritten
        if place and place[0] in DEFINITIONS:
            return True
        moved = any(place[:length] in self._moved for length in range(len(place) + 1))
        return len(self.spine) == 1 and place not in self._home and not moved

    @staticmethod
    def _is_definition(place: Place) -> bool:
        return len(place) == 2 and place[0] in DEFINITIONS

    def _named(self, form: str, place: Place) -> str:
        return pointer((self.container, self._name(form, place)))

    def _name(self, form: str, place: Place) -> str:
        if (form, place) not in self._names:
            stem = f"{place[-1] if place else 'root'}-{'with' if form == 'widened' else 'without'}-intent"
            taken = {*self.document.root.get(self.container, ()), *self._names.values()}
            name, number = stem, 1
            while name in taken or self.document.at((self.container, name)) is not None:
                number += 1
                name = f"{stem}-{number}"
            self._names[form, place] = name
        return self._names[form, place]


def _is_name(schema: Mapping[str, Any]) -> bool:
    return not _ASSERTING & schema.keys() and schema.get("type", "object") == "object"
