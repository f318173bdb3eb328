"""The input of a rule: a launch as it was timed and counted, by instruction and by line."""

import re
import sqlite3
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gpuprof.chips import Chip
from gpuprof.correlate.advice.kernel_costs import Instruction, Line, Measured, line_of, read_measured
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.isa.opcodes import TABLE
from gpuprof.isa.row import Opcode
from gpuprof.isa.special import SPECIAL
from gpuprof.timing.piece_accesses import positions, sector_counts
from gpuprof.whatif.baseline import SELECTED, Baseline
from gpuprof.whatif.candidates import OF_KERNEL, intervention
from gpuprof.whatif.changes.data_flow import derived
from gpuprof.whatif.changes.intervention import Intervention
from gpuprof.whatif.changes.whole_trace import sector_numbers
from gpuprof.whatif.places import Place, places

WHOLE = Place(OF_KERNEL, np.zeros(0, np.bool_))
OWN = ("tid.", "laneid", "warpid", "lanemask")  # special registers that differ between the threads of a block
# An element of an array in a line of source: "tile[ty][k]" has the name "tile" and the index "[ty][k]".
ELEMENT = re.compile(r"\b([A-Za-z_]\w*(?:(?:\.|->)\w+)*)((?:\s*\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\])+)")


class SectorUses(NamedTuple):
    """Sectors that accesses ask for; of these, how many are different ones of a block; and of a warp."""

    taken: int
    of_blocks: int
    of_warps: int


def sector_uses(baseline: Baseline, mask: np.ndarray) -> SectorUses:
    """mask: bool (n_instructions,)."""
    taken = of_blocks = of_warps = 0
    for piece in baseline.subject.trace:
        at = positions(piece, baseline.program)
        counts = sector_counts(piece.accesses)
        of_mask = np.repeat(mask[at.inst], counts)
        sectors = sector_numbers(piece)[of_mask]
        warp = np.repeat(at.warp, counts)[of_mask]
        taken += len(sectors)
        of_warps += len(np.unique(warp << 48 | sectors))
        of_blocks += len(np.unique(warp // piece.warps_per_block << 48 | sectors))
    return SectorUses(taken, of_blocks, of_warps)


@dataclass(frozen=True)
class Case:
    """n_launches: of this kernel in the profile; launch_cycles: of all of them together."""

    baseline: Baseline
    counted: Measured
    n_launches: int
    launch_cycles: int

    @property
    def chip(self) -> Chip:
        return self.baseline.subject.machine.chip

    @property
    def inst(self) -> np.ndarray:
        return self.baseline.inst

    @cached_property
    def lines(self) -> tuple[Place, ...]:
        return tuple(places(self.baseline))

    @cached_property
    def ops(self) -> list[Opcode]:
        """The row of the instruction table of each instruction."""
        return [TABLE[number] for number in self.baseline.subject.launch.module.code["opcode"].tolist()]

    @cached_property
    def by_index(self) -> dict[int, Instruction]:
        base = self.baseline.subject.launch.module.load_base
        return {(each.pc - base) // INSTRUCTION_NBYTES: each for each in self.counted.facts.instructions}

    def counts(self, name: str) -> np.ndarray:
        """int64 (n_instructions,): a counter of correlate.counts.Counters."""
        sums = np.zeros(len(self.inst), np.int64)
        for index, each in self.by_index.items():
            sums[index] = getattr(each.counters, name)
        return sums

    @cached_property
    def executed(self) -> np.ndarray:
        """int64 (n_instructions,): executions by warps."""
        return self.counts("inst_executed")

    @property
    def n_warps(self) -> int:
        return self.baseline.timing.warps_launched

    @property
    def n_blocks(self) -> int:
        return self.baseline.timing.blocks_launched

    @cached_property
    def is_repeated(self) -> np.ndarray:
        """bool (n_instructions,): executed by a warp several times, on average."""
        return self.executed > 1.5 * self.n_warps

    @cached_property
    def is_repeated_or_unrolled(self) -> np.ndarray:
        """bool (n_instructions,): of a line whose instructions of this kind a warp executes several times."""
        found = np.zeros(len(self.inst), np.bool_)
        for place in self.lines:
            for kind in np.unique(self.inst["kind"][place.insts]):
                same = place.insts & (self.inst["kind"] == kind)
                found |= same & (self.executed[same].sum() > 1.5 * self.n_warps)
        return found

    @cached_property
    def is_arithmetic(self) -> np.ndarray:
        """bool (n_instructions,): arithmetic of floating point."""
        return np.array([op.kind == "compute" and op.types[:1] and op.types[0][0] == "f" for op in self.ops], np.bool_)

    @cached_property
    def is_of_thread(self) -> np.ndarray:
        """bool (n_instructions,): instructions that work on what differs between the threads of a block: their numbers,
        and what loads bring that differ between lanes.
        """
        numbers = self.baseline.subject.launch.module.code["imm"].tolist()
        own = [op.kind == "special" and SPECIAL[imm].startswith(OWN) for op, imm in zip(self.ops, numbers, strict=True)]
        taken, _ = self.baseline.sectors
        differ = np.array([op.kind == "load" for op in self.ops]) & (taken > self.executed)
        return derived(self.baseline.program, np.array(own, np.bool_) | differ, passes=2)

    @cached_property
    def _sector_uses(self) -> dict[bytes, SectorUses]:
        return {}

    def sector_uses(self, mask: np.ndarray) -> SectorUses:
        """Gives the uses by the accesses of a mask, counted once for all rules that ask for the same."""
        key = mask.tobytes()
        if key not in self._sector_uses:
            self._sector_uses[key] = sector_uses(self.baseline, mask)
        return self._sector_uses[key]

    def chosen(self, mask: np.ndarray) -> np.ndarray:
        return mask & self.baseline.reached

    def share(self, warp_cycles: float) -> float:
        return self.baseline.share(warp_cycles)

    def worst(self, mask: np.ndarray, weight: np.ndarray) -> Place | None:
        """The line with the largest sum of weights of instructions of a mask; None where all are 0."""
        sums = [float(weight[place.insts & mask].sum()) for place in self.lines]
        best = max(range(len(sums)), key=lambda k: (sums[k], -k), default=None)
        return self.lines[best] if best is not None and sums[best] > 0 else None

    @cached_property
    def ended(self) -> np.ndarray:
        """int64 (n_instructions,): warp-cycles of the stalls that each instruction ended."""
        rows = self.baseline.causes
        return np.bincount(rows["cause_pc"], rows["cycles"], minlength=len(self.inst)).astype(np.int64)

    @cached_property
    def issued_cycles(self) -> np.ndarray:
        return self.baseline.charged[:, SELECTED]

    def text(self, place: Place) -> str:
        """The source of a line, without blanks around it; "" where it is not known."""
        source = self.baseline.subject.launch.module.program.sources.get(place.path, "")
        lines = source.splitlines()
        return lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""

    def elements(self, place: Place) -> list[tuple[str, str]]:
        """The array elements in a line: (array, index with its brackets)."""
        return [(name, index.replace(" ", "")) for name, index in ELEMENT.findall(self.text(place))]

    def change(self, kind: str, mask: np.ndarray, place: Place) -> Intervention:
        return intervention(kind, self.chosen(mask), place)

    def counted_line(self, place: Place, mask: np.ndarray) -> Line:
        """The counters of a line's instructions of a mask."""
        some = [self.by_index[k] for k in np.flatnonzero(place.insts & mask).tolist() if k in self.by_index]
        return line_of(place.path, place.line, some)


def read_case(database: sqlite3.Connection, baseline: Baseline) -> Case:
    launch = baseline.subject.launch.index
    function, kernel = database.execute("SELECT function, kernel FROM launches WHERE launch = ?", (launch,)).fetchone()
    n_launches, cycles = database.execute(
        "SELECT count(*), sum(cycles) FROM launches WHERE kernel = ? AND complete", (kernel,)
    ).fetchone()
    return Case(baseline, read_measured(database, function, [launch]), n_launches, cycles)


def kinds_of(case: Case, *kinds: str) -> np.ndarray:
    """bool (n_instructions,): instructions of some kinds of the table."""
    return np.array([op.kind in kinds for op in case.ops], np.bool_)
