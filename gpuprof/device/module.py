"""Loading a program: its variables get memory, its code gets an address, and the two are tied together by relocations.

variable in `global`   an allocation of its own; its symbol is its address
variable in `const`    part of the constant segment; its symbol is its offset there, which LDC adds to the segment.
                       The segment is in memory too, at `const_base`, so generic addresses of constants work.
function               its symbol is the code address of its first instruction
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gpuprof.device.load_map import FIRST_LOAD_BASE, PAGE_NBYTES, PC_LIMIT
from gpuprof.device.memory import ALIGNMENT, AddressSpace
from gpuprof.errors import CompileError, FileFormatError, GpuprofError
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.isa.program import Function, Program, Relocation

ADDRESS_NBYTES = 8


class Placed(NamedTuple):
    """A variable that has memory before its module is loaded: bytes of an allocation."""

    symbol: str
    address: int


@dataclass(eq=False, repr=False)
class LoadedModule:
    """A program in its place. Instruction i has the code address load_base + 16 * i. Only `const_segment` ever
    changes.
    """

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


def load(
    program: Program, memory: AddressSpace, load_base: int = FIRST_LOAD_BASE, placed: Sequence[Placed] = ()
) -> LoadedModule:
    """Puts a program's variables into memory and relocates a copy of its code.

    Raises CompileError for a symbol that nothing defines, FileFormatError for a relocation that cannot be applied,
    DeviceMemoryError when the variables do not fit, or `placed` says a place that is none; memory is then as it was.
    """
    assert load_base % PAGE_NBYTES == 0
    before = memory.allocations
    try:
        module = _load(program, memory, load_base, dict(placed))
    except GpuprofError:
        for allocation in sorted(set(memory.allocations) - set(before)):
            memory.free(allocation.address)
        raise
    sizes = {variable.name: variable.nbytes for variable in program.variables}
    for symbol, address in placed:
        if sizes.get(symbol):  # the module has it
            memory.name_part(address, sizes[symbol], symbol)
    return module


def _load(program: Program, memory: AddressSpace, load_base: int, placed: Mapping[str, int]) -> LoadedModule:
    if load_base + INSTRUCTION_NBYTES * len(program.code) > PC_LIMIT:
        raise FileFormatError(
            f"{program.name}: code of {len(program.code)} instructions at 0x{load_base:x} ends above 4 GiB; load fewer "
            "modules"
        )
    const_segment = _const_segment(program)
    const_base = memory.allocate(len(const_segment), f"constants of {program.name}").address if const_segment else 0
    global_symbols = _place_globals(program, memory, placed)
    values = {
        function.name: load_base + INSTRUCTION_NBYTES * function.first for function in program.functions
    } | global_symbols
    for variable in program.variables:
        if variable.space == "const":
            values[variable.name] = variable.offset
            global_symbols[variable.name] = const_base + variable.offset
    const_segment = _with_addresses(program, memory, const_segment, values, global_symbols)
    if const_segment:
        memory.write(const_base, const_segment)
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


def _place_globals(program: Program, memory: AddressSpace, placed: Mapping[str, int]) -> dict[str, int]:
    addresses = {}
    for variable in program.variables:
        if variable.align > ALIGNMENT:
            raise FileFormatError(
                f"{program.name}: {variable.name} is aligned to {variable.align} bytes; at most {ALIGNMENT} are "
                "supported"
            )
        if variable.space == "global":
            address = placed.get(variable.name)
            if address is None:
                address = memory.allocate(variable.nbytes, variable.name).address
            memory.write(address, variable.image)
            addresses[variable.name] = address
    return addresses


def _with_addresses(
    program: Program, memory: AddressSpace, const_segment: bytes, values: dict[str, int], generic: dict[str, int]
) -> bytes:
    """Fills in the addresses that variables start with: in memory for globals, in the segment it gives back for
    constants.
    """
    segment = bytearray(const_segment)
    for variable in program.variables:
        for initial in variable.addresses:
            known = values | generic if initial.is_generic else values
            _check_defined(initial.symbol, known, program.name)
            end = initial.offset + ADDRESS_NBYTES
            if end > variable.nbytes:
                raise FileFormatError(
                    f"{program.name}: the address of {initial.symbol} does not fit into {variable.name}; compile it "
                    "again"
                )
            addend = int.from_bytes(variable.image[initial.offset : end], "little")
            data = (known[initial.symbol] + addend & (1 << 64) - 1).to_bytes(ADDRESS_NBYTES, "little")
            if variable.space == "global":
                memory.write(generic[variable.name] + initial.offset, data)
            else:
                segment[variable.offset + initial.offset : variable.offset + end] = data
    return bytes(segment)


def _check_defined(symbol: str, values: dict[str, int], module: str) -> None:
    if symbol not in values:
        raise CompileError(f"{module}: symbol {symbol} is used but not defined; define it in the same module")


def _relocate(code: np.ndarray, relocation: Relocation, values: dict[str, int], module: str) -> None:
    _check_defined(relocation.symbol, values, module)
    value = values[relocation.symbol] + relocation.addend
    row = code[relocation.index : relocation.index + 1]
    if relocation.kind == "abs64":
        value &= (1 << 64) - 1
        row["imm"], row["mods"] = value & 0xFFFFFFFF, value >> 32
    elif relocation.kind == "abs32":
        if not 0 <= value < 1 << 32:
            raise FileFormatError(
                f"{module}: the address 0x{value:x} of {relocation.symbol} does not fit into 32 bits (instruction "
                f"{relocation.index})"
            )
        row["imm"] = value
    else:
        raise FileFormatError(
            f"{module}: relocation kind {relocation.kind} of {relocation.symbol} is unknown; abs32 and abs64 are known"
        )
