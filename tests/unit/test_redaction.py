"""Secrets leave a text, and nothing else does. Every secret is put together at run time, so this file holds none."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote

import pytest
from canaries import ACCESS, ALPHANUMERIC, HEX, SHAPES, VALUE, leaks, pem

from pi_intent.redaction import MAX_DEPTH, Redactor

KEY = b"ledger key"
REDACTOR = Redactor(KEY)

ACCESS_FORM = "PASSWORD=" + ACCESS


def token(redacted: str) -> str:
    start = redacted.index("[redacted:")
    return redacted[start : redacted.index("]", start) + 1]


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


ASSIGNMENTS = [
    "export API_KEY='{}'",
    'export API_KEY="{}"',
    "API_KEY={} npm start",
    "DB_PASSWORD={}",
    "MYSQL_PWD={} mysqldump",
    "deploy --password {} --yes",
    "deploy --password={}",
    "deploy --api-key '{}'",
    "deploy --client-secret {}",
    "curl -H 'X-Api-Key: {}' https://h",
    'curl -H "X-Auth-Token: {}" https://h',
    "curl -u admin:{} https://h",
    "curl -d 'user=me&password={}' https://h",
    "curl 'https://h/login?access_token={}&x=1'",
    '{{"password": "{}"}}',
    '{{"password":"{}","x":1}}',
    '{{"password":\n  "{}"}}',
    '"{{\\"password\\": \\"{}\\"}}"',
    "'client_secret': '{}',",
    "password: {}",
    "database:\n  password: {}\n  port: 1",
    "api_key: '{}'",
    "secret_key = '{}'",
    'password: str = "{}"',
    "connect(password='{}')",
    "connect(user='x', password=b'{}')",
    'os.environ["SECRET_TOKEN"] = "{}"',
    "config.password = '{}'",
    'const apiKey = "{}";',
    'token := "{}"',
    "'secret' => '{}'",
    "spring.datasource.password={}",
    "host=db user=me password={} dbname=x",
    "//registry.example.org/:_authToken={}",
    "Authorization: Bearer {}",
    "authorization: {}",
    "Authorization: token {}",
    "curl -H 'Authorization: Bearer {}' https://h",
    '"Authorization": "Bearer {}"',
    "headers={{'Authorization': f'Bearer {}'}}",
    "Bearer {}",
    "postgres://me:{}@db:5432/x",
    "git clone https://oauth2:{}@host/x.git",
    "https://:{}@host/",
]


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
    *("GITHUB_PAT", "gitlab-pat", "encryptionkey", "APIkey", "awssecretaccesskey"),
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


COMMENTS = ["\n# ", "\n// ", "\n#", "\n    ## ", "\r\n * ", "\n-- ", "\n;; ", "\n% ", "\n> > ", "\\n# ", "\\n// "]
COMMENTS += ["\n+", "\n+    ", "\n| ", "\n|", "\n  12: ", "\n12:", "\n    12\t", "\n  7 | ", "\nREM ", "\nrem "]
BREAKS = [*COMMENTS, "\\\n", "\n", "\r\n", "\\n", "\n    ", '" "', "' '", '" + "', '"\n    "', '" \\\n  "', "\\\n  "]
BREAKS += [" |\n| "]
# Of some keys a hyphen may be a part.
REMOVED = ["\n-", "\n-    "]


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


def test_a_password_in_two_literals_is_taken_out_whole() -> None:
    redacted = REDACTOR.text(f'password = "{ACCESS[:5]}" "{ACCESS[5:]}"')
    assert redacted == f'password = "{token(redacted)}"'
    assert token(redacted) == token(REDACTOR.text(f'password = "{ACCESS}"'))


ENVIRONMENT = {"SERVICE_TOKEN": VALUE, "PATH": "/usr/local/bin:/usr/bin"}


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
