"""What a program changes of infrastructure, clusters, clouds and databases."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pi_intent.gates.shell.databases import changes_data, statements_elsewhere
from pi_intent.gates.shell.script import Command
from pi_intent.word_sets import word_set

_KUBERNETES = (
    "apply delete create replace patch edit scale autoscale rollout drain cordon uncordon taint set label annotate "
    "exec run expose cp"
)
_INFRA_VERBS: dict[str, str] = {
    # Without a verb, each of their commands changes something.
    "terraform": "apply destroy import taint untaint state force-unlock",
    "tofu": "apply destroy import taint untaint state force-unlock",
    "pulumi": "up update destroy cancel refresh import",
    "kubectl": _KUBERNETES,
    "helm": "install upgrade uninstall delete rollback",
    "oc": _KUBERNETES,
    "cdk": "deploy destroy",
    "serverless": "deploy remove",
    "ansible-playbook": "",
    "vault": "write delete kv",
    "dropdb": "",
    "createdb": "",
    "eksctl": "create delete upgrade",
    "flux": "reconcile delete suspend",
    "argocd": "app",
    "doctl": "",
}
_PARTED = word_set("state rollout kv app")
_LOOKING_PARTS = word_set("list status history show get pull diff logs metadata")
_CLOUD_MUTES = re.compile(
    r"(?:create|delete|remove|terminate|put|update|modify|run|start|stop|reboot|restart|attach|detach|deploy|set|reset"
    r"|import|invoke|publish|send|rm|mv|cp|sync|rb|mb|destroy|disable|enable|add|apply|restore|purge|scale|ssh|submit"
    r"|register|deregister|resize|rollback|replace|recreate|suspend|resume|promote|failover)(?:-.*)?"
)
_CLOUD_LOOKS = re.compile("(?:list|describe|show|get|read|print|validate)(?:-.*)?|ls|cat|stat|du")
_CLOUDS = word_set("aws gcloud az gsutil")
_DRY = word_set("--dry-run --dry-run=client --dry-run=server --dry-run=true --check --preview")


def service_dangers(program: str, command: Command, words: list[str]) -> Iterator[str]:
    """Yield that infrastructure is changed; `words` are those from the subcommand on."""
    if program in _INFRA_VERBS:
        acts = not _INFRA_VERBS[program] or (bool(words) and words[0] in _INFRA_VERBS[program].split())
        if acts and not _looks_within(words) and not _DRY & set(command.texts):
            yield "infra"
    elif program in _CLOUDS:
        if _cloud_acts(program, words):
            yield "infra"
    else:
        given = [redirect.target.shown for redirect in command.redirects if redirect.operator == "<<<"]
        if statements_elsewhere(program, given):
            yield "opaque"
        if changes_data(command, given):
            yield "infra"


def _looks_within(words: list[str]) -> bool:
    """Whether a subcommand that has parts is given one that only looks."""
    return words[:1] != [] and words[0] in _PARTED and any(word in _LOOKING_PARTS for word in words[1:2])


def _cloud_acts(program: str, words: list[str]) -> bool:
    """Whether the first word that is a verb is one that changes: others behind it are names.

    Groups stand before the verb, and some are called as verbs are: `gcloud run services list`.
    """
    behind = words if program == "gsutil" else words[1:2] if program == "aws" else words[1:]
    first = next((word for word in behind if _CLOUD_MUTES.fullmatch(word) or _CLOUD_LOOKS.fullmatch(word)), "")
    return bool(_CLOUD_MUTES.fullmatch(first))
