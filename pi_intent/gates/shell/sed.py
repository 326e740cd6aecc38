"""What a script of sed runs and writes, whatever its delimiters are: patterns and texts are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BRACKET = r"\[\^?\]?(?:\[[:.=]\w{1,9}[:.=]\]|[^\]\n]){0,200}\]"


def _upto(mark: str, *more: str) -> str:
    """A pattern or a text up to its mark, or to the end where there is none."""
    return rf"(?:{'|'.join((r'\\.', *more, rf'(?!{mark}).'))})*(?:{mark}|\Z)"


_STEP = re.compile(
    rf"""(?xs)
      [\s;{{}}\d$,~+!IM]+                              # addresses, and what is between commands
    | /{_upto("/", _BRACKET)}
    | \\(?P<mark>.){_upto("(?P=mark)", _BRACKET)}
    | (?P<by>[sy])(?P<sign>.){_upto("(?P=sign)", _BRACKET)}{_upto("(?P=sign)")}
      (?P<flags>[gpiIemM\d]*)(?P<file>w[^\n]*)?
    | (?P<named>[erRwW][^\n]*)
    | [aic\#](?:\\.|[^\\\n])*                          # a text, a comment
    | [btT:][^;\n}}]*
    | .
    """
)


def sed_commands(script: str) -> Iterator[str]:
    """Yield the commands that run a program or name a file, as `e ls`, `w x`, `s/x/x/e` or `s/x/x/w x`."""
    for step in _STEP.finditer(script):
        if step["named"]:
            yield step["named"]
        elif step["by"] == "s":
            yield f"s/x/x/{step['flags']}{step['file'] or ''}"
