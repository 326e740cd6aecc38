"""The tests on real session files are collected where `PI_INTENT_SAMPLES` names the folder that holds them."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("PI_INTENT_SAMPLES") else ["test_sessions_samples*.py"]
