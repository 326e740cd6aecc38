"""Real session files, where their folder is present: the counts agree, and nothing ends in a traceback."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from session_files import calls, counts, results

from pi_intent.errors import SessionError
from pi_intent.sessions.front import WAYS, read_session

SAMPLES = Path(os.environ["PI_INTENT_SAMPLES"])

EXPECTED: dict[str, dict[str, int]] = json.loads((SAMPLES / "expected.json").read_bytes())
DIALECT_OF = {"tau": "tau", "pi": "pi", "omp": "oh-my-pi", "claude-code": "claude-code", "codex": "codex"}
OF_KNOWN = [name for name in EXPECTED if DIALECT_OF.get(name.split("/")[0], name.split("/")[0]) in WAYS]
ALL = sorted(str(path.relative_to(SAMPLES)) for path in SAMPLES.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", OF_KNOWN)
def test_a_reader_finds_what_is_in_the_file(name: str) -> None:
    dialect, items = read_session(SAMPLES / name)
    expected = EXPECTED[name]
    found = counts(items)
    if "rejected" in expected:  # counted beside the results, not among them
        found["results"] -= found["rejected"]
    assert dialect == DIALECT_OF.get(name.split("/")[0], name.split("/")[0])
    assert {"per_edit_intents": found["per_edit_intents"], **{count: found[count] for count in expected}} == {
        "per_edit_intents": 0,
        **expected,
    }


@pytest.mark.parametrize("name", ALL)
def test_every_file_is_read_or_refused_with_a_sentence(name: str) -> None:
    refused = None
    try:
        _, found = read_session(SAMPLES / name)
        items = list(found)
    except SessionError as error:
        refused, items = str(error), []
    assert refused is None or (name not in OF_KNOWN and refused.startswith(str(SAMPLES / name)))
    keys = [call.key for call in calls(items)]
    assert len(set(keys)) == len(keys)
    assert {end.key for end in results(items)} - {None} <= set(keys)
