"""What sessions were given is known of those that are used, and of forgotten ones it counts for all."""

from __future__ import annotations

from pi_intent.hosts.pydantic_ai.sessions import MOST_FORGOTTEN, MOST_SESSIONS, GivenSecrets


def test_a_session_that_is_used_is_not_forgotten():
    given = GivenSecrets()
    given.add(["first"], frozenset({"of-the-first"}))
    given.add(["second"], frozenset({"of-the-second"}))
    for number in range(MOST_SESSIONS - 1):
        assert given.of(["first"]) == {"of-the-first"}
        given.add([f"s-{number}"], frozenset({"of-many"}))
    assert given.of(["second"]) == given.of(["unknown"]) == {"of-the-second"}
    assert given.of(["first"]) == {"of-the-first", "of-the-second"}
    assert given.of(["unknown", "s-1"]) == given.of(["unknown"]) | {"of-many"}


def test_of_what_is_forgotten_the_oldest_goes_at_last():
    given = GivenSecrets()
    for number in range(2 * MOST_SESSIONS + MOST_FORGOTTEN):
        assert len(given.of([f"s-{number}"])) <= MOST_FORGOTTEN
        given.add([f"s-{number}"], frozenset({f"of-{number}"}))
    assert given.of(["unknown"]) == {f"of-{MOST_SESSIONS + number}" for number in range(MOST_FORGOTTEN)}
