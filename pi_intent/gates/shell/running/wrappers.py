"""Programs that stand before another command and run it: their options, and where it begins."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from pi_intent.gates.shell.running.given import given_to
from pi_intent.gates.shell.running.handed import handed_to
from pi_intent.gates.shell.running.inner import NOTHING, Inside, behind_options, run_text
from pi_intent.gates.shell.script import Assignment, Command, Word

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
    "choom": "np --adjust --pid",
    "cross-env": "",
    "env-cmd": "ferx --file --environments --rc-file",
}
_POSITIONALS = {"timeout": 1, "chroot": 1, "taskset": 1, "flock": 1, "direnv": 2}
_READ_OVER = (("env", "-"), ("dotenv", "run"))
"""Words of a wrapper's own, before what it runs."""
_ASSIGNING = ("env", "sudo", "doas", "command", "coproc", "time", "noglob", "nocorrect", "cross-env")
"""Those that take assignments before what they run."""
_OF_ANY_NAME = ("env", "sudo", "cross-env")
"""Those of them for which a name is whatever stands before the sign."""
_FOLDER = {"env": ("C", ("--chdir",)), "sudo": ("D", ("--chdir",))}
"""Options that name the folder in which the command runs."""
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
_NAME, _ANY_NAME = re.compile(r"(\w+)="), re.compile(r"([^=]+)=")
_CD, _ENV = Word("cd", ("cd",)), Word("env", ("env",))
_SUDO_ALONE = ("-i", "-s", "-v", "-k", "-l", "-K")
"""Options of sudo that stand for a command."""


def of_wrapper(command: Command) -> Inside | None:
    """What a wrapper runs; None for any other program."""
    program, words, texts = command.program or "", command.arguments, command.texts
    if program not in _VALUED:
        return None
    if program in ("watch", "script") and "-c" in texts:
        at = texts.index("-c")
        return run_text(words[at + 1 : at + 2])
    if program == "command" and texts[:1] in (("-v",), ("-V",), ("-pv",)):
        return NOTHING
    if program == "sudo" and len(texts) == 1 and texts[0] in _SUDO_ALONE:
        return NOTHING
    letters, *long = _VALUED[program].split(" ")
    rest = behind_options(words, letters, long)
    options = words[: len(words) - len(rest)]
    if program == "env" and (text := _split_string(words, len(options))) is not None:
        return run_text((_ENV, *text))
    unsure = _unsure(program, options, letters, long)
    if rest and (program, rest[0].text) in _READ_OVER:
        rest = behind_options(rest[1:], letters, long)
    if program in _ASSIGNING:
        command, rest = _assigned(command, rest, _ANY_NAME if program in _OF_ANY_NAME else _NAME)
    rest = rest[_POSITIONALS.get(program, 0) :]
    if program == "coproc" and len(rest) > 1 and rest[1].text == "{":
        rest = rest[1:]
    if program in ("xargs", "parallel"):
        handed = handed_to(command, options, rest)
        if isinstance(handed, Inside):
            return handed
        rest = handed
    if not rest:
        return NOTHING
    if program == "flock" and rest[0].text in ("-c", "--command"):
        return run_text(rest[1:2])
    if program in ("watch", "entr") and len(rest) == 1:
        return run_text(rest)
    inner = replace(command.running(rest, program), assignments=command.assignments)
    folders = given_to(options, *_FOLDER[program], letters) if program in _FOLDER else ()
    goes = tuple(command.running((_CD, folder), program) for folder in folders)
    return Inside(commands=(*goes, inner), hidden="code" if unsure else None, apart=bool(goes))


def _split_string(words: tuple[Word, ...], options: int) -> tuple[Word, ...] | None:
    """What `env -S` takes apart, where that is among its options."""
    for at, word in enumerate(words[:options]):
        if found := re.match(r"-[0iv]*S|--split-string(?:=|$)", word.start):
            rest = word.after(found.end())
            return (*([rest] if rest.parts != ("",) else []), *words[at + 1 :])
    return None


def _assigned(command: Command, words: tuple[Word, ...], names: re.Pattern[str]) -> tuple[Command, tuple[Word, ...]]:
    """A wrapper with the assignments among its words, and the words behind them."""
    made: list[Assignment] = []
    while words and (name := names.match(words[0].start)):
        made.append(Assignment(name[1], words[0].after(name.end())))
        words = words[1:]
    return replace(command, assignments=(*command.assignments, *made)), words


def _unsure(program: str, options: tuple[Word, ...], letters: str, long: Iterable[str]) -> bool:
    """Whether one of these options is not known, so that the word behind it may be its value."""
    if program not in _FLAGS:
        return False
    flags, *names = _FLAGS[program].split(" ")
    for word in options:
        name, equals, _ = word.start.partition("=")
        if name.startswith("--") and name != "--" and not equals and name not in (*names, *long):
            return True
        if re.match(r"-[a-zA-Z]", name) and name[1] not in flags + letters:
            return True
    return False
