"""What the clients of GitHub and GitLab send, of which most only ask."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from pi_intent.word_sets import word_set

FORGES = word_set("gh glab hub")
_GROUPS = word_set(
    "pr release issue repo workflow run gist secret variable label mr codespace project cache search ruleset ssh-key "
    "gpg-key org ci pipeline job snippet milestone schedule"
)
"""What the other machine keeps; other subcommands are about this one."""
_ACTS = re.compile(
    r"(?!set-default$)(?:item-|field-)?(?:create|delete|edit|merge|close|comment|review|ready|reopen|upload|transfer"
    r"|rename|archive|unarchive|sync|fork|run|rerun|retry|trigger|cancel|enable|disable|set|add|remove|update|lock"
    r"|unlock|pin|unpin|link|unlink|mark|copy|clone|import|develop|revert|approve|revoke|note|rebase|rebuild|stop)"
    r"(?:-.*)?"
)
_CLONES = re.compile(r"(?:repo|gist) clone")
_FURTHER_GROUPS = word_set("autolink deploy-key")
_METHOD = re.compile(r"-i*X=?(?P<letter>.*)|--method(?:=(?P<name>.*))?")
_FIELDS = ("-f", "-F", "--field", "--raw-field", "--input")


def forge_dangers(texts: tuple[str, ...], words: list[str]) -> Iterator[str]:
    """Yield whether something is sent or asked for; `words` are those from the subcommand on."""
    group, *verbs = words or [""]
    if group == "api":
        yield "publishes" if _sends(texts) else "network"
    elif group in _GROUPS:
        verb = verbs[1:2] if verbs[:1] and verbs[0] in _FURTHER_GROUPS else verbs[:1]
        acts = any(map(_ACTS.fullmatch, verb)) and not _CLONES.fullmatch(" ".join(words[:2]))
        yield "publishes" if acts else "network"


def _sends(texts: tuple[str, ...]) -> bool:
    """Whether a call of the interface changes something: by its method, or by what it is given."""
    for text, after in pairwise((*texts, "")):
        if found := _METHOD.fullmatch(text):
            return (found["letter"] or found["name"] or after).upper() != "GET"
    return any(text.startswith(_FIELDS) for text in texts)
