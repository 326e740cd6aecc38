"""Put `pi-intent mcp wrap` before the command line of a server in a config's text, and take it away again.

The command moves into the list of arguments as it is written there, and comes back as it is written: nothing has to
be remembered outside of the config, and what was edited in between stays. The one thing that the new line would not
show, that there was no list of arguments before, is kept in how the option is spelt: `--server=NAME` where there was
none, `--server NAME` where there was one. Both mean the same to the proxy.
"""

from __future__ import annotations

import json
import os.path
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pi_intent.hosts.mcp.clients.text import Arguments, Edit, Server, Span, comma_after, comments_of

_PROGRAM = re.compile(r"pi-intent(?:\.exe)?")
_PYTHON = re.compile(r"(?:python|pypy).*")
_ANYWHERE = re.compile(r"\bpi[-_]intent(?:@\S+)?['\"]?\s+['\"]?mcp['\"]?\s+['\"]?wrap\b")
_WITH_A_VALUE = frozenset({"--policy", "--tools", "--exempt", "--server"})
_SERVER = "--server"
_SPACE = re.compile(r"[ \t\r\n]*")
_WINDOWS_PATH = re.compile(
    r"(?:[A-Za-z]:[\\/]|\\\\)(?:(?!\.(?:exe|cmd|bat|com)\s).)+\.(?:exe|cmd|bat|com)", re.IGNORECASE
)
_WRITABLE_NAME = re.compile(r"[^\s\x00-\x1f\x7f\ud800-\udfff${}-][^\x00-\x1f\x7f\ud800-\udfff$]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """How pi-intent is started: a command and what comes before its own arguments."""

    command: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapped:
    """How a server is wrapped: what starts pi-intent, and the place of the real command among the arguments.

    `real` is None where that cannot be told: started by another program, or with options that this pi-intent does not
    know; `why` then says which. `is_empty`: no command follows, and it cannot start. `had_no_list` is whether there
    was no list of arguments before.
    """

    launcher: str
    real: int | None = None
    had_no_list: bool = False
    is_empty: bool = False
    why: str = ""


def is_ours(command: str) -> bool:
    """Whether a command is known as pi-intent by its name: only what is known again can be taken out again."""
    return _PROGRAM.fullmatch(_base(command)) is not None


Shape = Literal["json", "toml"]


def wrapped(server: Server) -> Wrapped | None:
    """Say how a server is wrapped, None where it is not."""
    line = server.line
    if not line:
        return None
    command, arguments = line[0], line[1:]
    program = _base(command)
    if is_ours(command) and arguments[:2] == ("mcp", "wrap"):
        return _options(command, arguments, 2)
    if _PYTHON.fullmatch(program) and arguments[:4] == ("-m", "pi_intent", "mcp", "wrap"):
        return _options(command, arguments, 4)
    if _ANYWHERE.search(" ".join((program, *map(_base, arguments)))) or _ANYWHERE.search(" ".join(line)):
        return Wrapped(launcher=command, why=f"{program} starts pi-intent there")
    return None


def _base(word: str) -> str:
    return os.path.basename(word.replace("\\", "/"))


def _options(launcher: str, arguments: tuple[str, ...], at: int) -> Wrapped:
    had_no_list = False
    while at < len(arguments) and arguments[at].startswith("-"):
        name, sign, _ = arguments[at].partition("=")
        if name == "--" and not sign:
            at += 1
            break
        if name not in _WITH_A_VALUE:
            return Wrapped(launcher=launcher, why=f"it has the option {name}, which this pi-intent does not know")
        had_no_list = had_no_list or (name == _SERVER and sign == "=")
        at += 1 if sign else 2
    if at >= len(arguments):
        return Wrapped(launcher=launcher, is_empty=True, why="no command follows pi-intent mcp wrap")
    return Wrapped(launcher=launcher, real=at, had_no_list=had_no_list and at == len(arguments) - 1)


def real_line(server: Server) -> tuple[str, ...]:
    """Return the command line of the server itself, without pi-intent before it; () where it cannot be told."""
    found = wrapped(server)
    if found is None:
        return server.line
    return server.line[1 + found.real :] if found.real is not None else ()


def why_not(server: Server, *, file_exists: bool) -> str | None:
    """Say why a server that is not wrapped cannot be, None where it can; `file_exists`: there is a file of its
    command's name."""
    kind = server.fields.get("type")
    if server.problem is not None:
        return server.problem
    if isinstance(kind, str) and kind != "stdio":
        return f"it is remote ({kind}): there is no process to start through pi-intent"
    if "command" not in server.fields:
        remote = [key for key in ("url", "serverUrl", "httpUrl") if key in server.fields]
        return f"it is remote ({remote[0]}): there is no process to start" if remote else "it has no command"
    command = server.command or ""
    if not command.strip():
        return "its command is empty"
    if re.search(r"\s", command) and not file_exists and _WINDOWS_PATH.fullmatch(command) is None:
        return "its command is a whole command line: split it into command and args"
    if is_ours(command):
        return "its command is pi-intent itself"
    if command.startswith("-"):
        return "its command begins with -, which would be read as an option"
    if _WRITABLE_NAME.fullmatch(server.name) is None:
        return "its name cannot be passed on as an argument: give it another one"
    return None


def wrap(text: str, server: Server, launcher: Launcher, shape: Shape) -> list[Edit]:
    """Return the edits that wrap a server which is not wrapped."""
    no_list = server.arguments is None
    server_option = [f"{_SERVER}={server.name}"] if no_list else [_SERVER, server.name]
    words = [literal(word, shape) for word in (*launcher.arguments, "mcp", "wrap", *server_option)]
    words.append(text[server.command_at.start : server.command_at.end])
    command = Edit(*server.command_at, literal(launcher.command, shape))
    if server.arguments is None:
        return [command, Edit(server.place, server.place, f"{server.before_arguments}[{', '.join(words)}]")]
    if not server.arguments.items:
        at = server.arguments.opening.end
        return [command, Edit(at, at, ", ".join(words))]
    at = server.arguments.items[0].start
    gap = _gap(text, server.arguments)
    return [command, Edit(at, at, "".join(f"{word},{gap}" for word in words))]


def unwrap(text: str, server: Server, found: Wrapped) -> list[Edit]:
    """Return the edits that give a wrapped server its own command line back; none where that cannot be told."""
    arguments = server.arguments
    if arguments is None or found.real is None:
        return []
    real = arguments.items[found.real]
    command = Edit(*server.command_at, text[real.start : real.end])
    if found.had_no_list:
        return [command, *(Edit(*span, "") for span in arguments.removal)]
    first, rest = arguments.items[0].start, arguments.items[found.real + 1 :]
    if rest:
        return [command, *_cut(text, first, rest[0].start, arguments.items[: found.real + 1])]
    start, end = first, comma_after(text, real.end).end
    # An empty list gets our words right after its bracket. Where there is space now, somebody has laid it out anew.
    before, after = text[arguments.opening.end : first], _SPACE.match(text, end)
    if before and _SPACE.fullmatch(before) and after is not None and text.startswith("]", after.end()):
        start, end = arguments.opening.end, after.end()
    return [command, *_cut(text, start, end, arguments.items)]


def relaunch(server: Server, found: Wrapped, launcher: Launcher, shape: Shape) -> list[Edit]:
    """Return the edit that starts a wrapped server's pi-intent from where it is now; none where its form differs."""
    head = server.line[1 : 1 + len(launcher.arguments)]
    if found.real is None or found.launcher == launcher.command or head != launcher.arguments:
        return []
    return [] if server.line[1 + len(head)] != "mcp" else [Edit(*server.command_at, literal(launcher.command, shape))]


def literal(word: str, shape: Shape) -> str:
    """Write a text as JSON or TOML does."""
    written = json.dumps(word, ensure_ascii=False)
    return written.replace("\x7f", "\\u007f") if shape == "toml" else written


def _gap(text: str, arguments: Arguments) -> str:
    """Return the space between two arguments, as the list has it."""
    first = arguments.items[0]
    before = text[arguments.opening.end : first.start]
    if "\n" in before:
        return before if _SPACE.fullmatch(before) else " "
    if len(arguments.items) == 1:
        return " "
    between = text[first.end : arguments.items[1].start]
    return between[1:] if between.startswith(",") and _SPACE.fullmatch(between[1:]) else " "


def _cut(text: str, start: int, end: int, items: Sequence[Span]) -> list[Edit]:
    """Cut a stretch of a list with its items, but keep the comments that somebody put between them."""
    ends = (*(item.start for item in items[1:]), end)
    kept = "".join(comments_of(text[item.end : stop]) for item, stop in zip(items, ends, strict=True))
    return [Edit(start, end, kept)]
