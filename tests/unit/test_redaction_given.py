"""A credential that was given to a tool is found in every form that the docs name, and nothing of it is left."""

from __future__ import annotations

import base64
import html
import json
import shutil
import subprocess
import time
from urllib.parse import quote

import pytest
from redacting import KEY, token

from pi_intent.redaction import Redactor

CREDENTIAL = "cAn<ry&-77x9Qz-s3cr3t"
MIDDLE = len(CREDENTIAL) // 2


def encoded(times: int, before: str = "", after: str = "") -> str:
    raw = (before + CREDENTIAL + after).encode()
    for _ in range(times):
        raw = base64.b64encode(raw)
    return raw.decode()


def escaped(text: str, pattern: str) -> str:
    return "".join(pattern % ord(character) for character in text)


def with_middle(between: str) -> str:
    return CREDENTIAL[:MIDDLE] + between + CREDENTIAL[MIDDLE:]


FORMS = {
    "plain": CREDENTIAL,
    "json of go": json.dumps(CREDENTIAL).replace("<", "\\u003c").replace("&", "\\u0026")[1:-1],
    "json of go, capitals": CREDENTIAL.replace("<", "\\u003C"),
    "json in json": json.dumps(CREDENTIAL.replace("<", "\\u003c").replace("&", "\\u0026"))[1:-1],
    "every letter in json": escaped(CREDENTIAL, "\\u%04x"),
    "html": html.escape(CREDENTIAL),
    "html by number": escaped(CREDENTIAL, "&#%d;"),
    "html by number in hex": escaped(CREDENTIAL, "&#x%X;"),
    "html twice": html.escape(html.escape(CREDENTIAL)),
    "url": quote(CREDENTIAL, safe=""),
    "every letter in a url": escaped(CREDENTIAL, "%%%02X"),
    "url twice": quote(quote(CREDENTIAL, safe=""), safe=""),
    "a literal of a shell": escaped(CREDENTIAL, "\\x%02x"),
    "octal": escaped(CREDENTIAL, "\\%03o"),
    "octal, as short as it goes": "".join(
        escaped(character, "\\%o") if following not in "01234567" else escaped(character, "\\%03o")
        for character, following in zip(CREDENTIAL, CREDENTIAL[1:] + " ", strict=True)
    ),
    "octal of echo": escaped(CREDENTIAL, "\\0%03o"),
    "octal of echo, one character": CREDENTIAL.replace("A", "\\0101"),
    "eight digits": escaped(CREDENTIAL, "\\U%08x"),
    "eight digits, one character": CREDENTIAL.replace("A", "\\U00000041"),
    "two digits of a shell": CREDENTIAL.replace("<", "\\u3c").replace("&", "\\U26"),
    "nul of C": "\\0".join(f"\\{ord(character):o}" if character.isdigit() else character for character in CREDENTIAL),
    "hex": CREDENTIAL.encode().hex(),
    "hex, capitals": CREDENTIAL.encode().hex().upper(),
    "hex with colons": CREDENTIAL.encode().hex(":"),
    "hex of xxd -i": ", ".join(f"0x{byte:02x}" for byte in CREDENTIAL.encode()),
    "base64": encoded(1),
    "base64 twice": encoded(2, "me:", "\n"),
    "base64 twice, otherwise": encoded(2, "m"),
    "base32": base64.b32encode(CREDENTIAL.encode()).decode(),
    "base32 of more": base64.b32encode(b"me:" + CREDENTIAL.encode() + b"\n").decode(),
    "backwards": CREDENTIAL[::-1],
    "small letters": CREDENTIAL.lower(),
    "capitals": CREDENTIAL.upper(),
    "a colour": with_middle("\x1b[1;31m"),
    "a colour, written out": with_middle("\\u001b[31m"),
    "a colour in eight bits": with_middle("\x9b0m"),
    "a title": with_middle("\x1b]0;title\x07"),
    "a link": with_middle("\x1b]8;;https://x\x1b\\"),
    "taken back": with_middle("xyz\b\b\b"),
    "in bold print": "".join(f"{character}\b{character}" for character in CREDENTIAL),
    "a backspace": with_middle("\b"),
    "nul": "\0".join(CREDENTIAL),
    "delete": with_middle("\x7f"),
    "right to left": with_middle("\u202e"),
    "isolated": with_middle("\u2066\u2069"),
    "a joiner": "\u2060".join(CREDENTIAL),
    "a tag": with_middle("\U000e0041"),
    "a variation": with_middle("\ufe0f"),
    "a comment": with_middle("\n# "),
}


@pytest.fixture
def redactor() -> Redactor:
    redactor = Redactor(KEY)
    redactor.learn([CREDENTIAL])
    return redactor


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("around", ["{}", "see ({}) there", 'é "{}"\n\x1b[0mmore &lt; %41 \\n'])
def test_a_credential_is_found_in_this_form_and_goes(redactor: Redactor, form: str, around: str) -> None:
    text = around.format(form)
    assert redactor.holds_known(text)
    redacted = redactor.text(text)
    assert token(redacted) == token(redactor.text(CREDENTIAL))
    assert not redactor.holds_known(redacted)
    left = redacted.replace(token(redacted), "")
    for at in range(len(form) - 4):
        assert form[at : at + 5] not in left or form[at : at + 5] in around
    assert not around.endswith("there") or redacted.endswith(") there")
    assert redactor.value({"a": ["b", text]}) == {"a": ["b", redacted]}


def dumped(command: str, raw: bytes) -> str:
    if shutil.which(command.split()[0]) is None:
        pytest.skip(f"there is no {command.split()[0]} here")
    return subprocess.run(command.split(), input=raw, stdout=subprocess.PIPE, check=True).stdout.decode()


DUMPS = (
    "xxd",
    "xxd -p",
    "xxd -u -c 7",
    "hexdump -C",
    "hexdump",
    "hexdump -v -c",
    "od -c",
    "od -An -tx1",
    "od -x",
    "od -t x1z",
)


@pytest.mark.parametrize("command", DUMPS)
@pytest.mark.parametrize("before", ["", "token: ", "x"])
def test_a_credential_is_found_in_a_dump(redactor: Redactor, command: str, before: str) -> None:
    text = dumped(command, f"{before}{CREDENTIAL}\nand more".encode())
    for told in (text, json.dumps(text)):
        assert redactor.holds_known(told)
        redacted = redactor.text(told)
        assert not redactor.holds_known(redacted)
        assert "s3cr3t" not in redacted


@pytest.mark.parametrize("command", DUMPS)
@pytest.mark.parametrize("offset", range(16))
@pytest.mark.parametrize("credential", ["tokA9a|3mZ7qW1xE5rT8zz", "0>a>b|c|9>7|d<2|8|", "a  |3mZ7qW1x|E5rT8zz"])
def test_what_looks_like_the_text_of_a_dump_is_found_in_one(command: str, offset: int, credential: str) -> None:
    redactor = Redactor(KEY)
    redactor.learn([credential])
    text = dumped(command, b"." * offset + credential.encode() + b"\nand more, on a line of its own")
    for told in (text, json.dumps(text)):
        assert redactor.holds_known(told)
        assert not redactor.holds_known(redactor.text(told))


BEYOND_ASCII = ("пароль-от-двери", "käse-&-wein🍷", "ÐøÐ¿âÿÐ±Ñþþþ", "pässw0rd-ünd-mehr")


def octal(raw: bytes, pattern: str = "\\%03o") -> str:
    return "".join(chr(byte) if byte < 0x80 else pattern % byte for byte in raw)


@pytest.mark.parametrize("credential", BEYOND_ASCII)
@pytest.mark.parametrize("before", ["", "\xff", "me: "])
def test_a_credential_beyond_ascii_is_found_in_literals(credential: str, before: str) -> None:
    redactor = Redactor(KEY)
    redactor.learn([credential])
    raw = before.encode("latin-1") + credential.encode()
    for form in (
        repr(raw),
        repr(raw).replace("\\x", "\\\\x"),
        octal(raw),
        octal(raw, "\\0%03o"),
        quote(raw),
        "".join(f"\\x{byte:02X}" for byte in raw),
        "".join(f"\\{byte:o}" for byte in credential.upper().encode()),
        repr(credential[::-1].encode()),
        credential[:5] + repr(credential[5:].encode())[2:-1],
        "".join(f"\\U{ord(character):08X}" for character in credential),
        credential.encode("ascii", "backslashreplace").decode(),
    ):
        assert redactor.holds_known(form), form
        assert not redactor.holds_known(redactor.text(f"see {form}, and more"))


@pytest.mark.parametrize("command", DUMPS)
@pytest.mark.parametrize("credential", BEYOND_ASCII)
@pytest.mark.parametrize("before", ["", "token: "])
def test_a_credential_beyond_ascii_is_found_in_a_dump(credential: str, command: str, before: str) -> None:
    redactor = Redactor(KEY)
    redactor.learn([credential])
    text = dumped(command, f"{before}{credential}\nand more".encode())
    for told in (text, json.dumps(text)):
        assert redactor.holds_known(told)
        assert not redactor.holds_known(redactor.text(told))


@pytest.mark.parametrize(
    "credential", ["100%41%26 done", "a\\nb\\u0041&amp;cd-ef", "\\n12345678", "tab\there\x0112", "käse-&-wein🍷"]
)
def test_a_credential_that_looks_encoded_itself_is_found(credential: str) -> None:
    redactor = Redactor(KEY)
    redactor.learn([credential])
    for form in (credential, json.dumps(credential), html.escape(credential), quote(credential, safe="")):
        assert redactor.holds_known(f"see {form}.")
        assert not redactor.holds_known(redactor.text(f"see {form}."))


def test_what_merely_resembles_it_stays(redactor: Redactor) -> None:
    text = "cAn<ry &amp; -77x9Qz: \x1b[1mbold\x1b[0m, 50%25, \\u003c, 63416e3c, Y0FuPHJ5"
    text += "\n0000000   c   A   n\n0000020   <"
    assert redactor.text(text) is text
    assert not redactor.holds_known(text)


def test_only_what_was_given_is_looked_for_in_capitals() -> None:
    redactor = Redactor(KEY, {"API_KEY": "velvetcanyon7"})
    assert redactor.text("see VELVETCANYON7") == "see VELVETCANYON7"


DUMP = "00000000: 6341 6e3c 7279 262d 3737 7839 517a 2d73  cAn<ry&-77x9Qz-s\n00000010: 3363 7233 74  3cr3t\n"
HOSTILE = (
    "\\",
    "\\u003",
    "\\U0000",
    "\\U00000041",
    "\\60",
    "\\0101",
    "\\320\\277",
    "\\xd0\\xbf",
    "\\xff\\\\\\",
    "%4",
    "%41",
    "%ff",
    "&amp;",
    "&am",
    "\x1b[",
    "\x1b]",
    "\x1b",
    "x\b",
    "\b",
    " ",
    "a  ",
    "0x",
    "é",
)
HOSTILE += (
    "\n000000 ",
    "\n00000000: ",
    "\n# ",
    "63",
    "\\n",
    CREDENTIAL + " ",
    CREDENTIAL.encode().hex() + "\n",
    DUMP,
)


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("last", ["", CREDENTIAL, DUMP, DUMP + "\\" * 20_000])
def test_what_stands_behind_a_hostile_text_is_found(redactor: Redactor, unit: str, last: str) -> None:
    text = unit * (8_000 // len(unit)) + last
    held = redactor.holds_known(text)
    assert held == bool(last) or CREDENTIAL in unit or unit == DUMP or unit.startswith("6341")
    if held:
        assert not redactor.holds_known(redactor.text(text))


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hostile_text_hangs_nothing(redactor: Redactor, unit: str) -> None:
    begun = time.process_time()
    redactor.text(unit * (500_000 // len(unit)) + DUMP)
    assert time.process_time() - begun < 30  # what grew with the square of it would take minutes
