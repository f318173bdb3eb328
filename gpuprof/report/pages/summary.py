"""The summary page: each kernel's time, use of the machine, stall mix, memory and hottest lines, and what to look at
first.
"""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from gpuprof.base.wording import base_name, plural
from gpuprof.isa.printing.printable import printable
from gpuprof.isa.stalls import NAMES
from gpuprof.isa.vocabularies import Vocabulary
from gpuprof.report.formats import cell
from gpuprof.report.model import SELECTED, ChipFacts, Kernel, Launch, Report, Row, ranked
from gpuprof.report.number_text import count, duration, extent, grouped, nbytes, percent
from gpuprof.report.pages.page_kind import Page, Request
from gpuprof.report.pages.peaks import throughput_facts, throughput_rows
from gpuprof.report.pages.program_object import program_object
from gpuprof.report.sections import hottest, source_sections
from gpuprof.report.tasks.program_time import (
    COPIES,
    IDLE,
    KERNELS,
    NOT_KNOWN,
    NOTHING,
    Engine,
    ProgramTime,
)
from gpuprof.report.terminal.bars import bar
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.styles import BOLD, DIM, WARM, Look, clipped, flow, shown, wrapped
from gpuprof.report.totals import Totals, span_fact, totals
from gpuprof.report.triage.findings import Finding
from gpuprof.report.triage.kernel_rules import findings
from gpuprof.report.waits import sentence, waits_of
from gpuprof.report.warp_ends import most_waited_for

LABEL_CELLS = 11
BEFORE_CELLS = 2 + LABEL_CELLS  # of a fact's first value
MIX_CELLS = 40
LEAST_WAITED_SHARE = 0.01
SEVERE = ("error", "warning")


def text(report: Report, look: Look, request: Request) -> Iterator[Text]:
    if told := errors_told(report):
        yield Text("")
        yield from flow(Text("# " if look.plain else ""), [Text(told, WARM)], look)
    if len(report.kernels) > 1:
        yield Text("")
        yield from kernel_table(report, look)
        if span := span_fact([launch for kernel in report.kernels for launch in kernel.launches], report.chip):
            yield from flow(Text("# " if look.plain else ""), [span], look)
    if report.n_draws:
        number = plural(report.n_draws, "draw", "draws")
        yield from flow(Text("# " if look.plain else ""), [f"{number}: gpuprof report FILE --page draws"], look)
    if report.program:
        yield from program_summary(report.program, look)
    for kernel in report.kernels:
        yield from kernel_summary(kernel, report, look)


def program_summary(program: ProgramTime, look: Look) -> Iterator[Text]:
    yield Text("")
    yield clipped(Text("# " if look.plain else "").append("the program", BOLD), look)
    for label, parts in program_facts(program):
        if parts:
            yield from flow(Text("# " if look.plain else "  ").append(f"{label:<{LABEL_CELLS}}", DIM), parts, look)


def program_facts(program: ProgramTime) -> Iterator[tuple[str, Sequence[Text | str]]]:
    """Labels and values. Shares are of the time from the first call to the last end."""
    whole = program.cycles
    yield "took", [duration(whole, program.clock_mhz), f"{grouped(whole)} cycles at {program.clock_mhz:g} MHz"]
    yield "worked", list(work_facts(program))
    yield "idle", [percent(program.idle, whole), *idle_facts(program)]
    yield "moved", [engine_fact(engine, program.clock_mhz) for engine in program.engines if engine.nbytes]


def idle_facts(program: ProgramTime) -> Iterator[str]:
    """Its causes, most cycles first."""
    for cause in sorted(IDLE, key=lambda cause: -program.waited(cause)):
        if cycles := program.waited(cause):
            words = cause if cause in (NOTHING, NOT_KNOWN) else f"for {cause}"
            yield f"{words} {percent(cycles, program.cycles)}"


def work_facts(program: ProgramTime) -> Iterator[str]:
    for name, cycles in program.works.items():
        beside = f" ({percent(program.overlap, program.cycles)} together with kernels)" if name == COPIES else ""
        if cycles or name == KERNELS:
            yield f"{name} {percent(cycles, program.cycles)}{beside}"


def engine_fact(engine: Engine, clock_mhz: float) -> str:
    rate = engine.gbytes_per_s(clock_mhz)
    return f"{engine.name} {nbytes(engine.nbytes)}" + (f" at {rate:.3g} GB/s" if rate else "")


def errors_told(report: Report) -> str:
    """ "1,025 errors, 1 warning: gpuprof report FILE --page findings"; "" where checkers found neither."""
    sums = {severity: sum(f.count for f in report.findings if f.severity == severity) for severity in SEVERE}
    words = ", ".join(plural(number, severity, f"{severity}s") for severity, number in sums.items() if number)
    return f"{words}: gpuprof report FILE --page findings" if words else ""


def kernel_table(report: Report, look: Look) -> Iterator[Text]:
    whole = sum(kernel.cycles for kernel in report.kernels)

    def top(kernel: Kernel) -> Text:
        order = [reason for reason in ranked(look.vocabulary.merged(kernel.cost.reasons)) if reason != SELECTED]
        return Text(look.vocabulary.word(order[0]) if order else "-")

    columns = [
        Column("share", lambda k: Text(percent(k.cycles, whole)), gap=0),
        Column(
            "time",
            lambda k: Text(time_of(k, report.chip).replace(" ", "") if look.plain else time_of(k, report.chip)),
            2,
        ),
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
    for label, parts in kernel_facts(kernel, report, look):
        if parts:
            yield from flow(Text("# " if look.plain else "  ").append(f"{label:<{LABEL_CELLS}}", DIM), parts, look)
    if not look.plain:
        yield Text("")
    for number, finding in enumerate(findings(kernel, report.chip, report.header, report.vocabulary), 1):
        yield from finding_lines(number, finding, look)


def kernel_facts(kernel: Kernel, report: Report, look: Look) -> Iterator[tuple[str, Sequence[Text | str]]]:
    """Labels and values; no values for a fact the database has not got."""
    sums, reasons, launch = totals(kernel, report.chip), kernel.cost.reasons, kernel.launches[-1]
    yield "time", list(time_facts(kernel, report))
    yield "launch", list(launch_facts(kernel, launch))
    yield "occupancy", occupancy_facts(sums)
    yield "issue", issue_facts(sums)
    yield from throughput_facts(kernel, report, look, BEFORE_CELLS)
    yield "stalls", top_reasons(reasons, look)
    if not look.plain:
        yield "", [bar(reasons, 1, min(MIX_CELLS, max((look.width or 80) - LABEL_CELLS - 4, 8)), look)]
    yield "memory", sector_facts(kernel)
    yield "caches", cache_facts(sums)
    yield "shared", shared_facts(kernel)
    for index, (name, row) in enumerate(hot_rows(kernel)):
        share = percent(sum(row.cost.reasons), sum(reasons))
        place = Text(f"{share:>5}  {shown(name)}:{row.number}  ").append(shown(row.text).strip(), DIM)
        yield "hottest" if index == 0 or look.plain else "", [place]
    yield "lengths", length_facts(kernel, look)
    yield "waited for", waited_facts(kernel)


def time_facts(kernel: Kernel, report: Report) -> Iterator[str]:
    cut_off = sum(not launch.complete for launch in kernel.launches)
    if kernel.cycles and report.chip.clock_mhz:
        yield time_of(kernel, report.chip)
        yield f"{grouped(kernel.cycles)} cycles at {report.chip.clock_mhz:g} MHz"
    elif kernel.cycles:
        yield f"{grouped(kernel.cycles)} cycles"
    if len(kernel.launches) > 1:
        yield f"{len(kernel.launches)} launches"
    if span := span_fact(kernel.launches, report.chip):
        yield span
    if cut_off:
        yield f"unknown for {cut_off} that did not finish" if kernel.cycles else "unknown: it did not finish"
    if len(report.kernels) > 1:
        yield percent(kernel.cycles, report.header.cycles) + " of all kernels"


def launch_facts(kernel: Kernel, launch: Launch) -> Iterator[str]:
    yield f"grid {extent(launch.grid)}"
    yield f"block {extent(launch.block)}"
    yield plural(kernel.registers, "register", "registers")
    shared = kernel.shared_nbytes + launch.dynamic_shared_nbytes
    if shared:
        yield f"{grouped(shared)} B shared"


def occupancy_facts(sums: Totals) -> list[str]:
    facts = []
    if sums.achieved_occupancy is not None:
        facts.append(f"achieved {100 * sums.achieved_occupancy:.1f}%")
    if sums.theoretical_occupancy is not None:
        limiter = f" (limited by {sums.limiter})" if sums.limiter else ""
        facts.append(f"theoretical {100 * sums.theoretical_occupancy:.1f}%{limiter}")
    return facts


def issue_facts(sums: Totals) -> list[str]:
    facts = [] if sums.issue_utilisation is None else [f"{100 * sums.issue_utilisation:.1f}% of the issue slots used"]
    if sums.tensor_utilisation is not None:
        facts.append(f"tensor pipe busy {100 * sums.tensor_utilisation:.1f}%")
    return facts


def top_reasons(reasons: tuple[int, ...], look: Look) -> list[Text | str]:
    reasons = look.vocabulary.merged(reasons)
    return [
        Text()
        .append(look.vocabulary.word(reason), look.of_reason(NAMES[reason]))
        .append(f" {percent(reasons[reason], sum(reasons))}")
        for reason in ranked(reasons)[:3]
    ]


def sector_facts(kernel: Kernel) -> list[str]:
    counters = kernel.cost.counters
    facts = []
    if counters.l2_sectors_global:
        asked, ideal = counters.l2_sectors_global, counters.l2_sectors_global_ideal
        facts.append(plural(asked, "sector", "sectors") + (f", {asked / ideal:.3g}x ideal" if ideal else ""))
    if counters.l2_sectors_local:
        facts.append(f"{plural(counters.l2_sectors_local, 'sector', 'sectors')} of local memory")
    return facts


def cache_facts(sums: Totals) -> list[str]:
    facts = [
        f"{name} hits {100 * rate:.1f}%"
        for name, rate in (("L1", sums.l1_hit_rate), ("L2", sums.l2_hit_rate))
        if rate is not None
    ]
    if sums.dram_read_nbytes is not None and sums.dram_write_nbytes is not None:
        facts.append(f"DRAM {nbytes(sums.dram_read_nbytes)} read, {nbytes(sums.dram_write_nbytes)} written")
    return facts


def shared_facts(kernel: Kernel) -> list[str]:
    counters = kernel.cost.counters
    used, ideal = counters.l1_wavefronts_shared, counters.l1_wavefronts_shared_ideal
    if not used:
        return []
    return [
        plural(used, "wavefront", "wavefronts"),
        f"{grouped(used - ideal)} of them bank conflicts ({percent(used - ideal, used)})",
    ]


def length_facts(kernel: Kernel, look: Look) -> list[str]:
    """The stalls of the hottest line, for its largest reason."""
    for name, row in hot_rows(kernel)[:1]:
        for waits in waits_of("", row, look.vocabulary)[:1]:
            word = look.vocabulary.word(waits.stalls.reason)
            return [f"{word} at {shown(name)}:{row.number}", sentence(waits)]
    return []


def waited_facts(kernel: Kernel) -> list[str | Text]:
    """The line that others wait for most, where it is worth a line."""
    longest = most_waited_for(kernel)
    if not longest or longest[1] < LEAST_WAITED_SHARE * kernel.cost.warp_cycles:
        return []
    place, cycles, how, text = longest
    return [Text(f"{percent(cycles, kernel.cost.warp_cycles):>5}  {place}  ({how})  ").append(shown(text), DIM)]


def hot_rows(kernel: Kernel) -> list[tuple[str, Row]]:
    """File name (without folders) and row of the hottest lines."""
    sections = source_sections(kernel)
    paths = {id(row): section.path for section in sections for row in section.rows}
    return [(base_name(paths[id(row)]), row) for row in hottest(sections) if row.number]


def finding_lines(number: int, finding: Finding, look: Look) -> Iterator[Text]:
    """A finding as a numbered sentence."""
    next_step = f" (gpuprof explain {finding.explain})" if finding.explain else ""
    text = shown(finding.text) + next_step
    if look.width is None:
        yield Text(f"# {number}. {text}")
        return
    first, rest = ("# " if look.plain else "  ") + f"{number}. ", ("# " if look.plain else "  ") + "   "
    for index, part in enumerate(wrapped(text, max(look.width - cell_len(first), 10))):
        yield clipped(Text().append(first if index == 0 else rest, DIM).append(part), look)


def rows(report: Report, request: Request) -> Iterator[Sequence[object]]:
    """Kernel, fact, value: one row per fact, and one per finding."""
    yield ["Kernel Name", "Fact", "Value"]
    for name, value in program_rows(report.program) if report.program else ():
        yield ["", f"program.{name}", cell(value)]
    for kernel in report.kernels:
        for name, value in csv_facts(kernel, report):
            yield [printable(kernel.name), name, cell(value)]
        for finding in findings(kernel, report.chip, report.header, report.vocabulary):
            yield [printable(kernel.name), f"finding.{finding.rule}", printable(finding.text)]


def program_rows(program: ProgramTime) -> Iterator[tuple[str, object]]:
    """Facts of the program, of no kernel: cycles, bytes and shares from 0 to 1."""
    told = program_object(program)
    yield from (("host", told["host"]), ("cycles", program.cycles))
    yield from ((f"share.{name}", share) for name, share in told["shares"].items())
    yield from (("share.copies with kernels", told["copies_with_kernels"]), ("share.idle", told["idle"]))
    yield from ((f"idle.{cause}", share) for cause, share in told["idle_for"].items())
    for engine in told["engines"]:
        yield from ((f"{engine['engine']}.{name}", value) for name, value in engine.items() if name != "engine")


def csv_facts(kernel: Kernel, report: Report) -> Iterator[tuple[str, object]]:
    header = report.header
    yield from (("model_version", header.model_version), ("chip", header.chip), ("fidelity", header.fidelity))
    if header.caches:
        yield "cache", "; ".join(str(control) for control, _ in header.caches)
    if header.filter:
        yield "filter", header.filter
    yield from (("launches", len(kernel.launches)), ("cycles", kernel.cycles), ("registers", kernel.registers))
    yield from ((name, value) for name, value in vars(totals(kernel, report.chip)).items() if value is not None)
    yield from by_term("warp_cycles", kernel.cost.cycles, report.vocabulary)
    if header.is_sampled:
        yield from by_term("samples", kernel.cost.samples, report.vocabulary)
    yield from kernel.cost.counters.facts().items()
    yield from throughput_rows(kernel, report.chip)


def by_term(name: str, per_reason: Sequence[int], vocabulary: Vocabulary) -> Iterator[tuple[str, int]]:
    merged = vocabulary.merged(per_reason)
    return ((f"{name}.{vocabulary.word(number)}", merged[number]) for number in vocabulary.numbers())


def objects(kernel: Kernel, report: Report, request: Request) -> dict:
    """Nothing: totals and findings are in every page's JSON."""
    return {}


PAGE = Page(text, rows, objects)
