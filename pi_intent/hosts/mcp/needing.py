"""Fetch the credentials that a server's tools need, before it starts: it gets them in its environment."""

from __future__ import annotations

from collections.abc import Mapping

from pi_intent.credentials import fetch
from pi_intent.errors import CredentialError
from pi_intent.settings.load import load_settings


def given_to(server: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the credentials for the tools of a server, by variable: of rules that name it, as `server/tool` does.

    Raises `CredentialError` where one comes from nowhere or cannot be had.
    """
    settings = load_settings(project=None, environ=environ).settings
    named = [rule for rule in settings.tools if rule.needs and rule.of_server(server)]
    wanted = list(dict.fromkeys(name for rule in named for name in rule.needs or ()))
    known = {credential.name: credential for credential in settings.credentials}
    missing = next((name for name in wanted if name not in known), None)
    if missing is not None:
        raise CredentialError(missing, f"the credential {missing} comes from nowhere: set credentials.{missing}")
    found = fetch((known[name] for name in wanted), environ)
    return {known[name].variable: value for name, value in found.items()}
