"""Rules about how lanes access memory: what is moved although nobody needs it, as far as it costs time."""

from collections.abc import Iterator

from gpuprof.base.wording import plural
from gpuprof.report.figures import grouped
from gpuprof.report.model import Instruction, Row
from gpuprof.report.triage.findings import LINES_PER_RULE, Case, Finding, percent0, place
from gpuprof.report.triage.padding import Padding, accesses_of, best_padding, is_regular, same_array, words

SECTOR_RATIO = 2.0
EXCESS_SHARE = 0.10  # ours, of the kernel's excess: a line with less is not worth a sentence
BANK_CONFLICT_SHARE = 0.10
LOCAL_SHARE = 0.10


def uncoalesced(case: Case) -> Iterator[Finding]:
    whole = case.kernel.cost.counters.l2_sectors_global_excess
    lines = case.most(lambda row: row.cost.counters.l2_sectors_global_excess)
    for path, row in lines[:LINES_PER_RULE]:
        counters = row.cost.counters
        if counters.l2_sectors_global_excess < EXCESS_SHARE * whole:
            continue
        if not (case.waits_for_memory() or case.costs_conflicts(row)):
            continue
        asked, ideal = counters.l2_sectors_global, counters.l2_sectors_global_ideal
        times = f"{asked / ideal:.3g} times the ideal" if ideal else "none would do"
        sectors = plural(asked, "sector", "sectors")
        strength = "Uncoalesced" if asked >= SECTOR_RATIO * ideal else "Partly uncoalesced"
        text = (
            f"{strength} global access in {place(path, row)}: {sectors} for {grouped(ideal)}, {times}. "
            "Let neighbouring threads touch neighbouring addresses, or go through shared memory."
        )
        yield Finding("uncoalesced", text, path, row.number, "long_scoreboard")


def bank_conflicts(case: Case) -> Iterator[Finding]:
    counters = case.kernel.cost.counters
    if counters.l1_wavefronts_shared_excess <= BANK_CONFLICT_SHARE * counters.l1_wavefronts_shared:
        return
    lines = case.most(lambda row: row.cost.counters.l1_wavefronts_shared_excess)
    for path, row in [line for line in lines if case.costs_conflicts(line[1])][:LINES_PER_RULE]:
        used, ideal = row.cost.counters.l1_wavefronts_shared, row.cost.counters.l1_wavefronts_shared_ideal
        text = (
            f"Bank conflicts in {place(path, row)}: {grouped(used)} shared-memory wavefronts where {grouped(ideal)} "
            f"would do. {remedy(case, row)}"
        )
        yield Finding("bank_conflicts", text, path, row.number, "short_scoreboard")


def remedy(case: Case, row: Row) -> str:
    """What parts the banks, as far as the lanes' places tell."""
    worst = max(row.instructions, key=lambda i: (i.cost.counters.l1_wavefronts_shared_excess, -i.pc))
    if not worst.patterns or not worst.access_nbytes:  # it moves whole tiles, or the recording is cut off
        return OTHER_WORDS
    if not is_regular(worst):
        return NO_STRIDE
    padding = best_padding(worst, case.kernel.instructions)
    return NO_PADDING if padding is None else padded(worst, row, padding)


OTHER_WORDS = "Change which lanes touch which word."
NO_STRIDE = (
    "Its lanes are no stride apart, so that padding does not help: give each warp or lane a copy of its own, or take "
    "words in another order."
)
NO_PADDING = "No padding of the rows helps: change which lanes touch which word, as a swizzle does."


def padded(worst: Instruction, row: Row, padding: Padding) -> str:
    """What to do, and what the line gains: as `best_padding` tried it out."""
    unit, row_nbytes, pad_nbytes = worst.access_nbytes, padding.row_nbytes, padding.pad_nbytes
    how = (
        f"Pad the array's rows: {words(row_nbytes + pad_nbytes, unit)} a row instead of {words(row_nbytes, unit)}"
        if padding.is_row
        else f"Leave {words(pad_nbytes, unit)} free after every {words(row_nbytes, unit)} of the array"
    )
    own, line = accesses_of([worst]), accesses_of(same_array(worst, row.instructions))
    ways = [passes / own.ideal for passes in (own.wavefronts(), own.wavefronts(row_nbytes, pad_nbytes))]
    return (
        f"{how}. That makes {ways[0]:.3g}-way conflicts {ways[1]:.3g}-way there, and saves "
        f"{plural(line.wavefronts() - line.wavefronts(row_nbytes, pad_nbytes), 'wavefront', 'wavefronts')}."
    )


def local_memory(case: Case) -> Iterator[Finding]:
    counters = case.kernel.cost.counters
    sectors = counters.l2_sectors_local + counters.l2_sectors_global
    if counters.l2_sectors_local <= LOCAL_SHARE * sectors or not case.waits_for_memory():
        return
    spills = f" {case.kernel.spill_nbytes} bytes are register spills." if case.kernel.spill_nbytes else ""
    for path, row in case.most(lambda row: row.cost.counters.l2_sectors_local)[:1]:
        text = (
            f"Local memory is {percent0(counters.l2_sectors_local / sectors)} of the memory sectors, most of it in "
            f"{place(path, row)}.{spills} "
            "Index arrays with constants, or give the kernel more registers."
        )
        yield Finding("local_memory", text, path, row.number, "lg_throttle")
