"""Throughput on pages: each resource's rate and its peak, and the limit; as lines, as rows and as objects."""

from collections.abc import Iterator

from gpuprof.base.wording import plural
from gpuprof.isa.vocabularies import Vocabulary
from gpuprof.report.model import SELECTED, ChipFacts, Kernel, Launch, Report
from gpuprof.report.number_text import percent, rounded
from gpuprof.report.terminal.styles import Look
from gpuprof.report.throughput import (
    Limit,
    Roof,
    Throughput,
    Use,
    active_share,
    limit_of,
    operations,
    roofline,
    throughput,
)
from gpuprof.report.totals import overlaps

UNIT_NAMES = {"GB/s": "gbytes_per_s", "GFLOP/s": "gflop_per_s", "GOP/s": "gop_per_s", "IPC": "ipc", "pipes": "pipes"}


def throughput_facts(kernel: Kernel, report: Report, look: Look, before_cells: int) -> Iterator[tuple[str, list[str]]]:
    """Labels and values for the summary, which follow `before_cells` cells; nothing where no launch has ended or the
    chip is not known.
    """
    used = throughput(kernel.launches, report.chip)
    for index, parts in enumerate(use_parts(used, None if look.width is None else look.width - before_cells)):
        yield "throughput" if index == 0 or look.plain else "", parts
    if limits := limit_of(kernel, report.chip):
        yield "limits", [*limit_facts(limits, used, kernel, report), *time_notes(used, kernel, report)]


def use_parts(used: Throughput, room: int | None) -> list[list[str]]:
    """The uses in columns where these fit, else in sentences that may be broken."""
    lines = use_lines(used)
    if room is None or max(map(len, lines), default=0) <= room:
        return [[line] for line in lines]
    return [
        [
            f"{use.resource.label} {percent(use.share, 1)}",
            f"{rate_text(use.achieved)} of {rate_text(use.peak)} {use.resource.unit}",
        ]
        for use in used.uses
    ]


def use_lines(used: Throughput) -> list[str]:
    """ "DRAM        1,482 of 1,776 GB/s     83.4%", in columns."""
    cells = [
        (use.resource.label, rate_text(use.achieved), rate_text(use.peak), use.resource.unit, percent(use.share, 1))
        for use in used.uses
    ]
    label, achieved, peak, unit, share = (
        (max(map(len, column)) for column in zip(*cells, strict=True)) if cells else (0,) * 5
    )
    return [
        f"{row[0]:<{label}}  {row[1]:>{achieved}} of {row[2]:>{peak}} {row[3]:<{unit}}  {row[4]:>{share}}"
        for row in cells
    ]


def rate_text(rate: float) -> str:
    """Three digits, or all of them before the point: "0.39", "83.4", "19,492"."""
    if rate >= 100:
        return f"{rate:,.0f}"
    return f"{rate:.1f}" if rate >= 10 else f"{rate:.2f}" if rate >= 0.1 else f"{rate:.2g}"


def limit_facts(limits: Limit, used: Throughput, kernel: Kernel, report: Report) -> Iterator[str]:
    """The limit first, then the evidence for it. The lines above have the shares of the peaks, and the occupancy."""
    top = f"{limits.use.resource.noun}, {percent(limits.use.share, 1)} of the peak"
    active = active_fact(used, kernel, report.chip)
    waiting = [] if limits.reason is None else [waiting_fact(limits.reason, kernel, report)]
    if limits.kind == "bound":
        yield top
    elif limits.kind == "idle":
        yield from [f"idle: {active}", *waiting]
    elif limits.kind == "high":
        yield from [f"{top}: high, and not full", *waiting, *filter(None, [active])]
    else:
        yield ": ".join([WORDS_OF_KIND[limits.kind], *waiting])
        yield from filter(None, [active])


WORDS_OF_KIND = {"pipe": "a full unit", "latency": "latency"}


def waiting_fact(reason: int, kernel: Kernel, report: Report) -> str:
    cycles = report.vocabulary.merged(kernel.cost.cycles)
    share = percent(cycles[report.vocabulary.place(reason)], sum(cycles) - cycles[SELECTED])
    return f"{share} of the waiting is {report.vocabulary.word(reason)}"


def active_fact(used: Throughput, kernel: Kernel, chip: ChipFacts) -> str:
    """How full the GPU was; "" where that is not known."""
    active = active_share(kernel, chip, used.cycles)
    if active is None:
        return ""
    is_shared = any(overlaps([launch for launch in kernel.launches if launch.complete]).values())
    return f"SMs active {'at most ' * is_shared}{percent(active, 1)} of the time"


def time_notes(used: Throughput, kernel: Kernel, report: Report) -> Iterator[str]:
    """Notes on the time that the rates are of, where it is not simply the sum of all launches."""
    if used.left_out:
        yield f"without {plural(used.left_out, 'launch', 'launches')} that did not finish"
    own = overlaps([launch for launch in kernel.launches if launch.complete])
    all_launches = overlaps([launch for other in report.kernels for launch in other.launches if launch.complete])
    if any(own.values()):
        yield "time in which several launches ran counts once"
    if any(all_launches[number] > n for number, n in own.items()):
        yield "other kernels ran at the same time, and are not in these rates"


def throughput_rows(kernel: Kernel, chip: ChipFacts) -> Iterator[tuple[str, object]]:
    """Facts of the summary's CSV."""
    used = throughput(kernel.launches, chip)
    for use in used.uses:
        name, unit = use.resource.name, UNIT_NAMES[use.resource.unit]
        yield f"throughput.{name}.{unit}", rounded(use.achieved)
        yield f"throughput.{name}.peak_{unit}", rounded(use.peak)
        yield f"throughput.{name}.share", rounded(use.share)
    if limits := limit_of(kernel, chip):
        yield "limits", limits.kind
        yield "limits.resource", limits.use.resource.name
    yield from ((f"operations.{precision}", n) for precision, n in operations(kernel.launches).items())


def top_text(launch: Launch, chip: ChipFacts, plain: bool) -> str:
    """The resource that a launch used most, in a cell: "DRAM 83.4%"; "-" where none is known."""
    top = throughput([launch], chip).top
    if top is None:
        return "-"
    label = top.resource.label.replace(" ", "_") if plain else top.resource.label
    return f"{label}{':' if plain else ' '}{percent(top.share, 1)}"


def launch_rates(launch: Launch, chip: ChipFacts) -> dict[str, object]:
    """Facts of a launch for CSV: shares of peaks, and operations."""
    shares = {f"throughput.{use.resource.name}.share": rounded(use.share) for use in throughput([launch], chip).uses}
    return shares | {f"operations.{precision}": n for precision, n in operations([launch]).items()}


def throughput_object(launches: tuple[Launch, ...], chip: ChipFacts) -> dict:
    """For JSON: of a kernel or of one launch."""
    used = throughput(launches, chip)
    return {
        "cycles": used.cycles,
        "launches": used.launches,
        "launches_left_out": used.left_out,
        "operations": operations(launches),
        "resources": [use_object(use) for use in used.uses],
        "roofline": [roof_object(roof) for roof in roofline(used)],
    }


def use_object(use: Use) -> dict:
    return {
        "name": use.resource.name,
        "unit": use.resource.unit,
        "work": use.work,
        "achieved": rounded(use.achieved),
        "peak": rounded(use.peak),
        "share": rounded(use.share),
    }


def roof_object(roof: Roof) -> dict:
    return {
        "precision": roof.use.resource.name,
        "operations": roof.use.work,
        "dram_nbytes": roof.dram_nbytes,
        "operations_per_byte": rounded(roof.operations_per_byte),
        "ridge_operations_per_byte": rounded(roof.ridge_operations_per_byte),
        "achieved_gflop_per_s": rounded(roof.use.achieved),
        "attainable_gflop_per_s": rounded(roof.attainable),
    }


def limit_object(kernel: Kernel, chip: ChipFacts, vocabulary: Vocabulary) -> dict | None:
    limits = limit_of(kernel, chip)
    if limits is None:
        return None
    return {
        "kind": limits.kind,
        "resource": limits.use.resource.name,
        "share": rounded(limits.use.share),
        "stall_reason": None if limits.reason is None else vocabulary.word(limits.reason),
    }
