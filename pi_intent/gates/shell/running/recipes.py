"""Build tools and packagers that run what stands in a file: a recipe, a script of the package, its sources."""

from __future__ import annotations

import re
from itertools import takewhile

from pi_intent.gates.shell.running.inner import TELLS_ITSELF, behind_options
from pi_intent.gates.shell.script import Command, Word
from pi_intent.word_sets import word_set

RECIPES: dict[str, str] = {
    # Each with the options that have it run nothing.
    "make": "-n --dry-run --just-print --recon -v",
    "gmake": "-n --dry-run --just-print --recon -v",
    "just": "-n --dry-run -l --list --summary",
    "task": "-n --dry -l --list --list-all",
    "rake": "-n --dry-run -T --tasks",
    "ninja": "-n",
    "gradle": "-m --dry-run -v",
    "gradlew": "-m --dry-run -v",
    "mvn": "-v",
    "mvnw": "-v",
    "ant": "-p -projecthelp -version",
    "tox": "-l",
    "nox": "-l --list",
    "invoke": "-l --list --dry",
    **dict.fromkeys(("npm-run-all", "run-s", "run-p"), ""),
}
_OPTIONS_FIRST = word_set("just task invoke")
"""Those of them that hand on to the recipe what stands behind its name."""
_READ_ANYWAY = re.compile(r"--ev|-[a-zA-Z]*E")
"""Options of make with text that it evaluates while it reads."""
_PACKAGERS = {"npm", "pnpm", "yarn", "bun"}
_PACKAGERS_RUN = word_set("run start stop restart test run-script rum urn t tst it install-test cit")
_CHECKERS = word_set(
    "tsc vue-tsc svelte-check eslint oxlint stylelint prettier biome jest vitest mocha ava c8 nyc playwright knip "
    "depcheck"
)
"""Programs of a package that are known by name, as behind npx."""
_SUBCOMMANDS = {
    # Any other word is the name of a script of the package, or of a program that it has installed.
    "yarn": word_set(
        "add audit autoclean bin cache check config constraints create dedupe dlx exec explain explore "
        "generate-lock-entry global help import info init install licenses link list login logout node npm "
        "outdated owner pack patch patch-commit plugin policies prune publish rebuild remove search self-update "
        "set stage tag team unlink unplug up upgrade upgrade-interactive version versions why workspace "
        "workspaces focus entries sdks"
    )
    | _CHECKERS,
    "pnpm": word_set(
        "add i install update up upgrade remove rm uninstall un link ln unlink dislink import rebuild rb prune "
        "fetch install-test patch patch-commit patch-remove audit list ls ll la outdated why licenses exec dlx "
        "create init pack publish store root bin config c get set setup env self-update server deploy cat-file "
        "cat-index find-hash completion help approve-builds ignored-builds dedupe doctor version view info show "
        "login logout whoami owner search token team unpublish deprecate dist-tag access adduser bugs cache ci "
        "clean docs edit home issues pkg ping prefix profile repo star stars recursive multi m x catalog explore"
    )
    | _CHECKERS,
}
_VALUED = {
    "npm": word_set("--prefix -C --workspace -w --userconfig --cache --registry --loglevel"),
    "pnpm": word_set(
        "--use-node-version --filter -F --filter-prod --dir -C --reporter --loglevel --workspace-concurrency "
        "--registry"
    ),
    "yarn": word_set("--network-timeout --cwd --mutex --cache-folder --registry --modules-folder --use-yarnrc"),
    "bun": word_set("--cwd --filter"),
    "cargo": word_set("--config -Z -C --color --manifest-path --target-dir"),
    "go": word_set("-C"),
}
"""Options with a value behind a blank, before the subcommand."""
_LOOKED_THROUGH = {("yarn", "workspace"): 2, ("yarn", "workspaces"): 1, ("pnpm", "recursive"): 1}
"""How many words stand before the subcommand that these are given in turn."""
_RUN_SOURCES = {"cargo": ("run", "r"), "go": ("run",), "dotnet": ("run",)}


def runs_recipe(command: Command) -> bool:
    """Whether a build tool runs a recipe, or a packager a script of the package."""
    program, texts = command.program or "", command.texts
    if program in RECIPES:
        return texts not in TELLS_ITSELF and not _only_looks(program, texts)
    behind = _behind(command)
    verb = behind[0].text if behind else None
    if program in _PACKAGERS:
        known = _SUBCOMMANDS.get(program)
        return verb in _PACKAGERS_RUN or bool(known and verb and verb not in known)
    return program == "go" and verb == "generate" and not {"-n", "--help"} & set(texts)


def runs_sources(command: Command) -> bool:
    """Whether it runs what it builds of the sources, or what java is given."""
    program, texts = command.program or "", command.texts
    if program == "java":
        return texts not in (*TELLS_ITSELF, ("-version",)) and texts[1:] != ("--help",)
    behind = _behind(command)
    runs = bool(behind) and behind[0].text in _RUN_SOURCES.get(program, ())
    return runs and [word.text for word in behind[1:]] != ["--help"]


def _only_looks(program: str, texts: tuple[str, ...]) -> bool:
    own = takewhile(lambda text: text != "--" and (program not in _OPTIONS_FIRST or text.startswith("-")), texts)
    looks = bool({*RECIPES[program].split()} & set(own))
    return looks and not (program in ("make", "gmake") and any(map(_READ_ANYWAY.match, texts)))


def _behind(command: Command) -> tuple[Word, ...]:
    """The words from the subcommand on: behind the options, the toolchain, the workspace."""
    program, words = command.program or "", command.arguments
    if program == "cargo" and words and words[0].start.startswith("+"):
        words = words[1:]
    behind = behind_options(words, "", _VALUED.get(program, ()))
    more = _LOOKED_THROUGH.get((program, behind[0].start)) if behind else None
    return behind_options(behind[more:]) if more else behind
