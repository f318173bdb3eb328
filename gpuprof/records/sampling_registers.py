"""The sampler's registers, in META and LNCH chunks, decide what samples mean: which of a warp's cycles they may be of,
and which of the two forms their stall words have.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpuprof.errors import FileFormatError
from gpuprof.isa.stalls import N_REASONS
from gpuprof.tables.samples import SM_SHIFT, STALL_MASK

CYCLES = "cycles"  # the trigger that samples time; the others sample events
MODES = ("random", "all", "round-robin")  # that sample warps which issue like warps which wait
EVERYWHERE = -1  # partition


def narrowed_by(registers: Mapping[str, Any]) -> str:
    """The first register for which samples are not of all warps' time, so that the ledger is not what they estimate:
    "mode", "trigger", "partition" or "filter"; "" if they are. Values may be text, from a database.
    """
    narrows = {
        "mode": registers.get("mode") not in MODES,
        "trigger": registers.get("trigger", CYCLES) != CYCLES,
        "partition": str(registers.get("partition", EVERYWHERE)) != str(EVERYWHERE),
        "filter": bool(registers.get("filter")),
    }
    return next((name for name, does in narrows.items() if does), "")


def holds_numbers(meta: Mapping[str, Any], launch: Mapping[str, Any]) -> bool:
    """The stall words of a launch's samples have the number of a reason, not a bit for each reason that held: by the
    registers in its LNCH chunk, or else in META.
    """
    registers = launch.get("sampling", {})
    own = registers.get("stall") if isinstance(registers, dict) else None
    return (own or meta["sampling"].get("stall", "vector")) == "index"


def as_vectors(rows: np.ndarray) -> np.ndarray:
    """Samples whose stall words have numbers, with the bit of that reason instead. Raises FileFormatError for a number
    of no reason.
    """
    numbers = rows["stall_sm"] & np.uint32(STALL_MASK)
    if (numbers >= N_REASONS).any():
        raise FileFormatError(f"a sample has stall reason {int(numbers.max())}; there are {N_REASONS}, from 0 on")
    vectors = rows.copy()
    vectors["stall_sm"] = np.uint32(1) << numbers | rows["stall_sm"] >> np.uint32(SM_SHIFT) << np.uint32(SM_SHIFT)
    return vectors
