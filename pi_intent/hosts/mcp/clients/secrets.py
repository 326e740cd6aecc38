"""Take secrets out of what is printed of a server: they often stand among its arguments and in its environment."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence

from pi_intent.hosts.mcp.clients.text import Server
from pi_intent.redaction import Redactor
from pi_intent.types import JSONValue

_KEY = os.urandom(32)
_TOKEN = re.compile(r"\[redacted:[a-z-]+:[0-9a-f]{8}\]")


class Hidden:
    """What hides the secrets of an environment and of some command lines, and whatever looks like one.

    An argument after an option such as `--token` is a secret wherever else it stands, too: a config has it on a line
    of its own, and a server repeats it in its complaints.
    """

    def __init__(self, environ: Mapping[str, str], lines: Iterable[Sequence[str]] = ()) -> None:
        plain = Redactor(_KEY, environ)
        found = [
            word
            for line in lines
            for word, shown in zip(line, _words(plain, line), strict=True)
            if word != shown and _TOKEN.fullmatch(shown)
        ]
        named = {f"SECRET_{number}": word for number, word in enumerate(dict.fromkeys(found))}
        self._redactor = Redactor(_KEY, {**environ, **named}) if named else plain

    @classmethod
    def of_servers(cls, environ: Mapping[str, str], servers: Iterable[Server]) -> Hidden:
        """Return what also hides the secrets of all of these servers."""
        known = [*servers]
        theirs = {
            f"S{number}_{name}": value
            for number, server in enumerate(known)
            for name, value in server.environ.items()
        }
        return cls({**environ, **theirs}, [server.line for server in known])

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        return self._redactor.text(text)

    def line(self, words: Sequence[str]) -> list[str]:
        """Return a command line without secrets."""
        return _words(self._redactor, words)

    def document(self, value: object) -> object:
        """Return what is to be printed as JSON, without secrets in any of its texts."""
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.document(item) for item in value]
            case dict():
                return {key: self.document(item) for key, item in value.items()}
            case _:
                return value


def _words(redactor: Redactor, words: Sequence[str]) -> list[str]:
    value: list[JSONValue] = [*words]
    shown = redactor.value(value)
    return [str(word) for word in shown] if isinstance(shown, list) else [*words]
