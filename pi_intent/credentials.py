"""Fetch credentials from where people keep them: the system's keyring, the environment, a command."""

from __future__ import annotations

import os
import shlex
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from pi_intent.errors import CredentialError
from pi_intent.gates.credentials import LEAST, Credential
from pi_intent.redaction.given import counted

COMMAND_SECONDS = 30
"""For a command to answer: it may ask a person for the password of a store."""

MOMENT = 1.0
"""Seconds after which somebody who waits wants to know for what."""

_KEYRING = {
    "NoKeyringError": "there is no keyring on this machine: in your settings, take it from command:… or env:…",
    "KeyringLocked": "the keyring is locked: unlock it and try again",
}
_BY_HAND = "; run it by hand to see why"
_LONGEST_ERROR = 200
_MOST_CHARACTERS = 64 * 1024


def fetch(needed: Iterable[Credential], environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the credentials by name. Waits for commands and keyrings: on an event loop, run it in a thread.

    Raises `CredentialError`, which names the credential and never says anything of its value.
    """
    return {credential.name: _checked(credential, _fetched(credential, environ)) for credential in needed}


@contextmanager
def telling(names: Sequence[str], tell: Callable[[str], None]) -> Iterator[None]:
    """Say what is waited for where the code inside takes longer than a moment: `tell` is called from a thread."""
    timer = threading.Timer(MOMENT, tell, (waiting_for(names),))
    timer.daemon = True
    if names:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def waiting_for(names: Iterable[str]) -> str:
    """Return the sentence on credentials that take their time."""
    several = [*names]
    return f"waiting for the credential{'' if len(several) == 1 else 's'} {', '.join(several)}"


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
        lack = "the keyring cannot be read here: in the clone, pip install '.[keyring]'"
        raise _missing(credential, lack) from error
    service, _, user = credential.where.rpartition("/")
    try:
        value = keyring.get_password(service, user)
    except Exception as error:  # a boundary: backends fail in their own ways, and may quote what they hold
        why = _KEYRING.get(type(error).__name__, "the keyring could not be read: see that it is unlocked")
        raise _missing(credential, why) from None
    if value is None:
        raise _missing(credential, f"the keyring has nothing for {user} of {service}")
    return str(value)


def _from_command(credential: Credential, environ: Mapping[str, str]) -> str:
    words = shlex.split(credential.where)
    try:
        done = subprocess.run(
            words,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _missing(credential, f"its command gave no answer in {COMMAND_SECONDS} s{_BY_HAND}") from None
    except FileNotFoundError:
        raise _missing(credential, f"there is no program {words[0]}; is it installed, and on the PATH?") from None
    except OSError as error:
        raise _missing(credential, f"{words[0]} cannot be run ({error.strerror})") from None
    except ValueError:
        raise _missing(credential, "its command holds a NUL, which no command can") from None
    if done.returncode != 0:
        said = _last_line(done.stderr, done.stdout, environ)
        told = f" ({said})" if said else ""
        raise _missing(credential, f"its command ended with {done.returncode}{told}{_BY_HAND}")
    return done.stdout[:_MOST_CHARACTERS].decode("utf-8", "replace").rstrip("\r\n")


def _last_line(errors: bytes, printed: bytes, environ: Mapping[str, str]) -> str:
    """Return the last that a command says of its failure, without secrets: what it printed may be the credential."""
    from pi_intent.labels.printable import printable
    from pi_intent.redaction import Redactor

    lines = errors[-_MOST_CHARACTERS:].decode("utf-8", "replace").split("\n")
    last = next((line for line in reversed(lines) if line.strip()), "")
    redactor = Redactor(os.urandom(32), environ)
    redactor.learn(
        [line for line in printed[:_MOST_CHARACTERS].decode("utf-8", "replace").split("\n") if line.strip()]
    )
    safe = redactor.text(last)
    return "" if redactor.holds_known(safe) else printable(safe, width=_LONGEST_ERROR).strip()


def _checked(credential: Credential, value: str) -> str:
    if not value:
        raise _missing(credential, "it is empty")
    if counted(value) < LEAST:
        raise _missing(
            credential, f"it must have {LEAST} characters or more, not counting blanks, quotes, backslashes and +"
        )
    if "\0" in value:
        raise _missing(credential, "it holds a NUL, which no environment can")
    return value


def _missing(credential: Credential, why: str) -> CredentialError:
    return CredentialError(credential.name, f"could not fetch the credential {credential.name}: {why}")
