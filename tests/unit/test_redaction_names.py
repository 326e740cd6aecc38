"""What a password, a token or a key is given to by name is a secret; what only looks like such a name is none."""

from __future__ import annotations

import base64

import pytest
from canaries import ACCESS, ALPHANUMERIC, HEX
from redacting import ASSIGNMENTS, KEY, REDACTOR, token

from pi_intent.redaction import Redactor


@pytest.mark.parametrize("form", ASSIGNMENTS)
@pytest.mark.parametrize("secret", [ACCESS, HEX[:32], ALPHANUMERIC[:24]], ids=["short", "hex", "mixed"])
def test_only_the_value_of_an_assignment_is_replaced(form: str, secret: str) -> None:
    redacted = REDACTOR.text(form.format(secret))
    assert redacted == form.format(token(redacted))


@pytest.mark.parametrize(
    "form",
    [
        "PASSWORD={}",
        "mysqldump --password {}",
        "mysqldump --password={}",
        '"password": "{}"',
        "password='{}'",
        "  password: {}\n",
        "redis://:{}@host",
    ],
)
def test_a_password_may_be_a_plain_word(form: str) -> None:
    redacted = REDACTOR.text(form.format("sword" + "fish"))
    assert redacted == form.format(token(redacted))


def test_a_pass_phrase_may_have_spaces() -> None:
    redacted = REDACTOR.text('password = "correct horse ' + 'battery staple"')
    assert redacted == f'password = "{token(redacted)}"'


def test_basic_credentials_are_replaced_with_and_without_the_header() -> None:
    encoded = base64.b64encode(b"me:" + ACCESS.encode()).decode()
    for form in ("Basic {}", "Authorization: Basic {}", "-H 'authorization: basic {}'"):
        redacted = REDACTOR.text(form.format(encoded))
        assert redacted == form.format(token(redacted))


ONE_WORD_NAMES = [
    *("PGPASSWORD", "SSHPASS", "DBPASSWORD", "DBPASS", "ADMINPASSWORD", "rootpassword", "userpassword", "LDAPPASS"),
    *(
        "SMTPPASS",
        "DB_PASS",
        "storepass",
        "MYSQL_PWD",
        "MYSQLPWD",
        "DBpass",
        "SECRETKEYBASE",
        "GITHUBTOKEN",
        "MYTOKEN",
    ),
    *("GITHUB_PAT", "gitlab-pat", "encryptionkey", "APIkey", "awssecretaccesskey", "RAILSSECRETKEYBASE"),
]


@pytest.mark.parametrize("name", ONE_WORD_NAMES)
def test_the_words_of_a_name_need_not_be_set_apart(name: str) -> None:
    for form in ("{}={} psql", "{}: {}", '"{}": "{}"', "{} = '{}'", "tool --{} {} -v", "tool --{}={}"):
        redacted = REDACTOR.text(form.format(name, HEX[:32]))
        assert redacted == form.format(name, token(redacted))
    assert REDACTOR.value({name: HEX[:32]}) == {name: token(REDACTOR.text("PASSWORD=" + HEX[:32]))}
    assert Redactor(KEY, {name: "velvetcanyon"}).text("see velvetcanyon").startswith("see [redacted:env:")


@pytest.mark.parametrize("name", ["PGPASSWORD", "SSHPASS", "DB_PASS", "ADMINPASSWORD", "SECRETKEYBASE"])
def test_what_a_password_in_one_word_names_may_be_a_plain_word(name: str) -> None:
    redacted = REDACTOR.text(f"{name}=" + "sword" + "fish psql")
    assert redacted == f"{name}={token(redacted)} psql"


HONEST_NAMES = [
    *(
        "COMPASS",
        "BYPASS",
        "PASSENGER",
        "TOKENIZER",
        "KEYBOARD",
        "MONKEY",
        "AUTHOR",
        "passage",
        "max_tokens",
        "n_tokens",
    ),
    *(
        "keypath",
        "monkeypatch",
        "secretary",
        "trespass",
        "hotkey",
        "primarykey",
        "turkey",
        "PATH",
        "GIT_PATH",
        "urlpath",
    ),
    *("OLDPWD", "pattern", "file_patch", "first_pass", "GIT_ASKPASS", "forgotpassword", "publickey", "PGPASSFILE"),
]


@pytest.mark.parametrize("name", HONEST_NAMES)
def test_a_word_that_only_looks_like_the_name_of_a_secret_is_none(name: str) -> None:
    for form in ("{}={} x", "{}: {}", '"{}": "{}"', "tool --{} {}"):
        text = form.format(name, "v2word99")
        assert name == "first_pass" or REDACTOR.text(text) is text
        text = form.format(name, "true")
        assert REDACTOR.text(text) is text
