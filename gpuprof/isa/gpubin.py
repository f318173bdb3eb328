"""gpubin -> Program: the reader of the ELF that `isa.gpubin_layout` declares and `assemble.object.elf` writes.

Nothing in the file is believed before its length and checksum are right, and nothing after that without a check either:
a file made by hand can carry any content and a right checksum. No size is taken from the file without comparing it to
the file's length.
"""

import json
import zlib
from dataclasses import replace

import numpy as np

from gpuprof.errors import FileFormatError
from gpuprof.isa import gpubin_layout as layout
from gpuprof.isa.encoding import INSTRUCTION_DTYPE, INSTRUCTION_NBYTES
from gpuprof.isa.opcodes import ISA_VERSION, TABLE
from gpuprof.isa.program import Function, Location, Program, Relocation, Variable


def read_gpubin(data: bytes, name: str) -> Program:
    """The program in a gpubin file's bytes. `name` is the file's name, for messages.

    `relocations` come back in the order of their instructions. Raises FileFormatError for a file that is cut off,
    damaged, foreign, or made by another version; the message says which, where, and what to do.
    """
    _check_identity(data, name)
    try:
        return _program(_sections(data))
    except ValueError as error:
        raise FileFormatError(f"{name}: damaged gpubin: {error}; compile it again") from error


# --- is it ours, whole, and of our version?


def _check_identity(data: bytes, name: str) -> None:
    ident = layout.ELF_IDENT[: layout.N_IDENT_COMMON]
    if data[: len(ident)] != ident[: len(data)] or not data:
        start = bytes(data[:4])
        raise FileFormatError(
            f"{name}: not a gpubin: it starts with {start!r}, not with a 64-bit ELF header; `gpuprof compile` makes "
            "gpubin files"
        )
    if len(data) < layout.CRC_OFFSET + 4:
        raise FileFormatError(f"{name}: cut off after {len(data)} bytes, inside the gpubin header; compile it again")
    machine = layout.ELF_HEADER.unpack_from(data)[2]
    if machine != layout.EM_CUDA:
        raise FileFormatError(
            f"{name}: not a gpubin: an ELF for machine {machine}, not {layout.EM_CUDA} (EM_CUDA); give a file made by "
            "`gpuprof compile`"
        )
    owner = data[layout.NOTE_OFFSET + layout.NOTE_HEADER.size : layout.DESCRIPTION_OFFSET]
    if owner != layout.NOTE_OWNER:
        raise FileFormatError(
            f"{name}: a CUDA ELF that gpuprof did not write (NVIDIA machine code cannot be run); give the .cu or .ptx "
            "file instead"
        )
    version, isa_version, nbytes, crc = layout.PREFIX.unpack_from(data, layout.DESCRIPTION_OFFSET)
    _check_version(name, "gpubin format", version, layout.GPUBIN_VERSION)
    _check_version(name, "instruction set", isa_version, ISA_VERSION)
    if len(data) != nbytes:
        what = "cut off" if len(data) < nbytes else "longer than it says"
        raise FileFormatError(f"{name}: {what}: {len(data)} bytes of {nbytes}; copy or compile it again")
    after = layout.CRC_OFFSET + 4
    if zlib.crc32(data[after:], zlib.crc32(bytes(4), zlib.crc32(data[: layout.CRC_OFFSET]))) != crc:
        raise FileFormatError(
            f"{name}: damaged: its {nbytes} bytes do not match their checksum; copy or compile it again"
        )


def _check_version(name: str, what: str, found: int, known: int) -> None:
    if found > known:
        raise FileFormatError(
            f"{name}: {what} version {found}, newer than the {known} this gpuprof knows; update gpuprof or compile it "
            "again"
        )
    if found < known:
        raise FileFormatError(
            f"{name}: {what} version {found}, older than the {known} this gpuprof reads; compile it again"
        )


# --- the ELF. From here on a wrong value is a ValueError.


def _sections(data: bytes) -> dict[str, tuple[np.void, memoryview]]:
    """Section header and content by name; the content of a NOBITS section is empty."""
    header = layout.ELF_HEADER.unpack_from(data)
    offset, entry_nbytes, count, names_index = header[6], header[11], header[12], header[13]
    if (
        entry_nbytes != layout.SECTION_DTYPE.itemsize
        or offset + count * entry_nbytes > len(data)
        or names_index >= count
    ):
        raise ValueError(f"{count} section headers at offset {offset} do not fit")
    table = np.frombuffer(data, layout.SECTION_DTYPE, count, offset)
    names = bytes(_content(data, table[names_index]))
    sections = {}
    for row in table[1:]:
        name = _string(names, int(row["name"]))
        if name in sections:
            raise ValueError(f"two sections named {name!r}")
        sections[name] = (row, _content(data, row))
    return sections


def _content(data: bytes, row: np.void) -> memoryview:
    offset, nbytes = int(row["offset"]), int(row["nbytes"])
    if row["type"] == layout.SHT_NOBITS:
        return memoryview(b"")
    if offset + nbytes > len(data):
        raise ValueError(f"a section of {nbytes} bytes at offset {offset} reaches beyond the file")
    return memoryview(data)[offset : offset + nbytes]


def _string(table: bytes, offset: int) -> str:
    end = table.find(b"\0", offset)
    if end < 0:
        raise ValueError(f"a name at offset {offset} of a string table does not end")
    return table[offset:end].decode("utf-8", "surrogatepass")


def _rows(sections, name: str, dtype) -> np.ndarray:
    content = _get(sections, name)
    dtype = np.dtype(dtype)
    if len(content) % dtype.itemsize:
        raise ValueError(f"{name} holds {len(content)} bytes, not a multiple of {dtype.itemsize}")
    return np.frombuffer(content, dtype)


def _get(sections, name: str) -> memoryview:
    if name not in sections:
        raise ValueError(f"it has no section {name!r}")
    return sections[name][1]


# --- the program


def _program(sections) -> Program:
    body = _json_note(sections, ".note.gpuprof", layout.NOTE_PROGRAM, layout.PREFIX.size)
    prefix = ".note.gpuprof."
    functions = tuple(_function(sections, name) for name in sections if name.startswith(prefix))
    code = _code(sections, functions)
    heads = {key: layout.from_plain(str, _item(body, key), f"program.{key}") for key in ("name", "arch", "compiler")}
    return Program(
        code=code,
        functions=functions,
        variables=_variables(sections, _item(body, "variables")),
        relocations=_relocations(sections, functions),
        ptx=str(_get(sections, ".gpuprof.ptx"), "utf-8", "surrogatepass"),
        ptx_lines=_per_instruction(_rows(sections, ".gpuprof.ptxlines", "<u4"), len(code), ".gpuprof.ptxlines").astype(
            np.uint32
        ),
        locations=_locations(sections, len(code)),
        sources=_sources(sections),
        literals=bytes(sections[".gpuprof.literals"][1]) if ".gpuprof.literals" in sections else b"",
        **heads,
    )


def _item(body: dict, key: str):
    if key not in body:
        raise ValueError(f"the program note has no {key!r}")
    return body[key]


def _json(raw: bytes, where: str):
    try:
        return json.loads(bytes(raw))
    except (ValueError, RecursionError) as error:  # RecursionError: brackets nested by the thousand
        raise ValueError(f"{where} is not JSON") from error


def _json_note(sections, name: str, kind: int, skip_nbytes: int = 0) -> dict:
    content = bytes(_get(sections, name))
    start = layout.NOTE_HEADER.size + len(layout.NOTE_OWNER)
    if len(content) < start:
        raise ValueError(f"the note {name!r} is too short")
    owner_nbytes, nbytes, found = layout.NOTE_HEADER.unpack_from(content)
    if (
        owner_nbytes != len(layout.NOTE_OWNER)
        or content[layout.NOTE_HEADER.size : start] != layout.NOTE_OWNER
        or found != kind
    ):
        raise ValueError(f"{name!r} is not a gpuprof note of type {kind}")
    if start + nbytes > len(content) or nbytes < skip_nbytes:
        raise ValueError(f"the note {name!r} says {nbytes} bytes and holds {len(content) - start}")
    body = _json(content[start + skip_nbytes : start + nbytes], f"the note {name!r}")
    if type(body) is not dict:
        raise ValueError(f"the note {name!r} does not hold an object")
    return body


def _function(sections, note_name: str) -> Function:
    function = layout.from_plain(Function, _json_note(sections, note_name, layout.NOTE_FUNCTION), note_name)
    if note_name != f".note.gpuprof.{function.name}":
        raise ValueError(f"the note {note_name!r} is about {function.name!r}")
    return function


def _code(sections, functions: tuple[Function, ...]) -> np.ndarray:
    pieces, end = [], 0
    for f in sorted(functions, key=lambda f: (f.first, f.count)):
        body = _rows(sections, f".text.{f.name}", INSTRUCTION_DTYPE)
        if f.first != end or f.count != len(body):
            raise ValueError(
                f"{f.name!r} should be instructions {end} to {end + len(body)} and says {f.first} to "
                f"{f.first + f.count}"
            )
        pieces.append(body)
        end += len(body)
    code = np.concatenate([np.zeros(0, INSTRUCTION_DTYPE), *pieces])
    _check_code(code)
    return code


def _check_code(code: np.ndarray) -> None:
    """Every opcode is in the table and every relative branch and call leads to an instruction."""
    unknown = np.flatnonzero(code["opcode"] >= len(TABLE))
    if len(unknown):
        at = int(unknown[0])
        raise ValueError(
            f"opcode number {code['opcode'][at]} at address {at * INSTRUCTION_NBYTES:#x} is not in the table of "
            f"{len(TABLE)}"
        )
    relative = np.array([op.kind in ("branch", "call") for op in TABLE])
    at = np.flatnonzero(relative[code["opcode"]])
    targets = (at + 1) * INSTRUCTION_NBYTES + code["imm"][at].astype(np.int32)
    wrong = np.flatnonzero((targets < 0) | (targets >= code.nbytes) | (targets % INSTRUCTION_NBYTES != 0))
    if len(wrong):
        raise ValueError(
            f"the branch at address {int(at[wrong[0]]) * INSTRUCTION_NBYTES:#x} leads to {int(targets[wrong[0]]):#x}, "
            "outside the code"
        )


def _variables(sections, plain) -> tuple[Variable, ...]:
    if type(plain) is not list:
        raise ValueError("program.variables is not a list")
    variables, zero_nbytes = [], dict.fromkeys(layout.SEGMENTS, 0)
    for i, item in enumerate(plain):
        where = f"program.variables[{i}]"
        if type(item) is not dict:
            raise ValueError(f"{where} is not an object")
        variable = layout.from_plain(Variable, item | {"image": b""}, where)
        if variable.space not in layout.SEGMENTS:
            raise ValueError(f"{where} is in the space {variable.space!r}")
        stored = _get(sections, f".gpuprof.{variable.space}")
        if variable.offset >= len(stored):
            zero_nbytes[variable.space] += variable.nbytes
            if zero_nbytes[variable.space] > layout.MAX_ZERO_NBYTES:
                raise ValueError(f"its zero variables take more than {layout.MAX_ZERO_NBYTES} bytes")
            image = bytes(variable.nbytes)
        else:
            image = bytes(stored[variable.offset : variable.offset + variable.nbytes])
        if len(image) != variable.nbytes:
            raise ValueError(f"{where} {variable.name!r} reaches beyond its segment")
        variables.append(replace(variable, image=image))
    return tuple(variables)


def _relocations(sections, functions: tuple[Function, ...]) -> tuple[Relocation, ...]:
    symbols = _rows(sections, ".symtab", layout.SYMBOL_DTYPE)
    names = bytes(_get(sections, ".strtab"))
    relocations = []
    for f in sorted(functions, key=lambda f: f.first):
        section = f".rela.text.{f.name}"
        if section in sections:
            for row in _rows(sections, section, layout.RELA_DTYPE):
                relocations.append(_relocation(f, row, symbols, names))
    return tuple(relocations)


def _relocation(function: Function, row: np.void, symbols: np.ndarray, names: bytes) -> Relocation:
    index, field_offset = divmod(int(row["offset"]), INSTRUCTION_NBYTES)
    kind, symbol = int(row["kind"]), int(row["symbol"])
    inside = function.first <= index < function.first + function.count
    if not inside or field_offset != layout.IMM_OFFSET or kind not in layout.RELOCATION_NAMES or symbol >= len(symbols):
        raise ValueError(
            f"a relocation of {function.name!r} at {int(row['offset']):#x} has type {kind}, symbol {symbol}"
        )
    return Relocation(
        index, _string(names, int(symbols[symbol]["name"])), layout.RELOCATION_NAMES[kind], int(row["addend"])
    )


def _per_instruction(values: np.ndarray, count: int, where: str) -> np.ndarray:
    if len(values) != count:
        raise ValueError(f"{where} describes {len(values)} of {count} instructions")
    return values


def _locations(sections, count: int) -> tuple[Location | None, ...]:
    words = _rows(sections, ".gpuprof.locations", "<u4")
    n_words = layout.FRAME_DTYPE.itemsize // 4
    n_frames = int(words[0]) if len(words) else 0
    if len(words) < 1 + n_frames * n_words:
        raise ValueError(f".gpuprof.locations says {n_frames} rows and holds {len(words) * 4} bytes")
    names = layout.from_plain(
        tuple[str, ...], _json(_get(sections, ".gpuprof.strings"), ".gpuprof.strings"), ".gpuprof.strings"
    )
    frames = _frames(words[1 : 1 + n_frames * n_words].reshape(-1, n_words).tolist(), names)
    index = _per_instruction(words[1 + n_frames * n_words :], count, ".gpuprof.locations")
    if count and int(index.max()) >= len(frames):
        raise ValueError(f".gpuprof.locations refers to row {int(index.max())} of {n_frames}")
    return tuple(frames[i] for i in index.tolist())


def _frames(rows: list[list[int]], names: tuple[str, ...]) -> list[Location | None]:
    """Locations by 1 + row; [0] is None. A row may refer only to rows before it."""
    frames: list[Location | None] = [None]
    depth = [0]
    for file, line, column, function, caller in rows:
        if max(file, function) >= len(names) or caller >= len(frames) or depth[caller] >= layout.MAX_INLINE_DEPTH:
            raise ValueError(f".gpuprof.locations row {len(frames)} refers to what is not there")
        frames.append(Location(names[file], line, column, names[function], frames[caller]))
        depth.append(depth[caller] + 1)
    return frames


def _sources(sections) -> dict[str, str]:
    sources = _json(_get(sections, ".gpuprof.sources"), ".gpuprof.sources")
    if type(sources) is not dict or not all(type(text) is str for text in sources.values()):
        raise ValueError(".gpuprof.sources is not an object of texts")
    return sources
