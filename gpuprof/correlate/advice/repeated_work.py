"""A rule about threads that all compute the same: the lanes of each warp load the same words and store to one word."""

from collections.abc import Iterator

from gpuprof.base.wording import plural
from gpuprof.correlate.advice.access_advice import worst_of
from gpuprof.correlate.advice.kernel_costs import Advised, Instruction, Line, Measured

SECTOR_NBYTES = 32
LEAST_TIMES = 4.0  # lanes on each word: those of a warp share a sector of words of 4 bytes by fours


def repeated_work(kernel: Measured) -> Iterator[Advised]:
    """Loads that all lanes of a warp share are a broadcast, and often meant. Where the results are stored several times
    as well, the lanes have done the same work.
    """
    stores, loads = (shared_lanes(kernel, operation) for operation in ("store", "load"))
    if min(stores, loads) < LEAST_TIMES:
        return
    for line in kernel.most(stored_again)[:1]:
        stored, warps = (sum(of(i) for i in line.instructions if is_global(i, "store")) for of in (lanes_of, warps_of))
        times = stored / warps
        text = (
            f"The {times:.3g} lanes of a warp load the same words and store to one place in {line.place}"
            f"{of_x(kernel)}. Give each thread a result of its own, or launch one thread for each result."
        )
        pc = worst_of(line, lambda i: stored_again_by(i)).pc
        yield Advised(text, pc, stored - warps, round(kernel.cycles * (1 - 1 / times)))


def is_global(instruction: Instruction, operation: str) -> bool:
    return (
        instruction.operation == operation
        and instruction.counters.l2_sectors_global > 0
        and instruction.access_nbytes > 0
    )


def lanes_of(instruction: Instruction) -> int:
    return instruction.counters.thread_inst_executed_pred_on


def warps_of(instruction: Instruction) -> int:
    return instruction.counters.inst_executed


def shared_lanes(kernel: Measured, operation: str) -> float:
    """Lanes that access each word, at least, in the mean of all such accesses to global memory."""
    some = [i for i in kernel.facts.instructions if is_global(i, operation)]
    moved = sum(i.counters.l2_sectors_global * SECTOR_NBYTES for i in some)
    return sum(lanes_of(i) * i.access_nbytes for i in some) / moved if moved else 0


def stored_again_by(instruction: Instruction) -> int:
    """Stores of all lanes of a warp but one, where one sector has all of them."""
    one_sector = instruction.counters.l2_sectors_global <= warps_of(instruction)
    return lanes_of(instruction) - warps_of(instruction) if is_global(instruction, "store") and one_sector else 0


def stored_again(line: Line) -> int:
    return sum(map(stored_again_by, line.instructions))


def of_x(kernel: Measured) -> str:
    """ ": all 512 threads of x compute the same"; of a launch of one dimension other warps do other work."""
    longest = max(kernel.facts.shapes, key=lambda shape: shape.cycles)
    if longest.x_threads % kernel.facts.warp_lanes or longest.x_blocks * longest.x_threads == longest.all_threads:
        return ""
    return f": all {plural(longest.x_blocks * longest.x_threads, 'thread', 'threads')} of x compute the same"
