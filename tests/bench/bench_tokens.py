"""Count what the contract costs in tokens, over Tau's own four tools; o200k, compact JSON, offline.

Run: python tests/bench/bench_tokens.py
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bpe_openai import get_encoding  # type: ignore[import-untyped]
from tau_agent.tools import AgentTool
from tau_coding.tools import create_coding_tools

from pi_intent.contract.inject import inject_intent
from pi_intent.contract.rows import ROWS, replaced_fields
from pi_intent.descriptions import model_texts
from pi_intent.types import Profile

TEXTS = model_texts()
_ENCODE = get_encoding("o200k_base").encode


def tokens(value: Any) -> int:
    return len(
        _ENCODE(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    )


def wire(tool: AgentTool, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": parameters}


def shadowed(tool: AgentTool, profile: Profile) -> dict[str, Any]:
    return inject_intent(tool.parameters, texts=TEXTS, profile=profile, replaces=replaced_fields(tool.name))


def measure() -> dict[str, float]:
    """Return tokens by what they pay for: the four schemas, the prompt section, one tool of the full profile."""
    tools = [tool for tool in create_coding_tools(cwd=".") if tool.name in ROWS]
    bare = sum(tokens(wire(tool, tool.parameters)) for tool in tools)
    lean = sum(tokens(wire(tool, shadowed(tool, "lean"))) for tool in tools)
    plain = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    full = tokens(inject_intent(plain, texts=TEXTS, profile="full")) - tokens(plain)
    over_tau = (sum(tokens(wire(tool, shadowed(tool, "full"))) for tool in tools) - bare) / len(tools)
    title, body = TEXTS.section
    section = tokens(f"## {title}\n\n{body}")
    return {"bare": bare, "lean": lean - bare, "section": section, "full": full, "full over Tau": over_tau}


if __name__ == "__main__":
    got = measure()
    print(f"Tau's own four tools                     {got['bare']:4.0f}")
    print(f"lean: over them, in the four schemas     {got['lean']:+4.0f}   floor ≤  90")
    print(f"lean: once in the system prompt          {got['section']:+4.0f}   floor ≤ 150")
    print(f"full: a tool of one argument             {got['full']:+4.0f}   floor ≤  75")
    print(f"full: a tool, mean of Tau's four         {got['full over Tau']:+4.0f}   floor ≤  75")
