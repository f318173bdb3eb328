"""How far apart draws touch the same bytes of their targets: whether another chip's L2 still has them.

    extents and bytes of the draws of a recording ─> target_reuse ─> TargetReuse of each ─> target_traffic ─> bytes

Draws that follow each other into the same targets are a pass. What a pass touches is new to it until all samples of
the targets have been touched once. From then on it is touched again, and in between lies what the same units touched.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.predict.chip_numbers import Numbers

# A unit, and the work that says how many bytes it has for how many samples.
WORK_OF = {"depth": ("depth_nbytes", "n_samples"), "write": ("written_nbytes", "n_written")}


class UnitBytes(NamedTuple):
    """In whole sectors: of the L2, and what missed it or had to leave it."""

    l2_read_nbytes: int
    l2_write_nbytes: int
    dram_read_nbytes: int
    dram_write_nbytes: int


class Extent(NamedTuple):
    """Of a draw's targets: the number of their pass, and how many samples each has."""

    of_pass: int
    n_samples: int


class TargetReuse(NamedTuple):
    """Bytes of targets, by unit: `new` ones, which the pass has not touched, and those touched `again`. All that passes
    had touched `before`; and what lies `between` two touches: all that the draw's units have touched in this pass.
    """

    new: Mapping[str, float] = {}
    again: Mapping[str, float] = {}
    before: float = 0
    between: float = 0


NO_TARGETS = TargetReuse()


class TargetTraffic(NamedTuple):
    """float64 (chips,): bytes more than on the reference chip that each unit reads from the DRAM, and that are written
    there.
    """

    read: Mapping[str, np.ndarray]
    written: np.ndarray


def target_reuse(
    extents: Sequence[Extent], nbytes: Sequence[Mapping[str, UnitBytes]], works: Sequence[Mapping[str, int]]
) -> list[TargetReuse]:
    """Of draws in their order."""
    found: list[TargetReuse] = []
    touched: dict[str, float] = {}
    before, last = 0.0, None
    for extent, asked, work in zip(extents, nbytes, works, strict=True):
        if extent.of_pass != last:
            touched, last = {}, extent.of_pass
        came = before
        new, again = {}, {}
        for unit in (unit for unit in WORK_OF if unit in asked and max(asked[unit])):
            whole = extent.n_samples * _sample_nbytes(unit, asked[unit], work)
            once = min(max(asked[unit].l2_read_nbytes, asked[unit].l2_write_nbytes), whole)
            new[unit] = min(once, max(whole - touched.get(unit, 0), 0))
            again[unit] = once - new[unit]
            touched[unit] = touched.get(unit, 0) + new[unit]
            before += new[unit]
        found.append(TargetReuse(new, again, came, sum(touched[unit] for unit in new)))
    return found


def _sample_nbytes(unit: str, asked: UnitBytes, work: Mapping[str, int]) -> float:
    """Of the targets' formats; less where tests fail. A unit that reads and writes has twice the work."""
    amount, samples = WORK_OF[unit]
    times = 2 if asked.l2_read_nbytes and asked.l2_write_nbytes else 1
    return work.get(amount, 0) / max(work.get(samples, 0), 1) / times


def target_traffic(reuse: TargetReuse, nbytes: Mapping[str, UnitBytes], chips: Numbers) -> TargetTraffic:
    """`chips`: the reference chip first. What an L2 of their size lacks of what is touched again comes from the DRAM;
    as soon as it is full, something leaves it for all that comes, as much of it written as of what the draw touches.
    """
    l2_nbytes = chips["l2_nbytes"]
    is_far = reuse.between > l2_nbytes
    fetched = {unit: is_far * again for unit, again in reuse.again.items()}
    comes = sum(fetched.values(), sum(reuse.new.values()) + np.zeros(len(l2_nbytes)))
    leaves = np.maximum(reuse.before + comes - l2_nbytes, 0) - np.maximum(reuse.before - l2_nbytes, 0)
    return TargetTraffic(
        {unit: _moved(fetched[unit], nbytes[unit].dram_read_nbytes) for unit in fetched if nbytes[unit].l2_read_nbytes},
        _moved(leaves * _written_share(reuse, nbytes), sum(each.dram_write_nbytes for each in nbytes.values())),
    )


def _written_share(reuse: TargetReuse, nbytes: Mapping[str, UnitBytes]) -> float:
    """Of the bytes that the draw touches once, how many it writes."""
    once = {unit: reuse.new[unit] + reuse.again[unit] for unit in reuse.new}
    written = sum(of_unit for unit, of_unit in once.items() if nbytes[unit].l2_write_nbytes)
    return written / max(sum(once.values()), 1)


def _moved(nbytes: np.ndarray, there: int) -> np.ndarray:
    """By how much each chip's differ from those `there`, on the reference chip; never to less than none."""
    return np.maximum(nbytes - nbytes[:1], -there)
