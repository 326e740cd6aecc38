"""The scripted model speaks the provider's dialect, and a Tau that runs on it stays inside its folder."""

from __future__ import annotations

import http.client
import json
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pi_intent.cli.demo import story
from pi_intent.cli.demo.model import ScriptedCall, ScriptedModel, Turn
from pi_intent.cli.demo.tau import MODEL, HermeticTau, TauRun, find_tau, stop
from pi_intent.errors import HostError

TOOLS = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]
SECONDS = 30


@contextmanager
def connected(model: ScriptedModel) -> Iterator[http.client.HTTPConnection]:
    address = model.base_url.removeprefix("http://").removesuffix("/v1")
    connection = http.client.HTTPConnection(address, timeout=SECONDS)
    try:
        yield connection
    finally:
        connection.close()


def ask(model: ScriptedModel, *, tools: bool = True, text: str = "Go") -> tuple[int, str]:
    body: dict[str, Any] = {"model": "m", "stream": True, "messages": [{"role": "user", "content": text}]}
    with connected(model) as connection:
        connection.request("POST", "/v1/chat/completions", json.dumps(body | ({"tools": TOOLS} if tools else {})))
        answer = connection.getresponse()
        return answer.status, answer.read().decode("ascii")


def chunks(stream: str) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in stream.splitlines() if line]
    return [line if line == "[DONE]" else json.loads(line) for line in lines]


def deltas(stream: str) -> list[Any]:
    return [chunk["choices"][0]["delta"] for chunk in chunks(stream) if chunk != "[DONE]" and chunk["choices"]]


def said(stream: str) -> str:
    return "".join(delta.get("content", "") for delta in deltas(stream))


def arguments(stream: str) -> str:
    calls = [delta["tool_calls"][0] for delta in deltas(stream) if "tool_calls" in delta]
    return "".join(call["function"]["arguments"] for call in calls)


def test_a_turn_streams_role_text_arguments_in_pieces_finish_usage_and_done() -> None:
    turn = Turn(text="Hello", calls=(ScriptedCall(name="read", arguments={"path": "a"}),))
    with ScriptedModel([turn], piece=8) as model:
        status, stream = ask(model)
    head = {"id": "scripted-1", "object": "chat.completion.chunk", "created": 0, "model": "m"}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    usage = {"prompt_tokens": len(model.requests[0].raw) // 4, "completion_tokens": 4}
    assert (status, chunks(stream)) == (
        200,
        [
            chunk({"role": "assistant", "content": ""}),
            chunk({"content": "Hello"}),
            chunk(
                {
                    "tool_calls": [
                        {
                            "index": 0,
                            "type": "function",
                            "id": "call_1",
                            "function": {"name": "read", "arguments": ""},
                        }
                    ]
                }
            ),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"path":'}}]}),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": ' "a"}'}}]}),
            chunk({}, "tool_calls"),
            head | {"choices": [], "usage": usage | {"total_tokens": usage["prompt_tokens"] + 4}},
            "[DONE]",
        ],
    )


def test_arguments_that_are_text_go_out_letter_for_letter_and_line_separators_stay_escaped() -> None:
    sent = '{"path": "\u2028\u2029\x85é", '
    with ScriptedModel([Turn(calls=(ScriptedCall(name="read", arguments=sent),))], piece=3) as model:
        _, stream = ask(model)
    assert stream.isascii()
    assert arguments(stream) == sent


def test_a_call_without_an_id_is_sent_without_one_and_a_given_id_is_kept() -> None:
    calls = (ScriptedCall(name="a", arguments={}, id=None), ScriptedCall(name="b", arguments={}, id="mine"))
    with ScriptedModel([Turn(calls=calls)]) as model:
        _, stream = ask(model)
    opening = [delta["tool_calls"][0] for delta in deltas(stream) if "type" in delta.get("tool_calls", [{}])[0]]
    assert [(call["index"], call.get("id")) for call in opening] == [(0, None), (1, "mine")]


def test_a_request_without_tools_takes_no_turn_and_the_end_of_the_script_has_an_answer() -> None:
    with ScriptedModel([Turn(text="one")], without_tools="A name", afterwards="Over") as model:
        answers = [said(ask(model, tools=tools)[1]) for tools in (False, True, False, True, True)]
    assert answers == ["A name", "one", "A name", "Over", "Over"]
    assert [request.has_tools for request in model.requests] == [False, True, False, True, True]
    assert model.tool_requests == [request for request in model.requests if request.has_tools]


def test_a_turn_can_be_a_function_of_the_request() -> None:
    with ScriptedModel([lambda body: Turn(text=str(body["messages"]))]) as model:
        assert said(ask(model, text="why?")[1]) == "[{'role': 'user', 'content': 'why?'}]"


def test_a_looping_turn_ends_after_its_repeats() -> None:
    loop = Turn(calls=(ScriptedCall(name="read", arguments={"path": "a"}),), repeat=3)
    with ScriptedModel([loop], afterwards="Over") as model:
        answers = [ask(model)[1] for _ in range(4)]
    assert [arguments(answer) for answer in answers] == ['{"path": "a"}'] * 3 + [""]
    assert said(answers[-1]) == "Over"


def test_a_cut_turn_ends_inside_the_arguments_of_its_last_call() -> None:
    calls = (ScriptedCall(name="a", arguments="{}"), ScriptedCall(name="b", arguments='{"path": "a"}'))
    with ScriptedModel([Turn(calls=calls, cut_at=5)], piece=2) as model:
        _, stream = ask(model)
    assert arguments(stream) == '{}{"pat'
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks(stream)] == [None] * 7


def test_a_failing_turn_answers_with_its_status_and_is_recorded() -> None:
    with ScriptedModel([Turn(status=500), Turn(text="again")]) as model:
        first, second = ask(model), ask(model)
    assert (first[0], json.loads(first[1])["error"]["type"]) == (500, "scripted")
    assert (second[0], said(second[1])) == (200, "again")
    assert len(model.requests) == 2


def test_requests_are_kept_byte_for_byte() -> None:
    raw = b'{ "messages":[],\n "x": "\\u00e9\xc3\xa9" }'
    with ScriptedModel([]) as model, connected(model) as connection:
        connection.request("POST", "/v1/chat/completions", raw)
        connection.getresponse().read()
    assert [(request.path, request.raw, request.body) for request in model.requests] == [
        ("/v1/chat/completions", raw, {"messages": [], "x": "éé"})
    ]


def test_what_is_not_a_chat_completion_is_refused() -> None:
    with ScriptedModel([]) as model, connected(model) as connection:
        statuses = []
        for path, raw in (("/v1/models", b"{}"), ("/v1/chat/completions", b"{")):
            connection.request("POST", path, raw)
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
    assert statuses == [404, 400]
    assert model.requests == []


def test_closing_ends_a_slow_stream_where_it_is() -> None:
    with ScriptedModel([Turn(text="slow answer")], piece=4, pause=3600) as model, connected(model) as connection:
        connection.request("POST", "/v1/chat/completions", json.dumps({"tools": TOOLS}))
        answer = connection.getresponse()
        first = answer.readline().decode()
        model.close()
        rest = answer.read().decode()
    assert deltas(first + rest) == [{"role": "assistant", "content": ""}]


# Tau itself, on its own tools


def call(name: str, **arguments: Any) -> Turn:
    return Turn(calls=(ScriptedCall(name=name, arguments=arguments),))


def run_tau(root: Path, model: ScriptedModel, *options: str, **files: str) -> tuple[HermeticTau, TauRun]:
    tau = HermeticTau.create(root, model.base_url, files=files)
    return tau, tau.run("Do it", options=options, timeout=SECONDS)


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def tool_results(model: ScriptedModel) -> list[str]:
    return [message["content"] for message in model.requests[-1].body["messages"] if message["role"] == "tool"]


def test_tau_runs_its_four_tools_on_the_scripted_model(tmp_path: Path) -> None:
    script = [
        call("read", path="a.txt"),
        call("write", path="b.txt", content="sep\u2028arator\n"),
        call("edit", path="a.txt", edits=[{"oldText": "one", "newText": "two"}]),
        call("bash", command="cat a.txt; exit 3"),
        Turn(text="Finished."),
    ]
    with ScriptedModel(script, piece=7) as model:
        tau, run = run_tau(tmp_path, model, **{"a.txt": "one\n"})
    assert run == TauRun(exit_code=0, stdout="Finished.\n", stderr="", timed_out=False)
    assert {path.name: path.read_text() for path in tau.project.iterdir() if path.is_file()} == {
        "a.txt": "two\n",
        "b.txt": "sep\u2028arator\n",
    }
    # The naming of the session comes first and offers no tools.
    assert [(request.has_tools, request.body["model"]) for request in model.requests] == [
        (False, MODEL),
        *[(True, MODEL)] * 5,
    ]
    roles = [[message["role"] for message in request.body["messages"]] for request in model.tool_requests]
    assert roles == [["system", "user", *["assistant", "tool"] * turn] for turn in range(5)]
    assert tool_results(model) == [
        "one\n",
        f"Successfully wrote to {tau.project}/b.txt.",
        f"Successfully replaced 1 block(s) in {tau.project}/a.txt.",
        "two\n\n\nCommand exited with code 3",
    ]
    # What is sent before the conversation is the same bytes every time: prompt caches live on it.
    tools = [request.raw[request.raw.index(b'"tools":') :] for request in model.tool_requests]
    assert set(tools) == {tools[0]}


def test_nothing_of_the_surroundings_gets_into_tau_and_nothing_of_tau_gets_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    for variable, folder in {
        "HOME": "home",
        "TAU_HOME": "tau",
        "TMPDIR": "tmp",
        "XDG_CACHE_HOME": "cache",
        "XDG_CONFIG_HOME": "config",
        "XDG_DATA_HOME": "data",
        "XDG_STATE_HOME": "state",
    }.items():
        (outside / folder).mkdir(parents=True)
        monkeypatch.setenv(variable, str(outside / folder))
    (outside / "home" / ".gitconfig").write_text("[core]\n\thooksPath = /nowhere\n[commit]\n\tgpgsign = true\n")
    for variable in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    for variable in ("GIT_DIR", "GIT_WORK_TREE", "OPENAI_API_KEY", "PI_INTENT", "PYTHONPATH"):
        monkeypatch.setenv(variable, str(outside / "no"))
    before = snapshot(outside)

    with ScriptedModel([call("bash", command="env -0 | cut -z -d= -f1 | tr '\\0' '\\n'; mktemp")]) as model:
        tau, run = run_tau(tmp_path / "inside", model)

    assert run.exit_code == 0, run.stderr
    *names, temporary = tool_results(model)[0].split()
    assert set(names) - {"PWD", "OLDPWD", "SHLVL", "_"} == set(tau.environment)
    assert Path(temporary).is_relative_to(tmp_path / "inside")
    assert snapshot(outside) == before
    assert {path.name for path in tmp_path.iterdir()} == {"inside", "outside"}


def test_tau_tries_again_after_a_server_error_and_reports_events_as_json(tmp_path: Path) -> None:
    with ScriptedModel([Turn(status=500), Turn(text="There.")]) as model:
        _, run = run_tau(tmp_path, model, "--mode", "json")
    events = [json.loads(line) for line in run.stdout.splitlines()]
    assert run.exit_code == 0, run.stderr
    assert events[-1]["type"] == "agent_settled"
    assert [request.raw for request in model.tool_requests] == [model.tool_requests[0].raw] * 2


def test_tau_takes_a_stream_that_dies_inside_the_arguments_for_a_call(tmp_path: Path) -> None:
    cut = Turn(calls=(ScriptedCall(name="read", arguments={"path": "a.txt"}),), cut_at=7)
    with ScriptedModel([cut, Turn(text="Over.")]) as model:
        _, run = run_tau(tmp_path, model)
    assert (run.exit_code, run.stdout) == (0, "Over.\n"), run.stderr
    sent = model.requests[-1].body["messages"][2]["tool_calls"][0]["function"]
    assert (sent["name"], json.loads(sent["arguments"])) == ("read", {"_raw_arguments": '{"path"'})


def test_the_demos_repairs_fail_and_succeed_where_its_story_says_so(tmp_path: Path) -> None:
    # Tau's own tools reject nothing, so the edit without an intent is left out.
    script = [turn for turn, (_, status) in zip(story.SCRIPT, story.EXPECTED, strict=False) if status != "rejected"]
    with ScriptedModel([*script, story.SCRIPT[-1]]) as model:
        tau, run = run_tau(tmp_path, model, **story.FILES)
    assert (run.exit_code, run.stdout) == (0, story.FINAL + "\n"), run.stderr
    assert (tau.project / "prices.py").read_text() == story.REPAIRED
    read, first_edit, failing, second_edit, green = tool_results(model)
    assert read == story.PRICES
    assert first_edit == second_edit == f"Successfully replaced 1 block(s) in {tau.project}/prices.py."
    assert ("AssertionError: 496 != 497" in failing, failing[-26:]) == (True, "Command exited with code 1")
    assert green.endswith("OK\n")


def test_a_run_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    with ScriptedModel([Turn(text="never told")], piece=1, pause=3600) as model:
        tau = HermeticTau.create(tmp_path, model.base_url)
        run = tau.run("Do it", timeout=0.5)
    assert (run.timed_out, run.stdout) == (True, "")
    assert run.exit_code != 0


def test_stopping_tau_ends_the_command_it_runs(tmp_path: Path) -> None:
    # More than a pipe holds: it is through when Tau reads. Tau forgets a command that it is stopped in the middle of
    # starting, and lets it run on.
    more = "head -c 1000000 /dev/zero"
    with ScriptedModel([call("bash", command=f"exec 3>../alive; {more}; echo started >&3; sleep 3600")]) as model:
        tau = HermeticTau.create(tmp_path, model.base_url)
        os.mkfifo(tmp_path / "alive")
        alive = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
        process = tau.start("Do it")
        try:
            assert select.select([alive], [], [], SECONDS)[0], "the command did not start"
            assert os.read(alive, 100) == b"started\n"
            stop(process)
            # The pipe reports its end when nobody holds the other side any more: the shell and sleep are gone.
            assert select.select([alive], [], [], SECONDS)[0], "the command outlived Tau"
            assert os.read(alive, 100) == b""
        finally:
            stop(process)
            process.communicate()
            os.close(alive)


def test_a_missing_tau_is_named_with_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_tau().parent == Path(sys.executable).parent
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match=r'no "tau" command.*pip install tau-ai'):
        find_tau()
    (tmp_path / "tau").touch(mode=0o755)
    assert find_tau() == tmp_path / "tau"


def test_a_tau_that_cannot_be_started_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tau").write_text("#!/no/such/python\n")
    (tmp_path / "tau").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    tau = HermeticTau.create(tmp_path / "inside", "http://127.0.0.1:9/v1")
    with pytest.raises(HostError, match=r"tau cannot be started \(No such file or directory\); install Tau again"):
        tau.run("Do it")
