"""Fetch credentials from where people keep them: the system's keyring, the environment, a command."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterable, Mapping

from pi_intent.errors import CredentialError
from pi_intent.gates.credentials import LEAST, Credential
from pi_intent.redaction.given import counted

COMMAND_SECONDS = 30
"""For a command to answer: it may ask a person for the password of a store."""

_MOST_CHARACTERS = 64 * 1024


def fetch(needed: Iterable[Credential], environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the credentials by name. Waits for commands and keyrings: on an event loop, run it in a thread.

    Raises `CredentialError`, which names the credential and never says anything of its value.
    """
    return {credential.name: _checked(credential, _fetched(credential, environ)) for credential in needed}


def _fetched(credential: Credential, environ: Mapping[str, str]) -> str:
    match credential.origin:
        case "env":
            value = environ.get(credential.where)
            if value is None:
                raise _missing(credential, f"the variable {credential.where} is not set")
            return value
        case "keyring":
            return _from_keyring(credential)
        case "command":
            return _from_command(credential, environ)


def _from_keyring(credential: Credential) -> str:
    try:
        import keyring
    except ImportError as error:
        raise _missing(credential, "reading the keyring needs the extra: pip install 'pi-intent[keyring]'") from error
    service, _, user = credential.where.rpartition("/")
    try:
        value = keyring.get_password(service, user)
    except Exception as error:  # a boundary: backends fail in their own ways, and may quote what they hold
        raise _missing(credential, f"the keyring could not be read ({type(error).__name__})") from None
    if value is None:
        raise _missing(credential, f"the keyring has nothing for {user} of {service}")
    return str(value)


def _from_command(credential: Credential, environ: Mapping[str, str]) -> str:
    try:
        words = shlex.split(credential.where)
        done = subprocess.run(  # what it prints, also of errors, may be the credential
            words,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=COMMAND_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _missing(credential, f"its command gave no answer in {COMMAND_SECONDS} s") from None
    except (OSError, ValueError) as error:
        raise _missing(credential, f"its command could not be run ({type(error).__name__})") from None
    if done.returncode != 0:
        raise _missing(credential, f"its command ended with {done.returncode}")
    return done.stdout[:_MOST_CHARACTERS].decode("utf-8", "replace").rstrip("\r\n")


def _checked(credential: Credential, value: str) -> str:
    if counted(value) < LEAST:
        raise _missing(
            credential, f"it must have {LEAST} characters or more, not counting blanks, quotes, backslashes and +"
        )
    if "\0" in value:
        raise _missing(credential, "it holds a NUL, which no environment can")
    return value


def _missing(credential: Credential, why: str) -> CredentialError:
    return CredentialError(credential.name, f"the credential {credential.name} could not be had: {why}")
