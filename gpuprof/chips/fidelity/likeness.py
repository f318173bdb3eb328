"""The kind of a kernel by its exact counters, and so the measured kernels that it is like.

    Uses of instructions ─ totals ─> Totals ─ kind ─> "tiles"

The rule is the same for the measured kernels of `silicon.csv` and for those of a report. Its limits are estimated: they
separate the measured kernels by their structure.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from gpuprof.isa.kinds import ATOMICS, kinds_of
from gpuprof.isa.operations import multiplies_and_adds
from gpuprof.isa.row import Opcode

SECTOR_NBYTES = 32
MATRICES = kinds_of("matrix", "matrix_async")
SOME = 0.02  # of the issue slots
SOME_MATRICES = 0.01  # of the issue slots: one takes a pipe as long as many other instructions do


class Use(NamedTuple):
    """An instruction and its counters of a launch: executions by warps, sectors of global memory, passes through the
    banks of shared memory.
    """

    op: Opcode
    executed: int
    sectors: int = 0
    ideal_sectors: int = 0
    wavefronts: int = 0
    ideal_wavefronts: int = 0


class Totals(NamedTuple):
    """Sums over a kernel. Counts are of warp instructions; `slots` of issue slots."""

    slots: int
    multiply_adds: int  # in floating point
    matrices: int  # products of matrices
    global_accesses: int
    shared_accesses: int
    atomics: int  # to global and shared memory
    sectors: int
    ideal_sectors: int
    wavefronts: int
    ideal_wavefronts: int
    dram_nbytes: int


# Spaces whose accesses the counters of sectors, or of wavefronts, count.
GLOBAL, SHARED = frozenset(("global", "generic")), frozenset(("shared",))


def totals(uses: Iterable[Use], dram_nbytes: int) -> Totals:
    """`dram_nbytes` were read from and written to DRAM."""
    uses = tuple(uses)

    def executed(which: Callable[[Opcode], bool]) -> int:
        return sum(use.executed for use in uses if which(use.op))

    return Totals(
        sum(use.op.slots * use.executed for use in uses),
        executed(multiplies_and_adds),
        executed(lambda op: op.kind in MATRICES),
        executed(lambda op: op.space in GLOBAL and op.kind not in ATOMICS),
        executed(lambda op: op.space in SHARED and op.kind not in ATOMICS),
        executed(lambda op: op.kind in ATOMICS),
        *(
            sum(getattr(use, name) for use in uses)
            for name in ("sectors", "ideal_sectors", "wavefronts", "ideal_wavefronts")
        ),
        dram_nbytes,
    )


class Kind(NamedTuple):
    """`holds` of a kernel whose rules above do not; `meaning` follows "kernels that"."""

    name: str
    meaning: str
    holds: Callable[[Totals], bool]


KINDS = (
    Kind("tensor", "multiply matrices on tensor pipes: more than one product in a hundred issue slots",
        lambda t: t.matrices > SOME_MATRICES * t.slots),
    Kind("atomics", "change memory by an atomic operation in more than a tenth of their accesses",
        lambda t: t.atomics > 0.1 * (t.atomics + t.global_accesses + t.shared_accesses)),
    Kind("tiles", "multiply and add what they read from shared memory, more than once in three such reads",
        lambda t: t.shared_accesses > SOME * t.slots and t.multiply_adds > t.shared_accesses / 3),
    Kind("conflicts", "pass through the banks more than twice as often as packed lanes would",
        lambda t: t.shared_accesses > SOME * t.slots and t.wavefronts > 2 * t.ideal_wavefronts),
    Kind("exchanges", "pass values between threads in shared memory", lambda t: t.shared_accesses > SOME * t.slots),
    Kind("ladders", "compute in registers: less than one access to global memory in fifty issue slots",
        lambda t: t.global_accesses < SOME * t.slots),
    Kind("strides", "ask for more than twice the sectors that packed lanes would",
        lambda t: t.sectors > 2 * t.ideal_sectors),
    Kind("streams", "move half of what they access to or from DRAM",
        lambda t: 2 * t.dram_nbytes > t.ideal_sectors * SECTOR_NBYTES),
    Kind("caches", "access what the caches hold", lambda t: True),
)  # fmt: skip


def kind(totals: Totals) -> str:
    """The first kind whose rule holds."""
    return next(rule.name for rule in KINDS if rule.holds(totals))
