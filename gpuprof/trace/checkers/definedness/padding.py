"""Which bytes of stores are padding of a structure that is copied whole: nobody has given them a value, and nobody
should.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from gpuprof.isa.flow.padding import PaddedCopy, padded_copies
from gpuprof.trace.kernel import Code, Instruction


def padding_of(code: Code) -> dict[int, np.ndarray]:
    """By the number of a store: bool (nbytes,), its bytes that are padding."""
    copies: dict[tuple[str, int, int], list[PaddedCopy]] = defaultdict(list)
    for copy in padded_copies(code.ptx):
        copies[copy.file, copy.line, copy.column].append(copy)
    groups: dict[tuple, list[Instruction]] = defaultdict(list)
    for each in code.instructions if copies else ():
        place = each.location
        if each.kind == "store" and place is not None and (place.file, place.line, place.column) in copies:
            groups[place, each.basic_block, each.encoded.a].append(each)
    found: dict[int, np.ndarray] = {}
    for (place, _, _), stores in groups.items():
        found |= _padding(copies[place.file, place.line, place.column], stores)
    return found


def _padding(copies: Sequence[PaddedCopy], stores: Sequence[Instruction]) -> dict[int, np.ndarray]:
    """Of the stores of one copy, or several in a row. None where they do not make up whole structures. `copies`: of
    this place; of a template there may be some of several types, and then padding is what is padding of all.
    """
    first = min(store.encoded.offset for store in stores)
    length = max(store.encoded.offset + store.nbytes for store in stores) - first
    fitting = [copy for copy in copies if length % copy.nbytes == 0]
    if sum(store.nbytes for store in stores) != length or not fitting:
        return {}
    is_padding = np.logical_and.reduce([np.tile(_of_copy(copy), length // copy.nbytes) for copy in fitting])
    places = {store.number: store.encoded.offset - first + np.arange(store.nbytes) for store in stores}
    return {number: is_padding[place] for number, place in places.items() if is_padding[place].any()}


def _of_copy(copy: PaddedCopy) -> np.ndarray:
    """bool (nbytes,)."""
    is_padding = np.zeros(copy.nbytes, np.bool_)
    for start, end in copy.padding:
        is_padding[start:end] = True
    return is_padding
