"""Grids that are timed together: their programs as one, and a record of each.

The instructions of all grids follow each other in one table, so an instruction's number says whose it is, and the
ledger has rows of its own for each grid. Scoreboard columns are those of the program that has the most registers;
groups of asynchronous copies and of multiplications follow them, at the same columns for all grids.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gpuprof.chips import Chip
from gpuprof.chips.residency import registers_of_warp
from gpuprof.emulate.trace_log.trace import Order, TracePiece
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.tables.engines import ENGINES
from gpuprof.timing.draw_tables import DrawWork, rows_of
from gpuprof.timing.sampling.filter import Filter
from gpuprof.timing.state import layout
from gpuprof.timing.state.activity_bins import bins_of, first_shift
from gpuprof.timing.state.layout import N_GROUPS
from gpuprof.timing.state.machine import Machine, carve_out
from gpuprof.timing.state.occupancy import Occupancy, occupancy
from gpuprof.timing.state.static_program import StaticProgram

if TYPE_CHECKING:
    from gpuprof.device.commands import Launch


class Shades(NamedTuple):
    """The items that a shader of a draw shades, a block for each: items of a series, from number `first` of the draw
    on. `grid`: the number in the batch of the grid that has the draw's work.
    """

    grid: int
    series: str
    first: int


@dataclass(frozen=True)
class Grid:
    """A launch to be timed, and its trace: pieces that follow each other from block 0 on, and for some blocks further
    pieces later.

    `order` is called with the next order, when the pieces are made to order: one comes for each order, in the orders'
    order.

    It is ready when what `after` names has ended (numbers of grids in the batch, and -1 - n for operation n) and those
    grids in `after_signal` let it start (programmatic dependent launch), and `launch_cycles` after these ends, the
    begin of the batch and cycle `arrival`, in which the front end gets it. Of several that are ready the one of the
    smallest `priority` starts its blocks first.

    `launched_by` names the grid, its warp and a number that ascends with the warp's launches, when a kernel launches
    it: it is then ready not sooner than `launch_cycles` after that instruction.

    `shades`: it is a shader of a draw. `draw`, on the first shader of each draw: all that the draw does.

    `filter`: selects its samples, None for the filter of the batch's sampling, of which only the parts that the trace
    cell decides are used here.
    """

    launch: "Launch"
    pieces: Iterator[TracePiece]
    after: tuple[int, ...] = ()
    after_signal: tuple[int, ...] = ()
    priority: int = 0
    launch_cycles: int = 0
    order: Callable[[Order], None] | None = None
    launched_by: tuple[int, int, int] | None = None
    filter: Filter | None = None
    shades: Shades | None = None
    draw: DrawWork | None = None
    arrival: int = 0


@dataclass(eq=False)
class Operation:
    """A copy, a fill or a function of the host that a stream waits for.

    `engine`: of tables.engines. It is ready in cycle `arrival` and when what `after` names has ended, as a grid's. It
    takes `latency_cycles`, and then `transfer_cycles` if nothing is copied the other way. `start_cycle` and
    `end_cycle` are -1 until it is timed.
    """

    engine: int
    arrival: int
    latency_cycles: int
    transfer_cycles: int
    after: tuple[int, ...] = ()
    start_cycle: int = -1
    end_cycle: int = -1


@dataclass
class Transfers:
    """The operations of a batch; `engines`: the cycle from which each of tables.engines is free, which the timing
    advances; second_way_permille: the part of its rate that a copy has while an earlier one goes the other way.
    """

    operations: Sequence[Operation] = ()
    engines: list[int] = field(default_factory=lambda: [0] * len(ENGINES))
    second_way_permille: int = 1000


@dataclass(frozen=True)
class PreparedGrid:
    """`first_inst` and `first_basic_block` are where the grid's program begins in the batch's."""

    grid: Grid
    program: StaticProgram
    fit: Occupancy
    first_inst: int
    first_basic_block: int

    @property
    def n_blocks(self) -> int:
        return math.prod(self.grid.launch.grid)


def prepare(grids: list[Grid], machine: Machine) -> tuple[list[PreparedGrid], StaticProgram]:
    """The grids and their joined program. Raises UsageError when a block does not fit an SM."""
    prepared: list[PreparedGrid] = []
    first_inst = first_basic_block = 0
    for grid in grids:
        launch = grid.launch
        function, numbers = (
            launch.function,
            (math.prod(launch.block), launch.dynamic_shared_nbytes, grid.shades is not None),
        )
        fit = machine.prepared.once(occupancy, (function,), numbers, machine.chip, function, *numbers)
        program = machine.programs.of(launch.module)
        prepared.append(PreparedGrid(grid, program, fit, first_inst, first_basic_block))
        first_inst += len(program.inst)
        first_basic_block += len(program.block)
    programs = [grid.program for grid in prepared]
    return prepared, _joined(programs) if len(programs) > 1 else programs[0]


def _joined(programs: list[StaticProgram]) -> StaticProgram:
    first_dep, first_inst, insts, blocks = 0, 0, [], []
    for program in programs:
        inst = program.inst.copy()
        inst["first_dep"] += first_dep
        insts.append(inst)
        blocks.append(program.block + np.int32(first_inst))
        first_dep += len(program.dep)
        first_inst += len(inst)
    n_registers = max(_registers_alone(program) for program in programs)
    first_group = first_product = -1
    if any(program.first_group >= 0 for program in programs):
        first_group, n_registers = n_registers, n_registers + N_GROUPS + 1
    if any(program.first_product >= 0 for program in programs):
        first_product, n_registers = n_registers, n_registers + N_GROUPS
    return StaticProgram(
        np.concatenate(insts),
        np.concatenate([program.dep for program in programs]),
        np.concatenate(blocks),
        n_registers,
        first_group,
        first_product,
    )


def _registers_alone(program: StaticProgram) -> int:
    """The number of scoreboard entries of registers. The entries of groups follow them."""
    return min(entry for entry in (program.n_registers, program.first_group, program.first_product) if entry >= 0)


class Records(NamedTuple):
    """The rows of a batch: layout.GRID (n_grids,), without a trace and with counters at zero, layout.OPERATION, and
    layout.EDGE: what waits for each of them.
    """

    grids: np.ndarray
    operations: np.ndarray
    edges: np.ndarray


def batch_records(grids: list[PreparedGrid], operations: Sequence[Operation], machine: Machine) -> Records:
    # The row after the last belongs to no grid: there the L2 counts the requests of the units of draws.
    records = np.zeros(len(grids) + 1, layout.GRID)[: len(grids)]
    first_items = first_items_of([grid.grid for grid in grids])
    edges = _edges([grid.grid for grid in grids], operations)
    first_edge = np.cumsum([0, *map(len, edges)]).tolist()
    for number, grid in enumerate(grids):
        records[number] = _configured(grid, machine, len(grids))
        launch, row = grid.grid.launch, records[number]
        row["launch"] = launch.index
        row["priority"], row["launch_cycles"] = grid.grid.priority, grid.grid.launch_cycles
        row["waits"] = len(grid.grid.after) + len(grid.grid.after_signal) + (grid.grid.launched_by is not None)
        row["prerequisites"] = len(grid.grid.after_signal)
        row["ready"] = max(machine.cycle, grid.grid.arrival) + grid.grid.launch_cycles
        row["first_edge"], row["last_edge"] = first_edge[number], first_edge[number + 1]
        row["first_item"] = first_items[number]
        row["launched"] = grid.grid.launched_by is None
        row["launcher"], row["launcher_warp"], row["turn"] = grid.grid.launched_by or (-1, -1, -1)
    rows = np.zeros(len(operations) + 1, layout.OPERATION)[: len(operations)]
    for number, operation in enumerate(operations):
        row, node = rows[number], len(grids) + number
        for name in ("engine", "latency_cycles", "transfer_cycles"):
            row[name] = getattr(operation, name)
        row["ready"], row["waits"] = operation.arrival, len(operation.after)
        row["first_edge"], row["last_edge"] = first_edge[node], first_edge[node + 1]
    return Records(records, rows, np.array([edge for some in edges for edge in some] or [(0, 0)], layout.EDGE))


def _configured(grid: PreparedGrid, machine: Machine, n_grids: int) -> np.void:
    """The row of a grid in a batch of so many, as far as it follows from the kernel and its configuration."""
    launch = grid.grid.launch
    numbers = (launch.grid, launch.cluster, grid.first_inst, grid.first_basic_block, n_grids, grid.grid.shades is None)
    things = (grid.program, grid.fit, launch.module, launch.function)
    return machine.prepared.once(_configuration, things, numbers, grid, machine.chip, n_grids)


def _configuration(grid: PreparedGrid, chip: Chip, n_grids: int) -> np.void:
    launch = grid.grid.launch
    numbers = {
        "first_inst": grid.first_inst,
        "first_basic_block": grid.first_basic_block,
        "last_line": grid.program.inst["line"][-1],
        "pc_base": launch.module.load_base - INSTRUCTION_NBYTES * grid.first_inst,
        "warps_per_block": grid.fit.warps_per_block,
        "blocks_per_sm": grid.fit.blocks_per_sm,
        "registers": grid.fit.warps_per_block * registers_of_warp(chip.values, launch.function.registers),
        "shared_nbytes": grid.fit.shared_nbytes_per_block,
        "carve_out": carve_out(chip, grid.fit),
        "cluster": min(launch.blocks_of_cluster, chip.sms * grid.fit.blocks_per_sm),
        "has_mbarriers": grid.program.has_mbarriers,
        "total_blocks": grid.n_blocks,
        "released": 0 if grid.grid.shades else grid.n_blocks,
        "bin_shift": first_shift(bins_of(n_grids)),
        "clusters_x": launch.grid[0] // launch.cluster[0],
        "clusters_y": launch.grid[1] // launch.cluster[1],
    }
    numbers |= zip(("cluster_x", "cluster_y", "cluster_z"), launch.cluster, strict=True)
    row = np.zeros(1, layout.GRID)
    for name, number in numbers.items():
        row[name] = number
    return row[0]


def first_items_of(grids: list[Grid]) -> list[int]:
    """For each grid, the row of its first block in the table of items (layout.ITEM), -1 for what is no shader."""
    if not any(grid.shades for grid in grids):
        return [-1] * len(grids)
    drawing = [number for number, grid in enumerate(grids) if grid.draw]
    rows = rows_of([grids[number].draw for number in drawing])
    draw_of = {number: draw for draw, number in enumerate(drawing)}
    return [
        int(rows[its.series][draw_of[its.grid]]) + its.first if (its := grid.shades) is not None else -1
        for grid in grids
    ]


def _edges(grids: list[Grid], operations: Sequence[Operation]) -> list[list[tuple[int, bool]]]:
    """For each grid and then each operation, what waits for it: (grid, or operation after the grids; whether it waits
    only until this grid lets it start).
    """
    n_grids = len(grids)
    edges: list[list[tuple[int, bool]]] = [[] for _ in range(n_grids + len(operations))]
    for number, grid in enumerate(grids):
        for earlier, programmatic in [*((k, False) for k in grid.after), *((k, True) for k in grid.after_signal)]:
            assert earlier < number, f"grid {number} of the batch waits for number {earlier}"
            edges[_node(earlier, n_grids)].append((number, programmatic))
    for number, operation in enumerate(operations):
        for earlier in operation.after:
            assert -1 - number < earlier, f"operation {number} of the batch waits for number {earlier}"
            edges[_node(earlier, n_grids)].append((n_grids + number, False))
    return edges


def _node(number: int, n_grids: int) -> int:
    """The place of a grid, or of an operation as `after` names it, after one another."""
    return number if number >= 0 else n_grids - 1 - number
