"""What asks: rules on the literal call, tiers and predicates; whatever cannot be worked out asks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from pi_intent.around import Disk
from pi_intent.gates.kinds import DANGER_KINDS, RULE_WORDS, Match, Reason, Rule
from pi_intent.gates.misfits import misfit
from pi_intent.gates.naming import is_tool
from pi_intent.gates.rules import reasons_to_ask
from pi_intent.gates.situation import Situation
from pi_intent.gates.tiers import MODES, TIERS, Tiered, is_asked, raised, tier_of
from pi_intent.types import JSONObject

HERE = "/srv/app"
NOWHERE = Disk(Path("/nowhere"))
UNREADABLE = 'rm -rf "$(((('


class Raises:
    """A piece of the surroundings that fails."""

    def __getattr__(self, name: str) -> Any:
        raise OSError(name)


def reasons(
    rule: Rule,
    arguments: JSONObject,
    *,
    tool: str = "bash",
    source: str | None = None,
    around: Any = NOWHERE,
    stated: bool = True,
    notes: Any = tuple,
) -> list[tuple[str, str]]:
    situation = Situation(tool_name=tool, tool_source=source, cwd=HERE, project=HERE, host="tau", session_id="s")
    return [
        (reason.rule, reason.text)
        for reason in reasons_to_ask((rule,), arguments, situation, around, stated=stated, notes=notes)
    ]


def command(text: str) -> JSONObject:
    return {"command": text}


@pytest.mark.parametrize(
    ("rule", "arguments", "found"),
    [
        ("always", {}, [("always", "")]),
        ("deletes", command("cd a && rm -rf b"), [("deletes", "rm -rf b")]),
        ("deletes", command("echo 'rm -rf b'"), []),
        ("network", command("rm -rf b"), []),
        ("dangers", command("ls"), []),
        ("dangers", command("sudo id; rm b"), [("privileges", "sudo id"), ("deletes", "rm b")]),
        ("dangers", {"path": "/etc/passwd", "content": "x"}, [("outside_project", "/etc/passwd")]),
        ("dangers", {"path": "src/a.py", "content": "x"}, []),
        ("outside_project", {"file_path": "../b"}, [("outside_project", "../b")]),
        ("outside_project", command("touch /etc/x"), [("outside_project", "touch /etc/x")]),
        ("outside_project", command("cat /etc/x"), []),
        ("outside", {"path": "~/.ssh/id"}, [("outside", "~/.ssh/id")]),
        ("unclear", command("ls"), []),
        ("unclear", command("$CMD x"), [("unclear", "$CMD x")]),
        # What a shell will read goes by several names.
        ("deletes", {"cmd": "rm a"}, [("deletes", "rm a")]),
        ("deletes", {"script": "rm a"}, [("deletes", "rm a")]),
        ("deletes", {"text": "rm a"}, []),
        # What is no text nobody here reads, so it is asked about.
        ("deletes", {"command": ["rm", "a"]}, [("unclear", "['rm', 'a']")]),
        ("dangers", {"command": "git", "args": ["push", "--force"]}, [("unclear", "git")]),
        ("dangers", {"input": {"cmd": "rm -rf ~"}}, [("unclear", "rm -rf ~")]),
        ("dangers", {"Command_Line": "rm a"}, [("unclear", "rm a")]),
        (Match(runs="rm"), {"command": ["rm", "a"]}, [("runs = rm", "['rm', 'a']")]),
        ("outside", {"paths": ["src/a", "/etc/passwd"]}, [("outside", "/etc/passwd")]),
        ("outside", {"path": "file:///etc/passwd"}, [("outside", "/etc/passwd")]),
        ("outside", {"relative_path": "../../x"}, [("outside", "../../x")]),
    ],
)  # fmt: skip
def test_a_rule_finds_the_literal_piece_that_tells(rule: Any, arguments: JSONObject, found: list[tuple[str, str]]):
    tool = "write" if "content" in arguments else "bash"
    assert reasons(rule, arguments, tool=tool) == found


def test_only_reading_inside_or_outside_the_project_is_no_danger():
    path: JSONObject = {"path": "/etc/passwd"}
    assert reasons("dangers", path, tool="read") == []
    assert reasons("outside_project", path, tool="read") == []
    assert reasons("outside", path, tool="read") == [("outside", "/etc/passwd")]
    # Of a tool that only has the name of one, nothing is known.
    assert reasons("dangers", path, tool="read", source="server") == [("outside_project", "/etc/passwd")]


def test_a_link_out_of_the_project_is_followed(tmp_path: Path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project/link").symlink_to(tmp_path / "outside")
    situation = Situation(
        tool_name="write", tool_source=None, cwd=str(tmp_path / "project"), project=None, host="tau", session_id="s"
    )
    around = Disk(tmp_path / "project")
    found = reasons_to_ask(("outside",), {"path": "link/x"}, situation, around, stated=True)
    assert found == (Reason("outside", "link/x"),)


@pytest.mark.parametrize("rule", [*DANGER_KINDS, "dangers", "unclear", "outside", Match(runs="git push")])
def test_a_command_that_cannot_be_read_asks_where_a_rule_looks_at_commands(rule: Rule):
    assert reasons(rule, command(UNREADABLE))
    assert reasons(rule, command("ls; " + "$(x " * 2000))
    assert reasons(rule, command("$CMD x"))


@pytest.mark.parametrize("rule", ["unstated", "noted", Match(path="*.py"), Match(tool="read")])
def test_other_rules_have_nothing_to_do_with_commands(rule: Rule):
    assert reasons(rule, command(UNREADABLE)) == []


def test_a_call_without_an_intent_asks_where_that_is_wished():
    assert reasons("unstated", {}, stated=True) == []
    assert reasons("unstated", {}, stated=False) == [("unstated", "")]


def test_a_note_asks_where_that_is_wished_and_notes_are_not_taken_for_nothing():
    assert reasons("noted", {}, notes=lambda: ["too vague"]) == [("noted", "too vague")]
    assert reasons("always", {}, notes=lambda: 1 / 0) == [("always", "")]


@pytest.mark.parametrize(
    ("rule", "arguments", "more"),
    [
        ("outside", {"path": "a"}, {"around": Raises()}),
        ("noted", {}, {"notes": lambda: 1 / 0}),
        ("outside_project", {"path": "a"}, {"around": Raises()}),
        ("dangrs", {}, {}),
    ],
)
def test_a_rule_that_cannot_be_worked_out_asks(rule: Any, arguments: JSONObject, more: dict[str, Any]):
    assert reasons(rule, arguments, **more) != []


def test_every_rule_answers_to_any_arguments():
    odd: list[JSONObject] = [
        {},
        {"command": None},
        {"command": {"a": 1}},
        {"command": "\0"},
        {"path": "\0", "content": 3},
        {"path": 7},
        {"command": "x" * 200_000},
    ]
    for rule in RULE_WORDS:
        for arguments in odd:
            for reason in reasons(rule, arguments):  # type: ignore[arg-type]
                assert all(isinstance(part, str) for part in reason)


@pytest.mark.parametrize(
    ("match", "tool", "source", "arguments", "asked"),
    [
        (Match(tool="bash"), "bash", None, {}, True),
        (Match(tool="deploy*"), "deploy_site", "ops", {}, True),
        (Match(tool="ops/deploy-*"), "deploy_site", "ops", {}, True),
        (Match(tool="ops/*"), "deploy_site", None, {}, False),
        (Match(tool="[a-z]*"), "bash", None, {}, False),
        (Match(runs="git push"), "bash", None, {"command": "git push origin"}, True),
        (Match(runs="git push --force"), "bash", None, {"command": "git push origin --force"}, True),
        (Match(runs="git push"), "bash", None, {"command": "git status; sudo git push"}, True),
        (Match(runs="git push"), "bash", None, {"command": "bash -c 'git push'"}, True),
        (Match(runs="git push"), "bash", None, {"command": "echo git push"}, False),
        (Match(runs="push git"), "bash", None, {"command": "git push"}, False),
        (Match(runs="docker*"), "bash", None, {"command": "docker-compose up"}, True),
        (Match(path="migrations/*"), "write", None, {"path": "migrations/1.sql"}, True),
        (Match(path="migrations/*"), "write", None, {"path": f"{HERE}/src/../migrations/1.sql"}, True),
        (Match(path="migrations/*"), "write", None, {"path": "src/a.py"}, False),
        (Match(path="*.lock"), "edit", None, {"path": "a/b.lock"}, True),
        (Match(path="/etc/*"), "read", None, {"path": "/etc/passwd"}, True),
        (Match(tool="write", path="*.lock"), "edit", None, {"path": "a.lock"}, False),
        (Match(tool="bash", runs="rm"), "bash", None, {"command": "rm a"}, True),
        (Match(runs="/usr/bin/true"), "bash", None, {"command": "true"}, True),
        (Match(runs="/usr/bin/true"), "bash", None, {"command": "/usr/bin/true -x"}, True),
        (Match(runs="/usr/bin/true"), "bash", None, {"command": "false"}, False),
        (Match(runs="scripts/*"), "bash", None, {"command": "./scripts/deploy"}, True),
        (Match(runs="scripts/*"), "bash", None, {"command": "/srv/app/scripts/deploy"}, True),
        (Match(runs="scripts/*"), "bash", None, {"command": "ls"}, False),
        (Match(path="./src/*"), "write", None, {"path": "src/a"}, True),
        (Match(path="./src//*"), "write", None, {"path": "./src/b/a"}, True),
        (Match(path="./src/*"), "write", None, {"path": "lib/src/a"}, False),
        (Match(path="src/"), "write", None, {"path": "src/b/a"}, True),
        (Match(path="src/"), "write", None, {"path": "src"}, True),
        (Match(path="src"), "write", None, {"path": f"{HERE}/src/a"}, True),
        (Match(path="src"), "write", None, {"path": "srcs/a"}, False),
        (Match(path="."), "write", None, {"path": "a"}, True),
        (Match(path="."), "write", None, {"path": "/etc/a"}, False),
        (Match(path="/"), "write", None, {"path": "/etc/a"}, True),
        (Match(path="../other/*"), "write", None, {"path": "/srv/other/a"}, True),
        (Match(path="src/**/*.py"), "write", None, {"path": "src/a.py"}, True),
        (Match(path="~/x"), "write", None, {"path": "~/x"}, True),
        (Match(path="~/x"), "write", None, {"path": "/home/ada/x/y"}, True),
        (Match(path="/home/ada/*"), "write", None, {"path": "~/x"}, True),
        (Match(path="~"), "write", None, {"path": "~/x"}, True),
        (Match(path="~/x"), "write", None, {"path": "x"}, False),
    ],
)
def test_a_rule_of_a_persons_own(
    match: Match,
    tool: str,
    source: str | None,
    arguments: JSONObject,
    asked: bool,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("HOME", "/home/ada")
    assert bool(reasons(match, arguments, tool=tool, source=source)) is asked


@pytest.mark.parametrize(
    ("runs", "text", "asks"),
    [
        ("rm -rf", "rm -fr x", True),
        ("rm -rf", "rm -r -f x", True),
        ("rm -rf", "rm x -f -vr", True),
        ("rm -rf", "sudo rm -Rrf x", True),
        ("rm -rf x", "rm -fr x", True),
        ("git commit -am", "git commit -m x -a", True),
        ("rm -rf", "rm -r x", False),
        ("rm -rf", "rm -- rf", False),
        ("rm -rf x", "rm -fr y", False),
        ("find -delete", "find -led -te", False),
        ("rm --rf", "rm -rf", False),
    ],
)
def test_short_options_are_found_in_any_order_and_apart(runs: str, text: str, asks: bool):
    assert bool(reasons(Match(runs=runs), command(text))) is asks


def test_a_rule_of_a_persons_own_is_called_by_its_reason():
    assert reasons(Match(runs="rm", reason="ask me"), command("rm a")) == [("ask me", "rm a")]
    assert reasons(Match(tool="bash", runs="rm"), command("rm a")) == [("tool = bash, runs = rm", "rm a")]


def test_no_more_reasons_than_a_person_reads():
    many = command("; ".join(f"rm {number}" for number in range(100)))
    assert len(reasons("deletes", many)) == 12


# Tiers


def test_which_tiers_each_mode_asks_about():
    asked = {mode: [tier for tier in TIERS if is_asked(mode, Tiered(tier))] for mode in MODES}
    assert asked == {"none": [], "exec": ["exec"], "write": ["write", "exec"], "all": ["read", "write", "exec"]}
    assert all(is_asked(mode, Tiered("read", override=True)) for mode in MODES)


def test_what_nobody_declares_can_do_anything_but_for_a_hosts_own_four():
    own = {name: tier_of(None, name, None, {}).tier for name in ("read", "write", "edit", "bash", "deploy")}
    assert own == {"read": "read", "write": "write", "edit": "write", "bash": "exec", "deploy": "exec"}
    assert tier_of(None, "read", "server", {}).tier == "exec"


def _raising(arguments: JSONObject) -> Any:
    raise KeyError("x")


def _giving(tier: Any) -> Any:
    return lambda arguments: tier


@pytest.mark.parametrize("given", [None, "reads", Tiered("x"), 3, ["read"], KeyError], ids=str)  # type: ignore[arg-type]
def test_a_tier_that_cannot_be_worked_out_asks_in_every_mode(given: Any):
    tiered = tier_of(_raising if given is KeyError else _giving(given), "read", None, {})
    assert tiered.tier == "exec"
    assert all(is_asked(mode, tiered) for mode in MODES)


def test_a_tier_can_depend_on_the_arguments_and_say_why():
    def of(arguments: JSONObject) -> Tiered:
        return Tiered("exec", "it sends mail", override=True) if arguments.get("send") else Tiered("read")

    assert tier_of(of, "mail", "x", {"send": True}) == Tiered("exec", "it sends mail", True)
    assert tier_of(of, "mail", "x", {}) == Tiered("read")


def test_a_floor_raises_and_never_lowers():
    assert raised(Tiered("exec", "r", True), Tiered("read")) == Tiered("exec", "r", True)
    assert raised(Tiered("read", "r"), Tiered("write")) == Tiered("write", "r")
    assert raised(Tiered("read"), Tiered("read", override=True)) == Tiered("read", override=True)
    assert raised(Tiered("write"), None) == Tiered("write")


# What is looked up, and hints


@pytest.mark.parametrize("path", ["\0", "a" * 5000, "~nobody/x", "/dev/zero", "pipe", ".", "large", "binary"])
def test_what_is_looked_up_never_raises_or_waits(tmp_path: Path, path: str):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"x" * 300_000)
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    around = Disk(tmp_path)
    assert around.text(path) is None
    assert isinstance(around.exists(path), bool)
    assert isinstance(around.resolve(path), str)


@pytest.mark.parametrize(
    ("parameters", "arguments", "hint"),
    [
        ({"required": ["path"]}, {}, "path is missing"),
        ({"required": ["path"]}, {"path": 1}, None),
        ({"properties": {"a": {"type": "string"}}}, {"a": 1}, "a is not of the type it asks for"),
        ({"properties": {"a": {"type": ["string", "null"]}}}, {"a": None}, None),
        ({"properties": {"a": {"type": "integer"}}}, {"a": True}, "a is not of the type it asks for"),
        ({"properties": {"a": {"type": "integer"}}}, {"a": 2.0}, None),
        ({"additionalProperties": False}, {"b": 1}, "it has no parameter b"),
        # What a server may send instead of a schema.
        ({"properties": [], "required": {}}, {"a": 1}, None),
        ({"required": [1, None, ["x"]]}, {}, None),
        ({"properties": {"a": {"type": [{"x": 1}]}}}, {"a": 1}, None),
        ({"properties": {"a": {"type": {"x": 1}}}}, {"a": 1}, None),
        ({"properties": {"a": "string"}}, {"a": 1}, None),
    ],
)
def test_a_hint_that_the_tool_may_refuse_a_call(parameters: Any, arguments: JSONObject, hint: str | None):
    assert misfit(parameters, arguments) == hint


def test_what_is_filled_in_later_is_not_missing():
    assert misfit({"required": ["description"]}, {}, filled=("description",)) is None


def test_a_name_covers_a_tool_with_and_without_its_server():
    assert is_tool("a-b", "a_b", None)
    assert is_tool("srv/*", "x", "srv")
    assert is_tool("x", "x", "srv")
    assert not is_tool("srv/x", "x", None)
