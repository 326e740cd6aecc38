"""What `pi-intent schema` shows is what the model gets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from user_config import write_config

from pi_intent.cli.demo.model import ScriptedModel
from pi_intent.cli.demo.tau import HermeticTau
from pi_intent.descriptions import model_texts
from pi_intent.hosts.tau.install import write_shim

SECONDS = 60
FOUR = ["read", "write", "edit", "bash"]


def schema(tau: HermeticTau, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pi_intent.cli.main", "schema", *arguments],
        env={**tau.environment, **environ},
        cwd=tau.project,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


def document(tau: HermeticTau, *arguments: str, **environ: str) -> dict[str, Any]:
    done = schema(tau, "--json", *arguments, **environ)
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def tau(tmp_path: Path) -> HermeticTau:
    return HermeticTau.create(tmp_path, "http://127.0.0.1:9/v1")


def test_it_is_what_goes_over_the_wire_in_the_same_order(tmp_path: Path) -> None:
    with ScriptedModel([]) as model:
        tau = HermeticTau.create(tmp_path, model.base_url)
        write_shim(tau.tau_home / "extensions")
        shown = document(tau)
        tau.run("Go", timeout=SECONDS)
    body = model.tool_requests[0].body
    sent = [tool["function"] for tool in body["tools"]]
    keys = ("name", "description", "parameters")
    # As text: two dictionaries are equal in any order, and the order is what counts here.
    assert json.dumps(shown["tools"]) == json.dumps([{key: tool[key] for key in keys} for tool in sent])
    assert [tool["name"] for tool in shown["tools"]] == FOUR
    system = body["messages"][0]["content"]
    said = shown["systemPrompt"]
    title, text = model_texts().section
    assert said["sections"] == [{"title": title, "body": text}]
    lines = [*said["snippets"].values(), *(line for lines in said["guidelines"].values() for line in lines), text]
    assert [line for line in lines if line not in system] == []
    assert (list(said["snippets"]), list(said["guidelines"])) == (FOUR, ["read", "write", "edit"])


def test_it_is_shown_before_pi_intent_is_installed_and_nothing_is_left(tau: HermeticTau) -> None:
    before = sorted(tau.root.rglob("*"))
    shown = document(tau)
    assert [[*tool["parameters"]["properties"]][:2] for tool in shown["tools"]] == [["intent", "rationale"]] * 4
    assert sorted(tau.root.rglob("*")) == before


def test_one_tool_in_the_full_profile_explains_itself_and_needs_no_section(tau: HermeticTau) -> None:
    shown = document(tau, "--tool", "bash", "--profile", "full")
    [bash] = shown["tools"]
    assert bash["parameters"]["properties"]["intent"]["description"] == model_texts().field("full", "intent")
    assert shown["systemPrompt"]["sections"] == []


def test_a_profile_that_is_set_for_one_tool_stays_and_is_told(tau: HermeticTau) -> None:
    config = write_config(tau.home / ".config", '[tools]\nread = { profile = "lean" }\n')
    done = schema(tau, "--profile", "full", "--json")
    assert done.stderr == f"{config}: tools.read.profile goes before --profile, as it is for single tools.\n"
    described = [
        tool["parameters"]["properties"]["intent"]["description"] for tool in json.loads(done.stdout)["tools"]
    ]
    texts = model_texts()
    assert described == [texts.field("lean", "intent"), *[texts.field("full", "intent")] * 3]


def test_a_tool_that_is_not_there_is_wrong_usage_and_names_those_that_are(tau: HermeticTau) -> None:
    done = schema(tau, "--tool", "bosh")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Tau has no tool 'bosh'; it has read, write, edit, bash." in done.stderr


def test_people_get_the_same_text_without_colour_where_there_is_no_terminal(tau: HermeticTau) -> None:
    done = schema(tau, "--tool", "edit", COLUMNS="40")
    assert (done.returncode, done.stderr) == (0, "")
    [edit] = document(tau, "--tool", "edit")["tools"]
    assert json.dumps(edit["parameters"], indent=2) in done.stdout
    assert f"edit\n  {edit['description']}\n" in done.stdout
    assert f"  {model_texts().section[1].split(chr(10))[0]}\n" in done.stdout
    assert "\x1b" not in done.stdout


def test_words_that_a_prompt_of_the_user_s_own_leaves_out_are_not_shown(tau: HermeticTau) -> None:
    (tau.tau_home / "SYSTEM.md").write_text("You are terse.\n")
    said = document(tau)["systemPrompt"]
    title, text = model_texts().section
    assert said == {"snippets": {}, "guidelines": {}, "sections": [{"title": title, "body": text}]}


def test_off_shows_tau_s_own_tools_and_says_so(tau: HermeticTau) -> None:
    done = schema(tau, "--tool", "bash", "--json", PI_INTENT="off")
    assert done.returncode == 0
    assert done.stderr == "PI_INTENT=off is set: these are Tau's own tools, without pi-intent.\n"
    [bash] = json.loads(done.stdout)["tools"]
    assert [*bash["parameters"]["properties"]] == ["command", "description", "timeout"]


def test_an_installation_that_does_not_load_has_nothing_to_show(tau: HermeticTau) -> None:
    write_shim(tau.tau_home / "extensions", package=tau.root / "gone")
    done = schema(tau)
    assert (done.returncode, done.stdout) == (1, "")
    assert '"pi-intent doctor" says why' in done.stderr


def test_the_folder_at_hand_is_never_imported_from(tau: HermeticTau) -> None:
    for name in ("json.py", "tau_ai.py", "pi_intent.py"):
        (tau.project / name).write_text("raise SystemExit('imported from the project')\n")
    command = [str(Path(sys.executable).with_name("pi-intent")), "schema", "--tool", "read", "--json"]
    done = subprocess.run(
        command, env=dict(tau.environment), cwd=tau.project, capture_output=True, text=True, timeout=SECONDS
    )
    assert (done.returncode, done.stderr) == (0, "")
