"""Draw everything that a ledger knows of one call, with the card of what it was to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, assert_never

from pi_intent.cards import DiffCard, GenericCard, TerminalCard, call_card, card_to_json
from pi_intent.labels.literal import literal_lines, whole_line, whole_pieces
from pi_intent.labels.printable import UNCUT, printable
from pi_intent.ledger.calls import LedgerCall
from pi_intent.ledger.entries import CallEntry, DoneEntry
from pi_intent.ledger.record import stated_and_true_hash
from pi_intent.render.asked import asked_facts
from pi_intent.render.moments import Moments
from pi_intent.render.timeline import Line, aim, ending, noted, short_id, stated
from pi_intent.types import JSONObject

if TYPE_CHECKING:
    from pi_intent.notes import Note

type Standing = tuple[str, str, int, bytes]
"""Where a record stands: its kind, the file's name, the line's number and own bytes."""

_NAMES = 14  # columns for the name of a fact
_CARD_WIDTH = 110
_CARD_LINES = 40
_MOST_FILES = 40


def call_lines(
    call: LedgerCall,
    places: Iterable[Standing],
    *,
    notes: Iterable[Note],
    before: Sequence[LedgerCall],
    after: Sequence[LedgerCall],
) -> Iterator[Line]:
    """Yield the lines on a call. `before` and `after` are the other calls of its message, in order."""
    begun, done = call.call, call.done
    moments = Moments()
    missing = (("the record of its beginning is missing", "italic"),)
    yield Line(missing if begun is None else stated(begun, UNCUT), lead=None)
    if begun is not None and begun.rationale:
        yield from _fact("because", begun.rationale)
    yield Line((("  ", ""), *ending(call, UNCUT).pieces), lead=None, hang=4)
    for doubt in noted(notes):
        yield Line((("  ", ""), *doubt.pieces), lead=None, hang=4)
    if begun is not None:
        yield from _section("What was to run")
        yield from _card(begun.tool, begun.args)
    if call.decisions:
        yield from _section("What was asked about it")
        yield from _asked(call, moments)
    if begun is not None and done is not None and done.ran_args is not None:
        yield from _section("What really ran, as something else changed it")
        yield from _card(begun.tool, done.ran_args)
    if done is not None:
        yield from _section("What came of it")
        yield from _came(done, moments)
    yield from _section("The call")
    yield from _fact("id", call.id)
    if begun is not None:
        yield from _about(begun, moments)
    for kind, name, line, raw in places:
        yield from _fact(kind, f"{name}, line {line}: {_hash_of(raw)}")
    if before or after:
        yield from _section("The same message of the model")
        for other in (*before, call, *after):
            yield _neighbour(other, mark=">" if other is call else " ")


def _section(title: str) -> Iterator[Line]:
    yield Line(lead=None)
    yield Line(((title, "bold"),), lead=None)


def _fact(name: str, text: str) -> Iterator[Line]:
    yield from _shown_fact(name, printable(text, width=UNCUT))


def _shown_fact(name: str, shown: str) -> Iterator[Line]:
    """Draw a fact whose text is made safe."""
    if shown:
        yield Line(((f"  {name.ljust(_NAMES)}", "dim"), (shown, "")), lead=None, hang=_NAMES + 2)


def _about(begun: CallEntry, moments: Moments) -> Iterator[Line]:
    source = "the host itself" if begun.tool_source is None else begun.tool_source
    facts = {
        "session": begun.session,
        "began": moments.told(begun.ts, exactly=True),
        "tool": f"{begun.tool}, of {source}",
        "who": f"{begun.agent} in {begun.host}" + ("" if begun.model is None else f", model {begun.model}"),
        "turn": f"{begun.turn}, message {begun.group}, number {begun.seq} of the session",
        "called inside": begun.parent or "",
        "intent": {"model": "stated by the model", "derived": "derived from the tool", "absent": "none"}[
            begun.intent_source
        ],
        "held to": f"{begun.policy}, profile {begun.profile}",
        "flags": ", ".join(begun.flags),
        "args digest": "" if begun.args_digest is None else f"{begun.args_digest} (of the arguments alone)",
        "host's id": begun.tool_call_id,
        "commit": begun.head or "",
    }
    for name, text in facts.items():
        yield from _fact(name, text)


def _came(done: DoneEntry, moments: Moments) -> Iterator[Line]:
    size = f"{done.bytes_out} bytes to the model"
    if done.bytes_in is not None:
        size += f", {done.bytes_in} bytes of arguments"
    facts = {
        "ended": moments.told(done.ts, exactly=True),
        "codes": ", ".join(done.codes),
        "facts": done.facts or "",
        "outcome": done.outcome or "",
        "error": done.error or "",
        "given": "" if not done.given else f"the credentials {', '.join(done.given)}",
        "the host says": "an error" if done.is_error else "no error",
        "size": size,
    }
    for name, text in facts.items():
        yield from _fact(name, text)
    if done.outcome_patch is not None:
        yield from _fact("from", done.outcome_patch.from_)
        yield from _fact("to", done.outcome_patch.to)
    for file in done.files[:_MOST_FILES]:
        yield from _fact(file.op, file.path)
        if file.pre is not None or file.post is not None:
            yield from _fact("", f"{file.pre or 'not there'} -> {file.post or 'not known'}")
    if len(done.files) > _MOST_FILES:
        yield from _fact("", f"{len(done.files) - _MOST_FILES} more files; --json has them")


def _asked(call: LedgerCall, moments: Moments) -> Iterator[Line]:
    shown = 0
    for name, text in asked_facts(call, moments):
        if name != "|":
            shown = 0
            said = printable(text, width=UNCUT) if name == "note" else whole_line(text, width=UNCUT)
            yield from _shown_fact(name, said)
            continue
        if not shown:
            yield Line((("  on the screen, here without secrets and long contents", "dim"),), lead=None)
        for piece in whole_pieces(text, width=_CARD_WIDTH):
            shown += 1
            yield Line((("  | ", "dim"), (piece, "")), lead=None)


def _card(tool: str, args: JSONObject) -> Iterator[Line]:
    """Draw a card: the literal action. What the ledger keeps as a size says so itself."""
    card = call_card(tool, args)
    match card:
        case TerminalCard(title=command):
            yield from _literal("$ ", command)
            if card.cwd is not None:
                yield from _fact("in", card.cwd)
        case DiffCard(title=title, diffs=diffs):
            yield from _literal("", title)
            for diff in diffs:
                if diff.new_text is None:
                    yield from _fact("", f"[{diff.size} bytes, not kept]")
                    continue
                yield from _block("- ", diff.old_text or "", "red")
                yield from _block("+ ", diff.new_text, "green")
        case GenericCard(title=title):
            yield from _literal("", title)
            if card.raw_input is not None:
                raw = GenericCard(title="", kind=card.kind, raw_input=card.raw_input)
                yield from _literal("", card_to_json(raw).partition('"rawInput":')[2][:-1])
        case never:
            assert_never(never)
    rest = {name: value for name, value in args.items() if name in ("offset", "limit", "timeout")}
    for name, value in rest.items():
        yield from _fact(name, str(value))


def _literal(mark: str, text: str) -> Iterator[Line]:
    for number, line in enumerate(literal_lines(text, width=_CARD_WIDTH, max_lines=_CARD_LINES)):
        yield Line(((f"  {mark if not number else ' ' * len(mark)}{line}", "cyan"),), lead=None, hang=4)


def _block(mark: str, text: str, style: str) -> Iterator[Line]:
    for line in literal_lines(text, width=_CARD_WIDTH, max_lines=_CARD_LINES) if text else ():
        yield Line(((f"  {mark}{line}", style),), lead=None)


def _hash_of(raw: bytes) -> str:
    hashes = stated_and_true_hash(raw)
    if hashes is None:
        return "it does not end with a hash"
    return "its hash fits" if hashes[0] == hashes[1] else "its hash does not fit: it was changed"


def _neighbour(call: LedgerCall, *, mark: str) -> Line:
    begun = call.call
    said = (("the record of its beginning is missing", "italic"),) if begun is None else stated(begun, UNCUT)
    target = "" if begun is None else f" · {aim(begun, begun.args)}"
    return Line(((f"{mark} {short_id(call.id)}  ", "dim"), *said, (target, "dim")), lead=None, cut=True)
