"""What a script of sed runs and writes, whatever its delimiters are: patterns and texts are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

_STEP = re.compile(
    r"""(?xs)
      [\s;{}\d$,~+!IM]+                                     # addresses and what is between commands
    | \\(?P<mark>.)(?:\\.|(?!(?P=mark)).)*(?:(?P=mark)|\Z)  # an address of any delimiter
    | /(?:\\.|[^/\\])*(?:/|\Z)
    | (?P<by>[sy])(?P<sign>.)(?:\\.|(?!(?P=sign)).)*(?:(?P=sign)|\Z)(?:\\.|(?!(?P=sign)).)*(?:(?P=sign)|\Z)
      (?P<flags>[gpiIemM\d]*) (?P<file>w[^\n]*)?
    | (?P<named>[erRwW][^\n]*)
    | [aic\#](?:\\.|[^\\\n])*                               # a text, a comment
    | [btT:][^;\n}]*
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
