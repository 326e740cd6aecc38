"""What of a command's reading are keys, passwords or the environment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import pairwise

from pi_intent.gates.shell.dangers.environment import shows_environment
from pi_intent.gates.shell.operands import operands
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
    | etc/(?:shadow|gshadow|sudoers)(?:\.d/.*)? | \.vault-token | \.?credentials\.json | \.codex/auth\.json
    | proc/[^/]+/environ | ssh_host_\w+_key | run/secrets/.+ | \.\w+_history )"""
)
_FOLDER = re.compile(r"(?:.*/)?\.(?:ssh|aws|gnupg|azure)/?")
_HIDDEN_FILES = (".env", ".envrc", ".netrc", ".npmrc", ".pgpass", ".pypirc", "id_rsa", "id_ed25519")
_NAMES_ONLY = word_set(
    "ls stat test [ find echo printf touch mkdir chmod cd git rm which file du basename dirname realpath readlink "
    "ssh-keygen alias export"
)
_SEARCHERS = {
    # Letters that take a value, and those of them that say what is looked for, so that none of the words does.
    **dict.fromkeys(("grep", "egrep", "fgrep"), ("efmABCdD", "ef")),
    "rg": ("efgtTmABCjMr", "ef"),
    "sed": ("ef", "ef"),
    **dict.fromkeys(("awk", "gawk", "mawk"), ("efFv", "ef")),
    "jq": ("fL", "f"),
}
_SEARCHED_NAMES = word_set("--regexp --file --expression --from-file --max-count --glob --type --arg --argjson")
_LOOKED_FOR = re.compile("--(?:regexp|expression|file|from-file)(?:=.*)?")
_FILE_OF_PATTERNS = re.compile("(?:-[a-zA-Z]*f|--file|--from-file)=?")
_KEEPERS = word_set("secret-tool pass op bw keyring gopass")
_GIVES_OUT = {
    # What these are asked for when they print a secret, from their words, or from all of their arguments.
    "gh": re.compile("auth token"),
    "vault": re.compile(r"kv get|read|print token|token create"),
    "gcloud": re.compile(r"auth (?:application-default )?print-|secrets versions access"),
    "aws": re.compile(
        r"secretsmanager (?:batch-)?get-secret-value|ecr get-login|configure export-cred|sts get-(?:session|fed)"
    ),
    "az": re.compile(r"keyvault secret show|account get-access-token"),
    "gpg": re.compile(r"(?:.* )?(?:-[a-z]?d\b|--decrypt\b|--export-secret)"),
    "sops": re.compile(r"(?:.* )?(?:-d|--decrypt|decrypt|exec-\w+)(?: |$)"),
    "age": re.compile(r"(?:.* )?(?:-d|--decrypt)(?: |$)"),
    "ansible-vault": re.compile(r"view|decrypt"),
    "ssh-keygen": re.compile(r"(?:.* )?-y(?: |$)"),
}
_GIVES_OUT_WITH = {
    # Subcommands that show a secret with an option alone.
    "gh": ((("auth", "status"), "-t"), (("auth", "status"), "--show-token")),
    "aws": tuple(
        (("ssm", asked), "--with-decryption")
        for asked in ("get-parameter", "get-parameters", "get-parameters-by-path", "get-parameter-history")
    ),
}
_VALUE_OF = re.compile(r"(?:--?[\w-]+=|if=)?(?:[\w.-]*=?[@<])?")
"""What stands before the name of a file in one argument: `--data=@x`, `f=@x`, `if=x`."""


def reads_secrets(command: Command) -> bool:
    return shows_environment(command) or _asks_a_keeper(command) or _reads_file(command)


def is_secret_path(path: str) -> bool:
    return bool(_PATH.fullmatch(path)) and not path.endswith(".pub")


def _asks_a_keeper(command: Command) -> bool:
    program, texts = command.program or "", command.texts
    words = subcommand(program, command.arguments)
    return (
        (program == "security" and any(word.startswith(("find-", "dump-", "export")) for word in words))
        or (program in _KEEPERS and bool(words) and words[0] not in ("ls", "list", "status"))
        or (program == "gpg" and any("secret" in text for text in texts))
        or (program in ("kubectl", "oc") and "get" in words and _shows_objects(texts))
        or any(words[:2] == [*asked] and option in texts for asked, option in _GIVES_OUT_WITH.get(program, ()))
        or (program in _GIVES_OUT and any(map(_GIVES_OUT[program].match, (" ".join(words), " ".join(texts)))))
    )


def _shows_objects(texts: tuple[str, ...]) -> bool:
    """Whether `kubectl get` shows what is in secrets: their names and ages are shown without a format."""
    formats = [re.sub("^(?:-o|--output)=?", "", text) for text in texts if text.startswith(("-o", "--output"))]
    formats += [after for text, after in pairwise(texts) if text in ("-o", "--output")]
    asked = any(re.fullmatch("(?:.*,)?secrets?(?:[./,].*)?", text) for text in texts)
    return asked and bool(set(formats) - {"", "name", "wide"})


def _reads_file(command: Command) -> bool:
    program = command.program or ""
    if program in ("cd", "pushd", "chdir"):
        return any(_FOLDER.fullmatch(word.shown) for word in command.arguments)
    links = program == "ln" and any(re.match("-[a-zA-Z]*s|--symbolic", text) for text in command.texts)
    reads = [word for word in command.arguments if program not in _NAMES_ONLY and not links]
    if program in _SEARCHERS:
        reads = list(_searched(program, command.arguments))
    reads += [redirect.target for redirect in command.redirects if redirect.operator == "<"]
    return any(_names_secrets(word) or _may_be_hidden_file(word.parts) for word in reads)


def _searched(program: str, words: tuple[Word, ...]) -> Iterator[Word]:
    """The files that are searched, and those that what is looked for stands in."""
    letters, saying = _SEARCHERS[program]
    named = list(operands(words, letters, _SEARCHED_NAMES))
    says = re.compile(f"-[^-{letters}]*[{saying}].*|{_LOOKED_FOR.pattern}", re.S)
    said = any(says.fullmatch(word.start) for word in words)
    yield from named if said else named[1:]
    for word, following in pairwise((*words, Word("", ("",)))):
        if found := _FILE_OF_PATTERNS.match(word.start):
            yield following if found.end() == len(word.start) else word.after(found.end())


def _names_secrets(word: Word) -> bool:
    """Whether a word, or a value that it may have, is the path of secrets."""
    return any(is_secret_path(_VALUE_OF.sub("", path, count=1)) for path in (word.shown, *(paths_of(word) or ())))


def _may_be_hidden_file(parts: tuple[str | Unknown, ...]) -> bool:
    """Whether a pattern that begins like the name of a secret file may be one: `.e*`."""
    if not any(isinstance(part, Unknown) and part.gap == "glob" for part in parts):
        return False
    pattern = "".join(part if isinstance(part, str) else part.source for part in parts).rpartition("/")[2]
    return pattern.startswith((".", "id_")) and any(fnmatchcase(name, pattern) for name in _HIDDEN_FILES)
