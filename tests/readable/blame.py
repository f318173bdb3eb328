"""What ended a stall, to be read: the causes of tests/readable/timing.py, and how a recording's are compared with
them.
"""

from collections import Counter
from typing import NamedTuple

from gpuprof.isa import causes
from gpuprof.isa.stalls import NAMES


class Cause(NamedTuple):
    """`warp`: whose instruction `pc` is, None for the one that stalled."""

    kind: str
    pc: int
    conflict: bool = False
    warp: object = None

    def other(self, warp):
        return self.warp is not None and self.warp is not warp

    def other_launch(self, warp):
        return self.warp is not None and getattr(self.warp.block, "job", None) is not getattr(warp.block, "job", None)

    def rank(self, warp):
        """Of what ends in one cycle, the greatest is the cause."""
        return self.other(warp), self.conflict, causes.INDEX[self.kind], self.pc


class Level(NamedTuple):
    """A part of a load, and where it comes from; None: as the request says."""

    part: object
    name: str | None = None

    def when(self):
        return self.part.cycle, causes.INDEX[self.name or self.part.level]


class Blame:
    """(instruction, reason, kind, cause's instruction, flags): [cycles, stalls]."""

    def __init__(self):
        self.cycles, self.stalls = Counter(), Counter()

    def charge(self, warp, reason, cause, cycles):
        flags = (
            causes.OTHER_WARP * cause.other(warp)
            + causes.OTHER_LAUNCH * cause.other_launch(warp)
            + causes.CONFLICT * cause.conflict
        )
        key = warp.pc, reason, cause.kind, cause.pc, flags
        self.cycles[key] += cycles
        self.stalls[key] += 1

    def rows(self):
        return {key: (cycles, self.stalls[key]) for key, cycles in self.cycles.items()}


def causes_of(*timings, load_base=0x1000):
    """The causes of LaunchTimings, whose programs follow each other in memory, in the form of `Blame.rows`."""
    found = {}
    for timing in timings:
        for pc, cause_pc, reason, kind, flags, cycles, stalls in timing.causes.tolist():
            at, cause_at = (pc - load_base) // 16, (cause_pc - load_base) // 16
            found[at, NAMES[reason], causes.NAMES[kind], cause_at, flags] = cycles, stalls
    return found
