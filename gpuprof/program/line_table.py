"""The function and the line of the source that an address of an executable belongs to.

Reads what our own build puts into a static ELF file of 64 bits: the symbol table, and the line tables of DWARF 4 (DWARF
Debugging Information Format, version 4, 6.2), which are those of the program's own files. Tables of other versions are
the C library's, and passed over. A reader of all of DWARF takes half a second of the processor for a program in C++,
this one 80 ms.
"""

import struct
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

SECTION = struct.Struct("<IIQQQQIIQQ")  # sh_name, type, flags, addr, offset, size, link, info, align, entsize
SYMBOL = struct.Struct("<IBBHQQ")  # st_name, info, other, shndx, value, size
FUNCTION_TYPE = 2  # STT_FUNC
LIBRARY_BEGIN = "__start_gpuprof_text"  # of our runtime library's code
VERSION = 4
# Standard opcodes of the line number program.
COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, NEGATE, BLOCK, CONST_ADD_PC, FIXED_PC = range(1, 10)
END_SEQUENCE, SET_ADDRESS = 1, 2  # extended ones
MOST_ULEB_BITS = 70  # of a number of 64 bits
# What files raise that contradict themselves, are of another kind (32 bits, compressed tables), or have gone.
UNREADABLE = (struct.error, ValueError, IndexError, KeyError, ArithmeticError, OSError)


class Place(NamedTuple):
    """`file` is as the compiler got it; "" and 0: unknown. Code of several lines at once has only a file."""

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file and self.line else self.file


NOWHERE = Place()


class Places:
    """The positions in an executable, which is read at the first use. A file that cannot be read has none."""

    def __init__(self, path: Path | None, library: Path | None = None):
        """`path` None: nothing is known. `library`: the file that holds our runtime library, where it is another."""
        self._path, self._library = path, library or path
        self._kept: dict[int, Place] = {}

    def function(self, offset: int) -> str:
        """The name of the library's function that holds the byte at an offset in its code, "" for none. One that the
        linker puts in place of C's has C's name.
        """
        starts, ends, names = self._functions
        at = bisect_right(starts, offset) - 1
        return names[at].removeprefix("__wrap_") if at >= 0 and offset < ends[at] else ""

    def line(self, address: int) -> Place:
        """The position of the call that returns to an address."""
        cached = self._kept.get(address)
        if cached is None:
            starts, places = self._lines
            at = bisect_right(starts, address - 1) - 1
            cached = self._kept[address] = places[at] if at >= 0 else NOWHERE
        return cached

    @cached_property
    def _functions(self) -> tuple[list[int], list[int], list[str]]:
        try:
            return _symbols(self._library)
        except UNREADABLE:
            return [], [], []

    @cached_property
    def _lines(self) -> tuple[list[int], list[Place]]:
        try:
            rows = list(_rows(_section(self._path, ".debug_line")))
        except UNREADABLE:
            return [], []
        rows.sort(key=lambda row: (row[0], row[1] is not NOWHERE))  # where one sequence ends, another may begin
        return [address for address, _ in rows], [position for _, position in rows]


def _symbols(path: Path | None) -> tuple[list[int], list[int], list[str]]:
    """The functions of the library: where they begin and end in its code, and their names."""
    texts, symbols, base = _section(path, ".strtab"), {}, 0
    for name, info, _, _, value, size in SYMBOL.iter_unpack(_section(path, ".symtab")):
        if info & 15 == FUNCTION_TYPE:
            symbols[value] = (value + size, _text(texts, name))
        elif _text(texts, name) == LIBRARY_BEGIN:
            base = value
    ordered = sorted(symbols.items())
    starts, ends = [value - base for value, _ in ordered], [end - base for _, (end, _) in ordered]
    return starts, ends, [name for _, (_, name) in ordered]


def _section(path: Path | None, wanted: str) -> bytes:
    """The content of a section; nothing where there is none."""
    return next((content for name, content in sections(path) if name == wanted), b"") if path else b""


def sections(path: Path) -> Iterator[tuple[str, bytes]]:
    """The sections of a file, with their names. Raises what `UNREADABLE` names."""
    data = path.read_bytes()
    offset, size, n, names_at = *struct.unpack_from("<Q", data, 40), *struct.unpack_from("<HHH", data, 58)
    heads = [SECTION.unpack_from(data, offset + size * each) for each in range(n)]
    names = _content(data, heads[names_at]) if heads else b""
    for head in heads:
        yield _text(names, head[0]), _content(data, head)


def _content(data: bytes, head: tuple[int, ...]) -> bytes:
    is_in_file = head[1] != 8  # SHT_NOBITS
    return data[head[4] : head[4] + head[5]] if is_in_file else b""


def _text(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode("utf-8", "replace")


def _rows(data: bytes) -> Iterator[tuple[int, Place]]:
    """(first address, place); NOWHERE after the end of a sequence."""
    start = 0
    while start + 6 <= len(data):
        length, version = struct.unpack_from("<IH", data, start)
        if version == VERSION:
            yield from _table(_Reader(data, start + 6), start + 4 + length)
        start += 4 + length


class _Reader:
    def __init__(self, data: bytes, at: int):
        self.data, self.at = data, at

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def fixed(self, form: str) -> int:
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def uleb(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift >= MOST_ULEB_BITS:
                raise ValueError("a number is too long")

    def sleb(self) -> int:
        first = self.at
        value = self.uleb()
        bits = 7 * (self.at - first)
        return value - (1 << bits) if value >> (bits - 1) & 1 else value

    def text(self) -> str:
        end = self.data.index(b"\0", self.at)
        text = self.data[self.at : end].decode("utf-8", "replace")
        self.at = end + 1
        return text


class _Header(NamedTuple):
    """6.2.4, as far as the program needs it."""

    step: int  # minimum_instruction_length
    line_base: int
    line_range: int
    opcode_base: int
    lengths: tuple[int, ...]  # operands of standard opcodes
    files: tuple[str, ...]


def _header(reader: _Reader) -> _Header:
    header_length = reader.fixed("<I")
    end = reader.at + header_length
    step, _, _, line_base = reader.byte(), reader.byte(), reader.byte(), reader.fixed("<b")
    line_range, opcode_base = reader.byte(), reader.byte()
    lengths = tuple(reader.byte() for _ in range(opcode_base - 1))
    folders = [""]
    while folder := reader.text():
        folders.append(folder)
    files = [""]
    while file := reader.text():
        folder = folders[reader.uleb()]
        reader.uleb(), reader.uleb()
        files.append(f"{folder}/{file}" if folder and not file.startswith("/") else file)
    reader.at = end
    return _Header(step, line_base, line_range, opcode_base, lengths, tuple(files))


def _table(reader: _Reader, end: int) -> Iterator[tuple[int, Place]]:
    header = _header(reader)
    address, file, line = 0, 1, 1
    while reader.at < end:
        opcode = reader.byte()
        if opcode >= header.opcode_base:
            advance, more = divmod(opcode - header.opcode_base, header.line_range)
            address, line = address + advance * header.step, line + header.line_base + more
            yield address, Place(header.files[file], line)
        elif opcode == 0:
            length = reader.uleb()
            then, kind = reader.at + length, reader.byte()
            if kind == END_SEQUENCE:
                yield address, NOWHERE
                address, file, line = 0, 1, 1
            elif kind == SET_ADDRESS:
                address = reader.fixed("<Q")
            reader.at = then
        elif opcode == COPY:
            yield address, Place(header.files[file], line)
        elif opcode == ADVANCE_PC:
            address += reader.uleb() * header.step
        elif opcode == ADVANCE_LINE:
            line += reader.sleb()
        elif opcode == SET_FILE:
            file = reader.uleb()
        elif opcode == CONST_ADD_PC:
            address += (255 - header.opcode_base) // header.line_range * header.step
        elif opcode == FIXED_PC:
            address += reader.fixed("<H")
        else:
            for _ in range(header.lengths[opcode - 1]):
                reader.uleb()
