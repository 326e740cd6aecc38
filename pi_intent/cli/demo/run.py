"""Run the demo: Tau with pi-intent on a scripted model, told live from the ledger it writes."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from pi_intent.cli.demo import story
from pi_intent.cli.demo.follow import follow
from pi_intent.cli.demo.model import ScriptedModel
from pi_intent.cli.demo.screen import Screen
from pi_intent.cli.demo.tau import MODEL, HermeticTau, stop
from pi_intent.cli.demo.transcript import Transcript, TranscriptCall
from pi_intent.errors import PiIntentError
from pi_intent.hosts.tau.install import write_shim
from pi_intent.labels.printable import printable
from pi_intent.ledger.location import find_ledger

# Slow enough to see each call come, quick enough that nobody waits: the pauses add up to about two seconds.
_PIECE, _PAUSE = 12, 0.015
_DEADLINE = 60.0
_TAIL = 10  # lines of Tau's errors that are shown when something differed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ending:
    """What a run left: `differences` are sentences, none where everything went as scripted."""

    calls: Sequence[TranscriptCall]
    answer: str
    ledger: Path
    seconds: float
    errors: Sequence[str]
    differences: Sequence[str]


def run_demo(*, keep: Path | None, as_json: bool, console: Console | None = None) -> int:
    """Run the demo on standard output and return the exit code: 0 where everything happened as scripted, else 1.

    With `keep`, project, home and ledger stay in that folder, which must be empty or absent; else nothing stays. With
    `as_json`, one JSON document is all of the output. Raises `PiIntentError` where it cannot start: no Tau, no git,
    or a folder that is in use.
    """
    screen = Screen(console or Console(highlight=False, quiet=as_json))
    with _folder(keep) as root:
        ending = _run(root, screen)
        if as_json:
            print(json.dumps(_document(ending, keep), indent=2))
        elif not ending.differences:
            screen.summary(ending.calls, ending.ledger, kept=keep is not None, seconds=ending.seconds)
    if not ending.differences:
        return 0
    if not as_json:
        print(f"The demo did not go as scripted: {ending.differences[0]}.", file=sys.stderr)
        for line in ending.errors:
            print(f"  tau: {line}", file=sys.stderr)
    return 1


def _run(root: Path, screen: Screen) -> _Ending:
    transcript = Transcript()
    with ScriptedModel(story.SCRIPT, piece=_PIECE, pause=_PAUSE, without_tools="Halves go up") as model:
        tau = HermeticTau.create(root, model.base_url, files=story.FILES)
        write_shim(tau.tau_home / "extensions")
        ledger = find_ledger(tau.project, tau.environment).segments
        screen.opening(story.PROMPT)
        began = time.monotonic()
        # Files instead of pipes: Tau can write as much as it likes while only the ledger is read.
        with (root / "tmp" / "stdout").open("w+b") as out, (root / "tmp" / "stderr").open("w+b") as err:
            process = tau.start(story.PROMPT, stdout=out, stderr=err)
            try:
                screen.started()
                for entry in follow(ledger, process, began + _DEADLINE):
                    call = transcript.apply(entry)
                    if call is not None:
                        screen.call(call)
            finally:
                late = process.poll() is None
                stop(process)
                screen.pause()
            seconds = time.monotonic() - began
            answer, errors = (_text(root / "tmp" / name) for name in ("stdout", "stderr"))
    screen.answer(answer)
    return _Ending(
        calls=transcript.calls,
        answer=answer,
        ledger=ledger,
        seconds=seconds,
        errors=[printable(line, width=400) for line in errors.splitlines()[-_TAIL:]],
        differences=[*_differences(tau, process, transcript.calls, answer, late=late)],
    )


def _differences(
    tau: HermeticTau,
    process: subprocess.Popen[bytes],
    calls: Sequence[TranscriptCall],
    answer: str,
    *,
    late: bool,
) -> Iterator[str]:
    if late:
        yield f"Tau did not end within {_DEADLINE:.0f} seconds"
    elif process.returncode != 0:
        yield f"Tau ended with exit code {process.returncode}"
    if not calls:
        yield "the ledger is empty, no call went through pi-intent"
    for number, (call, (tool, status)) in enumerate(zip(calls, story.EXPECTED, strict=False), start=1):
        was = call.call.tool, "nothing recorded" if call.done is None else call.done.status
        if was != (tool, status):
            yield f"call {number} was {printable(was[0])} and ended with {was[1]}, the script has {tool} and {status}"
    if calls and len(calls) != len(story.EXPECTED):
        yield f"there were {len(calls)} calls, the script has {len(story.EXPECTED)}"
    if answer != story.FINAL:
        yield "the last answer is not the script's"
    if _text(tau.project / "prices.py") != story.REPAIRED.strip():
        yield "prices.py does not hold the repair"


def _document(ending: _Ending, keep: Path | None) -> dict[str, object]:
    return {
        "ok": not ending.differences,
        "differences": [*ending.differences],
        "host": "tau",
        "model": MODEL,
        "seconds": round(ending.seconds, 2),
        "prompt": story.PROMPT,
        "calls": [call.to_json() for call in ending.calls],
        "answer": ending.answer,
        "ledger": None if keep is None else str(ending.ledger),
        "stderr": [*ending.errors],
    }


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="pi-intent-demo-", ignore_cleanup_errors=True) as name:
            yield Path(name)
        return
    try:
        keep.mkdir(parents=True, exist_ok=True)
        if any(keep.iterdir()):
            raise PiIntentError(f"{keep} is not empty; name a folder that is empty or does not exist yet")
    except OSError as error:
        raise PiIntentError(f"{keep} cannot be used: {error.strerror}; name an empty folder") from error
    yield keep
