"""A client that can show forms, before a proxy whose calls a person must approve."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from mcp_desk import ECHO, Desk, line
from user_config import write_config

ENVELOPE = "io.modelcontextprotocol/"
ASKS = {"PI_INTENT_ASK": "exec"}


class Asked(NamedTuple):
    """A question that a client got; `key` goes with the answer, `about` is the call that it asks of."""

    key: str
    params: dict[str, Any]
    about: dict[str, Any]

    @property
    def text(self) -> str:
        return str(self.params["message"])


class Client:
    """A client that shows forms; of 2026-07-28 where it is `modern`."""

    def __init__(
        self, desk: Desk, *, modern: bool = False, elicitation: object = None, lists: tuple[Any, ...] = (ECHO,)
    ) -> None:
        self.desk = desk
        self.modern = modern
        self.calls: dict[object, dict[str, Any]] = {}
        self.capabilities = {"elicitation": {} if elicitation is None else elicitation}
        if not modern:
            desk.ask("init", "initialize", protocolVersion="2025-06-18", capabilities=self.capabilities)
            desk.answer("init", capabilities={})
        desk.list_tools(*lists)

    def call(self, number: Any, name: str = "echo", more: dict[str, Any] | None = None, **arguments: Any) -> None:
        params: dict[str, Any] = {"name": name, "arguments": arguments, **(more or {})}
        if self.modern:
            params["_meta"] = {
                f"{ENVELOPE}protocolVersion": "2026-07-28",
                f"{ENVELOPE}clientCapabilities": self.capabilities,
            }
        self.calls[number] = params
        self.desk.ask(number, "tools/call", **params)

    def questions(self) -> list[Asked]:
        """Every question so far, in order."""
        found = []
        for message in self.desk.said():
            result = message.get("result", {})
            if message.get("method") == "elicitation/create":
                found.append(Asked(message["id"], message["params"], {}))
            elif result.get("resultType") == "input_required":
                (asked,) = result["inputRequests"].values()
                assert asked["method"] == "elicitation/create"
                found.append(Asked(result["requestState"], asked["params"], self.calls[message["id"]]))
        return found

    def reply(self, question: Asked, result: Any, number: Any = "again") -> None:
        """Give the answer: to the request, or with the call sent again under `number`."""
        if self.modern:
            again = {"inputResponses": {"pi-intent": result}, "requestState": question.key}
            self.calls[number] = question.about
            self.desk.ask(number, "tools/call", **{**question.about, **again})
        else:
            self.desk.proxy.from_client(line({"jsonrpc": "2.0", "id": question.key, "result": result}))

    def choose(self, decision: str, *, note: str | None = None, number: Any = "again") -> None:
        content = {"decision": decision} | ({} if note is None else {"note": note})
        self.reply(self.questions()[-1], {"action": "accept", "content": content}, number)

    def refusals(self) -> list[str]:
        """The texts of the calls that ended without a run."""
        results = [message["result"] for message in self.desk.said() if "isError" in message.get("result", {})]
        assert all(result.get("resultType") == ("complete" if self.modern else None) for result in results)
        return [result["content"][0]["text"] for result in results]


def reached(desk: Desk) -> list[Any]:
    """The parameters of the calls that the server got."""
    return [message["params"] for message in desk.sent() if message.get("method") == "tools/call"]


def decided(desk: Desk) -> list[tuple[bool | None, str | None]]:
    return [(decision.approved, decision.by) for decision in desk.decisions.made]


def settings(folder: Path, text: str) -> dict[str, str]:
    write_config(folder, text)
    return {"XDG_CONFIG_HOME": str(folder)}


def cancel(request_id: object) -> bytes:
    return line({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}})
