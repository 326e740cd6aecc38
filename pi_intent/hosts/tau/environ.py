"""Give the processes of one call variables of their own.

Tau's `bash` starts its process with the environment of Tau, and has no way to add to it. So the function that it
calls is wrapped once a process: where the code at hand runs under a call that was given something, it adds that, and
everywhere else it changes nothing. What is given goes into no command and no argument.
"""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

from pi_intent.gates.credentials import GIVEN

_VARIABLES: ContextVar[Mapping[str, str]] = ContextVar("pi_intent_variables", default=MappingProxyType({}))
_MARK = "__pi_intent__"


@contextmanager
def given(credentials: Mapping[str, str], variables: Mapping[str, str]) -> Iterator[None]:
    """Let the code inside have credentials by name, and the processes that it starts by variable."""
    if not credentials:
        yield
        return
    for starts in ("create_subprocess_shell", "create_subprocess_exec"):
        _wrap(starts)
    tokens = GIVEN.set(credentials), _VARIABLES.set(variables)
    try:
        yield
    finally:
        GIVEN.reset(tokens[0])
        _VARIABLES.reset(tokens[1])


def _wrap(name: str) -> None:
    original: Callable[..., Any] = getattr(asyncio, name)
    if getattr(original, _MARK, False):
        return

    @functools.wraps(original)
    async def start(*arguments: Any, **named: Any) -> Any:
        if variables := _VARIABLES.get():
            named["env"] = {**(named.get("env") or os.environ), **variables}
        return await original(*arguments, **named)

    setattr(start, _MARK, True)
    setattr(asyncio, name, start)
