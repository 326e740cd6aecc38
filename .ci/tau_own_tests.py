"""Run Tau's own tests of its four tools, bare and on the shadows, and compare.

Usage: python .ci/tau_own_tests.py SDIST.tar.gz
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

# It asserts the guideline that asks for the field which the intent replaces.
REPLACED = "test_create_coding_tools_returns_initial_tool_set"
PLUGINS = Path(__file__).parents[1] / "tests"


def passed(tests: Path, home: Path, *options: str) -> int:
    """Run the tests; return how many passed. Exits where one failed or was skipped."""
    environment = {
        **os.environ,
        "HOME": str(home),
        "TAU_HOME": str(home / "tau"),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "PYTHONPATH": str(PLUGINS),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(tests)]
    done = subprocess.run(command, cwd=tests.parent, env=environment, capture_output=True, text=True, check=False)
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error|skipped)", done.stdout)}
    if done.returncode != 0 or set(counts) - {"passed"}:
        print(done.stdout[-4000:], done.stderr[-2000:])
        sys.exit(f"Tau's own tests did not all pass {'on the shadows' if options else 'bare'}")
    return counts["passed"]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        with tarfile.open(sys.argv[1]) as archive:
            archive.extractall(root / "sdist", filter="data")
        (tests,) = (root / "sdist").glob("*/tests")
        # Alone, so that neither Tau's settings for pytest nor its other tests take part.
        alone = root / "own" / "test_coding_tools.py"
        alone.parent.mkdir()
        alone.write_text((tests / alone.name).read_text())
        (alone.parent / "pytest.ini").write_text("[pytest]\n")
        (alone.parent / "conftest.py").write_text((tests / "conftest.py").read_text())
        bare = passed(alone, root / "bare")
        shadow = passed(alone, root / "shadow", "-p", "tau_shadow_plugin", "--deselect", f"{alone.name}::{REPLACED}")
    deselected = bare - shadow
    print(f"Tau's own tests: bare passed {bare}, shadow passed {shadow}, deselected {deselected}")
    if deselected != 1:
        sys.exit("all but the one test of the replaced guideline must pass on the shadows")


if __name__ == "__main__":
    main()
