"""An argument may refer to what a tool has stored; the person who decides on the call sees the text itself."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from tau_coding.extensions.api import NullUiBridge
from tau_desk import Desk, calls, says

from pi_intent import artifact_reference

PAGE = "<h1>Hello</h1>\n" * 3
SETTINGS = """
artifacts = true
result_limit = 100_000

[tools.read]
stores = ["page"]

[tools.write]
wants = { content = "page" }
"""
FETCH = """
from tau_agent.tools import AgentTool, AgentToolResult
from pi_intent import artifact_reference


def setup(tau):
    async def fetch(tool_call_id, arguments, signal=None, on_update=None):
        kind, text = arguments.get("kind", "page"), {text!r} * arguments.get("times", 1)
        said = {{"artifact": {{"kind": kind, "text": text}}}}
        return AgentToolResult(content=artifact_reference(kind, text), details={{"pi_intent": said}})

    tau.register_tool(AgentTool(name="read", label="read", description="d", parameters={{"type": "object"}},
                                execute_fn=fetch))
"""
REFERENCE = artifact_reference("page", PAGE)
FETCHED = ("read", {"intent": "Fetch the page"})


def write(content: str, path: str = "page.html") -> tuple[str, dict[str, str]]:
    return ("write", {"path": path, "content": content, "intent": "Keep the page"})


@pytest.fixture
def stored(desk: Desk):
    def configure(settings: str = SETTINGS) -> None:
        desk.configure(settings)
        desk.extension("fetching", FETCH.format(text=PAGE))

    return configure


def kept(desk: Desk) -> list[Path]:
    folder = desk.project / ".git" / "pi-intent" / "artifacts"
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_a_reference_becomes_the_text(desk: Desk, stored):
    stored()
    ends = await desk.run(calls(FETCHED), calls(write(REFERENCE)))
    assert (desk.project / "page.html").read_text() == PAGE
    assert ends[0].result.text == REFERENCE
    (file,) = kept(desk)
    assert (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode)) == (0o600, 0o700)
    call, done = (record for record in desk.records if record["id"] == desk.starts[1].call_id)
    assert desk.starts[1].args["content"] == REFERENCE
    assert done["ranArgs"]["content"]["bytes"] == len(PAGE)
    assert call["args"]["content"]["bytes"] == len(REFERENCE)
    await desk.sessions[0].aclose()
    assert kept(desk) == []


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (artifact_reference("page", "never stored"), "nothing is stored under it, or not any more"),
        (artifact_reference("image", PAGE), "it refers to a image, and a page is wanted"),
        ("artifact:page:123", "it is no whole reference"),
        (REFERENCE + "0", "it is no whole reference"),
    ],
)
async def test_any_other_reference_is_refused_with_those_that_there_are(desk: Desk, stored, content, problem):
    stored()
    _, end = await desk.run(calls(FETCHED), calls(write(content)))
    assert end.is_error
    assert f"names an artifact, but {problem}" in end.result.text
    assert f"Those that can be named here: {REFERENCE} ({len(PAGE)} bytes, from read)" in end.result.text
    assert not (desk.project / "page.html").exists()
    assert desk.statuses == [("read", "ok"), ("write", "denied")]


async def test_a_file_that_was_changed_is_not_what_was_stored(desk: Desk, stored):
    stored()
    session = await desk.session([calls(FETCHED), says("fetched"), calls(write(REFERENCE)), says("done")])
    [event async for event in session.prompt("go")]
    (file,) = kept(desk)
    file.write_text("rm -rf /")
    [event async for event in session.prompt("on")]
    assert not (desk.project / "page.html").exists()
    assert desk.statuses[-1] == ("write", "denied")


async def test_another_session_has_others(desk: Desk, stored):
    stored()
    await desk.run(calls(FETCHED))
    (end,) = await desk.run(calls(write(REFERENCE)))
    assert "nothing is stored" in end.result.text
    assert end.is_error


@pytest.mark.parametrize(
    "arguments", [{"kind": "image"}, {"times": 100_000}, {"kind": "../../up"}], ids=["kind", "size", "path"]
)
async def test_only_what_may_be_stored_is(desk: Desk, stored, arguments):
    stored()
    await desk.run(calls(("read", {**arguments, "intent": "Fetch it"})))
    assert kept(desk) == []


async def test_other_texts_stay_themselves(desk: Desk, stored):
    stored()
    await desk.run(calls(write("See artifact:page:1 of the list")))
    assert (desk.project / "page.html").read_text() == "See artifact:page:1 of the list"


async def test_without_a_store_the_settings_are_refused_when_read(desk: Desk, stored, capsys):
    from pi_intent.settings import load_settings

    stored(SETTINGS.replace("artifacts = true", ""))
    loaded = load_settings(project=None, environ=os.environ)
    assert [warning.partition(": ")[2] for warning in loaded.warnings] == [
        "tools.read.stores does not count: nothing is stored in any session; set artifacts = true.",
        "tools.write.wants does not count: nothing is stored in any session; set artifacts = true.",
    ]
    await desk.run(calls(FETCHED), calls(write(REFERENCE)))
    assert (desk.project / "page.html").read_text() == REFERENCE


class Frontend(NullUiBridge):
    """A frontend of Tau's that is not its own screen, with a person who approves every action once it is read."""

    has_ui = True

    def __init__(self) -> None:
        self.shown: list[str] = []

    async def select(self, title, options, *, timeout=None):
        self.shown.append(title)
        return next(option for option in options if option.startswith(("Read on", "Approve this call")))


async def test_whoever_is_asked_sees_the_text_and_approves_that(desk: Desk, stored):
    stored('check_in = ["always"]\n' + SETTINGS)
    turns = [calls(FETCHED), calls(write(REFERENCE)), calls(write(PAGE)), calls(write(PAGE + "more"))]
    session = await desk.session([*turns, says("done")])
    person = Frontend()
    session.extension_runtime.set_ui_bridge(person)
    [event async for event in session.prompt("go")]
    assert [status for _, status in desk.statuses] == ["ok"] * 4
    shown = "\n".join(person.shown)
    assert REFERENCE not in shown
    assert shown.count("+ <h1>Hello</h1>") == 3  # the second time, the same text was approved already
    assert shown.count("+ more") == 1
