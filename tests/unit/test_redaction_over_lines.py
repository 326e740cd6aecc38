"""A secret is found below its name, and whole where it goes on in the next line; other lines stay."""

from __future__ import annotations

import pytest
from canaries import ALPHANUMERIC, HEX

from pi_intent.redaction import Redactor

REDACTOR = Redactor(b"ledger key")
SECRET = ALPHANUMERIC[:22]
HALVES = (SECRET[:11], SECRET[11:])
TOKEN = REDACTOR.text("PASSWORD=" + SECRET).removeprefix("PASSWORD=")

BELOW = [
    "deploy --password \\\n  {} --yes",
    "deploy --password \\\r\n  '{}'",
    "deploy --token \\\n    {}",
    'curl -H "Authorization: Bearer \\\n  {}" https://h',
    "curl \\\n  -u me:{} https://h",
    "curl -u \\\n  me:{}",
    "export DB_PASSWORD=\\\n{}",
    'PASSWORD = \\\n    "{}"',
    'API_KEY = (\n    "{}"\n)',
    "api_key=(\n  '{}')",
    "password: >-\n  {}",
    "password: |\n  {}\nport: 1",
    "db:\n  password: |2-\n      {}\n  port: 1",
    "password:\n  {}",
    "db:\n  password:\n    {}\n  port: 1",
    "password =\n    {}\n",
    "# password:\n#   {}",
    "#password:\n#  {}\nmake",
    '// api_key =\n//   "{}"',
    " * token:\n *   {}\n */",
    "> password:\n>   {}",
    "+password:\n+  {}",
    "-password: >-\n-  {}",
    '+API_KEY = (\n+    "{}"\n+)',
    "| password: \n|   {}",
    "REM password:\nREM   {}",
]


@pytest.mark.parametrize("form", BELOW)
def test_a_value_on_the_line_below_its_name_is_replaced(form: str) -> None:
    assert REDACTOR.text(form.format(SECRET)) == form.format(TOKEN)


def test_what_a_block_below_its_name_holds_may_be_a_plain_word() -> None:
    for form in ("password: >-\n  {}\nport: 1", "export PASSWORD=\\\n{}", 'password = (\n  "{}"\n)'):
        redacted = REDACTOR.text(form.format("sword" + "fish"))
        assert redacted == form.format(REDACTOR.text("PASSWORD=" + "sword" + "fish").removeprefix("PASSWORD="))


GAPS = ["\n", "\r\n", "\n    ", "\n# ", "\n// ", "\n> ", "\n+", "\n-    ", "\n| ", "\n  12: ", "\n    12\t", "\nREM "]

WRAPPED = [
    "Authorization: Bearer {}",
    'curl -H "Authorization: Bearer {}" https://h',
    "Bearer {}\nmake all",
    "password={}",
    "PASSWORD={}\nmake all",
    "password: {}\nport: 1",
    "https://h/?access_token={}",
    "deploy --password {}",
    "curl -u me:{}",
    "curl -u me:{} https://h",
    'curl -u "me:{}" https://h',
    "postgres://me:{}@h/db",
    "git clone https://:{}@h/x.git",
]


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("form", WRAPPED)
def test_a_value_that_is_broken_over_lines_is_replaced_whole(form: str, gap: str) -> None:
    assert REDACTOR.text(form.format(gap.join(HALVES))) == form.format(TOKEN)


@pytest.mark.parametrize("at", [0, 3, 8, 15])
def test_the_password_of_a_url_may_be_broken_anywhere(at: int) -> None:
    text = f"redis://:{SECRET[:at]}\n  {SECRET[at:]}@h"
    assert REDACTOR.text(text) == f"redis://:{TOKEN}@h"


def test_a_value_may_be_broken_more_than_once() -> None:
    text = "Bearer " + "\n  ".join((HEX[:24], HEX[24:44], HEX[3:30]))
    redacted = REDACTOR.text(text + "\nmake all")
    assert redacted.startswith("Bearer [redacted:secret:")
    assert redacted.endswith("]\nmake all")
    assert redacted.count("\n") == 1


@pytest.mark.parametrize(
    "following",
    [
        "make",
        "python3 main.py",
        "sha256sum",
        "sha256sum -c sums.txt",
        "a1b2c3d4e5 fix the test",
        "run_tests_v2_now.sh",
        "getUser2ById(7)",
        "FOO_1=Bar2Baz3Qux4",
        "src/Auth2Service.ts",
        "x86_64-linux-gnu-gcc -c a.c",
        "- item2",
        "EOF",
    ],
)
@pytest.mark.parametrize("form", ["PASSWORD={}", "password: {}", "Authorization: Bearer {}", "curl -u me:{}"])
def test_the_line_after_a_value_stays(form: str, following: str) -> None:
    for gap in ("\n", "\n  ", "\n# ", "\n+", "\n12: "):
        assert REDACTOR.text(form.format(SECRET) + gap + following) == form.format(TOKEN) + gap + following


@pytest.mark.parametrize(
    "text",
    [
        "if password:\n    hash2word9",
        "if not token:\n    return abc12345",
        "password:\n  type: string",
        "password:\n    optional",
        "password:\n    The password1 of the user",
        "token:\n  abc12345: x",
        "token:\nabc1234567890",
        "Password:\nlast1login2",
        "secrets:\n  - name: abc12345",
        "api_key = (\n    settings.key2\n)",
        "api_key = (\n    os.environ['KEY']\n)",
        "password =\n    hash2;",
        "const token =\n    await read2();",
        "deploy --password \\\n  --verbose",
        'deploy --token \\\n  "$TOKEN"',
        "deploy --token \\\n  -u me",
        "# password:\n#   see the handbook",
        "# password:\nabc12345x",
        "password:\n# abc12345x",
        "password: >-\n  {{ password }}",
        "password: |\n  $PASSWORD",
        "url: http://localhost:8080\nme2you3x@example.org",
        "see http://host:\nme@example.org",
        "split('token=') \\\n  abc12345x",
    ],
)
def test_what_stands_below_a_name_without_being_its_value_stays(text: str) -> None:
    assert REDACTOR.text(text) is text


@pytest.mark.parametrize(
    "unit",
    [
        "password:\n ",
        "password: >\n",
        "password=(\n",
        "#password:\n#",
        "://a:b\n",
        "://a:\n",
        "://",
        "Bearer aB3dE6gH9j\n",
        "aB3dE6gH9j\n",
        "password=aB3dE6gH9\n",
        "--password \\\n",
        "pat=",
        "a-pat ",
    ],
)
def test_a_line_repeated_without_end_is_read_through_and_the_result_is_stable(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    once = REDACTOR.text(text)
    assert REDACTOR.text(once) == once
