"""The rules that a person can name for being asked: each looks at the literal arguments of a call alone."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache

from pi_intent.contract.rows import PATHS
from pi_intent.gates.faults import not_worked_out
from pi_intent.gates.kinds import DANGER_KINDS, LOOK_AT_COMMANDS, RULE_WORDS, Match, Reason, Rule, RuleWord, rule_name
from pi_intent.gates.naming import is_tool
from pi_intent.gates.own_paths import is_path
from pi_intent.gates.paths import outside_project
from pi_intent.gates.shell.command import read_command
from pi_intent.gates.shell.dangers.of_script import Danger, dangers_of
from pi_intent.gates.shell.script import Command, Script
from pi_intent.gates.situation import Situation, Surroundings
from pi_intent.types import JSONObject, JSONValue

COMMANDS = ("command", "cmd", "script")
"""What tools call the argument that a shell will read."""

_MOST_REASONS = 12
_MOST_FOUND = 500
_MOST_PATHS = 64
_LONGEST_PIECE = 500
_FLAGS = re.compile(r"-[A-Za-z]{1,6}")
_SOME_FLAGS = re.compile(r"-[A-Za-z]{2,3}")
"""In a rule. More letters are rather a long option, as in `find -delete`."""


def reasons_to_ask(
    rules: Iterable[Rule],
    arguments: JSONObject,
    situation: Situation,
    around: Surroundings,
    *,
    stated: bool,
    notes: Callable[[], Iterable[str]] = tuple,
) -> tuple[Reason, ...]:
    """Return why a call is to be asked about, each reason once, at most twelve; none where no rule finds anything.

    `stated` says whether the model gave an intent, `notes` gives the sentences of the quality notes on it. A rule
    that cannot be worked out asks.
    """
    found: dict[Reason, None] = {}
    for rule in rules:
        try:
            reasons = list(_found(rule, arguments, situation, around, stated, notes))
        except Exception as error:  # fails toward asking, whatever it is
            reasons = [Reason(rule_name(rule), not_worked_out("it", error))]
        found.update(dict.fromkeys(reasons))
        if len(found) >= _MOST_FOUND:
            break
    return first_of_each(found, lambda reason: reason.rule)[:_MOST_REASONS]


def first_of_each[T: Hashable](found: dict[T, None], kind: Callable[[T], str]) -> tuple[T, ...]:
    """Return what was found with the first of each kind at the beginning: none is crowded out by many of another."""
    firsts = {kind(one): one for one in reversed(found)}
    return tuple(dict.fromkeys((*reversed(firsts.values()), *found)))


_OF_COMMANDS = frozenset(
    {"command", "cmd", "script", "commands", "cmds", "shell", "commandline", "code", "cmdline", "shellcommand"}
    | {"bashcommand", "program", "executable", "exec", "run", "argv"}
)
_OF_FOLDERS = frozenset({"cwd", "workdir", "workingdir", "workingdirectory"})
_BESIDE = frozenset({"args", "arguments", "argv", "params"})
_OF_PATHS = frozenset(
    {
        "path",
        "paths",
        "file",
        "files",
        "filepath",
        "filename",
        "filenames",
        "notebookpath",
        "destination",
        "dest",
        "dst",
    }
    | {"source", "src", "target", "directory", "dir", "folder", "relativepath", "absolutepath", "oldpath", "newpath"}
)


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _named(arguments: JSONObject, names: frozenset[str]) -> Iterator[JSONValue]:
    """Yield the values that stand under names that mean the same, at any depth."""
    waiting: list[JSONValue] = [arguments]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            for name, inner in value.items():
                if _plain(name) in names:
                    yield inner
                waiting.append(inner)


def unread_commands(arguments: JSONObject) -> tuple[str, ...]:
    """Return what may be commands in a form that nothing here reads: words in a list, a program beside its words.

    The arguments of our own `bash` are never such.
    """
    said = [value for value in _named(arguments, _OF_COMMANDS) if value not in ("", None)]
    known = [arguments.get(name) for name in COMMANDS]
    found = [value for value in said if not isinstance(value, str) or value not in known]
    if said and any(_plain(name) in _BESIDE for name in arguments):
        found = found or said
    return tuple(str(value)[:_LONGEST_PIECE] for value in found)


def script_of(arguments: JSONObject) -> tuple[Script, ...]:
    """Return what the arguments of a call would have a shell run."""
    return tuple(map(_read, _command_texts(arguments)))


def commands_of(arguments: JSONObject, situation: Situation) -> Iterator[tuple[Script, tuple[Danger, ...]]]:
    """Yield what the arguments of a call would have a shell run, each with what it puts at risk."""
    named = (value for value in _named(arguments, _OF_FOLDERS) if value not in ("", None))
    starts = tuple(
        posixpath.normpath(posixpath.join(situation.cwd, value)) if isinstance(value, str) else None
        for value in named
    )
    for text in _command_texts(arguments):
        yield _read(text), _dangers(text, situation.cwd, situation.project, starts)


def _command_texts(arguments: JSONObject) -> list[str]:
    texts = [arguments.get(name) for name in COMMANDS]
    return [text for text in texts if isinstance(text, str) and text.strip()]


@lru_cache(maxsize=8)
def _read(text: str) -> Script:
    return read_command(text)


@lru_cache(maxsize=8)
def _dangers(text: str, cwd: str, project: str | None, starts: tuple[str | None, ...]) -> tuple[Danger, ...]:
    return dangers_of(_read(text), cwd=cwd, project=project, starts=starts)


def paths_of(arguments: JSONObject) -> tuple[str, ...]:
    """Return the files that the arguments of a call name, the usual names first."""
    found = [path for name in PATHS if isinstance(path := arguments.get(name), str) and path]
    for value in _named(arguments, _OF_PATHS):
        found += [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str) and one]
    return tuple(dict.fromkeys(path.removeprefix("file://") for path in found))[:_MOST_PATHS]


def _found(
    rule: Rule,
    arguments: JSONObject,
    situation: Situation,
    around: Surroundings,
    stated: bool,
    notes: Callable[[], Iterable[str]],
) -> Iterator[Reason]:
    if isinstance(rule, Match):
        yield from _matched(rule, arguments, situation, around)
        return
    if rule == "always" or (rule == "unstated" and not stated):
        yield Reason(rule)
    elif rule == "noted":
        yield from (Reason(rule, note) for note in notes())
    if rule == "outside" or (rule in ("outside_project", "dangers") and not _only_reads(situation)):
        for path in paths_of(arguments):
            if outside_project(path, situation.cwd, situation.project, resolve=around.resolve):
                yield Reason("outside" if rule == "outside" else "outside_project", path)
    if rule in LOOK_AT_COMMANDS:
        yield from _in_commands(rule, arguments, situation)
    if rule not in RULE_WORDS:
        yield Reason(rule, "there is no such rule", is_said=True)


def _only_reads(situation: Situation) -> bool:
    return situation.tool_source is None and situation.tool_name == "read"


def _in_commands(rule: RuleWord, arguments: JSONObject, situation: Situation) -> Iterator[Reason]:
    wanted = {"outside": ("outside_project",), "dangers": DANGER_KINDS, "unclear": ()}.get(rule, (rule,))
    for text in unread_commands(arguments):
        yield Reason("unclear", text)
    for script, dangers in commands_of(arguments, situation):
        for danger in dangers:
            if danger.kind in wanted:
                yield Reason("outside" if rule == "outside" else danger.kind, danger.text)
        # What nobody can read may be what any rule on commands looks for.
        for unclear in script.unclear:
            yield Reason("unclear", unclear.text)


def _matched(rule: Match, arguments: JSONObject, situation: Situation, around: Surroundings) -> Iterator[Reason]:
    if rule.tool is not None and not is_tool(rule.tool, situation.tool_name, situation.tool_source):
        return
    pieces = [""]
    if rule.runs is not None:
        words = rule.runs.split()
        scripts = script_of(arguments)
        pieces = [command.source for script in scripts for command in script.commands if _runs(command, words)]
        pieces += [unclear.text for script in scripts for unclear in script.unclear]
        pieces += unread_commands(arguments)
    if rule.path is not None:
        root = situation.project or situation.cwd
        paths = [
            path
            for path in paths_of(arguments)
            if any(
                is_path(form, rule.path, cwd=situation.cwd, root=root, expand=around.expand)
                for form in (path, around.resolve(posixpath.join(situation.cwd, around.expand(path))))
            )
        ]
        pieces = [f"{piece} {path}".strip() for piece in pieces for path in paths]
    yield from (Reason(rule_name(rule), piece) for piece in pieces)


def _runs(command: Command, words: list[str]) -> bool:
    if command.name is None:
        return False
    if command.name.text is None:  # only the run will tell what it is
        return True
    if not _is_program(command.name.text, words[0]):
        return False
    return _has(command, words[1:]) or _has_flags(command, words[1:])


def _has(command: Command, words: list[str]) -> bool:
    """Say whether words stand among the arguments of a command, in their order."""
    left = list(words)
    for argument in command.arguments:
        if left and (argument.text is None or fnmatchcase(argument.text, left[0].replace("[", "[[]"))):
            del left[0]
    return not left


def _has_flags(command: Command, words: list[str]) -> bool:
    """Say the same where letters of words such as `-rf` may be given apart, and in any order."""
    wanted = [word for word in words if _SOME_FLAGS.fullmatch(word)]
    given = {letter for argument in command.arguments for letter in _letters(argument.text or "")}
    if not wanted or not {letter for word in wanted for letter in word[1:]} <= given:
        return False
    return _has(command, [word for word in words if word not in wanted])


def _letters(argument: str) -> str:
    return argument[1:] if _FLAGS.fullmatch(argument) else ""


def _is_program(name: str, wanted: str) -> bool:
    """Compare by the last part; where a folder is given with a wildcard at the end, by all that is given."""
    program, last = name.rsplit("/", 1)[-1], wanted.rsplit("/", 1)[-1]
    if "/" not in wanted or not set(last) & set("*?"):
        return fnmatchcase(program, last.replace("[", "[[]"))
    glob = posixpath.normpath(wanted).replace("[", "[[]")
    return any(fnmatchcase(posixpath.normpath(name), form) for form in (glob, f"*/{glob.lstrip('/')}"))
