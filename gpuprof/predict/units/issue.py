"""Issue slots of a partition's scheduler, and the time for which the register file holds it up."""

import numpy as np

from gpuprof.predict.work import Work


def issue(work: Work) -> np.ndarray:
    """The slots of the reference chip's recording, and as many more or less as the other architecture's row has."""
    return slots(work) / work.chips["dispatch_units"]


def slots(work: Work) -> np.ndarray:
    """Issue slots of a warp."""
    recorded = work.by_op(work.counters.executed.slots).sum()
    table = work.executions @ work.facts.slots
    return np.maximum(recorded + table - table[0], 1)
