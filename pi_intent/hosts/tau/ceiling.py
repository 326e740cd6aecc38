"""Withhold results of Tau's tools that are larger than what is set."""

from __future__ import annotations

from tau_agent.messages import TextContent
from tau_agent.tools import AgentToolResult

from pi_intent.contract.texts import ModelTexts
from pi_intent.errors import ResultWithheld
from pi_intent.gates.ceiling import too_large, withheld
from pi_intent.pipeline import OpenCall
from pi_intent.protocols import Settlement


def bounded(
    result: AgentToolResult, settlement: Settlement, texts: ModelTexts, tool_name: str, limit: int
) -> tuple[AgentToolResult, Settlement]:
    """Return a result and how its call ended: the very same, or, where it is too large, a sentence in its place."""
    size = sum(_size(block.text if isinstance(block, TextContent) else block.data) for block in result.content)
    text = too_large(texts, tool_name, size, limit)
    if text is None:
        return result, settlement
    return AgentToolResult(content=[TextContent(text=text)]), withheld(settlement, size, text)


def bounded_error(error: Exception, failed: Settlement, opened: OpenCall, texts: ModelTexts, limit: int) -> Exception:
    """Return the error to raise, and settle the call where its text is too large to be passed on."""
    size = _size(str(error))
    text = too_large(texts, opened.start.tool_name, size, limit)
    if text is None:
        return error
    opened.settle(withheld(failed, size, text))
    return ResultWithheld(text)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
