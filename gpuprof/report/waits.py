"""The stalls of a row, or a kernel, by reason: how many, how long, and whether few long or many short ones.

A stall is all that a warp waits for one reason before one issue of an instruction, or after its last one. Counts and
lengths are exact.
In other makers' terms they are the same stalls: those of two reasons that share a term stay apart.
"""

from collections.abc import Iterable
from typing import NamedTuple

from gpuprof.isa.vocabularies import NCU, Vocabulary
from gpuprof.report.model import SELECTED, Instruction, Kernel, Row, Stalls
from gpuprof.report.number_text import grouped
from gpuprof.report.sections import isa_sections, source_sections

SHORT_CYCLES = 32  # ours: below it a few other warps hide the stall; an L1 hit takes about as long
LONG_CYCLES = 256  # ours: from it on hardly anything does; a trip to the L2 takes about as long


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
        """The kind of wait that has most of the cycles. A bin's cycles are not known: its middle length is assumed."""
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
    by_reason: dict[int, Stalls] = {}
    for instruction in instructions:
        for part in instruction.stalls:
            reason = vocabulary.first(vocabulary.word(part.reason))
            before = by_reason.get(reason, Stalls(reason, 0, 0, ()))
            lengths = dict(before.lengths)
            for least, n in part.lengths:
                lengths[least] = lengths.get(least, 0) + n
            longest = max(before.longest_cycles, part.longest_cycles)
            by_reason[reason] = Stalls(reason, before.stalls + part.stalls, longest, tuple(sorted(lengths.items())))
    return by_reason


def waits_of(path: str, row: Row, vocabulary: Vocabulary = NCU) -> list[Waits]:
    """A row's, most cycles first; none where nothing says so."""
    cycles = vocabulary.merged([0 if reason == SELECTED else n for reason, n in enumerate(row.cost.cycles)])
    waits = [
        Waits(path, row, stalls, cycles[reason]) for reason, stalls in joined(row.instructions, vocabulary).items()
    ]
    return sorted((wait for wait in waits if wait.stalls.stalls), key=lambda wait: (-wait.cycles, wait.stalls.reason))


def kernel_waits(kernel: Kernel, isa: bool = False, vocabulary: Vocabulary = NCU) -> list[Waits]:
    """The stalls of all lines of a kernel, or of all its instructions, most cycles first."""
    sections = isa_sections(kernel) if isa else source_sections(kernel)
    waits = [wait for section in sections for row in section.rows for wait in waits_of(section.path, row, vocabulary)]
    return sorted(waits, key=lambda wait: (-wait.cycles, wait.path, wait.row.number, wait.stalls.reason))


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


def stalls_of(row: Row, vocabulary: Vocabulary) -> dict[str, dict]:
    """A row's stalls for JSON, by reason."""
    return {vocabulary.word(wait.stalls.reason): facts(wait) for wait in waits_of("", row, vocabulary)}


def facts(waits: Waits) -> dict:
    return {
        "stalls": waits.stalls.stalls,
        "mean_cycles": round(waits.mean_cycles, 6),
        "longest_cycles": waits.stalls.longest_cycles,
        "kind": waits.kind,
        "lengths": {str(least): n for least, n in waits.stalls.lengths},
    }
