"""The items of a .gpubin: its sections, with what refers to sections, symbols or files by number resolved.

Version, length and checksum of the file are left out. Whole-line comments in the PTX text are, too: they carry facts
that are in a section of their own in later versions. Line numbers of the PTX count the other lines.
"""

import io
import json
import struct
from collections.abc import Callable, Iterator, Sequence

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Section, SymbolTableSection

from tests.same.declared import MOVED_SECTIONS
from tests.same.texts import Item, Side, leaves, without_comments

PTX, PTX_LINES = ".gpuprof.ptx", ".gpuprof.ptxlines"
_NOTE_HEADER = struct.Struct("<III")
_PREFIX = struct.Struct("<IIQI")  # format version, ISA version, length, checksum
# They name other sections by number, or have names of the sections that may move.
_LEFT_OUT = {"", ".shstrtab", ".strtab", ".debug_str", *MOVED_SECTIONS}


def ptx_without_comments(ptx: str) -> tuple[str, list[int]]:
    """The PTX without whole-line comments, and the new number of each of its lines, from 1; of a comment, the number of
    the next line. Number 0 stays 0.
    """
    lines, numbers = [], [0]
    for line in ptx.split("\n"):
        numbers.append(len(lines) + 1)
        if not line.lstrip().startswith("//"):
            lines.append(line)
    return "\n".join(lines), numbers


def moved_line(line: int, numbers: Sequence[int]) -> int:
    """The new number of a line; one after the end of the text does not change."""
    return numbers[line] if line < len(numbers) else line


def program_items(data: bytes, side: Side) -> Iterator[Item]:
    elf = ELFFile(io.BytesIO(data))
    sections = sorted((s for s in elf.iter_sections() if s.name not in _LEFT_OUT), key=lambda s: s.name)
    yield Item("sections", [section.name for section in sections])
    texts = elf.get_section_by_name(PTX)
    ptx = texts.data().decode("utf-8", "surrogateescape") if texts else ""
    for section in sections:
        yield Item(f"{section.name} address", section["sh_addr"])
        if section["sh_type"] == "SHT_NOBITS":
            yield Item(f"{section.name} length", section["sh_size"])
        else:
            yield from _reader_of(section)(section, elf, ptx, side)


def _reader_of(section: Section) -> Callable[[Section, ELFFile, str, Side], Iterator[Item]]:
    if isinstance(section, SymbolTableSection):
        return _symbols
    if isinstance(section, RelocationSection):
        return _relocations
    if section["sh_type"] == "SHT_NOTE":
        return _note
    return _READERS.get(section.name, _bytes)


def _bytes(section: Section, elf: ELFFile, ptx: str, side: Side) -> Iterator[Item]:
    yield Item(section.name, section.data())


def _note(section: Section, elf: ELFFile, ptx: str, side: Side) -> Iterator[Item]:
    data = section.data()
    owner_nbytes, nbytes, kind = _NOTE_HEADER.unpack_from(data)
    start = _NOTE_HEADER.size + owner_nbytes
    body = data[start : start + nbytes]
    yield Item(f"{section.name} kind", kind)
    if not body.startswith((b"{", b"[")):
        _, isa_version, _, _ = _PREFIX.unpack_from(body)
        yield Item(f"{section.name} ISA version", isa_version)
        body = body[_PREFIX.size :]
    yield from leaves(json.loads(body), "program", side, section.name)


def _symbols(section: SymbolTableSection, elf: ELFFile, ptx: str, side: Side) -> Iterator[Item]:
    for symbol in section.iter_symbols():
        number = symbol["st_shndx"]
        place = elf.get_section(number).name if isinstance(number, int) else number
        yield Item(f"symbol {symbol.name}", (place, symbol["st_value"], symbol["st_size"], dict(symbol["st_info"])))


def _relocations(section: RelocationSection, elf: ELFFile, ptx: str, side: Side) -> Iterator[Item]:
    symbols = elf.get_section_by_name(".symtab")
    for each in section.iter_relocations():
        name = symbols.get_symbol(each["r_info_sym"]).name
        yield Item(f"{section.name} at {each['r_offset']:#x}", (each["r_info_type"], name, each["r_addend"]))


def _ptx(section: Section, elf: ELFFile, ptx: str, side: Side) -> Iterator[Item]:
    text, _ = ptx_without_comments(side.text(ptx.encode("utf-8", "surrogateescape")))
    for number, line in enumerate(text.split("\n"), start=1):
        yield Item(f"{PTX} line {number}", line)


def _ptx_lines(section: Section, elf: ELFFile, ptx: str, side: Side) -> Iterator[Item]:
    _, numbers = ptx_without_comments(ptx)
    for index, (line,) in enumerate(struct.iter_unpack("<I", section.data())):
        yield Item(f"{PTX_LINES} of instruction {index}", moved_line(line, numbers))


def _strings(section: Section, elf: ELFFile, ptx: str, side: Side) -> Iterator[Item]:
    yield from leaves(json.loads(section.data()), "program", side, section.name)


def _sources(section: Section, elf: ELFFile, ptx: str, side: Side) -> Iterator[Item]:
    sources = {side.names.of("source", side.text(p.encode())): text for p, text in json.loads(section.data()).items()}
    for path in sorted(sources):
        yield Item(f"source {path}", without_comments(sources[path]))


def _debug_info(section: Section, elf: ELFFile, ptx: str, side: Side) -> Iterator[Item]:
    for unit in elf.get_dwarf_info().iter_CUs():
        for entry in unit.iter_DIEs():
            values = {name: _path_or_value(each.value, side) for name, each in entry.attributes.items()}
            yield Item(f"{section.name} {entry.tag} at {entry.offset:#x}", values)


def _debug_line(section: Section, elf: ELFFile, ptx: str, side: Side) -> Iterator[Item]:
    dwarf = elf.get_dwarf_info()
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if not program:
            continue
        for number, each in enumerate(program["file_entry"], start=1):
            yield Item(f"{section.name} file {number}", _path_or_value(each.name, side))
        for entry in program.get_entries():
            if entry.state:
                state = entry.state
                where = (state.file, state.line, state.column, state.end_sequence)
                yield Item(f"{section.name} at {state.address:#x}", where)


def _path_or_value(value, side: Side):
    return side.names.of("source", side.text(value)) if isinstance(value, bytes) else value


_READERS = {
    PTX: _ptx,
    PTX_LINES: _ptx_lines,
    ".gpuprof.strings": _strings,
    ".gpuprof.sources": _sources,
    ".debug_info": _debug_info,
    ".debug_line": _debug_line,
}
