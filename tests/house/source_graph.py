"""What the modules of a package import of each other, read off their text: at the top of a file, inside functions, and
for types alone.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
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


@cache
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
    for node in _imports(module):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module.name}: imports are written in full"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                source, member = (full, "") if full in known else (node.module, alias.name)
                yield Taken(alias.asname or alias.name, source, member)
        else:
            for alias in node.names:
                yield Taken(alias.asname or alias.name, alias.name, "")


@cache
def _imports(module: Module) -> list[ast.ImportFrom | ast.Import]:
    return [node for node in ast.walk(module.tree) if isinstance(node, ast.ImportFrom | ast.Import)]


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
