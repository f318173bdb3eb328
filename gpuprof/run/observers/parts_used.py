"""The parts of the chip that a launch used and that are coarse, or held against no card."""

import numpy as np

from gpuprof.chips.fidelity.missing import SEPARATOR, Ran, Spent, used
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.isa.modifiers import unpack_name
from gpuprof.isa.opcodes import TABLE
from gpuprof.run.observers.observer import LaunchResult


def not_held(result: LaunchResult) -> str:
    """Their names, as a recording has them; "" where none matters."""
    program, timing = result.launch.module.program, result.timing
    cycles = warp_cycles(timing.ledger, timing.causes, result.launch.module.load_base)
    spent = tuple(
        Spent(op, unpack_name(int(program.code["mods"][at]), "scope") if "scope" in op.fields else "", int(cycles[at]))
        for at in np.flatnonzero(cycles)
        for op in (TABLE[program.code["opcode"][at]],)
    )
    return SEPARATOR.join(used(Ran(spent, timing.resident_warp_cycles)))


def warp_cycles(ledger: np.ndarray, causes: np.ndarray, load_base: int) -> np.ndarray:
    """By instruction: of warps that waited to issue it, or that waited elsewhere until it let them continue."""
    cycles = ledger.sum(axis=1)
    others = causes[causes["pc"] != causes["cause_pc"]]
    at = (others["cause_pc"].astype(np.int64) - load_base) // INSTRUCTION_NBYTES
    inside = (at >= 0) & (at < len(cycles))  # a cause may be in another module
    np.add.at(cycles, at[inside], others["cycles"][inside])
    return cycles
