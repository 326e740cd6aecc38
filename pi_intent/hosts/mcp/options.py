"""The options of `pi-intent mcp wrap`, read without what a command line library takes to load."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pi_intent.errors import PiIntentError
from pi_intent.types import STRICTNESS, Policy


class WrapOptions(NamedTuple):
    """What is asked of a proxy: `tools` and `exempt` are globs over tool names, `server` is the server's name."""

    command: tuple[str, ...]
    policy: Policy | None = None
    tools: tuple[str, ...] = ()
    exempt: tuple[str, ...] = ()
    server: str | None = None


VALUED = ("--policy", "--tools", "--exempt", "--server")


class WrongUsage(PiIntentError):
    """The command line of the proxy is wrong."""


def read_options(arguments: Sequence[str]) -> WrapOptions:
    """Read options up to the first word that is none; from there on everything is the server's command.

    A lone `--` before the command is accepted, and not needed. Raises `WrongUsage` with one sentence.
    """
    given: dict[str, list[str]] = {name: [] for name in VALUED}
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if word == "--":
            break
        name, has_value, value = word.partition("=")
        if name not in VALUED:
            raise WrongUsage(f"there is no option {name}; options come before the server's command")
        if not has_value:
            if not rest:
                raise WrongUsage(f"{name} needs a value")
            value = rest.pop(0)
        given[name].append(value)
    if not rest:
        raise WrongUsage("the command that starts the server is missing: pi-intent mcp wrap COMMAND ARGS…")
    policies = [policy for policy in STRICTNESS if policy in given["--policy"][-1:]]
    if given["--policy"] and not policies:
        raise WrongUsage(f"--policy must be one of {', '.join(STRICTNESS)}")
    return WrapOptions(
        command=tuple(rest),
        policy=policies[0] if policies else None,
        tools=tuple(given["--tools"]),
        exempt=tuple(given["--exempt"]),
        server=given["--server"][-1] if given["--server"] else None,
    )


_LAUNCHERS = frozenset({"npx", "uvx", "bunx", "node", "bun", "deno", "uv", "pipx", "env", "sh", "bash", "docker"})


def server_name(command: Sequence[str]) -> str:
    """Guess what a server is called from the command that starts it: `npx -y @acme/server-x` is `server-x`."""
    names = [word.rstrip("/").rpartition("/")[2] for word in command]
    first = names[0] if names else ""
    if first in _LAUNCHERS or first.startswith("python"):
        skipped = {"run", "exec", "tool", "-m", "x", "dlx"}
        chosen = next((name for name in names[1:] if not name.startswith("-") and name not in skipped), first)
    else:
        chosen = first
    return chosen.partition("@")[0].removesuffix(".py").removesuffix(".js") or "mcp"
