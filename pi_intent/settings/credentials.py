"""Check what a person says of credentials: where each comes from, and which tools get it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import cast

from pi_intent.gates.credentials import ORIGINS, Credential, Origin
from pi_intent.gates.shell.own_commands import VARIABLES
from pi_intent.gates.steering import STEERING
from pi_intent.settings.wording import nearest, setting_path, shown
from pi_intent.word_sets import word_set

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_TAKEN = (
    STEERING
    | VARIABLES
    | word_set(
        "SHELL IFS ENV PWD OLDPWD USER LOGNAME LANG TERM TMPDIR TMP TEMP CDPATH FPATH PS4 SHELLOPTS BASHOPTS "
        "BROWSER DISPLAY SSH_AUTH_SOCK GIT_DIR GIT_WORK_TREE PYTHONPATH PYTHONHOME PYTHONINSPECT PYTHONBREAKPOINT "
        "PYTHONWARNINGS PYTHONUSERBASE PYTHONPYCACHEPREFIX NODE_PATH PERL5LIB PERL5DB RUBYLIB CLASSPATH RUSTFLAGS "
        "MAKEFLAGS CC CXX PI_INTENT"
    )
)
"""Variables that say what a program runs or where it looks: a credential there breaks it, or is run."""

_TAKEN_BEGINNINGS = ("LD_", "DYLD_", "GIT_CONFIG", "BASH_FUNC_", "XDG_", "LC_", "PI_INTENT_")
_MOST = 64
_MAX_TEXT = 1000


def credentials(value: object, where: str, warnings: list[str]) -> tuple[Credential, ...] | None:
    """Return the credentials of a `[credentials]` table, and say what is wrong with those that do not count."""
    if not isinstance(value, Mapping):
        warnings.append(f"{where} must be a table of credentials.")  # what stands there may be one
        return None
    found = []
    for name, said in list(value.items())[:_MOST]:
        at = f"{where}.{setting_path(str(name))}"
        if (fault := next(_faults(name, said), None)) is not None:
            warnings.append(f"{at} {fault}")
            continue
        source = said if isinstance(said, str) else said["from"]
        origin, _, place = source.partition(":")
        variable = name.upper().replace("-", "_") if isinstance(said, str) else said.get("as", name.upper())
        found.append(
            Credential(
                name=name, origin=cast(Origin, origin), where=place.strip(), variable=variable.replace("-", "_")
            )
        )
    return tuple(found)


def needed(value: object, where: str, warnings: list[str]) -> tuple[str, ...] | None:
    """Return the names of a tool's `needs`."""
    if not isinstance(value, list):
        warnings.append(f'{where} is {shown(value)}, but must be a list of names of credentials, such as ["deploy"].')
        return None
    found = []
    for name in value[:_MOST]:
        if isinstance(name, str) and _NAME.fullmatch(name):
            found.append(name)
        else:
            warnings.append(
                f"{where} holds {shown(name)}, which is no name of a credential: letters, digits, - and _, "
                "a letter first."
            )
    return tuple(found)


def _faults(name: object, said: object) -> Iterator[str]:
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        yield "must be called by letters, digits, - and _."
    source = said.get("from") if isinstance(said, Mapping) else said
    if isinstance(said, Mapping):
        yield from (f"has {shown(key)}; a credential has from and as." for key in said if key not in ("from", "as"))
        variable = said.get("as", "X")
        if not isinstance(variable, str) or _VARIABLE.fullmatch(variable) is None:
            yield f"has {shown(variable)} for as, but that must be the name of an environment variable."
        elif "as" in said and _is_taken(variable):
            yield f"has {shown(variable)} for as, but programs read that for their own ends; choose another variable."
    if isinstance(name, str) and not (isinstance(said, Mapping) and "as" in said) and _is_taken(name):
        yield (
            f"would be given as {name.upper().replace('-', '_')}, but programs read that for their own ends; write "
            '{ from = "…", as = "ANOTHER_NAME" }.'
        )
    places = '"keyring:service/user", "env:VARIABLE" or "command:program arguments"'
    if not isinstance(source, str) or len(source) > _MAX_TEXT:
        yield f"must say where it comes from: {places}."
        return
    origin, colon, place = source.partition(":")
    if origin not in ORIGINS or not colon or not place.strip():
        guess = nearest(origin, ORIGINS)
        # What stands there may be the secret itself: it is not quoted.
        yield f"must come from {places}" + (f'; did you mean "{guess}:…"?' if guess and guess != origin else ".")
    elif origin == "env" and _VARIABLE.fullmatch(place.strip()) is None:
        yield "must name an environment variable after env:."
    elif origin == "keyring" and not all(place.strip().rpartition("/")[::2]):
        yield "must name a service and a user after keyring:, as in keyring:example.org/ada."
    elif origin == "command" and not _closes(place):
        yield "has a quote after command: that is not closed; close it."


def _is_taken(variable: str) -> bool:
    name = variable.upper().replace("-", "_")
    return name in _TAKEN or name.startswith(_TAKEN_BEGINNINGS)


def _closes(command: str) -> bool:
    try:
        return bool(shlex.split(command))
    except ValueError:
        return False
