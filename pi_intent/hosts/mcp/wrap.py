"""Run an MCP server behind the proxy: what `pi-intent mcp wrap` does, with nothing loaded that it does not need."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, NoReturn

from pi_intent.hosts.mcp.child import CANNOT_START, NOT_FOUND, Child
from pi_intent.hosts.mcp.options import WrapOptions, server_name

if TYPE_CHECKING:
    from pi_intent.hosts.mcp.bounding import Bounds
    from pi_intent.hosts.mcp.holding import Holding
    from pi_intent.hosts.mcp.policy import ServerPolicy
    from pi_intent.hosts.mcp.pump import Pump
    from pi_intent.hosts.mcp.recording import Recording


def wrap(options: WrapOptions, environ: Mapping[str, str]) -> NoReturn:
    """Run the server until it ends, and end as it did."""
    for descriptor in (0, 1, 2):  # a pipe to the server must not take the place of one that is closed
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if environ.get("PI_INTENT", "").strip().lower() == "off":
        _become(options.command)
    given = _given(options, environ)
    try:
        child = Child(options.command, given)  # first: the rest is loaded while the server starts
    except OSError as error:
        _cannot_start(options.command[0], error)
    _without_openssl()
    pump, recording = _put_together(options, environ, child, given)
    try:
        pump.run()
    except Exception as error:  # a boundary: the server must not be left behind, nor the calls
        tell(f"the session was ended by a fault of pi-intent ({type(error).__name__}: {error})")
        child.signal(signal.SIGKILL)
    code = child.finish()
    recording.close()
    pump.finish_log()
    _end_as(code)


def _without_openssl() -> None:
    """Let `hashlib` take Python's own SHA-256: OpenSSL is a fifth of a proxy's memory, and there is one a server."""
    if find_spec("_sha2") is not None:  # some distributions leave it out
        sys.modules.setdefault("_hashlib", None)  # type: ignore[arg-type]  # "there is none", as imports read it


def _given(options: WrapOptions, environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the credentials that the server needs, by variable. Ends the program where one cannot be fetched."""
    from pi_intent.settings.load import mentions

    if not mentions(b"needs", environ):  # most do not: then the server starts at once
        return {}
    from pi_intent.errors import CredentialError
    from pi_intent.hosts.mcp.needing import given_to

    server = options.server or server_name(options.command)
    try:
        return given_to(server, environ, tell)
    except CredentialError as error:
        tell(f"{server} was not started: {error}")
        sys.exit(CANNOT_START)


def _put_together(
    options: WrapOptions, environ: Mapping[str, str], child: Child, given: Mapping[str, str]
) -> tuple[Pump, Recording]:
    from pi_intent.descriptions import model_texts
    from pi_intent.hosts.mcp.calls import Calls
    from pi_intent.hosts.mcp.policy import ServerPolicy
    from pi_intent.hosts.mcp.proxy import Proxy
    from pi_intent.hosts.mcp.pump import Pump
    from pi_intent.hosts.mcp.recording import Recording
    from pi_intent.hosts.mcp.tools import Tools

    texts = model_texts()
    server = options.server or server_name(options.command)
    pump = Pump(child)
    if given:
        from pi_intent.hosts.mcp.told import Told

        pump.told = Told(given.values(), pump.to_log)

    def say(sentence: str) -> None:
        pump.to_log(log_line(sentence))

    policy = ServerPolicy(options, server, environ, tell=say)
    recording = Recording(texts=texts, environ=environ, strict=policy.strict, tell=say, traced=policy.traced)
    if given:
        recording.learn(given.values())
    pump.on_idle = recording.sync
    pump.proxy = Proxy(
        tools=Tools(
            texts=texts,
            settings_for=policy.settings_for,
            on_listed=policy.tell_unmatched,
            may_require=policy.may_require,
            on_skipped=lambda name, why: say(f"{server}/{name} is not asked for an intent: {why}"),
        ),
        calls=Calls(pipeline=recording.ready, server=server, clock=time.monotonic),
        texts=texts,
        to_client=pump.to_client,
        to_server=pump.to_server,
        tell=say,
        on_hello=recording.begin,
        own_id=f"pi-intent-{os.urandom(6).hex()}-",
        clock=time.monotonic,
        holding=_holding(policy, recording, pump, say),
        bounds=_bounds(policy, recording),
    )
    return pump, recording


def _bounds(policy: ServerPolicy, recording: Recording) -> Bounds | None:
    """Return what bounds the results of calls; None, and nothing loaded, where nothing is set."""
    if not policy.settings.may_bound:
        return None
    from pi_intent.hosts.mcp.bounding import Bounds

    return Bounds(recording, recording.pipeline.texts, policy.settings_for)


def _holding(policy: ServerPolicy, recording: Recording, pump: Pump, say: Callable[[str], None]) -> Holding | None:
    """Return what holds calls up until a person has seen them; None, and nothing loaded, where nobody is asked."""
    if not policy.settings.can_ask:
        return None
    from pi_intent.settings.parsing import missing_parser

    if (problem := missing_parser(policy.settings)) is not None:
        say(problem)
    from pi_intent.hosts.mcp.holding import Holding

    return Holding(
        session=recording,
        settings=lambda: policy.settings,  # what its tools are called may change them
        texts=recording.pipeline.texts,
        to_client=pump.to_client,
        tell=say,
        own_id=f"pi-intent-asks-{os.urandom(8).hex()}-",
    )


def tell(sentence: str) -> None:
    """Say one sentence on standard error, before or after the session."""
    with suppress(OSError, ValueError):
        os.write(2, log_line(sentence))


def log_line(sentence: str) -> bytes:
    """Return a sentence of ours as a line of the server's log."""
    from pi_intent.labels.printable import printable  # it may quote what others wrote; seldom needed

    return f"pi-intent: {printable(sentence, width=1000)}\n".encode("utf-8", "backslashreplace")


def _become(command: tuple[str, ...]) -> NoReturn:
    """Be the server, as if we were not there."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # what Python ignores, the server need not
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        _cannot_start(command[0], error)


def _cannot_start(program: str, error: OSError) -> NoReturn:
    if not isinstance(error, FileNotFoundError):
        tell(f"the server could not be started: {program}: {error.strerror}")
        sys.exit(CANNOT_START)
    if any(space in program for space in " \t"):
        tell(f"the server could not be started: there is no program {program!r}; give its words one by one, unquoted")
    else:
        tell(f"the server could not be started: there is no program {program}; is it installed, and on the PATH?")
    sys.exit(NOT_FOUND)


def _end_as(code: int) -> NoReturn:
    """End with the server's exit code, or by the signal that ended it."""
    if code < 0:
        with suppress(OSError, ValueError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.stdout = sys.stderr = None  # nothing of ours is in them, and who reads them may be gone
    os._exit(code)
