"""A hostile server spoken to directly and through the proxy: what differs is the injection alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest
from abreast import Ahead, doing
from mcp_client_talk import FROM_CLIENT
from mcp_comparing import differences
from mcp_scenarios import Run, Scenario, hold_twice
from mcp_server_talk import FROM_SERVER
from mcp_session_talk import SESSIONS
from mcp_together import together

STATING = {
    "batch: calls and others",
    "call: members round it",
    "cancellation: honoured",
    "era: 2026-07-28",
    "era: a question in a result, and the retry",
    "list: changes after a call",
    "list: not waited for",
    "order: answers the other way round",
    "result: tools in the result of a call",
}
"""Conversations whose every call states an intent, held once more where it is required."""

OPTIONAL = (*FROM_SERVER, *FROM_CLIENT, *SESSIONS)
STRICT = tuple(
    replace(scenario, name=f"required, {scenario.name}", wrap=("--policy", "require", *scenario.wrap))
    for scenario in OPTIONAL
    if scenario.name in STATING or scenario.name.startswith(("arguments: ", "task: "))
)
GATED = 'ask = "write"\n[tools]\n"hostile/*" = { tier = "read" }\n'
NEVER_ASKED = tuple(
    replace(scenario, name=f"never asked, {scenario.name}", settings=GATED)
    for scenario in OPTIONAL
    if scenario.name in STATING or scenario.name.startswith(("call: ", "cancellation: ", "era: ", "id of a call: "))
)
"""Conversations held where a person is asked, but about none of the calls in them."""
SCENARIOS = tuple(together((*OPTIONAL, *STRICT, *NEVER_ASKED)))


@pytest.fixture(scope="module")
def conversations(request, tmp_path_factory) -> Iterator[Ahead[tuple[Run, Run]]]:
    """Every conversation of the tests that were chosen, begun a little before its test asks for it."""
    wanted = [item.callspec.params["scenario"] for item in request.session.items if item.fspath == request.fspath]
    folders = tmp_path_factory.mktemp("talks")
    held = {
        scenario.name: partial(hold_twice, scenario, folders / str(number)) for number, scenario in enumerate(wanted)
    }
    with doing(held) as ahead:
        yield ahead


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_the_proxy_changes_nothing_but_the_schemas_and_the_two_fields(conversations, scenario: Scenario):
    direct, wrapped = conversations[scenario.name]
    assert direct.received or scenario.command or not scenario.steps, "the conversation never reached the server"
    assert differences(scenario, direct, wrapped) == []
