"""Find the files and variables that hold settings, and load them in order of precedence."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pi_intent.errors import SettingsError
from pi_intent.settings.files import MAX_BYTES, read_toml
from pi_intent.settings.layers import GUARDS, KEYS, SAYS_WHEN, Layer, merge
from pi_intent.settings.rules import Settings
from pi_intent.settings.slips import misspelt
from pi_intent.settings.wording import ASKED_MEANWHILE, COMMAND_LINE, ENVIRONMENT, Lapse, Source, nearest, safe, shown

PROJECT_FILE = ".pi-intent.toml"

_OF_A_TOOL = ("override", "tier", "touches")
"""What is set for one tool alone, and guards it."""

_MAX_WARNINGS = 20
"""At a time: a project's file must not bury what there is to say about the others."""

MOST_TOLD = 400
"""Columns of a sentence where a session shows it."""

MORE = "warnings like these; pi-intent doctor tells all."
"""The end of the sentence that stands for the warnings that were left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSettings:
    """The settings and how they came about.

    `origins` gives for each setting in force a file, a variable, "command line" or "default", of `ask` also what does
    not count and has it raised; one of a tool is called `tools.bash.policy`. `warnings` are sentences for the person,
    a `Lapse` where what is to guard does not count; `files` are those that count, as read.
    """

    settings: Settings
    origins: dict[str, str]
    warnings: tuple[str, ...]
    files: tuple[Path, ...]

    def meanwhile(self, settings: Settings) -> LoadedSettings:
        """Return the same with these settings, whose `ask` may be raised because of what does not count."""
        if settings.meanwhile is None:
            return self
        return replace(self, settings=settings, origins={**self.origins, "ask": settings.meanwhile})


def user_file(environ: Mapping[str, str]) -> str:
    """Return where a person's own settings stand, there or not, for a sentence."""
    path = _user_file(environ, [])
    return "your config.toml" if path is None else safe(str(path))


def project_root(cwd: Path) -> Path:
    """Return the top of the work tree around a folder, or the folder; its `.pi-intent.toml` is the project's."""
    return next((folder for folder in (cwd, *cwd.parents) if os.path.lexists(folder / ".git")), cwd)


def mentions(word: bytes, environ: Mapping[str, str]) -> bool:
    """Say cheaply whether the user's file may hold a setting; a file that cannot be read holds none."""
    path = _user_file(environ, [])
    try:
        return path is not None and word in path.read_bytes()[:MAX_BYTES]
    except (OSError, ValueError):
        return False


def load_settings(
    *,
    project: Path | None,
    environ: Mapping[str, str],
    overrides: Mapping[str, object] | None = None,
    most_warnings: int | None = _MAX_WARNINGS,
) -> LoadedSettings:
    """Load the settings of a session; whatever is wrong with a source becomes a warning, never an exception.

    `project` is the project's root, `overrides` the command line's settings under their keys in `config.toml`
    (None as a value: not given), `most_warnings` how many a source may give at a time (None: all).
    """
    switch = environ.get("PI_INTENT", "").strip().lower()
    if switch == "off":
        # Nothing is read: the session is to be as if we were not installed.
        return LoadedSettings(settings=Settings(off=True), origins={"off": "PI_INTENT"}, warnings=(), files=())
    warnings: list[str] = []
    if switch not in ("", "on"):
        warnings.append(f'PI_INTENT is {shown(environ["PI_INTENT"])}, but must be "on" or "off"; pi-intent stays on.')
    layers: list[Layer] = []
    files: list[Path] = []
    lost: list[str] = []
    user_file = _user_file(environ, warnings)
    if user_file is not None and (
        layer := _file_layer(user_file, files, lost, warnings, most_warnings, follow_links=True)
    ):
        layers.append(layer)
    if variables := _variables(environ, lost, warnings):
        layers.append(_layer(variables, ENVIRONMENT, lost, warnings, most_warnings, typed=False))
    if given := {key: value for key, value in (overrides or {}).items() if value is not None}:
        layers.append(_layer(given, COMMAND_LINE, lost, warnings, most_warnings, typed=False))
    project_layer = None
    if project is not None:
        file = project / PROJECT_FILE
        project_layer = _file_layer(file, files, lost, warnings, most_warnings, follow_links=False)
    merged = merge(layers, project_layer)
    loaded = LoadedSettings(
        settings=merged.settings,
        origins={**merged.origins, "off": "default"},
        warnings=(*warnings, *_first(merged.warnings, "settings", most_warnings)),
        files=tuple(files),
    )
    return loaded.meanwhile(merged.settings.asking_meanwhile(lost[0])) if lost else loaded


def _user_file(environ: Mapping[str, str], warnings: list[str]) -> Path | None:
    folder = environ.get("XDG_CONFIG_HOME", "")
    if folder and Path(folder).is_absolute():
        return Path(folder) / "pi-intent" / "config.toml"
    if folder:
        # It would be looked up in the working directory, which may be a repository somebody has just cloned.
        warnings.append(f"XDG_CONFIG_HOME is {shown(folder)}, but must be an absolute path; ~/.config is used.")
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    return Path(home) / ".config" / "pi-intent" / "config.toml" if Path(home).is_absolute() else None


def _variables(environ: Mapping[str, str], lost: list[str], warnings: list[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name in sorted(environ):
        key = name.removeprefix("PI_INTENT_").lower()
        if not name.startswith("PI_INTENT_"):
            continue
        if key in KEYS:
            if value := environ[name].strip(" \t\n,"):
                found[key] = value.lower()
        elif key in _OF_A_TOOL:
            said = Lapse(f"{safe(name)} is not a setting: write {key} in [tools.NAME] of your config.toml.", key)
            warnings.append(said)
            _note_lost([said], ENVIRONMENT, None, lost, warnings)
        elif guess := nearest(key, KEYS):
            told = f"{safe(name)} is not a setting; did you mean {ENVIRONMENT.origin(guess)}?"
            # Only a slip has a person asked: other programs may have variables of this prefix.
            slip = misspelt(key, KEYS)
            warnings.append(Lapse(told, slip) if slip in GUARDS else told)
            _note_lost(warnings[-1:], ENVIRONMENT, None, lost, warnings)
    return found


def _file_layer(
    path: Path, files: list[Path], lost: list[str], warnings: list[str], most: int | None, *, follow_links: bool
) -> Layer | None:
    """Return what a file says; what is wrong goes to `warnings`, and what may have asked somebody to `lost`."""
    name = safe(str(path))
    try:
        data = read_toml(path, follow_links=follow_links)
    except SettingsError as error:
        warnings.append(Lapse(error))
        lost.append(f"{name} does not count")
        return None
    if data is None:
        return None
    files.append(path)
    return _layer(data, Source(name=name), lost, warnings, most, typed=True)


def _layer(
    data: Mapping[str, object], source: Source, lost: list[str], warnings: list[str], most: int | None, *, typed: bool
) -> Layer:
    # Here and not above: most sessions have nothing to check, and pydantic takes longer to load than all of ours.
    from pi_intent.settings.tables import read_layer

    layer, found = read_layer(data, source, typed=typed)
    warnings += _first(found, source.name, most)
    _note_lost(found, source, layer, lost, warnings)
    return layer


def _note_lost(
    found: Sequence[str], source: Source, layer: Layer | None, lost: list[str], warnings: list[str]
) -> None:
    """Say what of a source says when to ask, and does not count."""
    keys = {said.key for said in found if isinstance(said, Lapse)}
    for key in SAYS_WHEN:
        if key in keys and (key != "ask" or layer is None or layer.ask is None):
            lost.append(f"{source.where(key)} does not count in full")
            warnings.append(Lapse(f"{lost[-1]}, so {ASKED_MEANWHILE}"))


def _first(found: Sequence[str], name: str, most: int | None) -> list[str]:
    if most is None or len(found) <= most:
        return [*found]
    return [*found[:most], f"{name}: {len(found) - most} more {MORE}"]
