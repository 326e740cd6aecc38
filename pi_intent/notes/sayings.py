"""What each effect of a command is called, which verbs it does not go with, and which words announce it."""

from __future__ import annotations

from typing import NamedTuple

from pi_intent.notes.deeds import Effect
from pi_intent.notes.listed import listed
from pi_intent.notes.words import Leaning


class Saying(NamedTuple):
    """How an effect is told to a person, the leanings of a verb that do not promise it, and what announces it."""

    told: str
    against: frozenset[Leaning]
    announced: frozenset[str]


ANY: frozenset[Leaning] = frozenset({"look", "test", "change", "other"})
LOOKING: frozenset[Leaning] = frozenset({"look"})
NOT_CHANGING: frozenset[Leaning] = frozenset({"look", "test"})

_REMOVING = listed(
    """
    delete remove clean cleanup clear purge wipe erase drop reset rm prune discard uninstall tidy destroy revert
    undo replace fresh recreate rebuild reinstall overwrite rename move rid free trash restart strip unlink
    empty obsolete stale unused
    """
)

SAYINGS: dict[Effect, Saying] = {
    "raze": Saying(
        "removes a whole folder such as the home folder, the root or everything here",
        ANY,
        listed(
            """
            .git all clone entire entirely everything fresh history home reinitialise reinitialize repo
            repository reset root scratch whole wipe workspace
            """
        ),
    ),
    "remove": Saying(
        "removes files",
        NOT_CHANGING,
        _REMOVING,
    ),
    "write": Saying(
        "writes files",
        LOOKING,
        listed(
            """
            apply back backup build capture collect convert copy download dump export format generate link move
            output prepare produce record rename save scaffold set setup snapshot store symlink sync
            """
        ),
    ),
    "commit": Saying(
        "stages or commits",
        LOOKING,
        listed("add checkpoint commit finish index record save stage staged submit"),
    ),
    "push": Saying(
        "publishes to others",
        ANY,
        listed(
            """
            bump deploy github gitlab merge origin post pr pr's publish pull-request push release remote send
            ship submit sync tag upload
            """
        ),
    ),
    "force": Saying(
        "overwrites what others have, by force",
        ANY,
        listed(
            """
            amend amended force history mirror overwrite rebase rebased replace rewrite rewritten squash
            squashed
            """
        ),
    ),
    "rewrite": Saying(
        "throws work away, or rewrites history",
        ANY,
        _REMOVING
        | listed(
            """
            abort amend back branch checkout fixup force history merge rebase restore rewrite roll rollback
            scratch squash start stash switch unstage
            """
        ),
    ),
    "upload": Saying(
        "sends data to another machine",
        ANY,
        listed(
            """
            api authenticate backup call comment connect copy create curl delete deploy endpoint graphql hook
            http issue login message notify post publish push put query register remote report request response
            rsync scp send server service slack submit sync transfer trigger upload url webhook
            """
        ),
    ),
    "pipe-to-shell": Saying(
        "runs what it downloads",
        ANY,
        listed(
            """
            bootstrap curl download fetch install installer installing nvm rustup script set setup update
            upgrade
            """
        ),
    ),
    "hidden-code": Saying(
        "runs code that it hides",
        ANY,
        listed("base64 decode decoded encoded eval exec obfuscated payload"),
    ),
    "install": Saying(
        "installs software",
        LOOKING,
        listed(
            """
            add available bootstrap dependencies dependency environment install installed library lockfile
            missing module modules npm package packages pip reproduce requirement requirements set setup tool
            tools update upgrade venv version
            """
        ),
    ),
    "rights": Saying(
        "changes rights, or acts as root",
        LOOKING,
        listed(
            """
            access admin chmod chown disk docker executable firewall kernel log logs mode own owner ownership
            permission permissions port ports privilege privileges process processes right rights root service
            sudo system
            """
        ),
    ),
    "stop": Saying(
        "stops processes",
        ANY,
        listed(
            """
            background clean cleanup close daemon down end free hung kill launch port process processes quit
            reboot remove rerun reset restart running server shut shutdown start stop stuck terminate zombie
            """
        ),
    ),
    "persist": Saying(
        "changes what runs at every start or login",
        ANY,
        listed(
            """
            alias authorized autostart bashrc boot completion cron crontab daemon enable environment export hook
            hooks hosts job key launchd login nightly path periodic periodically persist profile schedule
            scheduled service shell ssh startup sudoers timer zshrc
            """
        ),
    ),
    "secrets": Saying(
        "reads secrets",
        ANY,
        listed(
            """
            .env access auth authentication aws certificate config configuration cookie cookies credential
            credentials dotenv env environment history key keys kubeconfig login npmrc password passwords pypirc
            registry secret secrets settings ssh token tokens variable variables
            """
        ),
    ),
    "disk": Saying(
        "writes to a disk as a whole",
        ANY,
        listed("device disk drive filesystem flash format image iso mount partition sd usb volume"),
    ),
    "drop-data": Saying(
        "removes data from a database",
        ANY,
        _REMOVING
        | listed(
            """
            flush flushed migrate migration row rows schema seed table tables teardown truncate
            """
        ),
    ),
    "infrastructure": Saying(
        "changes what runs elsewhere",
        LOOKING,
        _REMOVING
        | listed(
            """
            apply close create deploy install kill launch merge pods provision rollback rollout scale stop tear
            teardown update upgrade
            """
        ),
    ),
}
"""By effect, the gravest first."""
