"""Which programs do what: the tables that commands are read by."""

from __future__ import annotations

import re

from pi_intent.word_sets import word_set

SHOWS_LINES = word_set(
    """
    grep egrep fgrep rg ag ack diff cmp comm awk jq yq strings xxd bat cat head tail less more nl tac
    """
)
SHOWS_NAMES = word_set("ls find tree fd locate du stat file lsof exa eza dir")
HARMLESS = word_set(
    """
    cd pwd echo printf which type wc sort uniq cut tr column basename dirname realpath readlink date cal uname
    hostname whoami id groups uptime free df ps top pgrep test [ [[ true false sleep wait history man tldr
    whatis md5sum sha1sum sha256sum cksum env printenv export set unset alias source . nproc lscpu lsblk arch
    locale tty seq expr let read shift return exit break continue trap umask ulimit jobs fg bg disown mkdir
    touch pushd popd for case select function local declare code open xdg-open clear sed tput nslookup dig
    host ping curl wget git command
    """
) | SHOWS_LINES | SHOWS_NAMES  # fmt: skip
PROBES = word_set(
    """
    awk cmp command curl df dig diff du expr file getent host jq lsof mount nc ncat netstat nslookup ping pgrep
    ps sed ss stat systemctl telnet test tr type wget which yq [ [[
    """
)
"""What tries out whether something is there, answers or matches, as `Test the endpoint` says."""

WAITS = word_set(
    """
    sleep wait watch curl wget ping ps top pgrep uptime free df date kubectl docker gh glab lsof netstat ss
    """
)
RUNNERS = word_set(
    """
    pytest py.test tox nox jest vitest mocha ava ctest rspec phpunit nextest karma cypress playwright
    nosetests unittest trial
    """
)
CHECKERS = word_set(
    """
    eslint ruff flake8 mypy pyright pylint black prettier tsc clippy golangci-lint shellcheck biome rubocop
    """
)
MANAGERS = word_set(
    """
    npm yarn pnpm bun npx make just mise task cargo go mvn gradle gradlew dotnet mix rake swift zig bazel deno
    poetry uv pdm hatch python python3 php ruby node composer bundle
    """
)
TEST_WORDS = word_set(
    """
    test tests spec specs check t unittest pytest nextest lint typecheck vet jest vitest mocha verify
    """
)
INSTALLERS: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        word_set("apt apt-get yum dnf zypper brew port choco winget snap gem conda mamba pip pip3 pipx flatpak"),
        word_set("install upgrade reinstall full-upgrade dist-upgrade"),
    ),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), word_set("install i add ci update upgrade")),
    "apk": frozenset({"add"}), "pacman": frozenset({"-S", "-Sy", "-Syu"}), "cargo": frozenset({"install", "add"}),
    "go": frozenset({"install", "get"}), "uv": frozenset({"add", "sync"}), "poetry": frozenset({"add", "install"}),
    "composer": frozenset({"require", "install"}), "bundle": frozenset({"install", "add"}),
}  # fmt: skip
PUBLISHERS: dict[str, frozenset[str]] = {
    **dict.fromkeys(word_set("npm pnpm yarn bun cargo poetry uv hatch flit vsce"), frozenset({"publish"})),
    "twine": frozenset({"upload"}), "docker": frozenset({"push"}), "podman": frozenset({"push"}),
    "gem": frozenset({"push"}),
    "vercel": frozenset({"deploy", "--prod"}), "netlify": frozenset({"deploy"}), "fly": frozenset({"deploy"}),
    "heroku": frozenset({"push"}), "wrangler": frozenset({"deploy", "publish"}), "firebase": frozenset({"deploy"}),
}  # fmt: skip
INFRASTRUCTURE: dict[str, frozenset[str]] = {
    "terraform": frozenset({"apply", "destroy"}), "tofu": frozenset({"apply", "destroy"}),
    "pulumi": frozenset({"up", "destroy"}),
    "kubectl": word_set("delete apply scale drain replace patch"),
    "helm": frozenset({"install", "upgrade", "uninstall", "delete"}),
    "docker": frozenset({"rm", "rmi", "prune", "kill"}),
    "aws": word_set("rm rb delete terminate-instances delete-bucket delete-stack"),
    "gcloud": frozenset({"delete"}), "az": frozenset({"delete"}), "gh": frozenset({"delete", "merge", "close"}),
}  # fmt: skip
STOPPERS = word_set("kill pkill killall xkill shutdown reboot halt poweroff")
DISK = word_set("mkfs fdisk parted wipefs sgdisk")
RIGHTS = word_set("chmod chown chgrp setfacl visudo usermod useradd passwd chattr")
SHELLS = word_set("sh bash zsh dash ksh fish python python3 node perl ruby")
GIT_LOOKS = word_set(
    """
    status log show diff blame branch remote ls-files ls-tree grep rev-parse rev-list describe config reflog
    shortlog cat-file tag stash worktree fetch help version check-ignore merge-base name-rev whatchanged
    """
)
SECRET = re.compile(
    r"\.ssh/id_|\.ssh/\S{0,64}key|\.aws/credentials|\.netrc|/etc/shadow|\.pgpass|\.kube/config|\.gnupg|\.git-credentials"
    r"|\.docker/config\.json"
    r"|\.npmrc|\.pypirc|id_rsa|id_ed25519|keychain|\.bash_history|\.zsh_history|login\.keychain|cookies\.sqlite|(?:^|/)\.env$"
)
PERSISTENT = re.compile(
    r"\.bashrc|\.zshrc|\.bash_profile|\.profile|\.zprofile|authorized_keys|crontab|/etc/cron"
    r"|/etc/rc\.local|/etc/hosts|/etc/sudoers|LaunchAgents|\.config/autostart|\.git/hooks/"
)
LIGHT = re.compile(
    r"(?:^|/)(?:tmp|temp|build|dist|out|node_modules|__pycache__|target|coverage"
    r"|htmlcov|\.cache|\.?[a-z]+_cache|\.next|\.venv|venv|\.tox|\.eggs)(?:/|$)"
    r"|\.(?:pyc|o|log|tmp|bak|orig|rej|swp|out|egg-info)$|^\$\(mktemp|^\$?\{?TMP"
)
RAZED = word_set(
    """
    / /* ~ ~/ ~/* $HOME ${HOME} $HOME/ $HOME/* * . ./ ./* .. ../ ../* .git .git/ ./.git /etc /usr /var /home
    /root /bin /opt --no-preserve-root
    """
)
DATA = re.compile(
    r"\b(?:drop\s{1,9}(?:table|database|schema|index|view|user)"
    r"|truncate\s{1,9}(?:table\s)?|delete\s{1,9}from|flushall|flushdb|dropdatabase)\b",
    re.IGNORECASE,
)
LOCAL = re.compile(r"(?:https?://)?(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0|host\.docker\.internal)\b")
REMOTE_PATH = re.compile(r"^(?!/|\.|~)[\w.@-]{1,255}:(?!/{2}|\\)")
SCRATCH = re.compile(r"^(?:/tmp/|/var/tmp/|/dev/|\$TMP|\$\{TMP|&)|\.(?:log|out|tmp)$")
