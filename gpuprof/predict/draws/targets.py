"""The distance at which draws touch the same bytes of their targets again: it decides if another chip's L2 still has
them.

    extents and bytes of the draws of a recording ─> target_reuse ─> TargetReuse of each ─> target_traffic ─> bytes

Consecutive draws into the same targets are a pass. The bytes that a pass touches are new to it until all samples of the
targets have been touched once. From then on they are touched again, and the distance is what the same units touched in
between.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.predict.chip_numbers import Numbers

# Unit -> the amounts of work that give its bytes and its samples.
WORK_OF = {"depth": ("depth_nbytes", "n_samples"), "write": ("written_nbytes", "n_written")}


class UnitBytes(NamedTuple):
    """In whole sectors: accesses to the L2, and what missed it or was written back."""

    l2_read_nbytes: int
    l2_write_nbytes: int
    dram_read_nbytes: int
    dram_write_nbytes: int


class Extent(NamedTuple):
    """The pass that a draw's targets belong to, by number, and how many samples each target has."""

    of_pass: int
    n_samples: int


class TargetReuse(NamedTuple):
    """Bytes of targets, by unit: `new` ones, which the pass had not touched, and those touched `again`. `before`: all
    that passes had touched before this draw; `between`: the distance between two touches, all that the draw's units
    have touched in this pass.
    """

    new: Mapping[str, float] = {}
    again: Mapping[str, float] = {}
    before: float = 0
    between: float = 0


NO_TARGETS = TargetReuse()


class TargetTraffic(NamedTuple):
    """float64 (chips,): bytes that each unit reads from the DRAM, and that are written there, in excess of the
    reference chip.
    """

    read: Mapping[str, np.ndarray]
    written: np.ndarray


def target_reuse(
    extents: Sequence[Extent], nbytes: Sequence[Mapping[str, UnitBytes]], works: Sequence[Mapping[str, int]]
) -> list[TargetReuse]:
    """The reuse of each draw; draws come in their order."""
    reuse: list[TargetReuse] = []
    touched: dict[str, float] = {}
    before, last = 0.0, None
    for extent, asked, work in zip(extents, nbytes, works, strict=True):
        if extent.of_pass != last:
            touched, last = {}, extent.of_pass
        earlier = before
        new, again = {}, {}
        for unit in (unit for unit in WORK_OF if unit in asked and max(asked[unit])):
            target_nbytes = extent.n_samples * _sample_nbytes(unit, asked[unit], work)
            once = min(max(asked[unit].l2_read_nbytes, asked[unit].l2_write_nbytes), target_nbytes)
            new[unit] = min(once, max(target_nbytes - touched.get(unit, 0), 0))
            again[unit] = once - new[unit]
            touched[unit] = touched.get(unit, 0) + new[unit]
            before += new[unit]
        reuse.append(TargetReuse(new, again, earlier, sum(touched[unit] for unit in new)))
    return reuse


def _sample_nbytes(unit: str, asked: UnitBytes, work: Mapping[str, int]) -> float:
    """Bytes of a sample in the targets' formats; fewer where tests fail. A unit that reads and writes has twice the
    work.
    """
    amount, samples = WORK_OF[unit]
    times = 2 if asked.l2_read_nbytes and asked.l2_write_nbytes else 1
    return work.get(amount, 0) / max(work.get(samples, 0), 1) / times


def target_traffic(reuse: TargetReuse, nbytes: Mapping[str, UnitBytes], chips: Numbers) -> TargetTraffic:
    """The traffic of a draw; `chips`: the reference chip first. Bytes that are touched again and no longer in an L2 of
    a chip's size come from the DRAM; once the L2 is full, as many bytes leave it as arrive, and the written share of
    them is that of the bytes that the draw touches.
    """
    l2_nbytes = chips["l2_nbytes"]
    is_far = reuse.between > l2_nbytes
    fetched = {unit: is_far * again for unit, again in reuse.again.items()}
    arriving = sum(fetched.values(), sum(reuse.new.values()) + np.zeros(len(l2_nbytes)))
    evicted = np.maximum(reuse.before + arriving - l2_nbytes, 0) - np.maximum(reuse.before - l2_nbytes, 0)
    return TargetTraffic(
        {unit: _moved(fetched[unit], nbytes[unit].dram_read_nbytes) for unit in fetched if nbytes[unit].l2_read_nbytes},
        _moved(evicted * _written_share(reuse, nbytes), sum(of_unit.dram_write_nbytes for of_unit in nbytes.values())),
    )


def _written_share(reuse: TargetReuse, nbytes: Mapping[str, UnitBytes]) -> float:
    """The share of the bytes touched once that the draw writes."""
    once = {unit: reuse.new[unit] + reuse.again[unit] for unit in reuse.new}
    written = sum(of_unit for unit, of_unit in once.items() if nbytes[unit].l2_write_nbytes)
    return written / max(sum(once.values()), 1)


def _moved(nbytes: np.ndarray, on_reference: int) -> np.ndarray:
    """Bytes in excess of the reference chip, which has `on_reference`; their sum with these is never negative."""
    return np.maximum(nbytes - nbytes[:1], -on_reference)
