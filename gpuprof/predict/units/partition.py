"""Issue slots of a partition's scheduler, and the time for which the register file holds it up."""

import numpy as np

from gpuprof.isa.causes import INDEX as KIND
from gpuprof.isa.stalls import INDEX as REASON
from gpuprof.predict.opcode_facts import PIPES
from gpuprof.predict.work import Work


def issue(work: Work) -> np.ndarray:
    """The slots of the reference chip's recording, and as many more or less as the other architecture's row has."""
    return slots(work) / work.chips["dispatch_units"]


def slots(work: Work) -> np.ndarray:
    """Issue slots of a warp."""
    recorded = work.by_op(work.counters.executed.slots).sum()
    table = work.executions @ work.facts.slots
    return np.maximum(recorded + table - table[0], 1)


def pipes(work: Work) -> dict[str, np.ndarray]:
    return {pipe: work.executions @ work.facts.busy[pipe] for pipe in PIPES}


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
