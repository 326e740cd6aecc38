"""`pi-intent doctor`: prove on the real Tau that no call gets through without an intent, and say what is set."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import pi_intent
from pi_intent.cli.console import json_text
from pi_intent.cli.here import values_without_secrets, without_secrets
from pi_intent.contract.rows import ROWS, full_name
from pi_intent.errors import HostError
from pi_intent.gates.credentials import Credential
from pi_intent.gates.kinds import Match, rule_name
from pi_intent.hosts.tau.install import NAME, PACKAGE
from pi_intent.hosts.tau.locate import TESTED, TauCommand, find_tau
from pi_intent.labels.printable import printable
from pi_intent.ledger.location import find_ledger, obstacle
from pi_intent.settings import LoadedSettings, Settings, ToolRule, load_settings, project_root
from pi_intent.settings.load import MORE, MOST_TOLD
from pi_intent.settings.rules import MORE_UNMATCHED, without_unmatched
from pi_intent.settings.wording import Idle, Lapse, setting_path
from pi_intent.tracing.environment import lacking, shown_url, traces_url
from pi_intent.tracing.listening import nobody_listens

if TYPE_CHECKING:
    from pi_intent.hosts.tau.probe import Probe, ToolVerdict

_TAIL = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingInForce:
    """One setting, and the file, variable or default that it came from."""

    key: str
    value: object
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerState:
    """What there is of a project's ledger.

    `note` is a sentence where it lies outside the repository, `obstacle` says what keeps it from being written.
    """

    path: Path
    segments: int
    size: int
    oldest: str | None
    newest: str | None
    note: str | None
    obstacle: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that was found. All is good where there are no `problems`; `notes` are worth knowing."""

    tau: TauCommand | None
    probe: Probe | None
    tools: tuple[ToolVerdict, ...]
    settings: tuple[SettingInForce, ...]
    ledger: LedgerState
    problems: tuple[str, ...]
    notes: tuple[str, ...]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")
def doctor(as_json: bool) -> None:
    """Find out whether pi-intent works here, and what to do if not.

    Loads the Tau on PATH as you would start it in this folder, with your own extensions but without a model, calls
    each of read, write, edit and bash once without an intent and once with one, and checks that the first did
    nothing. The calls touch a temporary folder only, and neither Tau nor the ledger keeps a trace of them. Then tells
    which settings hold, where they come from, and what the ledger of this project holds.

    Exits with 0 where the tools do what the settings ask for, and with 1 where something is wrong; each problem is
    named with what to do. Warnings leave the exit code as it is.
    """
    try:
        cwd = Path.cwd()
    except FileNotFoundError as error:
        raise HostError("this folder is gone: change to another one and try again") from error
    report = examine(cwd, os.environ)
    if as_json:
        click.echo(json_text(values_without_secrets(_document(report)), indent=2))
    elif report.tau is None:
        raise HostError(report.problems[0])
    else:
        _draw(report)
    raise SystemExit(1 if report.problems else 0)


def examine(cwd: Path, environ: Mapping[str, str]) -> Report:
    """Look at everything. Never raises on what is found: that becomes a problem of the report."""
    loaded = load_settings(project=project_root(cwd), environ=environ, most_warnings=None)
    problems: list[str] = []
    notes = [warning for warning in dict.fromkeys(loaded.warnings) if not isinstance(warning, Lapse)]
    tau, probe = None, None
    try:
        tau = find_tau(environ)
        if loaded.settings.off:
            problems.append("PI_INTENT=off is set, so everything of pi-intent is off: unset it")
        else:
            # pydantic, which --help can do without
            from pi_intent.hosts.tau.probe import judge, probe_tau, slow_credentials

            slow = slow_credentials(loaded.settings)
            probe = probe_tau(tau, cwd=cwd, environ=environ, with_calls=True, fetched=slow)
    except HostError as error:
        problems.append(str(error))
    tools: tuple[ToolVerdict, ...] = ()
    if probe is not None:
        tools = tuple(judge(name, probe, loaded.settings) for name in ROWS)
        installation = [*_installation(probe)]
        # Where pi-intent is not there at all, that is the one thing to say.
        problems += installation or [tool.problem for tool in tools if tool.problem is not None]
        problems += [
            f"Tau could not load {found.name} ({found.message}): repair or remove it"
            for found in probe.diagnostics
            if found.severity == "error"
        ]
        if probe.package is not None:
            names = [full_name(tool.name, None if tool.name in ROWS else tool.source) for tool in probe.tools]
            unmatched = loaded.settings.for_session(names).unmatched(names)
            loaded = loaded.meanwhile(loaded.settings.for_tools(names))
            guards = [told for told in unmatched if isinstance(told, Idle) and told.guards]
            problems += guards
            notes = [*without_unmatched(notes, unmatched), *(told for told in unmatched if told not in guards)]
        notes += _without_keyring(loaded.settings, probe)
        notes += _remarks(probe, shown={*problems, *notes, *loaded.warnings})
    problems += (warning for warning in dict.fromkeys(loaded.warnings) if isinstance(warning, Lapse))
    ledger = ledger_state(cwd, environ)
    if ledger.obstacle is not None:
        then = "calls are refused" if loaded.settings.strict else "calls go on, but are not recorded"
        told = f"the ledger {ledger.path} cannot be written ({ledger.obstacle}), so {then}: see who owns that folder"
        (problems if loaded.settings.strict else notes).append(told)
    if loaded.settings.tracing:
        notes += _of_tracing(environ)
    return Report(
        tau=tau,
        probe=probe,
        tools=tools,
        settings=tuple(in_force(loaded)),
        ledger=ledger,
        problems=tuple(problems),
        notes=tuple(notes),
    )


def _of_tracing(environ: Mapping[str, str]) -> Iterator[str]:
    if (lack := lacking(environ)) is not None:
        yield f"tracing is on, but {lack}: an agent sends spans only where its host has set up OpenTelemetry"
    elif (url := traces_url(environ)) is not None and nobody_listens(url):
        yield f"tracing is on, but nobody listens at {shown_url(url)}: start what is to receive the spans"


def _without_keyring(settings: Settings, probe: Probe) -> Iterator[str]:
    named = [credential.name for credential in settings.credentials if credential.origin == "keyring"]
    if named and not probe.reads_keyring:
        told = f"{', '.join(named)} should come from the keyring, which Tau's Python cannot read"
        yield f"{told}: in the clone, pip install '.[keyring]' there"


def _installation(probe: Probe) -> Iterator[str]:
    if probe.extension is None:
        yield f'pi-intent is not installed in {probe.home}: run "pi-intent install tau"'
    elif probe.package is None:
        told = [notice for notice in probe.notices if notice.startswith("pi-intent ")]
        yield told[0] if told else f'{probe.extension} does not load pi-intent: run "pi-intent install tau" again'


def _remarks(probe: Probe, *, shown: set[str]) -> Iterator[str]:
    if probe.tau not in TESTED:
        tested = ", ".join(TESTED)
        yield f"pi-intent was tested with Tau {tested}, not with {probe.tau}: what stands above was tried out here"
    if probe.package is not None and probe.package != PACKAGE:
        which = f"Tau loads pi-intent {probe.version} from {probe.package}, and this command lies in {PACKAGE}"
        yield f'{which}: "pi-intent install tau" makes Tau use this one'
    for found in probe.diagnostics:
        if found.severity == "warning" and found.name == NAME:
            yield f"Tau says of {NAME}: {found.message}"
    # What Tau cuts at its start stands above in full.
    above = {printable(sentence, width=MOST_TOLD) for sentence in shown}
    told = (notice for notice in probe.notices if notice not in above and not notice.endswith((MORE, MORE_UNMATCHED)))
    yield from (f"Tau shows at its start: {notice}" for notice in told)


_GENERAL = (
    *("policy", "profile", "budget", "redact_args", "strict", "live", "checkpoints", "tracing", "keep"),
    *("ask", "check_in", "consent", "unattended", "permissions", "credentials", "artifacts", "result_limit"),
)
_OF_A_TOOL = (
    *("policy", "profile", "budget", "redact_args"),
    *("tier", "reason", "override", "check_in", "touches", "needs", "stores", "wants", "result_limit"),
)


def in_force(loaded: LoadedSettings) -> Iterator[SettingInForce]:
    """Yield every setting with its origin: the general ones, those of tools, and what the project asks for."""
    settings, origins = loaded.settings, loaded.origins
    if settings.off:
        yield SettingInForce(key="off", value=True, origin=origins["off"])
        return
    for key in _GENERAL:
        yield SettingInForce(key=key, value=_plain(key, getattr(settings, key)), origin=origins[key])
    for rule, least in [
        *((rule, "") for rule in settings.tools),
        *((rule, " (at least)") for rule in settings.floors),
    ]:
        for key, value in _said(rule):
            if least and value in ([], False):  # a floor that raises nothing
                continue
            path = key if least and rule.pattern == "*" else setting_path("tools", rule.pattern, key)
            yield SettingInForce(key=path + least, value=value, origin=rule.origin)


def _said(rule: ToolRule) -> Iterator[tuple[str, object]]:
    for key in _OF_A_TOOL:
        if getattr(rule, key) is not None:
            yield key, _plain(key, getattr(rule, key))


def _plain(key: str, value: Any) -> object:
    """Return a setting as it is printed, and written as JSON: rules by their names, tables as tables."""
    if key in ("permissions", "wants"):
        return dict(value)
    if key == "credentials":
        return {credential.name: _source(credential) for credential in value}
    if not isinstance(value, tuple):
        return value
    return [rule_name(item) if isinstance(item, Match) else item for item in value]


def _source(credential: Credential) -> dict[str, str]:
    """Return where a credential comes from: of a command the program alone, as its words may say more."""
    command = credential.origin == "command"
    place = f"{credential.where.split()[0]} …" if command and " " in credential.where else credential.where
    return {"from": f"{credential.origin}:{place}", "as": credential.variable}


def ledger_state(cwd: Path, environ: Mapping[str, str]) -> LedgerState:
    """Describe the ledger of the project around a folder, by the ends of its segments; nothing is written."""
    location = find_ledger(cwd, environ)
    sizes: list[int] = []
    times: list[str] = []
    if location.segments.is_dir():
        from pi_intent.ledger.reader import Segment, read_segments

        for segment in read_segments(location.root):
            if isinstance(segment, Segment):
                sizes.append(segment.path.stat().st_size)
                times += _times(segment.path)
    return LedgerState(
        path=location.root,
        segments=len(sizes),
        size=sum(sizes),
        oldest=min(times, default=None),
        newest=max(times, default=None),
        note=location.note,
        obstacle=obstacle(location),
    )


def _times(path: Path) -> Iterator[str]:
    """Yield when the first and the last record of a segment were written, without reading all of it."""
    from pi_intent.ledger.entries import OtherEntry, parse_entry

    def first(lines: list[bytes]) -> Iterator[str]:
        for line in lines:
            entry = parse_entry(line)
            if not isinstance(entry, str):
                ts = entry.data.get("ts") if isinstance(entry, OtherEntry) else entry.ts
                if isinstance(ts, str):
                    yield printable(ts)
                    return

    try:
        with path.open("rb") as file:
            yield from first(file.read(_TAIL).splitlines())
            file.seek(max(0, path.stat().st_size - _TAIL))
            yield from first(file.read(_TAIL).splitlines()[::-1])
    except OSError:
        return


def _document(report: Report) -> dict[str, Any]:
    probe = report.probe
    return {
        "ok": not report.problems,
        "problems": [*report.problems],
        "warnings": [*report.notes],
        "piIntent": {"version": pi_intent.__version__, "path": str(PACKAGE)},
        "tau": None
        if report.tau is None
        else {
            "command": str(report.tau.path),
            "version": None if probe is None else probe.tau,
            "tested": [*TESTED],
            "python": None if probe is None else probe.python,
            "home": None if probe is None else str(probe.home),
            "extension": None if probe is None or probe.extension is None else str(probe.extension),
            "loads": None if probe is None or probe.package is None else str(probe.package),
        },
        "tools": [asdict(tool) for tool in report.tools],
        "settings": [asdict(replace(setting, value=_listed(setting.value))) for setting in report.settings],
        "ledger": {**asdict(report.ledger), "path": str(report.ledger.path)},
    }


def _listed(value: object) -> object:
    """Return a table of words as a list: under a name such as secrets a word would be taken for one."""
    if isinstance(value, dict) and all(isinstance(word, str) for word in value.values()):
        return [f"{name}: {word}" for name, word in value.items()]
    return value


def _draw(report: Report) -> None:
    from rich import filesize
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)

    def line(text: str, mark: str = "", style: str = "") -> None:
        said = printable(without_secrets(text), width=1000)
        console.print(Text.assemble((mark, style), said), soft_wrap=not console.is_terminal)

    def title(text: str) -> None:
        console.print(Text(f"\n{text}", "bold"))

    probe, ledger = report.probe, report.ledger
    line(f"pi-intent {pi_intent.__version__} in {PACKAGE}")
    if report.tau is not None:
        about = "" if probe is None else f" {probe.tau}, Python {probe.python},"
        line(f"Tau{about} by {report.tau.path}; tested with Tau {', '.join(TESTED)}")
    if probe is not None and probe.extension is not None:
        line(f"Tau loads pi-intent by {probe.extension}")
    if report.tools:
        title("Tools, called without an intent and with one")
        for tool in report.tools:
            mark, style = ("✗", "red") if tool.problem is not None else ("✓", "green")
            line(f"{tool.text} · {_policies(tool)}", f"{mark} {tool.name:5}  ", style)
    title("Settings in force")
    settings = [setting for setting in report.settings if setting.value != {}]
    width = max(len(setting.key) for setting in settings)
    for setting in settings:
        unset = {"policy": "require where a person watches, else adaptive", "profile": "lean in Tau"}
        value = unset.get(setting.key, "not set") if setting.value is None else _written(setting.value)
        line(f"{value} · {setting.origin}", f"{printable(setting.key):{width}}  ")
    title("Ledger of this project")
    line(str(ledger.path))
    if ledger.segments:
        files = "1 file" if ledger.segments == 1 else f"{ledger.segments} files"
        from pi_intent.render.moments import Moments

        moments = Moments()
        oldest, newest = (moments.told(time or "") for time in (ledger.oldest, ledger.newest))
        line(f"{files}, {filesize.decimal(ledger.size)}, records from {oldest} to {newest}")
    else:
        line("no record yet")
    if ledger.note is not None:
        line(ledger.note)
    console.print()
    for note in report.notes:
        line(note, "! ", "yellow")
    for problem in report.problems:
        line(problem, "✗ ", "red")
    if not report.problems:
        line("All good.", "✓ ", "green")


def _written(value: object) -> str:
    """Return a value as TOML has it."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{setting_path(key)} = {_written(inner)}" for key, inner in value.items()) + " }"
    return json_text(value)


def _policies(tool: ToolVerdict) -> str:
    if tool.watched == tool.unwatched:
        return tool.watched
    return f"{tool.watched} where a person watches, else {tool.unwatched}"
