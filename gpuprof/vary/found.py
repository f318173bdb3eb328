"""The findings of a search: a row a variant, and the best."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gpuprof.base.wording import extent_of
from gpuprof.chips import Chip
from gpuprof.sweep.run_sweep import Measured
from gpuprof.vary.judged import SAME, Tried
from gpuprof.vary.reproduce import command_of
from gpuprof.vary.variants import ORIGINAL, Variant, VaryPlan, search_of

NOT_RUN = "not run"


class Row(NamedTuple):
    """A variant. `cycles`: of all launches; None where it failed, was not run, or left before all its launches ran.
    `speedup`: the cycles of the original divided by these. `registers` and `occupancy` (0..1, theoretical) are those of
    the longest launch. `results`: of judged, or NOT_RUN. `round`: the last one that it was in, 0 for none; `is_timed`:
    all its blocks and launches were timed there. `command`: measures it again.
    """

    variant: int
    values: tuple[str, ...]
    cycles: int | None
    speedup: float | None
    registers: int | None
    occupancy: float | None
    results: str
    text: str
    round: int
    is_timed: bool
    launches: tuple[Measured, ...]
    command: str


class Found(NamedTuple):
    """The findings. `rows`: the original, then the variants in the order of the plan. `best`: the fastest of those that
    compute the same, of the last round; None when nothing has run.
    """

    plan: VaryPlan
    chip: Chip
    search: str
    rows: tuple[Row, ...]
    best: Row | None


def found_of(plan: VaryPlan, variants: Sequence[Variant], tried: Mapping[int, Tried], is_done: bool = True) -> Found:
    """`tried`: by number, as far as the search has come; `is_done`: to its end."""
    original = tried.get(ORIGINAL)
    rows = tuple(_row(plan, each, variants[ORIGINAL], tried.get(each.number), original) for each in variants)
    last = max((row.round for row in rows), default=0)
    running = [row for row in rows if row.results == SAME and row.round == last] if is_done else []
    best = min(running, key=lambda row: (row.cycles, row.variant), default=None)
    return Found(plan, variants[ORIGINAL].run.chip, search_of(plan, len(variants) - 1), rows, best)


def _row(plan: VaryPlan, variant: Variant, first: Variant, tried: Tried | None, original: Tried | None) -> Row:
    command = command_of(plan, variant, first)
    if tried is None:
        return Row(variant.number, variant.values, None, None, None, None, NOT_RUN, "", 0, False, (), command)
    is_all = original is None or len(tried.launches) == len(original.launches)
    cycles = tried.cycles if is_all else None
    before = original.cycles if original else None
    longest = max(tried.launches, key=lambda launch: launch.metrics["cycles"], default=None)
    return Row(
        variant.number,
        variant.values,
        cycles,
        round(before / cycles, 4) if before and cycles else None,
        longest.metrics["registers"] if longest else None,
        occupancy_of(longest, variant.run.chip) if longest else None,
        tried.results,
        tried.text,
        tried.round,
        tried.is_whole and bool(tried.launches),
        tried.launches,
        command,
    )


def occupancy_of(launch: Measured, chip: Chip) -> float:
    """The share of an SM's warp slots that the blocks which fit it fill."""
    x, y, z = extent_of(launch.block)
    return launch.blocks_per_sm * -(-(x * y * z) // chip.warp_lanes) / chip.warp_slots
