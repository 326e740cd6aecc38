"""Secrets leave a text, and nothing else does. Every secret is put together at run time, so this file holds none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from canaries import ACCESS, ALPHANUMERIC, SHAPES, pem
from redacting import ASSIGNMENTS, ENVIRONMENT, KEY, REDACTOR, token

from pi_intent.redaction import MAX_DEPTH, Redactor

ACCESS_FORM = "PASSWORD=" + ACCESS


@pytest.mark.parametrize("secret", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(
    "around",
    ["{}", "echo {} > x", "'{}'", '{{"a": "{}"}}', "a\\n{}\\nb", "x=%20{}", "({}),", "https://h/?q={}&b=1"],
)
def test_a_named_shape_becomes_a_token_and_what_is_around_it_stays(secret: str, around: str) -> None:
    redacted = REDACTOR.text(around.format(secret))
    assert redacted == around.format(token(redacted))


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\\n", "\\\\n", "\n    ", '\\n"\n  "', " "])
def test_a_private_key_becomes_one_token(ending: str) -> None:
    redacted = REDACTOR.text(f"cat > key.pem <<E\n{pem(ending)}\nE")
    assert redacted == f"cat > key.pem <<E\n{token(redacted)}\nE"


@pytest.mark.parametrize("ending", ["\n", "\\n", "\n  "])
def test_a_private_key_that_was_cut_off_is_taken_out_as_far_as_it_goes(ending: str) -> None:
    redacted = REDACTOR.text(f"k = '{pem(ending, cut=True)}'\nprint(k and 1)")
    assert redacted == f"k = '{token(redacted)}'\nprint(k and 1)"


NOT_SECRET = [
    "",
    "git show 2c965cfd995ebed6e4aa00112233445566778899",
    "id 123e4567-e89b-12d3-a456-426614174000",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "password = get_password()",
    "token = tokens[i]",
    "token = next(tokens)",
    "token = self.lexer.token",
    "secret = settings.SECRET_KEY",
    "password = None",
    "api_key=None",
    "api_key = os.environ['API_KEY']",
    'api_key = os.environ.get("OPENAI_API_KEY", "")',
    "const token = process.env.GITHUB_TOKEN;",
    "f(token=token, password=password)",
    "f(password=self.password)",
    "f(api_key=api_key2)",
    '--token "$GITHUB_TOKEN"',
    "--token $GITHUB_TOKEN --password ${DB_PASSWORD:-}",
    "--password --verbose",
    "--password-stdin < file",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    'token: "{{ .Env.GITHUB_TOKEN }}"',
    "TOKEN=$(gh auth token)",
    "TOKEN=`gh auth token`",
    "password: str",
    "password: str | None = None",
    "password: Optional[SecretStr]",
    "token: string;",
    "token: TokenType",
    "password: required",
    "password: hashedPassword,",
    'if token == "}":',
    "if token != 'end':",
    "token === 'identifier'",
    '{"token": "while"}',
    '{"token_type": "bearer"}',
    '{"key": "Enter"}',
    "key=value",
    "key = sha256_of_file",
    "sort(key=lambda x: x[1])",
    "max_tokens=4096",
    "tokens: 128000",
    "token_count = 12345678",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer ${TOKEN}",
    "Authorization: Bearer <apiKey>",
    '"Authorization": f"Bearer {token}"',
    '"Authorization": "Bearer " + token',
    "Authorization: Bearer YOUR_API_KEY",
    "Bearer authentication is required",
    "uses basic authentication",
    "Basic Operations",
    "api_key: <your-token>",
    "api_key=your-api-key-here",
    "password=changeme",
    "password: 'xxxxxxxxxxxx'",
    'api_key="..."',
    "token=********",
    "ANTHROPIC_API_KEY=sk-ant-...",
    "sk-ant-xxxxxxxxxxxxxxxxxxxxxxxx",
    "pip install sk-learn",
    "sk-toggleable__content fitted sk-estimator-doc-link",
    "task-with-a-very-long-descriptive-name-12",
    "disk-usage-of-the-whole-machine-by-folder",
    "risk-assessment",
    "ghp_short",
    "hf_hub_download(repo_id)",
    "npm_config_registry=https://registry.example.org",
    "pypi-publish-some-quite-long-workflow-name-here",
    "xapp-something-else",
    "https://user@host/path",
    "https://$USER:$PASSWORD@host/path",
    "http://host:8080/path",
    "postgres://user:password@localhost/db",
    "ssh://git@host:22/x",
    "password_file: /run/secrets/db_password",
    "--password-file /run/secrets/db_password",
    "token_url = 'https://auth.example.com/token'",
    '"apiKey": "OLLAMA_API_KEY"',
    "getpass(prompt='Password: ', stream=None)",
    'print(f"password={password!r}")',
    'text.split("token=")[1]',
    'grep "password: " src/auth1.py | head',
    "see --username and --password options",
    "# token = 1*tchar",
    "docker build --secret id=npmrc,src=/root/.npmrc .",
    'raise ValueError("Invalid password: must be longer")',
    '"password": "The password of the user"',
    "secret/data/app",
    "src/auth/token_service.py",
    "the_quite_long_identifier_of_something_with_tokens_in_it",
    '"-----BEGIN PRIVATE KEY-----" in text',
    "-----BEGIN PUBLIC KEY-----\n" + ALPHANUMERIC + "\n-----END PUBLIC KEY-----",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "é \ud800 日本語 token \udfff",
]


@pytest.mark.parametrize("text", NOT_SECRET)
def test_what_is_no_secret_stays_the_very_same_object(text: str) -> None:
    assert REDACTOR.text(text) is text


def test_a_fixed_secret_has_a_fixed_token() -> None:
    assert Redactor(b"k").text("PASSWORD=" + "hunter" + "22") == "PASSWORD=[redacted:secret:56720ef2]"


def test_the_same_secret_has_the_same_token_wherever_it_stands_and_another_key_another_token() -> None:
    secret = SHAPES["ghp"]
    forms = [secret, f"TOKEN={secret}", f"https://x:{secret}@h", f"Bearer {secret}", f'"token": "{secret}"']
    assert {token(REDACTOR.text(form)) for form in forms} == {token(REDACTOR.text(secret))}
    assert token(Redactor(KEY, {"GH_TOKEN": secret}).text(f"x {secret}")) == token(REDACTOR.text(secret))
    assert token(Redactor(b"other").text(secret)) != token(REDACTOR.text(secret))
    generic = [f"PASSWORD={ACCESS}", f"postgres://me:{ACCESS}@h", f"curl -u me:{ACCESS}", f'{{"token": "{ACCESS}"}}']
    assert len({token(REDACTOR.text(form)) for form in generic}) == 1
    assert token(REDACTOR.text(SHAPES["gho"])) != token(REDACTOR.text(secret))


def test_redacting_twice_changes_nothing_more() -> None:
    everything = "\n".join([*SHAPES.values(), *(form.format(ACCESS) for form in ASSIGNMENTS), pem()])
    once = REDACTOR.text(everything)
    assert REDACTOR.text(once) is once


def test_canaries_leave_nested_values_and_the_input_is_not_touched() -> None:
    canary = SHAPES["ghp"]
    value: Any = {
        "command": f"echo {canary}",
        "deep": [{"x": [canary, 1, None, True, 2.5]}],
        canary: "under a secret key",
        "password": "hunter" + "2",
        "headers": {"Authorization": "Bearer " + ACCESS, "X-Api-Key": ACCESS, "Accept": "text/html"},
        "passwords": {"a": "b"},
        "env": [{"name": "API_KEY", "value": ACCESS}, {"name": "LANG", "value": "de_DE.UTF-8"}],
        "args": ["--password", ACCESS, "--verbose"],
        "secrets": [ACCESS, 7],
        "token": "$GITHUB_TOKEN",
        "secret": f"{token(REDACTOR.text(ACCESS_FORM))} {ACCESS}",
    }
    before = json.dumps(value)
    redacted: Any = REDACTOR.value(value)
    assert json.dumps(value) == before
    github, access, short = (
        token(REDACTOR.text(f"PASSWORD={secret}")) for secret in (canary, ACCESS, "hunter" + "2")
    )
    assert redacted == {
        "command": f"echo {github}",
        "deep": [{"x": [github, 1, None, True, 2.5]}],
        github: "under a secret key",
        "password": short,
        "headers": {"Authorization": f"Bearer {access}", "X-Api-Key": access, "Accept": "text/html"},
        "passwords": {"a": "b"},
        "env": [{"name": "API_KEY", "value": access}, {"name": "LANG", "value": "de_DE.UTF-8"}],
        "args": ["--password", access, "--verbose"],
        "secrets": [access, 7],
        "token": "$GITHUB_TOKEN",
        "secret": redacted["secret"],
    }
    assert redacted["secret"] == token(redacted["secret"])
    assert list(redacted) == [github if key == canary else key for key in value]
    assert REDACTOR.value(redacted) is redacted


def test_keys_that_become_equal_do_not_swallow_each_other() -> None:
    secret = SHAPES["ghp"]
    redacted: Any = REDACTOR.value({secret: 1, secret[:20] + "\n" + secret[20:]: 2})
    assert list(redacted.values()) == [1, 2]


def test_a_value_without_secrets_is_the_very_same_object() -> None:
    value: Any = {"path": "src/a.py", "edits": [{"oldText": "token = a", "newText": "token = b"}], "n": [1, None]}
    assert REDACTOR.value(value) is value


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 50_000])
def test_what_is_nested_too_deeply_becomes_a_token(depth: int) -> None:
    value: Any = SHAPES["ghp"]
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    redacted: Any = REDACTOR.value(value)
    for _ in range(MAX_DEPTH):
        redacted = redacted[0] if isinstance(redacted, list) else redacted["a"]
    assert redacted.startswith("[redacted:depth:")
    assert REDACTOR.value(redacted) is redacted


def test_random_looking_words_are_only_taken_out_on_request() -> None:
    text = f"x {ALPHANUMERIC} 2c965cfd995ebed6e4aa00112233445566778899 some_long_identifier_of_a_thing"
    assert REDACTOR.text(text) is text
    redacted = Redactor(KEY, entropy=True).text(text)
    assert redacted == text.replace(ALPHANUMERIC, token(redacted))


# What each rule looks for: over and over it would show a pattern that starts anew at every place.
UNITS = [
    *(
        "sk-",
        "ghp_",
        "github_pat_",
        "xoxb-",
        "AKIA",
        "AIza",
        "hf_",
        "npm_",
        "pypi-",
        "glpat-",
        "eyJ",
        "eyJ.",
        "eyJa-",
    ),
    *(
        "sk-a\n",
        "sk-a ",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\na",
        "Bearer ",
        "Basic ",
        "://a:",
    ),
    *("://a:b@", "curl -u a:", "curl\n", "token=", "token='", 'token="', "token=\\'", "token=a\n", "token", "key "),
    *(
        "password: ",
        "password : a",
        "password=$a",
        "password=a(",
        'password="\\',
        "pass: a.",
        "secret:\n",
        "x-",
        "%41",
    ),
    *(
        "--password ",
        '"',
        '" "',
        "'+'",
        "\\\n",
        "\n# ",
        "\n>",
        "\n//a",
        "sk-a\n# ",
        "sk-a\n+",
        "\n-",
        "\n| ",
        "\n12: ",
        " |\n",
        "\\n",
        "\\",
        "$",
        "${",
        "{{",
        "<",
        "\n",
        " ",
        "\u200b",
        "é",
        "a" * 40 + "\n",
    ),
]


@pytest.mark.parametrize("unit", UNITS)
def test_a_prefix_repeated_without_end_is_read_through_and_the_result_is_stable(unit: str) -> None:
    redactor = Redactor(KEY, ENVIRONMENT, entropy=True)
    text = unit * (100_000 // len(unit))
    once = redactor.text(text)
    assert redactor.text(once) == once


@pytest.mark.parametrize("secret", ASSIGNMENTS)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_looking_at_several_texts_at_once_misses_none(secret: str, at: int) -> None:
    redactor = Redactor(KEY)
    texts = ["List the files", "call_1"]
    texts.insert(at, secret.format(ALPHANUMERIC))
    redactor.look_at(*texts)
    assert [redactor.text(text) for text in texts] == [REDACTOR.text(text) for text in texts]
    assert ALPHANUMERIC not in redactor.text(texts[at])


def test_a_text_that_was_clear_is_looked_at_again_when_a_secret_is_learned() -> None:
    redactor = Redactor(KEY)
    redactor.look_at("say mellon and enter")
    assert redactor.text("say mellon and enter") == "say mellon and enter"
    redactor.learn(["mellon and enter"])
    assert "mellon" not in redactor.text("say mellon and enter")
