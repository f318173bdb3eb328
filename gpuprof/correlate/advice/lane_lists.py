"""Rules about lanes that have nothing to do: a block that does not fill its warps, and branches that split them."""

from collections.abc import Iterator

from gpuprof.base.wording import plural
from gpuprof.correlate.advice.access_advice import worst_of
from gpuprof.correlate.advice.kernel_costs import Advised, Line, Measured
from gpuprof.correlate.counts import Counters

LANES_SHARE = 0.75  # of the lanes that a warp of the launch has: below it a line is worth a sentence


def block_lanes(kernel: Measured) -> Iterator[Advised]:
    """Blocks whose warps are not full, whatever they do."""
    lanes, warp_lanes = launched_lanes(kernel), kernel.facts.warp_lanes
    if not lanes or lanes >= LANES_SHARE * warp_lanes:
        return
    threads, warps = launched(kernel)
    block = max(shape.threads for shape in kernel.facts.shapes)
    text = (
        f"A block of {plural(block, 'thread', 'threads')} fills {lanes:.3g} of the {warp_lanes} lanes of a warp "
        f"on average: make it a multiple of {warp_lanes} threads."
    )
    yield Advised(text, None, warps * warp_lanes - threads, None)


def divergence(kernel: Measured) -> Iterator[Advised]:
    lanes = launched_lanes(kernel)
    if not lanes or has_only_partial_ends(kernel):
        return

    def lost(counters: Counters) -> float:
        return lanes * counters.inst_executed - counters.thread_inst_executed

    def worth(line: Line) -> float:
        counters = line.counters
        is_full = counters.thread_inst_executed >= LANES_SHARE * lanes * counters.inst_executed
        return 0 if is_full else lost(counters)

    for line in kernel.worst(worth)[:1]:
        mean = line.counters.thread_inst_executed / line.counters.inst_executed
        text = f"{line.place} runs with {mean:.1f} of {lanes:.3g} lanes. {remedy(kernel)}"
        pc = worst_of(line, lambda i: lost(i.counters)).pc
        yield Advised(text, pc, round(lost(line.counters)), line.cycles)


EVEN = "Give every lane the same amount of work, or let both sides of a branch share their instructions."
APART = "Let whole warps take one side of a branch, or give every lane the same amount of work."

SHUFFLE = (
    "At most one warp of a block splits at a time, so no order of the threads helps: let warp shuffles do the last "
    "steps of a reduction (__shfl_down_sync), or give the other lanes work."
)


def remedy(kernel: Measured) -> str:
    if is_one_warp(kernel):
        return EVEN
    return SHUFFLE if splits_one_warp_at_a_time(kernel) else APART


def splits_one_warp_at_a_time(kernel: Measured) -> bool:
    """No branch splits more warps than one for each time that the warps of a block pass it, as in a tree whose active
    threads lie together: their last warp is not full.
    """
    blocks, (_, warps) = launched_blocks(kernel), launched(kernel)
    counters = [instruction.counters for instruction in kernel.facts.instructions]
    return all(each.divergent_branches * warps <= each.inst_executed * blocks for each in counters)


def launched_blocks(kernel: Measured) -> int:
    return sum(shape.blocks for shape in kernel.facts.shapes)


def launched(kernel: Measured) -> tuple[int, int]:
    """Threads and warps of all launches."""
    shapes = kernel.facts.shapes
    threads = sum(shape.blocks * shape.threads for shape in shapes)
    return threads, sum(shape.blocks * -(-shape.threads // kernel.facts.warp_lanes) for shape in shapes)


def launched_lanes(kernel: Measured) -> float:
    """Lanes of a warp that have a thread, over all launches; 0 without a launch."""
    threads, warps = launched(kernel)
    return threads / warps if warps else 0


def is_one_warp(kernel: Measured) -> bool:
    return all(shape.threads <= kernel.facts.warp_lanes for shape in kernel.facts.shapes)


def has_only_partial_ends(kernel: Measured) -> bool:
    """No warp splits, or one of a block at most: where its part of the data ends. No order of the threads avoids it."""
    return kernel.counters.divergent_branches <= launched_blocks(kernel)
