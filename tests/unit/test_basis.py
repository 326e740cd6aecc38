"""What a person could go by is read back from what was on the screen."""

from __future__ import annotations

from pi_intent.render.basis import basis

SHOWN = """Wants to run bash in /srv/app
= "command": {"bytes":3182,"digest":"hmac:0"}
It is given the credentials deploy, mail.
Asked because of:
> tier exec
The agent says, unverified:
> Release it
What it would do:
> deletes: rm -rf build
> network: git push
|  origin main
Read before:
> build: not read in this session
Earlier in this session:
> read notes.md (ok), for: See what is left"""


def test_everything_beside_the_action_and_the_words_is_there():
    assert basis(SHOWN) == (
        ("It is given the credential", "deploy, mail"),
        ("What it would do:", "deletes: rm -rf build; network: git push origin main"),
        ("Read before:", "build: not read in this session"),
        ("Earlier in this session:", "read notes.md (ok), for: See what is left"),
    )


def test_of_nothing_shown_there_is_nothing():
    assert basis(None) == basis("") == ()
