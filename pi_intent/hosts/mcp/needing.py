"""Fetch the credentials that a server's tools need, before it starts: it gets them in its environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pi_intent.contract.rows import ROWS
from pi_intent.credentials import fetch, telling
from pi_intent.errors import CredentialError
from pi_intent.settings.load import load_settings
from pi_intent.settings.rules import Settings
from pi_intent.settings.tool import ToolRule
from pi_intent.settings.wording import setting_path


def given_to(server: str, environ: Mapping[str, str], tell: Callable[[str], None]) -> dict[str, str]:
    """Return the credentials for the tools of a server, by variable: of rules that name it, as `server/tool` does.

    `tell` hears of rules that may be meant for this server and do not name it. Raises `CredentialError` where a
    credential is not defined or cannot be fetched.
    """
    settings = load_settings(project=None, environ=environ).settings
    for rule in settings.tools:
        if (full := _left_out(rule, server, settings)) is not None:
            said, right = (setting_path("tools", name, "needs") for name in (rule.pattern, full))
            tell(
                f"{rule.origin}: {said} reaches no wrapped server, whose tools are not known before it starts: "
                f"if it is for {server}, write {right}."
            )
    named = [rule for rule in settings.tools if rule.needs and rule.of_server(server)]
    wanted = list(dict.fromkeys(name for rule in named for name in rule.needs or ()))
    known = {credential.name: credential for credential in settings.credentials}
    missing = next((name for name in wanted if name not in known), None)
    if missing is not None:
        raise CredentialError(missing, f"the credential {missing} is not defined: set credentials.{missing}")
    with telling(wanted, tell):
        found = fetch((known[name] for name in wanted), environ)
    return {known[name].variable: value for name, value in found.items()}


def _left_out(rule: ToolRule, server: str, settings: Settings) -> str | None:
    """Return how to write a rule that may be meant for a server and does not name it; None where none is missing."""
    if not rule.needs or "/" in rule.pattern or rule.matches(ROWS):
        return None
    full = f"{server}/{rule.pattern}"
    is_there = any(other.needs and other.of_server(server) and other.matches((full,)) for other in settings.tools)
    return None if is_there else full
