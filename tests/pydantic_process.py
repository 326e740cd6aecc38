"""One run of an agent in a process of its own: it takes a history and answers, and tells what came of it.

Input, as JSON: `turns` of the model, `how` the intents are put there, and where something was asked before, `history`
(a text of JSON) and `approvals`. Output, as JSON: `output` (a text, or the metadata of what waits), `removed` and
`history`.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

from pydantic_ai import DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_desk import Script
from pydantic_gated import Store, gated_agent

from pi_intent import ask_when


def in_another_process(**given: Any) -> dict[str, Any]:
    """Have one run made in the working directory, and return what came of it."""
    done = subprocess.run(
        [sys.executable, __file__], input=json.dumps(given), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    told: dict[str, Any] = json.loads(done.stdout)
    return told


async def main(given: dict[str, Any]) -> dict[str, Any]:
    """Make the run."""
    ask_when(lambda arguments, situation: True, tools="remove", reason="it is gone for good")
    store = Store()
    turns = [turn if isinstance(turn, str) else [tuple(call) for call in turn] for turn in given["turns"]]
    agent = gated_agent(given["how"], Script(*turns), store.toolset)
    if "approvals" in given:
        result = await agent.run(
            message_history=ModelMessagesTypeAdapter.validate_json(given["history"]),
            deferred_tool_results=DeferredToolResults(approvals=given["approvals"]),
        )
    else:
        result = await agent.run("go")
    output = result.output
    return {
        "output": output.metadata if isinstance(output, DeferredToolRequests) else output,
        "removed": store.removed,
        "history": result.all_messages_json().decode(),
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
