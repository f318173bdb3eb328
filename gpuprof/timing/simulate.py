"""One launch through the machine."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from gpuprof.emulate.trace import TracePiece
from gpuprof.errors import KernelFault
from gpuprof.records.schema import SM_SHIFT
from gpuprof.timing.live import NO_TRACE, LiveTrace
from gpuprof.timing.occupancy import Occupancy, occupancy
from gpuprof.timing.result import LaunchTiming
from gpuprof.timing.sampling import Sampling
from gpuprof.timing.state import SECTOR_NBYTES, Machine, Program, State, machine_record, new_cell, new_core, new_memory
from gpuprof.timing.static import StaticProgram, static_program

if TYPE_CHECKING:
    from gpuprof.device.commands import Launch

QUANTA_PER_CALL = 200  # the interpreter gets its turn (an interrupt) between calls

Sink = Callable[[np.ndarray], None]


def simulate(
    machine: Machine,
    launch: "Launch",
    pieces: Iterator[TracePiece],
    sampling: Sampling,
    sink: Sink,
    max_cycles: int,
) -> LaunchTiming:
    """Times a launch whose blocks' traces come in `pieces`, and advances the machine's clock past it.

    `sink` is called with arrays of records.schema.WIDE_DTYPE, ordered by cycle, then SM, then warp slot. Sampling never changes the
    timing. When `pieces` raises, or an interrupt comes, the sink gets the records so far. Raises UsageError when a block does not fit an SM and KernelFault when the launch takes more than `max_cycles`.
    """
    chip, function = machine.chip, launch.function
    fit = occupancy(chip, function, int(np.prod(launch.block)), launch.dynamic_shared_nbytes)
    program = static_program(launch.module.code, chip, launch.module.load_base)
    n_blocks = int(np.prod(launch.grid, dtype=np.int64))
    state = _new_state(machine, launch, program, fit, sampling, n_blocks, max_cycles)
    live = LiveTrace(pieces, program, fit.warps_per_block)
    _run(state, live, sink, f"kernel {function.display}", max_cycles)
    return _finish(machine, state, fit)


def _new_state(
    machine: Machine, launch: "Launch", program: StaticProgram, fit: Occupancy, sampling: Sampling, n_blocks: int, max_cycles: int
) -> State:
    record = machine_record(machine, program, fit, sampling, launch.index, launch.module.load_base)
    record["total_blocks"] = n_blocks
    record["cluster"] = min(launch.blocks_of_cluster, machine.chip.sms * fit.blocks_per_sm)
    record["max_cycle"] = machine.cycle + max_cycles
    record["end_cycle"] = machine.cycle
    record["l2_uses"] = machine.l2_uses
    machine.fetch.constant_tag[:] = -1
    return State(
        record,
        Program(program.inst, program.dep, program.block),
        NO_TRACE,
        new_core(machine.chip, program, machine.cycle, fit.blocks_per_sm),
        machine.fetch,
        new_memory(machine, fit),
        new_cell(machine.chip, sampling),
    ).link()


def _run(state: State, live: LiveTrace, sink: Sink, what: str, max_cycles: int) -> None:
    """Runs to the launch's end. Whatever ends it sooner, the records so far go to the sink."""
    from gpuprof.timing import engine  # compiles, so not before it is needed

    status = engine.NEED_BLOCKS
    try:
        while status != engine.DONE:
            if status == engine.NEED_BLOCKS:
                state = live.feed(state)
            elif status == engine.SAMPLES_FULL:
                _flush(state, sink)
            elif status == engine.TOO_LONG:
                raise KernelFault(f"{what}: still running after {max_cycles} cycles; raise --max-cycles if it is meant to take that long")
            assert status != engine.STUCK, f"{what}: no warp can go on, {int(state.machine[0]['done_blocks'])} blocks are done"
            status = engine.run(state.machine, QUANTA_PER_CALL)
    finally:
        _flush(state, sink)


def _flush(state: State, sink: Sink) -> None:
    """Hands the records so far to the sink, in order: the engine keeps them by quantum, SM and cycle."""
    n = int(state.machine[0]["n_samples"])
    state.machine[0]["n_samples"] = 0
    if n:
        records = state.cell.record[:n]
        sink(records[np.lexsort((records["warp_slot"], records["stall_sm"] >> SM_SHIFT, records["cycle"]))])


def _finish(machine: Machine, state: State, fit: Occupancy) -> LaunchTiming:
    counts, core = state.machine[0], state.core
    start, end = machine.cycle, int(counts["end_cycle"])
    machine.cycle, machine.l2_uses = end, int(counts["l2_uses"])
    resident = int(counts["resident_warp_cycles"])
    assert int(core.ledger.sum()) == resident, f"the ledger holds {int(core.ledger.sum())} warp-cycles of {resident}"
    due, dropped = int(counts["samples_due"]), int(counts["samples_dropped"])
    return LaunchTiming(
        start_cycle=start,
        end_cycle=end,
        cycles=end - start,
        issue_slots=int(counts["issue_slots"]),
        resident_warp_cycles=resident,
        warps_launched=int(counts["ages"]),
        blocks_launched=int(counts["done_blocks"]),
        blocks_per_sm=fit.blocks_per_sm,
        occupancy_limiter=fit.limiter,
        samples_due=due,
        samples_kept=due - dropped,
        samples_dropped=dropped,
        buffer_full=dropped > 0,
        l1_sectors=int(counts["l1_sectors"]),
        l1_hits=int(counts["l1_hits"]),
        l2_sectors=int(counts["l2_sectors"]),
        l2_hits=int(counts["l2_hits"]),
        dram_read_nbytes=int(counts["dram_read_sectors"]) * SECTOR_NBYTES,
        dram_write_nbytes=int(counts["dram_write_sectors"]) * SECTOR_NBYTES,
        shared_wavefronts=int(counts["shared_wavefronts"]),
        sm_active_cycles=int(core.sm["active_cycles"].sum()),
        active_cycles_of_sm=core.sm["active_cycles"].astype(np.uint64),
        ledger=core.ledger.astype(np.uint64),
    )
