"""Put one file into Tau's extension folder that loads pi-intent from where it lies, and take it out again.

Tau may live in another environment than pi-intent. The file names the package by its path, so that one installation
serves both, and it says so in a sentence when the package cannot be loaded: Tau itself would say nothing.
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pi_intent
from pi_intent.errors import HostError
from pi_intent.hosts.lasting import passing

NAME = "pi_intent"
"""Tau calls an extension after its file and takes the first of two with one name."""

PACKAGE = Path(os.path.abspath(pi_intent.__file__)).parent
"""Where this package lies. Links are kept: they may be what stays the same when the package is updated."""

Action = Literal["installed", "updated", "unchanged", "removed", "absent"]
"""`unchanged`: the file was there already, as it is to be · `absent`: there was none to remove."""

_MARK = re.compile(rb"# pi-intent shim \d+ ")
_VERSION = 2
_LARGEST = 64 * 1024

_SHIM = '''\
# pi-intent shim {version} (pi-intent {release}), written by "pi-intent install tau"
"""Load pi-intent into Tau from where it lies.

Changes made here are lost at the next installation; "pi-intent uninstall tau" removes the file.
"""

import importlib.util
import os
import sys

PACKAGE = {package!r}


def setup(tau):
    """Set pi-intent up in a Tau session, or have the person told why that cannot be."""
    if os.environ.get("PI_INTENT", "").strip().lower() == "off":
        return
    found = "pi_intent" in sys.modules
    try:
        if not found:
            load_package()
        from pi_intent.hosts.tau.setup import setup as set_up

        set_up(tau)
    except Exception as error:
        if not found:
            for name in [name for name in sys.modules if name.partition(".")[0] == "pi_intent"]:
                del sys.modules[name]
        sentence = problem(error)
        tau.on("session_start", lambda event, context: context.ui.notify(sentence, "error"))
        # Without it `/intent` would go to the model as a prompt.
        tau.register_command("intent", lambda arguments, context: sentence, description="Say why pi-intent is off.")


def load_package():
    """Make the package importable by its name, whatever the search path."""
    start = os.path.join(PACKAGE, "__init__.py")
    spec = importlib.util.spec_from_file_location("pi_intent", start, submodule_search_locations=[PACKAGE])
    module = importlib.util.module_from_spec(spec)
    sys.modules["pi_intent"] = module
    spec.loader.exec_module(module)


def problem(error):
    """Say in one sentence what is wrong and what to do."""
    if not os.path.isfile(os.path.join(PACKAGE, "__init__.py")):
        what = f"{{PACKAGE}} is gone"
    else:
        python = ".".join(map(str, sys.version_info[:2]))
        reason = " ".join(str(error).split())[:300] or "it does not say why"
        what = f"{{PACKAGE}} does not work with this Tau under Python {{python}}: {{reason}}"
    return (
        f"pi-intent is off, calls state no intent: {{what}}; "
        f'run "pi-intent install tau" again, or delete {{__file__}}'
    )
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallResult:
    """What was done, or would be: `path` is the file in Tau's folder, `warnings` are sentences for the person."""

    action: Action
    path: Path
    warnings: tuple[str, ...] = ()


def shim_text(package: Path = PACKAGE) -> str:
    """Return the file that Tau is to load."""
    return _SHIM.format(version=_VERSION, release=pi_intent.__version__, package=str(package))


def write_shim(
    extensions_dir: Path,
    *,
    package: Path = PACKAGE,
    environ: Mapping[str, str] = os.environ,
    dry_run: bool = False,
) -> InstallResult:
    """Install: put the file that loads `package` into Tau's extension folder, in one step.

    A file of ours that is older is replaced. Raises `HostError` where something else lies in the way, which is left
    alone, or where the folder cannot be written to. `dry_run` writes nothing.
    """
    path = extensions_dir / f"{NAME}.py"
    text = shim_text(package).encode()
    there = _ours(path)
    action: Action = "installed" if there is None else "unchanged" if there == text else "updated"
    if action != "unchanged" and not dry_run:
        try:
            extensions_dir.mkdir(parents=True, exist_ok=True)
            _replace(path, text)
        except OSError as error:
            raise _unwritable(path, error) from error
    return InstallResult(
        action=action, path=path, warnings=(*_on_place(package, environ), *_on_copies(extensions_dir, path))
    )


def remove_shim(extensions_dir: Path, *, dry_run: bool = False) -> InstallResult:
    """Uninstall: remove the file, where it is ours, and what Python compiled of it.

    Raises `HostError` where another file has its name, which is left alone, or where ours cannot be removed.
    """
    path = extensions_dir / f"{NAME}.py"
    action: Action = "absent" if _ours(path) is None else "removed"
    if action == "removed" and not dry_run:
        try:
            path.unlink()
        except OSError as error:
            raise _unwritable(path, error) from error
        with suppress(OSError):  # not worth a word: nothing loads it without the file
            for compiled in (extensions_dir / "__pycache__").glob(f"{NAME}.*.pyc"):
                compiled.unlink()
            (extensions_dir / "__pycache__").rmdir()
    left = tuple(
        f"{copy} holds pi-intent as well, so Tau still loads it: delete it, too"
        for copy in _copies(extensions_dir)
        if copy != path
    )
    return InstallResult(action=action, path=path, warnings=left)


def _ours(path: Path) -> bytes | None:
    """Return what the file says, None where there is none. Raises `HostError` for anything that we did not write."""
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            raise _in_the_way(path, "is a symbolic link")
        if not stat.S_ISREG(mode):
            raise _in_the_way(path, "is a folder" if stat.S_ISDIR(mode) else "is no file")
        with path.open("rb") as file:
            content = file.read(_LARGEST)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HostError(f"{path} cannot be read ({error.strerror}): check who owns it and its folder") from error
    if _MARK.match(content) is None:
        raise _in_the_way(path, "is a file of yours or of another program")
    return content


def _in_the_way(path: Path, what: str) -> HostError:
    return HostError(
        f"{path} {what}, not what pi-intent writes there, and was left alone: move it away and try again"
    )


def _unwritable(path: Path, error: OSError) -> HostError:
    why = error.strerror or str(error)
    return HostError(f"{path} cannot be written ({why}): check who owns the folder and whether the disk is full")


def _replace(path: Path, content: bytes) -> None:
    # Tau passes over names that begin with a dot, and sees the old file or the new one, never half of either.
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _on_copies(extensions_dir: Path, path: Path) -> Iterator[str]:
    for copy in _copies(extensions_dir):
        if copy == path:
            continue
        if copy.name < path.name:
            yield f"Tau loads {copy} instead, which holds pi-intent as well and comes first by name: delete it"
        else:
            yield f"{copy} holds pi-intent as well; Tau passes over it, because {path.name} comes first: delete it"


def _copies(extensions_dir: Path) -> Iterator[Path]:
    """Yield what Tau would take for pi-intent in its folder, in the order in which it looks there."""
    try:
        found = sorted(extensions_dir.iterdir(), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        if not entry.name.startswith(("_", ".")) and NAME in _extension_names(entry):
            yield entry


def _extension_names(entry: Path) -> tuple[str, ...]:
    """Return how Tau calls the extensions that one entry of its folder holds."""
    if entry.is_file():
        return (entry.stem,) if entry.suffix == ".py" else ()
    try:
        declared = tomllib.loads((entry / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["tau"]["extensions"]
        files = [Path(item) for item in declared]
    except (OSError, ValueError, KeyError, TypeError):
        files = []
    if files:
        return tuple(file.parent.name if file.stem == "extension" else file.stem for file in files)
    return (entry.name,) if (entry / "extension.py").is_file() else ()


def _on_place(package: Path, environ: Mapping[str, str]) -> Iterator[str]:
    why = passing(package, environ)
    if why is not None:
        yield (
            f"pi-intent itself lies in {package}, {why}, and Tau loses it when that is cleared: install it where it "
            'stays, for example with "uv tool install ." in the clone, and run "pi-intent install tau" there'
        )
