"""The summary page: each kernel's time, use of the machine, stall mix, memory and hottest lines, and what to look at first."""

from typing import Iterator

from rich.cells import cell_len
from rich.text import Text

from gpuprof.isa.stalls import NAMES
from gpuprof.report.bars import bar, ranked
from gpuprof.report.figures import count, duration, extent, grouped, nbytes, percent
from gpuprof.report.listing import hottest, source_sections
from gpuprof.report.look import BOLD, DIM, REASON_LOOKS, Look, fitted, shown
from gpuprof.report.model import ChipFacts, Kernel, Report
from gpuprof.report.rules import Finding, findings
from gpuprof.report.table import Column, table
from gpuprof.report.totals import Totals, totals

LABEL_CELLS = 10
MIX_CELLS = 40


def page(report: Report, look: Look) -> Iterator[Text]:
    if len(report.kernels) > 1:
        yield Text("")
        yield from kernel_table(report, look)
    for kernel in report.kernels:
        yield from kernel_summary(kernel, report, look)


def kernel_table(report: Report, look: Look) -> Iterator[Text]:
    whole = sum(kernel.cycles for kernel in report.kernels)

    def top(kernel: Kernel) -> Text:
        order = [reason for reason in ranked(kernel.cost.reasons) if NAMES[reason] != "selected"]
        return Text(NAMES[order[0]] if order else "-")

    columns = [
        Column("share", lambda k: Text(percent(k.cycles, whole)), gap=0),
        Column("time", lambda k: Text(time_of(k, report.chip).replace(" ", "") if look.plain else time_of(k, report.chip)), 2),
        Column("cycles", lambda k: Text(count(k.cycles, look.plain)), 1),
        Column("launches", lambda k: Text(str(len(k.launches))), 3),
        Column("top stall", top, 4, left=True),
        Column("kernel", lambda k: Text(shown(k.name), BOLD), left=True),
    ]
    yield from table(columns, report.kernels, look)


def time_of(kernel: Kernel, chip: ChipFacts) -> str:
    return duration(kernel.cycles, chip.clock_mhz) if chip.clock_mhz else "-"


def kernel_summary(kernel: Kernel, report: Report, look: Look) -> Iterator[Text]:
    yield Text("")
    yield clipped(Text("# " if look.plain else "").append(shown(kernel.name), BOLD), look)
    for label, value in kernel_facts(kernel, report, look):
        text = Text("# " if look.plain else "  ")
        yield clipped(text.append(f"{label:<{LABEL_CELLS}}", DIM).append_text(value), look)
    for number, finding in enumerate(findings(kernel, report.chip, report.header), 1):
        yield from finding_lines(number, finding, look)


def clipped(text: Text, look: Look) -> Text:
    return fitted(text, look.width, look) if look.width is not None else text


def kernel_facts(kernel: Kernel, report: Report, look: Look) -> Iterator[tuple[str, Text]]:
    """Label and value, without the facts the database has not got."""
    sums = totals(kernel, report.chip)
    yield "time", Text(look.dot.join(time_facts(kernel, report)))
    launch = kernel.launches[-1]
    shape = [f"grid {extent(launch.grid)}", f"block {extent(launch.block)}", f"{kernel.registers} registers"]
    shared = kernel.shared_nbytes + launch.dynamic_shared_nbytes
    yield "launch", Text(look.dot.join([*shape, f"{nbytes(shared)} shared"] if shared else shape))
    if facts := occupancy_facts(sums):
        yield "occupancy", Text(look.dot.join(facts))
    if sums.issue_utilisation is not None:
        yield "issue", Text(f"{100 * sums.issue_utilisation:.1f}% of the issue slots used")
    reasons = kernel.cost.reasons
    if sum(reasons):
        if not look.plain:
            yield "stalls", bar(reasons, 1, min(MIX_CELLS, max((look.width or 80) - LABEL_CELLS - 4, 8)), look)
        yield "" if not look.plain else "stalls", top_reasons(reasons, look)
    for label, parts in (("memory", memory_facts(kernel, sums)), ("shared", shared_facts(kernel))):
        if parts:
            yield label, Text(look.dot.join(parts))
    for position, row in hot_rows(kernel):
        share = percent(sum(row.cost.reasons), sum(reasons))
        yield "hottest", Text(f"{share:>6}  {shown(position)}:{row.number}  ").append(shown(row.text).strip(), DIM)


def time_facts(kernel: Kernel, report: Report) -> Iterator[str]:
    if report.chip.clock_mhz:
        yield time_of(kernel, report.chip)
        yield f"{grouped(kernel.cycles)} cycles at {report.chip.clock_mhz:g} MHz"
    else:
        yield f"{grouped(kernel.cycles)} cycles"
    if len(kernel.launches) > 1:
        yield f"{len(kernel.launches)} launches"
    if len(report.kernels) > 1:
        yield percent(kernel.cycles, sum(k.cycles for k in report.kernels)) + " of all kernels"


def occupancy_facts(sums: Totals) -> list[str]:
    facts = []
    if sums.achieved_occupancy is not None:
        facts.append(f"achieved {100 * sums.achieved_occupancy:.1f}%")
    if sums.theoretical_occupancy is not None:
        limiter = f" (limited by {sums.limiter})" if sums.limiter else ""
        facts.append(f"theoretical {100 * sums.theoretical_occupancy:.1f}%{limiter}")
    return facts


def top_reasons(reasons: tuple[int, ...], look: Look) -> Text:
    text = Text()
    for reason in ranked(reasons)[:3]:
        text.append(look.dot if text.plain else "")
        text.append(NAMES[reason], REASON_LOOKS[NAMES[reason]].colour if look.colour else "")
        text.append(f" {percent(reasons[reason], sum(reasons))}")
    return text


def memory_facts(kernel: Kernel, sums: Totals) -> list[str]:
    counters = kernel.cost.counters
    facts = []
    if counters.l2_sectors_global:
        asked, ideal = counters.l2_sectors_global, counters.l2_sectors_global_ideal
        facts.append(f"{grouped(asked)} sectors, {asked / ideal:.3g}x ideal" if ideal else f"{grouped(asked)} sectors")
    if counters.l2_sectors_local:
        facts.append(f"{grouped(counters.l2_sectors_local)} sectors of local memory")
    for name, rate in (("L1", sums.l1_hit_rate), ("L2", sums.l2_hit_rate)):
        if rate is not None:
            facts.append(f"{name} hits {100 * rate:.1f}%")
    if sums.dram_read_nbytes is not None and sums.dram_write_nbytes is not None:
        facts.append(f"DRAM {nbytes(sums.dram_read_nbytes)} read, {nbytes(sums.dram_write_nbytes)} written")
    return facts


def shared_facts(kernel: Kernel) -> list[str]:
    counters = kernel.cost.counters
    used, ideal = counters.l1_wavefronts_shared, counters.l1_wavefronts_shared_ideal
    if not used:
        return []
    return [f"{grouped(used)} wavefronts", f"{grouped(used - ideal)} of them bank conflicts ({percent(used - ideal, used)})"]


def hot_rows(kernel: Kernel) -> list[tuple[str, object]]:
    """File name (without folders) and row of the hottest lines."""
    sections = source_sections(kernel)
    paths = {id(row): section.path for section in sections for row in section.rows}
    return [(paths[id(row)].rsplit("/", 1)[-1], row) for row in hottest(sections) if row.number]


def finding_lines(number: int, finding: Finding, look: Look) -> Iterator[Text]:
    next_step = f" (gpuprof explain {finding.explain})" if finding.explain else ""
    place = f"{finding.path.rsplit('/', 1)[-1]}:{finding.line}: " if finding.line and look.plain else ""
    text = shown(place + finding.text) + next_step
    if look.width is None:
        yield Text(f"# {number}. {text}")
        return
    first, rest = ("# " if look.plain else "  ") + f"{number}. ", ("# " if look.plain else "  ") + "   "
    for index, part in enumerate(wrapped(text, max(look.width - cell_len(first), 10))):
        yield clipped(Text(first if index == 0 else rest, DIM).append(part, ""), look)


def wrapped(text: str, cells: int) -> list[str]:
    """Words in lines of at most `cells` cells; a longer word has a line of its own."""
    lines = [""]
    for word in text.split():
        candidate = f"{lines[-1]} {word}".strip()
        if lines[-1] and cell_len(candidate) > cells:
            lines.append(word)
        else:
            lines[-1] = candidate
    return lines
