"""One word of a shell command: undo its quoting, keep apart what is not known before it runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from pi_intent.gates.shell.script import Unknown, Word

if TYPE_CHECKING:
    from tree_sitter import Node

Cell = tuple[str, bool] | Unknown
"""A piece of text and whether it was quoted, or what is not known."""
Values = Callable[[str, bool], "list[Cell] | None"]
"""What a variable holds, asked with its name and whether it stands in quotes."""

_ANSI = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))", flags=re.S
)
_ANSI_LETTERS = dict(zip("abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v", strict=True))
_GLOB = re.compile(r"[*?]|\[[^]]+\]")
_MOST_BRACED = 64


def decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def ansi_text(quoted: str) -> str:
    """The text of `$'…'`."""

    def letter(found: re.Match[str]) -> str:
        hexadecimal = found[1] or found[2] or found[3]
        if hexadecimal or found[4]:
            point = int(hexadecimal, 16) if hexadecimal else int(found[4], 8) & 0xFF
            return chr(point) if point < 0xD800 or 0xDFFF < point < 0x110000 else "\ufffd"
        if found[5]:
            return chr(ord(found[5]) & 0x1F)
        return _ANSI_LETTERS.get(found[6], found[6] if found[6] in "\\'\"?" else found[0])

    return _ANSI.sub(letter, quoted).partition("\0")[0]


def cells_of(node: Node, values: Values) -> Iterator[Cell]:
    """The pieces of one node of a word."""
    text = decoded(node.text or b"")
    match node.type:
        case (
            "word"
            | "number"
            | "extglob_pattern"
            | "regex"
            | "test_operator"
            | "variable_name"
            | "special_variable_name"
        ):
            yield from _unquoted(text)
        case "raw_string":
            yield text[1:-1], True
        case "ansi_c_string":
            yield ansi_text(text[2:-1]), True
        case "string":
            yield from _in_quotes(node, values)
        case "concatenation" | "command_name" | "brace_expression":
            yield from _joined(node, values)
        case "simple_expansion" | "expansion":
            yield from _variable(text, False, values)
        case "command_substitution" | "process_substitution":
            yield Unknown("substitution", text)
        case _ if not node.is_named:
            yield text, False
        case _:
            yield Unknown("variable", text)


def _joined(node: Node, values: Values) -> Iterator[Cell]:
    at = node.start_byte
    for child in node.children:
        if child.start_byte > at and node.text:
            yield from _unquoted(decoded(node.text[at - node.start_byte : child.start_byte - node.start_byte]))
        yield from cells_of(child, values)
        at = child.end_byte


def _unquoted(text: str) -> Iterator[Cell]:
    for found in re.finditer(r"\\(\n)|\\(.)|([^\\]+)|(\\)$", text, flags=re.S):
        if found[2]:
            yield found[2], True
        elif found[3] or found[4]:
            yield found[3] or found[4], False


def _in_quotes(node: Node, values: Values) -> Iterator[Cell]:
    raw = node.text or b""
    at = node.start_byte + 1
    for child in [*node.children[1:-1], None]:
        upto = child.start_byte if child else node.end_byte - 1
        if child is None or child.type != "string_content":
            between = decoded(raw[at - node.start_byte : upto - node.start_byte])
            if between:
                yield re.sub(r"\\([$`\"\\\n])", lambda found: found[1].strip("\n"), between), True
            if child:
                if child.type in ("simple_expansion", "expansion"):
                    yield from _variable(decoded(child.text or b""), True, values)
                elif child.is_named:
                    yield Unknown("substitution", decoded(child.text or b""))
                else:
                    yield decoded(child.text or b""), True
                at = child.end_byte


def _variable(source: str, quoted: bool, values: Values) -> Iterator[Cell]:
    found = re.fullmatch(r"\$(?:\{(\w+)\}|(\w+))", source)
    known = values(found[1] or found[2], quoted) if found else None
    if known is not None:
        yield from known
    else:
        yield Unknown("home" if found and "HOME" in found.groups() else "variable", source)


def words_of(source: str, cells: list[Cell]) -> list[Word]:
    """The words that a shell makes of the pieces of one: several where braces or a variable's value say so."""
    words = []
    for fields in _fields(cells):
        for braced in _braced(fields):
            parts: list[str | Unknown] = []
            for number, cell in enumerate(_run_together(braced)):
                if isinstance(cell, Unknown):
                    parts.append(cell)
                    continue
                text, quoted = cell
                if not quoted and number == 0 and text.startswith("~"):
                    user, slash, rest = text.partition("/")
                    if slash or len(braced) == 1:
                        parts.append(Unknown("home" if user == "~" else "variable", user))
                        text = slash + rest
                globbed = None if quoted else _GLOB.search(text)
                if globbed:
                    parts += [text[: globbed.start()], Unknown("glob", text[globbed.start() :])]
                else:
                    parts.append(text)
            words.append(Word(source, _merged(parts)))
    return words


def _run_together(cells: list[Cell]) -> list[Cell]:
    """Put pieces without quotes together that follow one another: the parser parts `[r]m`, and a shell does not."""
    found: list[Cell] = []
    for cell in cells:
        last = found[-1] if found else None
        if isinstance(cell, Unknown) or last is None or isinstance(last, Unknown) or cell[1] or last[1]:
            found.append(cell)
        else:
            found[-1] = (last[0] + cell[0], False)
    return found


def _merged(parts: list[str | Unknown]) -> tuple[str | Unknown, ...]:
    merged: list[str | Unknown] = []
    run: list[str] = []
    for part in parts:
        if isinstance(part, str):
            run.append(part)
            continue
        if text := "".join(run):
            merged.append(text)
        run = []
        merged.append(part)
    if (text := "".join(run)) or not merged:
        merged.append(text)
    return tuple(merged)


def _fields(cells: list[Cell]) -> list[list[Cell]]:
    """Split at the blanks that a variable's value brought in; none else is left outside quotes."""
    if not any(not isinstance(cell, Unknown) and not cell[1] and " " in cell[0] for cell in cells):
        return [cells]
    fields: list[list[Cell]] = [[]]
    for cell in cells:
        if isinstance(cell, Unknown) or cell[1]:
            fields[-1].append(cell)
            continue
        first, *others = re.split(r"[ \t\n]+", cell[0])
        if first:
            fields[-1].append((first, False))
        for piece in others:
            fields.append([(piece, False)] if piece else [])
    return [field for field in fields if field]


def _braced(cells: list[Cell]) -> list[list[Cell]]:
    """Expand `{a,b}` where it is not quoted; more than a few dozen words are not known."""
    if not any(not isinstance(cell, Unknown) and not cell[1] and "{" in cell[0] for cell in cells):
        return [cells]
    done: list[list[Cell]] = []
    waiting = [[piece for cell in cells for piece in _letters(cell)]]
    while waiting:
        word = waiting.pop()
        span = _first_braces(word)
        if span is None:
            done.append(word)
        elif len(waiting) + len(done) > _MOST_BRACED:
            return [[Unknown("glob", "{…}")]]
        else:
            start, commas, end = span
            edges = [start, *commas, end]
            waiting += [
                word[:start] + word[left + 1 : right] + word[end + 1 :]
                for left, right in reversed(list(pairwise(edges)))
            ]
    return done


def _letters(cell: Cell) -> Iterator[Cell]:
    if isinstance(cell, Unknown) or cell[1]:
        yield cell
    else:
        for piece in re.findall(r"[{},]|[^{},]+", cell[0]):
            yield piece, False


def _first_braces(word: list[Cell]) -> tuple[int, list[int], int] | None:
    opened: list[tuple[int, list[int]]] = []
    found: tuple[int, list[int], int] | None = None
    for at, cell in enumerate(word):
        if cell == ("{", False):
            opened.append((at, []))
        elif cell == (",", False) and opened:
            opened[-1][1].append(at)
        elif cell == ("}", False) and opened:
            start, commas = opened.pop()
            if commas and (found is None or start < found[0]):
                found = start, commas, at
            if found and not opened:
                return found
    return found
