"""What a program changes of infrastructure, clusters, clouds and databases."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pi_intent.gates.shell.databases import changes_data
from pi_intent.gates.shell.script import Command
from pi_intent.word_sets import word_set

_INFRA_VERBS: dict[str, str] = {
    "terraform": "apply destroy import taint untaint state force-unlock",
    "tofu": "apply destroy import taint state",
    "pulumi": "up update destroy cancel refresh import",
    "kubectl": "apply delete create replace patch edit scale rollout drain cordon uncordon taint set label "
    "annotate exec run expose cp",
    "helm": "install upgrade uninstall delete rollback",
    "oc": "apply delete create patch",
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
_CLOUD_MUTES = re.compile(
    r"(?:create|delete|remove|terminate|put|update|modify|run|start|stop|reboot|attach|detach|deploy|set|reset|import|invoke"
    r"|publish|send|rm|mv|cp|sync|rb|mb|destroy|disable|enable|add|apply|restore|purge|scale|ssh|submit|register|deregister)"
    r"(?:-.*)?"
)
_CLOUDS = word_set("aws gcloud az gsutil")
_DRY = word_set("--dry-run --dry-run=client --dry-run=server --dry-run=true --check --preview")


def service_dangers(program: str, command: Command, words: list[str]) -> Iterator[str]:
    texts = command.texts
    if program in _INFRA_VERBS and not _DRY & set(texts):
        verbs = _INFRA_VERBS[program].split()
        looks = words[1:2] in (["list"], ["status"], ["history"], ["show"], ["get"])
        verb = (
            next((w for w in words if w in verbs), None)
            if program in ("kubectl", "helm", "terraform")
            else (words or [""])[0]
        )
        asks = program == "kubectl" and texts[:2] == ("auth", "can-i")
        if not verbs or (verb in verbs and not looks and not asks):
            yield "infra"
    elif program in _CLOUDS and any(_CLOUD_MUTES.fullmatch(w) for w in words[:4]):
        yield "infra"
    else:
        given = [redirect.target for redirect in command.redirects if redirect.operator == "<<<"]
        if changes_data(program, [word.shown for word in (*command.arguments, *given)]):
            yield "infra"
