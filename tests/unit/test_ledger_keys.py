"""The key of a ledger, and the digests made with it."""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pi_intent.errors import LedgerError
from pi_intent.ledger.keys import Digester, load_key, lost_key, redaction_key

LOAD = (
    "import os, sys; from pathlib import Path; from pi_intent.ledger.keys import load_key;"
    "os.umask(0); sys.stdin.readline(); print(load_key(Path(sys.argv[1])).hex())"
)


def test_many_processes_at_once_get_the_same_key(tmp_path: Path) -> None:
    root = tmp_path / "pi-intent"
    command = (sys.executable, "-B", "-c", LOAD, str(root))
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(8)
    ]
    for process in processes:  # all have loaded their modules, or are about to: let them go together
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    keys = {process.communicate(timeout=60)[0] for process in processes}
    assert keys == {(root / "key").read_bytes().hex() + "\n"}
    assert [path.name for path in root.iterdir()] == ["key"]
    assert stat.S_IMODE((root / "key").stat().st_mode) == 0o600
    assert stat.S_IMODE(root.stat().st_mode) == 0o700


BEGUN_BY_ANOTHER = """
import sys
from pathlib import Path
from pi_intent.ledger.keys import load_key, lost_key
root = Path(sys.argv[1])
(root / "ledger").mkdir()
def another(event, arguments):
    if event == "os.scandir" and not (root / "key").exists():
        load_key(root)
        (root / "ledger" / "another.0123456789ab.jsonl").touch()
sys.addaudithook(another)
print(lost_key(root))
(root / "key").unlink()
"""


def test_a_ledger_that_another_process_begins_meanwhile_has_not_lost_its_key(tmp_path: Path) -> None:
    """The other one puts its key and its records there between the look for the key and the look for records."""
    command = (sys.executable, "-B", "-c", BEGUN_BY_ANOTHER, str(tmp_path))
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "None\n"
    assert lost_key(tmp_path) is not None, "with records and no key, it is lost"


def test_a_key_that_is_too_open_is_closed_to_others(tmp_path: Path) -> None:
    key = load_key(tmp_path)
    (tmp_path / "key").chmod(0o644)
    assert load_key(tmp_path) == key
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "content", [b"", b"short", bytes(32), os.urandom(33)], ids=["empty", "short", "zeros", "too long"]
)
def test_a_damaged_key_is_an_error_that_says_what_to_do_and_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(LedgerError) as caught:
        load_key(tmp_path)
    assert str(caught.value) == (
        f"the key of the ledger, {tmp_path / 'key'}, is damaged: put it back from a backup, or move it away and a "
        "new one is made (digests made with the old key can then no longer be compared)"
    )
    assert (tmp_path / "key").read_bytes() == content


def test_a_key_that_cannot_be_made_is_an_error_that_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="cannot be read or made"):
        load_key(tmp_path / "file" / "root")


def test_a_digest_is_the_first_half_of_an_hmac() -> None:
    key = bytes(range(32))
    expected = hmac.new(key, b"text", hashlib.sha256).hexdigest()[:32]
    assert Digester(key).digest(b"text") == f"hmac:{expected}"
    assert Digester(key).digest(b"texT") != Digester(key).digest(b"text") != Digester(key[::-1]).digest(b"text")


def test_tokens_of_secrets_are_made_under_another_key() -> None:
    assert redaction_key(bytes(32)) not in (bytes(32), redaction_key(bytes(31) + b"1"))
    assert len(redaction_key(bytes(32))) == 32
