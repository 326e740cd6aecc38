"""Each value that cannot be used is one sentence, word for word, and the rest still counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from settings_machine import TOP_KEYS, Machine, said

from pi_intent.settings import Settings, ToolRule, load_settings
from pi_intent.settings.wording import ASKED_MEANWHILE, Lapse

KEEP_WORDS = '"forever", or a number of days or weeks such as "90d" or "12w"'
POLICY_WORDS = '"require", "adaptive", "optional", "derive" or "omit"'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('policy = "requires"', f'policy is "requires", but must be {POLICY_WORDS}; did you mean "require"?'),
        ("policy = 3", f"policy is 3, but must be {POLICY_WORDS}."),
        ("policy = []", f"policy is a list, but must be {POLICY_WORDS}."),
        ('profile = "fat"', 'profile is "fat", but must be "lean" or "full".'),
        ("budget = 0", "budget is 0, but must be a whole number from 1 to 100."),
        ("budget = 101", "budget is 101, but must be a whole number from 1 to 100."),
        ('budget = "5"', 'budget is "5", but must be a whole number from 1 to 100.'),
        ("budget = 5.0", "budget is 5.0, but must be a whole number from 1 to 100."),
        ("budget = true", "budget is true, but must be a whole number from 1 to 100."),
        (f"budget = 0x{'f' * 9000}", "budget is a huge number, but must be a whole number from 1 to 100."),
        ("redact_args = 1", "redact_args is 1, but must be true or false."),
        ("strict = { a = 1 }", "strict is a table, but must be true or false."),
        ("strict = 1979-05-27", "strict is a date, but must be true or false."),
        ('keep = "6m"', f'keep is "6m", but must be {KEEP_WORDS}.'),
        ('keep = "0d"', f'keep is "0d", but must be {KEEP_WORDS}.'),
        ('keep = "-3d"', f'keep is "-3d", but must be {KEEP_WORDS}.'),
        ('keep = "999999d"', f'keep is "999999d", but must be {KEEP_WORDS}.'),
        ('keep = "foreve"', f'keep is "foreve", but must be {KEEP_WORDS}; did you mean "forever"?'),
        ("keep = 90", f"keep is 90, but must be {KEEP_WORDS}."),
        ("keep = true", f"keep is true, but must be {KEEP_WORDS}."),
        ('polcy = "omit"', 'polcy is not a setting; did you mean "policy"?'),
        (
            '"live screen" = 1',
            f'"live screen" is not a setting; the settings are {TOP_KEYS}.',
        ),
        ('tools = "bash"', 'tools is "bash", but must be a table of tool names.'),
        ("[tools]\nbash = 5", f"tools.bash is 5, but must be {POLICY_WORDS}, or a table of settings."),
        (
            "[tools]\nbudget = 5",
            "budget is a setting for all tools: move it above [tools]; until then it counts as if it stood there.",
        ),
        (
            '[tools]\npolicy = "require"',
            "policy is a setting for all tools: move it above [tools]; below it, it is for a tool that is called so.",
        ),
        ('[tools]\nbash = "of"', f'tools.bash is "of", but must be {POLICY_WORDS}.'),
        (
            '[tools]\nbash = { policy = "omitt" }',
            f'tools.bash.policy is "omitt", but must be {POLICY_WORDS}; did you mean "omit"?',
        ),
        (
            "[tools]\nbash = { budgets = 5 }",
            'tools.bash.budgets is not a setting of a tool; did you mean "budget"?',
        ),
        (
            "[tools]\nbash = { strict = true }",
            "tools.bash.strict cannot be set for one tool; set it at the top of the file.",
        ),
        (
            '[tools]\ngithub.search = "omit"',
            "tools.github.search is not a setting of a tool; "
            'a tool of a server is written in quotes: "github/search".',
        ),
        ('[tools]\n"" = "omit"', 'tools has the key "", but a key must be the name of a tool or a glob.'),
        (
            '[tools]\na-b = "omit"\na_b = "derive"',
            'tools.a_b names the same tools as "a-b", - and _ being alike; keep one of them.',
        ),
        (
            'policy = "require"\nbudget = 5',
            'budget has no effect beside the policy "require": only "adaptive" counts rounds.',
        ),
        (
            '[tools]\n"x/*" = { policy = "omit", profile = "full" }',
            'tools."x/*".profile has no effect beside the policy "omit": the tool\'s schema is left alone.',
        ),
        (
            '[tools]\nbash = { policy = "optional", budget = 5 }',
            'tools.bash.budget has no effect beside the policy "optional": only "adaptive" counts rounds.',
        ),
    ],
)
def test_each_fault_of_a_file_is_one_sentence(machine: Machine, text: str, sentence: str) -> None:
    assert said(machine.load(user=text)) == [sentence]


def test_the_rest_of_a_faulty_file_still_counts(machine: Machine) -> None:
    loaded = machine.load(
        user='polcy = 1\npolicy = "maybe"\nbudget = 5\nstrict = "no"\n'
        '[tools]\nread = 7\nbash = { policy = "adaptive", budget = 0, redact_args = true }\n'
    )
    rule = ToolRule(pattern="bash", origin=str(machine.user_file), policy="adaptive", redact_args=True)
    assert loaded.settings == Settings(budget=5, tools=(rule,))
    assert len(loaded.warnings) == 5
    assert loaded.files == (machine.user_file,)


def test_faults_of_variables_and_of_the_command_line_name_them(machine: Machine) -> None:
    loaded = machine.load(
        env={
            "PI_INTENT_BUDGET": "many",
            "PI_INTENT_POLCY": "omit",
            "PI_INTENT_HOST": "x",
            "PI_INTENT_STRICT": "perhaps",
        },
        overrides={"profile": "thin", "tools": {"bash": 3}},
    )
    assert loaded.settings == Settings()
    assert loaded.warnings == (
        "PI_INTENT_POLCY is not a setting; did you mean PI_INTENT_POLICY?",
        'PI_INTENT_BUDGET is "many", but must be a whole number from 1 to 100.',
        'PI_INTENT_STRICT is "perhaps", but must be true or false.',
        'command line: profile is "thin", but must be "lean" or "full".',
        f"command line: tools.bash is 3, but must be {POLICY_WORDS}, or a table of settings.",
    )


def test_a_budget_that_a_tool_under_adaptive_can_use_is_not_warned_about(machine: Machine) -> None:
    user = 'policy = "require"\nbudget = 5\n'
    assert machine.load(user=user + '[tools]\nbash = "adaptive"\n').warnings == ()
    assert machine.load(user="budget = 5\n").warnings == ()


def test_a_projects_budget_beside_require_has_no_effect_but_beside_optional_it_may(machine: Machine) -> None:
    user = 'policy = "adaptive"'
    assert machine.load(user=user, project='policy = "require"\nbudget = 5').warnings == (
        f'{machine.project_file}: budget has no effect beside the policy "require": only "adaptive" counts rounds.',
    )
    loaded = machine.load(
        user='policy = "omit"\n[tools]\nbash = "adaptive"\n',
        project='[tools]\n"b*" = { policy = "optional", budget = 9 }\n',
    )
    assert loaded.warnings == ()
    assert loaded.settings.for_tool("bash", watched=True).budget == 9


@given(
    data=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["policy", "tools", "budget"]), inner)
        ),
    )
)
def test_no_value_whatever_raises(data: object) -> None:
    for key in ("policy", "profile", "budget", "redact_args", "strict", "tools", "x"):
        load_settings(project=None, environ={}, overrides={key: data})
    load_settings(project=None, environ={}, overrides={"tools": {"bash": data, "*": {"policy": data}}})


# Settings for all tools that stand below [tools]


def test_settings_for_all_tools_below_tools_count_and_are_told(machine: Machine) -> None:
    loaded = machine.load(
        user='[tools]\nbash = "require"\nask = "exec"\ncheck_in = ["dangers"]\nstrict = true\n'
        '[tools.permissions]\nmoney = "ask"\n'
    )
    settings = loaded.settings
    assert (settings.ask, settings.check_in, settings.strict) == ("exec", ("dangers",), True)
    assert settings.permissions == (("money", "ask"),)
    assert [rule.pattern for rule in settings.tools] == ["bash"]
    then = "until then it counts as if it stood there."
    assert set(loaded.warnings) == {
        *(
            f"{machine.user_file}: {key} is a setting for all tools: move it above [tools]; {then}"
            for key in ("ask", "check_in", "strict")
        ),
        f"{machine.user_file}: permissions is a setting for all tools: write [permissions]; {then}",
    }
    assert settings.unmatched(["bash"]) == ()


def test_a_setting_that_stands_in_both_places_counts_where_it_belongs(machine: Machine) -> None:
    loaded = machine.load(user='ask = "all"\n[tools]\nask = "exec"\n')
    assert loaded.settings.ask == "all"
    assert loaded.warnings == (
        f"{machine.user_file}: ask is a setting for all tools and stands above [tools] as well: "
        "what stands below it does not count.",
    )
    assert isinstance(loaded.warnings[0], Lapse)


def test_a_tool_may_be_called_like_a_setting(machine: Machine) -> None:
    loaded = machine.load(user='[tools]\nask = "require"\npermissions = { override = true }\npolicy = "omit"\n')
    assert [rule.pattern for rule in loaded.settings.tools] == ["ask", "permissions", "policy"]
    assert (loaded.settings.ask, loaded.settings.policy) == ("none", None)
    assert len(loaded.warnings) == 1
    assert loaded.settings.unmatched(["ask", "permissions"]) == ()  # of policy it was said already


def test_a_faulty_one_is_told_as_the_setting_that_it_is(machine: Machine) -> None:
    assert machine.load(user='[tools]\ncheck_in = ["danger"]\n').warnings == (
        f"{machine.user_file}: check_in is a setting for all tools: move it above [tools].",
        f'{machine.user_file}: check_in holds "danger", which is no rule; did you mean "dangers"?',
        f"{machine.user_file}: check_in does not count in full, so {ASKED_MEANWHILE}",
    )


@pytest.mark.parametrize(
    ("text", "lapses"),
    [
        ('ask = "exe"', True),
        ('chek_in = ["dangers"]', True),
        ('[permissions]\nmoney = "dny"', True),
        ("result_limit = 5", True),
        ("[tools.bash]\noveride = true", True),
        ('[tools.bash]\nask = "exec"', True),
        ("[tools.bash]\nneeds = 3", True),
        ('[tools.bash]\ntier = "run"', True),
        ("tools = 3", True),
        ("[tools]\noverride = true", True),
        ('polcy = "omit"', False),
        ("budget = 0", False),
    ],
)
def test_what_was_to_guard_and_does_not_count_is_known_as_such(machine: Machine, text: str, lapses: bool) -> None:
    warnings = machine.load(user=text).warnings
    assert [isinstance(warning, Lapse) for warning in warnings] == [lapses] * len(warnings) != []


def test_a_variable_that_was_to_guard_is_known_as_such(machine: Machine) -> None:
    loaded = machine.load(env={"PI_INTENT_CHEK_IN": "dangers", "PI_INTENT_POLCY": "omit"})
    assert [isinstance(warning, Lapse) for warning in loaded.warnings] == [True, True, False]
    assert loaded.settings.ask == "write"


# Patterns that match nothing


def test_a_pattern_that_matches_no_tool_is_told_with_the_nearest_name() -> None:
    def rule(pattern: str) -> ToolRule:
        return ToolRule(pattern=pattern, origin="/c.toml", policy="omit")

    settings = Settings(
        tools=tuple(map(rule, ["bsh", "read", "*", "git-hub/search", "search", "r*d"])),
        floors=(rule("githb/*"), rule("*"), rule("zzz")),
    )
    assert settings.unmatched(iter(["bash", "read", "git_hub/search"])) == (
        '/c.toml: tools.bsh matches no tool; did you mean "bash"?',
        '/c.toml: tools."githb/*" matches no tool; did you mean "git_hub/*"?',
        "/c.toml: tools.zzz matches no tool; this session has none of a similar name.",
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('needs = "deploy"', 'needs is "deploy", but must be a list of names of credentials, such as ["deploy"].'),
        ('stores = "page"', 'stores is "page", but must be a list of kinds, such as ["page"].'),
        ('wants = "url"', 'wants is "url", but must be a table of arguments and kinds, such as { url = "page" }.'),
    ],
)
def test_what_is_no_list_or_table_is_told_with_one_as_it_is_written(machine: Machine, text: str, told: str) -> None:
    loaded = machine.load(user=f"artifacts = true\n[tools.bash]\n{text}\n")
    assert loaded.warnings == (f"{machine.user_file}: tools.bash.{told}",)


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("mine/nosuch", "this session has none of a similar name."),
        ("mine/sya", 'did you mean "mine/say"?'),
        ("mien/say", 'did you mean "mine/say"?'),
        ("mine/bash", 'did you mean "bash"?'),
    ],
)
def test_what_a_server_and_a_tool_share_is_not_what_makes_their_names_alike(pattern: str, hint: str) -> None:
    settings = Settings(tools=(ToolRule(pattern=pattern, origin="/c.toml", policy="omit"),))
    told = f'/c.toml: tools."{pattern}" matches no tool; {hint}'
    assert settings.unmatched(["bash", "mine/say"]) == (told,)
