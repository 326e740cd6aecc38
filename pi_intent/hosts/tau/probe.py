"""Ask the Tau at hand how its tools look and whether a call without an intent gets through, and leave no trace.

Tau is asked under its own Python, with the user's own extensions and in the user's folder. What such a session would
keep goes to a temporary folder: Tau's state by the paths the session is given, our ledger because git is kept from
finding the project, so that the state folder is taken, and that one is temporary.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from pi_intent.contract.rows import ROWS
from pi_intent.credentials import COMMAND_SECONDS
from pi_intent.descriptions import model_texts
from pi_intent.errors import HostError
from pi_intent.hosts.tau.install import NAME
from pi_intent.hosts.tau.locate import TauCommand
from pi_intent.labels.printable import printable
from pi_intent.ledger.location import find_ledger
from pi_intent.settings import Settings
from pi_intent.types import JSONObject, Policy, Status

TIMEOUT = 30.0
"""Seconds. Tau needs less than one; extensions of the user may do anything. A credential may take its own time."""

ENTRY = Path(__file__).with_name("pi_intent.py")
"""What Tau loads of us where nothing is installed."""

_SCRIPT = Path(__file__).with_name("inside_tau.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbedCall:
    """How a call went. `status` is ours, None where pi-intent never saw the call; `ran`: it had its effect."""

    status: Status | None
    is_error: bool
    text: str
    ran: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbedCalls:
    """One tool, called without an intent and with one."""

    bare: ProbedCall
    stated: ProbedCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbedTool:
    """A tool as the model sees it; `snippet` and `guidelines` as far as they stand in the system prompt.

    `source` names the extension that supplied the tool; None is Tau itself.
    """

    name: str
    description: str
    parameters: JSONObject
    snippet: str | None
    guidelines: tuple[str, ...]
    source: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSection:
    """A section of the system prompt."""

    title: str | None
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """What Tau has to say about a resource, such as an extension."""

    severity: str
    name: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What Tau said.

    `package` and `version` are those of the pi-intent that Tau loaded, `extension` the file it loaded it by; all
    None where it did not. `notices` are the warnings and errors that extensions showed to the person; `reads_keyring`
    tells whether Tau's Python has what reads the system's keyring.
    """

    tau: str
    python: str
    home: Path
    package: Path | None
    version: str | None
    extension: Path | None
    tools: tuple[ProbedTool, ...]
    sections: tuple[PromptSection, ...]
    calls: dict[str, ProbedCalls]
    notices: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    reads_keyring: bool


Verdict = Literal["rejected", "by_settings", "not_ours", "absent", "wrong"]
"""What came of a call without an intent.

`rejected`: refused by us, and nothing ran · `by_settings`: it ran, as the settings have it · `not_ours`: pi-intent
never saw the call · `absent`: this Tau has no such tool · `wrong`: anything else.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolVerdict:
    """What was found of one tool; `problem` is a sentence where that is not what the settings ask for."""

    name: str
    verdict: Verdict
    text: str
    watched: Policy
    unwatched: Policy
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class _Failed:
    error: str


_REPORT: TypeAdapter[Probe | _Failed] = TypeAdapter(Probe | _Failed)


def probe_tau(
    tau: TauCommand,
    *,
    cwd: Path,
    environ: Mapping[str, str],
    with_calls: bool,
    entry: Path | None = None,
    timeout: float | None = None,
    fetched: Sequence[str] = (),
) -> Probe:
    """Load a session in `cwd` as the user would have it; `with_calls` calls its tools as well.

    `entry` is loaded where no extension of ours is installed. `fetched` are the credentials that the calls wait for,
    as `slow_credentials` names them: each may take its time beside `timeout`, which is in seconds and `TIMEOUT` where
    None. Raises `HostError` where Tau cannot be asked.
    """
    timeout = (TIMEOUT if timeout is None else timeout) + COMMAND_SECONDS * len(fetched)
    with tempfile.TemporaryDirectory(prefix="pi-intent-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder).resolve()
        surroundings = _surroundings(environ, scratch)
        if not find_ledger(cwd, surroundings).root.is_relative_to(scratch):
            raise HostError("Tau is not asked, because that would write into the ledger of this project: update git")
        (scratch / "tmp").mkdir()
        arguments = [str(scratch), "" if entry is None else str(entry), "calls" if with_calls else ""]
        # -P: what lies in the user's folder is not to be imported. -B: no bytecode beside anybody's extensions.
        command = [*tau.python, "-P", "-B", str(_SCRIPT), *arguments]
        try:
            complaint = _run(command, cwd, surroundings, scratch / "stderr", timeout)
        except subprocess.TimeoutExpired as error:
            raise HostError(f"Tau did not answer within {timeout:.0f} seconds: {_way_out(fetched)}") from error
        try:
            found = _REPORT.validate_json((scratch / "report.json").read_bytes())
        except FileNotFoundError as error:
            raise HostError(f"{tau.path} cannot be looked into: {complaint or 'it ended without a word'}") from error
        except ValidationError as error:
            raise HostError(f"{tau.path} gave an answer that cannot be read: install Tau again") from error
    if isinstance(found, _Failed):
        raise HostError(f"{tau.path} cannot load a session: {printable(found.error, width=400)}")
    return found


def slow_credentials(settings: Settings) -> list[str]:
    """Name the credentials that take their time, from a command or a keyring: once for each call that needs one."""
    slow = {credential.name for credential in settings.credentials if credential.origin != "env"}
    needs = (name for tool in ROWS for name in settings.for_tool(tool, watched=True).needs)
    return [name for name in needs if name in slow]


def _way_out(fetched: Sequence[str]) -> str:
    if not fetched:
        return "move its other extensions away and try again"
    names = ", ".join(dict.fromkeys(fetched))
    return f"see whether a credential can be fetched ({names}), move Tau's other extensions away, and try again"


def _surroundings(environ: Mapping[str, str], scratch: Path) -> dict[str, str]:
    return {
        **environ,
        "PI_INTENT_TRACING": "off",  # what is called to try it out is nobody's work
        "GIT_CONFIG_PARAMETERS": "none",  # not what git writes there: every git command stops at once
        "PYTHONDONTWRITEBYTECODE": "1",
        "TAU_NO_UPDATE_CHECK": "1",
        "TMPDIR": str(scratch / "tmp"),
        "XDG_STATE_HOME": str(scratch / "state"),
    }


def _run(command: list[str], cwd: Path, environ: Mapping[str, str], stderr: Path, timeout: float) -> str:
    """Run a command to its end, with everything it started, and return the last line of its errors.

    Raises `subprocess.TimeoutExpired` where it takes longer.
    """
    # A file and no pipe: whatever an extension leaves running could keep a pipe open.
    with stderr.open("w+b") as errors:
        try:
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as error:
            raise HostError(f"{command[0]} cannot be started ({error.strerror}): install Tau again") from error
        try:
            process.wait(timeout)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        errors.seek(0)
        lines = errors.read().decode("utf-8", "replace").strip().splitlines()
    return printable(lines[-1], width=400) if lines else ""


def judge(name: str, probe: Probe, settings: Settings) -> ToolVerdict:
    """Compare what came of a tool's two calls with what the settings ask for."""
    watched, unwatched = (settings.for_tool(name, watched=seen).policy for seen in (True, False))

    def verdict(kind: Verdict, text: str, problem: str | None = None) -> ToolVerdict:
        return ToolVerdict(name=name, verdict=kind, text=text, watched=watched, unwatched=unwatched, problem=problem)

    tool = next((tool for tool in probe.tools if tool.name == name), None)
    calls = probe.calls.get(name)
    if tool is None:
        text = f"this Tau has no tool called {name}"
        return verdict("absent", text, f"{text}, so pi-intent does not know what took its place: ask for an update")
    if calls is None:
        text = "could not be tried out"
        fix = "move Tau's other extensions away and try again"
        return verdict("wrong", text, f"{name} {text}, because another extension stopped the calls: {fix}")
    bare, stated = calls.bare, calls.stated
    if bare.status is None:
        return verdict("not_ours", f"not ours: the call went to {_supplier(tool)}", _not_ours(tool))
    kind: Verdict = "rejected"
    text = "rejected without an intent"
    if unwatched in ("require", "adaptive"):
        if bare.status != "rejected" or bare.ran or not bare.is_error:
            text = f"ran without an intent ({bare.status}), though its policy is {unwatched}"
            return verdict("wrong", text, f"{name} {text}: look at the warnings, they may say why")
    elif bare.status == "rejected":
        text = f"rejected without an intent, though its policy is {unwatched}"
        fix = 'have Tau use the pi-intent at hand, with "pi-intent install tau"'
        return verdict("wrong", text, f"{name} was {text}: {fix}")
    else:
        kind, text = "by_settings", "runs without an intent, by your settings"
    if stated.status == "ok" and stated.ran:
        return verdict(kind, f"{text}; with one it runs")
    if stated.status == "denied":
        why_refused, reasons = _refused(stated.text)
        end, then = _REFUSED.get(why_refused, ("another extension blocks it", None))
        end += f" (in this trial because of {printable(reasons, width=200)})" if reasons else ""
        problem = None if then is None else f"{name}: with an intent {end}: {then}"
        return verdict(kind, f"{text}; with one {end}", problem)
    came = "had no effect" if stated.status == "ok" else stated.status
    why = f"with an intent it fails ({came}: {printable(stated.text)})"
    if tool.source not in (None, NAME):  # a tool of somebody else may want other arguments
        return verdict(kind, f"{text}; {why}")
    return verdict("wrong", f"{text}; {why}", f"{name}: {why}; please report this, with the version of Tau")


_REFUSED: dict[str, tuple[str, str | None]] = {
    "nobody": ("a person is asked before it runs, by your settings", None),
    "deferred": ("it waits for a person, by your settings", None),
    "permission": ("it is not permitted, by your settings", None),
    "credential": (
        "it is refused, as a credential that it needs could not be fetched",
        "see in the warnings which one and why, and mend that; or unset needs",
    ),
}
"""What came of a call with an intent that we refused ourselves, and what to do where that is no setting."""


def _refused(text: str) -> tuple[str, str]:
    """Return which of our own sentences a refusal is, and the rules that it names; '' where it is somebody else's."""
    said = model_texts().consent
    for why in _REFUSED:
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.*?)", re.escape(said[why]))
        if found := re.search(pattern, text, re.S):
            return why, found.groupdict().get("reasons", "")
    return "", ""


def _supplier(tool: ProbedTool) -> str:
    return "Tau's own tool" if tool.source is None else f"the tool of the extension {printable(tool.source)}"


def _not_ours(tool: ProbedTool) -> str:
    if tool.source in (None, NAME):
        return f"{tool.name} runs past pi-intent: please report this, with the version of Tau"
    return f"{tool.name} is supplied by {printable(tool.source or '')} and runs past pi-intent: remove that extension"
