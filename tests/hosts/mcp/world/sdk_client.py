"""List a server's tools and call them with the Python SDK of MCP; runs where that is installed, not in the tests.

Reads {"command": […], "mode": "auto" | "legacy", "calls": [{"name", "arguments"}, …]} from its argument, prints
{"protocol", "server", "tools": {name: schema}, "results": [{"isError", "text"}, …]}.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters


async def main() -> None:
    task = json.loads(sys.argv[1])
    command, *arguments = task["command"]
    parameters = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    async with Client(parameters, mode=task["mode"]) as client:
        listed = await client.list_tools()
        results = [await client.call_tool(call["name"], call["arguments"]) for call in task["calls"]]
        answer = {
            "protocol": client.protocol_version,
            "server": client.server_info.name if client.server_info else None,
            "tools": {tool.name: tool.input_schema for tool in listed.tools},
            "results": [
                {
                    "isError": bool(result.is_error),
                    "text": "\n".join(getattr(part, "text", "") for part in result.content),
                }
                for result in results
            ],
        }
    print(json.dumps(answer))


asyncio.run(main())
