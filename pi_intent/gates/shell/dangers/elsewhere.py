"""What a program takes from other machines, or sends to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from pi_intent.gates.shell.dangers.hosts import talks_to_itself
from pi_intent.gates.shell.dangers.verbs import INSTALLERS, PUBLISHES
from pi_intent.gates.shell.script import Command
from pi_intent.word_sets import word_set

_FETCHES = word_set(
    "curl wget aria2c http https xh nc ncat netcat telnet ftp sftp lftp ssh mosh scp lynx w3m rclone socat GET POST "
    "ping ping6 host nslookup dig whois traceroute tracepath"
)
_GH = {
    "pr": "create merge close comment edit review ready reopen",
    "release": "create delete edit upload",
    "issue": "create close comment edit delete reopen transfer",
    "repo": "create delete edit rename archive sync fork",
    "workflow": "run enable disable",
    "run": "rerun cancel delete",
    "gist": "create edit delete",
    "secret": "set delete",
    "variable": "set delete",
    "label": "create edit delete",
    "mr": "create merge close",
}
_HERE = re.compile(r"(?:localhost|127\.[\d.]+|\[::1\]):\d+$")


def elsewhere_dangers(program: str, command: Command, words: list[str]) -> Iterator[str]:
    texts = command.texts
    if (
        (
            program in _FETCHES
            and not talks_to_itself(command)
            and not (program == "ssh" and texts[:1] in (("-V",), ("-G",)))
        )
        or (program == "rsync" and any(re.match(r"[\w.@-]+::?|rsync://", w) for w in words))
        or (program == "openssl" and words[:1] == ["s_client"] and not any(map(_HERE.match, words)))
    ):
        yield "network"
    if program in INSTALLERS:
        verbs = INSTALLERS[program]
        first = next((w for w in (texts if any(v.startswith("-") for v in verbs) else words)), "")
        uv_pip = (
            program == "uv"
            and words[:1] in (["pip"], ["tool"])
            and bool({"install", "uninstall", "sync"} & set(words))
        )
        pacman = (
            program == "pacman"
            and bool(texts)
            and texts[0].startswith(("-S", "-R", "-U"))
            and texts[0] not in ("-Ss", "-Si")
        )
        if (
            (first in verbs and "--dry-run" not in texts)
            or uv_pip
            or pacman
            or program == "easy_install"
            or (program == "yarn" and not texts)
        ):
            yield "installs"
    elif program in ("npx", "bunx", "uvx") and {"-y", "--yes", "--from", "--package"} & set(texts):
        yield "installs"
    if program in PUBLISHES and "--dry-run" not in texts and not (program == "cargo" and "-n" in texts):
        verbs = PUBLISHES[program]
        if (words and words[0] in verbs and (program != "yarn" or words[0] == "publish" or "publish" in words)) or (
            program == "vercel" and words[:1] in ([], ["deploy"])
        ):
            yield "publishes"
    if program in ("gh", "glab", "hub") and words:
        if words[0] == "api":
            yield "publishes" if _gh_writes(texts) else "network"
        elif words[1:2] and words[1] in _GH.get(words[0], "").split():
            yield "publishes"
        else:
            yield from ("secrets",) if words[:2] == ["auth", "token"] else ("network",) if words[0] in _GH else ()


def _gh_writes(texts: tuple[str, ...]) -> bool:
    method = next((b for a, b in pairwise(texts) if a in ("-X", "--method")), "")
    return method.upper() not in ("", "GET") or (
        not method and bool({"-f", "-F", "--field", "--raw-field", "--input"} & set(texts))
    )
