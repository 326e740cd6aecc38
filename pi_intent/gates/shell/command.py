"""Read a text as a shell would, and say what it would run. Nothing is ever run, and no text makes it raise.

The parser is an extra (`pi-intent[shell]`) and loaded with the first command. Where it is missing, nothing is clear.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from pi_intent.gates.shell.reading.found import Found, cut
from pi_intent.gates.shell.reading.text import read_text
from pi_intent.gates.shell.script import Command, Script, Unclear

if TYPE_CHECKING:
    from tree_sitter import Parser


@functools.cache
def shell_parser() -> Parser | None:
    """The parser, or None where it is not installed."""
    try:
        import tree_sitter_bash
        from tree_sitter import Language, Parser
    except ImportError:
        return None
    return Parser(Language(tree_sitter_bash.language()))


def read_command(text: str) -> Script:
    """Return what a command line would run, looked through its wrappers, and what of it could not be read."""
    parser = shell_parser()
    if parser is None:
        return Script(unclear=(Unclear("no_parser", cut(text)),))
    found = Found(parser)
    read_text(text, Command(name=None), found)
    return Script(tuple(found.commands), tuple(dict.fromkeys(found.unclear)))
