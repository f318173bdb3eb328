"""The kinds of instructions: the closed set that a row's `kind` comes from, and what all instructions of a kind share.

`has_effect`: it stays even when its result is never read. `is_fence`: no access to memory moves over it. `operation`:
what it does to memory, "" for nothing. A load with memory order (the `sem` modifier) has an effect and is a fence, too.
"""

from typing import NamedTuple


class Kind(NamedTuple):
    name: str
    operation: str
    has_effect: bool
    is_fence: bool
    meaning: str


_, X, F = False, True, True  # columns: effect, fence

KINDS = {
    kind.name: kind
    for kind in (
        Kind("compute", "", _, _, "makes registers from registers"),
        Kind("special", "", _, _, "reads a special register"),
        Kind("hint", "", X, _, "takes its issue slot and changes nothing"),
        Kind("meet", "", X, _, "marks where diverged lanes reconverge"),
        # Where control goes.
        Kind("branch", "", X, F, "jumps to a place that the instruction names"),
        Kind("branch_indirect", "", X, F, "jumps to the address in a register"),
        Kind("call", "", X, F, "calls a function that the instruction names"),
        Kind("call_indirect", "", X, F, "calls the function at the address in a register"),
        Kind("return", "", X, F, "leaves a function; of a kernel, its lanes"),
        Kind("exit", "", X, F, "ends its lanes"),
        Kind("trap", "", X, F, "ends the kernel with an error"),
        Kind("breakpoint", "", X, F, "stops for a debugger"),
        Kind("syscall", "", X, F, "calls a service of the system: printf, malloc, a launch"),
        Kind("sleep", "", X, F, "suspends its warp for a time"),
        Kind("stack_save", "", _, F, "reads the top of the lane's stack"),
        Kind("stack_change", "", X, F, "moves the top of the lane's stack"),
        # Waiting for others.
        Kind("barrier", "", X, F, "arrives at a barrier of the block and waits"),
        Kind("barrier_arrive", "", X, F, "arrives at a barrier of the block and continues"),
        Kind("barrier_vote", "", X, F, "waits at a barrier of the block, which combines a predicate of all threads"),
        Kind("cluster_barrier", "", X, F, "arrives or waits at the barrier of the cluster"),
        Kind("warp_sync", "", X, F, "waits for lanes of its warp"),
        Kind("fence", "", X, F, "orders accesses to memory"),
        Kind("grid_signal", "", X, _, "lets dependent grids start"),
        Kind("grid_wait", "", X, _, "waits for the grids that this one depends on"),
        # Memory.
        Kind("load", "load", _, _, "reads memory"),
        Kind("store", "store", X, _, "writes memory"),
        Kind("atomic", "atomic", X, _, "changes memory in one step and gives the old value"),
        Kind("reduction", "reduction", X, _, "changes memory in one step"),
        Kind("copy", "copy", X, _, "copies from global to shared memory while its warp continues"),
        Kind("copy_commit", "", X, F, "makes a group of the copies so far"),
        Kind("copy_wait", "", X, F, "waits for groups of copies"),
        Kind("bulk_load", "copy", X, F, "a bulk or tensor copy from global to shared memory"),
        Kind("bulk_store", "copy", X, F, "a bulk or tensor copy from shared to global memory"),
        Kind("bulk_copy", "copy", X, F, "a bulk copy to the shared memory of another block"),
        Kind(
            "bulk_reduction",
            "reduction",
            X,
            F,
            "a bulk or tensor copy to global memory that combines with what is there",
        ),
        Kind("bulk_reduction_shared", "reduction", X, F, "the same, to the shared memory of another block"),
        Kind("bulk_prefetch", "prefetch", X, F, "brings memory into the L2"),
        Kind("bulk_commit", "", X, F, "makes a group of the bulk copies so far"),
        Kind("bulk_wait", "", X, F, "waits for groups of bulk copies"),
        Kind("bulk_wait_read", "", X, F, "waits until groups of bulk copies have read shared memory"),
        Kind("mbarrier", "atomic", X, F, "changes a memory barrier, an object in shared memory"),
        Kind("mbarrier_wait", "", X, F, "waits for a phase of a memory barrier"),
        # Textures and surfaces.
        Kind("fetch", "load", _, _, "reads a texture"),
        Kind("query", "", _, _, "reads a property of a texture, sampler or surface"),
        Kind("surface_load", "load", _, _, "reads a surface"),
        Kind("surface_store", "store", X, _, "writes a surface"),
        Kind("surface_reduction", "reduction", X, _, "changes a surface in one step"),
        # Lanes of a warp together.
        Kind("shuffle", "", _, _, "reads a register of another lane, or says whether there is one"),
        Kind("vote", "", _, _, "combines a predicate of the lanes, or says which lanes are active"),
        Kind("match", "", _, _, "finds the lanes with the same value"),
        Kind("elect", "", _, _, "chooses one lane"),
        Kind("warp_reduction", "", _, _, "combines a register of the lanes"),
        # Matrices. A whole warp executes these together.
        Kind("matrix", "", _, _, "multiplies matrices"),
        Kind("matrix_async", "", _, F, "multiplies matrices of a warp group while its warps continue"),
        Kind("matrix_commit", "", X, F, "makes a group of the multiplications so far"),
        Kind("matrix_wait", "", X, F, "waits for groups of multiplications"),
        Kind("matrix_load", "load", _, _, "reads fragments of matrices from memory"),
        Kind("matrix_store", "store", X, _, "writes fragments of matrices to memory"),
        Kind("matrix_transpose", "", _, _, "transposes a fragment"),
    )
}


def kinds_of(*names: str) -> frozenset[str]:
    """A set of kinds by their names. Raises KeyError for a name that is not in KINDS."""
    return frozenset(KINDS[name].name for name in names)


# Kinds that all lanes of a warp execute together, with registers of all of them.
COLLECTIVE = kinds_of("matrix", "matrix_async", "matrix_load", "matrix_store", "matrix_transpose")
# Kinds in which lanes of a warp look at each other.
BETWEEN_LANES = COLLECTIVE | kinds_of("shuffle", "vote", "match", "elect", "warp_reduction")
CALLS = kinds_of("call", "call_indirect")
BLOCK_BARRIERS = kinds_of("barrier", "barrier_arrive", "barrier_vote")
ATOMICS = kinds_of("atomic", "reduction", "surface_reduction")
