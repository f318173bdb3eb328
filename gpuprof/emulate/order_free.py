"""Kernels whose traces are the same in whatever order their warps are emulated, as far as no warp's lanes part.

Then a warp's trace is where it goes and what it accesses. The order can only change what a warp reads from memory, or
gets from other warps at a barrier. So the analysis follows such values forward through the registers, and the kernel is
free of the order if none of them reaches a guard, an address, a member mask, a barrier's number or an operand of a slow
path. Lanes that part are another matter: which side runs first may depend on what waits (`chunk.PATIENCE_BLOCKS`).
"""

from collections.abc import Iterable

from gpuprof.device.module import LoadedModule
from gpuprof.emulate.blocks import compiled
from gpuprof.isa.encoding import PT, Instruction, Operand, reads, sources_of, writes
from gpuprof.isa.flow.graph import Graph
from gpuprof.isa.kinds import kinds_of
from gpuprof.isa.program import Function
from gpuprof.isa.slow_paths import slow_path_of

# By kind, the slots that say what is accessed, or which threads meet; of other operands only the values pass on. Kinds
# that are not here may depend on the order: they call, end the launch, or wait for other blocks or memory barriers.
DECIDING = {
    **dict.fromkeys(
        kinds_of("compute", "special", "hint", "meet", "branch", "exit", "return", "fence", "copy_commit", "copy_wait",
                 "matrix", "matrix_transpose"), ""),
    **dict.fromkeys(kinds_of("load", "store", "atomic", "reduction", "matrix_load", "matrix_store"), "a"),
    **dict.fromkeys(kinds_of("copy", "barrier", "barrier_arrive"), "abce"),
    **dict.fromkeys(kinds_of("barrier_vote"), "ab"),
    **dict.fromkeys(kinds_of("shuffle", "vote", "match", "elect", "warp_reduction", "warp_sync"), "bce"),
}  # fmt: skip
FROM_OTHERS = kinds_of("load", "atomic", "matrix_load", "barrier_vote")  # whose results other warps may have made
NEVER_CHANGE = ("const", "param")  # spaces
FILES, MOST_REGISTERS = "RDP", 512  # of a file: a group may begin at the last of 256


def is_order_free(module: LoadedModule, kernel: Function) -> bool:
    known = compiled(module)
    if known.env.polls:
        return False
    graph = known.graph
    states = _states(graph, graph.block_at[kernel.first])
    return states is not None and all(_is_free(graph, block, state) for block, state in states.items())


def _states(graph: Graph, entry: int) -> dict[int, int] | None:
    """The registers, as bits, that may hold values of others before each block that can run; None where a kind of
    instruction may depend on the order.
    """
    states, pending = {entry: 0}, [entry]
    while pending:
        block = pending.pop()
        state = states[block]
        for inst in graph.block(block).instructions:
            if inst.op.kind not in DECIDING:
                return None
            state = _after(inst, state)
        for following in graph.successors(block):
            joined = states.get(following, 0) | state
            if states.get(following) != joined:
                states[following] = joined
                pending.append(following)
    return states


def _after(inst: Instruction, state: int) -> int:
    results = _bits(writes(inst))
    is_given = inst.op.kind in FROM_OTHERS and inst.op.space not in NEVER_CHANGE
    if is_given or state & _bits(reads(inst)):
        return state | results
    return state & ~results if inst.guard == PT else state


def _is_free(graph: Graph, block: int, state: int) -> bool:
    for inst in graph.block(block).instructions:
        if state & _deciding(inst):
            return False
        state = _after(inst, state)
    return True


def _deciding(inst: Instruction) -> int:
    """The registers on whose values the trace depends."""
    slots = "abce" if slow_path_of(inst) else DECIDING[inst.op.kind]
    guard = [Operand("P", inst.guard & PT, 1)] if inst.guard & PT != PT else []
    return _bits([*guard, *(operand for slot, operand in sources_of(inst) if slot in slots)])


def _bits(operands: Iterable[Operand]) -> int:
    found = 0
    for file, index, count in operands:
        found |= ((1 << count) - 1) << FILES.index(file) * MOST_REGISTERS + index
    return found
