"""What single programs put at risk, told from their names and arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from pi_intent.gates.shell.dangers.hosts import talks_to_itself
from pi_intent.gates.shell.dangers.secret_reads import reads_secrets
from pi_intent.gates.shell.databases import changes_data
from pi_intent.gates.shell.running.inner import TELLS_ITSELF
from pi_intent.gates.shell.running.subcommands import CONTAINER_GROUPS, SUBCOMMANDED
from pi_intent.gates.shell.script import Command
from pi_intent.word_sets import word_set

_DELETES = word_set("rm rmdir unlink shred srm wipe trash trash-put wipefs truncate rimraf del-cli")
_FETCHES = word_set(
    "curl wget aria2c http https xh nc ncat netcat telnet ftp sftp lftp ssh mosh scp lynx w3m rclone socat GET POST "
    "ping ping6 host nslookup dig whois traceroute tracepath"
)
_PRIVILEGES = word_set(
    "sudo doas su pkexec chown chgrp setcap visudo passwd useradd usermod userdel adduser setfacl "
    "groupadd groupmod groupdel chpasswd gpasswd chattr newgrp"
)
_SYSTEM = word_set(
    "kill pkill killall xkill systemctl service shutdown reboot halt poweroff init mount umount crontab launchctl "
    "iptables "
    "ip6tables nft ufw firewall-cmd modprobe insmod rmmod sysctl swapoff swapon fdisk parted sfdisk losetup at batch "
    "loginctl hostnamectl timedatectl update-rc.d chroot nsenter fuser"
)
_LOOKS = word_set(
    "status show list list-units list-unit-files is-active is-enabled cat --version --status-all -l --list"
)
_INSTALLERS: dict[str, frozenset[str]] = {
    "pip": word_set("install uninstall download"),
    "pip3": word_set("install uninstall download"),
    "npm": word_set("install i ci add uninstall remove rm update link audit-fix"),
    "pnpm": word_set("install i add remove update dlx"),
    "yarn": word_set("install add remove upgrade dlx global"),
    "bun": word_set("install i add remove update"),
    "uv": word_set("add remove sync"),
    "poetry": word_set("install add remove update"),
    "pipx": word_set("install inject upgrade uninstall"),
    "conda": word_set("install create update remove"),
    "mamba": word_set("install create update remove"),
    "cargo": word_set("install add uninstall"),
    "gem": word_set("install uninstall update"),
    "bundle": word_set("install update add"),
    "go": word_set("install get"),
    "composer": word_set("install require update remove"),
    "apt": word_set("install remove purge upgrade update autoremove dist-upgrade full-upgrade"),
    "apt-get": word_set("install remove purge upgrade update autoremove dist-upgrade"),
    "dnf": word_set("install remove update upgrade"),
    "yum": word_set("install remove update upgrade"),
    "apk": word_set("add del upgrade update"),
    "brew": word_set("install uninstall upgrade update tap reinstall"),
    "snap": word_set("install remove refresh"),
    "flatpak": word_set("install uninstall update"),
    "port": word_set("install uninstall upgrade"),
    "rustup": word_set("install update default target"),
    "nix-env": word_set("-i -iA -e --install --uninstall"),
    "dpkg": word_set("-i --install -r -P --purge"),
    "pipenv": word_set("install uninstall update"),
    "easy_install": frozenset(),
    "pacman": frozenset(),
    "nvm": word_set("install"),
    "code": word_set("--install-extension"),
}
_PUBLISHES: dict[str, frozenset[str]] = {
    "npm": word_set("publish unpublish deprecate dist-tag"),
    "pnpm": frozenset(["publish"]),
    "yarn": frozenset(["publish", "npm"]),
    "twine": frozenset(["upload"]),
    "cargo": word_set("publish yank"),
    "docker": frozenset(["push"]),
    "podman": frozenset(["push"]),
    "poetry": frozenset(["publish"]),
    "uv": frozenset(["publish"]),
    "flit": frozenset(["publish"]),
    "hatch": frozenset(["publish"]),
    "gem": word_set("push yank"),
    "helm": frozenset(["push"]),
    "vsce": frozenset(["publish"]),
    "vercel": frozenset(),
    "netlify": frozenset(["deploy"]),
    "fly": frozenset(["deploy"]),
    "flyctl": frozenset(["deploy"]),
    "wrangler": word_set("publish deploy"),
    "firebase": frozenset(["deploy"]),
    "heroku": word_set("run restart releases:rollback"),
    "mvn": frozenset(["deploy"]),
}
_GH = {
    "pr": "create merge close comment edit review ready reopen",
    "release": "create delete edit upload",
    "issue": "create close comment edit delete reopen transfer",
    "repo": "create delete edit rename archive sync fork",
    "workflow": "run enable disable",
    "run": "rerun cancel delete",
    "gist": "create edit delete",
    "secret": "set delete",
    "variable": "set delete",
    "label": "create edit delete",
    "mr": "create merge close",
}
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
_HERE = re.compile(r"(?:localhost|127\.[\d.]+|\[::1\]):\d+$")
_CLOUDS = word_set("aws gcloud az gsutil")
_OWN = {"purge": "deletes", "uninstall": "system"}
"""Our own commands that take away what was recorded, or what records."""
_GIVES_AWAY = re.compile(
    r"[0-7]*[2367]|0?[2-7][0-7]{3}|[ugoa]*[+=][rwxX]*s[rwxX]*|[ugoa]*[oa][ugoa]*[+=][rxX]*w[rxX]*"
)
"""Modes in which everybody may write to a file, or it runs as its owner."""
_DOCKER_ACTS = word_set(
    "run rm rmi prune kill stop restart exec start down up create volume-rm cp load import commit"
)
_HELPS_BY_LETTER = word_set(
    "curl wget http https xh aria2c rclone sudo mount umount losetup truncate useradd usermod"
)
_DRY = word_set("--dry-run --dry-run=client --dry-run=server --dry-run=true --check --preview")


def program_dangers(command: Command) -> Iterator[str]:
    """Yield the kinds of danger that a command's own name and arguments tell of."""
    program, texts = command.program or "", command.texts
    words = [text for text in texts if not text.startswith("-")]
    if _tells_itself(program, texts, words):
        return
    yield from _removing(program, command)
    yield from _elsewhere(program, command, words)
    yield from _machine(program, texts, words)
    if reads_secrets(command):
        yield "secrets"
    yield from _services(program, command, words)
    if program == "pi-intent" and "--dry-run" not in texts:
        yield from (_OWN[word] for word in words[:2] if word in _OWN)


def _tells_itself(program: str, texts: tuple[str, ...], words: list[str]) -> bool:
    """Whether it only says what it is: `-h` is the host for others, and help is only alone."""
    return (
        texts in TELLS_ITSELF
        or (texts == ("-h",) and program in _HELPS_BY_LETTER)
        or (texts[-1:] == ("--help",) and program in SUBCOMMANDED and len(words) <= 1)
    )


def _removing(program: str, command: Command) -> Iterator[str]:
    texts = command.texts
    if (
        program in _DELETES
        or program.startswith("mkfs")
        or (program == "find" and ("-delete" in texts))
        or (program == "dd" and any(t.startswith("of=") and t != "of=/dev/null" for t in texts))
        or (
            program == "rsync"
            and any(t == "--del" or t.startswith(("--delete", "--remove-source-files")) for t in texts)
        )
        or (program == "tar" and "--remove-files" in texts)
        or (program == "zip" and any(re.match(r"-[a-zA-Z]*m|--move", t) for t in texts))
        or (program == "tee" and not {"-a", "--append"} & set(texts) and _reads_nothing(command))
        or (program == "mv" and texts[-1:] == ("/dev/null",))
        or (program == "cp" and "/dev/null" in texts[:-1])
        or (program in ("fd", "fdfind") and ("-X" in texts or "-x" in texts) and "rm" in texts)
    ):
        yield "deletes"


def _reads_nothing(command: Command) -> bool:
    return any(redirect.operator == "<" and redirect.target.text == "/dev/null" for redirect in command.redirects)


def _elsewhere(program: str, command: Command, words: list[str]) -> Iterator[str]:
    texts = command.texts
    if (
        (
            program in _FETCHES
            and not talks_to_itself(command)
            and not (program == "ssh" and texts[:1] in (("-V",), ("-G",)))
        )
        or (program == "rsync" and any(re.match(r"[\w.@-]+::?|rsync://", w) for w in words))
        or (program == "openssl" and words[:1] == ["s_client"] and not any(map(_HERE.match, words)))
    ):
        yield "network"
    if program in _INSTALLERS:
        verbs = _INSTALLERS[program]
        first = next((w for w in (texts if any(v.startswith("-") for v in verbs) else words)), "")
        uv_pip = (
            program == "uv"
            and words[:1] in (["pip"], ["tool"])
            and bool({"install", "uninstall", "sync"} & set(words))
        )
        pacman = (
            program == "pacman"
            and bool(texts)
            and texts[0].startswith(("-S", "-R", "-U"))
            and texts[0] not in ("-Ss", "-Si")
        )
        if (
            (first in verbs and "--dry-run" not in texts)
            or uv_pip
            or pacman
            or program == "easy_install"
            or (program == "yarn" and not texts)
        ):
            yield "installs"
    elif program in ("npx", "bunx", "uvx") and {"-y", "--yes", "--from", "--package"} & set(texts):
        yield "installs"
    if program in _PUBLISHES and "--dry-run" not in texts and not (program == "cargo" and "-n" in texts):
        verbs = _PUBLISHES[program]
        if (words and words[0] in verbs and (program != "yarn" or words[0] == "publish" or "publish" in words)) or (
            program == "vercel" and words[:1] in ([], ["deploy"])
        ):
            yield "publishes"
    if program in ("gh", "glab", "hub") and words:
        if words[0] == "api":
            yield "publishes" if _gh_writes(texts) else "network"
        elif words[1:2] and words[1] in _GH.get(words[0], "").split():
            yield "publishes"
        else:
            yield from ("secrets",) if words[:2] == ["auth", "token"] else ("network",) if words[0] in _GH else ()


def _gh_writes(texts: tuple[str, ...]) -> bool:
    method = next((b for a, b in pairwise(texts) if a in ("-X", "--method")), "")
    return method.upper() not in ("", "GET") or (
        not method and bool({"-f", "-F", "--field", "--raw-field", "--input"} & set(texts))
    )


def _machine(program: str, texts: tuple[str, ...], words: list[str]) -> Iterator[str]:
    if program in _PRIVILEGES or (
        program == "chmod" and any(map(_GIVES_AWAY.fullmatch, ",".join(words[:1]).split(",")))
    ):
        yield "privileges"
    elif program in _SYSTEM:
        looks = {
            "systemctl": bool(words) and words[0] in _LOOKS,
            "service": bool(set(texts) & _LOOKS),
            "kill": texts[:1] in (("-l",), ("-0",)),
            "crontab": "-l" in texts,
            "at": texts == ("-l",),
            "batch": texts == ("-l",),
            "mount": not texts or texts == ("-l",),
            "sysctl": not any("=" in w or w == "-w" for w in texts),
            "launchctl": bool(words) and words[0] in ("list", "print"),
            "iptables": bool({"-L", "-S", "--list"} & set(texts)),
            "ufw": "status" in words,
            "fdisk": "-l" in texts,
            "parted": "-l" in texts,
            "nft": "list" in words,
            "losetup": not texts or "-a" in texts,
            "fuser": not any(t.startswith("-k") for t in texts),
            "pkill": texts[:1] == ("-0",),
            "hostnamectl": not words,
            "timedatectl": not words or words[0] in _LOOKS,
            "loginctl": not words or words[0].startswith("list"),
        }.get(program, False)
        if not looks:
            yield "system"
    elif program in ("docker", "podman", "nerdctl", "docker-compose") and _docker_acts(words):
        yield "system"


def _docker_acts(words: list[str]) -> bool:
    if words[:1] and words[0] in CONTAINER_GROUPS:
        return any(word in _DOCKER_ACTS for word in words[1:4])
    return bool(words) and words[0] in _DOCKER_ACTS


def _services(program: str, command: Command, words: list[str]) -> Iterator[str]:
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
