"""Tests on real session files: they are not ours to ship, and are read where `PI_INTENT_SAMPLES` says they lie."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("PI_INTENT_SAMPLES") else ["test_*.py"]
