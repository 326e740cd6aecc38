"""Find the servers in a config that is JSON, with or without comments."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pi_intent.hosts.mcp.clients.jsonc import Member, Node, parse, plain, string
from pi_intent.hosts.mcp.clients.text import Arguments, Malformed, Server, Span, comma_after, line_of

_SPACE_BEFORE = re.compile(r"[ \t\r\n]*\Z")
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_JUST_A_COMMA = re.compile(r"[ \t\r\n]*,[ \t\r\n]*")


def json_servers(text: str, keys: Sequence[str]) -> list[Server]:
    """Return the servers of the object that lies under the keys; none where there is no such object.

    Raises `Malformed` for a text that is not JSON, and for keys that stand there twice: clients do not agree on which
    of the two counts.
    """
    node = parse(text)
    if node is None:
        return []
    path: list[str] = []
    for key in keys:
        members = _members(text, node, path)
        if key not in members:
            return []
        node = members[key].value
        path.append(key)
    return [_server(text, member, [*path, name]) for name, member in _members(text, node, path).items()]


def json_meaning(text: str) -> object:
    """Return what a document says, however it is laid out."""
    return plain(text, parse(text))


def json_object_keys(text: str, keys: Sequence[str]) -> list[str]:
    """Return the keys of the object that lies under the keys. Raises `Malformed`."""
    node = parse(text)
    path: list[str] = []
    for key in keys:
        members = _members(text, node, path) if node is not None else {}
        if key not in members:
            return []
        node = members[key].value
        path.append(key)
    return [*_members(text, node, path)] if node is not None else []


def _members(text: str, node: Node, path: Sequence[str]) -> dict[str, Member]:
    """Return the members of an object by key."""
    if node.kind != "object":
        raise Malformed(line_of(text, node.start), f"has no object as {_named(path)}")
    found: dict[str, Member] = {}
    for member in node.members:
        if member.key in found:
            raise Malformed(line_of(text, member.start), f"has {member.key!r} twice in {_named(path)}")
        found[member.key] = member
    return found


def _named(path: Sequence[str]) -> str:
    return "its top level" if not path else " → ".join(path)


def _server(text: str, entry: Member, path: Sequence[str]) -> Server:
    name, node = entry.key, entry.value
    nowhere = Span(node.start, node.start)
    span = Span(node.start, node.end)
    if node.kind != "object":
        return Server(
            name=name, span=span, fields={}, command=None, command_at=nowhere, arguments=None, place=node.start,
            before_arguments="", problem="its entry is not an object",
        )  # fmt: skip
    members = _members(text, node, path)
    fields = {key: _field(text, member.value) for key, member in members.items()}
    command = members.get("command")
    value = string(text, command.value) if command is not None else None
    problem = None if command is None or value is not None else "its command is not a text"
    arguments = None
    if "args" in members:
        arguments = _arguments(text, node, members["args"])
        if arguments is None:
            problem = problem or "its args are not a list of texts"
    return Server(
        name=name,
        span=span,
        fields=fields,
        environ=_environ(text, members.get("env")),
        command=value,
        command_at=Span(command.value.start, command.value.end) if command is not None else nowhere,
        arguments=arguments,
        place=command.value.end if command is not None else node.start,
        before_arguments=_before_arguments(text, node, command) if command is not None else "",
        problem=problem,
    )


def _environ(text: str, member: Member | None) -> dict[str, str]:
    pairs = [(one.key, string(text, one.value)) for one in member.value.members] if member is not None else []
    return {key: value for key, value in pairs if value is not None}


def _field(text: str, node: Node) -> str | bool | None:
    if node.kind == "word":
        return {"true": True, "false": False}.get(text[node.start : node.end])
    return string(text, node)


def _arguments(text: str, owner: Node, member: Member) -> Arguments | None:
    node = member.value
    values = [string(text, item) for item in node.items]
    texts = tuple(value for value in values if value is not None)
    if node.kind != "array" or len(texts) != len(values):
        return None
    return Arguments(
        values=texts,
        items=tuple(Span(item.start, item.end) for item in node.items),
        opening=Span(node.start, node.start + 1),
        removal=_removal(text, owner, member),
    )


def _removal(text: str, owner: Node, member: Member) -> tuple[Span, ...]:
    """Return what to cut so that a member is gone with its comma, and no comment with it."""
    itself = Span(member.start, member.value.end)
    index = owner.members.index(member)
    if index > 0:
        before = owner.members[index - 1].value.end
        if _JUST_A_COMMA.fullmatch(text, before, member.start):
            return (Span(before, member.value.end),)
        comma = comma_after(text, before)
        return (comma, itself)
    if len(owner.members) > 1:
        after = owner.members[1].start
        if _JUST_A_COMMA.fullmatch(text, member.value.end, after):
            return (Span(member.start, after),)
        return (itself, comma_after(text, member.value.end))
    return (itself,)


def _before_arguments(text: str, owner: Node, command: Member) -> str:
    """Return what stands between the command and a list of arguments after it, laid out as the command is."""
    between = text[command.end : command.value.start]
    colon = between if _COLON.fullmatch(between) else ": "
    space = _space_before(text, command.start)
    index = owner.members.index(command)
    if "\n" not in space:
        if index + 1 < len(owner.members):
            space = _space_before(text, owner.members[index + 1].start)
        elif index == 0:
            space = " " if colon.endswith(" ") else ""
    return f',{space}"args"{colon}'


def _space_before(text: str, position: int) -> str:
    found = _SPACE_BEFORE.search(text, max(0, position - 1000), position)
    return found[0] if found is not None else ""
