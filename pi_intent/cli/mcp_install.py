"""`pi-intent mcp install` and `pi-intent mcp uninstall`: start a client's MCP servers through pi-intent, or not."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import click

from pi_intent.cli.console import json_text
from pi_intent.cli.mcp_choosing import CLIENT, chosen_client, only_option, project_option, scope_option
from pi_intent.cli.mcp_diff import unified
from pi_intent.cli.telling import tell, tell_error, wrong_usage
from pi_intent.errors import HostError
from pi_intent.hosts.lasting import passing
from pi_intent.hosts.mcp.clients.changing import FileResult, Report, Request, UnknownServer, change
from pi_intent.hosts.mcp.clients.client import Client, ClientName, Scope, Surroundings
from pi_intent.hosts.mcp.clients.known import CLIENTS
from pi_intent.hosts.mcp.clients.launcher import SHARED, own_launcher
from pi_intent.hosts.mcp.clients.plan import State
from pi_intent.hosts.mcp.clients.secrets import Hidden
from pi_intent.hosts.mcp.clients.wrapping import Launcher, is_ours
from pi_intent.labels.printable import printable

_DONE: dict[State, str] = {
    "wrapped": "✓ {}: wrapped",
    "relaunched": "✓ {}: was wrapped by a pi-intent that is gone, and is now by this one",
    "unwrapped": "✓ {}: no longer wrapped",
    "already": "· {}: is wrapped already",
    "plain": "· {}: is not wrapped",
    "left": "✗ {}: left as it is",
}
_WOULD: dict[State, str] = {
    "wrapped": "✓ {}: would be wrapped",
    "relaunched": "✓ {}: is wrapped by a pi-intent that is gone, and would be by this one",
    "unwrapped": "✓ {}: would no longer be wrapped",
}
_WIDTH = 1000


def _options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(
        (
            click.argument("client", type=CLIENT, required=False),
            click.option("--client", "name", type=CLIENT, help="Whose servers."),
            scope_option("all that are only yours"),
            only_option,
            project_option,
            click.option(
                "--no-verify", is_flag=True, help="Do not ask the client's own command whether it understands."
            ),
            click.option("--dry-run", is_flag=True, help="Show as a diff what would be changed, and change nothing."),
            click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead."),
        )
    ):
        command = option(command)
    return command


@click.command(short_help="Start a client's MCP servers through pi-intent.")
@_options
@click.option(
    "--executable",
    metavar="COMMAND",
    help="How the client is to start pi-intent.  [default: by its whole path here; in shared files: pi-intent]",
)
def install(
    client: ClientName | None,
    name: ClientName | None,
    scopes: tuple[Scope, ...],
    only: tuple[str, ...],
    project: Path,
    executable: str | None,
    no_verify: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Start the MCP servers of a client through pi-intent.

    Puts "pi-intent mcp wrap" before the command of each server that the client starts itself, in the client's own
    config. Nothing else in the file changes, not a space; "pi-intent mcp uninstall" takes it out again. Servers and
    tools keep their names, and permissions with them. Where the client has a command that shows a server without
    starting it, it is asked, and a file that it does not understand is put back.

    Exits with 1 where a file, or a server named with --only, could not be changed.

    \b
    Examples:
      pi-intent mcp install claude --dry-run
      pi-intent mcp install codex --only github
      pi-intent mcp install --client vscode --scope project
    """
    if executable is not None and not is_ours(executable):
        raise wrong_usage("--executable must be pi-intent or a path that ends in /pi-intent")
    launchers = (own_launcher(), SHARED) if executable is None else (Launcher(command=executable),) * 2
    request = Request(
        verb="install", launchers=launchers, scopes=scopes, only=only, dry_run=dry_run, verify=not no_verify
    )
    _run(CLIENTS[chosen_client("install", name, client)], request, project, as_json)


@click.command(short_help="Start them without it again.")
@_options
def uninstall(
    client: ClientName | None,
    name: ClientName | None,
    scopes: tuple[Scope, ...],
    only: tuple[str, ...],
    project: Path,
    no_verify: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Start the MCP servers of a client without pi-intent again.

    Takes out what "pi-intent mcp install" put in, and nothing else: what was edited in between stays, and a file that
    nobody edited is byte for byte what it was. What was recorded stays.

    Exits with 1 where a file, or a server named with --only, could not be changed.
    """
    request = Request(
        verb="uninstall",
        launchers=(own_launcher(), SHARED),
        scopes=scopes,
        only=only,
        dry_run=dry_run,
        verify=not no_verify,
    )
    _run(CLIENTS[chosen_client("uninstall", name, client)], request, project, as_json)


def _run(client: Client, request: Request, project: Path, as_json: bool) -> None:
    surroundings = Surroundings(environ=os.environ, directory=project.resolve())
    try:
        report = change(client, surroundings, request)
    except UnknownServer as error:
        if as_json:
            click.echo(json_text({"client": client.name, "error": str(error)}, indent=2))
            raise SystemExit(2) from error
        raise wrong_usage(printable(str(error), width=_WIDTH)) from error
    except HostError as error:
        if not as_json:
            raise wrong_usage(printable(str(error), width=_WIDTH)) from error
        click.echo(json_text({"client": client.name, "error": str(error)}, indent=2))
        raise SystemExit(2) from error
    warnings = [*_warnings(request, report)]
    lines = [line for file in report.files for server in file.servers for line in (server.before, server.after)]
    hidden = Hidden(os.environ, lines)
    if as_json:
        document = hidden.document(_document(client, request, report, warnings, hidden))
        click.echo(json_text(document, indent=2))
    else:
        _Told(client, request, hidden).run(report, warnings)
    if any(file.action == "failed" for file in report.files) or (request.only and _unmet(report)):
        raise SystemExit(1)


def _unmet(report: Report) -> bool:
    return bool(report.elsewhere) or any(server.state == "left" for file in report.files for server in file.servers)


def _warnings(request: Request, report: Report) -> Iterable[str]:
    changed = [server for file in report.files for server in file.servers if server.is_changed]
    own, shared = request.launchers
    if request.verb == "install" and any(not server.place.is_shared for server in changed):
        why = passing(Path(own.command), os.environ) if os.path.isabs(own.command) else None
        if why is not None:
            yield (
                f"pi-intent itself lies in {own.command}, {why}, and the servers cannot start when that is cleared: "
                'install it where it stays, for example with "uv tool install ." in the clone'
            )
    if request.verb == "install" and any(server.place.is_shared for server in changed):
        yield (
            f"others get this file with the project, and {shared.command} must be on the PATH of each of them, or "
            "their client cannot start these servers"
        )


class _Told:
    """What is told of a report on a screen."""

    def __init__(self, client: Client, request: Request, hidden: Hidden) -> None:
        self._title = client.title
        self._request = request
        self._hidden = hidden

    def run(self, report: Report, warnings: Iterable[str]) -> None:
        paths = [self._safe(str(path)) for path in report.looked_at]
        if not report.files and not (self._request.only and report.elsewhere):
            lacks = "none of these servers" if self._request.only else "no config"
            tell(f"Nothing to do: {self._title} has {lacks} here; looked for {', '.join(paths)}.", whole=paths)
        for file in report.files:
            self._tell_file(file)
        for one in report.elsewhere:
            tell(f"  ✗ {self._safe(one.name)} ({self._safe(one.source)}): left as it is: {one.reason}")
        for hint in report.hints:
            tell_error(f"Note: {self._safe(hint)}.")
        for warning in warnings:
            tell_error(f"Warning: {self._safe(warning)}.", whole=[self._request.launchers[0].command])
        if not self._request.dry_run and any(file.action == "changed" for file in report.files):
            tell(f"{self._title} starts them so from its next session on.")

    def _tell_file(self, file: FileResult) -> None:
        path = self._safe(str(file.path))
        if file.action == "failed":
            tell_error(f"Error: {self._safe(file.error)}", whole=[path])
            return
        tell(f"{self._title}, {path}", whole=[path])
        for server in file.servers:
            words = (_WOULD if self._request.dry_run else _DONE).get(server.state, _DONE[server.state])
            reason = f": {self._safe(server.reason)}" if server.reason else ""
            tell(f"  {words.format(f'{self._safe(server.name)} ({server.place.scope})')}{reason}")
        if file.action == "unchanged":
            tell("  Nothing to do." if file.servers else "  Nothing to do: there are no servers in it.")
        elif self._request.dry_run:
            for line in unified(file.path, file.before, file.after, self._hidden):
                print(line)
        elif file.verified:
            tell(f"  {self._title} understands it ({file.verified}).")
        if file.unverified:
            tell(f"  Not confirmed by {self._title}: {self._safe(file.unverified)}.")

    def _safe(self, text: str) -> str:
        return printable(self._hidden.text(text), width=_WIDTH)


def _document(
    client: Client, request: Request, report: Report, warnings: list[str], hidden: Hidden
) -> dict[str, object]:
    return {
        "client": client.name,
        "action": request.verb,
        "dryRun": request.dry_run,
        "files": [_file_document(file, request.dry_run, hidden) for file in report.files],
        "lookedAt": [str(path) for path in report.looked_at],
        "elsewhere": [{"name": one.name, "source": one.source, "reason": one.reason} for one in report.elsewhere],
        "notes": [*report.hints],
        "warnings": warnings,
    }


def _file_document(file: FileResult, dry_run: bool, hidden: Hidden) -> dict[str, object]:
    document: dict[str, object] = {"path": str(file.path), "action": file.action}
    if file.error:
        return {**document, "error": file.error}
    document["servers"] = [
        {
            "name": server.name,
            "scope": server.place.scope,
            "state": server.state,
            **({"reason": server.reason} if server.reason else {}),
            **(
                {"before": hidden.line(server.before), "after": hidden.line(server.after)}
                if server.is_changed
                else {}
            ),
        }
        for server in file.servers
    ]
    if dry_run:
        document["diff"] = [*unified(file.path, file.before, file.after, hidden)]
    elif file.action == "changed":
        document["verifiedBy"] = file.verified or None
        document["notVerified"] = file.unverified or None
    return document
