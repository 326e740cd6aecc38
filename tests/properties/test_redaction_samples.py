"""Ordinary code and commands of real sessions are left as they are; what is replaced in them was read by eye."""

from __future__ import annotations

import os
from pathlib import Path

from redaction_samples import call_arguments, files_in, strings_in, touched_by

SAMPLES = Path(os.environ["PI_INTENT_SAMPLES"])

BY_EYE = {
    # Go source and its listings, eight strings of one session: PostHogAPIKey = "phc_development_key"
    "claude-code/entireio-cli__30_e81e82f6ba_0.jsonl": 8,
    # A handbook's command: qpdf --password=mypassword
    "pi/pi-mono__history-session-v1.jsonl": 1,
}
"""Strings that were touched, all for a literal that stands under the name of a secret."""


def test_no_call_of_the_samples_is_touched() -> None:
    calls = call_arguments(SAMPLES)
    assert len(calls) > 900
    assert touched_by(calls) == []


def test_of_all_that_stands_in_the_samples_only_what_was_read_by_eye_is_touched() -> None:
    strings = [item for path in files_in(SAMPLES) for item in strings_in(SAMPLES, path)]
    assert len(strings) > 11_000
    touched = touched_by(strings)
    assert {kind for found in touched for kind, _ in found.replaced} == {"secret"}
    counts: dict[str, int] = {}
    for found in touched:
        name = found.where.rpartition(":")[0]
        counts[name] = counts.get(name, 0) + 1
    assert counts == BY_EYE
