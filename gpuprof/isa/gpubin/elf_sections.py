"""The contents of an ELF file's sections, as plain values; pyelftools reads them.

The file may be hostile, and pyelftools follows every count, offset and size that it finds. So these are compared with
the file's length first, and no two sections may share bytes: a small file cannot stand for much. The bytes read are
metered, so that a thousand long names at one place are refused.
"""

import io
import itertools
from collections.abc import Callable
from functools import cache
from typing import NamedTuple, cast

from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import NoteSection, Section, StringTableSection, SymbolTableSection

from gpuprof.isa.gpubin import layout

# Only these types are read: of some others, pyelftools reads the content as soon as it makes the section.
_TYPES = ("SHT_PROGBITS", "SHT_SYMTAB", "SHT_STRTAB", "SHT_RELA", "SHT_NOTE", "SHT_NOBITS")
_RAISED = (ELFError, ConstructError, OverflowError)  # the last by a seek to an offset of more than 63 bits
_READINGS = 4  # how often a byte may be read, on average; a whole file takes less than two


class Note(NamedTuple):
    kind: int
    description: bytes


class Rela(NamedTuple):
    offset: int
    kind: int
    symbol: str
    addend: int


class Elf(NamedTuple):
    """The contents of an ELF file, by the names of the sections, in the order of their headers."""

    contents: dict[str, bytes]  # of SHT_PROGBITS
    notes: dict[str, Note]  # of SHT_NOTE: the one note in each
    relocations: dict[str, tuple[Rela, ...]]  # of SHT_RELA


def read_elf(data: bytes) -> Elf:
    """The sections of a 64-bit little-endian ELF file.

    Raises ValueError for a damaged file, and for one that is made to take much time or memory.
    """
    try:
        return _contents(_sections(ELFFile(_Metered(data)), len(data)))
    except _RAISED as error:
        raise ValueError(f"its ELF sections cannot be read: {error}") from error


class _Metered(io.BytesIO):
    """A file that gives out at most `_READINGS` times its length."""

    def __init__(self, data: bytes):
        super().__init__(data)
        self._left_nbytes = _READINGS * len(data)

    def read(self, nbytes: int | None = -1) -> bytes:
        data = super().read(nbytes)
        self._left_nbytes -= len(data)
        if self._left_nbytes < 0:
            raise ValueError(f"its ELF sections take more than {_READINGS} times its length to read")
        return data


def _contents(sections: dict[str, Section]) -> Elf:
    relocations = {name: section for name, section in sections.items() if isinstance(section, RelocationSection)}
    return Elf(
        {name: section.data() for name, section in sections.items() if section["sh_type"] == "SHT_PROGBITS"},
        {name: _note(section) for name, section in sections.items() if isinstance(section, NoteSection)},
        _relocations(relocations, sections),
    )


# --- sections


def _sections(elf: ELFFile, file_nbytes: int) -> dict[str, Section]:
    offset, count, nbytes = elf["e_shoff"], elf["e_shnum"], elf["e_shentsize"]
    if not count or nbytes != layout.SECTION_DTYPE.itemsize or offset + count * nbytes > file_nbytes:
        raise ValueError(f"{count} section headers of {nbytes} bytes at offset {offset} do not fit")
    if elf["e_type"] != "ET_EXEC":
        raise ValueError(f"it is an ELF of type {elf['e_type']}")
    names = _checked_table(_section(elf, elf["e_shstrndx"], ("SHT_STRTAB",)))
    sections: dict[str, Section] = {}
    for number in range(1, count):
        section = _section(elf, number, _TYPES)
        _check_name(section["sh_name"], names)
        if section.name in sections:
            raise ValueError(f"two sections named {section.name!r}")
        sections[section.name] = section
    _check_places([section for section in sections.values() if section["sh_type"] != "SHT_NOBITS"], file_nbytes)
    return sections


def _section(elf: ELFFile, number: int, types: tuple[str, ...]) -> Section:
    section = elf.get_section(number, types)
    if section.compressed:
        raise ValueError(f"section {section.name!r} is compressed")
    return section


def _check_places(sections: list[Section], file_nbytes: int) -> None:
    """Every section lies within the file, and no two have a byte in common."""
    places = sorted((s["sh_offset"], s["sh_offset"] + s["sh_size"], s.name) for s in sections)
    for offset, end, name in places:
        if end > file_nbytes:
            raise ValueError(f"section {name!r}, {end - offset} bytes at offset {offset}, reaches beyond the file")
    for (_, end, before), (offset, _, after) in itertools.pairwise(places):
        if end > offset:
            raise ValueError(f"sections {before!r} and {after!r} overlap at offset {offset}")


# --- names: pyelftools reads on to the next NUL, wherever it is


def _checked_table(table: Section) -> StringTableSection:
    if not isinstance(table, StringTableSection) or table.data()[-1:] != b"\0":
        raise ValueError(f"the last name of the string table {table.name!r} does not end")
    return table


def _check_name(offset: int, table: StringTableSection) -> None:
    if offset >= table["sh_size"]:
        raise ValueError(f"a name at offset {offset} of the string table {table.name!r} is outside of it")


def _symbol_names(sections: dict[str, Section]) -> Callable[[int], str]:
    """Gives the name of a symbol by its number, and raises ValueError for a number that the symbol table lacks."""
    symbols, strings = sections.get(".symtab"), sections.get(".strtab")
    if not isinstance(symbols, SymbolTableSection) or symbols["sh_entsize"] != layout.SYMBOL_DTYPE.itemsize:
        raise ValueError("it has no symbol table")
    if strings is None or symbols.stringtable != strings:
        raise ValueError("the names of its symbols are not in '.strtab'")
    names = _checked_table(strings)

    @cache
    def name(number: int) -> str:
        if number >= symbols.num_symbols():
            raise ValueError(f"a relocation speaks of symbol {number} of {symbols.num_symbols()}")
        symbol = symbols.get_symbol(number)
        _check_name(symbol["st_name"], names)
        return symbol.name

    return name


# --- contents


def _note(section: NoteSection) -> Note:
    # Not left to pyelftools, which takes an owner of any length, one character at a time.
    start = layout.NOTE_HEADER.size
    data = section.data()[: start + len(layout.NOTE_OWNER)]
    if data[:4] != len(layout.NOTE_OWNER).to_bytes(4, "little") or data[start:] != layout.NOTE_OWNER:
        raise ValueError(f"the note {section.name!r} is not gpuprof's")
    note = next(section.iter_notes())
    if note["n_size"] > section["sh_size"]:
        raise ValueError(f"the note {section.name!r} says {note['n_size']} bytes and holds {section['sh_size']}")
    number = cast(int, note["n_type"])  # a name only for owners that pyelftools knows
    return Note(number, note["n_descdata"])


def _relocations(tables: dict[str, RelocationSection], sections: dict[str, Section]) -> dict[str, tuple[Rela, ...]]:
    if not tables:
        return {}
    symbol_name = _symbol_names(sections)
    return {
        name: tuple(
            Rela(row["r_offset"], row["r_info_type"], symbol_name(row["r_info_sym"]), row["r_addend"])
            for row in table.iter_relocations()
        )
        for name, table in tables.items()
    }
