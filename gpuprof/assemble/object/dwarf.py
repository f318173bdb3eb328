"""DWARF 4 for other tools (readelf, debuggers, binary viewers): source lines, functions and inlined call sites.

gpuprof reads `.gpuprof.locations` instead, which says the same in a form that numpy takes whole. Addresses are 16 *
instruction index, as everywhere in a gpubin. Section and entry numbers: DWARF Debugging Information Format, version 4,
chapter 7.
"""

import struct
from dataclasses import dataclass, field

from gpuprof.assemble.object.data import Strings, sleb, uleb, zero_terminated
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.isa.program import Function, Location, Program

VERSION = 4
ADDRESS_NBYTES = 8
LANG_C_PLUS_PLUS = 0x0004

# Tags, attributes, forms: those in use.
TAG_COMPILE_UNIT, TAG_SUBPROGRAM, TAG_INLINED_SUBROUTINE = 0x11, 0x2E, 0x1D
AT_NAME, AT_STMT_LIST, AT_LOW_PC, AT_HIGH_PC, AT_LANGUAGE, AT_INLINE, AT_PRODUCER = (
    0x03,
    0x10,
    0x11,
    0x12,
    0x13,
    0x20,
    0x25,
)
AT_ABSTRACT_ORIGIN, AT_EXTERNAL, AT_RANGES, AT_CALL_COLUMN, AT_CALL_FILE, AT_CALL_LINE, AT_LINKAGE_NAME = (
    0x31,
    0x3F,
    0x55,
    0x57,
    0x58,
    0x59,
    0x6E,
)
FORM_ADDR, FORM_DATA2, FORM_DATA8, FORM_DATA1, FORM_FLAG, FORM_STRP, FORM_UDATA, FORM_REF4, FORM_SEC_OFFSET = (
    1,
    5,
    7,
    11,
    12,
    14,
    15,
    19,
    23,
)

# Abbreviations: code -> tag, has children, (attribute, form)...; the writers below give the values in this order.
UNIT, ABSTRACT, SUBPROGRAM, INLINED, INLINED_RANGES = 1, 2, 3, 4, 5
CALL_SITE = ((AT_CALL_FILE, FORM_UDATA), (AT_CALL_LINE, FORM_UDATA), (AT_CALL_COLUMN, FORM_UDATA))
ONE_RANGE = ((AT_LOW_PC, FORM_ADDR), (AT_HIGH_PC, FORM_DATA8))
ABBREVIATIONS = {
    UNIT: (TAG_COMPILE_UNIT, True, (
        (AT_PRODUCER, FORM_STRP), (AT_LANGUAGE, FORM_DATA2), (AT_NAME, FORM_STRP), (AT_STMT_LIST, FORM_SEC_OFFSET),
        *ONE_RANGE)),
    ABSTRACT: (TAG_SUBPROGRAM, False, ((AT_NAME, FORM_STRP), (AT_INLINE, FORM_DATA1))),
    SUBPROGRAM: (TAG_SUBPROGRAM, True, ((AT_NAME, FORM_STRP), (AT_LINKAGE_NAME, FORM_STRP), *ONE_RANGE,
        (AT_EXTERNAL, FORM_FLAG))),
    INLINED: (TAG_INLINED_SUBROUTINE, True, ((AT_ABSTRACT_ORIGIN, FORM_REF4), *ONE_RANGE, *CALL_SITE)),
    INLINED_RANGES: (TAG_INLINED_SUBROUTINE, True, ((AT_ABSTRACT_ORIGIN, FORM_REF4), (AT_RANGES, FORM_SEC_OFFSET),
        *CALL_SITE)),
}  # fmt: skip
INL_INLINED = 1


def debug_sections(program: Program) -> list[tuple[str, bytes]]:
    """Name and content of each .debug_* section, relocated already."""
    files = _file_numbers(program)
    strings = Strings()
    info, ranges = _Info(program, files, strings).sections()
    return [
        (".debug_abbrev", _abbreviation_table()),
        (".debug_info", info),
        (".debug_line", line_section(program, files)),
        (".debug_ranges", ranges),
        (".debug_str", strings.bytes()),
    ]


def _file_numbers(program: Program) -> dict[str, int]:
    """Files by first appearance, from 1; at least one, since a line table without files has no valid rows."""
    files: dict[str, int] = {}
    for location in program.locations:
        while location is not None:
            files.setdefault(location.file, len(files) + 1)
            location = location.inlined_at
    return files or {program.name: 1}


# --- .debug_line (chapter 6.2)

LINE_BASE, LINE_RANGE, OPCODE_BASE = -5, 14, 13
STANDARD_OPERANDS = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])  # operand counts of opcodes 1..12
ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN = 2, 3, 4, 5
END_SEQUENCE, SET_ADDRESS = 1, 2


def line_section(program: Program, files: dict[str, int]) -> bytes:
    """The line table: a sequence for each function, a row for each instruction; line 0 where the position is not
    known.
    """
    names = b"".join(zero_terminated(name) + b"\0\0\0" for name in files)  # directory, time, length: not given
    fixed = struct.pack("<BBBbBB", INSTRUCTION_NBYTES, 1, 1, LINE_BASE, LINE_RANGE, OPCODE_BASE)
    header = fixed + STANDARD_OPERANDS + b"\0" + names + b"\0"
    program_bytes = b"".join(_sequence(f, program.locations, files) for f in program.functions if f.count)
    body = struct.pack("<HI", VERSION, len(header)) + header + program_bytes
    return struct.pack("<I", len(body)) + body


def _sequence(function: Function, locations: tuple[Location | None, ...], files: dict[str, int]) -> bytes:
    out = bytearray(b"\0" + uleb(1 + ADDRESS_NBYTES) + bytes([SET_ADDRESS]))
    out += struct.pack("<Q", function.first * INSTRUCTION_NBYTES)
    file, line, column, step = 1, 1, 0, 0
    for location in locations[function.first : function.first + function.count]:
        new_file, new_line, new_column = (
            (files[location.file], location.line, location.column) if location else (file, 0, 0)
        )
        if new_file != file:
            out += bytes([SET_FILE]) + uleb(new_file)
        if new_column != column:
            out += bytes([SET_COLUMN]) + uleb(new_column)
        delta = new_line - line
        if not LINE_BASE <= delta < LINE_BASE + LINE_RANGE:
            out += bytes([ADVANCE_LINE]) + sleb(delta)
            delta = 0
        out.append(delta - LINE_BASE + LINE_RANGE * step + OPCODE_BASE)
        file, line, column, step = new_file, new_line, new_column, 1
    return bytes(out + bytes([ADVANCE_PC, 1]) + b"\0\x01" + bytes([END_SEQUENCE]))


# --- .debug_info, .debug_abbrev, .debug_ranges (chapters 3.3 and 7.5)


def _abbreviation_table() -> bytes:
    out = bytearray()
    for code, (tag, has_children, attributes) in ABBREVIATIONS.items():
        out += uleb(code) + uleb(tag) + bytes([has_children])
        out += b"".join(uleb(number) for pair in attributes for number in pair) + b"\0\0"
    return bytes(out + b"\0")


@dataclass
class Inlined:
    """One inlined call: what was inlined, where it was called, which instructions, and the calls inlined into it."""

    function: str
    call: Location
    ranges: list[list[int]] = field(default_factory=list)  # [first, end) instruction indexes, ascending
    children: dict[tuple, "Inlined"] = field(default_factory=dict)


def inline_tree(function: Function, locations: tuple[Location | None, ...]) -> dict[tuple, Inlined]:
    """The calls inlined into a function, by callee and call site; two copies of one call in one place count as one."""
    roots: dict[tuple, Inlined] = {}
    paths: dict[int, list[Inlined]] = {}
    for index in range(function.first, function.first + function.count):
        location = locations[index]
        if location is None or location.inlined_at is None:
            continue
        if id(location) not in paths:
            paths[id(location)] = _path(roots, location)
        for node in paths[id(location)]:
            if node.ranges and node.ranges[-1][1] == index:
                node.ranges[-1][1] = index + 1
            else:
                node.ranges.append([index, index + 1])
    return roots


def _path(roots: dict[tuple, Inlined], location: Location) -> list[Inlined]:
    """The nodes of a location, outermost first; those that are not in the tree yet are added."""
    chain = []
    while location.inlined_at is not None:
        chain.append((location.function, location.inlined_at))
        location = location.inlined_at
    path, level = [], roots
    for name, call in reversed(chain):
        node = level.setdefault((name, call.file, call.line, call.column), Inlined(name, call))
        path.append(node)
        level = node.children
    return path


class _Info:
    """Writes .debug_info and .debug_ranges: the unit, an abstract entry per inlined function, then the functions."""

    def __init__(self, program: Program, files: dict[str, int], strings: Strings):
        self.program, self.files, self.strings = program, files, strings
        self.out = bytearray()
        self.ranges = bytearray()
        self.abstract: dict[str, int] = {}  # name -> offset of its entry in the unit

    def sections(self) -> tuple[bytes, bytes]:
        trees = [inline_tree(f, self.program.locations) for f in self.program.functions]
        self._unit()
        for tree in trees:
            self._abstract_entries(tree)
        for function, tree in zip(self.program.functions, trees, strict=True):
            self._subprogram(function, tree)
        self.out += b"\0"
        struct.pack_into("<I", self.out, 0, len(self.out) - 4)
        return bytes(self.out), bytes(self.ranges)

    def _unit(self) -> None:
        self.out += struct.pack("<IHIB", 0, VERSION, 0, ADDRESS_NBYTES)
        producer, name = self.strings.add(f"gpuprof; {self.program.compiler}"), self.strings.add(next(iter(self.files)))
        self.out += (
            uleb(UNIT)
            + struct.pack("<IHII", producer, LANG_C_PLUS_PLUS, name, 0)
            + self._range(0, len(self.program.code))
        )

    def _range(self, first: int, end: int) -> bytes:
        return struct.pack("<QQ", first * INSTRUCTION_NBYTES, (end - first) * INSTRUCTION_NBYTES)

    def _abstract_entries(self, tree: dict[tuple, Inlined]) -> None:
        for node in tree.values():
            if node.function not in self.abstract:
                self.abstract[node.function] = len(self.out)
                self.out += uleb(ABSTRACT) + struct.pack("<IB", self.strings.add(node.function), INL_INLINED)
            self._abstract_entries(node.children)

    def _subprogram(self, function: Function, tree: dict[tuple, Inlined]) -> None:
        names = struct.pack("<II", self.strings.add(function.display), self.strings.add(function.name))
        self.out += (
            uleb(SUBPROGRAM)
            + names
            + self._range(function.first, function.first + function.count)
            + bytes([function.is_kernel])
        )
        self._inlined(tree)

    def _inlined(self, tree: dict[tuple, Inlined]) -> None:
        for node in tree.values():
            origin = struct.pack("<I", self.abstract[node.function])
            if len(node.ranges) == 1:
                self.out += uleb(INLINED) + origin + self._range(*node.ranges[0])
            else:
                self.out += uleb(INLINED_RANGES) + origin + struct.pack("<I", self._range_list(node.ranges))
            self.out += uleb(self.files[node.call.file]) + uleb(node.call.line) + uleb(node.call.column)
            self._inlined(node.children)
        self.out += b"\0"

    def _range_list(self, ranges: list[list[int]]) -> int:
        """Addresses are relative to the unit's low_pc, which is 0."""
        offset = len(self.ranges)
        for first, end in ranges:
            self.ranges += struct.pack("<QQ", first * INSTRUCTION_NBYTES, end * INSTRUCTION_NBYTES)
        self.ranges += bytes(2 * ADDRESS_NBYTES)
        return offset
