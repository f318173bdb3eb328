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
    """What lanes must not touch. `kind`: a key of FAULT_OF; `elements` int64 (k,), ascending: rows of the lanes, 32 *
    row + lane; `address`: the first element's first wrong byte in the space, -1 for none. `text`: a sentence on the
    first element.
    """

    kind: str
    space: str
    elements: np.ndarray
    address: int
    text: str


def refuse(lanes: Lanes, at: int, wrong: WrongRange) -> None:
    """Returns where the kernel goes on: what would be read is 0 then, and what would be written is dropped.

    Raises KernelFault where nobody watches instruction `at` who refuses its accesses.
    """
    if not lanes.chunk.refuses(at, wrong):
        raise fault_of_element(lanes, at, int(wrong.elements[0]), wrong.text, FAULT_OF[wrong.kind])


def refuse_one(lanes: Lanes, at: int, element: int, kind: str, space: str, address: int, text: str) -> None:
    """`refuse`, of one element."""
    refuse(lanes, at, WrongRange(kind, space, np.array([element], np.int64), address, text))


class Touched(NamedTuple):
    """Ranges as an operation knows them. Of k elements each: `elements` of its rows, 32 * row + lane; `addresses`, the
    first byte; `nbytes`.
    """

    space: str
    operation: str
    elements: np.ndarray
    addresses: np.ndarray
    nbytes: np.ndarray


Tell = Callable[[], Iterable[Touched]]  # worked out only when somebody watches


def runs(addresses: np.ndarray, nbytes: int) -> tuple[np.ndarray, np.ndarray]:
    """Elements of `nbytes` as ranges without gaps, ascending: (first bytes, lengths in bytes)."""
    places = np.unique(addresses)
    begins = np.diff(places, prepend=places[:1] - 2 * nbytes) != nbytes
    ends = np.diff(places, append=places[-1:] + 2 * nbytes) != nbytes
    return places[begins], places[ends] - places[begins] + nbytes
