"""Finds code that asks an instruction for its name, where its row says what it is: the rule stands in isa/row.py."""

import ast
from collections.abc import Iterator

from gpuprof.isa.kinds import KINDS
from tests.paths import ROOT

PACKAGE = ROOT / "gpuprof"
ROWS = {"op", "row", "opcode", "each"}  # what a row of the table is called
SOURCES = {"TABLE", "BY_NAME", "Opcode", "decode", "Instruction"}  # who imports one of these of isa may hold a row
# Where a name is shown or a part of a key, and where the emulator finds what computes each row.
EXCUSED = {
    ("correlate/program_tables.py", "_instruction_row"),
    ("emulate/warp_sync.py", "make_site"),
    ("emulate/blocks.py", "_builder"),
}


def findings() -> list[str]:
    """ "file:line: code", of the whole package outside isa/."""
    paths = [path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] != "isa"]
    return [found for path in paths for found in findings_in(path.relative_to(PACKAGE).as_posix(), path.read_text())]


def findings_in(place: str, text: str) -> list[str]:
    nodes = list(ast.walk(ast.parse(text)))
    imported = {
        alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gpuprof.isa")
        for alias in node.names
    }
    holds_rows = bool(imported & SOURCES)
    excused = {
        id(inner)
        for node in nodes
        if isinstance(node, ast.FunctionDef) and (place, node.name) in EXCUSED
        for inner in ast.walk(node)
    }
    if place.startswith("emulate/"):
        excused |= {id(node.slice) for node in nodes if isinstance(node, ast.Subscript)}
    wrong = [
        node
        for node in nodes
        if id(node) not in excused and (_asks_name(node, holds_rows) or ("BY_NAME" in imported and _lists_names(node)))
    ]
    wrong += _unknown_kinds(nodes, holds_rows)
    return [f"{place}:{node.lineno}: {ast.unparse(node)}" for node in sorted(wrong, key=lambda node: node.lineno)]


def _is_row(node: ast.expr, holds_rows: bool) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "op") or (
        holds_rows and isinstance(node, ast.Name) and node.id in ROWS
    )


def _asks_name(node: ast.AST, holds_rows: bool) -> bool:
    if not isinstance(node, ast.Attribute):
        return False
    return node.attr == "semantics" or (node.attr == "name" and _is_row(node.value, holds_rows))


def _lists_names(node: ast.AST) -> bool:
    """BY_NAME.items() and the like: for exact names there are `numbers` and `by_number`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "BY_NAME"


def _unknown_kinds(nodes: list[ast.AST], holds_rows: bool) -> Iterator[ast.Compare]:
    """Comparisons of an instruction's kind with a string that is no kind."""
    names = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and _is_kind(node.value, holds_rows, set())
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in nodes:
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left, *node.comparators]
        if any(_is_kind(side, holds_rows, names) for side in sides) and any(map(_has_unknown, sides)):
            yield node


def _is_kind(node: ast.expr, holds_rows: bool, names: set[str]) -> bool:
    is_column = isinstance(node, ast.Attribute) and node.attr == "kind" and _is_row(node.value, holds_rows)
    return is_column or (isinstance(node, ast.Name) and node.id in names)


def _has_unknown(side: ast.expr) -> bool:
    strings = [each.value for each in ast.walk(side) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return any(string not in KINDS for string in strings)
