"""What an instruction touches whose addresses only its execution finds: bulk copies, tiles of tensors, texels, matrices
that descriptors tell of.
"""

from typing import NamedTuple

import numpy as np


class Ranges(NamedTuple):
    """Ranges of memory that one instruction touches, in the order it does so. Arrays of k elements: `warps`, rows of
    the instruction's warps; `lanes`; `addresses`, int64, the first byte; `nbytes`, int64.
    """

    space: str
    operation: str
    warps: np.ndarray
    lanes: np.ndarray
    addresses: np.ndarray
    nbytes: np.ndarray
