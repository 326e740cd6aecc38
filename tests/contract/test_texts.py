"""What a model reads of us: every schema and every rejection, as snapshots for a person to read."""

from __future__ import annotations

import re
from itertools import combinations

import pytest
from ordered import OrderedJSON, Text
from tau_coding.tools import create_coding_tools

from pi_intent import INTENT_MARKER, inject_intent, remove_intent
from pi_intent.contract import inject
from pi_intent.contract.rejections import MAX_LENGTH, rejection_text
from pi_intent.contract.rows import ROWS, replaced_fields
from pi_intent.contract.texts import parse_texts
from pi_intent.descriptions import descriptions_folder, model_texts
from pi_intent.errors import InjectionSkipped, PiIntentError

TEXTS = model_texts()
TOOLS = {tool.name: tool for tool in create_coding_tools(cwd=".") if tool.name in ROWS}
CODES = [
    "arguments_not_json",
    "arguments_not_an_object",
    "intent_missing",
    "intent_not_text",
    "intent_blank",
    "rationale_not_text",
    "rationale_blank",
]


def shadowed(name: str, profile: str) -> dict:
    return inject.inject_intent(TOOLS[name].parameters, texts=TEXTS, profile=profile, replaces=replaced_fields(name))


@pytest.mark.parametrize("profile", ["lean", "full"])
@pytest.mark.parametrize("name", list(ROWS))
def test_the_schema_that_the_model_sees(name, profile, snapshot):
    assert shadowed(name, profile) == snapshot(extension_class=OrderedJSON)


@pytest.mark.parametrize("profile", ["lean", "full"])
@pytest.mark.parametrize("name", list(ROWS))
def test_every_tool_we_ship_puts_the_intent_first_and_keeps_the_rest(name, profile):
    schema, own, row = shadowed(name, profile), TOOLS[name].parameters, ROWS[name]
    kept = {key: value for key, value in own["properties"].items() if key not in row.replaces}
    assert list(schema["properties"]) == ["intent", "rationale", *kept]
    assert set(kept) == {*row.required, *row.optional}
    assert schema["required"] == ["intent", *row.required]
    assert {key: schema["properties"][key] for key in kept} == kept
    assert {key: value for key, value in schema.items() if key not in ("properties", "required")} == {
        key: value for key, value in own.items() if key not in ("properties", "required")
    }
    assert schema["properties"]["intent"]["description"].startswith(INTENT_MARKER)
    assert inject.inject_intent(schema, texts=TEXTS, profile=profile) == schema
    if not row.replaces:
        assert remove_intent(schema) == own


def test_the_rejections(snapshot):
    lines = []
    for tool in ("bash", "edit"):
        missing = ROWS[tool].required
        for codes in [(code,) for code in CODES] + [
            pair for pair in combinations(CODES[2:], 2) if pair[0][:6] == "intent" and pair[1][:6] == "ration"
        ]:
            for rounds, absent in ((1, ()), (1, missing), (3, missing)):
                if codes[0].startswith("arguments") and absent and rounds == 1:
                    continue
                text = rejection_text(tool, codes, absent, texts=TEXTS, rounds=rounds)
                assert len(text) <= MAX_LENGTH
                assert text.startswith("Nothing was executed")
                assert text.count(". ") <= 1
                lines.append(f"{tool} {' + '.join(codes)}, round {rounds}\n    {text}")
    assert "\n".join(lines) == snapshot(extension_class=Text)


def test_a_rejection_is_short_whatever_the_tool_is_called_and_lacks():
    text = rejection_text("x" * 500, CODES[2:3], [f"argument_{n}_{'y' * 80}" for n in range(50)], texts=TEXTS)
    assert len(text) <= MAX_LENGTH
    assert "and others" in text


def said(profile: str) -> str:
    section = " ".join(TEXTS.section) if profile == "lean" else ""
    return " ".join([*(TEXTS.field(profile, name) for name in ("intent", "rationale")), section]).lower()


@pytest.mark.parametrize("profile", ["lean", "full"])
@pytest.mark.parametrize(
    "words",
    [
        "mandatory", "optional", "first", "goal", "claim", "observation that would change", "consequence",
        "sibling calls", "edits", "intent", "user's language", "evidence", r"(never|no) .*(unseen|not yet seen)",
    ],
)  # fmt: skip
def test_both_profiles_say_all_of_the_contract(profile, words):
    assert re.search(words, said(profile)), (words, said(profile))


@pytest.mark.parametrize("profile", ["lean", "full"])
def test_no_text_holds_an_example_or_a_tools_name(profile):
    text = said(profile)
    assert "{" not in text
    assert not re.search(r"\b(read|write|bash)\b", text)


def test_a_host_guideline_is_narrowed_and_one_that_names_a_replaced_field_goes():
    from pi_intent.hosts.tau.texts import adapt_guidelines

    edit = adapt_guidelines(TOOLS["edit"].prompt_guidelines, (), TEXTS)
    changed = [new for new, old in zip(edit, TOOLS["edit"].prompt_guidelines, strict=True) if new != old]
    assert changed == [
        "When changing multiple separate locations in one file for one intent, "
        "use one edit call with multiple entries in edits[] instead of multiple edit calls"
    ]
    assert adapt_guidelines(TOOLS["bash"].prompt_guidelines, replaced_fields("bash"), TEXTS) == ()


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "string"}, "not_an_object"),
        ({"type": "object", "properties": {"intent": {"type": "string"}}}, "owns_intent"),
        ({"type": "object", "properties": {"intent": {"type": "string", "minLength": 1}}}, "owns_intent"),
        ({"type": "object", "anyOf": [{"required": ["intent"]}, {}]}, "owns_intent"),
        ({"type": "object", "patternProperties": {"^int": {}}}, "pattern_matches_intent"),
    ],
)
def test_a_schema_that_cannot_carry_the_intent_is_left_alone_with_a_reason(schema, reason):
    with pytest.raises(InjectionSkipped) as skipped:
        inject_intent(schema)
    assert skipped.value.reason == reason
    assert remove_intent(schema) == schema


@pytest.mark.parametrize("policy", ["require", "adaptive", "optional", "derive", "omit"])
def test_only_the_policies_that_ask_inject_and_only_the_strict_ones_require(policy):
    schema = {"type": "object", "properties": {"q": {}}, "required": ["q"]}
    injected = inject_intent(schema, policy=policy)
    assert list(injected["properties"]) == (["q"] if policy in ("derive", "omit") else ["intent", "rationale", "q"])
    assert injected["required"] == (["intent", "q"] if policy in ("require", "adaptive") else ["q"])
    assert schema == {"type": "object", "properties": {"q": {}}, "required": ["q"]}


def test_the_texts_are_whole_or_refused_with_what_is_lacking():
    files = {path.name: path.read_text() for path in descriptions_folder().glob("*.md")}
    assert parse_texts(files, tuple(ROWS)) == TEXTS
    for name in files:
        with pytest.raises(PiIntentError, match="tool_descriptions lacks"):
            parse_texts({key: value for key, value in files.items() if key != name}, tuple(ROWS))
    with pytest.raises(PiIntentError, match="must open with"):
        parse_texts({**files, "fields.md": files["fields.md"].replace("Mandatory", "Maybe")}, tuple(ROWS))
