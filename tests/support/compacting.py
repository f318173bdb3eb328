"""A racecheck that throws out what nobody needs before each access: moments and rows get new numbers all the time."""

from gpuprof.trace.checkers.racecheck import Racecheck
from gpuprof.trace.event import TraceEvent


class Compacting(Racecheck):
    """As racecheck, with tables as small as they can be."""

    name = "racecheck_compacting"
    n_thrown_out = 0

    def event(self, event: TraceEvent) -> None:
        counts = self._blocks.order.counts
        before = counts.sum()
        self._shadow.renumber(self._shadow.compact)
        self.n_thrown_out += int(before - counts.sum())
        super().event(event)
