"""Loading a program: its variables get memory, its code gets an address, and the two are tied together by relocations.

variable in `global`   an allocation of its own; its symbol is its address
variable in `const`    part of the constant segment; its symbol is its offset there, which LDC adds to the segment.
                       The segment is in memory too, at `const_base`, so generic addresses of constants work.
function               its symbol is the code address of its first instruction
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gpuprof.device.memory import ALIGNMENT, AddressSpace
from gpuprof.errors import CompileError, FileFormatError
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.isa.program import Function, Program, Relocation

FIRST_LOAD_BASE = 0x10_0000
PAGE_NBYTES = 0x1000
PC_LIMIT = 1 << 32  # sample records hold 32-bit program counters


@dataclass(eq=False, repr=False)
class LoadedModule:
    """A program in its place. Instruction i has the code address load_base + 16 * i. Only `const_segment` ever changes."""

    program: Program
    load_base: int
    code: np.ndarray  # INSTRUCTION_DTYPE (n,), relocated
    const_segment: bytes = b""  # what LDC reads
    const_base: int = 0  # address of the same bytes in global memory; 0 when there are none
    global_symbols: dict[str, int] = field(default_factory=dict)  # variable -> address in global memory, constants too

    @property
    def end(self) -> int:
        """The code address after the last instruction."""
        return self.load_base + INSTRUCTION_NBYTES * len(self.code)

    def refresh_constants(self, memory: AddressSpace) -> None:
        """Takes over what the host has written to the constants since."""
        if self.const_segment:
            self.const_segment = memory.read(self.const_base, len(self.const_segment))

    def address_of(self, function: Function) -> int:
        return self.load_base + INSTRUCTION_NBYTES * function.first


def next_load_base(loaded: Sequence[LoadedModule]) -> int:
    """Where the next module goes: page aligned, with an empty page after the one before it."""
    end = max((module.end for module in loaded), default=FIRST_LOAD_BASE - PAGE_NBYTES)
    return -(-end // PAGE_NBYTES) * PAGE_NBYTES + PAGE_NBYTES


def load(program: Program, memory: AddressSpace, load_base: int = FIRST_LOAD_BASE) -> LoadedModule:
    """Puts a program's variables into memory and relocates a copy of its code.

    Raises CompileError for a symbol that nothing defines, FileFormatError for a relocation that cannot be applied,
    DeviceMemoryError when the variables do not fit.
    """
    assert load_base % PAGE_NBYTES == 0
    if load_base + INSTRUCTION_NBYTES * len(program.code) > PC_LIMIT:
        raise FileFormatError(
            f"{program.name}: code of {len(program.code)} instructions at 0x{load_base:x} ends above 4 GiB; load fewer modules"
        )
    const_segment = _const_segment(program)
    const_base = memory.allocate(len(const_segment), f"constants of {program.name}").address if const_segment else 0
    if const_segment:
        memory.write(const_base, const_segment)
    global_symbols = _place_globals(program, memory)
    values = {function.name: load_base + INSTRUCTION_NBYTES * function.first for function in program.functions} | global_symbols
    for variable in program.variables:
        if variable.space == "const":
            values[variable.name] = variable.offset
            global_symbols[variable.name] = const_base + variable.offset
    code = program.code.copy()
    for relocation in program.relocations:
        _relocate(code, relocation, values, program.name)
    return LoadedModule(program, load_base, code, const_segment, const_base, global_symbols)


def _const_segment(program: Program) -> bytes:
    variables = [variable for variable in program.variables if variable.space == "const"]
    segment = bytearray(max((variable.offset + variable.nbytes for variable in variables), default=0))
    for variable in variables:
        segment[variable.offset : variable.offset + len(variable.image)] = variable.image
    return bytes(segment)


def _place_globals(program: Program, memory: AddressSpace) -> dict[str, int]:
    addresses = {}
    for variable in program.variables:
        if variable.align > ALIGNMENT:
            raise FileFormatError(
                f"{program.name}: {variable.name} is aligned to {variable.align} bytes; at most {ALIGNMENT} are supported"
            )
        if variable.space == "global":
            address = memory.allocate(variable.nbytes, variable.name).address
            memory.write(address, variable.image)
            addresses[variable.name] = address
    return addresses


def _relocate(code: np.ndarray, relocation: Relocation, values: dict[str, int], module: str) -> None:
    if relocation.symbol not in values:
        raise CompileError(f"{module}: symbol {relocation.symbol} is used but not defined; define it in the same module")
    value = values[relocation.symbol] + relocation.addend
    row = code[relocation.index : relocation.index + 1]
    if relocation.kind == "abs64":
        value &= (1 << 64) - 1
        row["imm"], row["mods"] = value & 0xFFFFFFFF, value >> 32
    elif relocation.kind == "abs32":
        if not 0 <= value < 1 << 32:
            raise FileFormatError(
                f"{module}: the address 0x{value:x} of {relocation.symbol} does not fit into 32 bits (instruction {relocation.index})"
            )
        row["imm"] = value
    else:
        raise FileFormatError(f"{module}: relocation kind {relocation.kind} of {relocation.symbol} is unknown; abs32 and abs64 are known")
