"""What an instruction touches whose addresses only its execution finds: bulk copies, tiles of tensors, texels, matrices
that descriptors tell of. For who watches.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np


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
