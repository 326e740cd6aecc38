"""The clients by name."""

from __future__ import annotations

from pi_intent.hosts.mcp.clients.claude import Claude
from pi_intent.hosts.mcp.clients.client import Client, ClientName
from pi_intent.hosts.mcp.clients.codex import Codex
from pi_intent.hosts.mcp.clients.cursor import Cursor
from pi_intent.hosts.mcp.clients.vscode import VSCode

CLIENTS: dict[ClientName, Client] = {client.name: client for client in (Claude(), Codex(), Cursor(), VSCode())}
