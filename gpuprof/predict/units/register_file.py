"""The register file of a partition: two banks, each of which reads a word of a warp at a time."""

import numpy as np

from gpuprof.isa.causes import INDEX as KIND
from gpuprof.isa.stalls import INDEX as REASON
from gpuprof.predict.work import Work

WAITS = tuple(REASON[name] for name in ("wait", "long_scoreboard", "short_scoreboard", "branch_resolving"))


def register_file(work: Work) -> np.ndarray:
    """The fuller bank. A warp that waited before an instruction finds no operand of its last one in the reuse cache."""
    found, chips = work.counters.executed, work.chips
    waited = np.minimum(1, waits(work) / np.maximum(found.warps, 1))
    banks = (
        (found.warps * (waited * found.even + (1 - waited) * found.even_left)).sum(),
        (found.warps * (waited * found.odd + (1 - waited) * found.odd_left)).sum(),
    )
    return max(banks) / work.counters.warps * chips["register_word_cycles"]


def waits(work: Work) -> np.ndarray:
    """float64 (instructions,): stalls for an operand or a jump, but not for the pipe that the warp's last one keeps."""
    stalls = work.counters.waits
    of = np.isin(stalls.reason, WAITS) & (stalls.kind != KIND["pipe"]) & (stalls.place >= 0)
    return np.bincount(stalls.place[of], stalls.count[of], len(work.counters.executed.pc))
