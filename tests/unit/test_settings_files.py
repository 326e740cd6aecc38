"""Of a file that cannot be used nothing counts; that is told, and what it may have guarded is asked about."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from settings_machine import Machine, policy_of

from pi_intent.gates.tiers import is_asked, tier_of
from pi_intent.settings import LoadedSettings, Settings, load_settings
from pi_intent.settings.wording import ASKED_MEANWHILE, Lapse

UNREAD = (
    "; nothing in it counts, so every call that writes or runs something is asked about "
    "until you correct or remove it."
)


def make_link(path: Path) -> None:
    target = path.parent / "target.toml"
    target.write_text('policy = "require"')
    path.symlink_to(target)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(path.parent)  # the address has room for a hundred characters
        try:
            listener.bind(path.name)
        finally:
            os.chdir(here)


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "link": (make_link, "is a symbolic link, which is not followed in a project"),
    "link to nothing": (
        lambda path: path.symlink_to("/nowhere/at/all"),
        "is a symbolic link, which is not followed in a project",
    ),
    "endless device": (
        lambda path: path.symlink_to("/dev/zero"),
        "is a symbolic link, which is not followed in a project",
    ),
    "directory": (Path.mkdir, "is a folder"),
    "pipe": (os.mkfifo, "is not a regular file"),
    "socket": (make_socket, "cannot be read (No such device or address)"),
    "too large": (lambda path: path.write_bytes(b"#" * (256 * 1024 + 1)), "is larger than 256 KiB"),
    "UTF-16": (lambda path: path.write_bytes('policy = "require"'.encode("utf-16")), "is not UTF-8 text"),
    "Latin-1": (lambda path: path.write_bytes(b"# \xe9t\xe9"), "is not UTF-8 text"),
    "null bytes": (
        lambda path: path.write_bytes(b"\0" * 100),
        "cannot be read as TOML: line 1, column 1: invalid statement",
    ),
    "nested": (lambda path: path.write_text("x = " + "[" * 200_000), "is nested too deeply"),
    "dotted": (
        lambda path: path.write_text("budget = 5\n" + "a." * 100_000 + "a = 1"),
        "has more than 64 dots in line 2, which no setting needs",
    ),
    "digits": (
        lambda path: path.write_text("budget = " + "9" * 200_000),
        "holds a number that is too long to read",
    ),
}


def bounded(run: Callable[[], LoadedSettings]) -> LoadedSettings:
    """Run something that must not wait for anybody, and give up on it after ten seconds."""
    results: list[LoadedSettings] = []
    thread = threading.Thread(target=lambda: results.append(run()), daemon=True)
    thread.start()
    thread.join(timeout=10)
    assert results, "loading the settings did not come back"
    return results[0]


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_project_file_is_told_about_and_has_a_person_asked(machine: Machine, kind: str) -> None:
    make, reason = HOSTILE[kind]
    make(machine.project_file)
    loaded = bounded(lambda: machine.load(user='policy = "adaptive"'))
    lost = f"{machine.project_file} does not count"
    assert loaded.settings == Settings(policy="adaptive", ask="write", meanwhile=lost)
    assert loaded.origins["ask"] == lost
    assert loaded.warnings == (f"{machine.project_file} {reason}{UNREAD}",)
    assert isinstance(loaded.warnings[0], Lapse)
    assert loaded.files == (machine.user_file,)


def test_of_broken_toml_nothing_counts(machine: Machine) -> None:
    loaded = machine.load(user='strict = true\npolicy == "omit"\n')
    lost = f"{machine.user_file} does not count"
    assert (loaded.settings, loaded.files) == (Settings(ask="write", meanwhile=lost), ())
    assert loaded.warnings == (
        f"{machine.user_file} cannot be read as TOML: line 2, column 9: invalid value{UNREAD}",
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('ask = "exec\n', "line 1, column 12: a quote is not closed in its line"),
        ('ask = "\x01"', "line 1, column 8: a character that no text may hold"),
        ("[tools.bash]\n[tools.bash]\n", "line 2, column 12: a table is there twice"),
        ("tools = { a = 1, a = 2 }", "line 1, column 23: a key is there twice in a table"),
        ("tools = {}\ntools.a = 2", "at its end: a table in braces is added to"),
        ("ask = [1", "at its end: unclosed array"),
    ],
)
def test_why_it_is_no_toml_is_told_by_its_place_and_in_plain_words(machine: Machine, text: str, why: str) -> None:
    assert machine.load(user=text).warnings == (f"{machine.user_file} cannot be read as TOML: {why}{UNREAD}",)


def make_unreadable(path: Path) -> None:
    path.write_bytes(b"# \xe9t\xe9")


UNUSABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "link to nowhere": (lambda path: path.symlink_to("/nowhere/at/all"), "is a link to nowhere"),
    "folder": (Path.mkdir, "is a folder"),
    "Latin-1": (make_unreadable, "is not UTF-8 text"),
    "too large": HOSTILE["too large"],
    "no TOML": (
        lambda path: path.write_text("ask = exec"),
        "cannot be read as TOML: line 1, column 7: invalid value",
    ),
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_where_the_users_file_cannot_be_read_all_that_changes_something_is_asked_about(
    machine: Machine, kind: str
) -> None:
    make, reason = UNUSABLE[kind]
    make(machine.user_file)
    loaded = machine.load(env={"PI_INTENT_ASK": "none"})
    assert loaded.warnings == (f"{machine.user_file} {reason}{UNREAD}",)
    asked = {name: is_asked(loaded.settings.ask, tier_of(None, name, None, {})) for name in ("read", "write", "bash")}
    assert asked == {"read": False, "write": True, "bash": True}
    assert loaded.settings.can_ask
    assert loaded.origins["ask"] == f"{machine.user_file} does not count"


def test_a_folder_that_is_a_link_to_nowhere_is_told_as_well(machine: Machine) -> None:
    folder = machine.user_file.parent
    folder.rmdir()
    folder.symlink_to("/nowhere/at/all")
    loaded = machine.load()
    assert loaded.warnings == (f"{machine.user_file} lies in {folder}, which is a link to nowhere{UNREAD}",)
    assert loaded.settings.ask == "write"


def test_who_is_asked_about_everything_stays_so_and_no_file_is_no_fault(machine: Machine) -> None:
    assert machine.load().settings.ask == "none"
    machine.user_file.mkdir()
    loaded = machine.load(env={"PI_INTENT_ASK": "all"})
    assert (loaded.settings.ask, loaded.origins["ask"]) == ("all", "PI_INTENT_ASK")


def test_an_unreadable_file_is_told_about(machine: Machine) -> None:
    machine.user_file.symlink_to(machine.user_file)
    assert machine.load().warnings == (
        f"{machine.user_file} cannot be read (Too many levels of symbolic links){UNREAD}",
    )


def test_the_users_file_may_be_a_link(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text('policy = "derive"')
    machine.user_file.symlink_to(tmp_path / "dotfiles.toml")
    assert machine.load().settings.policy == "derive"


def test_a_byte_order_mark_and_windows_line_ends_are_read(machine: Machine) -> None:
    machine.user_file.write_bytes(b'\xef\xbb\xbfpolicy = "derive"\r\nbudget = 4\r\n')
    loaded = machine.load()
    assert (loaded.settings.policy, loaded.settings.budget) == ("derive", 4)


def test_a_line_of_dots_in_a_comment_is_no_reason_to_refuse_a_file(machine: Machine) -> None:
    assert machine.load(user="# " + "." * 100 + "\nstrict = true\n").settings.strict


def test_a_path_that_cannot_exist_is_told_about() -> None:
    loaded = load_settings(project=Path("/tmp/a\0b"), environ={})
    assert loaded.warnings == ('"/tmp/a\\u0000b/.pi-intent.toml" is not the name of a file' + UNREAD,)


def test_a_flood_of_faults_is_cut_and_does_not_bury_those_of_the_user(machine: Machine) -> None:
    many = "".join(f"k{number} = 1\n" for number in range(15_000))
    tools = "[tools]\n" + "".join(f't{number} = "omit"\n' for number in range(5_000))
    loaded = bounded(
        lambda: machine.load(user='policy = "omit"\nbudget = 5\n[tools]\nread = "require"\n', project=many + tools)
    )
    path = machine.project_file
    assert loaded.warnings[0] == f"{path} has 15000 unknown keys; the first 5 are named here."
    assert loaded.warnings[6] == f"{path}: tools has more than 256 entries; the others do not count."
    assert loaded.warnings[7] == f"{path}: tools does not count in full, so {ASKED_MEANWHILE}"
    assert loaded.warnings[8] == (
        f'{machine.user_file}: budget has no effect beside the policy "omit": only "adaptive" counts rounds.'
    )
    assert len(loaded.warnings) == 9
    assert policy_of(loaded, "read") == "require"


def test_hundreds_of_laxer_rules_are_told_about_twenty_times_after_what_concerns_the_user(machine: Machine) -> None:
    loaded = machine.load(
        user='policy = "omit"\nbudget = 9\n[tools]\n"t*" = "require"',
        project="[tools]\n" + "".join(f't{number} = "omit"\n' for number in range(200)),
    )
    assert len(loaded.warnings) == 21
    assert loaded.warnings[0] == (
        f'{machine.user_file}: budget has no effect beside the policy "omit": only "adaptive" counts rounds.'
    )
    assert loaded.warnings[1] == (
        f'{machine.project_file}: tools.t0.policy asks for "omit" where "require" holds; '
        "the project's file can only make this stricter."
    )
    assert loaded.warnings[-1] == "settings: 181 more warnings like these; pi-intent doctor tells all."


def test_nothing_from_a_file_reaches_a_screen_raw(machine: Machine) -> None:
    loaded = machine.load(
        project=(
            r'"\u001b[2J\u202E" = 1' + "\n" + r'policy = "\u001b]0;x\u0007"' + "\n"
            r"[tools]" + "\n" + r'"a\u001b[31m" = 5' + "\n" + f'long = "{"x" * 1000}"\n'
        )
    )
    assert all(sentence.isprintable() and len(sentence) < 400 for sentence in loaded.warnings)
    assert len(loaded.warnings) == 4


def test_the_home_of_somebody_else_holds_no_settings_of_ours(machine: Machine) -> None:
    machine.home.chmod(0)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        loaded = machine.load()
    finally:
        if root:
            os.seteuid(0)
        machine.home.chmod(0o700)
    assert (loaded.settings.ask, loaded.warnings) == ("none", ())
