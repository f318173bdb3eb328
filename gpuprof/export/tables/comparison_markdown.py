"""Two profiles side by side, as Markdown: of each kernel that both have its numbers, stall mixes and lines.

Kernels and lines belong together as in `gpuprof diff`. Shares are of each profile's own cost: warp-cycles of a
recording, samples of a card, which estimate the same shares. So a card's profile can be compared with the model's.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from gpuprof.compare.changes import Change, distance
from gpuprof.compare.difference import SAMPLES, WARP_CYCLES, KernelDifference, difference_of
from gpuprof.compare.kernels import NAME, KernelPair, paired_kernels
from gpuprof.errors import NotComparable
from gpuprof.export.tables.ncu_values import report_of
from gpuprof.isa.printing.markdown import escaped, row
from gpuprof.isa.stalls import NAMES
from gpuprof.report.differences.kernel_sides import kernel_name, kernel_side, opcodes
from gpuprof.report.differences.words import is_line, note_of, place_of
from gpuprof.report.model import ChipFacts, Kernel, Report
from gpuprof.report.totals import totals

LEAST_SHARE = 0.01  # of a line, in one of both
NUMBERS = (  # label, number of totals, factor, unit
    ("achieved occupancy", "achieved_occupancy", 100, "%"),
    ("theoretical occupancy", "theoretical_occupancy", 100, "%"),
    ("issue slots used", "issue_utilisation", 100, "%"),
    ("L1 hits", "l1_hit_rate", 100, "%"),
    ("L2 hits", "l2_hit_rate", 100, "%"),
)
OF_A_LAUNCH = (("DRAM read by a launch", "dram_read_nbytes"), ("DRAM written by a launch", "dram_write_nbytes"))


def write(database: sqlite3.Connection, path: Path, other: sqlite3.Connection) -> None:
    """Raises NotComparable where they have no kernel in common."""
    found = lines(report_of(database), report_of(other))
    path.write_text("".join(f"{line}\n" for line in found), encoding="utf-8", newline="\n")


def lines(one: Report, two: Report) -> Iterator[str]:
    names = (title(one), title(two))
    pairs = kernel_pairs(one, two)
    if not pairs:
        ours, theirs = (", ".join(kernel.name for kernel in report.kernels) for report in (one, two))
        raise NotComparable(f"the files have no kernel in common: one has {ours}, the other {theirs}")
    for pair in pairs:
        first, second = pair
        both = difference(one, two, pair)
        yield from (f"## {heading(pair)}", "", row("", *names, "ratio"), "|---|--:|--:|--:|")
        yield number("cycles of a launch", cycles(first), cycles(second), "")
        yield number("registers", first.registers, second.registers, "")
        yield from totals_of((first, one.chip), (second, two.chip))
        yield from ("", row("stalls", *names, "points"), "|---|--:|--:|--:|")
        yield from shares_of(both, [(NAMES[change.name], change) for change in both.by_reason])
        yield from ("", row("lines", *names, "points"), "|---|--:|--:|--:|")
        yield from shares_of(both, lines_of(both))
        yield ""


def kernel_pairs(one: Report, two: Report) -> list[tuple[Kernel, Kernel]]:
    """Kernels that belong together, in the order of the first profile."""
    ours, theirs = ({kernel_name(kernel): kernel for kernel in report.kernels} for report in (one, two))
    pairs, _, _ = paired_kernels(
        list(theirs), list(ours), lambda name: opcodes(theirs[name]), lambda name: opcodes(ours[name])
    )
    return [(ours[pair.new], theirs[pair.old]) for pair in pairs]


def heading(pair: tuple[Kernel, Kernel]) -> str:
    return " and ".join(dict.fromkeys(escaped(kernel.name) for kernel in pair))


def difference(one: Report, two: Report, pair: tuple[Kernel, Kernel]) -> KernelDifference:
    """The costs of either side are in its own unit."""
    sides = [
        kernel_side(report, kernel, (), {}, WARP_CYCLES if kernel.cost.warp_cycles else SAMPLES)
        for report, kernel in zip((one, two), pair, strict=True)
    ]
    first, second = map(kernel_name, pair)
    return difference_of(KernelPair(second, first, NAME), sides[1], sides[0])


def title(report: Report) -> str:
    header = report.header
    return escaped(header.measured_by or f"gpuprof {header.tool_version}") + f", {escaped(header.chip)}"


def cycles(kernel: Kernel) -> float:
    return kernel.cycles / len(kernel.launches)


def number(label: str, one: float, two: float, unit: str) -> str:
    ratio = f"{one / two:.2f}" if two else "-"
    return row(label, *(f"{value:,.4g}{unit}" if value % 1 else f"{value:,.0f}{unit}" for value in (one, two)), ratio)


def totals_of(*kernels: tuple[Kernel, ChipFacts]) -> Iterator[str]:
    one, two = (totals(*each) for each in kernels)
    for label, name, factor, unit in NUMBERS:
        values = getattr(one, name), getattr(two, name)
        if None not in values:
            yield number(label, *(round(factor * value, 3) for value in values), unit)
    for label, name in OF_A_LAUNCH:
        values = getattr(one, name), getattr(two, name)
        if None not in values:
            launches = (len(kernel.launches) for kernel, _ in kernels)
            yield number(label, *(round(value / n) for value, n in zip(values, launches, strict=True)), " B")


def lines_of(both: KernelDifference) -> Iterator[tuple[str, Change[int, int]]]:
    """Lines with their names; code without a line is left out."""
    for change in both.by_line:
        if is_line(both, change.name):
            note = note_of(both, change.name)
            yield escaped(place_of(both, change.name) + (f" ({note})" if note else "")), change


def shares_of(both: KernelDifference, named: Iterable[tuple[str, Change[int, int]]]) -> Iterator[str]:
    """Largest first, then half the sum of all differences."""
    ours, theirs = both.new.cost or 1, both.old.cost or 1
    shares = [(name, (change.new or 0) / ours, (change.old or 0) / theirs) for name, change in named]
    for name, our, their in sorted(shares, key=lambda each: (-max(each[1:]), each[0])):
        if max(our, their) >= LEAST_SHARE:
            yield row(name, f"{100 * our:.1f}%", f"{100 * their:.1f}%", f"{100 * (our - their):+.1f}")
    apart = distance(*({at: each[place] for at, each in enumerate(shares)} for place in (2, 1)))
    yield row("**distance**", "", "", f"{apart:.3f}")
