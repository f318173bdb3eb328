"""One function, assembled but not linked: what is known of it without the other functions of its module, and which of
their registers it counts on.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.assemble.abi.calling_convention import align_up
from gpuprof.assemble.ir.body import Body, Clobbers, Inst
from gpuprof.assemble.object.encode import encode_body
from gpuprof.assemble.ptx import ast
from gpuprof.assemble.registers.allocate import Allocation
from gpuprof.isa.kinds import CALLS, kinds_of

_LEAVING = CALLS | kinds_of("syscall")
_NO_PLACE = -1


class Registers(NamedTuple):
    """Registers of each file, and the 32-bit words they take together."""

    r: int
    d: int
    p: int
    words: int


class Assembled(NamedTuple):
    """`code`: of isa.encoding.INSTRUCTION_DTYPE; `imm` of calls is open, and literals are numbered within the function.
    `lines`: PTX line of each instruction, from the function's first one on as 1, 0 where it has none. `positions`: of
    each instruction, the number of its position among `ast.Function.positions`, -1 where it has none.
    """

    code: np.ndarray
    lines: np.ndarray
    positions: np.ndarray
    calls: tuple[tuple[int, str], ...]  # index, function
    relocations: tuple[tuple[int, str, int], ...]  # index, symbol, addend
    literals: tuple[int, ...]
    registers: Registers
    frame_nbytes: int
    spill_nbytes: int
    raised_registers: int
    barriers: int
    grows_stack: bool
    leaves: bool  # it calls something
    callees: tuple[str, ...]
    indirect_calls: bool
    # The registers that calls of each callee were assumed to overwrite; "": of calls of an address.
    counted_on: dict[str, Clobbers]

    @property
    def symbols(self) -> set[str]:
        """Functions and variables whose addresses it takes."""
        return {symbol for _, symbol, _ in self.relocations}


def assembled(body: Body, function: ast.Function, allocation: Allocation, counted_on: dict[str, Clobbers]) -> Assembled:
    """A body that has its registers, as a plain value."""
    body.frame_nbytes = align_up(body.frame_nbytes, 16)
    insts = list(body.instructions())
    used = allocation.used
    return Assembled(
        code=encode_body(body, allocation),
        lines=_lines(insts, function.line),
        positions=_positions(insts, function.positions),
        calls=tuple((index, inst.target) for index, inst in enumerate(insts) if inst.op.kind == "call"),
        relocations=tuple((index, inst.symbol, inst.imm) for index, inst in enumerate(insts) if inst.symbol),
        literals=tuple(body.literals),
        registers=Registers(used["R"], used["D"], used["P"], allocation.words),
        frame_nbytes=body.frame_nbytes,
        spill_nbytes=body.spill_nbytes,
        raised_registers=body.raised_registers,
        barriers=body.barriers,
        grows_stack=body.grows_stack,
        leaves=any(inst.op.kind in _LEAVING for inst in insts),
        callees=tuple(sorted(body.callees)),
        indirect_calls=body.indirect_calls,
        counted_on=counted_on,
    )


def _lines(insts: Sequence[Inst], first: int) -> np.ndarray:
    lines = np.array([inst.line for inst in insts], np.int64)
    return np.where(lines > 0, lines - first + 1, 0).astype(np.int32)


def _positions(insts: Sequence[Inst], known: Sequence) -> np.ndarray:
    # By identity: different directives may say the same position.
    number = {id(position): index for index, position in enumerate(known) if position is not None}
    return np.array([number.get(id(inst.location), _NO_PLACE) for inst in insts], np.int32)
