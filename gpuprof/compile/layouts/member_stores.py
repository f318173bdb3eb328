"""The places at which clang's IR writes members of structures, and the bits of these that are padding.

    %20 = getelementptr inbounds %struct.Padded, ptr %17, i64 %19, !dbg !441
    %21 = getelementptr inbounds nuw %struct.Padded, ptr %20, i32 0, i32 1, !dbg !443
    store i32 %11, ptr %21, align 4, !dbg !444

The bit fields at the start of a structure have its own pointer: that of an element, or of a variable that refers to it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuprof.compile.layouts.structures import NAME, STRUCTURES, Layouts, joined, within_unions
from gpuprof.compile.llvm.functions import functions
from gpuprof.compile.llvm.metadata import Metadata
from gpuprof.isa.facts import MemberStore, Range

MOST_NBYTES = 256  # of a structure in a fact: of a larger one, the fact is about the part that the member lies in

# Arrays of a structure, the pointer that it starts from, and its numbers.
_STEP = rf"((?:\[\d+ x )*)({NAME})\]*, ptr (.+?)((?:, i(?:32|64) (?:-?\d+|%[\w.$]+))+)"
_LINE = re.compile(rf"^  (%[\w.$]+) = getelementptr (?:\w+ )*{_STEP}(?:, !dbg !\d+)?$", re.MULTILINE)
_EXPRESSION = re.compile(rf"getelementptr (?:\w+ )*\({_STEP}\)")
_VARIABLE = re.compile(rf"^  (%[\w.$]+) = alloca ({NAME})", re.MULTILINE)
_LOADED = re.compile(r"^  (%[\w.$]+) = load ptr, ptr (%[\w.$]+), ", re.MULTILINE)
_DECLARED = re.compile(r"#dbg_declare\(ptr (%[\w.$]+), !(\d+),")
_STORE = re.compile(
    r"^  store (?:volatile )?(i\d+|half|bfloat|float|double|ptr) .*?, ptr (.+?), align \d+.*?, !dbg !(\d+)",
    re.MULTILINE,
)
_NBYTES = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "ptr": 8}
_REFERS = ("DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type")
_WORD = re.compile(r" (-?\d+|%[\w.$]+)(?:,|$)")


class Step(NamedTuple):
    """A pointer that is made of the pointer `start` by `numbers`, through `depth` arrays of a structure."""

    depth: int
    structure: str
    start: str
    numbers: list[str]


class Inside(NamedTuple):
    """A byte of a structure. `padding`: bits that the structures in its unions have that the byte is in: they are what
    is there from then on.
    """

    structure: str | int
    offset: int
    padding: tuple[Range, ...]


def member_stores_of(ir: str, metadata: Metadata, layout_of: Layouts) -> list[MemberStore]:
    """Ascending. Of a structure without padding and bit fields where its place has one of another, too, as a template
    may.
    """
    stores = set(_all_member_stores(ir, metadata, layout_of))
    places = {_place(store) for store in stores if store.padding or store.fields}
    return sorted(store for store in stores if _place(store) in places)


def _place(store: MemberStore) -> tuple[str, int, int]:
    return store.file, store.line, store.column


def _all_member_stores(ir: str, metadata: Metadata, layout_of: Layouts) -> Iterator[MemberStore]:
    for function in functions(ir):
        steps = {name: _step(*rest) for name, *rest in _LINE.findall(function)}
        variables = dict(_VARIABLE.findall(function)) | _referred(function, metadata)
        for of, pointer, at in _STORE.findall(function):
            inside = _structure_of(pointer, steps, variables, layout_of)
            if inside is None:
                continue
            layout, node = layout_of(inside.structure), metadata.nodes[int(at)]
            padding = joined(*layout.padding, *inside.padding)
            file = metadata.file_of(metadata.follow(node, "scope"))
            position = file, node.number("line"), node.number("column")
            nbytes = _NBYTES[of] if of in _NBYTES else -(-int(of[1:]) // 8)
            yield MemberStore(*position, nbytes, inside.offset, layout.nbytes, padding, layout.fields)


def _referred(function: str, metadata: Metadata) -> dict[str, int]:
    """Pointers to structures that are loaded from variables: the number of the structure's debug information."""
    declared, structures = dict(_DECLARED.findall(function)), {}
    for name, variable in _LOADED.findall(function) if declared else ():
        tags, number = [], metadata.nodes[int(declared[variable])].reference("type") if variable in declared else None
        while number is not None and metadata.nodes[number].kind == "DIDerivedType":
            tags.append(metadata.nodes[number].fields["tag"])
            number = metadata.nodes[number].reference("baseType")
        is_structure = number is not None and metadata.nodes[number].fields.get("tag") in STRUCTURES
        if is_structure and sum(tag in _REFERS for tag in tags) == 1:
            structures[name] = number
    return structures


def _step(arrays: str, structure: str, start: str, numbers: str) -> Step:
    return Step(arrays.count("["), structure, start, _WORD.findall(numbers))


def _structure_of(
    pointer: str, steps: dict[str, Step], variables: dict[str, str | int], layout_of: Layouts
) -> Inside | None:
    """The largest structure that is known to have a member where a pointer shows."""
    inside, offset = None, 0

    def within(structure: str | int) -> Inside | None:
        """The same of a structure that has all of what was found, if it is not too large."""
        layout = layout_of(structure)
        if not offset < layout.nbytes <= MOST_NBYTES:
            return None
        if inside is None:
            return Inside(structure, offset, ())
        inner = (*layout_of(inside.structure).padding, *inside.padding)
        return Inside(structure, offset, within_unions(inner, 8 * (offset - inside.offset), layout))

    while (step := steps.get(pointer) or _inline(pointer)) is not None:
        index, *members = step.numbers
        if step.depth or not members:  # an element of an array: what comes before is not known
            return (within(step.structure) if len(members) == step.depth else None) or inside
        if index != "0" or len(members) > 1 or not members[0].isdigit():
            return inside
        offset += layout_of(step.structure).offsets[int(members[0])]
        if (outer := within(step.structure)) is None:
            return inside
        inside, pointer = outer, step.start
    name = variables.get(pointer)
    # What a pointer refers to may be a part of something, and the first part of that.
    is_known = isinstance(name, str) or (name is not None and inside is None)
    return (within(name) if is_known else None) or inside


def _inline(pointer: str) -> Step | None:
    match = _EXPRESSION.fullmatch(pointer)
    return _step(*match.groups()) if match else None
