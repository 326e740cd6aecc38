"""The texts a model reads, as one value that the pure functions take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from pi_intent.errors import PiIntentError
from pi_intent.types import Code, Profile

INTENT_MARKER = "Mandatory goal"
"""How our intent property's description opens, in every profile: the one mark of ours that survives on the wire."""


@dataclass(frozen=True, kw_only=True)
class ModelTexts:
    """Everything we say to a model.

    `fields` maps `"lean intent"`, `"full rationale"`, … to a schema description ("" for none); `rejections`
    maps a part of a rejection to its template; `added` and `snippets` map a tool to what we add to the host's
    description and prompt snippet; `section` is (title, body) of the system prompt's section; `narrowing` limits
    a host's advice to do many things in one call; `consent` maps why a call was not let through to its template.
    """

    fields: Mapping[str, str]
    rejections: Mapping[str, str]
    added: Mapping[str, str]
    snippets: Mapping[str, str]
    section: tuple[str, str]
    narrowing: str
    consent: Mapping[str, str]

    def __post_init__(self) -> None:
        for profile in ("lean", "full"):
            if not self.fields[f"{profile} intent"].startswith(INTENT_MARKER):
                raise PiIntentError(f"fields.md: the {profile} intent must open with “{INTENT_MARKER}”")

    def field(self, profile: Profile, name: str) -> str:
        """Return what a schema says of one of the two fields; "" for nothing."""
        return self.fields[f"{profile} {name}"]

    def problem(self, code: Code) -> str:
        """Return the words for one thing wrong with a call."""
        return self.rejections[code]

    @cached_property
    def echoes(self) -> frozenset[str]:
        """The texts that, given back as an intent, are a copy and no goal."""
        return frozenset(text for text in (*self.fields.values(), *self.section, self.narrowing) if text)


def parse_sections(markdown: str) -> dict[str, str]:
    """Read `## name` sections: each text with its lines joined by spaces and its paragraphs kept apart."""
    sections: dict[str, str] = {}
    for block in ("\n" + markdown).split("\n## ")[1:]:
        name, _, body = block.partition("\n")
        paragraphs = [" ".join(paragraph.split()) for paragraph in body.split("\n\n")]
        sections[name.strip()] = "\n\n".join(paragraph for paragraph in paragraphs if paragraph)
    return sections


def parse_texts(files: Mapping[str, str], tools: tuple[str, ...]) -> ModelTexts:
    """Build the texts from the Markdown files of `tool_descriptions/`, by file name.

    Raises `PiIntentError` naming what a file lacks.
    """
    try:
        guidelines = parse_sections(files["guidelines.md"])
        return ModelTexts(
            fields=parse_sections(files["fields.md"]),
            rejections=parse_sections(files["rejections.md"]),
            added={tool: files[f"{tool}.md"].strip() for tool in tools},
            snippets={tool: files[f"{tool}-snippet.md"].strip() for tool in tools},
            section=(guidelines["title"], guidelines["section"]),
            narrowing=guidelines["narrowing"],
            consent=parse_sections(files["consent.md"]),
        )
    except KeyError as error:
        raise PiIntentError(f"tool_descriptions lacks {error.args[0]!r}: reinstall pi-intent") from error
