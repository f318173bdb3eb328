"""A racecheck that throws out what nobody needs before each access: moments and rows get new numbers all the time."""

from gpuprof.trace.checkers.racecheck import Racecheck
from gpuprof.trace.checkers.races.rows import compact


class Compacting(Racecheck):
    """As racecheck, with tables as small as they can be."""

    name = "racecheck_compacting"
    n_thrown_out = 0

    def _room_for(self, n_moments: int, n_rows: int) -> None:
        tables, spaces = self._blocks.order, (self._global.stamps, self._shared.stamps)
        before = tables.counts.sum()
        self._async.renumber(lambda moments: compact(tables, spaces, moments))
        self.n_thrown_out += int(before - tables.counts.sum())
        super()._room_for(n_moments, n_rows)
