"""Numbers for the variables of optimized code.

LLVM has no location lists for PTX, but its code generator knows where each variable is. So each variable of each
inlined copy of its function gets a number for its name; `locations` finds in the generator's output where it places
these numbers.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import NamedTuple

from gpuprof.compile.llvm.metadata import Metadata, Node
from gpuprof.compile.variables.available_values import Available
from gpuprof.compile.variables.positions import SIGN, Positions, variable_key
from gpuprof.compile.variables.records import Record

_RECORD = re.compile(r"^\s+#dbg_\w+\(.*\n", re.MULTILINE)
_VALUE = re.compile(r"#dbg_value\((?P<value>.*), !(?P<variable>\d+), (?P<how>!DIExpression\(.*\)), !(?P<place>\d+)\)\n")
_FRAGMENT = re.compile(r"DW_OP_LLVM_fragment, (\d+), (\d+)")
_GLOBAL = re.compile(r"^@([\w$]+) = .*?addrspace\(([134])\) .*!dbg !(\d+)", re.MULTILINE)
_SPACES = {"1": "global", "3": "shared", "4": "const"}


class Numbered(NamedTuple):
    """IR with a variable for each record, which has the record's number for its name, and what these stand for. The
    table says what the numbers of variables stand for: see `number_variables`.
    """

    ir: str
    table: dict
    records: list[Record]


def without_variables(ir: str) -> str:
    return _RECORD.sub("", ir)


def number_variables(ir: str, positions: Sequence[Positions] = ()) -> Numbered:
    """The optimized IR with numbers: of records, and of variables, one for each inlined copy of one. `positions`: the
    result of `mark_positions` before.

    The table has `places`: of each number, variable and inlined call; `variables`: name, type, scope, place among the
    arguments or 0; `globals`: by symbol name, type, scope, state space; `scopes`: the parent of each, null for none;
    `types`; `positions`: of each function its positions' lines, what follows each, which of them begin after a change
    of a variable, and which end it. Keys are the numbers of LLVM's nodes.
    """
    metadata, available = Metadata(ir), Available(ir)
    numbers: dict[tuple[int, int], int] = {}
    records: list[Record] = []
    added: list[str] = []
    first = max(metadata.nodes | metadata.tuples, default=0) + 1

    def replace(match: re.Match) -> str:
        given = _VALUE.fullmatch(match[0].lstrip())
        if not given:
            return ""
        location, variable = metadata.nodes[int(given["place"])], metadata.nodes[int(given["variable"])]
        key = int(given["variable"]), location.reference("inlinedAt") or 0
        number = numbers.setdefault(key, len(numbers))
        node = first + 2 * len(records)
        added.extend(_named(len(records), node, variable, _root(metadata, location)))
        records.append(_record(number, given, variable, available, match.start()))
        value = given["value"] if available.is_so(given["value"], match.start()) else "i32 poison"
        return f"    #dbg_value({value}, !{node}, {given['how']}, !{node + 1})\n"

    changed = _RECORD.sub(replace, ir)
    ir = "\n".join([changed.rstrip("\n"), *added]) + "\n"
    return Numbered(ir, _table(metadata, numbers, ir, positions), records)


def _record(number: int, found: re.Match, variable: Node, available: Available, at: int) -> Record:
    piece = _FRAGMENT.search(found["how"])
    is_sign = variable.text("name").startswith(SIGN) and found["value"].startswith("i32 ")
    position = int(found["value"].removeprefix("i32 ")) if is_sign and found["value"][4:].isdigit() else None
    return Record(
        number, available.block(at), f" @{piece[1]}:{piece[2]}" if piece else "", position,
        found["value"].rpartition(" ")[2], available.most_writes(found["value"], at),
    )  # fmt: skip


def _named(number: int, node: int, variable: Node, root: int) -> tuple[str, str]:
    """The nodes of a variable of the function `root`, and of a place without a line in it."""
    type = variable.fields.get("type", "null")
    return (
        f'!{node} = !DILocalVariable(name: "{number}", scope: !{root}, type: {type})',
        f"!{node + 1} = !DILocation(line: 0, scope: !{root})",
    )


def _root(metadata: Metadata, place: Node) -> int:
    """The function that a location's code is in, after all inlining."""
    while place.reference("inlinedAt") is not None:
        place = metadata.follow(place, "inlinedAt")
    return _function(metadata, place.reference("scope"))


def _function(metadata: Metadata, scope: int) -> int:
    """The function that a scope lies in."""
    while metadata.nodes[scope].kind != "DISubprogram":
        scope = metadata.nodes[scope].reference("scope")
    return scope


def _table(metadata: Metadata, numbers: dict[tuple[int, int], int], ir: str, positions: Sequence[Positions]) -> dict:
    types = _Types(metadata)
    variables, scopes = {}, {}
    for number, node in metadata.nodes.items():
        if node.kind == "DILocalVariable":
            type = types.number(node.reference("type"))
            variables[number] = [node.text("name"), type, node.reference("scope"), node.number("arg")]
        elif node.kind in ("DILexicalBlock", "DILexicalBlockFile"):
            scopes[number] = node.reference("scope")
        elif node.kind == "DISubprogram":
            scopes[number] = None
    globals_of_module = {}
    for symbol, space, number in _GLOBAL.findall(ir):
        node = metadata.follow(metadata.nodes[int(number)], "var")
        type = types.number(node.reference("type"))
        globals_of_module[symbol] = [node.text("name"), type, node.reference("scope"), _SPACES[space]]
    return {
        "places": list(numbers),
        "variables": variables,
        "globals": globals_of_module,
        "scopes": scopes,
        "types": types.found,
        "positions": dict(_positions(metadata, positions)),
    }


def _positions(metadata: Metadata, positions: Sequence[Positions]) -> Iterator[tuple[int, dict]]:
    """By function, with `marked`: the variable that says the position."""
    own: dict[int, dict[int, Node]] = {}
    for number, node in metadata.nodes.items():
        if node.kind == "DILocalVariable":
            own.setdefault(_function(metadata, node.reference("scope")), {})[number] = node
    for function, variables in own.items():
        for marked, node in variables.items():
            if node.text("name").startswith(SIGN):
                own_positions = positions[int(node.text("name")[len(SIGN) :])]
                sets = {number: own_positions.sets.get(variable_key(each), []) for number, each in variables.items()}
                yield function, asdict(own_positions) | {"sets": sets, "marked": marked}


class _Types:
    """The types of variables as lists, by the numbers of their nodes; see `_of` for the forms."""

    def __init__(self, metadata: Metadata):
        self.metadata = metadata
        self.found: dict[int, list] = {}

    def number(self, number: int | None) -> int | None:
        """None is void."""
        if number is None or number in self.found:
            return number
        self.found[number] = []
        self.found[number] = self._of(self.metadata.nodes[number])
        return number

    def _of(self, node: Node) -> list:
        tag, name, nbytes = node.fields.get("tag", ""), node.text("name"), node.number("size") // 8
        if node.kind == "DIBasicType":
            return ["base", name, nbytes, node.fields.get("encoding", "")]
        if node.kind == "DISubroutineType":
            return ["void", "function"]
        target = self.number(node.reference("baseType"))
        if tag in ("DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type"):
            return ["pointer", "*" if tag == "DW_TAG_pointer_type" else "&", target]
        if tag == "DW_TAG_array_type":
            return ["array", target, [self.metadata.nodes[each].number("count") for each in self._elements(node)]]
        if tag == "DW_TAG_enumeration_type":
            names = [self.metadata.nodes[each] for each in self._elements(node)]
            return ["enum", name, nbytes, target, [[each.number("value"), each.text("name")] for each in names]]
        if tag in ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type"):
            form = "union" if tag == "DW_TAG_union_type" else "struct"
            return [form, name, nbytes, [self._member(self.metadata.nodes[each]) for each in self._members(node)]]
        if tag == "DW_TAG_typedef":
            return ["named", name, target]
        return ["const" if tag == "DW_TAG_const_type" else "same", target]

    def _elements(self, node: Node) -> list[int]:
        return [each for each in self.metadata.elements(node.reference("elements")) if each is not None]

    def _members(self, node: Node) -> Iterator[int]:
        for each in self._elements(node):
            member = self.metadata.nodes[each]
            is_member = member.fields.get("tag", "") in ("DW_TAG_member", "DW_TAG_inheritance")
            if is_member and "DIFlagStaticMember" not in member.fields.get("flags", ""):
                yield each

    def _member(self, node: Node) -> list:
        is_bits = "DIFlagBitField" in node.fields.get("flags", "")
        return [
            node.text("name"),
            node.number("offset"),
            self.number(node.reference("baseType")),
            node.number("size") if is_bits else 0,
        ]
