"""Rules about accesses of lanes to memory: bytes that are moved without a use, if they cost time."""

from collections.abc import Callable, Iterator

from gpuprof.base.wording import percent0, plural
from gpuprof.correlate.advice.kernel_costs import LINES_PER_RULE, Advised, Instruction, Line, Measured
from gpuprof.correlate.advice.padding_advice import Padding, accesses_of, best_padding, is_regular, same_array, words

SECTOR_RATIO = 2.0
EXCESS_SHARE = 0.10  # ours, of the kernel's excess: a line with less is not worth a sentence
BANK_CONFLICT_SHARE = 0.10
LOCAL_SHARE = 0.10


def uncoalesced(kernel: Measured) -> Iterator[Advised]:
    whole = kernel.counters.l2_sectors_global_excess
    for line in kernel.most(lambda line: line.counters.l2_sectors_global_excess)[:LINES_PER_RULE]:
        excess = line.counters.l2_sectors_global_excess
        if excess < EXCESS_SHARE * whole:
            continue
        if not (kernel.waits_for_memory() or kernel.costs_conflicts(line)):
            continue
        asked, ideal = line.counters.l2_sectors_global, line.counters.l2_sectors_global_ideal
        times = f"{asked / ideal:.3g} times the ideal" if ideal else "none would do"
        sectors = plural(asked, "sector", "sectors")
        strength = "Uncoalesced" if asked >= SECTOR_RATIO * ideal else "Partly uncoalesced"
        worst = worst_of(line, lambda i: i.counters.l2_sectors_global_excess)
        what, how = ("atomics", COMBINED) if worst.operation in ATOMIC else ("global access", NEIGHBOURS)
        text = f"{strength} {what} in {line.place}: {sectors} for {ideal:,}, {times}. {how}"
        yield Advised(text, worst.pc, excess, kernel.cost(line.waited.conflict_cycles))


# Which addresses atomics take, the data says: no order of the threads changes it.
ATOMIC = ("atomic", "reduction")
COMBINED = "Combine them in shared memory first, a copy for each block, and add the copies to global memory at the end."
NEIGHBOURS = "Let neighbouring threads touch neighbouring addresses, or go through shared memory."


def worst_of(line: Line, weight: Callable[[Instruction], int]) -> Instruction:
    return max(line.instructions, key=lambda i: (weight(i), -i.pc))


def bank_conflicts(kernel: Measured) -> Iterator[Advised]:
    counters = kernel.counters
    if counters.l1_wavefronts_shared_excess <= BANK_CONFLICT_SHARE * counters.l1_wavefronts_shared:
        return
    lines = kernel.most(lambda line: line.counters.l1_wavefronts_shared_excess)
    for line in [line for line in lines if kernel.costs_conflicts(line)][:LINES_PER_RULE]:
        used, ideal = line.counters.l1_wavefronts_shared, line.counters.l1_wavefronts_shared_ideal
        worst = worst_of(line, lambda i: i.counters.l1_wavefronts_shared_excess)
        text = (
            f"Bank conflicts in {line.place}: {used:,} shared-memory wavefronts where {ideal:,} would do. "
            f"{remedy(kernel, line, worst)}"
        )
        yield Advised(text, worst.pc, used - ideal, kernel.cost(line.waited.conflict_cycles))


def remedy(kernel: Measured, line: Line, worst: Instruction) -> str:
    """The way to avoid the conflicts, from the positions of the lanes."""
    if not worst.patterns or not worst.access_nbytes:  # it moves whole tiles, or the recording is cut off
        return OTHER_WORDS
    if not is_regular(worst):
        return NO_STRIDE
    padding = best_padding(worst, kernel.facts.instructions)
    return NO_PADDING if padding is None else padded(worst, line, padding)


OTHER_WORDS = "Change which lanes touch which word."
NO_STRIDE = (
    "Its lanes are no stride apart, so that padding does not help: give each warp or lane a copy of its own, or take "
    "words in another order."
)
NO_PADDING = "No padding of the rows helps: change which lanes touch which word, as a swizzle does."


def padded(worst: Instruction, line: Line, padding: Padding) -> str:
    """The padding, and the gain of the line, which `best_padding` has tried out."""
    unit, row_nbytes, pad_nbytes = worst.access_nbytes, padding.row_nbytes, padding.pad_nbytes
    how = (
        f"Pad the array's rows: {words(row_nbytes + pad_nbytes, unit)} a row instead of {words(row_nbytes, unit)}"
        if padding.is_row
        else f"Leave {words(pad_nbytes, unit)} free after every {words(row_nbytes, unit)} of the array"
    )
    own, taken = accesses_of([worst]), accesses_of(same_array(worst, line.instructions))
    ways = [passes / own.ideal for passes in (own.wavefronts(), own.wavefronts(row_nbytes, pad_nbytes))]
    return (
        f"{how}. That makes {ways[0]:.3g}-way conflicts {ways[1]:.3g}-way there, and saves "
        f"{plural(taken.wavefronts() - taken.wavefronts(row_nbytes, pad_nbytes), 'wavefront', 'wavefronts')}."
    )


def local_memory(kernel: Measured) -> Iterator[Advised]:
    local = kernel.counters.l2_sectors_local
    sectors = local + kernel.counters.l2_sectors_global
    if local <= LOCAL_SHARE * sectors or not kernel.waits_for_memory():
        return
    spill_nbytes = kernel.facts.spill_nbytes
    spills = f" {spill_nbytes} bytes are register spills." if spill_nbytes else ""
    waited = sum(i.waited.cycles for i in kernel.facts.instructions if i.counters.l2_sectors_local)
    for line in kernel.most(lambda line: line.counters.l2_sectors_local)[:1]:
        text = (
            f"Local memory is {percent0(local / sectors)} of the memory sectors, most of it in {line.place}.{spills} "
            "Index arrays with constants, or give the kernel more registers."
        )
        yield Advised(text, worst_of(line, lambda i: i.counters.l2_sectors_local).pc, local, kernel.cost(waited))
