"""What a tool gets that nobody else may see: credentials by name, for as long as its call runs."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from pi_intent.errors import CredentialError

Origin = Literal["keyring", "env", "command"]
ORIGINS: tuple[Origin, ...] = ("keyring", "env", "command")

LEAST = 8
"""Characters of a credential: what is shorter cannot be told apart from other text, and so not be kept out of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """Where a credential comes from.

    `where` is `service/user` in the system's keyring, the name of a variable, or a command with its arguments.
    `variable` is the name under which a process of the tool gets it.
    """

    name: str
    origin: Origin
    where: str
    variable: str


GIVEN: ContextVar[Mapping[str, str]] = ContextVar("pi_intent_credentials", default=MappingProxyType({}))
"""The credentials of the call that the code at hand runs under, by name."""


def credential(name: str) -> str:
    """Return a credential that the tool at hand needs. Call it inside the tool, and keep it there.

    Raises `CredentialError` where the call that runs was given none of this name.
    """
    value = GIVEN.get().get(name)
    if value is None:
        raise CredentialError(
            name,
            f"this call was given no credential {name!r}: name it in the tool's needs, and say where it comes from",
        )
    return value
