"""Triggers of a trace cell: the clock, or every N-th event of a kind, which each SM counts for itself.

An event is counted when its instruction issues, and the cell samples that cycle; misses of the L2 are known when the
requests of a quantum are served, and what is sampled is the first cycle of the next. See docs/model.md.
"""

from typing import NamedTuple

from gpuprof.isa.kinds import BLOCK_BARRIERS, CALLS, kinds_of


class Trigger(NamedTuple):
    """A kind of event that can trigger samples."""

    name: str
    text: str


CYCLES = "cycles"
TRIGGERS = (
    Trigger(CYCLES, "a cycle of the GPU's clock: --period"),
    Trigger("inst_issued", "an issue slot that is used"),
    Trigger("branch", "a jump, a call or a return, taken or not"),
    Trigger("divergent_branch", "a branch or an exit after which only some of the warp's lanes continue"),
    Trigger("call", "a call of a function"),
    Trigger("barrier", "an arrival at a barrier of the block"),
    Trigger("bank_conflict", "a pass through the banks of shared memory beyond those that its width needs"),
    Trigger("l1_miss", "a sector that a load misses in the L1"),
    Trigger("l2_miss", "a sector that a read misses in the L2"),
)
# What the engine's number for a trigger is: its place.
NUMBER = {trigger.name: number for number, trigger in enumerate(TRIGGERS)}
NAMES = tuple(NUMBER)
INST_ISSUED, BRANCH, DIVERGENT_BRANCH, CALL, BARRIER_ARRIVAL, BANK_CONFLICT, L1_MISS, L2_MISS = range(1, len(TRIGGERS))
# Events that follow from the instruction only: the kinds of instructions that are such an event, or can be.
_JUMPS = CALLS | kinds_of("branch", "branch_indirect", "return")
INSTRUCTIONS = {
    BRANCH: _JUMPS,
    CALL: CALLS,
    BARRIER_ARRIVAL: BLOCK_BARRIERS,
    DIVERGENT_BRANCH: _JUMPS | kinds_of("exit"),
}


def events_of(kind: str) -> int:
    """A bit for each kind of event that executing an instruction of a kind is, or can be."""
    return sum(1 << number for number, kinds in INSTRUCTIONS.items() if kind in kinds)
