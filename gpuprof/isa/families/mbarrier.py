"""Memory barriers in shared memory (sm_80 and later; transactions since sm_90).

The hardware has one unit (SYNCS) for them next to shared memory; slots and latency are estimates, those of a
shared-memory atomic.

The 64 bits of an object, which programs may not look into:

     63    62..61  60..40          39..20                19..0
    +-----+-------+---------------+---------------------+------------------+
    |phase| 01    | bytes + 2**20 | arrivals in a phase | arrivals to come |
    +-----+-------+---------------+---------------------+------------------+
"""

from collections.abc import Iterator
from typing import NamedTuple

from gpuprof.isa.row import Opcode, row

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
        """True if something of the present phase has happened."""
        return self.pending != self.expected or self.nbytes != 0


def mbarrier_of_word(word: int) -> Mbarrier:
    return Mbarrier(
        word >> PHASE_SHIFT & 1,
        word >> VALID_SHIFT & 3 == 1,
        (word >> BYTES_SHIFT & BYTES_MASK) - BYTES_BIAS,
        word >> EXPECTED_SHIFT & COUNT,
        word & COUNT,
    )


def rows() -> Iterator[Opcode]:
    common = {"space": "shared", "nbytes": 8}
    yield row(
        "MBAR.INIT", "mbarrier", "=A,R", "lsu", "store", "mbar_init", "b64", **common
    )  # b: arrivals that complete a phase
    yield row("MBAR.INVAL", "mbarrier", "=A", "lsu", "store", "mbar_inval", "b64", **common)
    # dst: the object as it was before; b: arrivals, with .TX the transaction bytes to expect before one arrival.
    for name in ("ARRIVE", "ARRIVE_DROP", "ARRIVE.TX", "ARRIVE_DROP.TX"):
        semantics = "mbar_" + name.lower().replace(".", "_")
        yield row(f"MBAR.{name}", "mbarrier", "D=A,R", "lsu", "atomic_shared", semantics, "b64", **common)
    for name in ("EXPECT_TX", "COMPLETE_TX"):
        yield row(f"MBAR.{name}", "mbarrier", "=A,R", "lsu", "store", f"mbar_{name.lower()}", "b64", **common)
    # Others must be able to run while a warp waits here, so a basic block ends, as at a barrier.
    for name in ("TEST_WAIT", "TRY_WAIT"):
        # b: what an arrival gave
        yield row(f"MBAR.{name}", "mbarrier_wait", "P=A,D", "lsu", "shared", "mbar_wait", "b64", space="barrier")
        yield row(
            f"MBAR.{name}.PARITY", "mbarrier_wait", "P=A,R", "lsu", "shared", "mbar_wait", "parity", space="barrier"
        )
