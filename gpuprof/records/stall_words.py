"""The two forms of a stall word: a bit for each reason that held, or the number of the first one. Readers make vectors
of both.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpuprof.errors import FileFormatError
from gpuprof.isa.stalls import N_REASONS
from gpuprof.records.schema import SM_SHIFT, STALL_MASK


def holds_numbers(meta: Mapping[str, Any], launch: Mapping[str, Any]) -> bool:
    """Whether the samples of a launch have the number of a reason: by the sampler's registers in its LNCH chunk, or
    else in META.
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
    found = rows.copy()
    found["stall_sm"] = np.uint32(1) << numbers | rows["stall_sm"] >> np.uint32(SM_SHIFT) << np.uint32(SM_SHIFT)
    return found
