"""How long a basic block takes, roughly: so that blocks that wait for each other, or take their work in turn, do so in
about the order that they have on a chip. The timing model says how long it really takes; no time of a report comes from
here.
"""

from typing import NamedTuple

from gpuprof.chips import Chip
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.families.tensor import form_of
from gpuprof.isa.kinds import ATOMICS, kinds_of
from gpuprof.isa.row import NO_LATENCY

PRODUCTS = kinds_of("matrix", "matrix_async")
FETCHES = kinds_of("load", "copy", "fetch", "surface_load")
BEYOND_THE_SM = ("global", "generic", "texture", "surface")


class Estimate(NamedTuple):
    """Of a run of a basic block by one warp.

    pipe_cycles: of the units of its partition. wait_cycles: for results, what is independent being waited for together.
    fetch_nbytes: what a lane takes of global memory.
    """

    pipe_cycles: float
    wait_cycles: float
    fetch_nbytes: int


def estimate(instructions: tuple[Instruction, ...], polls: bool, chip: Chip) -> Estimate:
    """polls: loads of the block wait for what others write, so that they find it in the L2."""
    pipe, waits, nbytes = 0.0, {"alu": 0.0}, 0
    for inst in instructions:
        op = inst.op
        pipe += _pipe_cycles(inst, chip)
        is_fetch = op.kind in FETCHES and op.space in BEYOND_THE_SM
        if is_fetch and not polls:
            waits["dram"] = chip.dram_cycles
            nbytes += op.nbytes
        elif is_fetch or (op.kind in ATOMICS and op.space in BEYOND_THE_SM):
            waits["l2"] = chip.l2_near_cycles
        elif op.kind == "fence":
            waits["fence"] = chip.membar_l2_cycles
        elif op.kind == "sleep":
            waits["sleep"] = waits.get("sleep", 0.0) + _sleep_cycles(inst, chip)
        elif op.latency in NO_LATENCY:
            continue
        elif op.kind == "compute":
            waits["alu"] += chip.latency[op.latency]
        else:
            waits[op.latency] = chip.latency[op.latency]
    return Estimate(pipe, sum(waits.values()), nbytes)


def _pipe_cycles(inst: Instruction, chip: Chip) -> float:
    if inst.op.kind in PRODUCTS:
        form = form_of(inst.op)
        return form.products / chip.tensor[form.unit]
    return inst.op.slots * chip.warp_lanes / chip.lanes.get(inst.op.pipe, chip.warp_lanes)


def _sleep_cycles(inst: Instruction, chip: Chip) -> float:
    """Of a requested time, in nanoseconds, when the instruction itself has it."""
    return inst.imm * chip.clock_mhz / 1000 if inst.imm_slot == "b" else chip.sleep_cycles
