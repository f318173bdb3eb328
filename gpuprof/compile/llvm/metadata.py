"""Reads the debug-info nodes of LLVM IR text: `!12 = distinct !DISubprogram(name: "scan<256>", line: 7, ...)`."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_NODE = re.compile(r"^!(\d+) = (?:distinct )?!(\w+)\((.*)\)$", re.MULTILINE)
_TUPLE = re.compile(r"^!(\d+) = (?:distinct )?!\{(.*)\}$", re.MULTILINE)
_FIELD = re.compile(r'(\w+): ("[^"]*"|[^,]+)')
_ESCAPE = re.compile(r"\\(\\|[0-9A-Fa-f]{2})")


class Node(NamedTuple):
    kind: str  # "DISubprogram", "DIFile"...
    fields: dict[str, str]  # raw text of each field

    def reference(self, name: str) -> int | None:
        """The node number a field refers to (`scope: !12`), None when it is absent or null."""
        value = self.fields.get(name, "null")
        return int(value[1:]) if value.startswith("!") and value[1:].isdigit() else None

    def text(self, name: str) -> str:
        """A quoted field without its quotes, escapes resolved; "" when absent."""
        return unescape(self.fields.get(name, '""')[1:-1])

    def number(self, name: str) -> int:
        """An integer field; LLVM leaves out the ones that are 0."""
        return int(self.fields.get(name, "0"))


def unescape(text: str) -> str:
    """LLVM writes every byte outside printable ASCII as a backslash and two hex digits, and a backslash twice."""

    def character(match: re.Match) -> str:
        return "\\" if match[1] == "\\" else chr(int(match[1], 16))

    return _ESCAPE.sub(character, text).encode("latin-1").decode("utf-8", "replace")


class Metadata:
    """All debug-info nodes of a module, by number."""

    def __init__(self, ir: str):
        self.nodes = {int(number): Node(kind, dict(_FIELD.findall(body))) for number, kind, body in _NODE.findall(ir)}
        self.tuples = {int(number): body for number, body in _TUPLE.findall(ir)}

    def of_kind(self, kind: str) -> Iterator[Node]:
        return (node for node in self.nodes.values() if node.kind == kind)

    def elements(self, number: int | None) -> list[int | None]:
        """The members of a tuple node; None for a null member."""
        body = self.tuples.get(number, "") if number is not None else ""
        return [int(part[1:]) if part.startswith("!") else None for part in body.split(", ")] if body else []

    def follow(self, node: Node, field: str) -> Node | None:
        number = node.reference(field)
        return self.nodes.get(number) if number is not None else None

    def subprogram_of(self, scope: Node | None) -> Node | None:
        """The function a scope (a lexical block, or the function itself) lies in."""
        while scope is not None and scope.kind != "DISubprogram":
            scope = self.follow(scope, "scope")
        return scope

    def file_of(self, scope: Node | None) -> str:
        """The name of the file a scope lies in, as it was given to the compiler."""
        file = self.follow(scope, "file") if scope is not None else None
        return file.text("filename") if file is not None else ""
