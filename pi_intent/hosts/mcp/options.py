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
        if not value:
            raise WrongUsage(f"{name} needs a value")
        given[name].append(value)
    if not rest:
        took = next((f"; {name} took “{values[-1]}”" for name, values in given.items() if values), "")
        raise WrongUsage(f"the command that starts the server is missing{took}")
    policies = [policy for policy in STRICTNESS if policy in given["--policy"][-1:]]
    if given["--policy"] and not policies:
        import difflib  # only where a word is wrong

        nearest = difflib.get_close_matches(given["--policy"][-1], STRICTNESS, n=1)
        hint = f"; did you mean {nearest[0]}?" if nearest else ""
        raise WrongUsage(f"--policy must be one of {', '.join(STRICTNESS)}{hint}")
    return WrapOptions(
        command=tuple(rest),
        policy=policies[0] if policies else None,
        tools=tuple(given["--tools"]),
        exempt=tuple(given["--exempt"]),
        server=given["--server"][-1] if given["--server"] else None,
    )


_LAUNCHERS = frozenset({"npx", "bunx", "uvx", "uv", "pipx", "node", "bun", "deno"})
_SUBCOMMANDS = frozenset({"run", "exec", "tool", "x", "dlx"})
_VALUED_BY_LAUNCHERS = frozenset(
    {"-p", "--package", "-c", "--call", "--from", "--with", "--python", "--directory", "--project", "--env-file",
     "--index-url", "--spec", "-r", "--require", "--import", "--loader", "-C", "--cwd", "--config"}
)  # fmt: skip


def server_name(command: Sequence[str]) -> str:
    """Guess what a server is called from the command that starts it: `npx -y @acme/server-x` is `server-x`.

    Where the command is another launcher, as `docker` or `env`, it is that: what stands behind may be a secret.
    """
    words = iter(command)
    chosen = next(words, "")
    if _base(chosen) in _LAUNCHERS or _base(chosen).startswith("python"):
        for word in words:
            if word in _VALUED_BY_LAUNCHERS:
                next(words, None)
            elif not word.startswith("-") and word not in _SUBCOMMANDS and "=" not in word:
                chosen = word
                break
    return _base(chosen).partition("@")[0].removesuffix(".py").removesuffix(".js") or "mcp"


def _base(word: str) -> str:
    return word.rstrip("/").rpartition("/")[2]
