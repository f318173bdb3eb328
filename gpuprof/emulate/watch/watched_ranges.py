"""The ranges accessed by an instruction whose addresses are known only once it executes, by the instruction's warps."""

from typing import NamedTuple

import numpy as np

from gpuprof.device.memory import AddressSpace
from gpuprof.emulate.core.lanes import WARP
from gpuprof.emulate.core.late_accesses import AccessedRanges, WrongRange


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


def ranges_of(touched: AccessedRanges, warp_rows: np.ndarray | None) -> Ranges:
    """`warp_rows`: the rows that the instruction's warps have among those of the lanes; None where all have one."""
    warps, lanes = places_of(np.asarray(touched.elements, np.int64), warp_rows)
    return Ranges(
        touched.space,
        touched.operation,
        warps,
        lanes,
        np.asarray(touched.addresses, np.int64),
        np.asarray(touched.nbytes, np.int64),
    )


class Refused(NamedTuple):
    """An access that an instruction leaves out, by `lanes` of its `warps` (as in Ranges). `kind`: a field of
    bounds.Wrong, or a key of late_accesses.FAULT_OF; `address`: the first byte of the first of them, -1 for none;
    `text` says what it would have done.
    """

    kind: str
    space: str
    warps: np.ndarray
    lanes: np.ndarray
    address: int
    text: str


def refused_of(wrong: WrongRange, memory: AddressSpace, warp_rows: np.ndarray | None) -> Refused:
    """`memory`: the global one, which knows what is null and what has been freed."""
    kind, address = wrong.kind, np.array([wrong.address], np.int64)
    if kind == "outside" and wrong.space == "global":
        kind = "null" if memory.are_null(address)[0] else "freed" if memory.were_freed(address)[0] else kind
    return Refused(kind, wrong.space, *places_of(wrong.elements, warp_rows), wrong.address, wrong.text)


def places_of(elements: np.ndarray, warp_rows: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the instruction's warps, and lanes."""
    rows = elements // WARP
    return rows if warp_rows is None else np.searchsorted(warp_rows, rows), elements % WARP
