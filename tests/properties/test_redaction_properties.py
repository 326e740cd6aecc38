"""Whatever surrounds a secret, it does not survive; what holds none comes back as it was."""

from __future__ import annotations

import base64
import html
import json
import string
from collections.abc import Callable
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from pi_intent.redaction import Redactor
from pi_intent.redaction.given import counted
from pi_intent.redaction.readings import Reading, Traced, readings

KEY = b"ledger key"
VALUE = "tulip" + "-Mango+42/kiosk?"
REDACTOR = Redactor(KEY, {"SERVICE_TOKEN": VALUE})

ALPHANUMERIC = string.ascii_letters + string.digits
URL_SAFE = ALPHANUMERIC + "-_"


def body(alphabet: str, least: int, most: int) -> st.SearchStrategy[str]:
    """A body of a secret: drawn characters, of mixed kinds in each piece that is looked for afterwards."""
    return st.text(alphabet, min_size=least, max_size=most).map(lambda drawn: "Zq7Kx2Wv9" + drawn + "R4t6")


secrets = st.one_of(
    st.tuples(
        st.sampled_from(["sk-", "sk-proj-", "sk-or-v1-", "sk-live-", "sk_live_", "rk_live_"]), body(URL_SAFE, 10, 90)
    ),
    st.tuples(st.just("sk-ant-" + "api03-"), body(URL_SAFE, 10, 90)),
    st.tuples(st.sampled_from(["gh" + kind + "_" for kind in "pousr"]), body(ALPHANUMERIC, 23, 23)),
    st.tuples(st.just("github" + "_pat_"), body(ALPHANUMERIC, 69, 69)),
    st.tuples(
        st.sampled_from(["xox" + kind + "-" for kind in "abprs"] + ["xapp" + "-"]), body(ALPHANUMERIC + "-", 10, 50)
    ),
    st.tuples(
        st.sampled_from(["AK" + "IA", "AS" + "IA"]),
        st.text(string.ascii_uppercase + "234567", min_size=16, max_size=16),
    ),
    st.tuples(st.just("AI" + "za"), body(URL_SAFE, 22, 22)),
    st.tuples(st.just("hf" + "_"), body(ALPHANUMERIC, 21, 21)),
    st.tuples(st.just("npm" + "_"), body(ALPHANUMERIC, 23, 23)),
    st.tuples(st.just("pypi" + "-AgEIcHlwaS5vcmc"), body(URL_SAFE, 60, 90)),
    st.tuples(st.just("gl" + "pat-"), body(URL_SAFE, 7, 7)),
    st.tuples(st.just("ey" + "JhbGciOiJIUzI1NiJ9.eyJ"), body(URL_SAFE, 10, 60), st.just("."), body(URL_SAFE, 20, 30)),
).map("".join)

around = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(list(" \n\t\\\"'`=:+/.,;${}()[]<>@-_%&|")),
    ),
    max_size=60,
)
words = st.lists(
    st.sampled_from(
        [
            "password=",
            "token: '",
            "Bearer ",
            "sk-",
            "eyJ",
            "://a:",
            "\\n",
            '" "',
            "\\\n",
            "key",
            "\n",
            "=",
            "curl -u a:b ",
        ]
    ),
    max_size=6,
).map("".join)
edges = st.sampled_from(["", " ", "\n", '"', "'", "=", ":", "\\n", "(", "/", "`", ">", "%20"])


@given(st.one_of(around, words), edges, secrets, edges, st.one_of(around, words))
@settings(max_examples=400, deadline=None)
def test_a_secret_of_a_named_shape_never_survives_in_random_text(
    before: str, left: str, secret: str, right: str, after: str
) -> None:
    if before[-1:].isalnum() and not left:
        left = " "
    redacted = REDACTOR.text(before + left + secret + right + after)
    assert secret not in redacted
    for piece in (secret[:20], secret[-12:]):
        assert piece not in redacted or piece in before or piece in after
    assert REDACTOR.text(redacted) == redacted


@given(
    st.text(max_size=40),
    st.sampled_from(["", "\n", "\\\n", " ", "\\n", '" "', "\t", "\\\r\n  ", '" + "']),
    st.text(max_size=40),
)
@example(before="\\", gap="\\n", after="")
@settings(max_examples=200, deadline=None)
def test_the_value_of_a_secret_variable_never_survives_with_fillers_between_its_characters(
    before: str, gap: str, after: str
) -> None:
    for form in (VALUE, base64.b64encode(VALUE.encode()).decode()):
        redacted = REDACTOR.text(before + gap.join(form) + after)
        assert gap.join(form) not in redacted
        assert gap.join(form[4:-4]) not in redacted


@given(secrets, st.integers(1, 200), st.sampled_from(["\\\n", '" "', "' + '", '"\n  "']))
@settings(max_examples=300, deadline=None)
def test_a_secret_joined_from_two_parts_has_the_token_of_the_whole(secret: str, place: int, gap: str) -> None:
    at = 1 + place % (len(secret) - 1)
    redacted = REDACTOR.text(f"({secret[:at]}{gap}{secret[at:]})")
    assert redacted == REDACTOR.text(f"({secret})")


@given(st.text(max_size=300))
@settings(max_examples=300, deadline=None)
def test_every_text_is_read_without_an_error_and_settles(text: str) -> None:
    redacted = Redactor(KEY, {"A_SECRET": text}, entropy=True).text(text)
    assert REDACTOR.text(REDACTOR.text(text)) == REDACTOR.text(text)
    assert Redactor(KEY, {"A_SECRET": text}, entropy=True).text(redacted) == redacted


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="=:-_@"), max_size=300).map(
        lambda text: text.replace("e", "é")
    )
)
def test_a_text_without_anything_to_look_for_is_the_very_same_object(text: str) -> None:
    redactor = Redactor(KEY)
    if not any(anchor in "".join(text.split()) for anchor in ("AKIA", "ASIA", "AIza", "basic")):
        assert redactor.text(text) is text


values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20), secrets),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(st.text(max_size=8), secrets), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(values, secrets)
@settings(max_examples=200, deadline=None)
def test_no_secret_survives_in_a_json_value_and_its_shape_stays(value: Any, secret: str) -> None:
    redacted: Any = REDACTOR.value([value, {"a": [secret], secret: {"b": secret}}])
    assert secret not in repr(redacted)
    assert len(redacted) == 2
    assert type(redacted[0]) is type(value)
    if isinstance(value, (list, dict)):
        assert len(redacted[0]) == len(value)
    assert REDACTOR.value(redacted) is redacted


def each(pattern: str) -> Callable[[str], str]:
    return lambda text: "".join(pattern % ord(character) if character < "\x80" else character for character in text)


def between(gap: str) -> Callable[[str], str]:
    return lambda text: gap.join(text)


WRITTEN: list[Callable[[str], str]] = [
    str,
    str.upper,
    lambda text: text[::-1],
    lambda text: base64.b64encode(text.encode()).decode(),
    lambda text: base64.b64encode(base64.b64encode(b"me:" + text.encode() + b"\n")).decode(),
    lambda text: base64.b32encode(b"x" + text.encode()).decode(),
    lambda text: text.encode().hex(" ").upper(),
]
OVER: list[Callable[[str], str]] = [
    str,
    each("\\u%04x"),
    each("\\x%02X"),
    each("\\0%03o"),
    each("\\U%08x"),
    lambda text: repr(text.encode()),
    each("%%%02x"),
    each("&#%d;"),
    lambda text: json.dumps(json.dumps(text)),
    lambda text: html.escape(html.escape(text)),
    between("\x1b[1;31m"),
    between("\u202e"),
    between("\0"),
    between("xy\b\b"),
    between("\n# "),
]
credentials = st.text(
    # A backslash of its own may read as an escape with what follows, where others are put before it.
    st.sampled_from([*(string.ascii_letters + string.digits + string.punctuation.replace("\\", "")), "ä", "🍷"]),
    min_size=8,
    max_size=40,
).filter(lambda text: counted(text) >= 8)


@given(credentials, st.sampled_from(WRITTEN), st.sampled_from(OVER), st.text(string.printable, max_size=20))
@example("00000000\\", WRITTEN[2], OVER[1], "")
@settings(max_examples=600, deadline=None, derandomize=True)
def test_a_given_credential_is_found_however_two_things_are_done_to_it(
    credential: str, write: Callable[[str], str], over: Callable[[str], str], around: str
) -> None:
    redactor = Redactor(KEY)
    redactor.learn([credential])
    text = f"{around} ({over(write(credential))}) {around}"
    assert redactor.holds_known(text)
    redacted = redactor.text(text)
    assert not redactor.holds_known(redacted.replace("[redacted:", ""))


codes = st.sampled_from(
    [
        "\\u0041",
        "\\n",
        "\\0101",
        "\\60",
        "\\U0001f377",
        "\\xd0\\xbf",
        "\\320\\277\\377",
        "%41",
        "%C3%A4",
        "&amp;",
        "&#65;",
        "\x1b[1m",
        "\x1b]8;;\x1b\\",
        "\b",
        "\0",
        "\n000000 ",
        "  |x|\n000000: 4",
        "0x",
        "é",
    ]
)


@given(st.lists(st.one_of(st.text(max_size=8), codes), max_size=12).map("".join))
@example("\n000000: 41  A\n000001: 42")
@settings(max_examples=400, deadline=None)
def test_a_reading_that_knows_its_places_reads_the_same(text: str) -> None:
    traced = list(readings(Traced(text)))
    assert [(read.text, digits) for read, digits in traced] == [
        (read.text, digits) for read, digits in readings(Reading(text))
    ]
    for read, _ in traced:
        assert len(read.starts) == len(read.ends) == len(read.text)
        assert all(0 <= start < end <= len(text) for start, end in zip(read.starts, read.ends, strict=True))
        assert list(read.starts) == sorted(read.starts)
