"""The kinds of findings that gpuprof makes. Budgets, requirements, suppressions and users' scripts name them: a kind
may be added, and none is renamed or removed.
"""

from typing import NamedTuple

from gpuprof.base.compared_results import ADVICE, MOST_NAME, NAME
from gpuprof.base.wording import suggestion
from gpuprof.correlate.advice.advice_rules import NOBODY, RULES


class FindingKind(NamedTuple):
    """`name`, `generator` and `severity`: as the table `findings` of a database has them."""

    name: str
    generator: str  # trace generator that makes it; "": advice, which every profile has
    severity: str
    text: str


_OWN = (
    FindingKind("out_of_bounds", "memcheck", "error", "An access outside of each allocation, of the block's shared "
                "memory, or of the thread's local memory."),
    FindingKind("null_pointer", "memcheck", "error", "An access with an index of less than 64 KiB into a null "
                "pointer."),
    FindingKind("use_after_free", "memcheck", "error", "An access to an allocation that has been freed, also by an "
                "earlier cudaFreeAsync in the order of streams."),
    FindingKind("misaligned", "memcheck", "error", "An access whose address is not a multiple of its length."),
    FindingKind("constant_write", "memcheck", "error", "A store to a __constant__ variable or a parameter."),
    FindingKind("double_free", "memcheck", "error", "The host or a kernel frees a freed allocation."),
    FindingKind("invalid_free", "memcheck", "error", "The host or a kernel frees an address that is not an "
                "allocation."),
    FindingKind("invalid_image", "memcheck", "error", "A handle of no texture, surface or sampler, or of one of "
                "another kind."),
    FindingKind("invalid_tensor_map", "memcheck", "error", "128 bytes that are not a tensor map, or one that the "
                "instruction is not for."),
    FindingKind("copy_out_of_bounds", "memcheck", "error", "A copy or fill of the host exceeds an allocation."),
    FindingKind("negative_size", "memcheck", "error", "The host copies, fills or allocates a negative number of "
                "bytes."),
    FindingKind("leak", "memcheck", "error", "An allocation is never freed; with memcheck:leaks=yes."),
    FindingKind("uninitialised_address", "initcheck", "error", "An undefined bit is in the address of an access, or "
                "in the texture or element that is fetched."),
    FindingKind("uninitialised_branch", "initcheck", "error", "An undefined bit is in the condition of a branch or a "
                "guarded store, or in a barrier's operand."),
    FindingKind("uninitialised_store", "initcheck", "error", "An undefined bit is in a value written to global memory, "
                "where the host can read it."),
    FindingKind("shared_write_write_race", "racecheck", "error", "Two threads write different values to shared "
                "memory."),
    FindingKind("shared_write_read_race", "racecheck", "error", "A thread reads shared memory, in this run after "
                "another one's write."),
    FindingKind("shared_read_write_race", "racecheck", "error", "A thread writes shared memory, in this run after "
                "another one's read."),
    FindingKind("global_write_write_race", "racecheck", "error", "Two threads write different values to global "
                "memory."),
    FindingKind("global_write_read_race", "racecheck", "error", "A thread reads global memory, in this run after "
                "another one's write."),
    FindingKind("global_read_write_race", "racecheck", "error", "A thread writes global memory, in this run after "
                "another one's read."),
    FindingKind("stream_write_write_race", "racecheck", "error", "A launch, copy or fill writes what another one "
                "writes, and no stream, event or wait orders the two."),
    FindingKind("stream_write_read_race", "racecheck", "error", "A launch, copy or fill reads what another one writes, "
                "and no stream, event or wait orders the two."),
    FindingKind("stream_read_write_race", "racecheck", "error", "A launch, copy or fill writes what another one reads, "
                "and no stream, event or wait orders the two."),
    FindingKind("stream_use_after_free", "racecheck", "error", "A launch, copy or fill accesses memory that "
                "cudaFreeAsync frees before it, or unordered with it."),
    FindingKind("async_copy_race", "racecheck", "error", "An access to bytes that an asynchronous operation reads or "
                "writes, before a wait for it."),
    FindingKind("async_register_race", "racecheck", "error", "Before the wait for the group of a wgmma an accumulator "
                "of it, or a value computed from one, is stored, decides a branch or an address, or is multiplied; or "
                "a register of A is written."),
    FindingKind("missing_proxy_fence", "racecheck", "error", "A bulk copy or wgmma reads or writes bytes that a thread "
                "or cp.async has written, without a fence.proxy.async between."),
    FindingKind("missing_wgmma_fence", "racecheck", "error", "A wgmma.mma_async without a wgmma.fence before a warp's "
                "first one, or after an instruction that has written its accumulators or its A in registers."),
    FindingKind("more_races", "racecheck", "error", "Races of further pairs of code addresses, which are only "
                "counted."),
    FindingKind("divergent_barrier", "synccheck", "error", "Threads of a warp reach different barriers; barrier.sync "
                "without .aligned allows this."),
    FindingKind("not_a_member", "synccheck", "error", "A thread is not in the member mask that it passes."),
    FindingKind("mbarrier_not_initialized", "synccheck", "error", "An operation on memory that is not an mbarrier: "
                "before init, or after inval."),
    FindingKind("mbarrier_reinitialized", "synccheck", "error", "The init of an existing mbarrier, without inval "
                "between."),
    FindingKind("mbarrier_overflow", "synccheck", "error", "An mbarrier gets more arrivals than the phase expects."),
    FindingKind("mbarrier_stale_wait", "synccheck", "error", "A thread waits a second time for a completed phase, "
                "while the next one is in progress."),
    FindingKind("exited_block", "synccheck", "error", "An operation on an mbarrier of a block of the cluster whose "
                "threads have all exited."),
    FindingKind("deadlock", "synccheck", "error", "The launch ended with threads that wait forever: where each was "
                "last, for how many threads or which phase it waits, and which arrivals have happened."),
    FindingKind("redundant_load", "redundancy", ADVICE, "A load of words that the thread already has in a register."),
    FindingKind("silent_store", "redundancy", ADVICE, "A store of words that memory already contains."),
    FindingKind("dead_store", "redundancy", ADVICE, "A store of words that are overwritten before they are read."),
    FindingKind("first_nan", "origins", "warning", "The first instruction that makes a NaN of operands that are none."),
    FindingKind("first_inf", "origins", "warning", "The first instruction that makes an infinity of operands that are "
                "none."),
    FindingKind("first_subnormal", "origins", "note", "The first instruction that makes a subnormal number of operands "
                "that are none."),
)  # fmt: skip
KINDS = (*_OWN, *(FindingKind(rule.name, NOBODY, ADVICE, rule.text) for rule in RULES))
BY_NAME = {kind.name: kind for kind in KINDS}


def why_unknown(name: str) -> str:
    """The reason why no finding can be of this kind; "" for a kind of gpuprof, and for one that resembles none of
    these: a user's trace generator may make it.
    """
    if name in BY_NAME:
        return ""
    if near := suggestion(name, BY_NAME, most=1):
        return f"{name!r} is no kind of finding; {near}"
    return "" if NAME.fullmatch(name) else f"a kind of finding has a-z, 0-9 and _, {MOST_NAME} characters at most"
