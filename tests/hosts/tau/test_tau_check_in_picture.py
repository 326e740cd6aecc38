"""The picture of a question in the documents is what Tau's screen shows."""

from __future__ import annotations

from check_in_picture import PICTURE, picture, words


def test_the_picture_is_what_the_screen_shows():
    drawn = picture()
    assert words(drawn) == words(PICTURE.read_text(encoding="utf-8")), "run tests/check_in_picture.py"
    assert "@font-face" not in drawn
    assert "ask-" not in drawn
