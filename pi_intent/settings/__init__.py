"""What people have set, and what that means for one tool."""

from __future__ import annotations

from pi_intent.settings.load import PROJECT_FILE, LoadedSettings, load_settings, project_root
from pi_intent.settings.rules import DEFAULT_BUDGET, FOREVER, Settings, days_of
from pi_intent.settings.tool import ToolRule, ToolSettings

__all__ = [
    "DEFAULT_BUDGET",
    "FOREVER",
    "PROJECT_FILE",
    "LoadedSettings",
    "Settings",
    "ToolRule",
    "ToolSettings",
    "days_of",
    "load_settings",
    "project_root",
]
