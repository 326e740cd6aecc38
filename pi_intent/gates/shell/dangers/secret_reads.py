"""What of a command's reading are keys, passwords or the environment."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from itertools import pairwise

from pi_intent.gates.shell.paths import paths_of
from pi_intent.gates.shell.running.subcommands import subcommand
from pi_intent.gates.shell.script import Command, Unknown, Word
from pi_intent.word_sets import word_set

_PATH = re.compile(
    r"""(?x) (?:^|.*/) (?: \.ssh(?:/.*)? | \.aws(?:/.*)? | \.gnupg(?:/.*)? | \.netrc | \.pgpass | \.npmrc | \.pypirc
    | \.kube/config | \.docker/config\.json | \.config/(?:gcloud|gh)(?:/.*)? | \.git-credentials | \.azure(?:/.*)?
    | \.env (?: rc | \.(?!example|sample|template|dist|defaults?|test$).* )? | id_(?:rsa|ed25519|ecdsa|dsa)
    | [^/]*\.(?:p12|pfx) | (?![^/]*pub)[^/]*key\.pem
    | (?![^/]*(?:cert|chain|crt|\bca\b|bundle|pub|csr|dhparam))[^/]*\.pem | etc/ssl/private(?:/.*)?
    | (?:server|client|host|domain|tls|ssl|ca|master|priv|private)\.key
    | etc/(?:shadow|gshadow|sudoers)(?:\.d/.*)? | \.vault-token | credentials\.json
    | proc/[^/]+/environ | ssh_host_\w+_key | run/secrets/.+ | \.\w+_history )"""
)
_FOLDER = re.compile(r"(?:.*/)?\.(?:ssh|aws|gnupg|azure)/?")
_HIDDEN_FILES = (".env", ".envrc", ".netrc", ".npmrc", ".pgpass", ".pypirc", "id_rsa", "id_ed25519")
_NAME = re.compile(r"(?i)secret|token|passw|passphrase|api_?key|credential|private_key")
_COUNT = re.compile(
    r"(?i)tokeniz|(?:n|num|max|min|total)_?tokens?|tokens?_?(?:count|limit|len|size|num|type|usage|budget)|tokens"
)
_NAMES_ONLY = word_set(
    "ls stat test [ find echo printf touch mkdir chmod cd git rm which file du basename dirname realpath readlink "
    "ssh-keygen ln alias export"
)
_SEARCHERS = word_set("grep rg egrep fgrep sed awk jq")
_KEEPERS = word_set("secret-tool pass op bw keyring gopass")
_PRINTS_INPUT = word_set("cat tee base64 xxd od hexdump head tail rev tr sed awk")
_GIVES_OUT = {
    # What these are asked for when they print a secret, from their words, or from all of their arguments.
    "gh": re.compile(r"auth token|(?:.* )?auth status (?:.* )?(?:-t|--show-token)(?: |$)"),
    "vault": re.compile(r"kv get|read|print token|token create"),
    "gcloud": re.compile(r"auth (?:application-default )?print-|secrets versions access"),
    "aws": re.compile(
        r"secretsmanager (?:batch-)?get-secret-value|ecr get-login|configure export-cred|sts get-(?:session|fed)"
        r"|(?:.* )?ssm get-parameters?(?:-\S+)? (?:.* )?--with-decryption(?: |$)"
    ),
    "az": re.compile(r"keyvault secret show|account get-access-token"),
    "gpg": re.compile(r"(?:.* )?(?:-[a-z]?d\b|--decrypt\b|--export-secret)"),
    "sops": re.compile(r"(?:.* )?(?:-d|--decrypt|decrypt|exec-\w+)(?: |$)"),
    "age": re.compile(r"(?:.* )?(?:-d|--decrypt)(?: |$)"),
    "ansible-vault": re.compile(r"view|decrypt"),
    "ssh-keygen": re.compile(r"(?:.* )?-y(?: |$)"),
}
_VALUE_OF = re.compile(r"(?:--?[\w-]+=|if=)?(?:[\w.-]*=?[@<])?")
"""What stands before the name of a file in one argument: `--data=@x`, `f=@x`, `if=x`."""


def reads_secrets(command: Command) -> bool:
    return _shows_environment(command) or _asks_a_keeper(command) or _reads_file(command)


def is_secret_path(path: str) -> bool:
    return bool(_PATH.fullmatch(path)) and not path.endswith(".pub")


def _shows_environment(command: Command) -> bool:
    program, texts = command.program or "", command.texts
    match program:
        case "printenv":
            return not texts or any(_is_secret_name(text) for text in texts)
        case "env":
            return texts in ((), ("-0",), ("--null",))
        case "export" | "declare" | "typeset" | "readonly":
            return all(re.fullmatch("-[px]+", text) for text in texts)
        case "set":
            return not texts
        case "echo" | "printf":
            shown = " ".join(word.shown for word in command.arguments if word.text is None)
            return any(_is_secret_name(name) for name in re.findall(r"\$\{?!?(\w+)", shown))
        case _ if program in _PRINTS_INPUT:
            given = " ".join(word.target.shown for word in command.redirects if word.operator == "<<<")
            return any(_is_secret_name(name) for name in re.findall(r"\$\{?(\w+)", given))
        case _:
            return False


def _is_secret_name(name: str) -> bool:
    """Whether a variable is called like a secret; how many tokens there are is none."""
    return bool(_NAME.search(_COUNT.sub("", name)))


def _asks_a_keeper(command: Command) -> bool:
    program, texts = command.program or "", command.texts
    words = subcommand(program, command.arguments)
    return (
        (program == "security" and any(word.startswith(("find-", "dump-", "export")) for word in words))
        or (program in _KEEPERS and bool(words) and words[0] not in ("ls", "list", "status"))
        or (program == "gpg" and any("secret" in text for text in texts))
        or (program in ("kubectl", "oc") and "get" in words and _shows_objects(texts))
        or (program in _GIVES_OUT and any(map(_GIVES_OUT[program].match, (" ".join(words), " ".join(texts)))))
    )


def _shows_objects(texts: tuple[str, ...]) -> bool:
    """Whether `kubectl get` shows what is in secrets: their names and ages are shown without a format."""
    formats = [re.sub("^(?:-o|--output)=?", "", text) for text in texts if text.startswith(("-o", "--output"))]
    formats += [after for text, after in pairwise(texts) if text in ("-o", "--output")]
    asked = any(re.fullmatch("secrets?(?:/.*)?", text) for text in texts)
    return asked and bool(set(formats) - {"", "name", "wide"})


def _reads_file(command: Command) -> bool:
    program = command.program or ""
    if program in ("cd", "pushd", "chdir"):
        return any(_FOLDER.fullmatch(word.shown) for word in command.arguments)
    reads = [word for word in command.arguments if program not in _NAMES_ONLY]
    if program in _SEARCHERS and not any(re.match(r"-[a-zA-Z]*f$|--file", text) for text in command.texts):
        at = next((n for n, word in enumerate(reads) if not word.start.startswith("-")), len(reads))
        reads = reads[at + 1 :]  # the first word is what is looked for
    reads += [redirect.target for redirect in command.redirects if redirect.operator == "<"]
    return any(_names_secrets(word) or _may_be_hidden_file(word.parts) for word in reads)


def _names_secrets(word: Word) -> bool:
    """Whether a word, or a value that it may have, is the path of secrets."""
    return any(is_secret_path(_VALUE_OF.sub("", path, count=1)) for path in (word.shown, *(paths_of(word) or ())))


def _may_be_hidden_file(parts: tuple[str | Unknown, ...]) -> bool:
    """Whether a pattern that begins like the name of a secret file may be one: `.e*`."""
    if not any(isinstance(part, Unknown) and part.gap == "glob" for part in parts):
        return False
    pattern = "".join(part if isinstance(part, str) else part.source for part in parts).rpartition("/")[2]
    return pattern.startswith((".", "id_")) and any(fnmatchcase(name, pattern) for name in _HIDDEN_FILES)
