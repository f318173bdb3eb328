"""Rules about lanes that have nothing to do: a block that does not fill its warps, and branches that split them."""

from collections.abc import Iterator

from gpuprof.base.wording import plural
from gpuprof.report.figures import product
from gpuprof.report.model import Row
from gpuprof.report.triage.findings import Case, Finding, place

LANES_SHARE = 0.75  # of the lanes that a warp of the launch has: below it a line is worth a sentence


def block_lanes(case: Case) -> Iterator[Finding]:
    """Blocks whose warps are not full, whatever they do."""
    lanes = launched_lanes(case)
    if not lanes or lanes >= LANES_SHARE * case.chip.lanes:
        return
    threads = max(product(launch.block) for launch in case.kernel.launches)
    yield Finding(
        "block_lanes",
        f"A block of {plural(threads, 'thread', 'threads')} fills {lanes:.3g} of the {case.chip.lanes} lanes of a warp "
        f"on average: make it a multiple of {case.chip.lanes} threads.",
    )


def divergence(case: Case) -> Iterator[Finding]:
    lanes = launched_lanes(case)
    if not lanes or has_only_partial_ends(case):
        return

    def lost(row: Row) -> float:
        counters = row.cost.counters
        if counters.thread_inst_executed >= LANES_SHARE * lanes * counters.inst_executed:
            return 0
        return lanes * counters.inst_executed - counters.thread_inst_executed

    for path, row in case.worst(lost)[:1]:
        mean = row.cost.counters.thread_inst_executed / row.cost.counters.inst_executed
        text = f"{place(path, row)} runs with {mean:.1f} of {lanes:.3g} lanes. {remedy(case)}"
        yield Finding("divergence", text, path, row.number, "branch_resolving")


EVEN = "Give every lane the same amount of work, or let both sides of a branch share their instructions."
APART = "Let whole warps take one side of a branch, or give every lane the same amount of work."

SHUFFLE = (
    "At most one warp of a block splits at a time, so no order of the threads helps: let warp shuffles do the last "
    "steps of a reduction (__shfl_down_sync), or give the other lanes work."
)


def remedy(case: Case) -> str:
    if is_one_warp(case):
        return EVEN
    return SHUFFLE if splits_one_warp_at_a_time(case) else APART


def splits_one_warp_at_a_time(case: Case) -> bool:
    """No branch splits more warps than one for each time that the warps of a block pass it, as in a tree whose active
    threads lie together: their last warp is not full.
    """
    blocks = warps = 0
    for launch in case.kernel.launches:
        n = product(launch.grid)
        blocks += n
        warps += n * -(-product(launch.block) // case.chip.lanes)
    counters = [instruction.cost.counters for instruction in case.kernel.instructions]
    return all(each.divergent_branches * warps <= each.inst_executed * blocks for each in counters)


def launched_lanes(case: Case) -> float:
    """Lanes of a warp that have a thread, over all launches; 0 without a launch."""
    threads = warps = 0
    for launch in case.kernel.launches:
        blocks, block = product(launch.grid), product(launch.block)
        threads += blocks * block
        warps += blocks * -(-block // case.chip.lanes)
    return threads / warps if warps else 0


def is_one_warp(case: Case) -> bool:
    return all(product(launch.block) <= case.chip.lanes for launch in case.kernel.launches)


def has_only_partial_ends(case: Case) -> bool:
    """No warp splits, or one of a block at most: where its part of the data ends. No order of the threads avoids it."""
    return case.kernel.cost.counters.divergent_branches <= sum(product(launch.grid) for launch in case.kernel.launches)
