"""Facts are read off a result: short, true, and nothing of the output's own but numbers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from pi_intent.facts import LIMIT, bash_facts, edit_facts, human_size, read_facts, runner_summary, write_facts

# Ends of what the runners wrote, recorded from runs of them unless it says otherwise.
PYTEST = """\
=========================== short test summary info ============================
FAILED test_pt.py::test_b - assert 1 == 2
ERROR test_pt.py::test_e - ValueError
==== 1 failed, 2 passed, 1 skipped, 1 xfailed, 1 warning, 1 error in 1.33s =====
"""
PYTEST_QUIET = """\
FAILED test_pt.py::test_b - assert 1 == 2
1 failed, 2 passed, 1 skipped in 1.52s
"""
PYTEST_COLOUR = (
    "\x1b[31mFAILED\x1b[0m test_pt.py::\x1b[1mtest_b\x1b[0m - assert 1 == 2\n"
    "\x1b[31m==== \x1b[31m\x1b[1m1 failed\x1b[0m, \x1b[32m2 passed\x1b[0m, \x1b[33m1 warning\x1b[0m"
    "\x1b[31m in 1.61s\x1b[0m\x1b[31m =====\x1b[0m\n"
)
PYTEST_DESELECTED = "============================ 5 deselected in 1.28s =============================\n"
PYTEST_NONE = "============================ no tests ran in 0.01s =============================\n"
PYTEST_LONG = "================= 812 passed, 3 warnings in 125.52s (0:02:05) ==================\n"
UNITTEST = """\
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 5 tests in 0.002s

FAILED (failures=1, errors=1, skipped=1, expected failures=1)
"""
UNITTEST_OK = """\
.
----------------------------------------------------------------------
Ran 1 test in 0.000s

OK
"""
UNITTEST_NONE = "Ran 0 tests in 0.000s\n\nNO TESTS RAN\n"
DJANGO = "Ran 12 tests in 0.310s\n\nOK (skipped=2)\nDestroying test database for alias 'default'...\n"  # by hand
CARGO = """\
running 3 tests
test tests::a ... ok
test tests::b ... ok
test tests::c ... ignored

test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/i.rs (target/debug/deps/i-ba71f52d0fcfa4c5)

running 1 test
test i ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests cr

running 1 test
test src/lib.rs - f (line 1) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

all doctests ran in 0.23s; merged doctests compilation took 0.22s
"""
CARGO_FAILED = """\
failures:
    i

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.12s

error: test failed, to rerun pass `--test i`
"""
NEXTEST = """\
------------
     Summary [   0.050s] 4 tests run: 3 passed, 1 failed, 0 skipped
        FAIL [   0.004s] cr tests::b
error: test run failed
"""  # by hand
GO = """\
ok  \texample.com/x/a\t0.004s
?   \texample.com/x/b\t[no test files]
ok  \texample.com/x/c\t(cached)
"""  # by hand
GO_FAILED = """\
ok  \texample.com/x/a\t0.004s\tcoverage: 80.0% of statements
--- FAIL: TestSum (0.00s)
    sum_test.go:9: 3 != 4
FAIL
FAIL\texample.com/x/b\t0.003s
FAIL\texample.com/x/c [build failed]
FAIL
"""  # by hand
JEST = """\
Test Suites: 1 failed, 1 total
Tests:       1 failed, 1 skipped, 1 todo, 1 passed, 4 total
Snapshots:   0 total
Time:        0.457 s
Ran all test suites.
"""
VITEST = """\
 Test Files  1 failed (1)
      Tests  1 failed | 1 passed | 1 skipped | 1 todo (4)
   Start at  22:39:52
   Duration  409ms (transform 51ms, setup 0ms, collect 20ms, tests 12ms, environment 0ms, prepare 106ms)

"""
NODE_TAP = """\
1..3
# tests 3
# suites 0
# pass 1
# fail 1
# cancelled 0
# skipped 1
# todo 0
# duration_ms 161.410452
"""
NODE_SPEC = (
    "ℹ tests 3\nℹ suites 0\nℹ pass 1\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\nℹ duration_ms 178.690135\n\n"
    "✖ failing tests:\n\ntest at node.test.js:2:22\n✖ b (1.862196ms)\n  AssertionError [ERR_ASSERTION]: 1 == 2\n"
)
MOCHA = """\
  x
    ✔ a
    1) b
    - c


  1 passing (8ms)
  1 pending
  1 failing

  1) x
       b:

      AssertionError [ERR_ASSERTION]: 1 == 2
"""
# From here on by hand, but for CTest.
RSPEC = """\
Finished in 0.01234 seconds (files took 0.08 seconds to load)
3 examples, 1 failure, 1 pending

Failed examples:

rspec ./spec/x_spec.rb:3 # x does
"""
EXUNIT = "Finished in 0.03 seconds (0.00s async, 0.03s sync)\n1 doctest, 3 tests, 0 failures\n"
MINITEST = "Finished in 0.001s, 2000.0 runs/s.\n\n3 runs, 4 assertions, 1 failures, 0 errors, 1 skips\n"
PHPUNIT = "Time: 00:00.012, Memory: 6.00 MB\n\nOK (3 tests, 5 assertions)\n"
PHPUNIT_FAILED = "FAILURES!\nTests: 3, Assertions: 5, Failures: 1.\n"
SUREFIRE = """\
[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s - in com.example.ATest
[INFO] Results:
[INFO] 
[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0
[INFO] Results:
[ERROR] Failures: 
[ERROR]   BTest.sum:9 expected:<3> but was:<4>
[INFO] 
[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 1
[INFO] 
[INFO] ------------------------------------------------------------------------
[INFO] BUILD FAILURE
"""
CTEST = """\
50% tests passed, 1 tests failed out of 2

Total Test time (real) =   0.01 sec

The following tests FAILED:
\t  2 - b (Failed)
Errors while running CTest
"""
GRADLE = "5 tests completed, 2 failed, 1 skipped\n\nFAILURE: Build failed with an exception.\n"


@pytest.mark.parametrize(
    ("output", "summary"),
    [
        (PYTEST, "1 failed, 1 error, 2 passed, 1 skipped, 1 xfailed"),
        (PYTEST_QUIET, "1 failed, 2 passed, 1 skipped"),
        (PYTEST_COLOUR, "1 failed, 2 passed"),
        (PYTEST_DESELECTED, "5 deselected"),
        (PYTEST_NONE, "no tests ran"),
        (PYTEST_LONG, "812 passed"),
        (UNITTEST, "Ran 5 tests: FAILED (failures=1, errors=1, skipped=1, expected failures=1)"),
        (UNITTEST_OK, "Ran 1 test: OK"),
        (UNITTEST_NONE, "Ran 0 tests: NO TESTS RAN"),
        (DJANGO, "Ran 12 tests: OK (skipped=2)"),
        (CARGO, "4 passed, 1 ignored"),
        (CARGO_FAILED, "1 failed"),
        (NEXTEST, "1 failed, 3 passed"),
        (GO, "2 packages ok"),
        (GO_FAILED, "2 of 3 packages failed"),
        (JEST, "1 failed, 1 skipped, 1 todo, 1 passed"),
        (VITEST, "1 failed, 1 passed, 1 skipped, 1 todo"),
        (NODE_TAP, "1 fail, 1 pass, 1 skipped"),
        (NODE_SPEC, "1 fail, 1 pass, 1 skipped"),
        (MOCHA, "1 failing, 1 passing, 1 pending"),
        (RSPEC, "3 examples, 1 failure, 1 pending"),
        (EXUNIT, "1 doctest, 3 tests, 0 failures"),
        (MINITEST, "1 failures, 3 runs, 1 skips"),
        (PHPUNIT, "3 tests, 5 assertions"),
        (PHPUNIT_FAILED, "Tests: 3, Assertions: 5, Failures: 1"),
        (SUREFIRE, "Tests run: 5, Failures: 1, Skipped: 1"),
        (CTEST, "1 tests failed out of 2"),
        (GRADLE, "2 failed, 1 skipped"),
    ],
)
@pytest.mark.parametrize(
    "around",
    ["{}", "{}\n\nCommand exited with code 1", "compiling\n{}"],
    ids=["alone", "with the host's words behind it", "behind other output"],
)
def test_the_summary_of_a_test_run_is_read(output: str, summary: str, around: str) -> None:
    assert runner_summary(around.format(output)) == summary
    assert runner_summary(around.format(output).replace("\n", "\r\n")) == summary


@pytest.mark.parametrize(
    "output",
    [
        "",
        "All 3 passed in 2.01s, so we are done.",
        "I ran it: 3 failed, 12 passed in 0.12s",
        "> 3 failed, 12 passed in 0.12s",
        '    assert out == "3 failed, 12 passed in 0.12s"',
        "3 passed",
        "Ran 3 tests in 0.001s",
        "Ran 3 tests in 0.001s\n\nOK, it said.",
        "OK",
        "FAIL",
        "ok  example.com/x 0.004s",
        "ok 1 - parses",
        "# tests 3",
        "# tests 3\n# pass 3\n\n# ok",
        "Tests:       1 failed, 3 total",
        "Tests: 3",
        "  2 passing cars (5ms)",
        "3 examples, 0 failures",
        "Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s",
        "test result: ok. 1 passed; 0 failed",
        "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; well done",
        "100% tests passed",
        "١ passed in 0.12s",
        "1234567890123 passed in 0.12s",
    ],
)
def test_what_only_looks_like_a_summary_is_none(output: str) -> None:
    assert runner_summary(output) is None


def test_only_the_end_of_an_output_is_read() -> None:
    assert runner_summary(PYTEST + "line\n" * 59) is None
    assert runner_summary(PYTEST + "line\n" * 50) is not None
    assert runner_summary(PYTEST + "x" * 5000) is None


def test_a_line_that_the_cut_left_half_is_not_read() -> None:
    behind = "x" * (4096 - len("3 passed in 0.12s\n"))
    assert runner_summary("They say: 3 passed in 0.12s\n" + behind) is None


def test_the_last_run_counts() -> None:
    assert runner_summary(CARGO_FAILED + PYTEST_LONG) == "812 passed"
    assert runner_summary(PYTEST_LONG + CARGO_FAILED) == "1 failed"


def test_the_parts_of_a_run_are_added_up_beyond_the_end() -> None:
    part = "test tests::a ... ok\n" * 100 + CARGO
    assert runner_summary(part * 5) == "20 passed, 5 ignored"


@pytest.mark.parametrize(
    ("exit_code", "output", "facts"),
    [
        (0, "hello", "exit 0"),
        (127, "sh: no such command", "exit 127"),
        (-9, "", "signal 9"),
        (None, "hello", None),
        (0, PYTEST_LONG, "812 passed"),
        (None, PYTEST_LONG, "812 passed"),
        (2, PYTEST_LONG, "812 passed · exit 2"),
        (1, UNITTEST, "Ran 5 tests: FAILED (failures=1, errors=1… · exit 1"),
    ],
)
def test_a_command_is_told_by_its_exit_code_and_its_test_run(exit_code, output, facts) -> None:
    assert bash_facts(exit_code, output) == facts
    assert len(facts or "") <= LIMIT


def test_the_runners_at_hand_still_write_what_is_read(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text(
        "import unittest\nclass T(unittest.TestCase):\n"
        "    def test_a(self): pass\n    def test_b(self): self.fail()\n    def test_c(self): pass\n"
    )

    def run(*command: str) -> str | None:
        done = subprocess.run(
            [sys.executable, "-m", *command, test.name],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        )
        return bash_facts(done.returncode, done.stdout)

    assert run("pytest", "-p", "no:cacheprovider") == "1 failed, 2 passed · exit 1"
    assert run("pytest", "-q", "-p", "no:cacheprovider") == "1 failed, 2 passed · exit 1"
    assert run("unittest") == "Ran 3 tests: FAILED (failures=1) · exit 1"


def test_source_code_has_no_summaries() -> None:
    library = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    assert len(library) > 100
    for path in library:
        lines = path.read_text(encoding="utf-8").split("\n")
        for end in range(0, len(lines), 40):
            assert runner_summary("\n".join(lines[max(end - 60, 0) : end])) is None, (path, end)


def test_a_summary_with_too_much_in_it_is_cut_between_its_parts() -> None:
    words = ["failed", "passed", "skipped", "xfailed", "xpassed", "error"]
    output = ", ".join(f"123456 {word}" for word in words) + " in 1.00s"
    assert bash_facts(1, output) == "123456 failed, 123456 error, 123456 passed… · exit 1"


@pytest.mark.parametrize(
    ("lines", "size", "facts"),
    [
        (120, 4123, "120 lines · 4.1 kB"),
        (1, 3, "1 line · 3 B"),
        (0, 0, "0 lines · 0 B"),
        (12, None, "12 lines"),
        (None, 2_500_000, "2.5 MB"),
        (None, None, None),
    ],
)
def test_a_read_is_told_by_lines_and_size(lines, size, facts) -> None:
    assert read_facts(lines, size) == facts


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (999, "999 B"),
        (1000, "1.0 kB"),
        (9949, "9.9 kB"),
        (9950, "10 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (12_345_678, "12 MB"),
        (10**12, "1000.0 GB"),
    ],
)
def test_sizes_have_two_or_three_digits(size: int, text: str) -> None:
    assert human_size(size) == text


@pytest.mark.parametrize(
    ("op", "content", "facts"),
    [
        ("create", "a\nb\n", "created · 2 lines"),
        ("modify", "a", "replaced · 1 line"),
        ("create", "", "created · 0 lines"),
        (None, "\n", "1 line"),
        ("modify", None, "replaced"),
        (None, None, None),
    ],
)
def test_a_write_is_told_by_what_it_did_and_its_lines(op, content, facts) -> None:
    assert write_facts(op, content) == facts


def test_an_edit_is_told_by_its_replacements() -> None:
    assert [edit_facts(count) for count in (0, 1, 2)] == ["0 replacements", "1 replacement", "2 replacements"]


def test_facts_are_made_of_known_words_and_numbers() -> None:
    outputs = [text for name, text in globals().items() if name.isupper() and isinstance(text, str)]
    for output in outputs:
        assert re.fullmatch(r"[A-Za-z0-9 ,:=()·…]{1,60}", bash_facts(1, output) or "")
