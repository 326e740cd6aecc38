"""What people have set, and what that means for one tool."""

from __future__ import annotations

from pi_intent.settings.load import LoadedSettings, load_settings
from pi_intent.settings.rules import DEFAULT_BUDGET, Settings, ToolRule, ToolSettings

__all__ = ["DEFAULT_BUDGET", "LoadedSettings", "Settings", "ToolRule", "ToolSettings", "load_settings"]
