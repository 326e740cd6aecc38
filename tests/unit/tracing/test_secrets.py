"""No secret of a call is in any of its spans."""

from __future__ import annotations

from typing import Any

import pytest
from otlp_receiver import Receiver
from traced_sessions import Sessions, flushed, opened

from pi_intent.events import FileChange, OutcomePatch
from pi_intent.ledger.absent import NoLedger
from pi_intent.protocols import Settlement
from pi_intent.runtime import SessionRuntime
from pi_intent.tracing.environment import CAPTURE

ENV_SECRET = "kiwi-lantern" + "-9f3b2c77d1"
SHAPES = (
    "sk" + "-ant-" + "api03-" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zAbC3dEf6h",
    "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zAbC3d",
    "AK" + "IA" + "Q3EGB7XWUZ2LN4TY",
)


def everywhere(secret: str) -> dict[str, Any]:
    """A request that has a secret in every field, also split over lines."""
    half = len(secret) // 2
    split = f"{secret[:half]}\n{secret[half:]}"
    args = {"command": f"echo {secret} '{split}'", f"k {secret}": [secret, {"x": split}], "path": f"/tmp/{secret}"}
    return {
        "tool_name": f"bash {secret}",
        "tool_call_id": f"id {secret}",
        "arguments": {"intent": f"Use {secret} and {split}", "rationale": f"because {secret} {split}", **args},
        "group_id": f"group {secret}",
        "agent_id": f"agent {secret}",
        "tool_source": f"server {secret}",
        "parent_call_id": f"parent {secret}",
        "model": f"model {secret}",
    }


def ended_with(secret: str) -> Settlement:
    half = len(secret) // 2
    split = f"{secret[:half]}\n{secret[half:]}"
    return Settlement(
        status="error",
        is_error=True,
        result=f"result {secret}",
        error=f"no {secret} {split}",
        outcome=f"done {secret} {split}",
        outcome_patch=OutcomePatch(from_=secret, to=split),
        facts=f"exit {secret} {split}",
        files=(FileChange(path=f"/tmp/{secret}", op="create"),),
        ran_args={"command": f"echo {secret} {split}"},
    )


@pytest.mark.parametrize("capture", ["", "true"])
async def test_no_secret_is_in_any_span_live_or_exported(
    sessions: Sessions, received: Receiver, monkeypatch: pytest.MonkeyPatch, capture: str
) -> None:
    from click.testing import CliRunner

    from pi_intent.cli.main import commands

    monkeypatch.setenv(CAPTURE, capture)
    monkeypatch.setenv("SHOP_API_TOKEN", ENV_SECRET)
    for number, secret in enumerate((ENV_SECRET, *SHAPES)):
        runtime = await sessions.start(f"session {number} {secret}")
        opened(runtime, **everywhere(secret)).settle(ended_with(secret))
        runtime.close()
    live = flushed(received).all_bytes
    assert len(received.spans) == 8
    received.bodies.clear()
    monkeypatch.chdir(sessions.folder)
    exports = [CliRunner().invoke(commands, ["export", name]) for name in ("otel", "jsonl", "csv")]
    assert [result.exit_code for result in exports] == [0, 0, 0]
    assert len(received.spans) == 8
    told = b"\n".join([live, received.all_bytes, *(result.output.encode() for result in exports)])
    assert (b"[redacted:" in live, b"[redacted:" in received.all_bytes) == (True, True)
    for secret in (ENV_SECRET, *SHAPES):
        half = len(secret) // 2
        assert secret.encode() not in told
        assert secret[:half].encode() not in told
        assert secret[half:].encode() not in told


@pytest.mark.parametrize("ledger", ["kept", "none", "broken"])
async def test_a_given_credential_is_in_no_span_with_or_without_a_ledger(
    sessions: Sessions, received: Receiver, monkeypatch: pytest.MonkeyPatch, ledger: str
) -> None:
    monkeypatch.setenv(CAPTURE, "true")
    if ledger == "broken":

        def fail(runtime: SessionRuntime) -> None:
            raise OSError("no room")

        monkeypatch.setattr(SessionRuntime, "_opened_journal", fail)
    if ledger == "none":
        monkeypatch.setattr(SessionRuntime, "start", SessionRuntime.start_tracing)
    runtime = await sessions.start()
    runtime.pipeline.journal = runtime.pipeline.journal or NoLedger("none is wanted", False)
    first, second = "kiwi and lantern walk", "cAn<ry&-77x9Qz-s3cr3t"
    runtime.learn([first])
    opened(runtime, arguments={"intent": f"Use {first}", "command": first}).settle(ended_with(first))
    runtime.learn([second])  # when spans are made already
    escaped = second.replace("<", "\\u003c")
    opened(runtime, arguments={"intent": f"Use {second}", "command": escaped}).settle(ended_with(second))
    runtime.close()
    told = flushed(received).all_bytes
    assert b"[redacted:env:" in told
    for secret in (first, second, escaped):
        assert secret.encode() not in told
