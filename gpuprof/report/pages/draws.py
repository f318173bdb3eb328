"""The draws page: the work of each draw, how busy the blocks of the pipeline were, and which was its bottleneck; sums
by pass and by command buffer.
"""

from collections.abc import Callable, Iterator, Sequence

from rich.text import Text

from gpuprof.base.wording import plural
from gpuprof.chips.draw_units import MEMORIES, SHADER_STAGES
from gpuprof.report.formats import cell
from gpuprof.report.model import Kernel, Report
from gpuprof.report.number_text import count, rounded
from gpuprof.report.pages.page_kind import Page, Request
from gpuprof.report.tasks.draw_tasks import BLOCKS, Draw, Group, Work
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.styles import Look, remark, shown
from gpuprof.tables.draws import DRAW_COUNT_NAMES

NO_DRAWS = "no draws: only scripts that draw with gpuprof.graphics have them, and older files have none"
MOST_DRAWS = 1000  # on a terminal
NOTHING = Text("-")
LAST = 6 + len(BLOCKS)  # of columns: where there is no room, these go before the blocks, of which the idlest go first
LEAST_NAME = 20  # cells

# How draws are sorted, besides by their numbers: the largest first.
ORDERS: dict[str, Callable[[Work], float]] = {
    "cycles": lambda work: work.cycles or 0,
    "primitives": lambda work: work.counts["primitives"],
    "fragments": lambda work: work.fragments,
    "overdraw": lambda work: work.overdraw,
    "quads": lambda work: 1 - (1 if work.quad_efficiency is None else work.quad_efficiency),
}


def in_order(draws: Sequence[Draw], order: str | None) -> list[Draw]:
    if order is None:
        return list(draws)
    return sorted(draws, key=lambda draw: (-ORDERS[order](draw.work), draw.draw))


def columns_of_work(works: Sequence[Work], look: Look) -> list[Column]:
    """Columns of rows that have a `work`."""

    def number(value: int | None) -> Text:
        return NOTHING if value is None else Text(count(value, look.plain))

    def percent(value: float | None) -> Text:
        return NOTHING if value is None else Text(f"{100 * value:.0f}%")

    def block(name: str) -> Column:
        return Column(name, lambda row: Text(share_text(row.work, name)), 6 + busiest.index(name))

    def memory(name: str) -> Column:
        return Column(name, lambda row: percent(row.work.memory_shares.get(name)), 2)

    here = {name for work in works for name in work.shares}
    busiest = sorted(here, key=lambda name: (-max(work.shares.get(name, 0) for work in works), BLOCKS.index(name)))
    return [
        Column("cycles", lambda row: number(row.work.cycles)),
        Column("bottleneck", lambda row: Text(row.work.bottleneck or "-"), 1, left=True),
        Column("prims", lambda row: number(row.work.counts["primitives"]), 2, name="primitives"),
        Column("culled", lambda row: number(row.work.counts["culled"]), 3),
        Column("clipped", lambda row: number(row.work.counts["clipped"]), LAST),
        Column("rejected", lambda row: number(row.work.counts["rejected"]), 5),
        Column("fragments", lambda row: number(row.work.fragments), 2),
        Column("overdraw", lambda row: Text(f"{row.work.overdraw:.2f}"), 2),
        Column("quads", lambda row: percent(row.work.quad_efficiency), 3),
        *(memory(name) for name in MEMORIES if any(name in work.memory_shares for work in works)),
        Column("start", lambda row: number(row.work.start_cycle), LAST),
        *(block(name) for name in BLOCKS if name in here),
        Column("waves", lambda row: Text(waves_text(row.work, look)), LAST + 1, left=True),
    ]


def share_text(work: Work, block: str) -> str:
    """ "41+7": percent of the time busy, and of it blocked; of a stage how full it was; "-" where it did nothing."""
    if block not in work.shares:
        return "-"
    blocked = work.blocked_shares.get(block)
    return f"{100 * work.shares[block]:.0f}" + ("" if blocked is None else f"+{100 * blocked:.0f}")


def waves_text(work: Work, look: Look) -> str:
    parts = [f"{stage}:{count(work.waves[stage].number, look.plain)}" for stage in SHADER_STAGES if stage in work.waves]
    return (",".join if look.plain else " ".join)(parts) or "-"


def text(report: Report, look: Look, request: Request) -> Iterator[Text]:
    yield Text("")
    all_draws = report.draws
    if not all_draws.draws and not all_draws.unfinished:
        yield from remark(NO_DRAWS, look)
        return
    draws = in_order(all_draws.draws, request.sort)
    of_draws = [
        Column("draw", lambda row: Text(str(row.draw)), gap=0),
        *columns_of_work([draw.work for draw in all_draws.draws], look),
        Column("changes", lambda row: Text(str(row.state_changes)), LAST),
        Column("pass", lambda row: Text(str(row.number_of_pass)), 2),
        Column("name", lambda row: Text(shown(row.name)), left=True),
    ]
    yield from table(of_draws, draws[:MOST_DRAWS], look, LEAST_NAME)
    if len(draws) > MOST_DRAWS:
        yield from remark(f"{len(draws) - MOST_DRAWS:,} more draws (--format csv)", look)
    if all_draws.unfinished:
        yield from remark(f"{plural(all_draws.unfinished, 'more draw', 'more draws')} did not finish", look)
    yield from group_table(all_draws.passes, "pass", lambda group: str(group.draws[0].number_of_pass), look)
    yield from group_table(
        all_draws.command_buffers, "command buffer", lambda group: group.draws[0].command_buffer, look
    )
    yield from remark(
        "of a unit: percent of the time busy + blocked; of a stage: mean waves in flight, in percent of the most; of "
        "L2 and DRAM: percent of the bytes that they could transfer",
        look,
    )


def group_table(groups: Sequence[Group], title: str, name: Callable[[Group], str], look: Look) -> Iterator[Text]:
    if not groups:
        return
    columns = [
        Column("draws", lambda row: Text(count(len(row.draws), look.plain)), gap=0),
        *columns_of_work([group.work for group in groups], look),
        Column(title, lambda row: Text(shown(name(row))), left=True),
    ]
    yield Text("")
    yield from table(columns, groups[:MOST_DRAWS], look, LEAST_NAME)
    if len(groups) > MOST_DRAWS:
        yield from remark(f"{len(groups) - MOST_DRAWS:,} more (--format csv)", look)


def time_values(work: Work) -> dict:
    return {
        "start_cycle": work.start_cycle,
        "end_cycle": work.end_cycle,
        "cycles": work.cycles,
        "bottleneck": work.bottleneck or None,
    }


def fragment_values(work: Work) -> dict:
    return {
        "fragments": work.fragments,
        "overdraw": rounded(work.overdraw),
        "quad_efficiency": rounded(work.quad_efficiency),
    }


def work_values(work: Work) -> dict:
    """The columns of a work in CSV; shares are 0 to 1, None where a value is not known."""
    shares, blocked_shares = work.shares, work.blocked_shares
    busy = {f"{block}_share": rounded(shares.get(block)) for block in BLOCKS}
    blocked = {
        f"{block}_blocked_share": rounded(blocked_shares.get(block)) for block in BLOCKS if block not in SHADER_STAGES
    }
    most = {stage: waves.most for stage, waves in work.waves.items()}
    return {
        **time_values(work),
        **work.counts,
        **fragment_values(work),
        **busy,
        **blocked,
        **{f"{stage}_waves_in_flight": most.get(stage) for stage in SHADER_STAGES},
        **{f"{memory.lower()}_nbytes": work.nbytes.get(memory) for memory in MEMORIES},
        **{f"{memory.lower()}_share": rounded(work.memory_shares.get(memory)) for memory in MEMORIES},
    }


def values(draw: Draw) -> dict:
    width, height, samples = draw.extent
    return {
        "draw": draw.draw,
        "pass": draw.number_of_pass,
        "command_buffer": draw.command_buffer or None,
        "name": draw.name,
        "width": width,
        "height": height,
        "samples": samples,
        "state_changes": draw.state_changes,
        "drains": draw.drains,
    } | work_values(draw.work)


def value_names() -> list[str]:
    """The names of a draw's values, also where there is no draw."""
    nothing = Work(None, None, dict.fromkeys(DRAW_COUNT_NAMES, 0), 1, {}, {}, {})
    return list(values(Draw(0, None, 0, None, "", "", (1, 1, 1), 0, False, {}, nothing)))


def rows(report: Report, request: Request) -> Iterator[Sequence[object]]:
    """A row per draw."""
    yield value_names()
    for draw in in_order(report.draws.draws, request.sort):
        yield [cell(value) for value in values(draw).values()]


def objects(kernel: Kernel, report: Report, request: Request) -> dict:
    """The numbers of the draws that the kernel is a shader of."""
    launches = {launch.launch for launch in kernel.launches}
    return {"draws": [draw.draw for draw in report.draws.draws if draw.launches.keys() & launches]}


def document(report: Report, request: Request) -> dict:
    """Draws as JSON: entries next to the kernels, as a draw has several and a kernel is the shader of many.

    {"draws": [draw + work], "passes": [group + work], "command_buffers": [group + work], "unfinished_draws": 0}
    """
    draws = report.draws
    kernels = {launch.launch: kernel for kernel in report.kernels for launch in kernel.launches}
    return {
        "draws": [draw_object(draw, kernels) for draw in in_order(draws.draws, request.sort)],
        "passes": [{"pass": group.draws[0].number_of_pass} | group_object(group) for group in draws.passes],
        "command_buffers": [buffer_object(group) for group in draws.command_buffers],
        "unfinished_draws": draws.unfinished,
    }


def draw_object(draw: Draw, kernels: dict[int, Kernel]) -> dict:
    return {
        "draw": draw.draw,
        "name": draw.name,
        "pass": draw.number_of_pass,
        "command_buffer": draw.command_buffer or None,
        "task": draw.task,
        "target": dict(zip(("width", "height", "samples"), draw.extent, strict=True)),
        "state_changes": draw.state_changes,
        "drains": draw.drains,
        "shaders": [
            {"stage": stage, "kernel": kernels[launch].name, "symbol": kernels[launch].symbol, "launch": launch}
            for launch, stage in sorted(draw.launches.items())
            if launch in kernels
        ],
    } | work_object(draw.work)


def buffer_object(group: Group) -> dict:
    first = group.draws[0]
    return {"command_buffer": first.command_buffer, "task": first.buffer_task} | group_object(group)


def group_object(group: Group) -> dict:
    """`draws`: the numbers of those that it has."""
    return {"draws": [draw.draw for draw in group.draws]} | work_object(group.work)


def work_object(work: Work) -> dict:
    """A work in JSON. Shares are of the time, 0 to 1; null is unknown. A block that did nothing is left out."""
    return {
        **time_values(work),
        **fragment_values(work),
        "counts": work.counts,
        "units": {
            unit: {"busy_share": rounded(share), "blocked_share": rounded(work.blocked_shares[unit])}
            for unit, share in work.shares.items()
            if unit in work.busy
        },
        "stages": {
            stage: {"waves": waves.number, "most_in_flight": waves.most, "full_share": rounded(work.shares.get(stage))}
            for stage, waves in ((stage, work.waves[stage]) for stage in SHADER_STAGES if stage in work.waves)
        },
        "memory": {
            memory.lower(): {"nbytes": nbytes, "share": rounded(work.memory_shares.get(memory))}
            for memory, nbytes in work.nbytes.items()
        },
    }


PAGE = Page(text, rows, objects, document)
