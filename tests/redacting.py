"""A redactor, and the tokens that it puts in place of secrets."""

from __future__ import annotations

from canaries import VALUE

from pi_intent.redaction import Redactor

KEY = b"ledger key"
REDACTOR = Redactor(KEY)


def token(redacted: str) -> str:
    start = redacted.index("[redacted:")
    return redacted[start : redacted.index("]", start) + 1]


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


COMMENTS = ["\n# ", "\n// ", "\n#", "\n    ## ", "\r\n * ", "\n-- ", "\n;; ", "\n% ", "\n> > ", "\\n# ", "\\n// "]
COMMENTS += ["\n+", "\n+    ", "\n| ", "\n|", "\n  12: ", "\n12:", "\n    12\t", "\n  7 | ", "\nREM ", "\nrem "]
# Of some keys a hyphen may be a part.
REMOVED = ["\n-", "\n-    "]


ENVIRONMENT = {"SERVICE_TOKEN": VALUE, "PATH": "/usr/local/bin:/usr/bin"}
