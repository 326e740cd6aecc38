"""`pi-intent install` and `pi-intent uninstall`: add pi-intent to an agent, or take it out again."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

import click

import pi_intent
from pi_intent.cli.console import complain, json_text
from pi_intent.errors import HostError
from pi_intent.hosts.tau.install import PACKAGE, Action, InstallResult, remove_shim, write_shim
from pi_intent.hosts.tau.locate import extensions_folder, find_tau

_host = click.argument("host", type=click.Choice(["tau"]))
_dry_run = click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
_as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")

_DONE: dict[Action, str] = {
    "installed": "Installed",
    "updated": "Updated",
    "unchanged": "Already installed, nothing to do",
    "removed": "Removed",
    "absent": "Not installed, nothing to do",
}
_WOULD: dict[Action, str] = {"installed": "Would install", "updated": "Would update", "removed": "Would remove"}


@click.command()
@_host
@_dry_run
@_as_json
def install(host: str, dry_run: bool, as_json: bool) -> None:
    """Add pi-intent to HOST, for every session from now on.

    For Tau this writes one file, pi_intent.py, into $TAU_HOME/extensions or ~/.tau/extensions. It loads pi-intent
    from where it lies now, also when Tau has an environment of its own. Nothing else is changed, and a file of that
    name which pi-intent did not write is left alone.

    Exits with 1 where it could not be installed.
    """
    result = _run(host, as_json, lambda: write_shim(extensions_folder(os.environ), dry_run=dry_run))
    warnings = [*result.warnings, *_surroundings(os.environ)]
    if as_json:
        _print_document(host, result, warnings, dry_run)
        return
    _tell(result, warnings, dry_run)
    if not dry_run:
        click.echo(f"Tau loads pi-intent {pi_intent.__version__} from {PACKAGE}, at its next start or with /reload.")
        click.echo("To see whether it works: pi-intent doctor")


@click.command()
@_host
@_dry_run
@_as_json
def uninstall(host: str, dry_run: bool, as_json: bool) -> None:
    """Take pi-intent out of HOST again. What it recorded stays.

    Removes the file that "pi-intent install" wrote and nothing else. Exits with 0 also where nothing was installed,
    and with 1 where a file could not be removed or is not ours to remove.
    """
    result = _run(host, as_json, lambda: remove_shim(extensions_folder(os.environ), dry_run=dry_run))
    if as_json:
        _print_document(host, result, [*result.warnings], dry_run)
    else:
        _tell(result, result.warnings, dry_run)


def _run(host: str, as_json: bool, action: Callable[[], InstallResult]) -> InstallResult:
    try:
        return action()
    except HostError as error:
        if not as_json:
            raise
        click.echo(json_text({"host": host, "action": "failed", "error": str(error)}, indent=2))
        raise SystemExit(1) from error


def _surroundings(environ: Mapping[str, str]) -> list[str]:
    """Say what keeps an installation from having an effect."""
    warnings = []
    try:
        find_tau(environ, executable=sys.executable)
    except HostError as error:
        warnings.append(str(error))
    if environ.get("PI_INTENT", "").strip().lower() == "off":
        warnings.append(
            "PI_INTENT=off is set here, and switches pi-intent off in every session that sees it: unset it"
        )
    return warnings


def _tell(result: InstallResult, warnings: Sequence[str], dry_run: bool) -> None:
    words = (_WOULD if dry_run else _DONE).get(result.action, _DONE[result.action])
    click.echo(f"{words}: {result.path}")
    for warning in warnings:
        complain(f"Warning: {warning}.")


def _print_document(host: str, result: InstallResult, warnings: list[str], dry_run: bool) -> None:
    document = {
        "host": host,
        "action": result.action,
        "dryRun": dry_run,
        "path": str(result.path),
        "package": str(PACKAGE),
        "version": pi_intent.__version__,
        "warnings": warnings,
    }
    click.echo(json_text(document, indent=2))
