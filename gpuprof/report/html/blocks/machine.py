"""How much of the machine each kernel used: its units, its roofs, its caches, and how many of its blocks fit."""

import json
from collections.abc import Iterator
from typing import NamedTuple

from gpuprof.chips.peaks import RESOURCES
from gpuprof.report.html.block import Columns, PageTable, by_column
from gpuprof.report.html.profile_block import Profile
from gpuprof.report.html.residency import THREADS, Block, Step, fits, next_steps, numbers_of, waves
from gpuprof.report.model import ChipFacts, Kernel, Launch
from gpuprof.report.number_text import extent, product
from gpuprof.report.pages.peaks import limit_facts
from gpuprof.report.throughput import limit_of, throughput
from gpuprof.report.totals import metric_sum, totals
from gpuprof.tables.table import Column

LEVELS = ("dram", "l2", "l1")  # whose bytes a roofline may count

CEILINGS = (
    Column("name", "text", "", "Of the resource, as in docs/peak.md."),
    Column("label", "text", "", "What the terminal's pages call it."),
    Column("unit", "text", "", "Of rates."),
    Column("rate", "real", "", "The peak, in the unit."),
    Column("is_arithmetic", "int", "", "1: its work is operations."),
    Column("text", "text", "", "What its work is."),
)
USES = (
    Column("kernel", "int", "", "Row of `kernels`."),
    Column("ceiling", "int", "", "Row of `ceilings`."),
    Column("work", "real", "", "Bytes, operations, slots or cycles of all launches."),
    Column("achieved", "real", "", "Rate, in the ceiling's unit."),
    Column("share", "real", "", "Of the peak, 0 to 1."),
)
LIMITS = (
    Column("kernel", "int", "", "Row of `kernels`."),
    Column("ceiling", "int", "", "Row of `ceilings`: what is nearest to its peak."),
    Column("text", "text", "", "What limits, as the terminal's summary says it."),
)
ROOFS = (
    Column("kernel", "int", "", "Row of `kernels`."),
    Column("ceiling", "int", "", "Row of `ceilings`: the precision."),
    Column("level", "int", "", "Row of `ceilings`: whose bytes are counted."),
    Column("operations_per_byte", "real", "", "Of that precision, by a byte of that level."),
    Column("achieved", "real", "", "Rate, in the precision's unit."),
)
TRAFFIC = (
    Column("kernel", "int", "", "Row of `kernels`."),
    Column("name", "text", "", "What is counted: the page's memory chart has a place for each."),
    Column("value", "real", "", "Of all launches; unknown where it is unknown for one of them."),
)
RESIDENCIES = (
    Column("kernel", "int", "", "Row of `kernels`."),
    Column("launches", "int", "", "Of this shape."),
    Column("grid", "text", "blocks", "In x, y and z."),
    Column("block", "text", "threads", "In x, y and z."),
    Column("threads", "int", "", "Of a block."),
    Column("registers", "int", "", "Of a thread."),
    Column("shared_nbytes", "int", "bytes", "That a block asks for, static and dynamic."),
    Column("blocks_per_sm", "int", "", "That fit."),
    Column("limiter", "text", "", "What runs out first: warps, blocks, registers or shared."),
    *(Column(f"by_{name}", "int", "", f"Blocks that fit by {name} only.") for name in ("warps", "blocks")),
    *(Column(f"by_{name}", "int", "", f"Blocks that fit by {name} only.") for name in ("registers", "shared")),
    Column("theoretical", "real", "", "Share of the warp slots that they fill, 0 to 1."),
    Column("achieved", "real", "", "Warps that were there, of the slots of active SMs, of all launches of the kernel."),
    Column("blocks", "int", "", "Of the grid."),
    Column("blocks_per_wave", "int", "", "That run at a time."),
    Column("waves", "real", "", "Blocks over blocks per wave."),
    Column("wave_share", "real", "", "Of the room in all waves, the last included, that blocks fill; 0 to 1."),
)
STEPS = (
    Column("residency", "int", "", "Row of `residencies`."),
    Column("what", "text", "", "registers a thread, bytes of shared memory a block, or threads a block."),
    Column("now", "int", "", "What it is."),
    Column("needed", "int", "", "What it would have to be, at most (threads: exactly)."),
    Column("blocks_per_sm", "int", "", "That would then fit."),
    Column("theoretical", "real", "", "Share of the warp slots then, 0 to 1."),
    Column("also", "text", "", "What would have to change with it: it runs out at the same number of blocks."),
)
SMS = (
    Column("kernel", "int", "", "Row of `kernels`."),
    Column("sm", "int", "", "Its number."),
    Column("active_cycles", "int", "cycles", "In which a warp of the kernel was there."),
)


def ceiling_columns(profile: Profile) -> Columns:
    peaks = profile.report.chip.peaks
    return by_column(
        CEILINGS,
        [
            (
                resource.name,
                resource.label,
                resource.unit,
                peaks[resource.name].rate,
                int(resource.is_arithmetic),
                resource.text,
            )
            for resource in ceilings(profile)
        ],
    )


def ceilings(profile: Profile) -> list:
    """The resources that the chip has a peak of: rows of `ceilings`."""
    return [resource for resource in RESOURCES if resource.name in profile.report.chip.peaks]


def ceiling_rows(profile: Profile) -> dict[str, int]:
    """Rows of `ceilings`, by the resource's name."""
    return {resource.name: row for row, resource in enumerate(ceilings(profile))}


def use_columns(profile: Profile) -> Columns:
    return by_column(USES, use_rows(profile))


def use_rows(profile: Profile) -> Iterator[tuple]:
    rows = ceiling_rows(profile)
    for number, kernel in enumerate(profile.report.kernels):
        for use in throughput(kernel.launches, profile.report.chip).uses:
            yield number, rows[use.resource.name], float(use.work), use.achieved, use.share


def limit_columns(profile: Profile) -> Columns:
    return by_column(LIMITS, limit_rows(profile))


def limit_rows(profile: Profile) -> Iterator[tuple[int, int, str]]:
    report = profile.report
    rows = ceiling_rows(profile)
    for number, kernel in enumerate(report.kernels):
        if limits := limit_of(kernel, report.chip):
            facts = limit_facts(limits, throughput(kernel.launches, report.chip), kernel, report)
            yield number, rows[limits.use.resource.name], "; ".join(facts)


def roof_columns(profile: Profile) -> Columns:
    return by_column(ROOFS, roof_rows(profile))


def roof_rows(profile: Profile) -> Iterator[tuple]:
    """A point for each precision and each level that moved bytes."""
    rows = ceiling_rows(profile)
    for number, kernel in enumerate(profile.report.kernels):
        uses = throughput(kernel.launches, profile.report.chip).uses
        levels = [use for use in uses if use.resource.name in LEVELS]
        for use in uses:
            if use.resource.is_arithmetic:
                for level in levels:
                    names = rows[use.resource.name], rows[level.resource.name]
                    yield number, *names, use.work / level.work, use.achieved


def traffic_columns(profile: Profile) -> Columns:
    return by_column(
        TRAFFIC,
        [
            (number, name, value)
            for number, kernel in enumerate(profile.report.kernels)
            for name, value in traffic(kernel, profile.report.chip).items()
        ],
    )


METRICS = (
    *("l1_sectors", "l1_hits", "l2_sectors", "l2_hits", "dram_read_nbytes", "dram_write_nbytes"),
    *("shared_wavefronts", "l2_atomic_cycles"),
)
COUNTERS = (
    *("l1_tag_requests_global", "l2_sectors_global", "l2_sectors_global_ideal", "l2_sectors_local"),
    *("l1_wavefronts_shared", "l1_wavefronts_shared_ideal"),
)


def traffic(kernel: Kernel, chip: ChipFacts) -> dict[str, float | None]:
    """Counters and metrics of all launches, the cycles that throughputs are over, and executions of memory instructions
    by space and operation.
    """
    amounts: dict[str, float | None] = {name: metric_sum(kernel, name) for name in METRICS}
    amounts |= {name: getattr(kernel.cost.counters, name) for name in COUNTERS}
    amounts["cycles"] = throughput(kernel.launches, chip).cycles
    for instruction in kernel.instructions:
        if instruction.space and instruction.operation and instruction.cost.counters.inst_executed:
            name = f"{instruction.space} {instruction.operation}"
            amounts[name] = (amounts.get(name) or 0) + instruction.cost.counters.inst_executed
    return amounts


class Shape(NamedTuple):
    """Launches of a kernel that have one grid, one block and one size of dynamic shared memory."""

    kernel: int
    launches: tuple[Launch, ...]


def shapes(profile: Profile) -> list[Shape]:
    """Rows of `residencies`: those whose launches say how many blocks fit."""
    by_shape: dict[tuple, list[Launch]] = {}
    for number, kernel in enumerate(profile.report.kernels):
        for launch in kernel.launches:
            if launch.metrics.get("blocks_per_sm"):
                by_shape.setdefault((number, launch.grid, launch.block, launch.dynamic_shared_nbytes), []).append(
                    launch
                )
    return [Shape(number, tuple(launches)) for (number, *_), launches in by_shape.items()]


def block_of_shape(profile: Profile, shape: Shape) -> Block:
    kernel, launch = profile.report.kernels[shape.kernel], shape.launches[0]
    return Block(product(launch.block), kernel.registers, kernel.shared_nbytes + launch.dynamic_shared_nbytes)


def chip_numbers(profile: Profile) -> dict[str, int]:
    """The chip's numbers that decide how many blocks fit; empty where its description lacks one of them."""
    (text,) = profile.database.execute("SELECT value FROM meta WHERE key = 'chip_json'").fetchone()
    return numbers_of(json.loads(text) or {}) or {}


def numbers_for(profile: Profile, shape: Shape, chip: dict[str, int]) -> dict[str, int]:
    """Warps of draws are no blocks to the chip: their number is not limited."""
    return chip | {"max_blocks": chip["warp_slots"]} if is_of_draws(profile, shape) else chip


def is_of_draws(profile: Profile, shape: Shape) -> bool:
    query = "SELECT 1 FROM draw_launches WHERE launch = ?"
    return profile.database.execute(query, (shape.launches[0].launch,)).fetchone() is not None


def residency_columns(profile: Profile) -> Columns:
    return by_column(RESIDENCIES, residency_rows(profile))


def residency_rows(profile: Profile) -> Iterator[tuple]:
    chip, report = chip_numbers(profile), profile.report
    for shape in shapes(profile) if chip else ():
        kernel, launch, block = report.kernels[shape.kernel], shape.launches[0], block_of_shape(profile, shape)
        limits = fits(numbers_for(profile, shape, chip), block)
        per_sm, limiter = int(launch.metrics["blocks_per_sm"]), str(launch.metrics["occupancy_limiter"])
        whole, per_wave = product(launch.grid), per_sm * (report.chip.sms or 0)
        n_waves, share = waves(whole, per_wave)
        yield (
            shape.kernel, len(shape.launches), extent(launch.grid), extent(launch.block), *block, per_sm, limiter,
            *(limits[name] for name in ("warps", "blocks", "registers", "shared")),
            per_sm * -(-block.threads // chip["warp_lanes"]) / chip["warp_slots"],
            totals(kernel, report.chip).achieved_occupancy, whole, per_wave, n_waves, share,
        )  # fmt: skip


def step_columns(profile: Profile) -> Columns:
    chip = chip_numbers(profile)
    rows: list[tuple[int, Step]] = [
        (row, step)
        for row, shape in enumerate(shapes(profile) if chip else ())
        for step in next_steps(numbers_for(profile, shape, chip), block_of_shape(profile, shape))
        if not (step.what == THREADS and is_of_draws(profile, shape))  # a wave's size is the chip's
    ]
    return by_column(STEPS, [(row, *step) for row, step in rows])


def sm_columns(profile: Profile) -> Columns:
    kernel_of = {member.launch: k for k, kernel in enumerate(profile.report.kernels) for member in kernel.launches}
    sums: dict[tuple[int, int], int] = {}
    for launch, sm, cycles in profile.database.execute("SELECT launch, sm, active_cycles FROM activity_of_sms"):
        if launch in kernel_of:
            key = kernel_of[launch], sm
            sums[key] = sums.get(key, 0) + cycles
    return by_column(SMS, [(*key, cycles) for key, cycles in sorted(sums.items())])


TABLES = (
    PageTable("ceilings", "What the chip can do at most.", CEILINGS, ceiling_columns),
    PageTable("uses", "What each kernel used of it.", USES, use_columns),
    PageTable("limits", "What limits each kernel.", LIMITS, limit_columns),
    PageTable("roofs", "Points of the roofline.", ROOFS, roof_columns),
    PageTable("traffic", "What went between the units of the memory.", TRAFFIC, traffic_columns),
    PageTable("residencies", "How many blocks of each shape fit an SM, and how they fill the GPU.", RESIDENCIES,
        residency_columns),
    PageTable("steps", "What would have to change for one more block to fit an SM.", STEPS, step_columns),
    PageTable("sms", "Work by SM.", SMS, sm_columns),
)  # fmt: skip
