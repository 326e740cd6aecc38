"""What is held against real session files is collected where `PI_INTENT_SAMPLES` names the folder that has them."""

from __future__ import annotations

import os

collect_ignore = [] if os.environ.get("PI_INTENT_SAMPLES") else ["test_redaction_samples.py"]
