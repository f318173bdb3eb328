"""Accesses whose addresses are known only once an instruction executes (bulk copies, tensor tiles, texels, matrices of
descriptors): their ranges, for listeners, and what happens to those that are wrong: they end the kernel, or a listener
lets it continue without them.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from gpuprof.emulate.core.faults import fault_of_element
from gpuprof.emulate.core.lanes import Lanes

# What may be wrong, and the fault that it is.
FAULT_OF = {
    "misaligned": "alignment",
    "outside": "address",
    "invalid_image": "launch",
    "invalid_tensor_map": "launch",
    "double_free": "launch",
    "invalid_free": "launch",
}


class WrongRange(NamedTuple):
    """A range that lanes must not access. `kind`: a key of FAULT_OF; `elements` int64 (k,), ascending: rows of the
    lanes, 32 * row + lane; `address`: the first element's first wrong byte in the space, -1 for none. `text`: a
    sentence on the first element.
    """

    kind: str
    space: str
    elements: np.ndarray
    address: int
    text: str


def refuse(lanes: Lanes, at: int, wrong: WrongRange) -> None:
    """Returns when a listener lets the kernel continue: what would be read is 0 then, and what would be written is
    dropped.

    Raises KernelFault when no listener refuses accesses of instruction `at`.
    """
    if not lanes.chunk.refuses(at, wrong):
        raise fault_of_element(lanes, at, int(wrong.elements[0]), wrong.text, FAULT_OF[wrong.kind])


def refuse_one(lanes: Lanes, at: int, element: int, kind: str, space: str, address: int, text: str) -> None:
    """Calls `refuse` for one element."""
    refuse(lanes, at, WrongRange(kind, space, np.array([element], np.int64), address, text))


class AccessedRanges(NamedTuple):
    """Ranges of memory that an operation accesses, k of them: `elements` of its rows, 32 * row + lane; `addresses`, the
    first bytes; `nbytes`.
    """

    space: str
    operation: str
    elements: np.ndarray
    addresses: np.ndarray
    nbytes: np.ndarray


RangesFunction = Callable[[], Iterable[AccessedRanges]]  # computed only for a listener


def merged_ranges(addresses: np.ndarray, nbytes: int) -> tuple[np.ndarray, np.ndarray]:
    """Elements of `nbytes` as ranges without gaps, ascending: (first bytes, lengths in bytes)."""
    starts = np.unique(addresses)
    begins = np.diff(starts, prepend=starts[:1] - 2 * nbytes) != nbytes
    ends = np.diff(starts, append=starts[-1:] + 2 * nbytes) != nbytes
    return starts[begins], starts[ends] - starts[begins] + nbytes
