"""Program -> gpubin: the ELF of `isa.gpubin.layout`, written byte by byte; pyelftools cannot write one.

The file is laid out here rather than through an assembler: names go in as data, so that no name can become a directive,
the result is the same on every host, and nothing can abort the process.
"""

import json
import struct
import zlib
from dataclasses import dataclass

import numpy as np

from gpuprof.assemble.object.data import Strings
from gpuprof.assemble.object.dwarf import debug_sections
from gpuprof.errors import GpuprofError
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.isa.facts import NO_FACTS
from gpuprof.isa.gpubin import layout
from gpuprof.isa.opcodes import ISA_VERSION
from gpuprof.isa.program import Function, Location, Program, Variable

MAX_SECTIONS = 0xFF00  # SHN_LORESERVE: beyond it the section numbers of an ELF need another encoding


@dataclass
class Section:
    """One section before it has a place in the file. `link` and `info` name other sections (or `info` is a number)."""

    name: str
    type: int
    data: bytes
    flags: int = 0
    address: int = 0
    align: int = 1
    entry_nbytes: int = 0
    link: str = ""
    info: str | int = 0
    zero_nbytes: int = 0  # SHT_NOBITS: its size


def write_gpubin(program: Program) -> bytes:
    """The program as a gpubin file; the same bytes for equal programs.

    Raises GpuprofError when an ELF cannot hold a symbol's name, or number as many functions.
    """
    _check(program)
    sections = [_program_note(program)]
    for function in program.functions:
        sections += _function_sections(function, program.code)
    for space in layout.SEGMENTS:
        sections += _segment_sections(space, program.variables)
    if program.literals:
        sections.append(Section(".gpuprof.literals", layout.SHT_PROGBITS, program.literals, layout.SHF_ALLOC, align=8))
    symbols, strings, numbers = _symbols(program, {section.name: i + 1 for i, section in enumerate(sections)})
    sections += _relocation_sections(program, numbers)
    sections += _text_sections(program)
    sections += [Section(name, layout.SHT_PROGBITS, data) for name, data in debug_sections(program)]
    sections += [symbols, strings]
    return _seal(_lay_out(sections))


def _check(program: Program) -> None:
    for name in (
        [f.name for f in program.functions]
        + [v.name for v in program.variables]
        + [r.symbol for r in program.relocations]
    ):
        if "\0" in name:
            raise GpuprofError(f"{program.name}: the symbol name {name!r} holds a NUL character; rename it")
        if any("\ud800" <= character <= "\udfff" for character in name):
            raise GpuprofError(f"{program.name}: the symbol name {name!r} cannot be written in UTF-8; rename it")
    if 3 * len(program.functions) + 24 > MAX_SECTIONS:
        raise GpuprofError(
            f"{program.name}: {len(program.functions)} functions are too many for one file; split the module"
        )
    assert len(program.ptx_lines) == len(program.locations) == len(program.code)
    tiles = sorted((f.first, f.first + f.count) for f in program.functions)
    edges = [0] + [end for _, end in tiles]
    assert [first for first, _ in tiles] == edges[:-1] and edges[-1] == len(program.code), (
        "functions must cover the code back to back"
    )


# --- what the program is


def _json(value) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def _note(kind: int, description: bytes) -> bytes:
    header = layout.NOTE_HEADER.pack(len(layout.NOTE_OWNER), len(description), kind)
    return header + layout.NOTE_OWNER + description + bytes(-len(description) % 4)


def _program_note(program: Program) -> Section:
    variables = [layout.to_plain(v) | {"image": ""} for v in program.variables]
    body = {"name": program.name, "arch": program.arch, "compiler": program.compiler, "variables": variables}
    prefix = layout.PREFIX.pack(layout.GPUBIN_VERSION, ISA_VERSION, 0, 0)  # length and CRC: see _seal
    return Section(".note.gpuprof", layout.SHT_NOTE, _note(layout.NOTE_PROGRAM, prefix + _json(body)), align=4)


def _function_sections(function: Function, code: np.ndarray) -> list[Section]:
    body = code[function.first : function.first + function.count]
    note = _note(layout.NOTE_FUNCTION, _json(layout.to_plain(function)))
    return [
        Section(
            f".text.{function.name}",
            layout.SHT_PROGBITS,
            body.tobytes(),
            flags=layout.SHF_ALLOC | layout.SHF_EXECINSTR,
            address=function.first * INSTRUCTION_NBYTES,
            align=INSTRUCTION_NBYTES,
        ),
        Section(f".note.gpuprof.{function.name}", layout.SHT_NOTE, note, align=4),
    ]


def _stored_nbytes(space: str, variables: tuple[Variable, ...]) -> int:
    """Bytes of a segment up to the end of its last variable that is not all zero; the rest takes no room in the
    file.
    """
    return max((v.offset + v.nbytes for v in variables if v.space == space and v.image.count(0) < v.nbytes), default=0)


def _segment_sections(space: str, variables: tuple[Variable, ...]) -> list[Section]:
    own = [v for v in variables if v.space == space]
    if not own:
        return []
    stored_nbytes = _stored_nbytes(space, variables)
    data = bytearray(stored_nbytes)
    for v in own:
        assert len(v.image) == v.nbytes, v.name
        if v.offset < stored_nbytes:
            data[v.offset : v.offset + v.nbytes] = v.image
    zero_nbytes = max(v.offset + v.nbytes for v in own) - stored_nbytes
    flags = layout.SHF_ALLOC | (layout.SHF_WRITE if space == "global" else 0)
    name = f".gpuprof.{space}"
    return [
        Section(name, layout.SHT_PROGBITS, bytes(data), flags, align=max(v.align for v in own)),
        Section(name + ".zero", layout.SHT_NOBITS, b"", flags, address=stored_nbytes, zero_nbytes=zero_nbytes),
    ]


def _symbols(program: Program, section_numbers: dict[str, int]) -> tuple[Section, Section, dict[str, int]]:
    """.symtab, .strtab, and the number of each symbol by name. Local symbols come first, as ELF demands."""
    stt_object, stt_func, stb_global = 1, 2, 1 << 4
    rows: dict[str, tuple[int, int, int, int]] = {}  # name -> info, section, value, nbytes
    for f in sorted(program.functions, key=lambda f: f.is_kernel):
        info = stt_func | (stb_global if f.is_kernel else 0)
        rows[f.name] = (
            info,
            section_numbers[f".text.{f.name}"],
            f.first * INSTRUCTION_NBYTES,
            f.count * INSTRUCTION_NBYTES,
        )
    stored_nbytes = {space: _stored_nbytes(space, program.variables) for space in layout.SEGMENTS}
    for v in program.variables:
        part = ".zero" if v.offset >= stored_nbytes[v.space] else ""
        rows[v.name] = (stt_object | stb_global, section_numbers[f".gpuprof.{v.space}{part}"], v.offset, v.nbytes)
    for r in program.relocations:
        rows.setdefault(r.symbol, (stb_global, 0, 0, 0))  # defined elsewhere
    table = np.zeros(1 + len(rows), layout.SYMBOL_DTYPE)
    strings = Strings()
    for i, (name, (info, section, value, nbytes)) in enumerate(rows.items(), start=1):
        table[i] = (strings.add(name), info, 0, section, value, nbytes)
    n_local = 1 + sum(not info & stb_global for info, *_ in rows.values())
    symtab = Section(
        ".symtab",
        layout.SHT_SYMTAB,
        table.tobytes(),
        align=8,
        entry_nbytes=layout.SYMBOL_DTYPE.itemsize,
        link=".strtab",
        info=n_local,
    )
    return (
        symtab,
        Section(".strtab", layout.SHT_STRTAB, strings.bytes()),
        {name: i for i, name in enumerate(rows, start=1)},
    )


def _relocation_sections(program: Program, symbol_numbers: dict[str, int]) -> list[Section]:
    sections = []
    for f in program.functions:
        own = sorted((r for r in program.relocations if f.first <= r.index < f.first + f.count), key=lambda r: r.index)
        if own:
            rows = [
                (
                    r.index * INSTRUCTION_NBYTES + layout.IMM_OFFSET,
                    layout.RELOCATION_NUMBERS[r.kind],
                    symbol_numbers[r.symbol],
                    r.addend,
                )
                for r in own
            ]
            sections.append(
                Section(
                    f".rela.text.{f.name}",
                    layout.SHT_RELA,
                    np.array(rows, layout.RELA_DTYPE).tobytes(),
                    flags=layout.SHF_INFO_LINK,
                    align=8,
                    entry_nbytes=layout.RELA_DTYPE.itemsize,
                    link=".symtab",
                    info=f".text.{f.name}",
                )
            )
    return sections


# --- what it was made from


def _text_sections(program: Program) -> list[Section]:
    frames, index, names = _location_table(program.locations)
    locations = (
        struct.pack("<I", len(frames))
        + np.array(frames, layout.FRAME_DTYPE).tobytes()
        + np.array(index, "<u4").tobytes()
    )
    contents = {
        ".gpuprof.locations": locations,
        ".gpuprof.strings": _json(names),
        ".gpuprof.ptx": program.ptx.encode("utf-8", "surrogatepass"),
        ".gpuprof.ptxlines": np.asarray(program.ptx_lines, "<u4").tobytes(),
        ".gpuprof.sources": _json(program.sources),
    }
    if program.facts != NO_FACTS:
        # The order of its tables' keys is that of what the debugger lists.
        contents[".gpuprof.facts"] = json.dumps(layout.to_plain(program.facts), separators=(",", ":")).encode("ascii")
    return [Section(name, layout.SHT_PROGBITS, data, align=4) for name, data in contents.items()]


def _location_table(locations: tuple[Location | None, ...]) -> tuple[list[tuple[int, ...]], list[int], list[str]]:
    """Rows of FRAME_DTYPE without repeats, 1 + the row of each location (0 for None), and the names that rows refer
    to.
    """
    rows: list[tuple[int, ...]] = []
    number_of: dict[tuple[int, ...], int] = {}
    names: dict[str, int] = {}
    seen: dict[int, int] = {0: 0}  # by id: instructions of one position usually share the object

    def number(location: Location | None, depth: int = 0) -> int:
        if location is None:
            return 0
        if id(location) not in seen:
            if depth == layout.MAX_INLINE_DEPTH:
                raise GpuprofError(f"{location.file}:{location.line}: inlined more than {depth} levels deep")
            caller = number(location.inlined_at, depth + 1)
            file, function = (names.setdefault(name, len(names)) for name in (location.file, location.function))
            row = (file, location.line, location.column, function, caller)
            if row not in number_of:
                rows.append(row)
                number_of[row] = len(rows)
            seen[id(location)] = number_of[row]
        return seen[id(location)]

    return rows, [number(location) for location in locations], list(names)


# --- the file


def _lay_out(sections: list[Section]) -> bytearray:
    names = Strings()
    headers_name = ".shstrtab"
    for section in sections:
        names.add(section.name)
    names.add(headers_name)
    sections = [*sections, Section(headers_name, layout.SHT_STRTAB, names.bytes())]
    numbers = {section.name: i for i, section in enumerate(sections, start=1)}
    headers = np.zeros(1 + len(sections), layout.SECTION_DTYPE)
    data = bytearray(layout.ELF_HEADER.size)
    for i, s in enumerate(sections, start=1):
        # offsets need no more; a variable's own alignment can be huge
        data += bytes(-len(data) % min(s.align, INSTRUCTION_NBYTES))
        link = numbers[s.link] if s.link else 0
        info = numbers[s.info] if isinstance(s.info, str) else s.info
        nbytes = s.zero_nbytes or len(s.data)
        headers[i] = (
            names.add(s.name),
            s.type,
            s.flags,
            s.address,
            len(data),
            nbytes,
            link,
            info,
            s.align,
            s.entry_nbytes,
        )
        data += s.data
    data += bytes(-len(data) % 8)
    layout.ELF_HEADER.pack_into(
        data, 0, layout.ELF_IDENT, layout.ET_EXEC, layout.EM_CUDA, 1, 0, 0, len(data), 0,
        layout.ELF_HEADER.size, 0, 0, layout.SECTION_DTYPE.itemsize, len(headers), len(headers) - 1,
    )  # fmt: skip
    return data + headers.tobytes()


def _seal(data: bytearray) -> bytes:
    """Writes the file's length and CRC32 into the program note, which is the first section."""
    layout.PREFIX.pack_into(data, layout.DESCRIPTION_OFFSET, layout.GPUBIN_VERSION, ISA_VERSION, len(data), 0)
    struct.pack_into("<I", data, layout.CRC_OFFSET, zlib.crc32(data))
    return bytes(data)
