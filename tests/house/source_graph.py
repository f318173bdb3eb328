"""What the modules of a package import of each other, read off their text: at the top of a file, inside functions, and
for types alone.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple


class Module(NamedTuple):
    name: str  # "package.room.file", or "package.room" of an __init__.py
    path: Path
    tree: ast.Module

    @property
    def room(self) -> str:
        """The folder or file below the package: "room"; "" of the package's own __init__.py."""
        return [*self.name.split("."), ""][1]


Graph = Mapping[str, set[str]]


def read_package(folder: Path) -> dict[str, Module]:
    """All modules of the package in `folder`, sub-folders included, by name."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = (folder.name, *path.relative_to(folder).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = Module(name, path, ast.parse(path.read_text()))
    return found


class Taken(NamedTuple):
    """A name that a module gets by an import. `member` is "" when it is a module that is imported."""

    name: str
    source: str
    member: str


def taken_names(module: Module, known: Iterable[str]) -> Iterator[Taken]:
    """Every name imported, whoever has it; `known` are the modules of the package."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module.name}: imports are written in full"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                source, member = (full, "") if full in known else (node.module, alias.name)
                yield Taken(alias.asname or alias.name, source, member)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield Taken(alias.asname or alias.name, alias.name, "")


def import_graph(modules: Mapping[str, Module]) -> dict[str, set[str]]:
    """Module -> the modules of the package that it imports."""
    return {
        name: {taken.source for taken in taken_names(module, modules)} & modules.keys()
        for name, module in modules.items()
    }


def circles(graph: Graph) -> list[list[str]]:
    """The groups of modules each of which leads to all others of its group, sorted (Tarjan's components)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_: list[str] = []
    found = []

    def visit(node: str) -> None:
        number[node] = lowest[node] = len(number)
        open_.append(node)
        for other in sorted(graph[node]):
            if other not in number:
                visit(other)
            if other in open_:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == number[node]:
            group = open_[open_.index(node) :]
            del open_[-len(group) :]
            if len(group) > 1 or node in graph[node]:
                found.append(sorted(group))

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return sorted(found)


def reached(graph: Graph, start: str) -> set[str]:
    """All modules that importing `start` may bring along, itself among them."""
    found, todo = {start}, [start]
    while todo:
        new = graph[todo.pop()] - found
        found |= new
        todo += new
    return found


def bound_names(statement: ast.stmt) -> set[str]:
    """What a statement at the top of a file gives a name to, imports aside."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return set()
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def used_names(node: ast.AST) -> set[str]:
    """Names read in it, and "a.b" for attributes of names."""
    found = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return found | {
        f"{each.value.id}.{each.attr}"
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name)
    }


class Slices:
    """Which files decide what names mean: those with their definitions, and with all that these are made of."""

    def __init__(self, modules: Mapping[str, Module]):
        self.modules = modules
        self.files: set[str] = set()
        self._seen: set[tuple[str, str]] = set()
        self._taken: dict[str, dict[str, Taken]] = {}  # by module and name

    def add_module(self, name: str) -> None:
        """A file as a whole."""
        self.files.add(name)
        self._follow(name, used_names(self.modules[name].tree))

    def add_name(self, module: str, name: str) -> None:
        """One name of a file."""
        if module not in self.modules or (module, name) in self._seen:
            return
        self._seen.add((module, name))
        statements = [each for each in self.modules[module].tree.body if name in bound_names(each)]
        if statements:
            self.files.add(module)
        for statement in statements:
            self._follow(module, used_names(statement))
        if not statements:
            self._follow(module, {name})

    def _follow(self, module: str, names: set[str]) -> None:
        if module not in self._taken:
            self._taken[module] = {each.name: each for each in taken_names(self.modules[module], self.modules)}
        taken = self._taken[module]
        for name in sorted(names):
            first, _, attribute = name.partition(".")
            if first in taken:
                self.add_name(taken[first].source, taken[first].member or attribute)
            elif not attribute and (module, name) not in self._seen:
                self._add_own(module, name)

    def _add_own(self, module: str, name: str) -> None:
        if any(name in bound_names(each) for each in self.modules[module].tree.body):
            self.add_name(module, name)
