"""The kernels that may be spread: those whose chunks change nothing outside themselves but bytes of global memory and
counts, and have not turned out to need each other.
"""

from weakref import WeakKeyDictionary

from gpuprof.emulate.core.convergence_order import OrderedGraph
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.kinds import kinds_of
from gpuprof.isa.special import ASSERT_SERVICE

# They change registers, memory of their block, and bytes of global memory that the footprint gets. Left out is what
# waits for other blocks, asks the runtime, or touches images, tensor maps or code whose place is in a register.
_ALONE = kinds_of(
    "compute", "special", "hint", "meet", "branch", "call", "return", "exit", "trap", "stack_save", "stack_change",
    "barrier", "barrier_arrive", "barrier_vote", "cluster_barrier", "warp_sync", "fence",
    "load", "store", "copy", "copy_commit", "copy_wait", "mbarrier", "mbarrier_wait",
    "shuffle", "vote", "match", "elect", "warp_reduction",
    "matrix", "matrix_async", "matrix_commit", "matrix_wait", "matrix_load", "matrix_store", "matrix_transpose",
)  # fmt: skip
_ALONE_IN_SHARED = kinds_of("atomic", "reduction")  # in global memory all blocks take part in them

# By module and the kernel's first instruction.
_may: WeakKeyDictionary = WeakKeyDictionary()


def may_spread(module, first_instruction: int) -> bool:
    """`module`: an emulate.blocks.CompiledModule."""
    known = _may.setdefault(module, {})
    if first_instruction not in known:
        known[first_instruction] = not module.env.polls and _all_alone(module.graph, first_instruction)
    return known[first_instruction]


def never_again(module, first_instruction: int) -> None:
    """Chunks of this kernel needed each other."""
    _may[module][first_instruction] = False


def _all_alone(graph: OrderedGraph, first_instruction: int) -> bool:
    """True if all that can run from the kernel's first instruction on may be spread."""
    seen, pending = set[int](), [graph.block_at[first_instruction]]
    while pending:
        block = pending.pop()
        if block in seen:
            continue
        seen.add(block)
        if not all(map(is_alone, graph.block(block).instructions)):
            return False
        pending += graph.successors(block) + graph.callees(block)
    return True


def is_alone(inst: Instruction) -> bool:
    kind = inst.op.kind
    if kind == "syscall":
        return inst.imm == ASSERT_SERVICE  # it ends the launch, or nothing happens
    return kind in _ALONE or (kind in _ALONE_IN_SHARED and inst.op.space == "shared")
