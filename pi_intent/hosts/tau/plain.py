"""Shadow Tau's tools by registration alone, for a Tau that does not let us see the tools of a session.

What is lost: the session's own instances (image support, a host's custom tools), shadows over another extension's
override, and reading before the hooks of other extensions.
"""

from __future__ import annotations

from pathlib import Path

from tau_coding.shell_config import load_shell_settings
from tau_coding.tools import create_coding_tools

from pi_intent.contract.rows import ROWS
from pi_intent.hosts.tau.extension import TauExtension
from pi_intent.hosts.tau.shadowing import add_section, shadow


def shadow_plainly(extension: TauExtension) -> None:
    """Register a shadow of each of Tau's tools, made anew, and say what that costs."""
    extension.problems.append(
        "this Tau does not show extensions the tools of a session, so the four tools are shadowed plainly: "
        "a host's own versions of them and image support are lost, and other extensions see a call before it is read"
    )
    extension.is_plain = True
    prefix = load_shell_settings(extension.tau.context.paths).shell_command_prefix
    for tool in create_coding_tools(cwd=Path.cwd(), shell_command_prefix=prefix):
        if tool.name in ROWS:
            extension.own[tool.name] = tool
            extension.tau.register_tool(shadow(extension, tool, tool, source=None))
    add_section(extension)
