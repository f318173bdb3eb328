"""How long a barrier's round takes, by the warps that meet at it."""

import numpy as np

from gpuprof.chips import Chip

MOST_WARPS = 64  # more warps take as long as these


def round_cycles(chip: Chip) -> np.ndarray:
    """int64 (MOST_WARPS + 1,): a barrier's round by warps, a straight line between those of the chip's table and level
    behind the last.
    """
    warps = [int(name.removeprefix("warps_")) for name in chip.barrier]
    return np.rint(np.interp(np.arange(MOST_WARPS + 1), warps, list(chip.barrier.values()))).astype(np.int64)
