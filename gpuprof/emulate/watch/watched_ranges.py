"""What an instruction touches whose addresses only its execution finds, by the instruction's warps."""

from typing import NamedTuple

import numpy as np

from gpuprof.device.memory import AddressSpace
from gpuprof.emulate.core.lanes import WARP
from gpuprof.emulate.core.late_accesses import Touched, WrongRange


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
    warps, lanes = places_of(np.asarray(touched.elements, np.int64), keep)
    return Ranges(
        touched.space,
        touched.operation,
        warps,
        lanes,
        np.asarray(touched.addresses, np.int64),
        np.asarray(touched.nbytes, np.int64),
    )


class Refused(NamedTuple):
    """What an instruction leaves out, of `lanes` of its `warps` (as in Ranges). `kind`: a field of bounds.Wrong, or one
    of refusal.FAULT_OF; `address`: the first byte of the first of them, -1 for none; `text` says what that would have
    done.
    """

    kind: str
    space: str
    warps: np.ndarray
    lanes: np.ndarray
    address: int
    text: str


def refused_of(wrong: WrongRange, memory: AddressSpace, keep: np.ndarray | None) -> Refused:
    """`memory`: the global one, which knows what is null and what has been freed."""
    kind, place = wrong.kind, np.array([wrong.address], np.int64)
    if kind == "outside" and wrong.space == "global":
        kind = "null" if memory.are_null(place)[0] else "freed" if memory.were_freed(place)[0] else kind
    return Refused(kind, wrong.space, *places_of(wrong.elements, keep), wrong.address, wrong.text)


def places_of(elements: np.ndarray, keep: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the instruction's warps, and lanes."""
    rows = elements // WARP
    return rows if keep is None else np.searchsorted(keep, rows), elements % WARP
