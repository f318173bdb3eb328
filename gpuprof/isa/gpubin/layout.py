"""The gpubin file, declared once: what `assemble.object.elf` writes and `isa.gpubin.reader` reads.

A gpubin is an ELF64 little-endian executable, machine EM_CUDA. Code addresses are those of the unloaded program:
instruction i is at 16 * i, so `.text.*` sections, symbols, DWARF and relocations speak of one and the same address
without any fix-up.

    offset 0    ELF header
    offset 64   `.note.gpuprof`: note header, owner, PREFIX, then the program's JSON  (first, at a fixed place, so
                that a file that is cut off, altered, foreign or newer can be recognised before anything else in it
                is used)
    then        the other sections, in the order of the section headers
    last        the section headers

    .note.gpuprof             program: name, arch, compiler, variables; format and ISA version, length and CRC32
                              of the file
    .note.gpuprof.FUNCTION    the fields of `program.Function`: parameters, registers, shared, local, barriers, bounds
    .text.FUNCTION            16 bytes an instruction
    .rela.text.FUNCTION       what the loader fills in: RELOCATION_NUMBERS below, offset = the `imm` field's code
                              address
    .gpuprof.global, .gpuprof.const            initial bytes of the two data segments, up to the last variable
                                               that is not zero
    .gpuprof.global.zero, .gpuprof.const.zero  the rest of the segment: no bytes in the file
    .gpuprof.literals         64-bit constants of the instructions, what they read from `special.LITERALS_AT` on;
                              not there if there are none
    .gpuprof.locations        source position of every instruction, with inlined-at chains (FRAME_DTYPE)
    .gpuprof.strings          JSON list: the names that .gpuprof.locations refers to by number
    .gpuprof.ptx              the PTX text, UTF-8
    .gpuprof.ptxlines         u32 for each instruction: its line in .gpuprof.ptx, 0 unknown
    .gpuprof.sources          JSON object: path -> text
    .gpuprof.facts            JSON: the fields of `facts.Facts`; not there if there are none
    .debug_info .debug_abbrev .debug_line .debug_str .debug_ranges   DWARF 4, for other tools; gpuprof does not read it

Function notes are in the order of `Program.functions`. Every number is little-endian. JSON is ASCII; a named tuple is a
list.
"""

import struct
import types
import typing
from dataclasses import fields, is_dataclass
from functools import cache

import numpy as np

MAX_ZERO_NBYTES = 1 << 31  # all zero-initialised variables of a program together: they take no room in the file

MAX_STRUCTURE_NBYTES = 999_999_999  # of a structure with padding

# 1: first version. 2: initial addresses of variables. 3: clusters. 4: literals. 5: constant operands
# that read the variables in constant memory. 6: facts in a section; they were comments in the PTX. 7: the registers of
# setmaxnreg.inc.
GPUBIN_VERSION = 7
OLDEST_GPUBIN_VERSION = 5  # `version_5` reads its facts

ELF_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
ELF_IDENT = b"\x7fELF\x02\x01\x01" + bytes(9)  # 64-bit, little-endian, ELF version 1
N_IDENT_COMMON = 6  # of these, what all such files share; NVIDIA's have an ABI and a version of their own after it
ET_EXEC = 2
EM_CUDA = 190

SECTION_DTYPE = np.dtype(
    [("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8"), ("offset", "<u8"), ("nbytes", "<u8"),
     ("link", "<u4"), ("info", "<u4"), ("align", "<u8"), ("entry_nbytes", "<u8")]
)  # fmt: skip
SYMBOL_DTYPE = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("nbytes", "<u8")]
)
RELA_DTYPE = np.dtype([("offset", "<u8"), ("kind", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])
assert (SECTION_DTYPE.itemsize, SYMBOL_DTYPE.itemsize, RELA_DTYPE.itemsize) == (64, 24, 24)

SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_RELA, SHT_NOTE, SHT_NOBITS = 1, 2, 3, 4, 7, 8
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR, SHF_INFO_LINK = 1, 2, 4, 0x40

# Relocation type numbers of our own: the 32-bit imm field, or imm and mods as one 64-bit field, := symbol + addend.
RELOCATION_NUMBERS = {"abs32": 1, "abs64": 2}
RELOCATION_NAMES = {number: name for name, number in RELOCATION_NUMBERS.items()}
IMM_OFFSET = 8  # of the imm field in an instruction

SEGMENTS = ("global", "const")  # Variable.space

NOTE_OWNER = b"gpuprof\0"
NOTE_HEADER = struct.Struct("<III")  # length of the owner, length of the description, type
NOTE_PROGRAM, NOTE_FUNCTION = 0x101, 0x102  # numbers that readelf knows no meaning of
NOTE_OFFSET = ELF_HEADER.size
DESCRIPTION_OFFSET = NOTE_OFFSET + NOTE_HEADER.size + len(NOTE_OWNER)
# format version, ISA version, length of the file, CRC32 of the file with this field zero
PREFIX = struct.Struct("<IIQI")
CRC_OFFSET = DESCRIPTION_OFFSET + 16

# A source position. `file` and `function` index .gpuprof.strings; `inlined_at` is 1 + the index of an earlier row, 0
# for none.
# The section: u32 count of rows, the rows, then for each instruction a u32: 1 + its row, 0 for none.
FRAME_DTYPE = np.dtype(
    [("file", "<u4"), ("line", "<u4"), ("column", "<u4"), ("function", "<u4"), ("inlined_at", "<u4")]
)
MAX_INLINE_DEPTH = 500  # compilers stay below 100; Python compares nested values by recursion


def to_plain(value):
    """A dataclass (also nested) as JSON values: an object by field name; tuples as lists."""
    if is_dataclass(value):
        return {f.name: to_plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    return value


def from_plain(kind, plain, where: str):
    """The inverse of `to_plain` by type annotation; raises ValueError that names the place when the value does not
    fit.
    """
    if is_dataclass(kind):
        return _dataclass_from_plain(kind, plain, where)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is types.UnionType:  # only "something or None" is used
        return None if plain is None else from_plain(arguments[0], plain, where)
    if origin is tuple:
        return _tuple_from_plain(arguments, plain, where)
    if issubclass(kind, tuple):  # a named one
        return kind(*_tuple_from_plain(tuple(_hints(kind).values()), plain, where))
    if type(plain) is not kind:
        raise ValueError(f"{where} is {str(plain)[:60]!r}, not {kind.__name__}")
    if kind is int and not 0 <= plain < 1 << 63:
        raise ValueError(f"{where} is out of range")
    return plain


def _dataclass_from_plain(kind, plain, where):
    hints = _hints(kind)
    if type(plain) is not dict or plain.keys() != hints.keys():
        raise ValueError(f"{where} does not have the fields of {kind.__name__}")
    return kind(**{name: from_plain(hint, plain[name], f"{where}.{name}") for name, hint in hints.items()})


def _tuple_from_plain(arguments, plain, where):
    if type(plain) is not list:
        raise ValueError(f"{where} is not a list")
    if arguments[-1] is Ellipsis:
        arguments = (arguments[0],) * len(plain)
    if len(arguments) != len(plain):
        raise ValueError(f"{where} has {len(plain)} items, not {len(arguments)}")
    return tuple(
        from_plain(kind, item, f"{where}[{i}]") for i, (kind, item) in enumerate(zip(arguments, plain, strict=True))
    )


@cache
def _hints(kind) -> dict[str, typing.Any]:
    return typing.get_type_hints(kind)
