"""What is said of credentials is checked when it is read, and quotes nothing that may be one."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from user_config import write_config

from pi_intent.credentials import fetch
from pi_intent.errors import CredentialError
from pi_intent.gates.credentials import Credential
from pi_intent.hosts.mcp.needing import given_to
from pi_intent.settings import LoadedSettings, load_settings

STEERING = (
    "PATH HOME SHELL IFS LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES PYTHONPATH PYTHONSTARTUP BASH_ENV ENV "
    "NODE_OPTIONS GIT_SSH_COMMAND GIT_CONFIG_GLOBAL PROMPT_COMMAND PI_INTENT path"
)


def load(root: Path, text: str) -> LoadedSettings:
    write_config(root, text)
    return load_settings(project=None, environ={"XDG_CONFIG_HOME": str(root)})


def said(loaded: LoadedSettings) -> list[str]:
    return [warning.partition(".toml: ")[2] for warning in loaded.warnings]


@pytest.mark.parametrize("variable", STEERING.split())
def test_a_credential_takes_no_variable_that_programs_read_for_their_own_ends(tmp_path: Path, variable: str):
    loaded = load(tmp_path, f'[credentials]\nx = {{ from = "env:A", as = "{variable}" }}')
    assert loaded.settings.credentials == ()
    assert said(loaded) == [
        f'credentials.x has "{variable}" for as, but programs read that for their own ends; choose another variable.'
    ]


@pytest.mark.parametrize("what", ['"env:A"', '{ from = "env:A" }'])
def test_nor_by_its_own_name(tmp_path: Path, what: str):
    loaded = load(tmp_path, f"[credentials]\nld-preload = {what}")
    assert loaded.settings.credentials == ()
    assert said(loaded) == [
        "credentials.ld-preload would be given as LD_PRELOAD, but programs read that for their own ends; write "
        '{ from = "…", as = "ANOTHER_NAME" }.'
    ]


def test_a_variable_that_is_free_is_taken(tmp_path: Path):
    loaded = load(tmp_path, '[credentials]\nhome = { from = "env:A", as = "GIT_TOKEN" }\npath-key = "env:B"')
    assert [each.variable for each in loaded.settings.credentials] == ["GIT_TOKEN", "PATH_KEY"]
    assert said(loaded) == []


def test_a_command_whose_quotes_do_not_close_is_refused_and_not_quoted(tmp_path: Path):
    text = '[credentials]\nx = "command:pass \'show x"\ny = "command:pass \'show y\'"'
    loaded = load(tmp_path, text)
    assert [each.name for each in loaded.settings.credentials] == ["y"]
    assert said(loaded) == ["credentials.x has a quote after command: that is not closed; close it."]


def test_of_needs_the_wrong_entry_is_named_and_the_others_count(tmp_path: Path):
    text = '[credentials]\ndeploy = "env:DEPLOY"\n[tools]\nbash = { needs = ["deploy", 4, "a b"] }'
    loaded = load(tmp_path, text)
    assert loaded.settings.for_tool("bash", watched=True).needs == ("deploy",)
    assert said(loaded) == [
        f"tools.bash.needs holds {what}, which is no name of a credential: letters, digits, - and _, a letter first."
        for what in ("4", '"a b"')
    ]


def test_what_a_tool_of_a_server_needs_names_the_server(tmp_path: Path):
    load(
        tmp_path,
        '[credentials]\nk = "env:K"\n[tools]\ndeploy = { needs = ["k"] }\n"srv/x" = { needs = ["k"] }\n'
        'bash = { needs = ["k"] }\n"*" = { needs = ["k"] }\n"other/x" = { needs = ["k"] }\nplain = "omit"\n',
    )
    told: list[str] = []
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "K": "a long enough value"}
    assert given_to("srv", environ, told.append) == {"K": "a long enough value"}
    assert told == [
        f"{tmp_path / 'pi-intent' / 'config.toml'}: tools.deploy.needs reaches no wrapped server, "
        'whose tools are not known before it starts: if it is for srv, write tools."srv/deploy".needs.'
    ]


@pytest.mark.parametrize("named", ["srv/deploy", "srv/*", "srv/dep*"])
def test_what_names_the_server_as_well_is_not_told_to(tmp_path: Path, named: str):
    load(
        tmp_path,
        f'[credentials]\nk = "env:K"\n[tools]\ndeploy = {{ needs = ["k"] }}\n"{named}" = {{ needs = ["k"] }}\n',
    )
    told: list[str] = []
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "K": "a long enough value"}
    assert given_to("srv", environ, told.append) == {"K": "a long enough value"}
    assert told == []


def test_a_server_that_needs_what_is_not_defined_is_told_what_to_set(tmp_path: Path):
    load(tmp_path, '[tools]\n"srv/x" = { needs = ["k"] }\n')
    with pytest.raises(CredentialError, match=r"^the credential k is not defined: set credentials\.k$"):
        given_to("srv", {"XDG_CONFIG_HOME": str(tmp_path)}, print)


def test_a_need_that_is_not_defined_is_told_with_what_to_set(tmp_path: Path):
    assert said(load(tmp_path, '[tools.bash]\nneeds = ["deploy"]\n')) == [
        'tools.bash.needs names "deploy", which is not defined: set credentials.deploy; '
        "until then calls of the tool are refused."
    ]


def test_a_command_that_gives_no_answer_is_told_to_be_tried_by_hand(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("pi_intent.credentials.COMMAND_SECONDS", 1)
    needed = Credential(name="k", origin="command", where="sleep 60", variable="K")
    with pytest.raises(CredentialError) as raised:
        fetch([needed], os.environ)
    assert str(raised.value) == (
        "could not fetch the credential k: its command gave no answer in 1 s; run it by hand to see why"
    )


def test_a_server_that_waits_for_a_credential_says_so(tmp_path: Path):
    command = "command:sh -c 'sleep 1.3; echo a long enough value'"
    load(tmp_path, f'[credentials]\nk = "{command}"\n[tools]\n"srv/x" = {{ needs = ["k"] }}\n')
    told: list[str] = []
    assert given_to("srv", {**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}, told.append)
    assert told == ["waiting for the credential k"]


class NoKeyringError(Exception):
    """Called like the one of the package, which may not be installed."""


class KeyringLocked(Exception):
    """Likewise."""


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (
            NoKeyringError("secret"),
            "there is no keyring on this machine: in your settings, take it from command:… or env:…",
        ),
        (KeyringLocked("secret"), "the keyring is locked: unlock it and try again"),
        (OSError("secret"), "the keyring could not be read: see that it is unlocked"),
    ],
)
def test_of_a_keyring_that_cannot_be_read_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, error: Exception, why: str
):
    def raises(service: str, user: str) -> str:
        raise error

    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_password=raises))
    needed = Credential(name="k", origin="keyring", where="example.org/ada", variable="K")
    with pytest.raises(CredentialError) as raised:
        fetch([needed], {})
    assert str(raised.value) == f"could not fetch the credential k: {why}"


def test_a_keyring_without_what_reads_it_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "keyring", None)
    needed = Credential(name="k", origin="keyring", where="example.org/ada", variable="K")
    with pytest.raises(CredentialError, match=r"in the clone, pip install '\.\[keyring\]'"):
        fetch([needed], {})
