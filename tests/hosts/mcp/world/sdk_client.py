"""Talk to servers with the Python SDK of MCP; runs where that is installed, not in the tests.

Its argument is a list of {"command": […], "mode": "auto" | "legacy", "calls": [{"name", "arguments"}, …]}. Prints for
each {"protocol", "server", "tools": [[name, schema], …], "results": [{"isError", "text"}, …]}. With "answers":
[{"action", "content"}, …] the client shows forms to a person, who answers in turn, and "asked" is what they were
shown; with "at_once": true all calls are made at the same time.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult


async def visit(task: Any) -> Any:
    """List the tools of one server, then make the calls one after another."""
    command, *arguments = task["command"]
    parameters = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    answers, asked = iter(task.get("answers", ())), []

    async def ask(context: Any, params: Any) -> Any:
        asked.append(params.message)
        return ElicitResult(**next(answers))

    shows = {"elicitation_callback": ask} if "answers" in task else {}
    async with Client(parameters, mode=task["mode"], **shows) as client:
        listed = await client.list_tools()
        if task.get("at_once"):
            calls = (client.call_tool(call["name"], call["arguments"]) for call in task["calls"])
            results = await asyncio.gather(*calls)
        else:
            results = [await client.call_tool(call["name"], call["arguments"]) for call in task["calls"]]
        return {
            "protocol": client.protocol_version,
            "server": client.server_info.name if client.server_info else None,
            "tools": [[tool.name, tool.input_schema] for tool in listed.tools],
            "results": [
                {"isError": bool(result.is_error), "text": "\n".join(part.text for part in result.content)}
                for result in results
            ],
            **({"asked": asked} if shows else {}),
        }


async def main() -> None:
    """Visit the servers side by side."""
    print(json.dumps(await asyncio.gather(*(visit(task) for task in json.loads(sys.argv[1])))))


asyncio.run(main())
