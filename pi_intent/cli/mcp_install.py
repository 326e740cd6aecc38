"""`pi-intent mcp install` and `pi-intent mcp uninstall`: start a client's MCP servers through pi-intent, or not."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import get_args

import click

from pi_intent.cli.console import complain, json_text
from pi_intent.cli.mcp_diff import redactor, unified
from pi_intent.errors import HostError
from pi_intent.hosts.lasting import passing
from pi_intent.hosts.mcp.clients.changing import FileResult, Report, Request, UnknownServer, change
from pi_intent.hosts.mcp.clients.client import Client, ClientName, Scope, Surroundings
from pi_intent.hosts.mcp.clients.known import CLIENTS
from pi_intent.hosts.mcp.clients.launcher import SHARED, own_launcher
from pi_intent.hosts.mcp.clients.plan import Planned, State
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
_WIDTH = 400

client_option = click.option(
    "--client", "name", type=click.Choice(get_args(ClientName)), required=True, help="Whose servers."
)
project_option = click.option(
    "--project",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=Path(),
    help="Whose project.  [default: this directory]",
)


def _options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(
        (
            client_option,
            click.option(
                "--scope",
                "scopes",
                multiple=True,
                type=click.Choice(get_args(Scope)),
                help="user: yours everywhere; local: yours in this project (Claude Code); project: a file that all "
                "who have the project share. May be given again.  [default: all that are only yours]",
            ),
            click.option("--only", metavar="SERVER", multiple=True, help="Only this server. May be given again."),
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
    name: ClientName,
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
      pi-intent mcp install --client claude --dry-run
      pi-intent mcp install --client codex --only github
      pi-intent mcp install --client vscode --scope project
    """
    if executable is not None and not is_ours(executable):
        raise click.UsageError("--executable must be pi-intent or a path that ends in /pi-intent")
    launchers = (own_launcher(), SHARED) if executable is None else (Launcher(command=executable),) * 2
    request = Request(
        verb="install", launchers=launchers, scopes=scopes, only=only, dry_run=dry_run, verify=not no_verify
    )
    _run(CLIENTS[name], request, project, as_json)


@click.command(short_help="Start them without it again.")
@_options
def uninstall(
    name: ClientName,
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
    _run(CLIENTS[name], request, project, as_json)


def _run(client: Client, request: Request, project: Path, as_json: bool) -> None:
    surroundings = Surroundings(environ=os.environ, directory=project.resolve())
    try:
        report = change(client, surroundings, request)
    except UnknownServer as error:
        if as_json:
            click.echo(json_text({"client": client.name, "error": str(error)}, indent=2))
            raise SystemExit(2) from error
        raise click.UsageError(str(error)) from error
    except HostError as error:
        if not as_json:
            raise click.UsageError(str(error)) from error
        click.echo(json_text({"client": client.name, "error": str(error)}, indent=2))
        raise SystemExit(2) from error
    warnings = [*_warnings(request, report)]
    if as_json:
        click.echo(json_text(_document(client, request, report, warnings), indent=2))
    else:
        _tell(client, request, report, warnings)
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
                'install it where it stays, for example with "uv tool install pi-intent"'
            )
    if request.verb == "install" and any(server.place.is_shared for server in changed):
        yield (
            f"others get this file with the project, and {shared.command} must be on the PATH of each of them, or "
            "their client cannot start these servers"
        )


def _tell(client: Client, request: Request, report: Report, warnings: Iterable[str]) -> None:
    if not report.files:
        looked = ", ".join(_shown(path) for path in report.looked_at)
        print(f"Nothing to do: {client.title} has no config here; looked for {looked}.")
    for file in report.files:
        _tell_file(client, request, file)
    for one in report.elsewhere:
        print(f"  ✗ {_name(one.name)} ({_name(one.source)}): left as it is: {one.reason}")
    for hint in report.hints:
        complain(f"Note: {hint}.")
    for warning in warnings:
        complain(f"Warning: {warning}.")
    if not request.dry_run and any(file.action == "changed" for file in report.files):
        print(f"{client.title} starts them so from its next session on.")


def _tell_file(client: Client, request: Request, file: FileResult) -> None:
    if file.action == "failed":
        complain(f"Error: {file.error}")
        return
    print(f"{client.title}, {_shown(file.path)}")
    for server in file.servers:
        words = (_WOULD if request.dry_run else _DONE).get(server.state, _DONE[server.state])
        reason = f": {printable(server.reason, width=_WIDTH)}" if server.reason else ""
        print(f"  {words.format(_of(server))}{reason}")
    if file.action == "unchanged":
        print("  Nothing to do." if file.servers else "  Nothing to do: there are no servers in it.")
    elif request.dry_run:
        for line in unified(file.path, file.before, file.after):
            print(line)
    elif file.verified:
        print(f"  {client.title} understands it ({file.verified}).")
    if file.unverified:
        print(f"  Not confirmed by {client.title}: {printable(file.unverified, width=_WIDTH)}.")


def _of(server: Planned) -> str:
    return f"{_name(server.name)} ({server.place.scope})"


def _name(text: str) -> str:
    return printable(text, width=120)


def _shown(path: Path) -> str:
    return printable(str(path), width=_WIDTH)


def _document(client: Client, request: Request, report: Report, warnings: list[str]) -> dict[str, object]:
    return {
        "client": client.name,
        "action": request.verb,
        "dryRun": request.dry_run,
        "files": [_file_document(file, request.dry_run) for file in report.files],
        "lookedAt": [str(path) for path in report.looked_at],
        "elsewhere": [{"name": one.name, "source": one.source, "reason": one.reason} for one in report.elsewhere],
        "notes": [*report.hints],
        "warnings": warnings,
    }


def _file_document(file: FileResult, dry_run: bool) -> dict[str, object]:
    hide = redactor()
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
                {"before": [*map(hide, server.before)], "after": [*map(hide, server.after)]}
                if server.is_changed
                else {}
            ),
        }
        for server in file.servers
    ]
    if dry_run:
        document["diff"] = [*unified(file.path, file.before, file.after)]
    elif file.action == "changed":
        document["verifiedBy"] = file.verified or None
        document["notVerified"] = file.unverified or None
    return document
