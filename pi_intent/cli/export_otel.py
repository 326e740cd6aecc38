"""`pi-intent export otel`: send the calls of this project as spans to where OpenTelemetry sends spans."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from pi_intent.cli.console import complain, json_text
from pi_intent.cli.exporting import SESSION, SINCE, Source
from pi_intent.cli.here import without_secrets
from pi_intent.errors import TracingError
from pi_intent.facts import counted
from pi_intent.labels.printable import printable
from pi_intent.tracing.environment import CAPTURE, NOT_INSTALLED, captures_content, refusal, shown_url, traces_url
from pi_intent.tracing.listening import nobody_listens
from pi_intent.tracing.past import PastSpan, PastSpans

if TYPE_CHECKING:
    from pi_intent.tracing.sending import Sender

_NO_ENDPOINT = "no endpoint is set: give one with --endpoint, or set OTEL_EXPORTER_OTLP_ENDPOINT"
_MOST_SPANS = 512
_MOST_CHARACTERS = 2_000_000
"""In one batch, by and large: a collector takes some megabytes at once, and no more."""


@click.command()
@click.option(
    "--endpoint",
    metavar="URL",
    help="Where to send them, such as http://localhost:4318.  [default: the variable OTEL_EXPORTER_OTLP_ENDPOINT]",
)
@SESSION
@SINCE
@click.option("--dry-run", is_flag=True, help="Send nothing, and say what would be sent.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead.")
def otel(endpoint: str | None, session: str | None, since: str | None, dry_run: bool, as_json: bool) -> None:
    """Send the calls of this project as spans, protobuf over HTTP, to an OTLP endpoint.

    The standard variables of OpenTelemetry hold: OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _TIMEOUT, OTEL_SERVICE_NAME
    and so on. Nothing is sent where OTEL_SDK_DISABLED is true, OTEL_TRACES_EXPORTER is without otlp, or a protocol
    is set that is not http/protobuf.

    Every call is a span "execute_tool TOOL" under one of its session. The ids follow from the session and the call,
    so sending again is sending the same spans.

    Texts (intents, rationales, arguments, outcomes, paths) are sent only where
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT is "true", "span_only" or "span_and_event", and never of a call
    that the setting redact_args withheld. Calls that still run are left out.

    Exits with 1 where nothing is to be sent, or the spans were not taken; those of earlier batches may have been.

    With --json it is one document:

    \b
    {"ledger": FOLDER, "endpoint": URL or null, "dryRun": BOOLEAN,
     "content": BOOLEAN, "spans": N, "calls": N, "sessions": N,
     "running": N, "undated": N, "withheld": N}

    \b
    Examples:
      pi-intent export otel --dry-run
      pi-intent export otel --endpoint http://localhost:4318
      pi-intent export otel --since 7d
    """
    if (refused := refusal(os.environ)) is not None:
        raise TracingError(f"nothing was sent, as {refused.why}: unset {refused.variable} to send")
    url = _checked(traces_url(os.environ, endpoint))
    if url is None and not dry_run:
        raise TracingError(_NO_ENDPOINT)
    source = Source(session=session, since=since)
    past = PastSpans(captures_content(os.environ), source.redactor())
    spans = past.of(source.calls(), source.wants)
    count = sum(1 for _ in spans) if dry_run or url is None else _send(spans, url)
    source.report()
    told = _document(source, url, past, count, dry_run=dry_run)
    if as_json:
        click.echo(json_text(told, indent=2))
    else:
        _print(told, source.nothing())


def _checked(url: str | None) -> str | None:
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0):
            return url
    except ValueError:
        pass
    raise TracingError(f"{printable(shown_url(url), width=200)} is no address such as http://localhost:4318")


def _send(spans: Iterator[PastSpan], url: str) -> int:
    try:
        from pi_intent.tracing.sending import Sender
    except ImportError as error:
        raise TracingError(NOT_INSTALLED) from error
    sender: Sender | None = None
    count = 0
    try:
        for batch in _batches(spans):
            if sender is None:
                if nobody_listens(url):
                    raise TracingError(
                        f"nobody listens at {shown_url(url)}: start what is to receive the spans first"
                    )
                sender = Sender(url)
            try:
                sender.send(batch)
            except TracingError as error:
                raise TracingError(f"{error}; {count} spans had been sent, and sending them again is safe") from error
            count += len(batch)
    finally:
        if sender is not None:
            sender.close()
    return count


def _batches(spans: Iterable[PastSpan]) -> Iterator[list[PastSpan]]:
    batch: list[PastSpan] = []
    size = 0
    for span in spans:
        batch.append(span)
        size += sum(len(value) for value in span.attributes.values() if isinstance(value, str))
        if len(batch) == _MOST_SPANS or size > _MOST_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _document(source: Source, url: str | None, past: PastSpans, count: int, *, dry_run: bool) -> dict[str, Any]:
    return {
        "ledger": without_secrets(source.location.segments),
        "endpoint": None if url is None else shown_url(url),
        "dryRun": dry_run,
        "content": past.content,
        "spans": count,
        "calls": past.calls,
        "sessions": past.sessions,
        "running": past.running,
        "undated": past.undated,
        "withheld": past.withheld,
    }


def _print(told: Mapping[str, Any], nothing: str) -> None:
    if told["spans"]:
        verb = "Would send" if told["dryRun"] else "Sent"
        where = f" to {told['endpoint']}" if told["endpoint"] is not None else ""
        what = f"{counted(told['calls'], 'call')} of {counted(told['sessions'], 'session')}"
        click.echo(printable(f"{verb} {counted(told['spans'], 'span')}{where}: {what}.", width=1000))
        if told["endpoint"] is None:
            click.echo(f"Nothing could be sent yet: {_NO_ENDPOINT}.")
        elif told["dryRun"] and find_spec("opentelemetry") is None:
            click.echo(f"Nothing could be sent yet: {NOT_INSTALLED}.")
        if told["content"]:
            click.echo("With their texts, without secrets.")
            if told["withheld"]:
                click.echo(f"{counted(told['withheld'], 'call')} without texts, as redact_args withholds them.")
        else:
            click.echo(f"Without their texts: {CAPTURE}=true adds them.")
    else:
        complain(f"There is nothing to send: {nothing[:1].lower()}{nothing[1:]} in {told['ledger']}.")
    if told["running"]:
        click.echo(f"{counted(told['running'], 'call')} left out, still running.")
    if told["undated"]:
        complain(f"{counted(told['undated'], 'call')} left out, as the ledger does not say when they began.")
