"""Find the folder of a project's ledger, and the commit its work tree stands on."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

GIT_TIMEOUT_SECONDS = 5

# A git hook or an alias may have set these for another repository: the folder alone decides here.
_REPOSITORY_VARIABLES = frozenset(
    {"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_IMPLICIT_WORK_TREE"}
)
_OBJECT_ID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLocation:
    """Where the ledger of a project lies.

    `root` holds the key and the folder `ledger`; it need not exist yet. `project` is the top of the work tree,
    outside git the folder itself, None in a bare repository. `git_dir` is the folder with HEAD. `note` is a
    sentence for a person where the ledger does not lie inside the repository.
    """

    root: Path
    project: Path | None
    git_dir: Path | None = None
    note: str | None = None

    @property
    def segments(self) -> Path:
        """The folder of the segment files."""
        return self.root / "ledger"


def find_ledger(cwd: Path, environ: Mapping[str, str]) -> LedgerLocation:
    """Return where the ledger of the project around `cwd` lies; asks git once, creates nothing, never raises."""
    try:
        cwd = cwd if cwd.is_absolute() else Path.cwd() / cwd
        if not cwd.is_dir():
            return _in_state_folder(cwd, None, environ, f"{cwd} is not a folder any more")
    except FileNotFoundError:
        return _in_state_folder(Path("/"), None, environ, "the working directory is gone")
    except OSError as error:
        return _in_state_folder(cwd, None, environ, f"{cwd} cannot be looked at ({error.strerror})")
    try:
        answer = _ask_git(cwd, environ)
    except FileNotFoundError:
        return _in_state_folder(cwd, _enclosing_project(cwd), environ, "git is not installed")
    except subprocess.TimeoutExpired:
        why = f"git did not answer within {GIT_TIMEOUT_SECONDS} seconds"
        return _in_state_folder(cwd, _enclosing_project(cwd), environ, why)
    except OSError as error:
        why = f"git could not be run ({error.strerror})"
        return _in_state_folder(cwd, _enclosing_project(cwd), environ, why)
    return _read_answer(cwd, answer, environ)


def _ask_git(cwd: Path, environ: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    # The work tree is asked for last: without one git stops there, after it has told the rest.
    question = ("--path-format=absolute", "--git-common-dir", "--git-dir", "--show-toplevel")
    return subprocess.run(
        ("git", "-C", str(cwd), "rev-parse", *question),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=GIT_TIMEOUT_SECONDS,
        env={name: value for name, value in environ.items() if name not in _REPOSITORY_VARIABLES} | {"LC_ALL": "C"},
        check=False,
    )


def _read_answer(cwd: Path, answer: subprocess.CompletedProcess[bytes], environ: Mapping[str, str]) -> LedgerLocation:
    complaint = os.fsdecode(answer.stderr).strip().partition("\n")[0]
    # Before 2.31 git repeats an option that it does not know, and its paths are relative.
    lines = [cwd / line for line in os.fsdecode(answer.stdout).splitlines() if not line.startswith("--")]
    bare = answer.returncode != 0 and len(lines) == 2 and "work tree" in complaint
    if not bare and (answer.returncode != 0 or len(lines) != 3):
        if "not a git repository" in complaint:
            return _in_state_folder(cwd, cwd, environ, f"{cwd} is in no git repository")
        if "dubious ownership" in complaint:
            why = "git distrusts the repository, because it belongs to another user"
        else:
            why = f"git cannot say where the repository is ({complaint or 'its answer cannot be read'})"
        return _in_state_folder(cwd, _enclosing_project(cwd), environ, why)
    common, git_dir = lines[0], lines[1]
    project = None if bare else lines[2]
    root = common / "pi-intent"
    if root.exists() and not root.is_dir():
        return _in_state_folder(cwd, project or common, environ, f"{root} is no folder", git_dir)
    if not os.access(root if root.exists() else common, os.W_OK | os.X_OK):
        return _in_state_folder(cwd, project or common, environ, f"{common} cannot be written to", git_dir)
    return LedgerLocation(root=root, project=project, git_dir=git_dir)


def _enclosing_project(cwd: Path) -> Path:
    """Guess the top of the work tree where git does not tell, so that its subfolders share one ledger."""
    return next((folder for folder in (cwd, *cwd.parents) if os.path.lexists(folder / ".git")), cwd)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkTree:
    """A work tree of git: its top, and the folder of the repository that it shares with its siblings."""

    top: Path
    repository: Path


def work_tree_of(folder: Path) -> WorkTree | None:
    """Return the work tree around a real folder, by reading files only; None outside git. Raises `OSError`."""
    top = next((parent for parent in (folder, *folder.parents) if os.path.lexists(parent / ".git")), None)
    if top is None:
        return None
    git_dir = top / ".git"
    if not git_dir.is_dir():
        pointer = _start_of(os.fspath(git_dir)) or b""
        if not pointer.startswith(b"gitdir:"):
            return None
        git_dir = top / os.fsdecode(pointer[7:].strip())
    common = _common_folder(os.fspath(git_dir))
    return WorkTree(top=top, repository=Path(os.path.realpath(common)))


def _in_state_folder(
    cwd: Path, project: Path | None, environ: Mapping[str, str], why: str, git_dir: Path | None = None
) -> LedgerLocation:
    name = os.path.realpath(project or cwd)
    slug = re.sub(r"[^A-Za-z0-9_-]+", "-", os.path.basename(name)).strip("-")[:40] or "project"
    digest = hashlib.sha256(os.fsencode(name)).hexdigest()[:16]
    root = _state_home(environ) / "pi-intent" / f"{slug}-{digest}"
    return LedgerLocation(
        root=root,
        project=project,
        git_dir=git_dir,
        note=f"{why}: the ledger lies in {root}",
    )


def _state_home(environ: Mapping[str, str]) -> Path:
    chosen = environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(chosen):  # the XDG specification: a relative path is to be ignored
        return Path(chosen)
    home = environ.get("HOME") or os.path.expanduser("~")
    return Path(home if os.path.isabs(home) else "/") / ".local" / "state"


def obstacle(location: LedgerLocation) -> str | None:
    """Say what would keep a ledger from being written, as far as can be seen without writing; None for nothing."""
    for path in (location.segments, *location.segments.parents):
        if os.path.lexists(path):
            if not path.is_dir():
                return f"{path} is not a folder"
            return None if os.access(path, os.W_OK | os.X_OK) else f"{path} is not yours to write to"
    return None


def make_private_folder(folder: Path) -> None:
    """Create a folder that only its owner can enter, whatever the umask; missing parents likewise.

    Raises `OSError`. A folder that is already there and more open is closed to others; one that its owner made
    read-only stays so.
    """
    if not folder.parent.exists():
        make_private_folder(folder.parent)
    rights = 0o700
    try:
        folder.mkdir(rights)
    except FileExistsError:
        status = folder.stat()
        if not stat.S_ISDIR(status.st_mode):
            raise
        rights &= status.st_mode
    else:
        status = folder.stat()
    if stat.S_IMODE(status.st_mode) != rights:
        try:
            folder.chmod(rights)
        except OSError:
            if status.st_uid != os.geteuid():
                raise
            # Ours and not to be closed: a file system without modes. What cannot be written there says so itself.


def read_head(git_dir: Path) -> str | None:
    """Return the commit that HEAD names, by reading files only; None on an unborn branch or where it is unclear.

    Cheap enough for every call: two small reads. Repositories with `reftable` storage have no such files: None.
    """
    folder = os.fspath(git_dir)
    content = _start_of(f"{folder}/HEAD")
    for _ in range(5):  # git follows symbolic references this far
        if content is None:
            return None
        if not content.startswith(b"ref:"):
            return content.strip().decode() if _OBJECT_ID.fullmatch(content.strip()) else None
        ref = os.fsdecode(content[4:].strip())
        if not ref.startswith("refs/") or ".." in ref:
            return None
        common = _common_folder(folder)
        content = _start_of(f"{common}/{ref}")
        if content is None:
            return _packed(common, ref)
    return None


def _start_of(path: str) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except (OSError, ValueError):
        return None
    try:
        return os.read(descriptor, 1024)
    except OSError:
        return None
    finally:
        os.close(descriptor)


@lru_cache(maxsize=64)
def _common_folder(git_dir: str) -> str:
    """Where the branches live: a linked work tree has a HEAD of its own and shares them."""
    pointer = _start_of(f"{git_dir}/commondir")
    return git_dir if pointer is None else os.path.join(git_dir, os.fsdecode(pointer.rstrip(b"\n")))


def _packed(common: str, ref: str) -> str | None:
    path = f"{common}/packed-refs"
    try:
        status = os.stat(path)
    except OSError:
        return None
    return _search_packed(path, ref, (status.st_ino, status.st_size, status.st_mtime_ns))


@lru_cache(maxsize=64)
def _search_packed(path: str, ref: str, stamp: tuple[int, int, int]) -> str | None:
    # The file can have megabytes and git replaces it whole: the stamp says whether it is the one searched before.
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return None
    found = re.search(rb"^([0-9a-f]{40,64}) " + re.escape(os.fsencode(ref)) + rb"$", content, re.MULTILINE)
    return None if found is None else found[1].decode()
