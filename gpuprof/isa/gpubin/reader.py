"""gpubin -> Program: the reader of the ELF that `isa.gpubin.layout` declares and `assemble.object.elf` writes.

Nothing in the file is believed before its length and checksum are right, and nothing after that without a check either:
a file made by hand can carry any content and a right checksum. `isa.gpubin.elf_sections` takes the ELF apart.
"""

import json
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpuprof.errors import FileFormatError
from gpuprof.isa.encoding import INSTRUCTION_DTYPE, INSTRUCTION_NBYTES
from gpuprof.isa.facts import HAZARDS, NO_FACTS, Facts
from gpuprof.isa.gpubin import layout
from gpuprof.isa.gpubin.version_5 import facts_in_comments
from gpuprof.isa.opcodes import ISA_VERSION, TABLE
from gpuprof.isa.program import Function, Location, Program, Relocation, Variable

if TYPE_CHECKING:
    from gpuprof.isa.gpubin.elf_sections import Elf, Rela


def read_gpubin(data: bytes, name: str, remake: str = "compile") -> Program:
    """The program in a gpubin file's bytes. For messages: `name`, the file's, and `remake`, the command that makes a
    new one.

    `relocations` come back in the order of their instructions. Raises FileFormatError for a file that is cut off,
    damaged, foreign, or made by another version; the message says which, where, and what to do.
    """
    version = _check_identity(data, name, remake)

    from gpuprof.isa.gpubin.elf_sections import (
        read_elf,  # imports pyelftools, which takes its time
    )

    try:
        return _program(read_elf(data), version)
    except ValueError as error:
        raise FileFormatError(f"{name}: damaged gpubin: {error}; {remake} it again") from error


# --- is it ours, whole, and of our version?


def _check_identity(data: bytes, name: str, remake: str) -> int:
    """The version of the format."""
    ident = layout.ELF_IDENT[: layout.N_IDENT_COMMON]
    if data[: len(ident)] != ident[: len(data)] or not data:
        start = bytes(data[:4])
        raise FileFormatError(
            f"{name}: not a gpubin: it starts with {start!r}, not with a 64-bit ELF header; `gpuprof compile` makes "
            "gpubin files"
        )
    if len(data) < layout.CRC_OFFSET + 4:
        raise FileFormatError(f"{name}: cut off after {len(data)} bytes, inside the gpubin header; {remake} it again")
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
    _check_version(name, "gpubin format", version, layout.OLDEST_GPUBIN_VERSION, layout.GPUBIN_VERSION, remake)
    _check_version(name, "instruction set", isa_version, ISA_VERSION, ISA_VERSION, remake)
    if len(data) != nbytes:
        what = "cut off" if len(data) < nbytes else "longer than it says"
        raise FileFormatError(f"{name}: {what}: {len(data)} bytes of {nbytes}; copy or {remake} it again")
    after = layout.CRC_OFFSET + 4
    if zlib.crc32(data[after:], zlib.crc32(bytes(4), zlib.crc32(data[: layout.CRC_OFFSET]))) != crc:
        raise FileFormatError(
            f"{name}: damaged: its {nbytes} bytes do not match their checksum; copy or {remake} it again"
        )
    return version


def _check_version(name: str, what: str, version: int, oldest: int, newest: int, remake: str) -> None:
    if version > newest:
        raise FileFormatError(
            f"{name}: {what} version {version}, newer than the {newest} this gpuprof knows; update gpuprof or {remake} "
            "it again"
        )
    if version < oldest:
        raise FileFormatError(
            f"{name}: {what} version {version}, older than the {oldest} this gpuprof reads; {remake} it again"
        )


# --- the program: from here on a wrong value is a ValueError


def _program(elf: "Elf", version: int) -> Program:
    body = _json_note(elf, ".note.gpuprof", layout.NOTE_PROGRAM, layout.PREFIX.size)
    prefix = ".note.gpuprof."
    functions = tuple(_function(elf, name, version) for name in elf.notes if name.startswith(prefix))
    code = _code(elf, functions)
    ptx = _content(elf, ".gpuprof.ptx").decode("utf-8", "surrogatepass")
    heads = {key: layout.from_plain(str, _item(body, key), f"program.{key}") for key in ("name", "arch", "compiler")}
    return Program(
        code=code,
        functions=functions,
        variables=_variables(elf, _item(body, "variables")),
        relocations=_relocations(elf, functions),
        ptx=ptx,
        ptx_lines=_per_instruction(_rows(elf, ".gpuprof.ptxlines", "<u4"), len(code), ".gpuprof.ptxlines").astype(
            np.uint32
        ),
        locations=_locations(elf, len(code)),
        sources=_sources(elf),
        literals=elf.contents.get(".gpuprof.literals", b""),
        facts=_facts(elf, ptx, version),
        **heads,
    )


def _content(elf: "Elf", name: str) -> bytes:
    if name not in elf.contents:
        raise ValueError(f"it has no section {name!r}")
    return elf.contents[name]


def _rows(elf: "Elf", name: str, dtype) -> np.ndarray:
    content = _content(elf, name)
    dtype = np.dtype(dtype)
    if len(content) % dtype.itemsize:
        raise ValueError(f"{name} holds {len(content)} bytes, not a multiple of {dtype.itemsize}")
    return np.frombuffer(content, dtype)


def _item(body: dict, key: str):
    if key not in body:
        raise ValueError(f"the program note has no {key!r}")
    return body[key]


def _json(raw: bytes, where: str):
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:  # RecursionError: brackets nested by the thousand
        raise ValueError(f"{where} is not JSON") from error


def _json_note(elf: "Elf", name: str, kind: int, skip_nbytes: int = 0) -> dict:
    if name not in elf.notes:
        raise ValueError(f"it has no note {name!r}")
    note = elf.notes[name]
    if note.kind != kind:
        raise ValueError(f"the note {name!r} is of type {note.kind}, not {kind}")
    body = _json(note.description[skip_nbytes:], f"the note {name!r}")
    if type(body) is not dict:
        raise ValueError(f"the note {name!r} does not hold an object")
    return body


def _function(elf: "Elf", note_name: str, version: int) -> Function:
    note = _json_note(elf, note_name, layout.NOTE_FUNCTION)
    if version < 7:
        note["raised_registers"] = 0
    function = layout.from_plain(Function, note, note_name)
    if note_name != f".note.gpuprof.{function.name}":
        raise ValueError(f"the note {note_name!r} is about {function.name!r}")
    return function


def _code(elf: "Elf", functions: tuple[Function, ...]) -> np.ndarray:
    pieces, end = [], 0
    for f in sorted(functions, key=lambda f: (f.first, f.count)):
        body = _rows(elf, f".text.{f.name}", INSTRUCTION_DTYPE)
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


def _variables(elf: "Elf", plain) -> tuple[Variable, ...]:
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
        stored = _content(elf, f".gpuprof.{variable.space}")
        if variable.offset >= len(stored):
            zero_nbytes[variable.space] += variable.nbytes
            if zero_nbytes[variable.space] > layout.MAX_ZERO_NBYTES:
                raise ValueError(f"its zero variables take more than {layout.MAX_ZERO_NBYTES} bytes")
            image = bytes(variable.nbytes)
        else:
            image = stored[variable.offset : variable.offset + variable.nbytes]
        if len(image) != variable.nbytes:
            raise ValueError(f"{where} {variable.name!r} reaches beyond its segment")
        variables.append(replace(variable, image=image))
    return tuple(variables)


def _relocations(elf: "Elf", functions: tuple[Function, ...]) -> tuple[Relocation, ...]:
    return tuple(
        _relocation(f, row)
        for f in sorted(functions, key=lambda f: f.first)
        for row in elf.relocations.get(f".rela.text.{f.name}", ())
    )


def _relocation(function: Function, row: "Rela") -> Relocation:
    index, field_offset = divmod(row.offset, INSTRUCTION_NBYTES)
    inside = function.first <= index < function.first + function.count
    if not inside or field_offset != layout.IMM_OFFSET or row.kind not in layout.RELOCATION_NAMES:
        raise ValueError(f"a relocation of {function.name!r} at {row.offset:#x} has type {row.kind}")
    return Relocation(index, row.symbol, layout.RELOCATION_NAMES[row.kind], row.addend)


def _per_instruction(values: np.ndarray, count: int, where: str) -> np.ndarray:
    if len(values) != count:
        raise ValueError(f"{where} describes {len(values)} of {count} instructions")
    return values


def _locations(elf: "Elf", count: int) -> tuple[Location | None, ...]:
    words = _rows(elf, ".gpuprof.locations", "<u4")
    n_words = layout.FRAME_DTYPE.itemsize // 4
    n_frames = int(words[0]) if len(words) else 0
    if len(words) < 1 + n_frames * n_words:
        raise ValueError(f".gpuprof.locations says {n_frames} rows and holds {len(words) * 4} bytes")
    names = layout.from_plain(
        tuple[str, ...], _json(_content(elf, ".gpuprof.strings"), ".gpuprof.strings"), ".gpuprof.strings"
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


def _facts(elf: "Elf", ptx: str, version: int) -> Facts:
    if version < 6:
        return facts_in_comments(ptx)
    if ".gpuprof.facts" not in elf.contents:
        return NO_FACTS
    facts = layout.from_plain(Facts, _json(elf.contents[".gpuprof.facts"], ".gpuprof.facts"), ".gpuprof.facts")
    copied = [copy.nbytes for copy in facts.padded_copies]
    stored = [nbytes for store in facts.member_stores for nbytes in (store.nbytes, store.of_nbytes)]
    for nbytes in (*copied, *stored):
        if not 0 < nbytes <= layout.MAX_STRUCTURE_NBYTES:
            raise ValueError(f".gpuprof.facts has a structure of {nbytes} bytes")
    for hazard in facts.register_hazards:
        if hazard.kind not in HAZARDS:
            raise ValueError(f".gpuprof.facts has a register hazard {hazard.kind[:60]!r}")
    return facts


def _sources(elf: "Elf") -> dict[str, str]:
    sources = _json(_content(elf, ".gpuprof.sources"), ".gpuprof.sources")
    if type(sources) is not dict or not all(type(text) is str for text in sources.values()):
        raise ValueError(".gpuprof.sources is not an object of texts")
    return sources
