"""Commands that run other commands: what they run, as words, as another shell's text, or as what nobody can read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from pi_intent.gates import own_commands
from pi_intent.gates.databases import runs_file
from pi_intent.gates.git_dangers import GIT_VALUED
from pi_intent.gates.paths import MOST_PATHS, path_of
from pi_intent.gates.script import Assignment, Command, Hidden, Place, Unknown, Word
from pi_intent.word_sets import word_set

SHELLS = word_set("sh bash zsh dash ksh ash fish mksh busybox-sh")
LANGUAGES = re.compile(r"(?:python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|Rscript|osascript|tclsh)[\d.]*")
_CODE_FLAGS = re.compile(r"-[A-Za-z]*[ceEr]|--eval|--print|-p|-pe|-ne|-pi|-lane|eval")
_EVALUATES = word_set("let printf read unset test [ declare typeset local export readonly mapfile readarray getopts")
"""Commands of a shell that evaluate the index of a variable that they are given."""
_INDEX = re.compile(r"\w\[[^\]]*(?:\$\(|`)")
_RECIPES: dict[str, str] = {
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
}
TELLS_ITSELF = (("--version",), ("--help",))
"""Arguments with which a program only tells what it is."""
_JAVA_TELLS = (*TELLS_ITSELF, ("-version",))
INPUT = "0input"
"""A variable, of a name that no shell allows: what stands on the input of xargs or find, in a text made of it."""

HAND_IN = word_set("find fd fdfind xargs parallel")
"""Programs that run a command with what they find or read."""

SUBCOMMANDED = word_set(
    "git npm pnpm yarn bun docker podman docker-compose kubectl oc helm terraform tofu pulumi aws gcloud az gh cargo "
    "pip pip3 uv poetry apt apt-get brew systemctl"
)
_GROUPS = word_set("compose container image volume network system builder buildx stack swarm service")
_GROUPED = word_set("aws gcloud az gh")
_BEFORE_SUBCOMMAND = word_set(
    "-n --namespace --context --kubeconfig --cluster -H --host --config --prefix --profile --region --project "
    "-R --repo --log-level -f --file -p --project-name -l -c -C --cwd --dir --directory --workspace -w --filter -F"
)
_RUNNERS = {"npm", "pnpm", "yarn", "bun"}
_OF_ITSELF = word_set("--version -V -v --help -h")
_MODULES = word_set(
    "pytest unittest mypy ruff black isort flake8 pylint pyright coverage json.tool venv pip build py_compile "
    "compileall "
    "http.server timeit doctest this platform site sysconfig tarfile zipfile twine virtualenv uv pre_commit"
)
FETCHERS = word_set("curl wget fetch aria2c http https xh nc ncat lynx w3m ssh")
_RUN_BY_OPTION = {
    **dict.fromkeys(("vim", "vi", "nvim", "ex", "emacs"), re.compile(r"-[a-zA-Z]*c|\+|--eval|--cmd")),
    "less": re.compile(r"\+.*!"),
    "man": re.compile(r"-[a-zA-Z]*P|--pager"),
    "rg": re.compile(r"--pre(?:=|$)|--hostname-bin"),
    "cmake": re.compile(r"-P"),
    **dict.fromkeys(("nc", "ncat", "netcat"), re.compile(r"-[a-zA-Z]*[ec]|--(?:sh-|lua-)?exec")),
    "socat": re.compile(r"(?i)(?:exec|system|shell):"),
    "expect": re.compile(r"(?!-v$|--version$)"),
    "perf": re.compile(r"(?:stat|record|trace|top|mem|lock|sched|c2c|ftrace|kvm)$"),
}
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
_SCRIPT_FILE = re.compile(r".*\.(?:sh|bash|zsh|py|pl|rb|js|mjs|ts|php|lua|ps1)")

_VALUED: dict[str, str] = {
    # Single-letter options of each wrapper that take a value, then (behind a blank) the long ones.
    "env": "uCSaP --unset --chdir --split-string --argv0",
    "sudo": "ugphCDrtTRUa --user --group --prompt --host --chdir --chroot",
    "doas": "uC",
    "command": "",
    "builtin": "",
    "exec": "a",
    "nice": "n --adjustment",
    "ionice": "cnp --class --classdata",
    "nohup": "",
    "timeout": "ks --kill-after --signal",
    "gtimeout": "ks",
    "time": "fo --format --output",
    "stdbuf": "ioe --input --output --error",
    "setsid": "",
    "unbuffer": "",
    "caffeinate": "tw",
    "chroot": "",
    "taskset": "",
    "xargs": "IJRSndLPsaE --max-args --max-procs --delimiter --arg-file --max-chars --process-slot-var",
    "parallel": "jaNnSI --jobs --arg-file --sshlogin --colsep --delay --retries --timeout --joblog --results",
    "strace": "eopsuE",
    "watch": "n --interval",
    "flock": "wE --timeout --wait --conflict-exit-code",
    "coproc": "",
    "noglob": "",
    "nocorrect": "",
    "then": "",
    "do": "",
    "else": "",
    "{": "",
    "!": "",
    "busybox": "",
    "toybox": "",
    "proxychains": "f",
    "proxychains4": "f",
    "rlwrap": "",
    "ltrace": "eopsu",
    "script": "c",
    "entr": "",
    "dotenv": "fe --file",
    "direnv": "",
}
_POSITIONALS = {"timeout": 1, "gtimeout": 1, "chroot": 1, "taskset": 1, "flock": 1, "direnv": 2}
_READ_OVER = (("env", "-"), ("dotenv", "run"))
"""Words of a wrapper's own, before what it runs."""
_BEFORE = {
    # Programs that run what stands behind one of these words of theirs.
    **dict.fromkeys(word_set("uv poetry pipenv pdm hatch rye conda mamba micromamba pipx"), ("run",)),
    **dict.fromkeys(word_set("doppler op infisical teller"), ("run",)),
    **dict.fromkeys(word_set("bundle asdf aws-vault chamber"), ("exec",)),
    "npm": ("exec", "x"),
    "pnpm": ("exec", "dlx"),
    "yarn": ("exec", "dlx"),
    "bun": ("x",),
    "mise": ("exec", "x"),
}
_NAMED_FIRST = word_set("aws-vault chamber")
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
_FLAGS = {
    # Letters and long options that take no value, of wrappers: of others nobody knows whether a word belongs to them.
    "env": "i0v --ignore-environment --null --debug --list-signal-handling",
    "nice": "",
    "ionice": "t --ignore",
    "timeout": "fvp --preserve-status --foreground --verbose",
    "time": "pvaql --portability --verbose --append --quiet",
    "stdbuf": "",
    "setsid": "cfw --ctty --fork --wait",
    "flock": "sxunoFe --shared --exclusive --unlock --nonblock --nb --close --no-fork --verbose",
    "xargs": "0rtxpoeil --null --no-run-if-empty --verbose --interactive --exit --open-tty --show-limits --max-lines "
    "--replace --eof",
    "exec": "cl",
}


@dataclass(frozen=True, slots=True)
class Inside:
    """What a command runs in turn."""

    commands: tuple[Command, ...] = ()
    texts: tuple[tuple[str, Place], ...] = ()
    hidden: Hidden | None = None


NOTHING = Inside()


def inside(command: Command) -> Inside:
    """Look through one command. What is handed to it on its input is not its matter."""
    program = command.program
    if program is None or not program:
        return NOTHING
    words = command.arguments
    if _is_told_later(program, words):
        return Inside(hidden="code")
    if program in SHELLS:
        return _shell(command, words)
    if program == "eval":
        words = _skip(words, "")
        return _text(words, "nested") if words else NOTHING
    if program in (".", "source"):
        return Inside(hidden=_fetched(words) or "script") if words else NOTHING
    if program == "su":
        return _su(words)
    if program in ("ssh", "mosh"):
        return _ssh(words)
    if program in ("find", "fd", "fdfind"):
        return Inside(commands=tuple(_find(command, words)))
    if program == "trap" and len(words) > 1:
        words = words[words[0].text == "--" :]
        return _text(words[:1], "nested") if words[0].text not in ("-", "", "-p", "-l") else NOTHING
    if program in ("docker", "podman", "kubectl") and command.texts[:1] in (("exec",), ("run",)):
        return _container(command, words)
    if program in ("watch", "script") and any(text in ("-c",) for text in command.texts):
        at = command.texts.index("-c")
        return _text(words[at + 1 : at + 2], "nested")
    if program in _BEFORE and (rest := _behind_verb(words, _BEFORE[program])) is not None:
        return _run_by(command, program, rest)
    if program in ("npx", "uvx", "bunx"):
        return _run_by(command, program, words)
    if program in _VALUED:
        return _wrapper(command, program, words)
    if program == "git":
        return _git(command, words)
    if LANGUAGES.fullmatch(program):
        return _language(program, words, command)
    if program in _RECIPES:
        looks = command.texts in TELLS_ITSELF or {*_RECIPES[program].split()} & set(command.texts)
        return NOTHING if looks else Inside(hidden="recipe")
    if program in _RUNNERS and command.texts[:1] and command.texts[0] in ("run", "start", "test", "run-script", "t"):
        return Inside(hidden="recipe")
    if (program in ("cargo", "go", "dotnet") and command.texts[:1] == ("run",)) or program == "java":
        tells = command.texts in _JAVA_TELLS or command.texts[1:] == ("--help",)
        return NOTHING if tells else Inside(hidden="script")
    if program in ("awk", "gawk", "mawk") and any(
        re.search(r"system\s*\(|\|\s*\"|\|\s*getline", t) for t in command.texts
    ):
        return Inside(hidden="code")
    if program == "cmake" and command.texts[:1] == ("-E",):
        tool = tuple(Word(word.source, (_CMAKE_TOOLS.get(word.start, word.start),)) for word in words[1:2])
        return Inside(commands=_running(command, (*tool, *words[2:]), program))
    if program in _RUN_BY_OPTION and any(_RUN_BY_OPTION[program].match(t) for t in command.texts):
        return Inside(hidden="code")
    if runs_file(command):
        return Inside(hidden="script")
    names = "-v" in command.texts or program not in ("printf", "test", "[")
    if program in _EVALUATES and names and any(_INDEX.search(word.text or "") for word in words):
        return Inside(hidden="code")
    if program in own_commands.PROGRAMS and own_commands.runs_code(program, command.texts):
        return Inside(hidden="code")
    written = command.name.shown if command.name else ""
    if "/" in written and (_SCRIPT_FILE.fullmatch(written) or (written.startswith("./") and "bin/" not in written)):
        return Inside(hidden="script")
    return NOTHING


def _is_told_later(program: str, words: tuple[Word, ...]) -> bool:
    """Whether only the run will tell which of its subcommands a program is given, or which long option git is."""
    if program not in SUBCOMMANDED:
        return False
    rest = _skip(words, "", GIT_VALUED if program == "git" else _BEFORE_SUBCOMMAND)
    grouped = bool(rest) and (rest[0].text in _GROUPS or (program in _GROUPED and rest[0].text != "api"))
    return any(word.text is None for word in rest[: 1 + grouped] if not word.start.startswith("-")) or (
        program == "git" and any(word.text is None and re.fullmatch("--[a-z-]*", word.start) for word in words)
    )


def _fetched(words: Iterable[Word]) -> Hidden | None:
    for word in words:
        for part in word.parts:
            if isinstance(part, Unknown):
                found = re.match(r"[<$]?[(`]\s*(?:\w+=\S+\s+)*(?:sudo\s+)?([\w/.-]+)", part.source)
                if found and found[1].rsplit("/", 1)[-1] in FETCHERS:
                    return "fetched"
    return None


def _text(words: tuple[Word, ...], place: Place) -> Inside:
    """Words that another shell reads as its text: what is not known in them stays a variable there."""
    if any(
        part.gap == "substitution" or word.start == ""
        for word in words
        for part in word.parts
        if isinstance(part, Unknown)
    ):
        if hidden := _fetched(words):
            return Inside(hidden=hidden)
        if all(not word.start for word in words):
            return Inside(hidden="input")
    stand_ins = {"home": "~", "input": f"${{{INPUT}}}"}
    pieces = [
        "".join(part if isinstance(part, str) else stand_ins.get(part.gap, "$__unknown") for part in word.parts)
        for word in words
    ]
    return Inside(texts=((" ".join(pieces), place),))


def _skip(words: tuple[Word, ...], letters: str, long: Iterable[str] = ()) -> tuple[Word, ...]:
    """Leave out the options in front, with their values."""
    at = 0
    while at < len(words):
        text = words[at].start
        if text == "--":
            return words[at + 1 :]
        if not text.startswith("-") or text == "-":
            break
        takes = text in long or (
            not text.startswith("--") and text[-1:] in letters and not set(text[1:-1]) & set(letters)
        )
        at += 2 if takes and letters + " ".join(long) else 1
    return words[at:]


def _running(command: Command, words: tuple[Word, ...], through: str) -> tuple[Command, ...]:
    return (command.running(words, through),) if words else ()


def _wrapper(command: Command, program: str, words: tuple[Word, ...]) -> Inside:
    letters, *long = (_VALUED[program] or " ").split(" ")
    texts = command.texts
    if program == "command" and texts[:1] and texts[0] in ("-v", "-V", "-pv"):
        return NOTHING
    if program == "env":
        for at, text in enumerate(texts[: len(words) - len(_skip(words, letters, long))]):
            if found := re.match(r"-[0iv]*S|--split-string(?:=|$)", text):
                rest = words[at].after(found.end())
                return _text((*([rest] if rest.parts != ("",) else []), *words[at + 1 :]), "nested")
    if program == "sudo" and set(texts[:1]) & {"-i", "-s", "-v", "-k", "-l", "-K"} and len(texts) == 1:
        return NOTHING
    options, words = words, _skip(words, letters, long)
    unsure = _unsure(program, options[: len(options) - len(words)], letters, long)
    if words and (program, words[0].text) in _READ_OVER:
        words = _skip(words[1:], letters, long)
    if program in ("env", "sudo", "doas", "command", "coproc"):
        while words and (name := re.match(r"(\w+)=", words[0].start)):
            command = replace(
                command, assignments=(*command.assignments, Assignment(name[1], words[0].after(name.end())))
            )
            words = words[1:]
    words = words[_POSITIONALS.get(program, 0) :]
    if program == "coproc" and len(words) > 1 and words[1].text == "{":
        words = words[1:]
    if not words:
        return Inside(hidden="input") if program == "parallel" and texts not in TELLS_ITSELF else NOTHING
    if program == "flock" and words[0].text in ("-c", "--command"):
        return _text(words[1:2], "nested")
    if program in ("xargs", "parallel"):
        values: tuple[str, ...] = ()
        if program == "parallel":
            cut = next((at for at, word in enumerate(words) if word.start.startswith(":::")), len(words))
            values = _given(words[cut:])
            words = words[:cut]
            if not words:
                return Inside(hidden="input")
        mark = "{}" if program == "parallel" else _mark(options[: len(options) - len(words)])
        put = tuple(_put_in(word, mark, values) for word in words) if mark else words
        if program == "parallel" and len(words) == 1 and " " in words[0].start:
            return _text(put, "nested")
        if len(words) == 1 and words[0].text in SHELLS:
            return Inside(hidden="input")
        words = put if put != words else (*words, Word("…", (Unknown("input", "…", values),)))
    if program in ("watch", "entr") and len(words) == 1:
        return _text(words, "nested")
    run = tuple(replace(inner, assignments=command.assignments) for inner in _running(command, words, program))
    return Inside(commands=run, hidden="code" if unsure else None)


def _unsure(program: str, options: tuple[Word, ...], letters: str, long: Iterable[str]) -> bool:
    """Whether one of these options is not known, so that the word behind it may be its value."""
    if program not in _FLAGS:
        return False
    flags, *names = (_FLAGS[program] or " ").split(" ")
    for word in options:
        name, equals, _ = word.start.partition("=")
        if name.startswith("--") and name != "--" and not equals and name not in (*names, *long):
            return True
        if re.match(r"-[a-zA-Z]", name) and name[1] not in flags + letters:
            return True
    return False


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
    rest = _skip(words, "", _RUN_VALUED.get(program, ()))
    ends = next((at for at, word in enumerate(words) if word.text == "--"), None)
    for at, word in enumerate(words[: len(words) - len(rest)]):
        if program in _RUN_TEXT and (found := _RUN_TEXT[program].match(word.start)):
            value = word.after(found.end())
            return _text((value,) if value.parts != ("",) else words[at + 1 : at + 2], "nested")
    if ends is not None and program in _NAMED_FIRST:
        rest = words[ends + 1 :]
    elif program in _NAMED_FIRST:
        rest = rest[1:]
    script = program == "uv" and rest[:1] and _SCRIPT_FILE.fullmatch(rest[0].start)
    return Inside(commands=_running(command, rest, program), hidden="script" if script else None)


def _mark(options: tuple[Word, ...]) -> str:
    """What xargs puts its input in place of; nothing where that comes last."""
    for at, word in enumerate(options):
        if found := re.fullmatch(r"-[0rtxop]*[IJ](.*)|--replace=(.+)|(-i|--replace)", word.start):
            following = options[at + 1].start if at + 1 < len(options) else ""
            return found[1] or found[2] or ("{}" if found[3] else following)
    return ""


def _given(words: tuple[Word, ...]) -> tuple[str, ...]:
    """What parallel hands in from its own words, where it is known."""
    paths = [path_of(word) for word in words[1:]] if words and words[0].text == ":::" else []
    known = tuple(path for path in paths if path is not None)
    return known if len(known) == len(paths) <= MOST_PATHS else ()


def _put_in(word: Word, mark: str, values: tuple[str, ...] = ()) -> Word:
    """A word with what stands on the input in place of a mark."""
    if not any(isinstance(part, str) and mark in part for part in word.parts):
        return word
    pieces = [re.split(f"({re.escape(mark)})", part) if isinstance(part, str) else [part] for part in word.parts]
    parts = [
        Unknown("input", mark, values) if part == mark else part for part in chain.from_iterable(pieces) if part != ""
    ]
    return Word(word.source, tuple(parts))


def _shell(command: Command, words: tuple[Word, ...]) -> Inside:
    at = 0
    if any(re.match("--(?:rcfile|init-file)(?:=|$)", word.start) for word in words):
        return replace(_shell(command, tuple(_without_start_file(words))), hidden="script")
    while at < len(words):
        text = words[at].start
        if text.startswith("--command="):
            return _text((words[at].after(len("--command=")),), "nested")
        if text == "--command" or (text.startswith(("-", "+")) and not text.startswith("--") and "c" in text[1:]):
            rest = _skip(words[at + 1 :], "oO")
            return _text(rest[:1], "nested") if rest else NOTHING
        if text in ("-o", "+o", "-O", "+O"):
            at += 2
        elif text == "-s" or text == "-":
            return NOTHING
        elif text.startswith(("-", "+")) and text != "--":
            if text in ("--version", "--help"):
                return NOTHING
            if text.lstrip("-") == "n":
                return NOTHING  # it only checks the script
            at += 1
        else:
            break
    rest = words[at:]
    return Inside(hidden=_fetched(rest) or "script") if rest else NOTHING


def _without_start_file(words: tuple[Word, ...]) -> Iterator[Word]:
    """The words without the options that name the file that a shell begins with."""
    left = iter(words)
    for word in left:
        if word.start in ("--rcfile", "--init-file"):
            next(left, None)
        elif not word.start.startswith(("--rcfile=", "--init-file=")):
            yield word


def _su(words: tuple[Word, ...]) -> Inside:
    for at, word in enumerate(words[:-1]):
        if word.start in ("-c", "--command", "-lc"):
            return _text(words[at + 1 : at + 2], "nested")
    return NOTHING


def _ssh(words: tuple[Word, ...]) -> Inside:
    rest = _skip(words, "bcDeFIiJLlmOopQRSWw")[1:]
    return _text(rest, "remote") if rest else NOTHING


def _find(command: Command, words: tuple[Word, ...]) -> Iterable[Command]:
    starts = ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch")
    at = 0
    if command.program != "find":
        words = tuple(_parted(words, ("--exec", "--exec-batch")))
    while at < len(words):
        if words[at].text in starts and (command.program != "find" or not words[at].start.lower().startswith("-x")):
            end = next((n for n in range(at + 1, len(words)) if words[n].text in (";", "+")), len(words))
            inner = tuple(_put_in(word, "{}") for word in words[at + 1 : end])
            yield from _running(command, inner, command.program or "find")
            at = end
        at += 1


def _parted(words: tuple[Word, ...], names: tuple[str, ...]) -> Iterator[Word]:
    """The words, with each `--name=value` of these as two."""
    for word in words:
        name, equals, _ = word.start.partition("=")
        yield from (Word(name, (name,)), word.after(len(name) + 1)) if equals and name in names else (word,)


def _container(command: Command, words: tuple[Word, ...]) -> Inside:
    rest = _skip(
        words[1:],
        "euwvpnl",
        {
            "--env",
            "--user",
            "--workdir",
            "--volume",
            "--name",
            "--namespace",
            "--container",
            "--network",
            "--entrypoint",
            "--platform",
            "--mount",
            "--publish",
        },
    )
    rest = _skip(rest[1:], "nc")
    return Inside(commands=tuple(c for c in _running(command, rest, command.program or "") if rest))


def _git(command: Command, words: tuple[Word, ...]) -> Inside:
    """`-c alias.x=!…` runs a shell; `submodule foreach`, `bisect run` and `rebase -x` run what they are given."""
    texts = command.texts
    if any(text.startswith(("--config-env", "--exec-path=")) for text in texts[: _subcommand(texts)]):
        return Inside(hidden="code")
    for at, text in enumerate(texts):
        if text == "-c" and at + 1 < len(texts):
            name, _, value = texts[at + 1].partition("=")
            if name.lower().startswith("alias.") and value.startswith("!"):
                return Inside(texts=((value[1:], "nested"),))
            if value and own_commands.GIT_SETTING.search(name):
                return Inside(hidden=None if own_commands.is_harmless(value) else "code")
    subcommand = [text for text in texts if not text.startswith("-")][:2]
    if subcommand == ["submodule", "foreach"]:
        return _text(_skip(words[texts.index("foreach") + 1 :], ""), "nested")
    if subcommand == ["bisect", "run"]:
        return Inside(commands=_running(command, words[texts.index("run") + 1 :], "git"))
    return Inside(hidden="code") if own_commands.runs_code("git", texts[_subcommand(texts) :]) else NOTHING


def _subcommand(texts: tuple[str, ...]) -> int:
    at = 0
    while at < len(texts) and texts[at].startswith("-"):
        at += 2 if texts[at] in GIT_VALUED else 1
    return at


def reads_input(texts: tuple[str, ...]) -> bool:
    """Whether the program of a language takes its code from its input."""
    script = next((text for text in texts if not text.startswith("-") or text == "-"), "-")
    alone = len(texts) == 1 and texts[0] in _OF_ITSELF
    return script == "-" and not alone and not any(_CODE_FLAGS.fullmatch(text) for text in texts)


def _language(program: str, words: tuple[Word, ...], command: Command) -> Inside:
    texts = command.texts
    if not texts or (len(texts) == 1 and texts[0] in _OF_ITSELF):
        return NOTHING
    if program.startswith(("python", "pypy")):
        for at, text in enumerate(texts):
            if re.fullmatch(r"-[bBdEiIOqsSuv]*m", text):
                module = texts[at + 1] if at + 1 < len(texts) else ""
                known = module.split(".")[0] in _MODULES or module in _MODULES
                if known:
                    return Inside(commands=_running(command, words[at + 1 :], "python -m"))
                return Inside(hidden="script")
            if not text.startswith("-"):
                break
    if program == "node" and texts[0] in ("--check", "-c", "--test"):
        return NOTHING
    if program in ("deno", "bun") and texts[0] in ("test", "lint", "fmt", "check", "install", "add", "build"):
        return NOTHING
    if program == "php" and texts[0] == "-l":
        return NOTHING
    if any(_CODE_FLAGS.fullmatch(text) for text in texts[:3]):
        return Inside(hidden="code")
    if reads_input(texts):
        return NOTHING
    return Inside(hidden=_fetched(words) or "script")
