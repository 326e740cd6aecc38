"""What the documents say of being asked is so: the rules, the settings, the example, the names."""

from __future__ import annotations

import re
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from gate_desk import YES, GateDesk, Person, gate_desk, rules_of
from user_config import write_config

import pi_intent
from pi_intent.gates.check_in import MOST_QUESTIONS, MOST_SHOWN
from pi_intent.gates.declared import PROCESS
from pi_intent.gates.kinds import RULE_WORDS
from pi_intent.gates.tiers import MODES, TIERS, Tiered, is_asked, own_tier
from pi_intent.gating import gated_by
from pi_intent.render.check_in import MARKS
from pi_intent.settings import load_settings
from pi_intent.settings.layers import KEYS
from pi_intent.settings.tables import _TOOL_KEYS, _TOP_KEYS

DOCS = Path(__file__).parents[2] / "docs"
CONSENT = (DOCS / "consent.md").read_text(encoding="utf-8")
SETTINGS = (DOCS / "settings.md").read_text(encoding="utf-8")


def code(language: str, text: str = CONSENT) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def table_after(heading: str) -> list[list[str]]:
    """The rows of the first table below a heading."""
    lines = CONSENT.partition(heading)[2].splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("|---"))
    rows = []
    for line in lines[start + 1 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return rows


@pytest.mark.parametrize("number", range(len(code("toml"))))
def test_the_settings_in_the_page_count(tmp_path: Path, number: int):
    write_config(tmp_path / ".config", code("toml")[number])
    loaded = load_settings(project=None, environ={"HOME": str(tmp_path)})
    assert loaded.warnings == ()
    assert loaded.settings.can_ask
    if number == 0:
        mail = loaded.settings.for_tool("send_mail", tool_source="crm", watched=True)
        assert mail.tier == Tiered("exec", "It goes to a customer", override=True)
        assert loaded.settings.for_tool("find", tool_source="docs", watched=True).tier == Tiered("read")


def test_the_one_line_switches_it_on(tmp_path: Path):
    (line,) = [line for line in code("sh")[0].splitlines() if line]
    name, _, value = line.split()[0].partition("=")
    loaded = load_settings(project=None, environ={"HOME": str(tmp_path), name: value})
    assert (loaded.settings.check_in, loaded.warnings) == (("dangers",), ())
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert line.split("#")[0].strip() in readme


def test_every_rule_stands_in_the_table_once():
    assert sorted(row[0].strip("`") for row in table_after("### Rules")) == sorted(RULE_WORDS)


def test_the_table_of_tiers_says_who_is_asked():
    rows = table_after("### Tiers")
    assert [row[0].strip("`") for row in rows] == list(TIERS)
    for row in rows:
        modes = re.findall(r'"(\w+)"', row[3])
        assert modes == [mode for mode in MODES if is_asked(mode, Tiered(row[0].strip("`")))]  # type: ignore[arg-type]
        for name in re.findall(r"`(\w+)`", row[2]):
            assert own_tier(name, None) == row[0].strip("`")


def test_the_marks_are_those_that_are_drawn():
    named = {mark for row in table_after("![The question") for mark in re.findall(r"`\\?(.)`", row[0])}
    assert named == {mark[0] for mark in MARKS} - {" "}


def test_the_bounds_are_those_that_hold():
    assert MOST_SHOWN == 100_000
    assert f"{MOST_SHOWN:,} characters" in CONSENT
    assert {3: "three"}[MOST_QUESTIONS] + " times" in CONSENT


def test_every_setting_of_asking_and_its_variable_stand_in_the_page_of_settings():
    for key in ("ask", "check_in", "consent", "unattended"):
        assert key in KEYS
        assert f"| `{key}` |" in SETTINGS
        assert f"| `PI_INTENT_{key.upper()}` |" in SETTINGS
    for key in ("tier", "reason", "override"):
        assert f"| `{key}` (of a tool) |" in SETTINGS


def test_the_settings_of_the_page_of_settings_are_right(tmp_path: Path):
    user, project = code("toml", SETTINGS)[:2]
    write_config(tmp_path / ".config", user)
    (tmp_path / ".pi-intent.toml").write_text(project, encoding="utf-8")
    alone = load_settings(project=None, environ={"HOME": str(tmp_path)})
    both = load_settings(project=tmp_path, environ={"HOME": str(tmp_path)})
    assert [warning for warning in alone.warnings if "check_in" in warning or "ask" in warning] == []
    assert both.settings.for_tool("bash", watched=True).check_in == ("dangers", "publishes")
    deploy = gated_by(both.settings, both.settings.for_tool("deploy_site", watched=True))
    assert (deploy.tier, deploy.floor) == (Tiered("exec", "It is live then", True), Tiered("exec", None, True))
    assert tomllib.loads(user)["ask"] == "exec"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[GateDesk]:
    async with gate_desk(tmp_path, declared=PROCESS) as desk:
        yield desk
    for declared in (PROCESS._asked, PROCESS._tiers):
        declared.clear()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_the_example_does_what_it_says(desk: GateDesk):
    scope: dict[str, Any] = {}
    exec(code("python")[0], scope)
    invoice = {"path": "invoices/7.txt", "content": "x", "intent": "Note it"}
    person = Person(YES)
    await desk.call(dict(invoice), tool="write", person=person)
    assert rules_of(person.asked[0]) == ["invoices are sent as they are"]
    await desk.call({"path": "src/a.py", "content": "x"}, tool="write")
    person = Person(YES)
    await desk.call({"send": True}, tool="mail", source="crm", person=person)
    assert [(reason.rule, reason.text) for reason in person.asked[0].reasons] == [
        ("tier exec", "it goes to a customer")
    ]
    await desk.call({"send": False}, tool="mail", source="crm")
    scope["stop"]()
    await desk.call(dict(invoice), tool="write")
    assert len(desk.ran) == 5


def test_every_name_of_the_page_is_offered():
    for name in set(re.findall(r"pi_intent\.(\w+)", CONSENT)):
        assert name in pi_intent.__all__


def test_every_link_leads_somewhere():
    for text, here in ((CONSENT, DOCS), (SETTINGS, DOCS)):
        for target, anchor in re.findall(r"\]\(([^)#:]*\.md)?(#[^)]*)?\)", text):
            page = here / target if target else None
            assert page is None or page.is_file(), target
            if anchor:
                headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8") if page else text, flags=re.MULTILINE)
                slugs = [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]
                assert anchor[1:] in slugs, anchor


def test_the_page_of_settings_lists_every_setting_and_none_that_there_is_not():
    tables = SETTINGS.partition("| key | values |")[2].partition("The policies")[0]
    keys = set(re.findall(r"^\| `\[?(\w+)\]?`", tables, flags=re.MULTILINE))
    assert keys == {*_TOP_KEYS, *_TOOL_KEYS}


def test_what_the_page_says_a_project_may_not_set_does_not_count(tmp_path: Path):
    listed = SETTINGS.partition("except for")[2].partition("Those do")[0]
    top = ["profile", "live", "checkpoints", "tracing", "consent", "unattended"]
    top += ["credentials", "artifacts", "result_limit"]
    assert re.findall(r"`(\w+)`", listed) == [*top, "needs", "stores", "wants"]
    values = {"profile": '"full"', "consent": '"literal"', "unattended": '"defer"', "result_limit": "4096"}
    values["credentials"] = '{ a = "env:A" }'
    text = "\n".join(f"{key} = {values.get(key, 'true')}" for key in top)
    of_tool = 'needs = ["a"]\nstores = ["page"]\nwants = { content = "page" }\nresult_limit = 4096'
    (tmp_path / ".pi-intent.toml").write_text(f"{text}\n[tools.write]\n{of_tool}\n", encoding="utf-8")
    loaded = load_settings(project=tmp_path, environ={})
    settings = loaded.settings
    assert len(loaded.warnings) == len(top) + 4
    assert all("does not count" in warning for warning in loaded.warnings)
    nothing = load_settings(project=None, environ={}).settings
    assert all(getattr(settings, key) == getattr(nothing, key) for key in top)
    held = settings.for_tool("write", watched=True)
    assert (held.needs, held.stores, held.wants, held.result_limit) == ((), (), (), None)
