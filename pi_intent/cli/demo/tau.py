"""Run Tau shut off from its surroundings: own home, own project, own provider, everything in one folder."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pi_intent.errors import HostError

PROVIDER = "scripted"
MODEL = "scripted-demo"

# Words of the surroundings that cannot change what happens; everything else starts from nothing, so that neither
# a proxy, nor a key, nor a GIT_DIR, nor a setting of ours gets in.
_INHERITED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "SYSTEMROOT")

# Shorter than what the ledger's redaction takes for a secret: the model's name would be hidden with it otherwise.
_KEY = "none"
_KEY_VARIABLE = "SCRIPTED_API_KEY"

_GRACE = 3.0  # seconds to wind up (Tau ends its shell commands itself) before the group is killed


def find_tau() -> Path:
    """Return the `tau` command of this Python's environment, which comes with us, else the first one on PATH.

    Raises `HostError` where there is none.
    """
    beside = Path(sys.executable).with_name("tau")
    if os.access(beside, os.X_OK):
        return beside
    found = shutil.which("tau")
    if found is None:
        raise HostError('there is no "tau" command here; install it with: pip install tau-ai')
    return Path(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class TauRun:
    """How a run of Tau ended; `exit_code` is negative where a signal ended it."""

    exit_code: int
    stdout: str
    stderr: str
    timed_out: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HermeticTau:
    """A Tau that reads and writes below `root` only and speaks to one loopback address only.

    `home` is its HOME, `tau_home` its configuration and sessions, `project` a git repository it works in.
    """

    command: Path
    root: Path
    home: Path
    tau_home: Path
    project: Path
    environment: Mapping[str, str]

    @classmethod
    def create(cls, root: Path, base_url: str, *, files: Mapping[str, str] | None = None) -> HermeticTau:
        """Lay out home and project in `root`, with `files` (name → text) committed in the project.

        Raises `HostError` where Tau or git is missing.
        """
        command = find_tau()
        root = root.resolve()
        home = root / "home"
        tau = cls(
            command=command,
            root=root,
            home=home,
            tau_home=home / ".tau",
            project=root / "project",
            environment=_environment(root, home),
        )
        for folder in (tau.project, tau.tau_home, root / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)
        _write_provider(tau.tau_home, base_url)
        for name, text in (files or {}).items():
            path = tau.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        tau._git("init", "--quiet", "--initial-branch=main")
        tau._git("add", "--all")
        tau._git("commit", "--quiet", "--allow-empty", "--message=Start")
        return tau

    def start(
        self,
        prompt: str,
        *,
        options: Sequence[str] = (),
        stdout: int | IO[bytes] = subprocess.PIPE,
        stderr: int | IO[bytes] = subprocess.PIPE,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start `tau -p PROMPT` in the project, in a process group of its own; whoever starts it stops it.

        `options` go before the prompt, where Tau wants them; `environment` is laid over ours. Raises `HostError`
        where the command cannot be started.
        """
        try:
            return subprocess.Popen(
                [str(self.command), *options, "--print", prompt],
                cwd=self.project,
                env={**self.environment, **(environment or {})},
                stdin=subprocess.DEVNULL,  # Tau puts what it reads there before the prompt
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except OSError as error:
            raise HostError(f"{self.command} cannot be started ({error.strerror}); install Tau again") from error

    def run(
        self,
        prompt: str,
        *,
        options: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        timeout: float = 60.0,
    ) -> TauRun:
        """Run `tau -p PROMPT` to its end, or stop it after `timeout` seconds."""
        process = self.start(prompt, options=options, environment=environment)
        timed_out = False
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            stop(process)
            out, err = process.communicate()
        except BaseException:  # above all KeyboardInterrupt: what we started ends with us
            stop(process)
            raise
        return TauRun(
            exit_code=process.returncode,
            stdout=out.decode(errors="replace"),
            stderr=err.decode(errors="replace"),
            timed_out=timed_out,
        )

    def _git(self, *arguments: str) -> None:
        try:
            done = subprocess.run(
                ["git", *arguments], cwd=self.project, env=dict(self.environment), capture_output=True, text=True
            )
        except FileNotFoundError as error:
            raise HostError(
                'there is no "git" command here; the ledger of a project lies beside its history'
            ) from error
        if done.returncode != 0:
            raise HostError(f'"git {arguments[0]}" failed in {self.project}: {done.stderr.strip()}')


def stop(process: subprocess.Popen[bytes], grace: float = _GRACE) -> None:
    """End a process that `start` gave out: ask as Ctrl-C does, wait, then kill its group. Ended ones are left alone.

    Asking comes first because Tau runs shell commands in sessions of their own: only Tau knows them.
    """
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=grace)
    except subprocess.TimeoutExpired:
        pass
    finally:  # also when a second Ctrl-C ends the waiting
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _environment(root: Path, home: Path) -> dict[str, str]:
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    # `python3` in the model's commands is the Python that runs us, with the same packages at hand.
    path = os.pathsep.join([str(Path(sys.executable).parent), inherited.get("PATH", os.defpath)])
    return inherited | {
        "PATH": path,
        "HOME": str(home),
        "TMPDIR": str(root / "tmp"),
        "TAU_HOME": str(home / ".tau"),
        "TAU_NO_UPDATE_CHECK": "1",
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_RUNTIME_DIR": str(root / "tmp"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "GIT_AUTHOR_EMAIL": "demo@example.invalid",
        "GIT_AUTHOR_NAME": "Demo",
        "GIT_CEILING_DIRECTORIES": str(root),
        "GIT_COMMITTER_EMAIL": "demo@example.invalid",
        "GIT_COMMITTER_NAME": "Demo",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "NO_COLOR": "1",
        "NO_PROXY": "127.0.0.1",
        # Tau's own modules and ours may lie in a folder that was never compiled: write nothing there.
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
        _KEY_VARIABLE: _KEY,
    }


def _write_provider(tau_home: Path, base_url: str) -> None:
    # Tau takes definitions of providers from catalog.toml and choices among them from providers.json.
    # A JSON string is a TOML string as well.
    text = json.dumps
    (tau_home / "catalog.toml").write_text(
        "\n".join(
            [
                "schema_version = 1",
                "",
                "[[providers]]",
                f"name = {text(PROVIDER)}",
                'display_name = "Scripted (no model behind it)"',
                'kind = "openai-compatible"',
                f"base_url = {text(base_url)}",
                f"api_key_env = {text(_KEY_VARIABLE)}",
                f"models = [{text(MODEL)}]",
                f"default_model = {text(MODEL)}",
                f"docs_url = {text(base_url)}",
                f"context_windows = {{ {MODEL} = 200000 }}",
                "",
            ]
        ),
        encoding="utf-8",
    )
    choices = {
        "schema_version": 2,
        "default_provider": PROVIDER,
        "provider_preferences": {PROVIDER: {"default_model": MODEL, "max_retry_delay_seconds": 0.05}},
        "scoped_models": [],
    }
    (tau_home / "providers.json").write_text(json.dumps(choices, indent=2) + "\n", encoding="utf-8")
