"""The meaning of names inside the braces of a function."""

from typing import NamedTuple

from gpuprof.assemble.ptx import ast


class Register(NamedTuple):
    number: int
    nbits: int  # as declared; 1 for a predicate
    type: str  # as declared


class Scope:
    """Names of a `{ }` block: registers by name (ranges `%r<5>` are opened on first use), variables, labels."""

    def __init__(self, parent: "Scope | None", index: int):
        self.parent = parent
        self.index = index
        self.registers: dict[str, Register] = {}
        self.vectors: dict[str, ast.Vector] = {}
        self.variables: dict[str, ast.Variable] = {}
        self.labels: set[str] = set()
        self.targets: dict[str, tuple[str, ...]] = {}
        self.prototypes: dict[str, ast.CallPrototype] = {}

    def find(self, table: str, name: str):
        scope = self
        while scope:
            found = getattr(scope, table).get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def label(self, name: str) -> str:
        scope = self
        while scope:
            if name in scope.labels:
                return f"{name}#{scope.index}"
            scope = scope.parent
        return ""
