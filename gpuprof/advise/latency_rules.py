"""Rules about waiting for memory with too little in flight."""

from collections.abc import Iterator

import numpy as np

from gpuprof.advise.case import Case
from gpuprof.advise.draft import Draft
from gpuprof.advise.global_rules import LEAST_SHARE
from gpuprof.base.wording import percent0
from gpuprof.timing.state.expansion import generation_of
from gpuprof.timing.state.static_program import GLOBAL, SHARED, STORE
from gpuprof.whatif.bounds import BEYOND_L1
from gpuprof.whatif.changes import on_accesses
from gpuprof.whatif.changes.intervention import Intervention
from gpuprof.whatif.changes.on_order import are_in_rows
from gpuprof.whatif.places import Place
from gpuprof.whatif.search import mean_wait_cycles

IN_FLIGHT = 4  # loads at a time, where there was one
ASYNC_COPIES = 80  # the generation that has cp.async first
FULL = 0.7  # of the DRAM's bandwidth: no more in flight would make it faster


def independent_work(case: Case) -> Iterator[Draft]:
    """A loop that waits for each of its loads."""
    loads = on_accesses.global_loads(case.inst) & case.is_repeated_or_unrolled & (case.inst["is_local"] == 0)
    loads = case.chosen(loads)
    place = case.worst(loads, case.ended)
    if place is None:
        return
    here = place.insts & loads
    share = case.share(case.baseline.waited(here, BEYOND_L1))
    if share < 2 * LEAST_SHARE or dram_use(case) > FULL or are_in_flight(case, here):
        return
    wait = mean_wait_cycles(case.baseline, np.flatnonzero(here).tolist())
    staged = case.chosen((case.inst["kind"] == SHARED) & (case.inst["operation"] == STORE))
    through_shared = bool((staged & place.insts & case.is_repeated).any())
    by_hand = through_shared and generation_of(case.chip.arch) >= ASYNC_COPIES
    change = (
        "Load the next tile while this one is used: cp.async into a second buffer, and wait only before its use."
        if by_hand
        else "Keep several loads in flight: unroll the loop and load before the first use, or load the next value "
        "before this one is used."
    )
    yield Draft(
        "async_copy" if by_hand else "independent_work",
        place,
        f"{case.executed[here].sum():,} loads of warps, each waited for {wait:,} cycles on average; {percent0(share)} "
        f"of the time, with the DRAM {percent0(dram_use(case))} busy",
        change,
        case.text(place),
        f"stalls at {place.name} do not get shorter than {wait:,} cycles",
        (_in_flight(case, here, place, wait),),
        share,
    )


def _in_flight(case: Case, loads: np.ndarray, place: Place, wait: int) -> Intervention:
    """Turns of a loop together, at least two, so that IN_FLIGHT of its loads are under way; where a turn is several
    basic blocks, as with a barrier, results that come sooner by as much as so many loads at a time save.
    """
    program, trace = case.baseline.program, case.baseline.subject.trace
    turns = max(2, -(-IN_FLIGHT // int(loads.sum())))
    if (loads & case.is_repeated).any() and are_in_rows(program, trace, loads, turns):
        return case.change("loads_first", loads, place)._replace(amount=turns)
    return case.change("sooner", loads, place)._replace(amount=wait * (IN_FLIGHT - 1) // IN_FLIGHT)


def are_in_flight(case: Case, loads: np.ndarray) -> bool:
    """Loads in a row, outside of a loop: they are under way together, unless a store between them holds them back."""
    if (loads & case.is_repeated).any():
        return False
    stores = case.chosen((case.inst["kind"] == GLOBAL) & (case.inst["operation"] == STORE))
    places = np.flatnonzero(loads)
    return not stores[places.min() : places.max()].any()


def dram_use(case: Case) -> float:
    """The part of the DRAM's bandwidth that is used."""
    timing, chip = case.baseline.timing, case.chip
    moved = timing.dram_read_nbytes + timing.dram_write_nbytes
    return moved / max(1.0, timing.cycles * chip.dram_gbytes_per_s * 1000 / chip.clock_mhz)
