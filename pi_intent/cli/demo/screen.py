"""Draw the demo on a terminal, or as plain lines where there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

from pi_intent.cli.demo.transcript import TranscriptCall
from pi_intent.labels.literal import literal
from pi_intent.labels.printable import printable
from pi_intent.ledger.entries import CallEntry, DoneEntry

_MARKS = {"ok": ("✓", "green"), "rejected": ("↺", "yellow"), "error": ("✗", "red")}
_OTHER_MARK = ("✗", "magenta")
_WIDTH = 240


class Screen:
    """Prints a call when it opens and again when it settles; what a model wrote is shown escaped, never as markup."""

    def __init__(self, console: Console) -> None:
        self._console = console
        # A spinner redraws its line: in a file, a pipe or a picture that is noise.
        draws = console.is_terminal and not console.quiet and not console.record
        self._status: Status | None = console.status("") if draws else None

    def opening(self, prompt: str) -> None:
        """Say what is about to be seen."""
        self._line(
            "", Text("Tau on a scripted model: no key, no network, every answer was written in advance.", "bold")
        )
        self._line(
            "", Text("The intents are what that model states; nothing here checks whether they are true.", "dim")
        )
        self._line("", Text())
        self._line("> ", Text(printable(prompt, width=_WIDTH)))

    def started(self) -> None:
        """Say that Tau is on its way; it takes about a second."""
        self._wait("starting Tau")

    def call(self, call: TranscriptCall) -> None:
        """Show a call that has just opened, or how it ended."""
        if call.done is None:
            self._opened(call.call, call.target)
            self._wait(f"running {printable(call.call.tool)}")
        else:
            self._settled(call.done)
            self._wait("waiting for the model")

    def pause(self) -> None:
        """Stop the spinner; the next call starts it again."""
        if self._status is not None:
            self._status.stop()

    def answer(self, answer: str) -> None:
        """Show the model's last words."""
        if answer:
            self._line("", Text())
            self._line("< ", Text(printable(answer, width=_WIDTH)))

    def summary(self, calls: Sequence[TranscriptCall], ledger: Path, *, kept: bool, seconds: float) -> None:
        """Count the calls, say where their ledger is, and how to get one's own."""
        ends = ", ".join(
            f"{count} {status}"
            for status, count in Counter(call.done.status if call.done else "open" for call in calls).items()
        )
        stated = sum(call.call.intent_source == "model" for call in calls)
        self._line("", Text())
        self._line("", Text(f"{len(calls)} calls in {seconds:.1f} s: {ends}; {stated} with a stated intent.", "bold"))
        self._line("", Text("The ledger of the session, one record for it and two a call:"))
        for record in ledger_lines(ledger):
            self._line("  ", Text(literal(record, width=max(40, self._console.width - 2)), "dim"))
        fate = "kept" if kept else "temporary and gone now; pi-intent demo --keep DIR keeps it"
        self._line("", Text(f"It lies in {ledger} ({fate})."))
        self._line("", Text("Turn it on in your own Tau: pi-intent install tau", "bold"))

    def _opened(self, call: CallEntry, target: str) -> None:
        self._line("", Text())
        if call.intent is None:
            self._line("→ ", Text("(no stated intent)", "italic"))
        else:
            self._line("→ ", Text(printable(call.intent, width=_WIDTH), "bold"))
        if call.rationale is not None:
            self._line("  ", Text(f"because: {printable(call.rationale, width=_WIDTH)}", "dim"))
        self._line("  ", Text(f"{printable(call.tool)} {literal(target, width=_WIDTH)}", "cyan"))

    def _settled(self, done: DoneEntry) -> None:
        mark, style = _MARKS.get(done.status, _OTHER_MARK)
        parts = [f"{mark} {done.status}", f"{done.ms} ms", done.facts or "", *done.codes]
        self._line("  ", Text(printable(" · ".join(filter(None, parts)), width=_WIDTH), style))
        if done.error is not None:
            self._line("  ", Text(f"the model was told: {printable(done.error, width=_WIDTH)}", "dim"))

    def _wait(self, what: str) -> None:
        if self._status is not None:
            self._status.update(Text(what, "dim"))
            self._status.start()

    def _line(self, mark: str, text: Text) -> None:
        """Print one line after its mark; where a terminal folds it, it goes on under the text."""
        if not self._console.is_terminal:
            self._console.print(Text(mark) + text, soft_wrap=True)
        elif not mark:
            self._console.print(text)
        else:
            row = Table.grid()
            row.add_column(no_wrap=True)
            row.add_column()
            row.add_row(Text(mark), text)
            self._console.print(row)


def ledger_lines(ledger: Path) -> list[str]:
    """Return the beginning of each of the first records of a ledger, and how many there are in all."""
    lines = [line for path in sorted(ledger.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    first = [line for line in lines if '"t":"session"' not in line][:2]
    return [*first, f"… {len(lines)} records in all"]
