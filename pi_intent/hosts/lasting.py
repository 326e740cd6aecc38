"""Tell whether a place on the disk will last: what others are to start from it must not be cleared away."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path


def passing(package: Path, environ: Mapping[str, str]) -> str | None:
    """Say why a folder will not last; None where nothing speaks against it."""
    home = Path(environ.get("HOME") or Path.home())
    caches = [home / ".cache", home / "Library" / "Caches"]
    if environ.get("XDG_CACHE_HOME"):
        caches.append(Path(environ["XDG_CACHE_HOME"]))
    uv = [cache / "uv" for cache in caches]
    if environ.get("UV_CACHE_DIR"):
        uv.append(Path(environ["UV_CACHE_DIR"]))
    pipx = [cache / "pipx" for cache in caches]
    if _lies_in(package, uv):
        return "in the cache of uv, as uvx makes it"
    if _lies_in(package, pipx) or ("pipx" in package.parts and ".cache" in package.parts):
        return 'in the cache of pipx, as "pipx run" makes it'
    temporary = [Path(name) for name in (tempfile.gettempdir(), "/tmp", "/var/tmp", environ.get("TMPDIR")) if name]
    if sys.platform == "darwin":
        temporary.append(Path("/var/folders"))
    return "in a folder for temporary files" if _lies_in(package, temporary) else None


def _lies_in(path: Path, folders: list[Path]) -> bool:
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(os.path.realpath(folder)) for folder in folders)
