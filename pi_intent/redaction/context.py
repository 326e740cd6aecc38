"""Find secrets by what stands around them: headers, URLs, assignments, options."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from pi_intent.redaction.looks import IDENTIFIER, PATH, is_placeholder, is_prose, is_random, mixes_digits
from pi_intent.redaction.names import name_parts, strength_of
from pi_intent.redaction.spans import ANY_LEADER, JUDGED, Span, Strength, match_end
from pi_intent.redaction.wrapped import leads_alike, rest_of, stands_below, wrapped_urls

SCHEME = re.compile(r"(?i)(?:bearer|basic|token|apikey|negotiate|bot)[ \t]++(?=\S)")
_HEADER = re.compile(r"(?i)(?<![A-Za-z0-9_])(?P<scheme>bearer|basic)[ \t]{1,8}(?P<value>[A-Za-z0-9._~+/=-]++)")
_URL = re.compile(r"://[^\s/:@\"'<>\\]{0,256}+:(?P<value>[^\s/\"'<>\\]{1,512})@")
_CURL_USER = re.compile(r"\s(?:-u|--user)[ =]{0,3}[\"']?[^\s:\"'$]{1,128}+:(?P<value>[^\s\"']++)")
# Begins with a set of letters, cased, because only that lets the search skip quickly; the name is judged afterwards.
_ASSIGNMENT = re.compile(
    r"""(?ix)
    (?-i: [PpSsTtCcAaKk] )
    (?: ass (?:word|wd|phrase|code)? | wd | ecret | oken | redential | uth | ey | at (?<=[_-]pat) (?![a-z]) )
    [\w-]{0,40}+
    (?P<close> \\{0,3}["'`]?\]?[?!]? )
    (?: [\ \t]{0,8} : [\ \t]{0,8} [a-z_][\w.\[\]|\ ,]{0,40} (?= = [^=] ) )?
    (?P<sep> [\ \t]{0,20} (?: ===? | !==? | := | => | [:=] ) [\ \t]{0,20} | [\ \t]{1,20} )
    (?P<below> (?: (?P<paren>\() [\ \t]{0,20} | (?P<block>[|>]) [+0-9-]{0,2} [\ \t]{0,20} )?
        \r?\n [\ \t]{0,80} (?P<leader>"""
    + ANY_LEADER
    + r""")? (?= \S ) )?
    (?: [bfru]{1,2} (?= ["'] ) )?
    (?P<mark> \\{0,3} (?: \"{3} | '{3} | ["'`] ) )?"""
)
_BARE = re.compile(r"[^\s\"'`;|<>&]++")
_QUOTED = {mark: re.compile(rf"(?:[^\\{mark}]|\\.)*+", re.S) for mark in "\"'`"}


def contextual_spans(text: str) -> Iterator[Span]:
    lowered = text.lower()
    if "://" in text and "@" in text:
        yield from (_span_of(text, match) for match in _URL.finditer(text) if not is_placeholder(match["value"]))
        yield from wrapped_urls(text)
    if "bearer" in lowered or "basic" in lowered:
        yield from filter(None, (_header_span(text, match) for match in _HEADER.finditer(text)))
    if "curl" in lowered and (" -u" in text or " --user" in text):
        for match in _CURL_USER.finditer(text):
            line = text[max(0, match.start() - 400) : match.start()].rpartition("\n")[2]
            if "curl" in line and not is_placeholder(match["value"][:JUDGED]):
                yield _span_of(text, match)
    at = 0
    while assignment := _ASSIGNMENT.search(text, at):
        found = _assigned(text, assignment)
        at = max(assignment.end(), found.end if found else 0)
        if found:
            yield found


def _span_of(text: str, match: re.Match[str]) -> Span:
    rest, end = rest_of(text, match.end("value"))
    return Span(match.start("value"), end, "secret", match["value"] + rest)


def _header_span(text: str, match: re.Match[str]) -> Span | None:
    whole = _span_of(text, match)
    for end, value in ((whole.end, whole.secret), (match.end(), match["value"])):
        if _is_header_secret(match["scheme"].lower(), value):
            return Span(match.start("value"), end, "secret", value)
    return None


def _is_header_secret(scheme: str, value: str) -> bool:
    if is_placeholder(value[:JUDGED]):
        return False
    if scheme == "bearer":
        return (len(value) >= 8 and mixes_digits(value)) or is_random(value[:JUDGED])
    try:
        decoded = base64.b64decode(value + "=" * (-len(value) % 4)).decode()
    except ValueError:
        return False
    return ":" in decoded and decoded.isprintable()


def _assigned(text: str, match: re.Match[str]) -> Span | None:
    """Judge what stands on the right of a name that may be secret."""
    name_start = _start_of_name(text, match.start())
    name = text[name_start : match.start("close")]
    strength = strength_of(name)
    sep, mark = match["sep"].strip(), match["mark"]
    is_option = name.startswith("-") and match["sep"].strip(" \t") in ("", "=")
    if strength is None or not (sep or is_option):
        return None
    start = match_end(SCHEME, text, match.end())
    if match["leader"] and not leads_alike(text, name_start, match["leader"]):
        return None
    if mark is None:
        return _bare_span(text, match, name_start, start, strength)
    value = _quoted(text, start, mark)
    # In `split("token=")` and `"token:" + x` the quote is not the first but the last of a literal.
    last = r"[,)\]}]+(?:\s|\Z)" if match["sep"].endswith(" ") else r"[,)\]}+.;%&|:]"
    ends = not match["close"] and re.match(last, value)
    accepted = not ends and _is_quoted_secret(value[:JUDGED], strength, name)
    if sep.startswith(("==", "!=")):
        accepted = accepted and is_random(value[:JUDGED]) and not re.search(r"\s", value)
    return Span(start, start + len(value), "secret", value) if accepted else None


def _bare_span(text: str, match: re.Match[str], name_start: int, start: int, strength: Strength) -> Span | None:
    """Judge a value without quotes, together with what the next lines have of it."""
    name, sep = text[name_start : match.start("close")], match["sep"]
    value = text[start : match_end(_BARE, text, start, start + JUDGED)]
    identifier = IDENTIFIER.fullmatch(value)
    value = value.rstrip(",") if identifier else value.rstrip(")]},.")
    before, after = text[name_start - 1 : name_start], text[start + len(value) : start + len(value) + 1]
    if match["below"]:
        if match["paren"] or not sep.strip(" \t") or not (match["block"] or mixes_digits(value)):
            return None
        if not stands_below(text, name_start, start, start + len(value), match["leader"]):
            return None
    is_option = name.startswith("-") and sep.strip(" \t") in ("", "=")
    shell = is_option or (sep == "=" and (name.isupper() or before in ("?", "&")))
    plain = shell or bool(match["below"]) or _is_setting(text[max(0, name_start - 80) : name_start], sep, after)
    accepted = _is_bare_secret(value, strength, shell=shell, plain=plain)
    if accepted and len(value) == JUDGED:
        value = text[start : match_end(_BARE, text, start)]
    rest, end = rest_of(text, start + len(value)) if accepted or mixes_digits(value) else ("", 0)
    if rest and (accepted or _is_bare_secret(value + rest, strength, shell=shell, plain=plain)):
        return Span(start, end, "secret", value + rest)
    accepted = accepted and not (sep.strip().startswith(("==", "!=")) and not is_random(value[:JUDGED]))
    return Span(start, start + len(value), "secret", value) if accepted else None


def _start_of_name(text: str, start: int) -> int:
    """Extend a name to the left, past `-` and `_`, but not into a `\\n` written out before it."""
    first = start
    while first > 0 and start - first < 40 and (text[first - 1].isalnum() or text[first - 1] in "-_"):
        first -= 1
    return first + 1 if first < start and text[first - 1 : first] == "\\" and text[first] in "nrt" else first


def _quoted(text: str, start: int, mark: str) -> str:
    """What stands in quotes; of several lines only the first, unless they read like one secret that was wrapped."""
    end = match_end(_QUOTED[mark], text, start) if len(mark) == 1 else text.find(mark, start)
    value = text[start:end] if end >= 0 else text[start:]
    first, newline, _ = value.partition("\n")
    wrapped = 0 <= end < len(text) and value.count("\n") <= 4 and not re.search(r"[^\s\\][ \t]+[^\s\\]", value)
    return value if not newline or wrapped else first


def _is_setting(before: str, sep: str, after: str) -> bool:
    """Tell whether `name: value` has a line to itself, as in YAML, or `name=value` is a word, as in a shell."""
    if sep == "=":
        return before[-1:] in ("", " ", "\t", "\n", "'", '"') and after in ("", " ", "\n", "\r", "'", '"', "&", ";")
    before = before.rpartition("\n")[2]
    return sep == ": " and after in ("", "\n", "\r") and re.fullmatch(r"[\s\w.-]*", before) is not None


def _is_quoted_secret(value: str, strength: Strength, name: str) -> bool:
    if len(value) < 4 or value[0].isspace() or is_placeholder(value):
        return False
    if value[0] in "/.~" and PATH.fullmatch(value):
        return False
    if re.search(r"\S[ \t]\s*\S", value):
        return strength == "password" and not is_prose(value)
    if re.search(r"\\[wdsS.(\[]|\[[^\]]*-[^\]]*\]|\.[*+]|%[sdr]\b", value):
        return False
    if strength == "password":
        return True
    if re.fullmatch(r"[A-Za-z_.:-]+", value):
        return strength == "strong" and len(value) >= (20 if name_parts(name)[-1] == "token" else 8)
    return len(value) >= 6 and any(map(str.isalpha, value)) and (strength == "strong" or is_random(value))


def _is_bare_secret(value: str, strength: Strength, *, shell: bool, plain: bool) -> bool:
    if len(value) < (4 if shell and strength == "password" else 6) or is_placeholder(value):
        return False
    if value[0] in "-:=/.~\\":
        return len(value) == 40 and value[0] == "/" and is_random(value)
    identifier = IDENTIFIER.fullmatch(value)
    if strength == "weak":
        return is_random(value) and (shell or not identifier)
    if not identifier:
        if is_random(value) or (strength == "password" and not value.isdigit()):
            return True
        return (len(value) >= 8 and (shell or mixes_digits(value))) or (plain and mixes_digits(value))
    if identifier["more"] or "::" in value or "->" in value:
        return False
    if mixes_digits(value):
        return plain or strength == "password" or is_random(value)
    is_word = "." not in value and "_" not in value
    return is_word and (shell or (plain and strength == "password" and value.islower()))
