"""What a program changes of the machine: rights, processes, services, containers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from pi_intent.gates.shell.running.subcommands import CONTAINER_GROUPS, CONTAINERS
from pi_intent.word_sets import word_set

_PRIVILEGES = word_set(
    "sudo sudoedit doas su pkexec chown chgrp setcap visudo passwd useradd usermod userdel adduser setfacl "
    "groupadd groupmod groupdel chpasswd gpasswd chattr newgrp"
)
_SYSTEM = word_set(
    "kill pkill killall xkill systemctl service shutdown reboot halt poweroff init mount umount crontab launchctl "
    "iptables "
    "ip6tables nft ufw firewall-cmd modprobe insmod rmmod sysctl swapoff swapon fdisk parted sfdisk losetup at batch "
    "loginctl hostnamectl timedatectl update-rc.d chroot nsenter fuser"
)
_LOOKS = word_set(
    "status show list list-units list-unit-files is-active is-enabled cat --version --status-all -l --list"
)
_GIVES_AWAY = re.compile(
    r"[0-7]*[2367]|0?[2-7][0-7]{3}|[ugoa]*(?:[-+=][rwxXst]*)*[+=][rwxX]*s[rwxX]*"
    r"|(?=[ug]*[oa])[ugoa]*(?:[-+=][rwxXst]*)*[+=](?:[rxXt]*w[rwxXt]*|u)"
)
"""Modes in which everybody may write to a file, or it runs as its owner."""
_MODE = re.compile(r"(?:-[a-zA-Z]*m|--mode=)(?P<mode>.+)")
_MODE_BEHIND = re.compile("-[a-zA-Z]*m|--mode")
_SETS_KERNEL = re.compile(r"-[a-z]*[wpf]|--(?:write|load|system)|[^-].*=")
_KILLS = re.compile("-[a-zA-Z]*k|--kill")
_DOCKER_ACTS = word_set(
    "run rm rmi prune kill stop restart exec start down up create cp load import commit pause unpause update"
)
_DOCKER_GROUP_ACTS = _DOCKER_ACTS | word_set(
    "leave join init scale deploy rollback demote promote connect disconnect remove"
)


def machine_dangers(program: str, texts: tuple[str, ...], words: list[str]) -> Iterator[str]:
    if program in _PRIVILEGES or any(
        _GIVES_AWAY.fullmatch(part) for mode in _modes(program, texts, words) for part in mode.split(",")
    ):
        yield "privileges"
    elif program in _SYSTEM:
        looks = {
            "systemctl": bool(words) and (words[0] in _LOOKS or words[0].startswith(("list-", "is-"))),
            "service": bool(set(texts) & _LOOKS),
            "kill": texts[:1] in (("-l",), ("-0",)),
            "crontab": "-l" in texts,
            "at": texts == ("-l",),
            "batch": texts == ("-l",),
            "mount": not texts or texts == ("-l",),
            "sysctl": not any(map(_SETS_KERNEL.match, texts)),
            "launchctl": bool(words) and words[0] in ("list", "print"),
            "iptables": bool({"-L", "-S", "--list"} & set(texts)),
            "ufw": "status" in words,
            "fdisk": "-l" in texts,
            "parted": "-l" in texts,
            "nft": words[:1] == ["list"],
            "losetup": not texts or "-a" in texts,
            "fuser": not any(map(_KILLS.match, texts)),
            "pkill": texts[:1] == ("-0",),
            "hostnamectl": not words,
            "timedatectl": not words or words[0] in _LOOKS,
            "loginctl": not words or words[0].startswith("list"),
        }.get(program, False)
        if not looks:
            yield "system"
    elif program in CONTAINERS and _docker_acts(words):
        yield "system"


def _modes(program: str, texts: tuple[str, ...], words: list[str]) -> Iterator[str]:
    """The modes that a program gives to files."""
    if program == "chmod":
        yield from words[:1]
    elif program in ("install", "mkdir", "mkfifo", "mknod"):
        yield from (found["mode"] for found in map(_MODE.fullmatch, texts) if found)
        yield from (after for text, after in pairwise(texts) if _MODE_BEHIND.fullmatch(text))


def _docker_acts(words: list[str]) -> bool:
    if words and words[0] in CONTAINER_GROUPS:
        return any(word in _DOCKER_GROUP_ACTS for word in words[1:2])
    return bool(words) and words[0] in _DOCKER_ACTS
