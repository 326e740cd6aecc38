"""The words of permissions; light, because settings are read at every start."""

from __future__ import annotations

import re
from typing import Literal

Ruling = Literal["allow", "ask", "deny"]
RULINGS: tuple[Ruling, ...] = ("allow", "ask", "deny")
"""From the laxest to the strictest."""

KNOWN = ("fs_read", "fs_write", "exec", "external_net", "user_data", "secrets", "money", "messages")
"""Names of capabilities that say the same to everybody; any other name of their shape may be used as well."""

CAPABILITY = re.compile(r"[a-z][a-z0-9_]{0,63}")
