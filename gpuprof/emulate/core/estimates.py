"""How long a basic block takes, roughly: so that blocks that wait for each other, or take their work in turn, do so in
about the order that they have on a chip. The timing model says how long it really takes; no time of a report comes from
here.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gpuprof.chips import Chip
from gpuprof.isa.encoding import Instruction, Operand, reads, writes
from gpuprof.isa.families.tensor import form_of
from gpuprof.isa.kinds import ATOMICS, kinds_of
from gpuprof.isa.row import NO_LATENCY, Opcode
from gpuprof.isa.sleeps import clock_khz_of, is_sleep_traced, sleep_cycles

PRODUCTS = kinds_of("matrix", "matrix_async")
FETCHES = kinds_of("load", "copy", "fetch", "surface_load")
HOLDS = kinds_of("fence", "sleep")  # the warp itself waits
BEYOND_THE_SM = ("global", "generic", "texture", "surface")


class Estimate(NamedTuple):
    """The cost of a run of a basic block by one warp.

    pipe_cycles: of the units of its partition. path_cycles: to its last result, if nothing else ran. fetch_nbytes: what
    a lane takes of global memory.
    """

    pipe_cycles: float
    path_cycles: float
    fetch_nbytes: int


def estimate(instructions: tuple[Instruction, ...], polls: bool, chip: Chip) -> Estimate:
    """polls: loads of the block wait for what others write, so that they find it in the L2."""
    now, ready = 0.0, dict[tuple[str, int], float]()
    for inst in instructions:
        start = max([now, *(ready.get(register, 0.0) for register in _registers(reads(inst)))])
        cycles = _latency(inst, polls, chip)
        ready.update(dict.fromkeys(_registers(writes(inst)), start + cycles))
        now = start + (cycles if inst.op.kind in HOLDS else 1)
    pipe = sum(_pipe_cycles(inst, chip) for inst in instructions)
    nbytes = 0 if polls else sum(inst.op.nbytes for inst in instructions if _is_fetch(inst.op))
    return Estimate(pipe, max([now, *ready.values()]), nbytes)


def _registers(operands: Iterable[Operand]) -> Iterator[tuple[str, int]]:
    return ((operand.file, operand.index + k) for operand in operands for k in range(operand.count))


def _is_fetch(op: Opcode) -> bool:
    return op.kind in FETCHES and op.space in BEYOND_THE_SM


def _latency(inst: Instruction, polls: bool, chip: Chip) -> float:
    op = inst.op
    if _is_fetch(op):
        return chip.l2_near_cycles if polls else chip.dram_cycles
    if op.kind in ATOMICS and op.space in BEYOND_THE_SM:
        return chip.l2_near_cycles
    if op.kind == "fence":
        return chip.membar_l2_cycles
    if op.kind == "sleep":
        return chip.sleep_cycles if is_sleep_traced(inst) else sleep_cycles(inst.imm, clock_khz_of(chip.clock_mhz))
    return 1 if op.latency in NO_LATENCY else chip.latency[op.latency]


def _pipe_cycles(inst: Instruction, chip: Chip) -> float:
    if inst.op.kind in PRODUCTS:
        form = form_of(inst.op)
        return form.products / chip.tensor[form.unit]
    return inst.op.slots * chip.warp_lanes / chip.lanes.get(inst.op.pipe, chip.warp_lanes)
