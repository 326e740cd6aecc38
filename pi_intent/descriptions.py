"""Load the texts for the model from `tool_descriptions/`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pi_intent.contract.rows import ROWS
from pi_intent.contract.texts import ModelTexts, parse_texts
from pi_intent.errors import PiIntentError


def descriptions_folder() -> Path:
    """Return the folder of the texts: inside an installed package, beside the package in a checkout."""
    package = Path(__file__).parent
    inside = package / "tool_descriptions"
    return inside if inside.is_dir() else package.parent / "tool_descriptions"


@cache
def model_texts() -> ModelTexts:
    """Return the texts we ship. Raises `PiIntentError` where a file is missing or cannot be read."""
    folder = descriptions_folder()
    try:
        files = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md")}
    except (OSError, UnicodeDecodeError) as error:
        raise PiIntentError(f"{folder} cannot be read ({error}): reinstall pi-intent") from error
    return parse_texts(files, tuple(ROWS))
