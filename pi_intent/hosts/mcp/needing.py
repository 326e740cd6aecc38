"""Fetch the credentials that a server's tools need, before it starts: it gets them in its environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pi_intent.contract.rows import ROWS
from pi_intent.credentials import fetch, telling
from pi_intent.errors import CredentialError
from pi_intent.settings.load import load_settings
from pi_intent.settings.wording import setting_path


def given_to(server: str, environ: Mapping[str, str], tell: Callable[[str], None]) -> dict[str, str]:
    """Return the credentials for the tools of a server, by variable: of rules that name it, as `server/tool` does.

    `tell` hears of rules that may be meant for this server and do not name it. Raises `CredentialError` where a
    credential comes from nowhere or cannot be had.
    """
    settings = load_settings(project=None, environ=environ).settings
    for rule in settings.tools:
        if rule.needs and "/" not in rule.pattern and not rule.matches(ROWS):
            said, right = (
                setting_path("tools", name, "needs") for name in (rule.pattern, f"{server}/{rule.pattern}")
            )
            tell(
                f"{said} reaches no wrapped server, whose tools are not known before it starts: "
                f"if it is for {server}, write {right}"
            )
    named = [rule for rule in settings.tools if rule.needs and rule.of_server(server)]
    wanted = list(dict.fromkeys(name for rule in named for name in rule.needs or ()))
    known = {credential.name: credential for credential in settings.credentials}
    missing = next((name for name in wanted if name not in known), None)
    if missing is not None:
        raise CredentialError(missing, f"the credential {missing} comes from nowhere: set credentials.{missing}")
    with telling(wanted, tell):
        found = fetch((known[name] for name in wanted), environ)
    return {known[name].variable: value for name, value in found.items()}
