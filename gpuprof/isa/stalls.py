"""Stall reasons: Nsight Compute's names, in the order of their bits and of their priority. `vocabularies` has other
makers' words.

A warp's cycle is charged to the first reason of this list that holds. Meanings follow the Nsight Compute Kernel
Profiling
Guide ("Warp Stall Reasons").
"""

from typing import NamedTuple


class Reason(NamedTuple):
    name: str
    column: str  # Nsight Compute's column on the source page
    text: str
    advice: str


REASONS = (
    Reason("selected", "stall_selected", "The warp was picked and issued an instruction.", "Not a stall: useful work."),
    Reason("not_selected", "stall_not_selected", "The warp was ready, but its scheduler picked another warp.",
           "Harmless while the scheduler issues every cycle; more warps would not help."),
    Reason("wait", "stall_wait", "A fixed-latency dependency: the operand comes from an arithmetic instruction still "
        "in its pipe.",
           "Give each thread more independent work: unroll, several accumulators."),
    Reason("long_scoreboard", "stall_long_sb", "Waiting for data from L1TEX: global, local, surface or texture memory.",
           "Load earlier, load less, use shared memory, or coalesce the access."),
    Reason("short_scoreboard", "stall_short_sb", "Waiting for the memory-input-output unit: shared memory, special "
        "functions, dynamic branches.",
           "Avoid bank conflicts, use wider shared loads, fewer special functions in the inner loop."),
    Reason("barrier", "stall_barrier", "Waiting at a barrier for the block's other warps.",
           "Balance the work between warps before the barrier."),
    Reason("membar", "stall_membar", "Waiting for a memory barrier to see earlier writes "
        "done.", "Use fewer fences or a narrower scope."),
    Reason("mio_throttle", "stall_mio", "The queue of the memory-input-output unit is full (shared memory, special "
        "functions).",
           "Use fewer, wider shared-memory accesses; mix in other arithmetic."),
    Reason("lg_throttle", "stall_lg", "The queue for local and global memory instructions is full.",
           "Use fewer, wider accesses."),
    Reason("tex_throttle", "stall_tex", "The queue of textures, or of an f64 unit that partitions share, is full.",
           "Issue fewer texture fetches at once; use f32 instead of f64 where it suffices."),
    Reason("math_pipe_throttle", "stall_math", "The execution pipe the instruction needs is busy.",
           "The pipe is the limit: use another pipe, another type, or fewer such instructions."),
    Reason("dispatch_stall", "stall_dispatch", "The dispatcher holds the warp back.", "Usually rare; nothing "
        "to do in the source."),
    Reason("imc_miss", "stall_imc", "Waiting for a miss in the immediate-constant "
        "cache.",
           "Nothing at a kernel's start, where its parameters are touched first; in a loop, index fewer constants."),
    Reason("no_instructions", "stall_no_inst", "Waiting for the next instruction to be fetched.",
           "Keep hot loops short enough for the instruction cache; unroll less."),
    Reason("branch_resolving", "stall_branch_resolving", "Waiting for a branch target and the new program counter.",
           "Use fewer jumps in tight loops: unroll, or predicate."),
    Reason("drain", "stall_drain", "The warp has exited and waits for its stores to "
        "leave.", "Coalesce the last stores."),
    Reason("sleeping", "stall_sleep", "All threads of the warp sleep (nanosleep, "
        "yield).", "Sleep shorter or not at all."),
    Reason("warpgroup_arrive", "stall_gmma", "Waiting for a warp group to arrive (Hopper and "
        "later).", "Give the tensor unit more work per wait."),
    Reason("misc", "stall_misc", "None of the other reasons.", "Nothing to do in the source."),
)  # fmt: skip

NAMES = tuple(reason.name for reason in REASONS)
COLUMNS = tuple(reason.column for reason in REASONS)
INDEX = {name: index for index, name in enumerate(NAMES)}
N_REASONS = len(NAMES)
