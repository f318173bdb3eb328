"""Does the sampling period beat in step with a loop? Then samples see the same few places of it, and more of them do
not help.

The shares of the samples over the loop's instructions are compared with the exact ones by Pearson's statistic, for the
effective number of samples. What chance does in one of a thousand recordings or more often is none of it, nor is a
small distance.
"""

import re
from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple

from gpuprof.report.estimates import Scale, scale_of
from gpuprof.report.model import Instruction, Kernel
from gpuprof.report.triage.ranking import MIN_PERIOD_CYCLES

BRANCH = re.compile(r"\bBRA\S* (0x[0-9a-f]+)$")
LOOP_SHARE = 0.10  # of the kernel's cycles: what is less is no reason to warn
DISTANCE = 0.03  # half the sum of the shares' differences
# samples at an instruction, for the statistic to follow chi-square (Cochran, 1954); rarer ones are taken together
LEAST_EXPECTED = 5
Z999 = 3.090232306167813  # the normal distribution's 99.9 % quantile
GOLDEN = 0.6180339887498949  # the fraction of a turn whose multiples spread most evenly


class Resonance(NamedTuple):
    """A loop whose sampled shares are not the exact ones."""

    path: str
    first_line: int
    last_line: int
    iteration_cycles: float  # of a warp, in the mean
    distance: float  # of the shares inside the loop, 0..1
    better_period: int  # that moves on by the golden section of an iteration with each sample


def loops(instructions: tuple[Instruction, ...]) -> Iterator[tuple[Instruction, ...]]:
    """The innermost loops: from the target of a branch backwards up to the branch, none with another inside."""
    spans = sorted(
        {
            (int(match[1], 16), i.pc)
            for i in instructions
            if (match := BRANCH.search(i.text)) and int(match[1], 16) <= i.pc
        }
    )
    for first, last in spans:
        if not any((first, last) != other and first <= other[0] and other[1] <= last for other in spans):
            yield tuple(i for i in instructions if first <= i.pc <= last)


def resonances(kernel: Kernel, period_cycles: int) -> list[Resonance]:
    """The kernel's loops whose samples are off by more than chance, costliest first."""
    scale = scale_of(kernel)
    if not (scale.weighted and scale.warp_cycles and period_cycles):
        return []
    inner = [loop for loop in loops(kernel.instructions) if cycles_of(loop) >= LOOP_SHARE * scale.warp_cycles]
    inner.sort(key=lambda loop: (-cycles_of(loop), loop[0].pc))
    return [beat for loop in inner if (beat := resonance(loop, scale, period_cycles))]


def cycles_of(loop: tuple[Instruction, ...]) -> int:
    return sum(i.cost.warp_cycles for i in loop)


def resonance(loop: tuple[Instruction, ...], scale: Scale, period_cycles: int) -> Resonance | None:
    sampled, exact = sum(i.cost.weight for i in loop), cycles_of(loop)
    turns = loop[-1].cost.counters.inst_executed
    if not sampled or not turns:
        return None
    shares = [(i.cost.weight / sampled, i.cost.warp_cycles / exact) for i in loop]
    distance = sum(abs(estimate - truth) for estimate, truth in shares) / 2
    if distance < DISTANCE or not beyond_chance(shares, scale.effective * sampled / scale.whole):
        return None
    iteration = exact / turns
    places = [p for i in loop for p in i.positions[:1] if p.line]
    path = places[0].path if places else ""
    lines = [p.line for p in places if p.path == path] or [0]
    return Resonance(path, min(lines), max(lines), iteration, distance, uneven(period_cycles, iteration))


def beyond_chance(shares: list[tuple[float, float]], n_samples: float) -> bool:
    """True where these (sampled, exact) shares differ by more than chance allows in one of 1000 sets of n samples."""
    common = [pair for pair in shares if n_samples * pair[1] >= LEAST_EXPECTED]
    rare = tuple(map(sum, zip(*(pair for pair in shares if n_samples * pair[1] < LEAST_EXPECTED), strict=True))) or (
        0.0,
        0.0,
    )
    cells = [*common, rare] if n_samples * rare[1] >= LEAST_EXPECTED else common
    freedom = len(cells) - (sum(truth for _, truth in cells) > 1 - 1e-9)
    if freedom < 1:
        return False
    statistic = n_samples * sum((estimate - truth) ** 2 / truth for estimate, truth in cells)
    spread = 2 / (9 * freedom)  # Wilson and Hilferty, 1931: the cube root of chi-square is nearly normal
    return (statistic / freedom) ** (1 / 3) - (1 - spread) > Z999 * sqrt(spread)


def uneven(period_cycles: int, iteration: float) -> int:
    """The period near this one after which a loop is the golden section of an iteration further."""
    return max(MIN_PERIOD_CYCLES, round((max(1, round(period_cycles / iteration)) + GOLDEN) * iteration))
