"""Programs that run what stands behind a word of theirs: `uv run`, `npm exec`, `docker exec`, `cmake -E`."""

from __future__ import annotations

import re
from dataclasses import replace

from pi_intent.gates.shell.running.given import given_to
from pi_intent.gates.shell.running.hidden import SCRIPT_FILE
from pi_intent.gates.shell.running.inner import TELLS_ITSELF, Inside, behind_options, run, run_text, run_texts
from pi_intent.gates.shell.script import Command, Word
from pi_intent.word_sets import word_set

_BEFORE = {
    # Programs that run what stands behind one of these words of theirs.
    **dict.fromkeys(word_set("uv poetry pipenv pdm hatch rye conda mamba micromamba pipx"), ("run",)),
    **dict.fromkeys(word_set("rustup volta pixi"), ("run",)),
    **dict.fromkeys(word_set("pyenv rbenv nodenv jenv plenv goenv fnm"), ("exec",)),
    **dict.fromkeys(word_set("doppler op infisical teller"), ("run",)),
    **dict.fromkeys(word_set("bundle asdf aws-vault chamber"), ("exec",)),
    "npm": ("exec", "x"),
    "pnpm": ("exec", "dlx"),
    "yarn": ("exec", "dlx"),
    "bun": ("x",),
    "mise": ("exec", "x"),
}
_NAMED_FIRST = word_set("aws-vault chamber rustup")
"""Those that take a name before what they run."""
_RUN_VALUED = {
    "uv": word_set(
        "--with --with-editable --with-requirements --extra --no-extra --group --no-group --only-group --python -p "
        "--directory --project --package --from -n --env-file --index --default-index --index-url --extra-index-url "
        "--find-links --cache-dir --config-file --color --upgrade-package -P --refresh-package --link-mode -w "
        "--resolution --prerelease --exclude-newer --index-strategy --python-preference --python-platform"
    ),
    "conda": word_set("-n --name -p --prefix --cwd"),
    "npx": word_set("-p --package -w --workspace --cache --userconfig --prefix --registry"),
    "doppler": word_set("-p --project -c --config -t --token --command --name-transformer --mount"),
    "fnm": frozenset(["--using"]),
    "pnpm": word_set("--filter -F -C --dir --package --workspace-concurrency"),
}
_RUN_VALUED |= {
    "uvx": _RUN_VALUED["uv"] - {"-n"},
    "npm": _RUN_VALUED["npx"],
    **dict.fromkeys(("mamba", "micromamba"), _RUN_VALUED["conda"]),
}
_RUN_TEXT = {
    **dict.fromkeys(("npm", "npx"), re.compile(r"(?:-c|--call)(?:=|$)")),
    "mise": re.compile(r"(?:-c|--command)(?:=|$)"),
    "doppler": re.compile(r"--command(?:=|$)"),
    "pnpm": re.compile(r"(?:-c|--shell-mode)$"),
}
"""Options whose value is run as the text of a shell."""
_CMAKE_TOOLS = {
    "remove": "rm",
    "remove_directory": "rm",
    "copy": "cp",
    "copy_directory": "cp",
    "copy_if_different": "cp",
    "rename": "mv",
    "make_directory": "mkdir",
    "create_symlink": "ln",
}
_CONTAINER_VALUED = word_set(
    "--env --user --workdir --volume --name --namespace --container --network --entrypoint --platform --mount "
    "--publish"
)


def of_runner(command: Command) -> Inside | None:
    """What such a program runs; None where this is none, or has another subcommand."""
    program, words = command.program or "", command.arguments
    if program in ("docker", "podman", "kubectl") and command.texts[:1] in (("exec",), ("run",)):
        rest = behind_options(words[1:], "euwvpnl", _CONTAINER_VALUED)
        return run(command, behind_options(rest[1:], "nc"), program)
    if program in _BEFORE and (behind := _behind_verb(words, _BEFORE[program])) is not None:
        return _run_by(command, program, behind)
    if program in ("npx", "uvx", "bunx"):
        return _run_by(command, program, words)
    if program == "nodemon":
        given = list(given_to(words, "x", ("--exec",)))
        return run_texts(given) if given or command.texts in TELLS_ITSELF else Inside(hidden="script")
    if program == "cmake" and command.texts[:1] == ("-E",):
        tool = tuple(Word(word.source, (_CMAKE_TOOLS.get(word.start, word.start),)) for word in words[1:2])
        return run(command, (*tool, *words[2:]), program)
    return None


def _behind_verb(words: tuple[Word, ...], verbs: tuple[str, ...]) -> tuple[Word, ...] | None:
    """The words behind one of these, before which there are only options and what may be their values."""
    option = True
    for at, word in enumerate(words):
        if word.text in verbs:
            return words[at + 1 :]
        if not option and not word.start.startswith("-"):
            return None
        option = word.start.startswith("-") and "=" not in word.start
        if at == 0 and not option:
            return None
    return None


def _run_by(command: Command, program: str, words: tuple[Word, ...]) -> Inside:
    """What a runner is told to run: behind its options and `--`, or as a text."""
    while program == "mise" and words and "@" in words[0].start:
        words = words[1:]
    rest = behind_options(words, long=_RUN_VALUED.get(program, ()))
    for at, word in enumerate(words[: len(words) - len(rest)]):
        if program in _RUN_TEXT and (found := _RUN_TEXT[program].match(word.start)):
            value = word.after(found.end())
            return run_text((value,) if value.parts != ("",) else words[at + 1 : at + 2])
    if program in _NAMED_FIRST:
        marked = program != "rustup"
        ends = next((at for at, word in enumerate(words) if word.text == "--" and marked), None)
        rest = rest[1:] if ends is None else words[ends + 1 :]
    script = program == "uv" and rest[:1] and SCRIPT_FILE.fullmatch(rest[0].start)
    return replace(run(command, rest, program), hidden="script" if script else None)
