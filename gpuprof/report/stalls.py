"""The stalls page: for each line (or instruction) and reason how many stalls, how long, and whether few long or many
short ones.

A stall is all that a warp waits for one reason before one issue of an instruction, or after its last one. Counts and
lengths are exact.
In other makers' terms they are the same stalls: those of two reasons that share a term stay apart.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rich.text import Text

from gpuprof.isa.printable import printable
from gpuprof.isa.stalls import NAMES
from gpuprof.isa.vocabularies import NCU, Vocabulary
from gpuprof.report.figures import base_name, count, grouped, percent
from gpuprof.report.model import SELECTED, Instruction, Kernel, Report, Row, Stalls
from gpuprof.report.sections import isa_sections, source_sections
from gpuprof.report.terminal.columns import Column, table
from gpuprof.report.terminal.look import BOLD, DIM, Look, clipped, shown

SHORT_CYCLES = 32  # ours: below it a few other warps hide the stall; an L1 hit takes about as long
LONG_CYCLES = 256  # ours: from it on hardly anything does; a trip to the L2 takes about as long
MOST_ROWS, LEAST_SHARE = 20, 0.005  # shown of a kernel
LEAST_BINS, LEAST_CODE_CELLS = 12, 4
HEIGHTS, DIGITS = " ▁▂▃▄▅▆▇█", ".123456789"


class Waits(NamedTuple):
    """One reason's stalls of a row, and their cycles."""

    path: str
    row: Row
    stalls: Stalls
    cycles: int

    @property
    def mean_cycles(self) -> float:
        return self.cycles / self.stalls.stalls

    @property
    def kind(self) -> str:
        """Where most of the cycles are. A bin's cycles are not known, so that they are shared out by its middle."""
        if not self.stalls.lengths:  # the recording was cut before them
            return "unknown"
        weights = {least: n * 1.5 * least for least, n in self.stalls.lengths}
        long = sum(weight for least, weight in weights.items() if least >= LONG_CYCLES)
        short = sum(weight for least, weight in weights.items() if least < SHORT_CYCLES)
        if 2 * long >= sum(weights.values()):
            n_long = sum(n for least, n in self.stalls.lengths if least >= LONG_CYCLES)
            return "long" if 2 * n_long >= self.stalls.stalls else "few long"
        return "many short" if 2 * short >= sum(weights.values()) else "middling"


def joined(instructions: Iterable[Instruction], vocabulary: Vocabulary = NCU) -> dict[int, Stalls]:
    """The stalls of several instructions together, by the first reason of their terms."""
    found: dict[int, Stalls] = {}
    for instruction in instructions:
        for some in instruction.stalls:
            reason = vocabulary.first(vocabulary.word(some.reason))
            before = found.get(reason, Stalls(reason, 0, 0, ()))
            lengths = dict(before.lengths)
            for least, n in some.lengths:
                lengths[least] = lengths.get(least, 0) + n
            longest = max(before.longest_cycles, some.longest_cycles)
            found[reason] = Stalls(reason, before.stalls + some.stalls, longest, tuple(sorted(lengths.items())))
    return found


def waits_of(path: str, row: Row, vocabulary: Vocabulary = NCU) -> list[Waits]:
    """A row's, most cycles first; none where nothing says so."""
    cycles = vocabulary.merged([0 if reason == SELECTED else n for reason, n in enumerate(row.cost.cycles)])
    waits = [
        Waits(path, row, stalls, cycles[reason]) for reason, stalls in joined(row.instructions, vocabulary).items()
    ]
    return sorted((some for some in waits if some.stalls.stalls), key=lambda some: (-some.cycles, some.stalls.reason))


def kernel_waits(kernel: Kernel, isa: bool = False, vocabulary: Vocabulary = NCU) -> list[Waits]:
    """Of all lines of a kernel, or of all its instructions, most cycles first."""
    sections = isa_sections(kernel) if isa else source_sections(kernel)
    waits = [some for section in sections for row in section.rows for some in waits_of(section.path, row, vocabulary)]
    return sorted(waits, key=lambda some: (-some.cycles, some.path, some.row.number, some.stalls.reason))


# In words.

ENDINGS = {
    "long": "",
    "few long": ": few long ones have most of the cycles",
    "many short": ": many short ones",
    "middling": "",
    "unknown": "",
}


def range_of(least: int) -> str:
    """ "1", "2-3", "512-1,023"."""
    return str(least) if least == 1 else f"{grouped(least)}-{grouped(2 * least - 1)}"


def mean(cycles: float) -> str:
    return f"{cycles:.1f}" if cycles < 100 else grouped(round(cycles))


def sentence(waits: Waits) -> str:
    """ "3,072 stalls of 512-1,023 cycles each"."""
    n, longest = waits.stalls.stalls, waits.stalls.longest_cycles
    if n == 1 or longest == 1:
        return f"{grouped(n)} stall{'s' * (n > 1)} of {grouped(longest)} cycle{'s' * (longest > 1)}" + " each" * (n > 1)
    if len(waits.stalls.lengths) == 1:
        return f"{grouped(n)} stalls of {range_of(waits.stalls.lengths[0][0])} cycles each"
    return (
        f"{grouped(n)} stalls of {mean(waits.mean_cycles)} cycles on average, the longest of "
        f"{grouped(longest)}{ENDINGS[waits.kind]}"
    )


# As text.


def histogram(lengths: Sequence[tuple[int, int]], look: Look) -> Text:
    """A cell for each bin from 1 on, as high as its count; in a pipe "1:40,512:3"."""
    if look.plain or not lengths:
        return Text(",".join(f"{least}:{n}" for least, n in lengths))
    of_bin = {least.bit_length() - 1: n for least, n in lengths}
    most, levels = max(of_bin.values()), HEIGHTS if look.blocks else DIGITS
    return Text("".join(levels[-(-of_bin.get(k, 0) * (len(levels) - 1) // most)] for k in range(max(of_bin) + 1)))


def scale(n_bins: int) -> str:
    """The axis over a histogram: every fourth bin's least cycles."""
    return "".join(f"{1 << k % 10}{' KMGT'[k // 10]}".strip().ljust(4) for k in range(0, n_bins, 4))[:n_bins]


def page(report: Report, look: Look, isa: bool = False) -> Iterator[Text]:
    for kernel in report.kernels:
        yield from kernel_page(kernel, look, isa)


def kernel_page(kernel: Kernel, look: Look, isa: bool) -> Iterator[Text]:
    mark = "# " if look.plain else ""
    waits, cycles = kernel_waits(kernel, isa, look.vocabulary), kernel.cost.cycles
    stalled = sum(cycles) - cycles[SELECTED]
    yield Text("")
    yield clipped(
        Text(mark).append(shown(kernel.name), BOLD).append(f"  {grouped(stalled)} stalled warp-cycles", DIM), look
    )
    if not waits:
        yield clipped(Text(f"{mark}no stall was recorded" + ("; collect again" if stalled else "")), look)
        return
    worth = [some for some in waits if some.cycles >= LEAST_SHARE * stalled][:MOST_ROWS] or waits[:1]
    yield from table(columns_for(worth, stalled, look, isa), worth, look, LEAST_CODE_CELLS)
    if len(worth) < len(waits):
        rest = percent(stalled - sum(some.cycles for some in worth), stalled)
        yield clipped(Text(f"{mark}left out: {len(waits) - len(worth)} further, {rest} together", DIM), look)


def columns_for(waits: list[Waits], stalled: int, look: Look, isa: bool) -> list[Column]:
    def place(some: Waits) -> Text:
        if isa:
            return Text(f"{some.row.number:#x}", DIM)
        return Text(f"{shown(base_name(some.path))}:{some.row.number}" if some.row.number else "-")

    def reason(some: Waits) -> Text:
        word = look.vocabulary.word if look.plain else look.vocabulary.short
        return Text(word(some.stalls.reason), look.of_reason(NAMES[some.stalls.reason]))

    n_bins = max([LEAST_BINS, *(some.stalls.lengths[-1][0].bit_length() for some in waits if some.stalls.lengths)])
    return [
        Column("share", lambda w: Text(percent(w.cycles, stalled)), gap=0),
        Column("reason", reason, left=True),
        Column("stalls", lambda w: Text(count(w.stalls.stalls, look.plain)), 1),
        Column("mean", lambda w: Text(f"{w.mean_cycles:.1f}" if look.plain else mean(w.mean_cycles)), 2),
        Column("longest", lambda w: Text(count(w.stalls.longest_cycles, look.plain)), 5),
        Column(
            "cycles:stalls" if look.plain else scale(n_bins), lambda w: histogram(w.stalls.lengths, look), 4, left=True
        ),
        Column("kind", lambda w: Text(w.kind.replace(" ", "-") if look.plain else w.kind), 3, left=True),
        Column("address" if isa else "line", place, left=True),
        Column("instruction" if isa else "source", lambda w: Text(shown(w.row.text).strip(), DIM), left=True),
    ]


# For programs: by instruction, which can be summed to anything.


def rows(report: Report, lines: tuple[int, int] | None = None) -> Iterator[Sequence[object]]:
    """The CSV: one row per instruction and reason, a column for each bin that any has."""
    waits = [(kernel, some) for kernel in report.kernels for some in kernel_waits(kernel, True, report.vocabulary)]
    bins = sorted({least for _, some in waits for least, _ in some.stalls.lengths})
    names = (
        "Kernel Name",
        "Address",
        "File",
        "Line",
        "Function",
        "Instruction",
        "Reason",
        "Warp Cycles",
        "Stalls",
        "Mean Cycles",
    )
    yield [*names, "Longest Cycles", "Kind", *(f"Stalls Of {range_of(least).replace(',', '')}" for least in bins)]
    for kernel, some in waits:
        lengths, place = dict(some.stalls.lengths), some.row.instructions[0].positions[0]
        text = [printable(part) for part in (place.function, some.row.text)]
        yield [
            *(
                printable(kernel.name),
                f"{some.row.number:#x}",
                printable(place.path),
                place.line,
                *text,
                report.vocabulary.word(some.stalls.reason),
            ),
            *(some.cycles, some.stalls.stalls, round(some.mean_cycles, 6), some.stalls.longest_cycles, some.kind),
            *(lengths.get(least, 0) for least in bins),
        ]


def of_row(row: Row, vocabulary: Vocabulary) -> dict[str, dict]:
    """A row's stalls for JSON, by reason."""
    return {vocabulary.word(some.stalls.reason): facts(some) for some in waits_of("", row, vocabulary)}


def of_kernel(kernel: Kernel, vocabulary: Vocabulary) -> list[dict]:
    """The page for JSON, by line and reason, most cycles first."""
    return [
        {
            "path": some.path,
            "line": some.row.number,
            "reason": vocabulary.word(some.stalls.reason),
            "warp_cycles": some.cycles,
        }
        | facts(some)
        for some in kernel_waits(kernel, False, vocabulary)
    ]


def facts(waits: Waits) -> dict:
    return {
        "stalls": waits.stalls.stalls,
        "mean_cycles": round(waits.mean_cycles, 6),
        "longest_cycles": waits.stalls.longest_cycles,
        "kind": waits.kind,
        "lengths": {str(least): n for least, n in waits.stalls.lengths},
    }
