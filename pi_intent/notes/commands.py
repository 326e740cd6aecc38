"""Take a shell command apart into the simple commands it runs: words, where output goes, what feeds it.

A reading for people's sake and not a shell: what is not understood stays a word. It takes linear time and never
raises; what is longer than `LIMIT` is not looked at further.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pi_intent.word_sets import word_set

LIMIT = 16_384
"""Characters of a command that are looked at."""

MOST = 256
"""Simple commands of a command that are looked at."""

_DEEPEST = 3
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_SPACE = " \t\r"
_MEANING = " \t\r\n'\"\\`$#;&|()<>"
_MEANT = re.compile(f"[{re.escape(_MEANING)}]")
_MEANT_IN_QUOTES = re.compile(r"[\"\\`$]")
_SHELLS = word_set("sh bash zsh dash ksh fish")
_WRAPPERS = word_set("sudo doas env time nohup nice timeout xargs command exec stdbuf")
_KEYWORDS = word_set("then do else elif if while until ! { } fi done in")


class Simple(NamedTuple):
    """One simple command. `program` is its first word without its folder and what only wraps it, in lower case.

    `writes` are the files its output goes to, `reads` those that are its input; `fed` says that it reads what another
    command printed, `wrapped` what stood before the program (`sudo`, `xargs` …), `inside` that it stands in another's
    substitution.
    """

    program: str
    words: tuple[str, ...]
    writes: tuple[str, ...] = ()
    fed: bool = False
    wrapped: tuple[str, ...] = ()
    inside: bool = False
    reads: tuple[str, ...] = ()


def split(command: str, *, depth: int = 0) -> tuple[Simple, ...]:
    """Return the simple commands of a command, in order."""
    found: list[Simple] = []
    for piece in _pieces(command[:LIMIT]):
        simple = _simple(piece)
        if simple is None:
            continue
        found.append(simple)
        script = _script(simple)
        if script is not None and depth < _DEEPEST:
            found += split(script, depth=depth + 1)
        if len(found) >= MOST:
            break
    return tuple(found[:MOST])


class _Piece:
    """What is being read of one simple command."""

    __slots__ = ("fed", "inside", "reads", "words", "writes")

    def __init__(self, *, fed: bool = False, inside: bool = False) -> None:
        self.words: list[str] = []
        self.writes: list[str] = []
        self.reads: list[str] = []
        self.fed = fed
        self.inside = inside


def _pieces(text: str) -> list[_Piece]:
    pieces: list[_Piece] = []
    piece = _Piece()
    outer: list[tuple[_Piece, list[str] | None, str]] = []  # what to go on with when a substitution ends
    word: list[str] | None = None
    quote = target = ""  # the quotation mark that is open; the redirection whose file comes next
    heredocs: list[str] = []
    at, end = 0, len(text)

    def close_word() -> None:
        nonlocal word, target
        if word is None:
            return
        whole = "".join(word)
        if target == "<<":
            heredocs.append(whole)
        elif target == ">":
            piece.writes.append(whole)
        elif target == "<":
            piece.reads.append(whole)
        elif not target:
            piece.words.append(whole)
        word, target = None, ""

    def close_piece(*, fed: bool = False) -> None:
        nonlocal piece
        close_word()
        if piece.words or piece.writes:
            pieces.append(piece)
        piece = _Piece(fed=fed, inside=bool(outer))

    while at < end:
        sign = text[at]
        if not quote and sign not in _MEANING:
            start, at = at, _until(_MEANT, text, at)
            word = [] if word is None else word
            word.append(text[start:at])
            continue
        two = text[at : at + 2]
        if quote == "'":
            close = text.find("'", at)
            close = end if close < 0 else close
            word = [] if word is None else word
            word.append(text[at:close])
            quote = ""
            at = close + 1
            continue
        if sign == "\\":
            if two != "\\\n":
                word = [] if word is None else word
                word.append(text[at + 1 : at + 2])
            at += 2
            continue
        if two == "$(" or (sign == "`" and not (outer and outer[-1][2].startswith("`"))):
            outer.append((piece, word, ("`" if sign == "`" else ")") + quote + target))
            piece, word, quote, target = _Piece(inside=True), None, "", ""
            at += 1 if sign == "`" else 2
            continue
        if outer and not quote and sign == outer[-1][2][0]:
            close_piece()
            piece, word, rest = outer.pop()
            quote = '"' if '"' in rest else ""
            target = rest[1:].replace('"', "")
            word = [] if word is None else word
            word.append("$()")
            at += 1
            continue
        if quote == '"':
            start, at = at, _until(_MEANT_IN_QUOTES, text, at)
            word = [] if word is None else word
            if at == start and sign == '"':
                quote = ""
                at += 1
            else:
                at += at == start  # a dollar sign that begins no substitution
                word.append(text[start:at])
            continue
        if sign in "'\"":
            quote = sign
            word = [] if word is None else word
            at += 1
        elif sign in _SPACE:
            close_word()
            at += 1
        elif sign == "\n":
            close_piece()
            at += 1
            for mark in heredocs:
                at = _after(text, at, mark)
            heredocs.clear()
        elif sign == "#" and word is None:
            line = text.find("\n", at)
            at = end if line < 0 else line
        elif two in ("<(", ">("):
            close_word()
            outer.append((piece, None, ")"))
            piece.words.append(two)
            piece, target = _Piece(inside=True), ""
            at += 2
        elif two in ("&>", ">&"):
            if two == ">&" and word is not None and "".join(word).isdigit():
                word = None
            close_word()
            at += 2
            digit = text[at : at + 1]
            if two == ">&" and (digit.isdigit() or digit == "-"):
                at += 1
            else:
                target = ">"
        elif sign == "<":
            if word is not None and "".join(word).isdigit():
                word = None
            close_word()
            count = 3 if text.startswith("<<<", at) else 2 if two == "<<" else 1
            target = ("<", "<<", "<<<")[count - 1]
            at += count + (count == 2 and text[at + 2 : at + 3] == "-")
        elif sign == ">":
            if word is not None and "".join(word).isdigit():
                word = None
            close_word()
            at += 2 if two in (">>", ">|") else 1
            if text[at : at + 1] == "&":
                at += 2
            else:
                target = ">"
        elif two in ("&&", "||"):
            close_piece()
            at += 2
        elif sign == "|":
            close_piece(fed=True)
            at += 2 if two == "|&" else 1
        elif sign in ";&()":
            close_piece()
            at += 1
        else:
            word = [] if word is None else word
            word.append(sign)  # it has a meaning of its own elsewhere
            at += 1
        if len(pieces) >= MOST:
            return pieces
    close_piece()
    while outer:
        piece, word, _ = outer.pop()
        close_piece()
    return pieces


def _until(meant: re.Pattern[str], text: str, at: int) -> int:
    """Return where the next sign with a meaning stands, or the end."""
    found = meant.search(text, at)
    return len(text) if found is None else found.start()


def _after(text: str, at: int, mark: str) -> int:
    """Return where the text after a here-document begins."""
    end = len(text)
    while at < end:
        line = text.find("\n", at)
        line = end if line < 0 else line
        if text[at:line].strip() == mark:
            return min(end, line + 1)
        at = line + 1
    return end


def _simple(piece: _Piece) -> Simple | None:
    words = piece.words
    wrapped: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        name = word.rpartition("/")[2].lower()
        if word in _KEYWORDS or _ASSIGNMENT.match(word):
            at += 1
        elif name == "command" and words[at + 1 : at + 2] in (["-v"], ["-V"]):
            break  # it only tells whether there is such a program
        elif name in _WRAPPERS:
            wrapped.append(name)
            at += 1
            while at < len(words) and (words[at].startswith("-") or _is_amount(words[at])):
                # an option of the wrapper that takes a value is one letter long: sudo -u NAME, xargs -n 1
                takes = words[at] in ("-u", "-n", "-I", "-P", "-L", "-k", "-s", "-g")
                at += 2 if takes else 1
        else:
            break
    own = words[at:]
    if own:
        program = own[0].rpartition("/")[2].lower()
    elif wrapped:
        program, own = wrapped[-1], words
    elif piece.writes:
        program = ""
    else:
        return None
    return Simple(
        program, tuple(own), tuple(piece.writes), piece.fed, tuple(wrapped), piece.inside, tuple(piece.reads)
    )


def _is_amount(word: str) -> bool:
    return word.rstrip("smhd").replace(".", "", 1).isdigit()


def _script(simple: Simple) -> str | None:
    """Return the text that a shell is given to run."""
    words = simple.words
    if simple.program in _SHELLS:
        for place, word in enumerate(words[1:-1], 1):
            if word.startswith("-") and not word.startswith("--") and word.endswith("c"):
                return words[place + 1]
    if simple.program == "eval":
        return " ".join(words[1:])
    if simple.program == "ssh" and len(words) > 2:
        return " ".join(words[2:])
    return None
