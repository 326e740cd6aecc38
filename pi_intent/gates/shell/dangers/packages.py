"""Which commands install packages, and which publish some."""

from __future__ import annotations

import re
from collections.abc import Collection

from pi_intent.gates.shell.running.subcommands import CONTAINER_GROUPS, CONTAINERS, known_as
from pi_intent.word_sets import word_set


def _verbs(text: str) -> frozenset[str]:
    """The subcommands of a text, parted by commas: some are two words."""
    return frozenset(verb.strip() for verb in text.split(","))


_NODE = "install, i, in, add, uninstall, un, unlink, remove, rm, update, up, upgrade, link, create, dlx"
_SYSTEM = "install, reinstall, remove, purge, upgrade, update, autoremove, dist-upgrade, full-upgrade"
_CONDA = "install, create, update, upgrade, remove, uninstall, env create, env update, env remove"
_INSTALLERS = {
    "pip": _verbs("install, uninstall"),
    "npm": _verbs(f"{_NODE}, ci, clean-install, ic, install-clean, install-test, it, audit fix"),
    "pnpm": _verbs(_NODE),
    "yarn": _verbs(f"{_NODE}, upgrade-interactive"),
    "bun": _verbs(_NODE),
    "uv": _verbs(
        "add, remove, sync, pip install, pip uninstall, pip sync, tool install, tool uninstall, tool upgrade, "
        "python install, python uninstall, python upgrade"
    ),
    "poetry": _verbs("install, add, remove, update, sync, self add, self remove, self update"),
    "pdm": _verbs("install, add, remove, update, sync"),
    "pipx": _verbs("install, inject, upgrade, uninstall, upgrade-all, reinstall, reinstall-all, uninstall-all"),
    **dict.fromkeys(("conda", "mamba", "micromamba"), _verbs(_CONDA)),
    "cargo": _verbs("install, add, remove, uninstall"),
    "gem": _verbs("install, uninstall, update"),
    "bundle": _verbs("install, update, add, remove"),
    "go": _verbs("install, get"),
    "composer": _verbs("install, require, update, remove, create-project"),
    **dict.fromkeys(("apt", "apt-get", "dnf", "yum"), _verbs(_SYSTEM)),
    "apk": _verbs("add, del, upgrade, update"),
    "brew": _verbs("install, uninstall, upgrade, update, tap, reinstall, remove, rm"),
    "snap": _verbs("install, remove, refresh"),
    "flatpak": _verbs("install, uninstall, update"),
    "port": _verbs("install, uninstall, upgrade"),
    "rustup": _verbs(
        "install, update, default, toolchain install, toolchain uninstall, component add, component remove, "
        "target add, target remove"
    ),
    "pipenv": _verbs("install, uninstall, update, sync"),
    "nvm": _verbs("install, uninstall"),
}
_ALONE = word_set("yarn bundle easy_install")
"""Those that install where they are given no subcommand."""
_OPTIONS = {
    "nix-env": re.compile("-i|-iA|-e|--install|--uninstall"),
    "dpkg": re.compile("-i|--install|-r|-P|--remove|--purge"),
    "pacman": re.compile("-(?!S[si]$)[SRU].*"),
    "code": re.compile("--install-extension.*"),
}
"""Those that are told by an option to install."""
_FETCH_TO_RUN = word_set("npx bunx uvx")
_TELLS = word_set("-v -V -h --version --help")

_PUBLISHES = {
    "npm": _verbs(
        "publish, unpublish, deprecate, dist-tag add, dist-tag rm, dist-tags add, dist-tags rm, owner add, owner rm"
    ),
    "pnpm": _verbs("publish"),
    "yarn": _verbs("publish, npm publish"),
    "bun": _verbs("publish"),
    "twine": _verbs("upload"),
    "cargo": _verbs("publish, yank"),
    **dict.fromkeys(("poetry", "uv", "flit", "hatch", "pdm", "vsce"), _verbs("publish")),
    "gem": _verbs("push, yank"),
    "helm": _verbs("push"),
    "vercel": _verbs("deploy"),
    **dict.fromkeys(("netlify", "fly", "flyctl", "firebase"), _verbs("deploy")),
    "wrangler": _verbs("publish, deploy, pages deploy"),
    "heroku": _verbs("run, restart, releases:rollback"),
}
_GOALS = {"mvn": _verbs("deploy, deploy:deploy, release:perform")}
"""Of a program that takes several subcommands, each may be the one."""
_DRY = {"--dry-run"}


def installs(program: str, texts: tuple[str, ...], words: list[str]) -> bool:
    """Whether packages are installed or removed; `words` are those from the subcommand on."""
    program = known_as(program)
    if program in _FETCH_TO_RUN:
        return bool({"-y", "--yes", "--from", "--package"} & set(texts))
    if program in _OPTIONS:
        return any(map(_OPTIONS[program].fullmatch, texts))
    if _DRY & set(texts):
        return False
    if program in _ALONE and not words and not _TELLS & set(texts):
        return True
    return program == "easy_install" or _is_one(words, _INSTALLERS.get(program, ()))


def publishes(program: str, texts: tuple[str, ...], words: list[str]) -> bool:
    """Whether something is published; `words` are those from the subcommand on."""
    if _DRY & set(texts) or (program == "cargo" and "-n" in texts):
        return False
    if program in CONTAINERS:
        return _pushes(texts, words)
    if program == "vercel" and not words:
        return True
    return _is_one(words, _PUBLISHES.get(program, ())) or bool(_GOALS.get(program, frozenset()) & set(words))


def _pushes(texts: tuple[str, ...], words: list[str]) -> bool:
    """Whether an image is pushed: by a subcommand, or by what builds it."""
    verb = words[1:2] if words and words[0] in CONTAINER_GROUPS else words[:1]
    return verb == ["push"] or (verb in (["build"], ["bake"]) and bool({"--push", "--push=true"} & set(texts)))


def _is_one(words: list[str], verbs: Collection[str]) -> bool:
    return bool(words) and (words[0] in verbs or " ".join(words[:2]) in verbs)
