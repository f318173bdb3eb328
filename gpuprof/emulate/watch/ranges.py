"""What an instruction touches whose addresses only its execution finds, by the instruction's warps."""

from typing import NamedTuple

import numpy as np

from gpuprof.emulate.core.lanes import WARP
from gpuprof.emulate.log.touched import Touched


class Ranges(NamedTuple):
    """Ranges of memory that one instruction touches, in the order it does so. Arrays int64 (k,): `warps`, rows of the
    instruction's warps; `lanes`; `addresses`, of the first byte, as those of accesses; `nbytes`.
    """

    space: str
    operation: str
    warps: np.ndarray
    lanes: np.ndarray
    addresses: np.ndarray
    nbytes: np.ndarray


def ranges_of(touched: Touched, keep: np.ndarray | None) -> Ranges:
    """`keep`: the rows that the instruction's warps have among those of the lanes; None where all have one."""
    elements = np.asarray(touched.elements, np.int64)
    rows = elements // WARP
    return Ranges(
        touched.space,
        touched.operation,
        rows if keep is None else np.searchsorted(keep, rows),
        elements % WARP,
        np.asarray(touched.addresses, np.int64),
        np.asarray(touched.nbytes, np.int64),
    )
