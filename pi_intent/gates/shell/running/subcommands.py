"""Programs with subcommands: which one a command names, and whether only the run will tell."""

from __future__ import annotations

import re

from pi_intent.gates.shell.git_options import GIT_VALUED
from pi_intent.gates.shell.operands import operands
from pi_intent.gates.shell.script import Word
from pi_intent.word_sets import word_set

SUBCOMMANDED = word_set(
    "git npm pnpm yarn bun docker podman docker-compose kubectl oc helm terraform tofu pulumi aws gcloud az gh cargo "
    "pip pip3 uv poetry apt apt-get brew systemctl"
)
CONTAINER_GROUPS = word_set(
    "compose container image volume network system builder buildx stack swarm service node secret config plugin "
    "context manifest pod machine"
)
"""Kinds of things that docker has subcommands for."""
_GROUPED = word_set("aws gcloud az gh")
CONTAINERS = word_set("docker podman nerdctl docker-compose")

_COMPOSE = word_set(
    "-f --file -p --project-name --profile --env-file --project-directory --ansi --parallel --progress"
)
_CONTAINER_VALUED = _COMPOSE | word_set(
    "-c --context -H --host --config -l --log-level --tlscacert --tlscert --tlskey --builder --connection --url "
    "--identity --root --runroot --storage-driver -n --namespace -a --address"
)
_CLUSTER_VALUED = word_set(
    "-n --namespace --context --cluster --user --kubeconfig -s --server --token --as --as-group --request-timeout -v "
    "--cache-dir --certificate-authority --client-key --client-certificate --tls-server-name --kube-context "
    "--kube-token --kube-apiserver --registry-config --repository-cache --repository-config"
)
_PACKAGE_VALUED = word_set(
    "--workspace --prefix --cwd -C --dir -F --filter --registry --cache --cache-folder --userconfig --globalconfig "
    "--loglevel --reporter --workspace-concurrency --modules-folder --mutex --use-yarnrc --tag --otp"
)
_VALUED: dict[str, frozenset[str]] = {
    # Options with a value behind a blank that may stand before a subcommand, or within its words.
    "git": GIT_VALUED,
    **dict.fromkeys(CONTAINERS, _CONTAINER_VALUED),
    **dict.fromkeys(("kubectl", "oc", "helm", "flux", "argocd"), _CLUSTER_VALUED),
    "npm": _PACKAGE_VALUED | {"-w"},
    **dict.fromkeys(("pnpm", "yarn", "bun"), _PACKAGE_VALUED),
    "pip": word_set("--python --log --proxy --retries --timeout --cert --cache-dir"),
    "uv": word_set("--directory --project --config-file --cache-dir --color -p --python --allow-insecure-host"),
    "poetry": word_set("-C --directory -P --project"),
    "pdm": word_set("-c --config -p --project"),
    "hatch": word_set("-e --env -p --project --config --data-dir --cache-dir"),
    "conda": word_set("-n --name -p --prefix"),
    "cargo": word_set("-C -Z --config --color --manifest-path --target-dir --explain"),
    "go": word_set("-C"),
    "bundle": word_set("-j --jobs --gemfile --path --retry"),
    "composer": word_set("-d --working-dir"),
    **dict.fromkeys(
        ("apt", "apt-get"),
        word_set("-o --option -t --target-release --default-release -c --config-file -a --host-architecture"),
    ),
    **dict.fromkeys(
        ("dnf", "yum"), word_set("-c --config -x --exclude --repo --enablerepo --disablerepo --installroot")
    ),
    "mvn": word_set("-f --file -pl --projects -P --activate-profiles -s --settings -T --threads -rf -l --log-file"),
    **dict.fromkeys(("gh", "glab", "hub"), word_set("-R --repo --hostname")),
    "aws": word_set(
        "--profile --region --output --endpoint-url --query --ca-bundle --color --cli-read-timeout "
        "--cli-connect-timeout --cli-binary-format"
    ),
    "gcloud": word_set(
        "--project --account --configuration --format --verbosity --impersonate-service-account --billing-project "
        "--flags-file --flatten --trace-token --access-token-file --zone --region --location --cluster --filter"
    ),
    "az": word_set("--subscription -o --output --query -n --name -g --resource-group -l --location --ids"),
    "gsutil": word_set("-o -h -i -u"),
    "pulumi": word_set("-s --stack -C --cwd --color -v --verbose --tracing --profiling"),
    "cdk": word_set("--profile -a --app -c --context -p --plugin -r --role-arn -o --output --toolkit-stack-name"),
    "serverless": word_set("-s --stage -r --region -c --config --aws-profile --app --org"),
    "eksctl": word_set("-C --color -v --verbose"),
    "doctl": word_set("-t --access-token -c --config --context -o --output -u --api-url"),
    **dict.fromkeys(("fly", "flyctl"), word_set("-a --app -c --config -t --access-token")),
    "firebase": word_set("-P --project --account --token -c --config"),
    "wrangler": word_set("-c --config -e --env --cwd"),
    "vercel": word_set("--cwd -t --token -S --scope -A --local-config -Q --global-config"),
    "netlify": word_set("--auth --site --filter"),
    "heroku": word_set("-a --app -r --remote"),
    "systemctl": word_set(
        "-t --type --state -p --property -n --lines -o --output -H --host -M --machine -s --signal --what --root "
        "--kill-whom --job-mode --image"
    ),
    "nft": word_set("-f --file -I --includepath -D --define"),
}
_ANY_PIP = re.compile(r"pip[\d.]+")
_READ_OVER = {
    # Words that may stand before a subcommand and leave it what it is.
    "gcloud": re.compile("alpha|beta|preview"),
    **dict.fromkeys(("cargo", "rustup"), re.compile(r"\+.*")),
    **dict.fromkeys(("yarn", "composer"), re.compile("global")),
}


def known_as(program: str) -> str:
    """The name under which a program stands in the tables: `pip` for `pip3.12`."""
    return "pip" if _ANY_PIP.fullmatch(program) else program


def from_subcommand(program: str, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words from the subcommand on, without options and what is known to be their values.

    Behind the subcommand they only tell which part of it is meant: a letter may mean something else there.
    """
    named = tuple(operands(words, names=_VALUED.get(known_as(program), ())))
    over = _READ_OVER.get(program)
    while over and named and over.fullmatch(named[0].start):
        named = named[1:]
    return named


def subcommand(program: str, words: tuple[Word, ...]) -> list[str]:
    """The same as texts, each up to where it is no longer known."""
    return [word.start for word in from_subcommand(program, words)]


def is_told_later(program: str, words: tuple[Word, ...]) -> bool:
    """Whether only the run will tell which of its subcommands a program is given, or which long option git is."""
    if program not in SUBCOMMANDED:
        return False
    named = from_subcommand(program, words)
    first = named[0].text if named else None
    grouped = (program in _GROUPED and first != "api") or (program in CONTAINERS and first in CONTAINER_GROUPS)
    return any(word.text is None for word in named[: 1 + grouped]) or (
        program == "git" and any(word.text is None and re.fullmatch("--[a-z-]*", word.start) for word in words)
    )
