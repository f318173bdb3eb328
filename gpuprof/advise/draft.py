"""A piece of advice before and after its gain is measured."""

from typing import NamedTuple

from gpuprof.whatif.changes.intervention import Intervention
from gpuprof.whatif.places import Place


class Draft(NamedTuple):
    """topic: of topics.TOPICS. at: a line, or the kernel. evidence: what was counted, in numbers. change: what to do;
    sketch: in the kernel's own names. refuted_by: what to look at afterwards that would show the advice to be wrong.
    interventions: what stands for the change in the measurement; `others`: further ways of the same change, of which
    the best counts. share: the part of the launch's cycles that the ledger charges to it. work: the part of the
    launch's work that is there in the measurement. n_launches: those that the change makes one of.
    """

    topic: str
    at: Place
    evidence: str
    change: str
    sketch: str
    refuted_by: str
    interventions: tuple[Intervention, ...]
    share: float
    work: float = 1.0
    others: tuple[tuple[Intervention, ...], ...] = ()
    n_launches: int = 1

    @property
    def place(self) -> str:
        return self.at.name

    @property
    def path(self) -> str:
        return self.at.path

    @property
    def line(self) -> int:
        return self.at.line


class Advice(NamedTuple):
    """interventions: those that were measured. cycles: of the launch, or of all launches where the change makes one of
    them.
    """

    draft: Draft
    interventions: tuple[Intervention, ...]
    cycles_before: int
    cycles_after: int

    @property
    def speedup(self) -> float:
        return self.cycles_before / max(1, self.cycles_after)
