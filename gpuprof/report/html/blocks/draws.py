"""Draws: the work of each, how busy the blocks of the pipeline were in it, and how busy these were over time."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

import numpy as np

from gpuprof.chips.draw_units import MEMORIES
from gpuprof.report.html.block import Columns, PageTable, by_column
from gpuprof.report.html.profile_block import Profile
from gpuprof.report.tasks.draw_tasks import BLOCKS, Draw, Draws, Work, read_draws
from gpuprof.report.tasks.timeline_lanes import Lane, extent, in_parts, read_lanes, steps
from gpuprof.tables.draws import DRAW_COUNT_NAMES, DRAW_COUNTS
from gpuprof.tables.table import Column

MOST_STEPS = 4096  # of a lane: beyond, the mean of as many equal parts of the time

WORK = (
    Column("start_cycle", "int", "cycles", "From power-on; -1 where no time is known."),
    Column("end_cycle", "int", "cycles", "From power-on; -1 where no time is known."),
    Column("bottleneck", "text", "", 'The block or memory with the largest share; "" where none is known.'),
    Column("fragments", "int", "", "Pixels that were shaded, without helper lanes."),
    Column("overdraw", "real", "", "Samples that passed all tests, for each sample of the target."),
    Column("quad_efficiency", "share", "", "Lanes of the pixel shader that a sample is covered for."),
    Column("l2_nbytes", "int", "bytes", "That units and shaders read and wrote through the L2; -1 not known."),
    Column("l2_share", "share", "", "Of what the L2 could have transferred in the time."),
    Column("dram_nbytes", "int", "bytes", "The same, of the DRAM."),
    Column("dram_share", "share", "", "Of what the DRAM could have transferred in the time."),
    *(column._replace(type="int") for column in DRAW_COUNTS),
)
DRAWS = (
    Column("draw", "int", "", "Its number, in the order asked."),
    Column("pass", "int", "", "Draws that follow each other into the same targets."),
    Column("command_buffer", "text", "", 'Name of the one that it is in; "" none.'),
    Column("name", "text", "", "A script's, or those of its shaders."),
    Column("task", "int", "", "Number of its task; -1 none is known."),
    Column("width", "int", "pixels", "Of its targets."),
    Column("height", "int", "pixels", "Of its targets."),
    Column("samples", "int", "", "Of a pixel."),
    Column("state_changes", "int", "", "Since the draw before."),
    *WORK,
)
GROUPS = (
    Column("kind", "text", "", "pass or command buffer."),
    Column("name", "text", "", "The pass's number, or the command buffer's name."),
    Column("draws", "int", "", "So many."),
    *WORK,
)
SHADERS = (
    Column("draw", "int", "", "Row of `draws`."),
    Column("stage", "text", "", "vertex, hull, domain, geometry or pixel."),
    Column("kernel", "int", "", "Row of `kernels`."),
)
BLOCK_COLUMNS = (
    Column("draw", "int", "", "Row of `draws`."),
    Column("block", "text", "", "A unit or a shader stage, in the order of the pipeline."),
    Column("share", "real", "", "Of the draw's time that a unit was at work; of a stage, how full it was."),
    Column("blocked", "real", "", "Of the draw's time that a unit waited for a full successor; unknown for a stage."),
    Column("waves", "int", "", "Of a stage."),
    Column("most", "int", "", "Of these, in flight at a time."),
    Column("first_cycle", "int", "cycles", "From power-on: the draw began there."),
    Column("last_cycle", "int", "cycles", "From power-on: all of it was gone."),
)
LANES = (
    Column("block", "text", "", "A unit or a shader stage, in the order of the pipeline."),
    Column("is_stage", "int", "", "1: a shader stage."),
    Column("begin_cycle", "int", "cycles", "From power-on, of a stretch of time."),
    Column("end_cycle", "int", "cycles", "From power-on."),
    Column("amount", "real", "", "Share of it that a unit was at work, or a stage's waves in flight; never 0."),
)
SPANS = """
    SELECT draw, unit, first_cycle, last_cycle FROM draw_units
    UNION ALL SELECT draw, stage, MIN(start_cycle), MAX(end_cycle) FROM draw_waves GROUP BY draw, stage
"""


@lru_cache(maxsize=1)
def draws_of(profile: Profile) -> Draws:
    """All draws, or those of the requested launches. Several tables are filled from it."""
    shown = {launch.launch for kernel in profile.report.kernels for launch in kernel.launches}
    recorded = {launch for (launch,) in profile.database.execute("SELECT launch FROM launches")}
    return read_draws(profile.database, None if recorded <= shown else shown)


def draw_columns(profile: Profile) -> Columns:
    return by_column(DRAWS, ((*_place(draw), *work_values(draw.work)) for draw in draws_of(profile).draws))


def _place(draw: Draw) -> tuple:
    """The values of a draw that precede its work in DRAWS, in their order."""
    task = -1 if draw.task is None else draw.task
    return draw.draw, draw.number_of_pass, draw.command_buffer, draw.name, task, *draw.extent, draw.state_changes


def group_columns(profile: Profile) -> Columns:
    draws = draws_of(profile)
    rows = [("pass", str(group.draws[0].number_of_pass), group) for group in draws.passes]
    rows += [("command buffer", group.draws[0].command_buffer, group) for group in draws.command_buffers]
    return by_column(GROUPS, ((kind, name, len(group.draws), *work_values(group.work)) for kind, name, group in rows))


def work_values(work: Work) -> tuple:
    """The values of a work, in the order of WORK."""
    times = (-1, -1) if work.start_cycle is None else (work.start_cycle, work.end_cycle)
    facts = (work.bottleneck, work.fragments, work.overdraw, work.quad_efficiency)
    memory = ((work.nbytes.get(name, -1), work.memory_shares.get(name)) for name in MEMORIES)
    return *times, *facts, *chain(*memory), *(work.counts[name] for name in DRAW_COUNT_NAMES)


def shader_columns(profile: Profile) -> Columns:
    kernel_of = {
        launch.launch: number for number, kernel in enumerate(profile.report.kernels) for launch in kernel.launches
    }
    rows = (
        (row, stage, kernel_of[launch])
        for row, draw in enumerate(draws_of(profile).draws)
        for launch, stage in sorted(draw.launches.items())
        if launch in kernel_of
    )
    return by_column(SHADERS, dict.fromkeys(rows))  # a stage's later pieces are launches of the same kernel


def block_columns(profile: Profile) -> Columns:
    return by_column(BLOCK_COLUMNS, block_rows(profile))


def block_rows(profile: Profile) -> Iterator[tuple]:
    spans = {(draw, block): span for draw, block, *span in profile.database.execute(SPANS)}
    for row, draw in enumerate(draws_of(profile).draws):
        work = draw.work
        for block in (block for block in BLOCKS if block in work.shares):
            waves = work.waves.get(block)
            counts = (waves.number, waves.most) if waves else (0, 0)
            yield row, block, work.shares[block], work.blocked_shares.get(block), *counts, *spans[draw.draw, block]


def lane_columns(profile: Profile) -> Columns:
    return by_column(LANES, lane_rows(profile))


def lane_rows(profile: Profile) -> Iterator[tuple]:
    """Stretches in which a block did nothing are left out."""
    lanes = read_lanes(profile.database)
    for lane in lanes:
        begins, ends, amounts = _stretches(lane, *extent(lanes))
        for begin, end, amount in zip(begins.tolist(), ends.tolist(), amounts.tolist(), strict=True):
            yield lane.block, int(lane.is_stage), begin, end, amount


def _stretches(lane: Lane, first: int, last: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first cycles, last cycles and values of `steps`, or of MOST_STEPS equal parts where there are more."""
    if len((found := steps(lane))[0]) <= MOST_STEPS:
        return found
    parts = min(MOST_STEPS, last - first)
    amounts = in_parts(lane, first, last, parts).round(6)
    edges = first + (last - first) * np.arange(parts + 1) // parts
    there = amounts > 0
    return edges[:-1][there], edges[1:][there], amounts[there]


TABLES = (
    PageTable("draws", "Draws of a graphics pipeline.", DRAWS, draw_columns),
    PageTable("draw_groups", "Draws by pass and by command buffer, together.", GROUPS, group_columns),
    PageTable("draw_shaders", "The kernels that draws ran.", SHADERS, shader_columns),
    PageTable("draw_blocks", "How busy each block was in each draw.", BLOCK_COLUMNS, block_columns),
    PageTable(
        "draw_lanes",
        f"Blocks over time, all draws together; exact, or the means of {MOST_STEPS:,} parts.",
        LANES,
        lane_columns,
    ),
)
