"""Usual causes of each stall reason, for `gpuprof explain`: by name, most frequent first."""

USUAL_CAUSES: dict[str, tuple[str, ...]] = {
    "selected": ("The share of selected cycles is the share of its time in which a warp works.",),
    "not_selected": ("More warps are ready than the scheduler can issue: the multiprocessor is well occupied.",),
    "wait": (
        "A chain of dependent arithmetic: each instruction needs the one before it.",
        "Few warps, so that nothing else fills the pipe's four or so cycles.",
    ),
    "long_scoreboard": (
        "The instruction shown is the first to use a loaded value; the load itself is before it.",
        "Loads that miss the caches, or that touch many sectors because lanes are far apart.",
        "A load right before its use, and too few warps to hide its latency.",
        "At CP.ASYNC.WAIT, BULK.WAIT or a wait at an mbarrier: copies that start too late, or too few stages; at "
        "an mbarrier also warps that have not arrived yet.",
    ),
    "short_scoreboard": (
        "Shared-memory loads with bank conflicts: lanes of a warp that want different words of one bank.",
        "Square roots, sines and other special functions, or type conversions, in a short loop.",
        "Warp shuffles whose result is used at once.",
        "Double precision on a chip with few f64 lanes, whose results come through a queue.",
    ),
    "barrier": (
        "Some warps of the block have more to do before the barrier than others.",
        "Large blocks with few of them per multiprocessor, so that no other block can run meanwhile.",
    ),
    "membar": ("__threadfence() in a loop, or a wider fence than the algorithm needs.",),
    "mio_throttle": (
        "Many narrow shared-memory accesses one after another.",
        "Bank conflicts, which keep each access in the queue for longer.",
        "Special functions and shuffles, which share the queue.",
    ),
    "lg_throttle": (
        "Uncoalesced stores or loads: each takes many passes and the queue does not drain.",
        "Register spills, which are loads and stores to local memory.",
        "Many narrow accesses where one wide one would do.",
    ),
    "tex_throttle": (
        "Many texture or surface fetches in a row.",
        "Double precision on a chip with few f64 lanes (GeForce parts and T4 have 2 an SM): a queue like that of "
        "textures is in front of them.",
    ),
    "math_pipe_throttle": (
        "All warps want one pipe in the same phase: double precision, or integer multiplication.",
        "Special functions, of which a multiprocessor does an eighth as many per cycle as additions.",
        "Matrix instructions one after another: the tensor pipe is full, the goal of such a kernel.",
    ),
    "dispatch_stall": ("Multiply-adds of three registers, two of which are in one bank of the register file.",),
    "imc_miss": (
        "The first touch of kernel parameters or constants, at the start of a kernel.",
        "Constants indexed by a value that differs between threads.",
    ),
    "no_instructions": (
        "A short kernel: each instruction is fetched for the first time.",
        "A loop body larger than the instruction cache, often from unrolling.",
        "Warps that jump to far away code.",
    ),
    "branch_resolving": ("Short loops and many small branches: each jump costs the time to fetch at its target.",),
    "drain": ("Stores at the very end of the kernel, above all uncoalesced ones, which the exiting warp waits for.",),
    "sleeping": ("__nanosleep() in a spin loop.",),
    "warpgroup_arrive": (
        "wgmma.wait_group: the warp waits until its multiplications have ended. Harmless while the tensor pipe "
        "is busy all the time.",
        "Only one group of multiplications in flight: wait with one group pending (wait_group 1), or use two "
        "warp groups.",
    ),
    "misc": ("No cause that the model names.",),
}
