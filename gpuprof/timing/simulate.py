"""Launches through the machine: one, or a batch that runs together."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpuprof.base.stages import Stage, stage
from gpuprof.chips.model import LINE_NBYTES
from gpuprof.emulate.trace_log.trace import Order, TracePiece
from gpuprof.errors import KernelFault
from gpuprof.isa.stalls import INDEX
from gpuprof.tables.launch import ATOMIC_LINES, LOSSES
from gpuprof.tables.samples import WIDE
from gpuprof.timing.batch import Grid, PreparedGrid, Transfers, batch_records, prepare
from gpuprof.timing.buffer import Outlet, Sink
from gpuprof.timing.crew import FIRST_QUANTA, Crew
from gpuprof.timing.draw_tables import tables_of, timings_of
from gpuprof.timing.extrapolate import FewWaves, Settling, watching
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.sampling.filter import ALL
from gpuprof.timing.stall_causes import causes_of_grids, forget, grow, new_blame
from gpuprof.timing.state.activity_bins import SM_HAS_WARPS, activity_of, bins_of
from gpuprof.timing.state.extrapolation import Extrapolation
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.timing.state.layout import HANDOUT, MOST_ATOMIC_LINES, NEVER, PORT_TENSOR, QUANTUM, SECTOR_NBYTES, TICKS
from gpuprof.timing.state.machine import (
    Machine,
    Rooms,
    State,
    block_slots,
    machine_record,
    most_causes,
    new_cell,
    new_core,
    new_memory,
    rooms_of,
)
from gpuprof.timing.state.machine_tables import Blame, Cell, Core, Memory, Program
from gpuprof.timing.state.stall_tables import stalls_of
from gpuprof.timing.state.static_program import StaticProgram
from gpuprof.timing.trace_feed import LiveTrace
from gpuprof.timing.write_queues import write_until

if TYPE_CHECKING:
    from gpuprof.device.commands import Launch

SELECTED = INDEX["selected"]
QUANTA_PER_CALL = 200  # the interpreter gets its turn (an interrupt) between calls


def simulate(
    machine: Machine,
    launch: "Launch",
    pieces: Iterator[TracePiece],
    sampling: Sampling,
    sink: Sink,
    max_cycles: int,
    order: Callable[[Order], None] | None = None,
    sample_blocks: bool = False,
    record_nbytes: int = WIDE.dtype.itemsize,
) -> LaunchTiming:
    """Times a launch whose blocks' traces come in `pieces`, to `order` if that is given (see `Grid`), and advances the
    machine's clock past it.

    `sink` is called with arrays of tables.samples.WIDE, ordered by cycle, then SM, then warp slot, and if
    counters are requested with others of SAMPLED_COUNTERS.dtype, ordered by cycle, then SM; in FIFOs and buffer a
    record takes `record_nbytes`. Sampling never changes the timing, unless its stream is "lsu". When `pieces` raises,
    or an interrupt comes, the sink gets the records so far. Raises UsageError when a block does not fit an SM and
    KernelFault when the launch takes more than `max_cycles`.
    """
    return simulate_batch(
        machine, [Grid(launch, pieces, order=order)], sampling, sink, max_cycles, sample_blocks, record_nbytes
    )[0]


def simulate_batch(
    machine: Machine,
    grids: list[Grid],
    sampling: Sampling,
    sink: Sink,
    max_cycles: int,
    sample_blocks: bool = False,
    record_nbytes: int = WIDE.dtype.itemsize,
    transfers: Transfers | None = None,
) -> list[LaunchTiming]:
    """Times grids that may run at the same time, and the operations of `transfers` with them. Everything else is like
    in `simulate`; `max_cycles` is for each.

    With `sample_blocks` a single grid that is no shader may end before all of its blocks have run: its timing then says
    so in `extrapolation`.

    Grids that are shaders run as the fixed-function units feed them, one draw after the other in the grids' order. The
    timing of a draw is in that of its first shader.
    """
    write_until(machine, machine.cycle)
    prepared, program = prepare(grids, machine)
    transfers = transfers or Transfers()
    if len(grids) > 1:  # their joined program is new each time
        rooms = rooms_of(machine.chip, program)
    else:
        rooms = machine.prepared.once(rooms_of, (program,), (), machine.chip, program)
    state = _new_state(machine, prepared, program, sampling, max_cycles, record_nbytes, transfers, rooms)
    names = ", ".join(dict.fromkeys(grid.launch.function.display for grid in grids))
    # the fixed-function units wait for every block of a shader
    is_sampled = sample_blocks and len(grids) == 1 and not grids[0].shades
    settling = watching(prepared[0], machine.chip) if is_sampled else None
    outlet = Outlet(state, machine.chip, sampling, sink, record_nbytes)
    with stage("", "blocks", look=lambda shown: _look(state, shown)):
        crew = Crew(machine, state, sampling, rooms)
        extrapolation = _run(crew, LiveTrace(prepared), outlet, f"kernel {names}", max_cycles, settling)
    crew.merge()
    last = state.core.grid[state.core.grid[: len(prepared)]["end_cycle"].argmax()]
    last["dram_write_sectors"] += write_until(machine, int(last["end_cycle"]))
    timings = _finish(machine, state, prepared, outlet.lost, crew.causes())
    _settle(transfers, state)
    return [replace(timings[0], extrapolation=extrapolation)] if extrapolation else timings


def _first_ready(records: np.ndarray, operations: np.ndarray) -> int:
    """The cycle in which a grid is ready that waits for nothing, or where all wait, an operation."""
    ready = records["ready"][records["waits"] == 0]
    return (ready if len(ready) else operations["ready"][operations["waits"] == 0]).min()


def _new_state(
    machine: Machine,
    grids: list[PreparedGrid],
    program: StaticProgram,
    sampling: Sampling,
    max_cycles: int,
    record_nbytes: int,
    transfers: Transfers,
    rooms: Rooms,
) -> State:
    fits = [grid.fit for grid in grids]
    machine.tables.begin()
    record = machine_record(machine, program, fits, sampling, record_nbytes)
    records, operations, edges = batch_records(grids, transfers.operations, machine)
    record["origin"] = origin = _first_ready(records, operations)
    record["now"] = origin - QUANTUM  # a quantum has just ended
    record["head"] = -1
    record["fold_cycle"] = origin
    record["longest_cycles"] = max_cycles
    record["l2_uses"] = machine.l2_uses
    record["command_tick"], record["next_release"] = origin * TICKS, NEVER
    filters = [sampling.filter if grid.grid.filter is None else grid.grid.filter for grid in grids]
    record["filtered"] = any(filter != ALL for filter in filters)
    # Tags have the grid's number in its batch, so lines of an earlier batch would seem to hit.
    machine.fetch.constant_tag[:] = machine.fetch.constant_l15_tag[:] = -1
    work = [grid.grid.draw for grid in grids if grid.grid.draw]
    has_draws = len(work) > 0
    record["n_draws"], record["block_slots"] = len(work), block_slots(machine.chip, has_draws)
    record["n_operations"], record["second_way_permille"] = len(operations), transfers.second_way_permille
    engines = np.array(transfers.engines, np.int64)

    def tables() -> tuple[Core, Memory, Cell, Blame]:
        return (
            new_core(machine, program, records, edges, operations, engines, has_draws, rooms, len(record)),
            new_memory(machine, fits, rooms, len(record)),
            new_cell(machine, sampling, filters, has_draws),
            new_blame(machine, program),
        )

    if len(grids) > 1 or has_draws:
        core, memory, cell, blame = tables()
    else:
        core, memory, cell, blame = machine.tables.again((program, *fits, sampling), (*filters, len(record)), tables)
        # a thread that has not heard of the end of the last batch looks at that one's `handout`
        handout = np.zeros(1, HANDOUT)
        core = core._replace(grid=records, edge=edges, operation=operations, engine=engines, handout=handout)
    # The table of causes grows only between quanta, so the rows that a quantum may add stay free. Row 0 means none: it
    # ends the chains of cause_ledger.find_row.
    record["blame_room"], record["blame_mask"], record["n_blame"] = (
        len(blame.blame) - most_causes(machine.chip),
        len(blame.blame_bucket) - 1,
        1,
    )
    # So the first sample is at event number `phase_cycles`, and the next ones every so many events after it.
    core.sm["events"] = -sampling.phase_cycles
    return State(
        record,
        Program(program.inst, program.dep, program.block),
        core,
        machine.fetch,
        memory,
        cell,
        blame,
        tables_of(work, machine.chip) if work else machine.prepared.once(tables_of, (), (), [], machine.chip),
    ).link(machine.tables)


def _run(
    crew: Crew,
    live: LiveTrace,
    outlet: Outlet,
    what: str,
    max_cycles: int,
    settling: Settling | FewWaves | None = None,
) -> Extrapolation | None:
    """Runs to the launch's end, or to the end of as many blocks as an extrapolation needs. The sink gets the records so
    far even if an error ends the run.
    """
    from gpuprof.timing import engine  # compiles, so not before it is needed

    state = crew.state
    n_quanta = 1 if settling else FIRST_QUANTA
    status, extrapolation = engine.NEED_BLOCKS, None
    try:
        while status != engine.DONE:
            if status == engine.NEED_BLOCKS:
                live.feed_blocks(state)
            elif status == engine.NEED_TRACE:
                live.feed_warps(state)
            elif status == engine.SAMPLES_FULL:
                outlet.flush()
            elif status == engine.CAUSES_FULL:
                grow(crew.machine, state)
            elif status == engine.TOO_LONG:
                raise KernelFault(
                    f"{what}: still running after {max_cycles} cycles; raise --max-cycles if it is meant to take that "
                    "long",
                    "timeout",
                )
            assert status != engine.STUCK, (
                f"{what}: no warp can continue, {int(state.core.grid['done_blocks'].sum())} blocks are done"
            )
            if settling and not extrapolation and (extrapolation := settling.look(state)):
                state.core.grid[0]["total_blocks"] = state.core.grid[0]["released"] = extrapolation.simulated
            status = engine.run(state.machine, n_quanta, 0)
            crew.look()
            # The rate has to be looked at before blocks start that could be left out.
            n_quanta = 1 if settling else QUANTA_PER_CALL
    finally:
        crew.end()
        outlet.flush(to_the_end=True)
    return extrapolation or (settling.end(state) if settling else None)


def _look(state: State, shown: Stage) -> None:
    """How far the run is. Another thread asks, while compiled code may write the same tables: each number is one that
    was there.
    """
    grid, record = state.core.grid, state.machine[0]
    shown.done, shown.of = int(grid["done_blocks"].sum()), int(grid["total_blocks"].sum())
    shown.cycles = max(0, int(record["now"]) - int(record["origin"]))


def _finish(
    machine: Machine, state: State, grids: list[PreparedGrid], lost: np.ndarray, more_causes: list[np.ndarray]
) -> list[LaunchTiming]:
    machine.cycle, machine.l2_uses = int(state.core.grid["end_cycle"].max()), int(state.machine[0]["l2_uses"])
    causes = causes_of_grids(state, more_causes)
    timings = [
        _timing(state, number, grid, _losses(state, number, lost), causes[number]) for number, grid in enumerate(grids)
    ]
    forget(state)
    if any(grid.grid.draw for grid in grids):
        drawn = timings_of(state.draws, [grid.grid.draw for grid in grids if grid.grid.draw])
        machine.cycle = max([machine.cycle, *(draw.end_cycle for draw in drawn)])
        in_order = iter(drawn)
        timings = [
            replace(timing, draw=next(in_order)) if grid.grid.draw else timing
            for timing, grid in zip(timings, grids, strict=True)
        ]
    machine.tables.ended(state.core.presence["started"].any(axis=0).nonzero()[0])
    return timings


def _settle(transfers: Transfers, state: State) -> None:
    """Gives each operation its time, and the engines theirs."""
    if not transfers.operations:
        return
    ends = state.core.operation[["start_cycle", "end_cycle"]].tolist()
    for operation, (start, end) in zip(transfers.operations, ends, strict=True):
        operation.start_cycle, operation.end_cycle = start, end
    transfers.engines[:] = state.core.engine.tolist()


def _losses(state: State, number: int, lost: np.ndarray) -> np.ndarray:
    """LaunchTiming.losses of a grid. `lost`: int64 (grids, SMs), records that found the event buffer full."""
    due = state.core.loss[number]["due"]
    rows = np.zeros(len(due), LOSSES.dtype)
    rows["sm"], rows["due"] = np.arange(len(due)), due
    rows["dropped_fifo"], rows["dropped_buffer"] = state.core.loss[number]["dropped_fifo"], lost[number]
    return rows[due > 0]


def _timing(state: State, number: int, grid: PreparedGrid, losses: np.ndarray, causes: np.ndarray) -> LaunchTiming:
    counts = dict(zip(state.core.grid.dtype.names, state.core.grid[number].tolist(), strict=True))
    start, end = counts["start_cycle"], counts["end_cycle"]
    own = slice(grid.first_inst, grid.first_inst + len(grid.program.inst))
    ledger = state.core.ledger[own].astype(np.uint64)
    presence = state.core.presence[number]
    resident = int(presence["resident_warp_cycles"].sum())
    # Each cycle of each resident warp is charged exactly once. If not, the model is wrong and no number can be trusted.
    assert int(ledger.sum()) == resident, f"the ledger holds {int(ledger.sum())} warp-cycles of {resident}"
    stalled = resident - int(ledger[:, SELECTED].sum())
    assert int(causes["cycles"].sum()) == stalled, (
        f"causes of {int(causes['cycles'].sum())} warp-cycles of {stalled} stalled ones"
    )
    due, dropped = int(losses["due"].sum()), int(losses["dropped_fifo"].sum() + losses["dropped_buffer"].sum())
    bins = slice(number * bins_of(len(state.core.grid)), (number + 1) * bins_of(len(state.core.grid)))
    activity = activity_of(state.core.activity[bins], counts["bin_shift"], end - start)
    assert (activity.cycles[:, :SM_HAS_WARPS].sum(axis=0) == ledger.sum(axis=0)).all(), "bins that lack cycles"
    active_cycles = presence["active_cycles"].astype(np.uint64)
    return LaunchTiming(
        start_cycle=start,
        end_cycle=end,
        # No front end brings a shader as a grid: the fixed-function units do, within its cycles.
        cycles=end - start + (0 if grid.grid.shades else state.machine[0]["grid_overhead_cycles"].item()),
        issue_slots=int(presence["issue_slots"].sum()),
        resident_warp_cycles=resident,
        warps_launched=counts["next_block"] * grid.fit.warps_per_block,
        blocks_launched=counts["done_blocks"],
        blocks_per_sm=grid.fit.blocks_per_sm,
        occupancy_limiter=grid.fit.limiter,
        samples_due=due,
        samples_kept=due - dropped,
        samples_dropped=dropped,
        buffer_full=dropped > 0,
        l1_sectors=int(presence["l1_sectors"].sum()),
        l1_hits=int(presence["l1_hits"].sum()),
        l2_sectors=counts["l2_sectors"],
        l2_hits=counts["l2_hits"],
        dram_read_nbytes=counts["dram_read_sectors"] * SECTOR_NBYTES,
        dram_write_nbytes=counts["dram_write_sectors"] * SECTOR_NBYTES,
        l2_atomic_cycles=int(state.core.atomic_time[number].max()) // TICKS,
        shared_wavefronts=int(presence["shared_wavefronts"].sum()),
        tensor_busy_cycles=_tensor_busy_cycles(ledger, grid.program.inst),
        sm_active_cycles=int(active_cycles.sum()),
        active_cycles_of_sm=active_cycles,
        ledger=ledger,
        activity=activity,
        stalls=stalls_of(state.core.stall_row[own], state.core.stalls),
        losses=losses,
        causes=causes,
        atomic_lines=_atomic_lines(state.core.hot_line[number]),
    )


def _atomic_lines(hot: np.ndarray) -> np.ndarray:
    """LaunchTiming.atomic_lines of a grid, from layout.HOT_LINE rows."""
    rows = np.zeros(len(hot), ATOMIC_LINES.dtype)
    rows["address"] = (hot["line"] - 1) * LINE_NBYTES
    rows["requests"], rows["cycles"] = hot["requests"], (hot["ticks"] - hot["inherited"]) // TICKS
    rows = rows[(hot["line"] > 0) & (rows["cycles"] > 0)]
    return rows[np.lexsort((rows["address"], -rows["cycles"].astype(np.int64)))][:MOST_ATOMIC_LINES]


def _tensor_busy_cycles(ledger: np.ndarray, inst: np.ndarray) -> int:
    """Cycles in which instructions keep the tensor pipes: the issues of each row times its own time in the pipe."""
    ticks = np.where(inst["port"] == PORT_TENSOR, inst["port_ticks"], 0)
    return int(ledger[:, SELECTED].astype(np.int64) @ ticks) // TICKS
