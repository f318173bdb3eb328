"""What of shared memory is our own: addresses of other blocks, and mbarrier objects.

An address holds, from bit RANK_SHIFT on, the rank of the block in its cluster plus one; 0 is the thread's own block.

The 64 bits of an mbarrier object, which programs may not look into:

     63    62..61  60..40          39..20                19..0
    +-----+-------+---------------+---------------------+------------------+
    |phase| 01    | bytes + 2**20 | arrivals in a phase | arrivals to come |
    +-----+-------+---------------+---------------------+------------------+
"""

from typing import NamedTuple

RANK_SHIFT = 24
OFFSET_MASK = (1 << RANK_SHIFT) - 1

COUNT = (1 << 20) - 1  # PTX ISA: counts are 1 to 2**20 - 1, bytes at most that in either direction
EXPECTED_SHIFT, BYTES_SHIFT, VALID_SHIFT, PHASE_SHIFT = 20, 40, 61, 63
BYTES_BIAS = 1 << 20
BYTES_MASK = (1 << 21) - 1
VALID = 1 << VALID_SHIFT


class Mbarrier(NamedTuple):
    """An object's fields. `nbytes`: bytes that are expected and have not been copied."""

    parity: int
    is_valid: bool
    nbytes: int
    expected: int
    pending: int

    @property
    def is_begun(self) -> bool:
        """Whether something of the present phase has happened."""
        return self.pending != self.expected or self.nbytes != 0


def mbarrier_of_word(word: int) -> Mbarrier:
    return Mbarrier(
        word >> PHASE_SHIFT & 1,
        word >> VALID_SHIFT & 3 == 1,
        (word >> BYTES_SHIFT & BYTES_MASK) - BYTES_BIAS,
        word >> EXPECTED_SHIFT & COUNT,
        word & COUNT,
    )
