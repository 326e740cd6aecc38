"""The file of settings that a person has."""

from __future__ import annotations

from pathlib import Path


def write_config(folder: Path, text: str) -> Path:
    """Write the settings that a person has whose folder for them is this one (`~/.config`), and return the file."""
    file = folder / "pi-intent" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file
