"""The values of secret variables are found in whatever form they are written."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from canaries import ALPHANUMERIC, HEX, VALUE
from redacting import COMMENTS, ENVIRONMENT, KEY, REMOVED, token

from pi_intent.redaction import Redactor


@pytest.mark.parametrize(
    "form",
    [
        VALUE,
        base64.b64encode(VALUE.encode()).decode(),
        base64.urlsafe_b64encode(VALUE.encode()).decode(),
        base64.b64encode(b"me:" + VALUE.encode()).decode(),
        base64.b64encode(b"mee:" + VALUE.encode() + b"\n").decode(),
        quote(VALUE),
        quote(VALUE, safe=""),
        quote(VALUE, safe="").lower().replace("mango", "Mango"),
        json.dumps(VALUE),
        " ".join(VALUE),
        "\n".join(VALUE),
        "\\\n".join(VALUE),
        "\\n".join(VALUE),
        '" "'.join(VALUE),
        "\u200b".join(VALUE),
        VALUE[:9] + "\\\n" + VALUE[9:],
        VALUE[:9] + '" + "' + VALUE[9:],
        *(VALUE[:9] + gap + VALUE[9:] for gap in (*COMMENTS, *REMOVED)),
        base64.encodebytes(VALUE.encode() * 5).decode(),
    ],
)
def test_the_value_of_a_secret_variable_is_found_in_whatever_form(form: str) -> None:
    redacted = Redactor(KEY, ENVIRONMENT).text(f"echo ({form})")
    left = redacted.replace(token(redacted), "").removeprefix("echo (").removesuffix(")").strip('"\n')
    assert left.rstrip("=") in ("", "bW", "bWVl")  # digits of the user name before it
    assert token(redacted) == token(Redactor(KEY, ENVIRONMENT).text(VALUE))


@pytest.mark.parametrize(
    "name",
    [
        *("API_KEY", "GITHUB_TOKEN", "APP_SECRET", "DB_PASSWORD", "DB_PASSWD", "X_CREDENTIAL", "BASIC_AUTH", "KEY"),
        *("MYSQL_PWD", "SMTP_PASS", "npm_config__authToken", "apiKey", "AWS_ACCESS_KEY_ID", "SECRETS", "PRIVATE_X"),
    ],
)
def test_a_variable_with_a_secret_name_is_secret(name: str) -> None:
    redacted = Redactor(KEY, {name: "velvetcanyon"}).text("see velvetcanyon")
    assert redacted == f"see {token(redacted)}"


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("DATABASE_URL", "postgres://me:{}@db:5432/x"),
        ("HTTP_PROXY", "http://me:{}@proxy:3128"),
        ("SENTRY_DSN", "https://{}@errors.example.org/1"),
        ("GIT_REMOTE", "https://{}@host/x.git"),
        ("STORAGE_CONNECTION_STRING", "Endpoint=https;AccountName=me;AccountKey={};EndpointSuffix=core.example.org"),
        ("BUS", "Endpoint=sb://x.example.org/;SharedAccessKeyName=root;SharedAccessKey={}"),
        ("DSN", "host=db user=me password={} dbname=x"),
    ],
)
def test_of_a_url_or_a_connection_string_in_a_variable_the_secret_is_found_alone(name: str, form: str) -> None:
    for secret in (HEX[:32], ALPHANUMERIC[:28] + "+/9A=="):
        written = quote(secret, safe="") if "@" in form else secret
        redactor = Redactor(KEY, {name: form.format(written)})
        redacted = redactor.text(f"see ({secret})")
        assert redacted == f"see ({token(redacted)})"
        assert redactor.text(text := "see db and me at core.example.org, https://proxy:3128") is text


def test_the_password_of_a_url_is_found_as_it_is_and_as_the_url_writes_it() -> None:
    redactor = Redactor(KEY, {"DATABASE_URL": f"postgres://me:{quote(VALUE, safe='')}@db/x"})
    for form in (VALUE, quote(VALUE, safe="")):
        redacted = redactor.text(f"see ({form})")
        assert redacted == f"see ({token(redacted)})"


def test_a_cookie_in_a_variable_is_found_whole() -> None:
    for name in ("COOKIE", "SESSION_COOKIE"):
        redacted = Redactor(KEY, {name: "sid=velvet; lang=de"}).text("see (sid=velvet; lang=de)")
        assert redacted == f"see ({token(redacted)})"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PATH", "velvetcanyon"),
        ("COMPASS", "velvetcanyon"),
        ("BYPASS", "velvetcanyon"),
        ("GIT_PATH", "velvetcanyon"),
        ("TOKENIZERS_PARALLELISM", "velvetcanyon"),
        ("COOKIE_DOMAIN", "velvetcanyon"),
        ("DATABASE_URL", "postgres://velvetcanyon@velvetcanyon/velvetcanyon"),
        ("KEYBOARD", "velvetcanyon"),
        ("MONKEY", "velvetcanyon"),
        ("GIT_AUTHOR", "velvetcanyon"),
        ("XAUTHORITY", "velvetcanyon"),
        ("PWD", "/home/me/velvetcanyon"),
        ("SSH_AUTH_SOCK", "/tmp/ssh-velvet/agent.1"),
        ("KEY_FILE", "velvetcanyon"),
        ("SECRET_PATH", "velvetcanyon"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/key.json"),
        ("GPG_KEY", "7169605F62C751356D054A26A821E680E5FA6305"),
        ("PUBLIC_KEY", "velvetcanyon"),
        ("AUTH_MODE", "velvetcanyon"),
        ("API_KEY", "changeme"),
        ("API_KEY", "velvet7"),
        ("POSTGRES_PASSWORD", "postgres"),
    ],
)
def test_a_variable_that_holds_no_secret_is_left_alone(name: str, value: str) -> None:
    text = f"see {value}"
    assert Redactor(KEY, {name: value}).text(text) is text
