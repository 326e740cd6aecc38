"""Whatever a config looks like: what is wrapped means what it should, and unwrapped every byte is back."""

from __future__ import annotations

import copy
import json
from pathlib import Path

from client_configs import CODEX, CURSOR, OURS, SHARED, meaning
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_intent.hosts.mcp.clients.client import ClientName, Place
from pi_intent.hosts.mcp.clients.known import CLIENTS
from pi_intent.hosts.mcp.clients.plan import Plan, plan_install, plan_uninstall
from pi_intent.hosts.mcp.clients.text import Malformed

PLACES: dict[ClientName, Place] = {
    "cursor": Place(scope="user", path=Path("mcp.json"), keys=("mcpServers",)),
    "codex": Place(scope="user", path=Path("config.toml"), keys=("mcp_servers",), shape="toml"),
}
RUNS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def install(client: ClientName, text: str) -> Plan:
    return plan_install(CLIENTS[client], [PLACES[client]], text, (), (OURS, SHARED))


def uninstall(client: ClientName, text: str) -> Plan:
    return plan_uninstall([PLACES[client]], text, ())


# Random documents. Comments and texts hold what could be taken for something else.

TRAPS = st.sampled_from(
    ["", "x", '"', "//", "/* ", '{"command": "no", "args": []}', "],}", ", ", "#", "mcp", "'", "é🚀"]
)
SPACES = st.sampled_from(["", "", " ", "\t", "\n", "\r\n", "\n    ", "  \n\t"])
LINE_COMMENTS = st.builds("//{}{}".format, TRAPS, st.sampled_from(["\n", "\r\n", "\n  "]))
BLOCK_COMMENTS = st.builds("/*{}*/".format, TRAPS)
GAPS = SPACES | SPACES | st.builds("{}{}{}".format, SPACES, LINE_COMMENTS | BLOCK_COMMENTS, SPACES)
WORDS = TRAPS | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NAMES = st.sampled_from(["a", "b-1", "two words", "é", 'quo"te', "back\\slash"]) | st.text(
    "abcxyz", min_size=1, max_size=4
)
COMMANDS = st.sampled_from(["npx", "/usr/bin/node", "${workspaceFolder}/x", "é", "a\\b", 'q"q', "mcp", "wrap"])


@st.composite
def strings(draw: st.DrawFn, words: st.SearchStrategy[str]) -> str:
    """A JSON text, with escapes that nobody needs."""
    word = draw(words)
    plain = json.dumps(word, ensure_ascii=draw(st.booleans()))
    return plain.replace("n", "\\u006e") if draw(st.booleans()) and "\\" not in plain else plain


@st.composite
def listed(draw: st.DrawFn, opening: str, parts: list[str], closing: str) -> str:
    """Parts between brackets, with gaps around them and perhaps a comma after the last."""
    spaced = [f"{draw(GAPS)}{part}{draw(GAPS)}" for part in parts]
    last = f",{draw(GAPS)}" if parts and draw(st.booleans()) else ""
    return f"{opening}{','.join(spaced) or draw(GAPS)}{last}{closing}"


@st.composite
def members(draw: st.DrawFn, pairs: list[tuple[str, str]]) -> str:
    return draw(listed("{", [f"{key}{draw(GAPS)}:{draw(GAPS)}{value}" for key, value in pairs], "}"))


@st.composite
def servers(draw: st.DrawFn) -> str:
    pairs = [('"command"', draw(strings(COMMANDS)))]
    if draw(st.booleans()):
        pairs.append(('"args"', draw(listed("[", draw(st.lists(strings(WORDS), max_size=3)), "]"))))
    if draw(st.booleans()):
        pairs.append(('"env"', draw(members([('"A"', draw(strings(WORDS)))]))))
    if draw(st.booleans()):
        pairs.append(('"disabled"', draw(st.sampled_from(["true", "false", "null", "-1.50e3"]))))
    return draw(members(draw(st.permutations(pairs))))


@st.composite
def documents(draw: st.DrawFn) -> str:
    names = draw(st.lists(NAMES, max_size=3, unique=True))
    pairs = [(json.dumps(name), draw(servers())) for name in names]
    top = [('"mcpServers"', draw(members(pairs)))]
    if draw(st.booleans()):
        top.append(('"other"', draw(servers())))
    mark = "\ufeff" if draw(st.booleans()) else ""
    return f"{mark}{draw(GAPS)}{draw(members(draw(st.permutations(top))))}{draw(GAPS)}"


def expected(before: dict[str, object], key: str) -> dict[str, object]:
    after = copy.deepcopy(before)
    servers = after.get(key, {})
    assert isinstance(servers, dict)
    for name, entry in servers.items():
        option = ["--server", name] if "args" in entry else [f"--server={name}"]
        entry["args"] = ["mcp", "wrap", *option, entry["command"], *entry.get("args", [])]
        entry["command"] = OURS.command
    return after


@RUNS
@given(documents())
def test_a_json_config_comes_back_and_means_what_it_should_in_between(text: str) -> None:
    installed = install("cursor", text)
    assert meaning(installed.text, "cursor") == expected(meaning(text, "cursor"), "mcpServers")
    assert install("cursor", installed.text).text == installed.text
    assert uninstall("cursor", installed.text).text == text


@RUNS
@given(documents(), TRAPS)
def test_a_json_config_that_was_laid_out_anew_comes_back_as_it_would_be_laid_out(text: str, word: str) -> None:
    def lay_out(config: str) -> str:
        read = meaning(config, "cursor")
        read["added"] = word
        return json.dumps(read, indent=2, ensure_ascii=False)

    assert uninstall("cursor", lay_out(install("cursor", text).text)).text == lay_out(text)


# The same for TOML.

COMMENTS = st.builds(" #{}".format, TRAPS)
LINE_ENDS = st.sampled_from(["\n", "\r\n"])


@st.composite
def toml_strings(draw: st.DrawFn, words: st.SearchStrategy[str]) -> str:
    word = draw(words)
    basic = json.dumps(word, ensure_ascii=False).replace("\x7f", "\\u007f")
    forms = [basic, f'""{basic}""']
    if word.isprintable() and "'" not in word:
        forms += [f"'{word}'", f"'''{word}'''"]
    return draw(st.sampled_from(forms))


@st.composite
def toml_lists(draw: st.DrawFn, *, on_one_line: bool) -> str:
    items = draw(st.lists(toml_strings(WORDS), max_size=3))
    if on_one_line:
        return f"[{', '.join(items)}]"
    end = draw(LINE_ENDS)
    lines = [f"  {item},{draw(st.just('') | COMMENTS)}{end}" for item in items]
    return f"[{draw(st.just('') | COMMENTS)}{end}{''.join(lines)}]"


@st.composite
def toml_documents(draw: st.DrawFn) -> str:
    end = draw(LINE_ENDS)
    names = draw(st.lists(NAMES, max_size=3, unique=True))
    blocks: list[str] = []
    inline: list[str] = []
    for name in names:
        key = json.dumps(name, ensure_ascii=False)
        is_inline = draw(st.booleans())
        pairs = [("command", draw(toml_strings(COMMANDS)))]
        if draw(st.booleans()):
            pairs.append(("args", draw(toml_lists(on_one_line=is_inline))))
        if draw(st.booleans()):
            pairs.append(("enabled", "true"))
        sign = draw(st.sampled_from([" = ", "=", "  =\t"]))
        said = [f"{name}{sign}{value}" for name, value in draw(st.permutations(pairs))]
        if is_inline:
            inline.append(f"{key} = {{{', '.join(said)}}}")
        else:
            indent = draw(st.sampled_from(["", "  ", "\t"]))
            lines = [f"{indent}{line}{draw(st.just('') | COMMENTS)}" for line in said]
            blocks.append(end.join([f"[mcp_servers.{key}]", *lines]))
    table = ["[mcp_servers]", *inline] if inline else []
    text = end.join(
        ['model = "x" # y', *table, *draw(st.permutations(blocks)), "[other]", 'command = "no"', "args = []"]
    )
    return text + draw(st.sampled_from(["", "\n", end * 2]))


@RUNS
@given(toml_documents())
def test_a_toml_config_comes_back_and_means_what_it_should_in_between(text: str) -> None:
    installed = install("codex", text)
    assert meaning(installed.text, "codex") == expected(meaning(text, "codex"), "mcp_servers")
    assert install("codex", installed.text).text == installed.text
    assert uninstall("codex", installed.text).text == text


# Broken ones


@RUNS
@given(st.data())
def test_a_config_with_a_piece_missing_or_doubled_is_refused_or_comes_back(data: st.DataObject) -> None:
    client: ClientName = data.draw(st.sampled_from(["cursor", "codex"]))
    text = CURSOR if client == "cursor" else CODEX
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 12)))
    text = text[:start] + data.draw(st.sampled_from(["", text[start:end] * 2, '"', "}", "]", ",", "\n"])) + text[end:]
    try:
        installed = install(client, text)
    except Malformed:
        return  # refused, and nothing written
    assert uninstall(client, installed.text).text == text
