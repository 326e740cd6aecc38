"""A secret of a known shape is taken out whole wherever a line, a literal or a comment breaks it."""

from __future__ import annotations

import pytest
from canaries import ACCESS, ALPHANUMERIC, SHAPES, leaks, pem
from redacting import COMMENTS, KEY, REDACTOR, REMOVED, token

from pi_intent.redaction import Redactor

BREAKS = [*COMMENTS, "\\\n", "\n", "\r\n", "\\n", "\n    ", '" "', "' '", '" + "', '"\n    "', '" \\\n  "', "\\\n  "]
BREAKS += [" |\n| "]


@pytest.mark.parametrize("gap", BREAKS)
@pytest.mark.parametrize("name", ["openai", "anthropic", "ghp", "aws", "jwt", "github-fine-grained", "stripe-live"])
@pytest.mark.parametrize("at", [13, 18, -6])
def test_a_secret_that_goes_on_after_a_break_is_taken_out_whole(name: str, gap: str, at: int) -> None:
    secret = SHAPES[name]
    redacted = REDACTOR.text(f'"{secret[:at]}{gap}{secret[at:]}"\nmake all the things')
    assert redacted == f'"{token(redacted)}"\nmake all the things'
    assert token(redacted) == token(REDACTOR.text(secret))


@pytest.mark.parametrize("gap", [gap for gap in BREAKS if gap.startswith(("\\\n", '"', "'"))])
@pytest.mark.parametrize("at", [1, 3, 5, -1])
def test_where_lines_or_literals_are_joined_the_place_of_the_break_does_not_matter(gap: str, at: int) -> None:
    for secret in (SHAPES["openai"], SHAPES["ghp"], SHAPES["jwt"], SHAPES["aws"]):
        redacted = REDACTOR.text(f"x = '{secret[:at]}{gap}{secret[at:]}'\nmake")
        assert redacted == f"x = '{token(redacted)}'\nmake"
        assert token(redacted) == token(REDACTOR.text(secret))


@pytest.mark.parametrize("after", ["", "\n", " now", ' or not"\n'])
@pytest.mark.parametrize("name", SHAPES)
def test_wherever_a_line_ends_within_a_secret_no_part_of_it_stays(name: str, after: str) -> None:
    secret = SHAPES[name]
    for gap in ("\n", "\r\n", "\n    ", "\\n", "\\\\n", "\\r\\n", *COMMENTS, *REMOVED):
        # The rest of an open shape has to have a long run, or to stand alone.
        for at in range(1, len(secret) - 30 if after.strip() else len(secret)):
            assert leaks(secret, REDACTOR.text(f"say {secret[:at]}{gap}{secret[at:]}{after}")) == []


def test_a_line_break_that_only_looks_like_one_within_a_prefix_changes_nothing() -> None:
    for text in ("a disk\n-" + ALPHANUMERIC, "see gh\np_" + ALPHANUMERIC[:10], "n\npm_" + "config_of_the_registry"):
        assert REDACTOR.text(text) is text


def test_the_line_after_a_whole_secret_stays() -> None:
    for following in (
        "export FOO=1",
        "python3 main.py",
        "make",
        "def f():",
        "else:",
        "run_tests_v2_now.sh -x",
        "sha256sum a",
    ):
        for name in ("ghp", "anthropic", "aws", "openai"):
            for leader in ("", "# ", "// ", "* ", "+", "-", "- ", "| ", "12: ", "  12\t", "REM "):
                redacted = REDACTOR.text(f"echo {SHAPES[name]}\n{leader}{following}\n")
                assert redacted == f"echo {token(redacted)}\n{leader}{following}\n"


def test_a_key_that_is_wrapped_in_a_comment_is_taken_out_to_the_end_of_the_comment() -> None:
    for cut in (True, False):
        redacted = REDACTOR.text(f"# {pem(chr(10) + '# ', cut=cut)}\nmake all\n")
        assert redacted == f"# {token(redacted)}\nmake all\n"
    secret = SHAPES["ghp"]
    redacted = REDACTOR.text(f"/* {secret[:20]}\n * {secret[20:]} */\nmake")
    assert redacted == f"/* {token(redacted)} */\nmake"


def test_a_key_in_two_rows_of_a_table_is_taken_out_whole() -> None:
    secret = "sk" + "-live-" + "aB3dE6-gH9jK2-mN5pQ8"
    redacted = REDACTOR.text(f"| {secret[:17]} |\n| {secret[17:]} |\n| make |")
    assert redacted == f"| {token(redacted)} |\n| make |"


def test_the_user_of_a_url_in_a_variable_is_no_secret_unless_drawn() -> None:
    text = "see the-team-of-the-velvet-canyon"
    assert Redactor(KEY, {"GIT_REMOTE": "https://the-team-of-the-velvet-canyon@host/x"}).text(text) is text


def test_a_password_in_two_literals_is_taken_out_whole() -> None:
    redacted = REDACTOR.text(f'password = "{ACCESS[:5]}" "{ACCESS[5:]}"')
    assert redacted == f'password = "{token(redacted)}"'
    assert token(redacted) == token(REDACTOR.text(f'password = "{ACCESS}"'))
