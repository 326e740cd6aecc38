"""The real `tau` command on a scripted provider: what goes over the wire, in every mode."""

from __future__ import annotations

import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tau_desk import CHECKOUT

from pi_intent.cli.demo.model import RecordedRequest, ScriptedCall, ScriptedModel, Turn
from pi_intent.cli.demo.tau import HermeticTau, TauRun, stop
from pi_intent.contract.rows import ROWS
from pi_intent.ledger.calls import read_ledger

WITH = ("-e", str(CHECKOUT))
SIGN = "[extension:info] intents on · /intent · adaptive · read, write, edit, bash"


def call(tool: str, **arguments: Any) -> ScriptedCall:
    return ScriptedCall(name=tool, arguments=arguments)


def run(
    folder: Path, script, *, options=WITH, environment=None, prompt="go", **model
) -> tuple[TauRun, list[RecordedRequest], HermeticTau]:
    with ScriptedModel(script, **model) as scripted:
        tau = HermeticTau.create(folder, scripted.base_url, files={"a.py": "x = 1\n"})
        done = tau.run(prompt, options=options, environment=environment or {}, timeout=60)
        return done, list(scripted.tool_requests), tau


def ledger(tau: HermeticTau):
    return read_ledger(tau.project / ".git" / "pi-intent")


def tools_of(request: RecordedRequest) -> dict[str, Any]:
    return {tool["function"]["name"]: tool["function"] for tool in request.body["tools"]}


def test_the_provider_gets_the_hosts_own_schema_with_our_fields_first(tmp_path: Path):
    script = [Turn(text="done")]
    _, (ours,), _ = run(tmp_path / "ours", script)
    _, (bare,), _ = run(tmp_path / "bare", script, options=())
    assert list(tools_of(ours)) == list(tools_of(bare))
    for name, tool in tools_of(ours).items():
        own = tools_of(bare)[name]
        if name not in ROWS:
            assert tool == own
            continue
        parameters, replaced = tool["parameters"], ROWS[name].replaces
        properties = {key: value for key, value in own["parameters"]["properties"].items() if key not in replaced}
        assert list(parameters["properties"]) == ["intent", "rationale", *properties]
        assert parameters["required"] == ["intent", *(n for n in own["parameters"]["required"] if n not in replaced)]
        assert {k: v for k, v in parameters["properties"].items() if k not in ("intent", "rationale")} == properties
        assert tool["description"] == own["description"]
        rest = ("properties", "required")
        assert {k: v for k, v in parameters.items() if k not in rest} == {
            k: v for k, v in own["parameters"].items() if k not in rest
        }
    # The order on the wire, which a comparison of dictionaries does not see.
    assert ours.raw.index(b'"intent"') < ours.raw.index(b'"rationale"') < ours.raw.index(b'"path"')


def test_switched_off_the_provider_gets_the_very_bytes_of_a_tau_without_us(tmp_path: Path):
    script = [Turn(calls=(call("bash", command="echo hi", description="Saying hi"),)), Turn(text="done")]
    off, requests, tau = run(tmp_path / "same", script, environment={"PI_INTENT": "off"})
    seen = [request.raw for request in requests]
    shutil.rmtree(tmp_path / "same")
    bare, requests, _ = run(tmp_path / "same", script, options=())
    assert seen == [request.raw for request in requests]
    assert (off.exit_code, off.stdout, off.stderr) == (bare.exit_code, bare.stdout, bare.stderr)
    assert not (tau.project / ".git" / "pi-intent").exists()


def test_the_tools_and_the_prompt_are_the_same_bytes_in_every_request(tmp_path: Path):
    good = [Turn(calls=(call("bash", intent=f"Step {n}", command="true"),)) for n in range(19)]
    script = [Turn(calls=(call("read", path="a.py"),)), *good, Turn(text="done")]
    _, requests, tau = run(tmp_path / "t", script)
    assert len(requests) == 21
    assert len({json.dumps(request.body["tools"]) for request in requests}) == 1
    assert len({json.dumps(request.body["messages"][0]) for request in requests}) == 1
    assert [call.done.status for call in ledger(tau).calls] == ["rejected", *["ok"] * 19]


def test_a_model_that_never_states_an_intent_does_not_loop_for_ever(tmp_path: Path):
    silent = Turn(
        calls=(ScriptedCall(name="bash", arguments={"command": "echo $((1+1)) >> ran"}, id=None),), repeat=5
    )
    done, requests, tau = run(tmp_path / "t", [silent, Turn(text="done")])
    assert done.exit_code == 0
    assert [(call.call.intent_source, call.done.status) for call in ledger(tau).calls] == [
        ("absent", "rejected"),
        ("absent", "rejected"),
        ("absent", "rejected"),
        ("derived", "ok"),
        ("derived", "ok"),
    ]
    assert (tau.project / "ran").read_text() == "2\n2\n"
    rejections = [m["content"] for m in requests[-1].body["messages"] if m["role"] == "tool"][:3]
    assert (
        rejections
        == [
            "Nothing was executed: `intent` is missing. "
            "Call bash again with `intent` first: text that states the goal of the call."
        ]
        * 3
    )


@pytest.mark.parametrize("options", [("-p",), ("--mode", "json")])
def test_one_line_on_stderr_says_that_intents_are_on(tmp_path: Path, options):
    script = [Turn(calls=(call("bash", intent="Say hi", command="echo hi"),)), Turn(text="done")]
    done, _, tau = run(tmp_path / "t", script, options=(*WITH, *options) if options != ("-p",) else WITH)
    assert done.exit_code == 0
    assert [line for line in done.stderr.splitlines() if "[extension:" in line] == [SIGN]
    assert [call.call.intent for call in ledger(tau).calls] == ["Say hi"]
    if options == ("--mode", "json"):
        events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        (start,) = [event for event in events if event["type"] == "tool_execution_start"]
        assert start["args"] == {"intent": "Say hi", "command": "echo hi"}


def test_rpc_shows_the_sign_and_runs_shadowed_tools(tmp_path: Path):
    turn = Turn(calls=(call("bash", command="touch no"), call("bash", intent="Say hi", command="touch yes")))
    with ScriptedModel([turn, Turn(text="done")]) as model:
        tau = HermeticTau.create(tmp_path / "t", model.base_url)
        with subprocess.Popen(
            [str(tau.command), *WITH, "--mode", "rpc"],
            cwd=tau.project,
            env=tau.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            try:
                process.stdin.write(json.dumps({"id": "1", "type": "prompt", "message": "go"}) + "\n")
                process.stdin.flush()
                for line in process.stdout:
                    if json.loads(line).get("type") == "agent_settled":
                        break
                process.stdin.close()
                stderr = process.stderr.read()
                process.wait(20)
            finally:
                stop(process)
    assert [line for line in stderr.splitlines() if "[extension:" in line] == [SIGN]
    assert [call.done.status for call in ledger(tau).calls] == ["rejected", "ok"]
    assert sorted(path.name for path in tau.project.iterdir() if path.name in ("yes", "no")) == ["yes"]


def test_arguments_that_were_cut_off_on_the_wire_are_refused_as_what_they_are(tmp_path: Path):
    script = [
        Turn(calls=(call("write", intent="Write it", path="b.py", content="y" * 400),), cut_at=120),
        Turn(text="done"),
    ]
    _, requests, tau = run(tmp_path / "t", script)
    assert [call.done.codes for call in ledger(tau).calls] == [("arguments_not_json",)]
    assert not (tau.project / "b.py").exists()
    (text,) = [m["content"] for m in requests[-1].body["messages"] if m["role"] == "tool"]
    assert "not valid JSON" in text


def test_two_sessions_in_one_repository_share_a_ledger_and_lose_no_line(tmp_path: Path):
    turns = [Turn(calls=(call("bash", intent=f"Step {n}", command="true"),)) for n in range(20)]
    with ScriptedModel(turns) as one, ScriptedModel(turns) as two:
        first = HermeticTau.create(tmp_path / "one", one.base_url)
        second = HermeticTau.create(tmp_path / "two", two.base_url)
        worktree = tmp_path / "worktree"
        git = ["git", "-C", str(first.project), "-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "start"], check=True, env=first.environment)
        subprocess.run([*git, "worktree", "add", "-q", str(worktree)], check=True, env=first.environment)

        def go(tau: HermeticTau, cwd: Path) -> None:
            process = subprocess.run(
                [str(tau.command), *WITH, "-p", "go"],
                cwd=cwd,
                env=tau.environment,
                timeout=60,
                capture_output=True,
                check=False,
            )
            assert process.returncode == 0, process.stderr

        with ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(go, first, first.project), pool.submit(go, second, worktree)]:
                done.result()
    reading = ledger(first)
    assert reading.problems == []
    assert len(reading.calls) == 40
    assert all(call.state == "settled" for call in reading.calls)
    assert len({call.path for call in reading.calls}) == 2
    assert {call.call.head for call in reading.calls} != {None}


def test_canary_secrets_reach_no_file_of_ours(tmp_path: Path):
    canary = "ghp_" + "A1b2" * 9
    variable = "correct-horse-battery"
    script = [
        Turn(
            calls=(
                call(
                    "bash", intent=f"Use {canary}", rationale=f"Found {variable}", command=f"echo {canary} {variable}"
                ),
                call("write", intent="Keep it", path=f"{canary}.txt", content=f"{canary} {variable}"),
                call("edit", intent=canary, path=f"{canary}.txt", edits=[{"oldText": canary, "newText": variable}]),
                call("read", intent="Look", path=f"missing-{canary}-{variable}"),
                call("bash", command=f"{canary} {variable}"),
                ScriptedCall(name="bash", arguments=f'{{"intent": "{canary} {variable}'),
            )
        ),
        Turn(text="done"),
    ]
    _, _, tau = run(tmp_path / "t", script, environment={"DEPLOY_TOKEN": variable})
    assert len(ledger(tau).calls) == 6
    kept = b"".join(path.read_bytes() for path in (tau.project / ".git" / "pi-intent").rglob("*") if path.is_file())
    assert canary.encode() not in kept
    assert variable.encode() not in kept
