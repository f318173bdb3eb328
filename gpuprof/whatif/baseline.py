"""A stored launch as it is: its timing, and what its instructions cost by the ledger."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuprof.isa.causes import CONFLICT, INDEX as CAUSE_INDEX, OTHER_LAUNCH
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.isa.stalls import INDEX
from gpuprof.run.subject import Subject
from gpuprof.timing.piece_accesses import positions, sector_counts
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.timing.state.layout import SECTOR_NBYTES
from gpuprof.timing.state.static_program import StaticProgram
from gpuprof.whatif.timing_again import timed

SELECTED = INDEX["selected"]


@dataclass(frozen=True)
class Baseline:
    subject: Subject
    timing: LaunchTiming

    @property
    def program(self) -> StaticProgram:
        return self.subject.machine.programs.of(self.subject.launch.module)

    @property
    def inst(self) -> np.ndarray:
        return self.program.inst

    @cached_property
    def charged(self) -> np.ndarray:
        """int64 (n_instructions, N_REASONS): the ledger."""
        return self.timing.ledger.astype(np.int64)

    @cached_property
    def reached(self) -> np.ndarray:
        """bool (n_instructions,): instructions that a warp has issued."""
        return self.charged[:, SELECTED] > 0

    @property
    def waiting(self) -> int:
        """Warp-cycles without an issue."""
        return int(self.charged.sum() - self.charged[:, SELECTED].sum())

    @cached_property
    def causes(self) -> np.ndarray:
        """tables.launch.CAUSES rows whose cause is of this launch, without those of issues; `cause_pc` is the number of
        the instruction.
        """
        rows = self.timing.causes[(self.timing.causes["flags"] & OTHER_LAUNCH) == 0].copy()
        rows = rows[rows["reason"] != SELECTED]
        rows["cause_pc"] = (rows["cause_pc"] - self.subject.launch.module.load_base) // INSTRUCTION_NBYTES
        return rows

    def waited(self, chosen: np.ndarray, kinds: Collection[str] = (), only_conflicts: bool = False) -> int:
        """Warp-cycles of the stalls that instructions of a mask ended; by causes of these kinds, if any are named."""
        rows = self.causes[chosen[self.causes["cause_pc"]]]
        if kinds:
            rows = rows[np.isin(rows["kind"], [CAUSE_INDEX[name] for name in kinds])]
        if only_conflicts:
            rows = rows[(rows["flags"] & CONFLICT) != 0]
        return int(rows["cycles"].sum())

    def stalled(self, chosen: np.ndarray, reasons: Collection[str]) -> int:
        """Warp-cycles for which warps waited at instructions of a mask, for these reasons."""
        return int(self.charged[chosen][:, [INDEX[name] for name in reasons]].sum())

    @cached_property
    def sectors(self) -> tuple[np.ndarray, np.ndarray]:
        """int64 (n_instructions,), twice: sectors of global memory that an instruction's accesses take, and the fewest
        that their bytes need.
        """
        taken, ideal = (np.zeros(len(self.inst), np.int64) for _ in range(2))
        for piece in self.subject.trace:
            at = positions(piece, self.program)
            counts = sector_counts(piece.accesses)
            nbytes = piece.accesses["lanes"].astype(np.int64) * self.inst["lane_nbytes"][at.inst]
            least = np.minimum(counts, -(-nbytes // SECTOR_NBYTES))
            for sums, some in ((taken, counts), (ideal, least)):
                sums += np.bincount(at.inst, some, minlength=len(sums)).astype(np.int64)
        return taken, ideal

    def share(self, warp_cycles: float) -> float:
        """The part of the launch's cycles that are these warp-cycles of its ledger."""
        return warp_cycles / max(1, self.timing.resident_warp_cycles)


def baseline_of(subject: Subject) -> Baseline:
    return Baseline(subject, timed(subject))
