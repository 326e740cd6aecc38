"""A home and a project with settings, and what loading them gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from pi_intent.settings import LoadedSettings, load_settings
from pi_intent.settings.wording import ASKED_MEANWHILE
from pi_intent.types import Policy

type Load = Callable[..., LoadedSettings]


class Machine:
    """A home and a project with the files a test writes, and one call to load them."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = root / "project"
        self.user_file = self.home / ".config" / "pi-intent" / "config.toml"
        self.project_file = self.project / ".pi-intent.toml"
        self.user_file.parent.mkdir(parents=True)
        self.project.mkdir()

    def load(
        self,
        user: str | None = None,
        project: str | None = None,
        env: Mapping[str, str] | None = None,
        overrides: Mapping[str, object] | None = None,
    ) -> LoadedSettings:
        if user is not None:
            self.user_file.write_text(user, encoding="utf-8")
        if project is not None:
            self.project_file.write_text(project, encoding="utf-8")
        environ = {"HOME": str(self.home), **(env or {})}
        return load_settings(project=self.project, environ=environ, overrides=overrides)


def loader(machine: Machine) -> Load:
    """Load what two files say, the person's and the project's, and variables by their names."""

    def load(user: str = "", project: str = "", **environ: str) -> LoadedSettings:
        return machine.load(user, project, env=environ)

    return load


def said(loaded: LoadedSettings) -> list[str]:
    """The warnings without the name of the file, and without what follows from them."""
    told = (warning for warning in loaded.warnings if not warning.endswith(ASKED_MEANWHILE))
    return [warning.partition(".toml: ")[2] or warning for warning in told]


def policy_of(
    loaded: LoadedSettings, tool: str = "bash", source: str | None = None, *, watched: bool = True
) -> Policy:
    return loaded.settings.for_tool(tool, tool_source=source, watched=watched).policy


# Values that cannot be used, word for word


TOP_KEYS = (
    "policy, profile, budget, redact_args, result_limit, strict, live, checkpoints, tracing, keep, ask, consent, "
    "unattended, artifacts, check_in, permissions, credentials, tools"
)
