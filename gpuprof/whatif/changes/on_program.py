"""Interventions on the instructions of a program, as the timing model has them."""

from dataclasses import replace

import numpy as np

from gpuprof.chips import Chip
from gpuprof.emulate.trace_log.trace import NO_SECTORS, TracePiece
from gpuprof.isa.stalls import INDEX
from gpuprof.timing.piece_accesses import positions
from gpuprof.timing.state.layout import CLASS_SHORT, CLASS_WAIT, PORT_FP64, PORT_INDEX, PORT_NONE, TICKS
from gpuprof.timing.state.static_program import (
    BARRIER,
    BULK,
    CONSTANT,
    FENCE,
    FOLDED,
    GENERIC,
    GLOBAL,
    LOAD,
    MBARRIER_WAIT,
    MEMBAR,
    PLAIN,
    SHARED,
    SHUFFLE,
    SLOW_PATH,
    StaticProgram,
)
from gpuprof.whatif.changes.whole_trace import own_accesses, with_sectors, without_accesses

AT_ONCE = 1 << 20  # cycles: more than any result takes
# Kinds of instructions that a trace can do without. A barrier or an exit is not one of them.
REMOVABLE = (PLAIN, SHUFFLE, GLOBAL, GENERIC, SHARED, CONSTANT)


def _edited(program: StaticProgram, chosen: np.ndarray, **fields: int) -> StaticProgram:
    inst = program.inst.copy()
    for name, value in fields.items():
        inst[name][chosen] = value
    return replace(program, inst=inst)


def with_l2_hits(program: StaticProgram, chosen: np.ndarray) -> StaticProgram:
    """Whatever the instructions read, the L2 has it."""
    return _edited(program, chosen & np.isin(program.inst["kind"], (GLOBAL, GENERIC, BULK)), hits_l2=1)


def with_sooner_results(program: StaticProgram, chosen: np.ndarray, cycles: int) -> StaticProgram:
    """Results come so many cycles sooner: the cycle after the issue at the soonest, and what comes from the L2 not
    before the quantum of its request has ended (layout.QUANTUM).
    """
    return _edited(program, chosen & (program.inst["n_writes"] > 0), sooner_cycles=cycles)


def removed(program: StaticProgram, piece: TracePiece, chosen: np.ndarray) -> tuple[StaticProgram, TracePiece]:
    """The instructions take no issue slot, no unit and no memory; their results are there with their operands."""
    gone = chosen & np.isin(program.inst["kind"], REMOVABLE)
    at = positions(piece, program)
    return (
        _edited(program, gone, kind=FOLDED, has_access=0, constant_line=-1, hits_l2=0),
        without_accesses(piece, gone[at.inst]),
    )


def without_waiting(program: StaticProgram, piece: TracePiece, chosen: np.ndarray) -> tuple[StaticProgram, TracePiece]:
    """No warp waits at barriers: it issues them and continues."""
    open_ = chosen & np.isin(program.inst["kind"], (BARRIER, MBARRIER_WAIT))
    at = positions(piece, program)
    plain = _edited(program, open_, kind=PLAIN, has_access=0, port=PORT_NONE, port_ticks=0, latency=1)
    return plain, without_accesses(piece, open_[at.inst])


def without_fences(program: StaticProgram, chosen: np.ndarray) -> StaticProgram:
    """Fences order nothing: a warp issues them and continues, and the L1 keeps what it has."""
    fences = chosen & np.isin(program.inst["kind"], (MEMBAR, FENCE))
    return _edited(program, fences, kind=PLAIN, port=PORT_NONE, port_ticks=0, latency=1, invalidates=0)


def in_one_slot(
    program: StaticProgram, piece: TracePiece, chosen: np.ndarray, chip: Chip
) -> tuple[StaticProgram, TracePiece]:
    """Instructions that take several issue slots, as divisions do, take one, and the time of a multiplication."""
    inst = program.inst
    slow_path = inst["kind"] == SLOW_PATH
    several = chosen & ((inst["slots"] > 1) & (inst["kind"] == PLAIN) | slow_path)
    at = positions(piece, program)
    quick = _edited(program, several, kind=PLAIN, slots=1, has_access=0, latency=chip.latency["imad"])
    return quick, without_accesses(piece, (several & slow_path)[at.inst])


def in_single_precision(program: StaticProgram, chosen: np.ndarray, chip: Chip) -> StaticProgram:
    """f64 arithmetic takes the pipe, and the time, of f32."""
    port_ticks = round(TICKS * chip.warp_lanes / chip.lanes["fma"])
    return _edited(
        program,
        chosen & (program.inst["port"] == PORT_FP64),
        port=PORT_INDEX["fma"],
        bypass_kind=PORT_INDEX["fma"],
        port_ticks=port_ticks,
        again=max(1, port_ticks // TICKS),
        latency=chip.latency["fma"],
        result_class=CLASS_WAIT,
        throttle=INDEX["math_pipe_throttle"],
    )


def in_shared_memory(
    program: StaticProgram, piece: TracePiece, chosen: np.ndarray, chip: Chip
) -> tuple[StaticProgram, TracePiece]:
    """Loads from global memory come from shared memory: by its queue, in its time, and past its banks as often as their
    bytes need.
    """
    inst = program.inst
    loads = chosen & (inst["kind"] == GLOBAL) & (inst["operation"] == LOAD) & (inst["polls"] == 0)
    at = positions(piece, program)
    accesses = own_accesses(piece)
    moved = loads[at.inst] & (accesses["lanes"] > 0)
    for name, value in (("n_sectors", 0), ("more_sectors", 0), ("n_lookups", 0), ("tag_passes", 0)):
        accesses[name][moved] = value
    accesses["wavefronts"][moved] = inst["least_passes"][at.inst][moved]
    shared = _edited(
        program,
        loads,
        kind=SHARED,
        latency=chip.latency["shared"],
        result_class=CLASS_SHORT,
        throttle=INDEX["mio_throttle"],
        hits_l2=0,
    )
    return shared, with_sectors(piece, accesses, moved, NO_SECTORS)
