"""Conversations about eras, lists of tools, tasks, and how a server starts and ends."""

# A raw message is a line of its own, however long.
# ruff: noqa: E501

from __future__ import annotations

import signal
import sys
from pathlib import Path

from mcp_scenarios import (
    ENVELOPE,
    MODERN,
    REASONED,
    STATED,
    Scenario,
    call,
    end,
    handshake,
    hear,
    notify,
    request,
    say,
    send_signal,
)

sys.path.append(str(Path(__file__).parent / "hosts" / "mcp"))

from hostile_catalogue import EXACT, NAMES, OWN, SCHEMAS

MARKED = "marked_intent"
COMPOSED = tuple(name for name in SCHEMAS if name not in EXACT)[: tuple(SCHEMAS).index("own_intent") - len(EXACT)]
KEPT = frozenset(SCHEMAS) - {*EXACT, *COMPOSED, MARKED}
SAMPLE = '{"text":"a"}'
META = f",{ENVELOPE}"
BOTH = f"{STATED},{REASONED}"
OWN_ARGUMENTS = '{"intent":"theirs","text":"a"}'


def _schema(name: str) -> Scenario:
    # What a tool has of its own is its own: those calls state the same to both. Where members are counted, ours is one.
    own = name in OWN
    return Scenario(
        name=f"schema: {name}",
        options={"catalogue": f"schema:{name}"},
        same=KEPT & {name},
        changed_inside=frozenset({*COMPOSED, MARKED}) & {name},
        steps=(*handshake(), call(name, OWN_ARGUMENTS if own else SAMPLE, intent=not own and name not in KEPT, stated=STATED if name == "counted" else BOTH), call("last", SAMPLE, spelt="8")),
    )  # fmt: skip


def _modern(*steps: object) -> tuple:
    return (*MODERN, *steps)


ERAS = (
    *(Scenario(name=f"era: {version}", steps=(*handshake(version), call("echo", '{"a":1.0}'), request("ping")))
      for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2099-01-01")),
    Scenario(name="era: 2026-07-28", steps=_modern(call("echo", '{"a":1.0}', more=META), request("resources/list", f"{{{ENVELOPE}}}"))),
    Scenario(name="era: 2026-07-28, the envelope before the arguments", steps=_modern(
        say(f'{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{{ENVELOPE},"name":"echo","arguments":{{"a":1.0}}}}}}', '"id":7,'))),
    Scenario(name="era: an unknown version", steps=(request("server/discover", f'{{{ENVELOPE.replace("2026-07-28", "2031-01-01")}}}'), *MODERN)),
    Scenario(name="era: discovery refused, then a handshake", options={"era": "handshake"},
             steps=(request("server/discover", f"{{{ENVELOPE}}}"), *handshake(), call("echo"))),
    Scenario(name="era: both in one session", steps=(*MODERN, *handshake(), call("echo", more=META), call("echo", spelt="8"))),
    Scenario(name="era: a question in a result, and the retry", steps=_modern(
        call("ask_first", '{"a":1.0}', more=META),
        call("ask_first", '{"a":1.0}', spelt="8", more=f',"inputResponses":{{"who":{{"action":"accept","content":{{"name":"n"}}}}}},"requestState":"c3RhdGU=:9"{META}'))),
    Scenario(name="era: a retry with the state alone", steps=_modern(
        call("ask_first", "{}", more=META), call("ask_first", "{}", spelt="8", more=f',"requestState":"load"{META}'))),
    Scenario(name="era: a retry under the old id", steps=_modern(
        call("ask_first", "{}", more=META), call("ask_first", "{}", more=f',"requestState":"load"{META}'))),
    Scenario(name="era: a subscription", steps=_modern(
        request("subscriptions/listen", f'{{{ENVELOPE},"notifications":{{"toolsListChanged":true}}}}', spelt='"sub"', answered=False),
        hear("acknowledged", "list_changed"), call("echo", more=META),
        notify("notifications/cancelled", f'{{{ENVELOPE},"requestId":"sub"}}'), hear('"id":"sub"'))),
)  # fmt: skip

TASKS = (
    Scenario(name="task: made, polled and read", steps=(*handshake("2025-11-25"),
             call("slow_task", '{"a":1.0}', more=',"task":{"ttl":6e4}'), hear("tasks/status"),
             request("tasks/get", '{"taskId":"task-0"}', spelt="8"), request("tasks/get", '{"taskId":"task-0"}', spelt="9"),
             request("tasks/list", spelt="10"), request("tasks/result", '{"taskId":"task-0"}', spelt="11"), request("ping", spelt="12"))),
    Scenario(name="task: cancelled", steps=(*handshake("2025-11-25"),
             call("slow_task", '{"a":1.0}', more=',"task":{}'), hear("tasks/status"),
             request("tasks/cancel", '{"taskId":"task-0"}', spelt="8"), request("tasks/get", '{"taskId":"task-0"}', spelt="9"))),
    Scenario(name="task: two at once", steps=(*handshake("2025-11-25"),
             call("slow_task", '{"a":1}', more=',"task":{}'), call("slow_task", '{"a":2}', spelt="8", more=',"task":{}'),
             request("tasks/result", '{"taskId":"task-1"}', spelt="9"), request("tasks/result", '{"taskId":"task-0"}', spelt="10"))),
    Scenario(name="task: unknown", steps=(*handshake("2025-11-25"), request("tasks/get", '{"taskId":"no"}'))),
    Scenario(name="task: read twice", steps=(*handshake("2025-11-25"), call("slow_task", more=',"task":{}'),
             request("tasks/result", '{"taskId":"task-0"}', spelt="8"), request("tasks/result", '{"taskId":"task-0"}', spelt="9"))),
    Scenario(name="task: never read", steps=(*handshake("2025-11-25"), call("slow_task", more=',"task":{}'))),
)  # fmt: skip

LISTS = (
    *map(_schema, SCHEMAS),
    *(Scenario(name=f"name: {what}", options={"catalogue": "names"}, steps=(*handshake(), call(name, '{"a":1.0}')))
      for what, name in NAMES.items()),
    Scenario(name="list: page by page", options={"page": 3}, steps=(*handshake(),
             *(request("tools/list", f'{{"cursor":"page:{n}"}}', spelt=f'"list-{n}"') for n in (3, 6, 9, 12)), call("slow_task"))),
    Scenario(name="list: a tool of page two", options={"page": 10}, steps=(*handshake(), request("tools/list", '{"cursor":"page:10"}', spelt='"list-10"'), call("ask_first", '{"a":1.0}'))),
    Scenario(name="list: changes between pages", options={"page": 1, "shift": "changed"}, steps=(*handshake(), request("tools/list", '{"cursor":"page:1"}', spelt='"list-1"'), call("newcomer"))),
    Scenario(name="list: an unknown cursor", asks=True, options={"page": 3}, steps=(*handshake(), request("tools/list", '{"cursor":"page:99"}', spelt='"list-99"'), call("echo"))),
    Scenario(name="list: with a cursor that is empty", steps=(*handshake(), request("tools/list", '{"cursor":""}', spelt='"list-0"'))),
    Scenario(name="list: page two again", asks=True, options={"page": 10}, steps=(*handshake(), request("tools/list", '{"cursor":"page:10"}', spelt='"list-10"'),
             request("tools/list", '{"cursor":"page:10"}', spelt='"list-11"'), call("echo", '{"a":1.0}'), call("ask_first", '{"a":1.0}', spelt="8"))),
    Scenario(name="list: not waited for", asks=True, steps=(*handshake(lists=False), request("tools/list", spelt='"list"', answered=False), call("echo", '{"a":1.0}'))),
    Scenario(name="list: a second one not waited for", steps=(*handshake(), request("tools/list", spelt='"list-2"', answered=False), call("echo", '{"a":1.0}'))),
    Scenario(name="list: empty", options={"catalogue": "none"}, steps=handshake()),
    Scenario(name="list: refused", options={"own_list_error": True}, steps=(*handshake(), call("echo", intent=False))),
    Scenario(name="list: changes after a call", steps=(*handshake(), call("echo"), call("change", spelt="8"), call("echo", spelt="9"),
             request("tools/list", spelt='"list-2"'), call("echo", spelt="10"), call("newcomer", spelt="11"))),
    Scenario(name="list: another schema under the same name", options={"catalogue": "schema:simple", "then": "schema:closed"},
             steps=(*handshake(), call("simple", SAMPLE), call("change", spelt="8", intent=False), request("tools/list", spelt='"list-2"'), call("closed", SAMPLE, spelt="9"))),
    Scenario(name="list: asked twice at once", steps=(*handshake(), request("tools/list", spelt='"list-2"', answered=False), request("tools/list", spelt='"list-3"'), call("echo"))),
    Scenario(name="list: two tools of one name", options={"catalogue": "twins"}, either=frozenset({"twin"}), steps=(*handshake(), call("echo"))),
    Scenario(name="list: 1 MB of schema", options={"catalogue": "schema:large"}, steps=(*handshake(), request("tools/list", spelt='"list-2"'))),
    Scenario(name="list: all schemas at once", options={"catalogue": "schemas"}, same=KEPT, changed_inside=frozenset({*COMPOSED, MARKED}), steps=handshake()),
)  # fmt: skip

SH = ("/bin/sh", "-c")


def _shell(name: str, script: str, *arguments: str) -> Scenario:
    return Scenario(name=f"process: {name}", command=(*SH, script, *arguments), steps=())


ENDINGS = (
    *(Scenario(name=f"end: exit code {code} at the end of input", options={"exit": code}, steps=(*handshake(), call("echo"))) for code in (0, 1, 3, 42, 127, 255)),
    *(Scenario(name=f"end: exit code {code} after an answer", steps=(*handshake(), call("die", f'{{"how":"answer","code":{code}}}'), end)) for code in (0, 7)),
    *(Scenario(name=f"end: exit code {code} without an answer", steps=(*handshake(), call("die", f'{{"how":"exit","code":{code}}}', hears=()), end)) for code in (0, 9)),
    *(Scenario(name=f"end: {number.name} in a call", steps=(*handshake(), call("die", f'{{"how":"signal","code":{int(number)}}}', hears=()), end))
      for number in (signal.SIGABRT, signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV)),
    Scenario(name="end: in the middle of a message", steps=(*handshake(), call("die", '{"how":"half","code":5}', hears=()), end)),
    Scenario(name="end: killed in the middle of a message", steps=(*handshake(), call("die", '{"how":"half kill"}', hears=()), end)),
    Scenario(name="end: with a call open", steps=(*handshake(), call("hold", "{}", hears=()))),
    Scenario(name="end: a late message", options={"at_end": "late"}, steps=(*handshake(), call("echo"))),
    Scenario(name="end: a late answer", options={"at_end": "late"}, steps=(*handshake(), call("hold", "{}", hears=()))),
    Scenario(name="end: a last line without its end", options={"at_end": "unfinished"}, steps=(*handshake(), call("echo"))),
    Scenario(name="end: the input ends in the middle of a line", steps=(*handshake(), say(b'{"jsonrpc":"2.0","id":9,"method":"ping"}'))),
    Scenario(name="end: before anything is said", steps=()),
    Scenario(name="end: the server does not read on", steps=(*handshake(), call("die", '{"how":"deaf"}'), end)),
    *(Scenario(name=f"signal: {number.name}", steps=(*handshake(), call("echo"), send_signal(number), end)) for number in (signal.SIGTERM, signal.SIGHUP)),
    Scenario(name="process: what the server sees", steps=(*handshake(), call("inside"))),
    _shell("environment", "env | sort"),
    _shell("working directory", "pwd"),
    _shell("arguments", 'for a in "$@"; do printf "<%s>\\n" "$a"; done', "name", "--", "--policy", "require", "", "a b", "-h", "ü\n", "--server", "x"),
    _shell("signals", "exec grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status"),  # the shell blocks some while it forks
    _shell("open files", "ls /proc/$$/fd"),
    _shell("limits", "umask; ulimit -n; ulimit -c; nice"),
    _shell("standard error", "echo one >&2; printf two >&2; exit 4"),
    _shell("exit at once", "exit 6"),
    _shell("only text", "echo hello; cat; printf bye"),
    Scenario(name="process: a program that gives everything back", command=(*SH, "exec cat"), steps=(request("ping", spelt="1"), notify("x", '{"n":1.0}'), request("x", '{"a":[1e5]}', spelt='"b"'))),
)  # fmt: skip

SESSIONS = (*ERAS, *TASKS, *LISTS, *ENDINGS)
