"""What of a command's reading are keys, passwords or the environment."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from pi_intent.gates.script import Command, Unknown
from pi_intent.word_sets import word_set

_PATH = re.compile(
    r"""(?x) (?:^|.*/) (?: \.ssh(?:/.*)? | \.aws(?:/.*)? | \.gnupg(?:/.*)? | \.netrc | \.pgpass | \.npmrc | \.pypirc
    | \.kube/config | \.docker/config\.json | \.config/(?:gcloud|gh)(?:/.*)? | \.git-credentials | \.azure(?:/.*)?
    | \.env (?: rc | \.(?!example|sample|template|dist|defaults?|test$).* )? | id_(?:rsa|ed25519|ecdsa|dsa)
    | [^/]*\.(?:p12|pfx) | (?![^/]*pub)[^/]*key\.pem
    | (?![^/]*(?:cert|chain|crt|\bca\b|bundle|pub|csr|dhparam))[^/]*\.pem | etc/ssl/private(?:/.*)?
    | (?:server|client|host|domain|tls|ssl|ca|master|priv|private)\.key
    | etc/(?:shadow|gshadow|sudoers)(?:\.d/.*)? | \.vault-token | credentials\.json
    | proc/(?:\d+|self|\*)/environ )"""
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
        case _:
            return False


def _is_secret_name(name: str) -> bool:
    """Whether a variable is called like a secret; how many tokens there are is none."""
    return bool(_NAME.search(_COUNT.sub("", name)))


def _asks_a_keeper(command: Command) -> bool:
    program, texts = command.program or "", command.texts
    words = [text for text in texts if not text.startswith("-")]
    return (
        (program == "security" and any(word.startswith(("find-", "dump-", "export")) for word in words))
        or (program in _KEEPERS and bool(words) and words[0] not in ("ls", "list", "status"))
        or (program == "gpg" and any("secret" in text for text in texts))
    )


def _reads_file(command: Command) -> bool:
    program = command.program or ""
    if program in ("cd", "pushd", "chdir"):
        return any(_FOLDER.fullmatch(word.shown) for word in command.arguments)
    reads = [word for word in command.arguments if program not in _NAMES_ONLY]
    if program in _SEARCHERS:
        at = next((n for n, word in enumerate(reads) if not word.start.startswith("-")), len(reads))
        reads = reads[at + 1 :]  # the first word is what is looked for
    reads += [redirect.target for redirect in command.redirects if redirect.operator == "<"]
    return any(
        is_secret_path(re.sub(r"^@|^--?[\w-]+=", "", word.shown)) or _may_be_hidden_file(word.parts) for word in reads
    )


def _may_be_hidden_file(parts: tuple[str | Unknown, ...]) -> bool:
    """Whether a pattern that begins like the name of a secret file may be one: `.e*`."""
    if not any(isinstance(part, Unknown) and part.gap == "glob" for part in parts):
        return False
    pattern = "".join(part if isinstance(part, str) else part.source for part in parts).rpartition("/")[2]
    return pattern.startswith((".", "id_")) and any(fnmatchcase(name, pattern) for name in _HIDDEN_FILES)
