"""Programs with subcommands, and whether only the run will tell which of them one is given."""

from __future__ import annotations

import re

from pi_intent.gates.shell.git_options import GIT_VALUED
from pi_intent.gates.shell.running.inner import behind_options
from pi_intent.gates.shell.script import Word
from pi_intent.word_sets import word_set

SUBCOMMANDED = word_set(
    "git npm pnpm yarn bun docker podman docker-compose kubectl oc helm terraform tofu pulumi aws gcloud az gh cargo "
    "pip pip3 uv poetry apt apt-get brew systemctl"
)
CONTAINER_GROUPS = word_set("compose container image volume network system builder buildx stack swarm service")
"""Kinds of things that docker has subcommands for."""
_GROUPED = word_set("aws gcloud az gh")
_BEFORE_SUBCOMMAND = word_set(
    "-n --namespace --context --kubeconfig --cluster -H --host --config --prefix --profile --region --project "
    "-R --repo --log-level -f --file -p --project-name -l -c -C --cwd --dir --directory --workspace -w --filter -F"
)


def is_told_later(program: str, words: tuple[Word, ...]) -> bool:
    """Whether only the run will tell which of its subcommands a program is given, or which long option git is."""
    if program not in SUBCOMMANDED:
        return False
    rest = behind_options(words, "", GIT_VALUED if program == "git" else _BEFORE_SUBCOMMAND)
    grouped = bool(rest) and (rest[0].text in CONTAINER_GROUPS or (program in _GROUPED and rest[0].text != "api"))
    return any(word.text is None for word in rest[: 1 + grouped] if not word.start.startswith("-")) or (
        program == "git" and any(word.text is None and re.fullmatch("--[a-z-]*", word.start) for word in words)
    )
