"""Registers that a wgmma.mma_async reads or adds to, in an order that is not guaranteed. The assembler determines these
instructions (`isa.facts.RegisterHazard`); a warp that executes both has the error. Before its first multiplication a
warp always needs a wgmma.fence (PTX ISA, wgmma.fence).
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from gpuprof.isa.facts import NEVER_FENCED, OVERWRITTEN, SOMETIMES_FENCED, UNFENCED, RegisterHazard
from gpuprof.isa.opcodes import numbers
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.kernel import Code, Instruction

FENCE, MULTIPLIES = numbers("WARPGROUP.ARRIVE"), "matrix_async"
FIRST_COLUMNS = 0  # imm of the first instruction of a wgmma.mma_async
NAMES = dict.fromkeys((UNFENCED, NEVER_FENCED, SOMETIMES_FENCED), "missing_wgmma_fence") | {
    OVERWRITTEN: "async_register_race"
}
NO_FENCE = "multiplies; there is no wgmma.fence before its first wgmma.mma_async, so registers may have old values"
TEXTS = {
    UNFENCED: "multiplies {}, which it has written; there is no wgmma.fence in between, so it may have the old value",
    NEVER_FENCED: NO_FENCE,
    SOMETIMES_FENCED: NO_FENCE,
    OVERWRITTEN: "writes {}, which a wgmma.mma_async reads; no thread has waited for its group, so it may still be "
    "in progress",
}


class ExecutedHazard(NamedTuple):
    """A hazard that a warp of an event executes: a key of NAMES, the register, and the earlier instruction, -1 for
    none.
    """

    row: int
    kind: str
    register: str
    other_at: int


class Fragments:
    def __init__(self, code: Code):
        hazards = code.facts.register_hazards
        lines = {line for each in hazards for line in (each.line, each.earlier) if line}
        self._line_of = {each.number: each.ptx_line for each in code.instructions if each.ptx_line in lines}
        self._at: dict[int, int] = {}  # by line: its first instruction
        for number, line in self._line_of.items():
            self._at.setdefault(line, number)
        self._hazards: dict[int, list[RegisterHazard]] = defaultdict(list)  # by line
        for each in hazards:
            self._hazards[each.line].append(each)
        self._fenced: set[tuple[int, int]] = set()  # block and warp
        self._lines: dict[tuple[int, int], set[int]] = defaultdict(set)  # that warps have executed
        fences = {each.number for each in code.instructions if each.encoded.op.number in FENCE} if hazards else ()
        self.wanted = frozenset(self._line_of).union(fences)

    def act(self, event: TraceEvent) -> Iterator[ExecutedHazard]:
        """Warps execute an instruction that is `wanted`."""
        instruction, masks = event.instruction, event.true_masks.tolist()
        line = self._line_of.get(instruction.number)
        hazards = list(self._of(instruction, line))
        for row, warp in enumerate(zip(event.block.tolist(), event.warp.tolist(), strict=True)):
            if not masks[row]:
                continue
            if line is None:
                self._fenced.add(warp)
                continue
            for each in hazards:
                if self._is_met(each, warp):
                    yield ExecutedHazard(row, each.kind, each.register, self._at.get(each.earlier, -1))
            self._lines[warp].add(line)

    def _of(self, instruction: Instruction, line: int | None) -> Iterator[RegisterHazard]:
        """The hazards of an instruction; if a line became several instructions, the first one has them."""
        multiplies = instruction.kind == MULTIPLIES and instruction.encoded.imm == FIRST_COLUMNS
        begins = self._line_of.get(instruction.number - 1) != line
        for each in self._hazards.get(line or 0, ()):
            if begins if each.kind == OVERWRITTEN else multiplies:
                yield each

    def _is_met(self, hazard: RegisterHazard, warp: tuple[int, int]) -> bool:
        if hazard.kind == SOMETIMES_FENCED:
            return warp not in self._fenced
        # A line without an instruction was folded into others.
        return hazard.earlier not in self._at or hazard.earlier in self._lines[warp]

    def forget(self, block: int) -> None:
        self._fenced = {warp for warp in self._fenced if warp[0] != block}
        for warp in [warp for warp in self._lines if warp[0] == block]:
            del self._lines[warp]
