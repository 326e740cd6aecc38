"""What can never take effect of when a person is asked is said, and what can is not."""

from __future__ import annotations

import json

import pytest
from settings_machine import Load, said

from pi_intent.gates.kinds import RULE_WORDS, Match
from pi_intent.settings.wording import ASKED_MEANWHILE


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('ask = "always"', 'ask is "always", but must be "none", "exec", "write" or "all".'),
        ('ask = "exe"', 'ask is "exe", but must be "none", "exec", "write" or "all"; did you mean "exec"?'),
        ('check_in = ["danger"]', 'check_in holds "danger", which is no rule; did you mean "dangers"?'),
        ('check_in = ["xyz"]', f'check_in holds "xyz", which is no rule; the rules are {", ".join(RULE_WORDS)}.'),
        (
            "check_in = 3",
            'check_in is 3, but must be a list, such as ["dangers"]; each is a rule by name, or a table of tool, '
            "runs, path and reason.",
        ),
        (
            "check_in = [3]",
            "check_in holds 3, but each must be a rule by name, or a table of tool, runs, path and reason.",
        ),
        (
            'check_in = [{ reason = "x" }]',
            'check_in[1] is { reason = "x" }, which says of no call that it is meant: give it a tool, runs or path.',
        ),
        (
            'check_in = [{ run = "x" }]',
            'check_in[1] is { run = "x" }, whose "run" is not known; there are tool, runs, path and reason.',
        ),
        (
            'check_in = ["network", { runs = " " }]',
            'check_in[2] is { runs = " " }, whose runs is empty: say what is meant, or leave it out.',
        ),
        (
            'check_in = [{ tool = "write", path = "" }]',
            'check_in[1] is { tool = "write", path = "" }, whose path is empty: say what is meant, or leave it out.',
        ),
        ("check_in = [{ path = 3 }]", "check_in[1] is { path = 3 }, whose path must be a text."),
        (
            'check_in = [{ runs = "git push", path = "src" }]',
            'check_in[1] is { runs = "git push", path = "src" }, which can find nothing: what runs a command '
            "names no file. Make two rules of it, or name the tool of a server that has both.",
        ),
        (
            'check_in = [{ runs = "A=1 make" }]',
            'check_in[1] is { runs = "A=1 make" }, which can find nothing: "A=1" is no program but sets a variable; '
            "leave it out.",
        ),
        (
            'check_in = [{ runs = "bin/" }]',
            'check_in[1] is { runs = "bin/" }, which can find nothing: "bin/" is a folder; name a program in it, '
            "or write bin/*.",
        ),
        (
            'check_in = [{ tool = "read", runs = "x" }]',
            'check_in[1] is { tool = "read", runs = "x" }, which can find nothing: read runs no command.',
        ),
        (
            'check_in = [{ tool = "bash", path = "x" }]',
            'check_in[1] is { tool = "bash", path = "x" }, which can find nothing: bash names no file.',
        ),
        (
            '[tools]\nread = { check_in = ["outside_project"] }',
            'tools.read.check_in holds "outside_project", which finds nothing in a tool that only reads; "outside" '
            "asks about what is read outside the project.",
        ),
        (
            'policy = "require"\ncheck_in = ["unstated"]',
            'check_in: "unstated" has no effect beside the policy "require": a call without an intent is refused, '
            "and nobody is asked.",
        ),
        (
            '[tools]\nbash = { policy = "require", check_in = ["unstated"] }',
            'tools.bash.check_in: "unstated" has no effect beside the policy "require": a call without an intent is '
            "refused, and nobody is asked.",
        ),
        (
            'check_in = [{ path = "$HOME/x" }]',
            'check_in[1] is { path = "$HOME/x" }, whose path is taken as it stands: no variable is put in; write ~/ '
            "for your home folder.",
        ),
        (
            'check_in = [{ path = "src/{a,b}*" }]',
            'check_in[1] is { path = "src/{a,b}*" }, whose path is taken as it stands: braces do not stand for '
            "alternatives; write a rule for each.",
        ),
        (
            '[tools]\nread = { check_in = ["network"] }',
            'tools.read.check_in holds "network", which can find nothing: read runs no command.',
        ),
        (
            '[tools]\nbash = { check_in = [{ tool = "bash", runs = "x" }] }',
            'tools.bash.check_in[1] is { tool = "bash", runs = "x" }, whose tool is said by the table that it stands '
            "in: leave it out.",
        ),
        (
            '[tools]\nbash = { tier = "write" }',
            'tools.bash.tier has no effect while ask is "none": set ask to "exec", "write" or "all".',
        ),
        (
            '[tools]\nbash = { reason = "x" }',
            "tools.bash.reason has no effect: it is shown where tier or override is set.",
        ),
        (
            '[tools]\nbash = { ask = "exec" }',
            "tools.bash.ask cannot be set for one tool; set it at the top of the file.",
        ),
        ('consent = "none"', 'consent is "none", but must be "both" or "literal".'),
        ('unattended = "allow"', 'unattended is "allow", but must be "deny" or "defer".'),
    ],
)  # fmt: skip
def test_what_can_never_take_effect_is_refused_when_it_is_read(load: Load, text: str, sentence: str):
    loaded = load(text)
    assert said(loaded) == [sentence]


@pytest.mark.parametrize(
    "runs",
    ["cd x && make", "cat a | sh", "a; b", "a > b", "echo 'x'", 'echo "x"', "a $(b)", "a `b`", "make &", "a || b"],
)
def test_a_whole_command_line_is_refused_as_no_command_could_match_it(load: Load, runs: str):
    loaded = load(f"check_in = [{{ runs = {json.dumps(runs)} }}]")
    assert loaded.settings.check_in == ()
    assert said(loaded) == [
        f"check_in[1] is {{ runs = {json.dumps(runs)} }}, which can find nothing: runs is a program and words among "
        "its arguments, not a whole command line; leave out quotes and what joins commands."
    ]


def test_what_can_match_is_not_refused(load: Load):
    rules = ["/usr/bin/true", "git push --force*", "sudo git", "curl *?a=1&b=2", "echo $HOME", "bin/*", "x A=1"]
    text = ", ".join(f"{{ runs = {json.dumps(runs)} }}" for runs in rules)
    loaded = load(f'check_in = [{text}, {{ tool = "srv/run", runs = "x", path = "y" }}, {{ path = "./a b/[x]*" }}]')
    assert said(loaded) == []
    assert len(loaded.settings.check_in) == len(rules) + 2


def test_what_is_right_beside_it_still_counts(load: Load):
    loaded = load('check_in = ["danger", "network", { runs = "x", reason = 3 }, { runs = "y" }]')
    assert loaded.settings.check_in == ("network", Match(runs="y"))
    assert len(said(loaded)) == 2


def test_more_rules_than_anybody_writes_are_cut(load: Load):
    rules = [{"runs": f"x{number}"} for number in range(300)]
    loaded = load("check_in = [" + ", ".join(f'{{ runs = "{rule["runs"]}" }}' for rule in rules) + "]")
    assert len(loaded.settings.check_in) == 256
    assert said(loaded) == ["check_in has more than 256 rules; the others do not count."]


def test_a_rule_for_a_tool_that_there_is_not_is_said_where_the_tools_are_known(load: Load):
    settings = load('check_in = [{ tool = "bsh", runs = "rm" }, { tool = "r*" }]').settings
    assert settings.unmatched(["read", "bash"]) == (
        'check_in: { tool = "bsh", runs = "rm" } matches no tool; did you mean "bash"? It is to guard, so '
        + ASKED_MEANWHILE,
    )


def test_of_many_rules_without_a_tool_some_are_said_and_the_others_counted(load: Load):
    settings = load("check_in = [" + ", ".join(f'{{ tool = "zz{number}" }}' for number in range(5)) + "]").settings
    *told, last = settings.unmatched(["read"], most=3)
    assert len(told) == 3
    assert last == "2 more rules match no tool; pi-intent doctor tells all"
    assert len(settings.unmatched(["read"], most=5)) == 5


def test_a_server_hears_of_the_rules_that_name_it_alone(load: Load):
    text = 'check_in = [{ tool = "srv/a" }, { tool = "other/a" }, { tool = "a" }]'
    settings = load(text + '\n[tools]\n"srv/b" = "omit"\n"*/c" = "omit"\nd = "omit"\n').settings
    named = settings.naming(["srv"])
    assert [rule.pattern for rule in named.tools] == ["srv/b"]
    assert [rule.tool for rule in named.check_in] == ["srv/a"]
    assert len(named.unmatched(["srv/x"])) == 2
    assert settings.naming([]).unmatched(["srv/x"]) == ()


def test_a_session_says_nothing_of_rules_for_servers_that_it_does_not_have(load: Load):
    text = 'check_in = [{ tool = "crm/send" }, { tool = "bsh" }]\n[tools]\n"docs/*" = "omit"\n"srv/x" = "omit"\n'
    settings = load(
        text + '"svr/y" = "omit"\n"*/z" = "omit"\nd = "omit"\n', 'check_in = [{ tool = "docs/a" }]'
    ).settings
    told = settings.for_session(["bash", "srv/a"]).unmatched(["bash", "srv/a"])
    named = [sentence.partition(" matches")[0].rpartition(": tools.")[2] for sentence in told]
    assert named == ['check_in: { tool = "bsh" }', '"srv/x"', '"svr/y"', '"*/z"', "d"]


def test_what_only_looks_like_it_is_not_warned_of_and_what_is_doubtful_still_counts(load: Load):
    text = 'check_in = ["unstated", { path = "app/$id.tsx" }, { path = "$ID.md" }, { path = "{x}" }]\n'
    assert said(load(text + 'policy = "adaptive"\n[tools]\nbash = "require"\n')) == []
    assert said(load('policy = "require"\n' + text + '[tools]\n"srv/*" = "optional"\n')) == []
    loaded = load('check_in = [{ path = "${HOME}/x" }]\n[tools]\nread = { check_in = ["dangers", "outside"] }')
    assert loaded.settings.check_in == (Match(path="${HOME}/x"),)
    assert loaded.settings.for_tool("read", watched=True).check_in[1:] == ("dangers", "outside")


def test_what_no_tool_stores_is_said_of_a_tool_that_wants_it(load: Load):
    text = 'artifacts = true\n[tools]\nwrite = { wants = { content = "page" } }\n'
    sentence = 'tools.write.wants.content wants "page", which no tool stores: set stores of the tool that makes it.'
    assert said(load(text)) == [sentence]
    assert said(load(text + 'fetch = { stores = ["page"] }')) == []
