"""What each effect of a command is called, which verbs it does not go with, and which words announce it."""

from __future__ import annotations

from typing import NamedTuple

from pi_intent.notes.deeds import Effect
from pi_intent.notes.words import Leaning
from pi_intent.word_sets import word_set


class Saying(NamedTuple):
    """How an effect is told to a person, and what must be said for it to be expected.

    `against` are the leanings of a verb that do not promise it. `verbs` announce it; `subjects` are what it is done
    to, which announces it, too, unless the words only look: to look at a table is not to drop it. Where `seen` holds,
    it is: to look at credentials is to read secrets.
    """

    told: str
    against: frozenset[Leaning]
    verbs: frozenset[str]
    subjects: frozenset[str] = frozenset()
    seen: bool = False


ANY: frozenset[Leaning] = frozenset({"look", "test", "change", "other"})
LOOKING: frozenset[Leaning] = frozenset({"look"})
NOT_CHANGING: frozenset[Leaning] = frozenset({"look", "test"})
NOT_OTHER: frozenset[Leaning] = frozenset({"look", "test", "change"})

_REMOVING = word_set(
    """
    clean cleanup clear deduplicate delete destroy discard drop empty erase extract free fresh merge migrate
    move obsolete overwrite prune purge rebuild recreate reinstall remove rename replace reset restart revert
    rid rm split stale strip tidy trash undo uninstall unlink unused wipe
    """
)

SAYINGS: dict[Effect, Saying] = {
    "raze": Saying(
        "removes a whole folder such as the home folder, the root or everything here",
        ANY,
        frozenset(),
        word_set(
            """
            .git all clone entire entirely everything fresh history home reinitialise reinitialize repo
            repository reset root scratch whole wipe workspace
            """
        ),
        seen=True,
    ),
    "remove-tree": Saying(
        "removes whole folders",
        NOT_OTHER,
        _REMOVING | word_set("clone download install regenerate"),
    ),
    "remove": Saying(
        "removes files",
        NOT_CHANGING,
        _REMOVING,
    ),
    "write": Saying(
        "writes files",
        LOOKING,
        word_set(
            """
            apply back backup build capture collect convert copy download dump export format generate link move
            output prepare produce record rename save scaffold set setup snapshot store symlink sync
            """
        ),
    ),
    "commit": Saying(
        "stages or commits",
        LOOKING,
        word_set("add checkpoint commit finish index record save stage submit"),
    ),
    "push": Saying(
        "publishes to others",
        ANY,
        word_set("bump deploy merge post publish push release send ship submit sync tag upload"),
        word_set("github gitlab origin pr pr's pull pull-request remote request"),
    ),
    "force": Saying(
        "overwrites what others have, by force",
        ANY,
        word_set(
            """
            amend amended force mirror overwrite rebase rebased replace rewrite rewritten squash squashed
            """
        ),
        word_set("history"),
    ),
    "rewrite": Saying(
        "throws work away, or rewrites history",
        ANY,
        _REMOVING
        | word_set(
            """
            abort amend checkout fixup force merge rebase restore rewrite roll rollback squash start stash
            switch unstage
            """
        ),
        word_set("back branch history scratch"),
    ),
    "upload": Saying(
        "sends data to another machine",
        ANY,
        word_set(
            """
            authenticate backup call comment connect copy create curl delete deploy login message notify post
            publish push put query register report request rsync scp send submit sync transfer trigger upload
            """
        ),
        word_set("api endpoint graphql hook http issue remote response server service slack url webhook"),
        seen=True,
    ),
    "pipe-to-shell": Saying(
        "runs what it downloads",
        ANY,
        word_set("bootstrap curl download fetch install set setup update upgrade"),
        word_set("installer nvm rustup script"),
    ),
    "hidden-code": Saying(
        "runs code that it hides",
        ANY,
        word_set("decode decoded encoded eval exec"),
        word_set("base64 obfuscated payload"),
        seen=True,
    ),
    "install": Saying(
        "installs software",
        LOOKING,
        word_set("add bootstrap install installed reproduce update upgrade"),
    ),
    "rights": Saying(
        "changes rights, or acts as root",
        LOOKING,
        word_set("chmod chown own sudo"),
    ),
    "stop": Saying(
        "stops processes",
        ANY,
        word_set(
            """
            clean cleanup close end free kill launch quit reboot remove rerun reset restart run shut shutdown
            start stop terminate
            """
        ),
        word_set("background daemon down hung port process processes server stuck zombie"),
    ),
    "persist": Saying(
        "changes what runs at every start or login",
        ANY,
        word_set("enable export persist schedule scheduled"),
        word_set(
            """
            alias authorized autostart bashrc boot completion cron crontab daemon environment hook hooks hosts
            job key launchd login nightly path periodic periodically profile service shell ssh startup sudoers
            timer zshrc
            """
        ),
    ),
    "secrets": Saying(
        "reads secrets",
        ANY,
        word_set("authenticate login"),
        word_set(
            """
            .env access auth authentication aws certificate config configuration cookie cookies credential
            credentials dotenv env environment history key keys kubeconfig npmrc password passwords pypirc
            registry secret secrets settings ssh token tokens variable variables
            """
        ),
        seen=True,
    ),
    "disk": Saying(
        "writes to a disk as a whole",
        ANY,
        word_set("flash format mount partition"),
        word_set("device disk drive filesystem image iso sd usb volume"),
    ),
    "drop-data": Saying(
        "removes data from a database",
        ANY,
        _REMOVING | word_set("flush migrate seed teardown truncate"),
        word_set("migration row rows schema table tables"),
    ),
    "infrastructure": Saying(
        "changes what runs elsewhere",
        LOOKING,
        _REMOVING
        | word_set(
            """
            apply close create deploy install kill launch merge provision rollback rollout scale stop tear
            teardown update upgrade
            """
        ),
    ),
}
"""By effect, the gravest first."""
