"""The meaning of names inside the braces of a function."""

from typing import NamedTuple

from gpuprof.assemble.ptx import ast


class Register(NamedTuple):
    number: int
    nbits: int  # as declared; 1 for a predicate
    type: str  # as declared


class Use(NamedTuple):
    """How the calls of a block use a `.param` variable."""

    is_result: bool  # of one of them at least
    offset: int | None  # bytes from the start of the callee's frame, where it can be there all the time


class Home(NamedTuple):
    """The place of a `.param` variable while its function runs."""

    where: str  # "bank", "register", "frame", "callee" or "pointer"; see `lower.data.parameters`
    index: int  # a virtual register, or bytes from the start of what `where` says
    role: str  # "parameter" and "result" of this function; of calls "argument", or "passed" if it is a result, too

    @property
    def is_own(self) -> bool:
        """True if the function got it, and does not declare it for its calls."""
        return self.role in ("parameter", "result")


class Scope:
    """Names of a `{ }` block: registers, variables, labels. A name hides all that it means further out."""

    def __init__(self, parent: "Scope | None", index: int):
        self.parent = parent
        self.index = index
        self.registers: dict[str, Register] = {}
        self.vectors: dict[str, ast.Vector] = {}
        self.variables: dict[str, ast.Variable] = {}
        self.homes: dict[str, Home] = {}  # of the .param variables
        self.uses: dict[str, Use] = {}  # of those that are for calls, by name
        self.labels: set[str] = set()
        self.targets: dict[str, tuple[str, ...]] = {}
        self.prototypes: dict[str, ast.CallPrototype] = {}

    def find(self, table: str, name: str):
        """Looks a name up in "registers", "vectors", "variables", "homes", "targets" or "prototypes"; None where the
        innermost block that declares it says something else.
        """
        scope = self
        while scope:
            value = getattr(scope, table).get(name)
            if value is not None or scope.declares(name):
                return value
            scope = scope.parent
        return None

    def declares(self, name: str) -> bool:
        return name in self.registers or name in self.variables or name in self.vectors

    def label(self, name: str) -> str:
        scope = self
        while scope:
            if name in scope.labels:
                return f"{name}#{scope.index}"
            scope = scope.parent
        return ""
