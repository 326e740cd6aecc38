"""What a tool touches, and who rules on that: asked once per capability that both sides name."""

from __future__ import annotations

import pytest
from tau_desk import Desk, calls
from user_config import write_config

import pi_intent
from pi_intent import Permit, Situation
from pi_intent.errors import SettingsError
from pi_intent.settings import load_settings
from pi_intent.settings.wording import ASKED_MEANWHILE

TOUCHES = '[tools.bash]\ntouches = ["external_net", "user_data"]\n'
RUN = ("bash", {"command": "touch ran", "intent": "Run it"})


@pytest.fixture
def governed():
    """Have a checker rule, and take it back after the test."""
    stops = []

    def govern(checker, *capabilities):
        stops.append(pi_intent.govern(checker, *capabilities))

    yield govern
    for stop in stops:
        stop()


@pytest.mark.parametrize(
    ("permissions", "says", "by"),
    [
        (
            'external_net = "deny"',
            "bash touches external_net, which is not permitted here (the settings say so)",
            "permission",
        ),
        ('user_data = "deny"', "bash touches user_data, which is not permitted", "permission"),
        ('user_data = "ask"', "needs a person's approval (touches user_data)", "nobody"),
    ],
)
async def test_the_settings_rule(desk: Desk, permissions: str, says: str, by: str):
    desk.configure(f"[permissions]\n{permissions}\n{TOUCHES}")
    (end,) = await desk.run(calls(RUN))
    assert says in end.result.text
    assert not (desk.project / "ran").exists()
    assert desk.statuses == [("bash", "denied")]
    (decision,) = [record for record in desk.records if record["t"] == "decision"]
    assert (decision["approved"], decision["by"]) == (False, by)


@pytest.mark.parametrize(
    "text",
    [
        f'[permissions]\nexternal_net = "allow"\nuser_data = "allow"\n{TOUCHES}',
        f'[permissions]\nmoney = "deny"\n{TOUCHES}',  # nobody touches it
        TOUCHES,  # nobody governs it
        '[permissions]\nexternal_net = "deny"\n',  # nobody declares it: a command that fetches changes nothing
    ],
)
async def test_where_either_side_is_silent_nobody_is_asked(desk: Desk, text: str):
    desk.configure(text)
    await desk.run(calls(RUN))
    assert (desk.project / "ran").exists()
    assert [record["t"] for record in desk.records] == ["session", "call", "done"]


async def test_a_checker_is_asked_once_for_each_capability_it_governs(desk: Desk, governed):
    desk.configure(TOUCHES)
    asked: list[tuple[str, Situation]] = []

    async def allows(capability: str, situation: Situation) -> bool:
        asked.append((capability, situation))
        return True

    governed(allows, "external_net", "user_data", "money")
    await desk.run(calls(RUN))
    assert (desk.project / "ran").exists()
    assert [capability for capability, _ in asked] == ["external_net", "user_data"]
    assert {(situation.tool_name, situation.tool_source) for _, situation in asked} == {("bash", None)}
    # It learns of no word and of no argument.
    assert not {"intent", "rationale", "arguments"} & set(Situation._fields)


@pytest.mark.parametrize(
    ("verdict", "says"),
    [
        (False, "which is not permitted here (it is denied)"),
        (Permit("deny", "the network is down for a drill"), "(the network is down for a drill)"),
        (Permit("ask", "it costs money"), "needs a person's approval (touches external_net)"),
        ("ask", "needs a person's approval"),
        (None, "needs a person's approval"),
        ("yes", "needs a person's approval"),
        (Permit("perhaps"), "needs a person's approval"),  # type: ignore[arg-type]
        (ValueError("hidden"), "needs a person's approval"),
    ],
    ids=str,
)
async def test_what_a_checker_answers(desk: Desk, governed, verdict, says: str):
    desk.configure(TOUCHES)

    def rules(capability: str, situation: Situation):
        if isinstance(verdict, Exception):
            raise verdict
        return verdict

    governed(rules, "external_net")
    (end,) = await desk.run(calls(RUN))
    assert says in end.result.text
    assert "hidden" not in end.result.text
    assert not (desk.project / "ran").exists()


async def test_an_author_declares_what_a_tool_touches(desk: Desk, governed):
    stop = pi_intent.declare_touched("ba*", "external_net")
    governed(lambda capability, situation: False, "external_net")
    try:
        (end,) = await desk.run(calls(RUN))
        assert "which is not permitted" in end.result.text
    finally:
        stop()
    await desk.run(calls(RUN))
    assert (desk.project / "ran").exists()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: pi_intent.declare_touched("bash"),
        lambda: pi_intent.declare_touched("bash", "External Net"),
        lambda: pi_intent.govern("no function", "external_net"),
        lambda: pi_intent.govern(lambda capability, situation: True),
        lambda: pi_intent.declare_tier("bash", "reads"),
        lambda: pi_intent.ask_when("always"),
    ],
    ids=["no capability", "no name of one", "no checker", "governs nothing", "no tier", "no predicate"],
)
def test_what_can_never_take_effect_is_refused_when_it_is_declared(wrong):
    with pytest.raises(SettingsError):
        wrong()


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (
            'permissions = "deny"',
            'permissions is "deny", but must be a table of capabilities, such as { external_net = "ask" }.',
        ),
        (
            '[permissions]\nexternal_net = "denied"',
            'permissions.external_net is "denied", but must be "allow", "ask" or "deny"; did you mean "deny"?',
        ),
        (
            '[permissions]\nexternal_nte = "deny"',
            'permissions has "external_nte", '
            'which is so close to "external_net" that it is probably meant: write that.',
        ),
        (
            '[permissions]\n"A B" = "deny"',
            'permissions has "A B", which is no capability: small letters, digits and _, such as external_net.',
        ),
        (
            '[tools.bash]\ntouches = "external_net"',
            'tools.bash.touches is "external_net", but must be a list of capabilities, such as ["external_net"].',
        ),
    ],
)
def test_each_fault_of_a_file_is_one_sentence(tmp_path, text: str, warning: str):
    write_config(tmp_path / ".config", text)
    loaded = load_settings(project=None, environ={"HOME": str(tmp_path)})
    assert [found.partition(": ")[2] for found in loaded.warnings if ASKED_MEANWHILE not in found] == [warning]
    assert loaded.settings.ask == "write"


@pytest.mark.parametrize("table", ["permissions", "touches"])
def test_what_is_too_much_is_said(tmp_path, table: str):
    names = [f"c{number}" for number in range(65)]
    many = "[permissions]\n" + "".join(f'{name} = "deny"\n' for name in names)
    text = many if table == "permissions" else f"[tools.bash]\ntouches = {names}\n"
    write_config(tmp_path / ".config", text)
    loaded = load_settings(project=None, environ={"HOME": str(tmp_path)})
    assert any("has more than 64 entries; the others do not count." in warning for warning in loaded.warnings)


def test_a_project_can_forbid_more_and_never_less(tmp_path):
    write_config(tmp_path / ".config", '[permissions]\nexternal_net = "deny"\nuser_data = "ask"\n')
    project = tmp_path / "project"
    project.mkdir()
    (project / ".pi-intent.toml").write_text(
        '[permissions]\nexternal_net = "allow"\nuser_data = "deny"\nmoney = "ask"\n'
        '[tools.read]\ntouches = ["money"]\n'
    )
    loaded = load_settings(project=project, environ={"HOME": str(tmp_path)})
    assert dict(loaded.settings.permissions) == {"external_net": "deny", "user_data": "deny", "money": "ask"}
    assert loaded.settings.for_tool("read", watched=True).touches == ("money",)
    assert [warning.partition(": ")[2] for warning in loaded.warnings] == [
        'permissions.external_net asks for "allow" where "deny" holds; '
        "the project's file can only make this stricter."
    ]
