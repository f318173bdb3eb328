"""What may start a trace cell: the clock, or every so many events of a kind, which each SM counts for itself.

An event is counted when its instruction issues, and the cell samples that cycle; misses of the L2 are known when the
requests of a quantum are served, and what is sampled is the first cycle of the next. See docs/model.md.
"""

from typing import NamedTuple


class Trigger(NamedTuple):
    """A kind of event."""

    name: str
    text: str


CYCLES = "cycles"
TRIGGERS = (
    Trigger(CYCLES, "a cycle of the GPU's clock: --period"),
    Trigger("inst_issued", "an issue slot that is used"),
    Trigger("branch", "a jump, a call or a return, taken or not"),
    Trigger("divergent_branch", "a branch or an exit after which only some of the warp's lanes go on"),
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
# Kinds that the instruction alone tells.
SEMANTICS = {
    BRANCH: ("branch", "branch_indirect", "call", "call_indirect", "return"),
    CALL: ("call", "call_indirect"),
    BARRIER_ARRIVAL: ("bar_sync", "bar_arrive", "bar_red"),
    DIVERGENT_BRANCH: ("branch", "branch_indirect", "call", "call_indirect", "return", "exit"),
}


def events_of(semantics: str) -> int:
    """A bit for each kind of event that executing an instruction is, or can be."""
    return sum(1 << number for number, names in SEMANTICS.items() if semantics in names)
