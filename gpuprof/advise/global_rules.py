"""Rules about accesses to global memory."""

from collections.abc import Iterator

import numpy as np

from gpuprof.advise.case import Case, kinds_of
from gpuprof.advise.draft import Draft
from gpuprof.base.wording import percent0, plural
from gpuprof.correlate.advice.repeated_work import repeated_work, shared_lanes
from gpuprof.timing.piece_accesses import positions, sector_counts
from gpuprof.timing.state.static_program import COPY, GENERIC, GLOBAL, LOAD, SHARED, STORE
from gpuprof.whatif.bounds import BEYOND_L1
from gpuprof.whatif.changes import on_accesses
from gpuprof.whatif.changes.data_flow import derived
from gpuprof.whatif.places import Place

LEAST_SHARE = 0.02  # of the launch's cycles: what costs less is not worth a piece of advice
EXCESS = 1.5  # ours: sectors per ideal one from which accesses count as scattered
SEVERAL_WARPS = 1.5  # ours: warps of a block that load each sector
REUSE = 4.0  # ours: how often each sector is loaded, from which shared memory is worth its barriers
FEW_LANES = 16  # of a warp: fewer may be one lane's own work
WIDE_NBYTES, WIDE_TIMES = 16, 4


def coalesce(case: Case) -> Iterator[Draft]:
    """Accesses that take more sectors than their bytes fill."""
    taken, ideal = case.baseline.sectors
    mask = case.chosen(on_accesses.global_accesses(case.inst) & ~on_accesses.atomics(case.inst))
    scattered = mask & (taken >= EXCESS * np.maximum(ideal, 1)) & (taken > 0)
    place = case.worst(scattered, taken - ideal)
    if place is None:
        return
    here = place.insts & scattered
    cost = case.baseline.waited(scattered) + case.baseline.stalled(scattered, ("lg_throttle",))
    share = case.share(cost) * (1 - ideal[scattered].sum() / taken[scattered].sum())
    if share < LEAST_SHARE and not is_bound_by_memory(case):
        return
    others = [each.name for each in case.lines if (each.insts & scattered).any() and each.name != place.name]
    also = f"; also {', '.join(others[:3])}" if others else ""
    requests = int(case.executed[here].sum())
    packing, through = case.change("packed", scattered, place), _through_a_tile(case, place, scattered)
    evidence = (
        f"{taken[here].sum():,} sectors where {ideal[here].sum():,} would do, "
        f"{taken[here].sum() / max(1, requests):.3g} a request{also}"
    )
    yield Draft(
        "coalesce",
        place,
        evidence,
        "Let the 32 threads of a warp touch neighbouring addresses: change which index threadIdx.x runs over, keep the "
        "fields of a structure in arrays of their own, or go through shared memory.",
        _by_x(case, place),
        f"sectors a request at {place.name} stay above {ideal[here].sum() / max(1, requests):.3g}",
        (packing,),
        max(share, LEAST_SHARE),
        others=((packing, case.change("loads_first", through, place)._replace(amount=1)),) if through.sum() > 1 else (),
    )


def _through_a_tile(case: Case, place: Place, scattered: np.ndarray) -> np.ndarray:
    """The loads of a line that copies, where only its loads are scattered, or only its stores: no other index helps
    both, but a tile in shared memory does. Before its barrier all loads are under way.
    """
    of_line = case.chosen(place.insts & on_accesses.global_accesses(case.inst))
    loads, stores = of_line & (case.inst["operation"] == LOAD), of_line & (case.inst["operation"] == STORE)
    reads = case.baseline.program.dep
    written = {int(reads[end - 1]) for end in (case.inst["first_dep"] + case.inst["n_deps"])[loads].tolist()}
    copied = all(
        written & set(reads[first : first + n].tolist())
        for first, n in zip(case.inst["first_dep"][stores].tolist(), case.inst["n_deps"][stores].tolist(), strict=True)
    )
    is_one_side = stores.any() and copied and scattered[loads].any() != scattered[stores].any()
    return loads if is_one_side else np.zeros_like(loads)


def is_scattered(case: Case, mask: np.ndarray) -> bool:
    taken, ideal = case.baseline.sectors
    return bool(taken[mask].sum() >= EXCESS * max(1, ideal[mask].sum()))


def _by_x(case: Case, place: Place) -> str:
    found = case.elements(place)
    if not found:
        return ""
    array, index = found[0]
    return f"{array}{index}: the term with threadIdx.x has to have the factor 1"


def is_bound_by_memory(case: Case) -> bool:
    """Most of the time is that of the L2, the DRAM, or what waits for them."""
    everywhere = np.ones(len(case.inst), np.bool_)
    waited = case.baseline.waited(everywhere, (*BEYOND_L1, "queued", "queue", "store"))
    return case.share(waited) > 0.3


def vectorize(case: Case) -> Iterator[Draft]:
    """Narrow accesses of neighbouring threads, in a kernel that does nothing else: each thread has an element, and all
    blocks do the same.
    """
    inst, (taken, ideal) = case.inst, case.baseline.sectors
    of_data = case.chosen(np.isin(inst["kind"], (GLOBAL, GENERIC, SHARED)))
    narrow = (inst["kind"] == GLOBAL) & np.isin(inst["operation"], (LOAD, STORE)) & (inst["is_local"] == 0)
    narrow &= (inst["lane_nbytes"] > 0) & (inst["lane_nbytes"] * WIDE_TIMES <= WIDE_NBYTES) & ~case.is_repeated
    narrow = case.chosen(narrow & (taken < EXCESS * np.maximum(ideal, 1)) & (ideal >= case.executed))
    place = case.worst(narrow, case.ended + case.issued_cycles)
    splits = case.counts("divergent_branches").sum() > case.n_blocks
    if place is None or splits or (of_data & ~narrow).any() or not (inst["operation"][narrow] == LOAD).any():
        return
    loads = narrow & (inst["operation"] == LOAD)
    if (derived(case.baseline.program, loads) & loads).any():
        return  # the data says which element: neighbouring threads have no neighbouring ones
    nbytes = int(inst["lane_nbytes"][place.insts & narrow].max())
    waited = case.share(case.baseline.waited(narrow))
    yield Draft(
        "vectorize",
        place,
        f"{plural(int(narrow.sum()), 'access', 'accesses')} of {nbytes} {'byte' if nbytes == 1 else 'bytes'} a thread, "
        f"neighbouring threads next to each other; {percent0(waited)} of the time waits for them",
        f"Let each thread take {WIDE_TIMES} neighbouring elements with one access of {WIDE_TIMES * nbytes} bytes, and "
        "launch a fourth of the threads.",
        _as_vector(case, place, nbytes),
        f"instructions executed at {place.name} do not fall to a fourth",
        (case.change("wide", narrow, place)._replace(amount=WIDE_TIMES),),
        max(waited, case.share(float(case.issued_cycles.sum()) / 2)),
    )


VECTORS = {1: "uchar4", 2: "ushort4", 4: "float4"}


def _as_vector(case: Case, place: Place, nbytes: int) -> str:
    found = case.elements(place)
    return f"reinterpret_cast<const {VECTORS[nbytes]}*>({found[-1][0]}){found[-1][1]}" if found else ""


def shared_tiling(case: Case) -> Iterator[Draft]:
    """Loads that read the same sectors again and again, by several warps of a block."""
    inst = case.inst
    loads = (inst["kind"] == GLOBAL) & (inst["operation"] == LOAD) & (inst["is_local"] == 0) & case.is_repeated
    loads = case.chosen(loads)
    place = case.worst(loads, case.ended)
    if place is None:
        return
    here = place.insts & loads
    taken, distinct, of_warps = case.sector_uses(here)
    if taken < REUSE * distinct or of_warps < SEVERAL_WARPS * distinct:
        return
    share = case.share(case.baseline.waited(loads) + case.baseline.stalled(loads, ("lg_throttle",)))
    if share < LEAST_SHARE:
        return
    arrays = list(dict.fromkeys(name for name, _ in case.elements(place)))
    tiles = "; ".join(f"__shared__ tile of {name}" for name in arrays[:2])
    yield Draft(
        "shared_tiling",
        place,
        f"its loads ask for {taken:,} sectors of {distinct:,} different ones, {taken / distinct:.3g} times each; "
        f"{percent0(share)} of the time waits for them",
        "Load each tile once into shared memory, wait at a barrier, and let the loop read it from there.",
        tiles,
        f"sectors requested at {place.name} do not fall by the width of the tile",
        (case.change("tiled", loads, place)._replace(amount=max(1, len(arrays))),),
        share,
    )


def locality(case: Case) -> Iterator[Draft]:
    """Finds loads of what was read before, and comes from far away again: the caches have lost it."""
    inst = case.inst
    loads = case.chosen(on_accesses.global_loads(inst) & (inst["operation"] != COPY))
    place = case.worst(loads, case.ended)
    if place is None or is_scattered(case, place.insts & loads):  # parts of sectors that come again want packing
        return
    taken, _, of_warps = case.sector_uses(place.insts & loads)
    share = case.share(case.baseline.waited(loads, BEYOND_L1))
    if of_warps == 0 or taken < EXCESS * of_warps or share < LEAST_SHARE:
        return
    timing = case.baseline.timing
    missed = timing.l1_sectors - timing.l1_hits
    if missed < EXCESS * of_warps:
        return
    times = taken / of_warps
    yield Draft(
        "locality",
        place,
        f"each warp reads its sectors there {times:.3g} times, and the L1 had "
        f"{percent0(timing.l1_hits / timing.l1_sectors)} of what was asked; {percent0(share)} of the time waits for "
        "the rest",
        "Change the order of the loops or of the blocks, so that what is read again is read soon, or stays in a "
        "register: the loop over what shares the data belongs inside.",
        case.text(place),
        f"L1 misses stay above {of_warps:,} sectors",
        (case.change("loaded_once", place.insts & loads, place),),
        share,
    )


def redundant_threads(case: Case) -> Iterator[Draft]:
    """Lanes of a warp that all do the same."""
    for found in repeated_work(case.counted):
        times = round(min(shared_lanes(case.counted, "store"), shared_lanes(case.counted, "load")))
        times = max(2, min(case.chip.warp_lanes, times))
        index = next(index for index, each in case.by_index.items() if each.pc == found.pc)
        place = next(each for each in case.lines if each.insts[index])
        yield Draft(
            "redundant_threads",
            place,
            f"the lanes of a warp load the same words and store to one place: {found.count:,} stores write what "
            "another lane has written",
            "Give each thread a result of its own, or launch one thread for each result.",
            "",
            f"stores at {place.name} do not fall",
            (case.change("one_in", np.zeros(len(case.inst), np.bool_), place)._replace(amount=times),),
            1 - 1 / times,
        )


def repeated_sums(case: Case) -> Iterator[Draft]:
    """A loop in which every thread of a block reads the same words, one after the other."""
    inst = case.inst
    loads = (inst["kind"] == GLOBAL) & (inst["operation"] == LOAD) & case.is_repeated_or_unrolled
    loads = case.chosen(loads)
    uniform = loads & (case.baseline.sectors[0] <= case.executed)  # one sector an access
    place = case.worst(uniform, case.ended + case.issued_cycles)
    warps = case.baseline.subject.trace[0].warps_per_block
    if place is None or warps < 2:
        return
    here = place.insts & uniform
    sums = place.insts & case.is_arithmetic
    if not sums.any() or (sums & case.is_of_thread).any():
        return
    taken, of_blocks, of_warps = case.sector_uses(here)
    lanes = case.counts("thread_inst_executed_pred_on")[here].sum() / max(1, case.executed[here].sum())
    if of_warps < 0.9 * warps * of_blocks or taken < REUSE * of_warps or lanes < FEW_LANES:
        return
    share = case.share(case.baseline.waited(here) + float(case.baseline.charged[place.insts].sum()))
    yield Draft(
        "redundant_threads",
        place,
        f"all {warps} warps of a block read the same {of_blocks:,} sectors, and all lanes of a warp one word at a "
        f"time: {32 * warps} threads compute the same",
        "Let each thread read its part, and add the parts up by shuffles and once through shared memory; all threads "
        "then read the one result.",
        f"for (int k = threadIdx.x; ...; k += blockDim.x), then __shfl_xor_sync; now: {case.text(place)}",
        f"instructions executed at {place.name} do not fall by the threads of a block",
        (case.change("thinned", here, place)._replace(amount=32 * warps),),
        share,
        others=((case.change("free", _but_one_in(case.chosen(place.insts), 32 * warps), place),),),  # unrolled
    )


def _but_one_in(mask: np.ndarray, every: int) -> np.ndarray:
    """The instructions of a mask without one of so many that follow each other."""
    left = mask.copy()
    left[np.flatnonzero(mask)[::every]] = False
    return left


def constant_serial(case: Case) -> Iterator[Draft]:
    """Lanes that load different constants take turns."""
    loads = case.chosen(np.array([op.space == "const" for op in case.ops], np.bool_))
    place = case.worst(loads, case.ended)
    if place is None:
        return
    subject, several, all_loads = case.baseline.subject, 0, 0
    for piece in subject.trace:
        at = positions(piece, case.baseline.program)
        counts = sector_counts(piece.accesses)[loads[at.inst]]
        several, all_loads = several + int(counts.sum()), all_loads + int((counts > 0).sum())
    share = case.share(case.baseline.waited(loads))
    if not all_loads or several < EXCESS * all_loads or share < LEAST_SHARE:
        return
    arrays = case.elements(place)
    yield Draft(
        "constant_serial",
        place,
        f"a warp's lanes read {several / all_loads:.3g} different places of constant memory at a time; they take turns",
        "Keep the table in shared memory, or read it through the L1 as const __restrict__: constant memory is for what "
        "all lanes read alike.",
        f"__shared__ copy of {arrays[0][0]}" if arrays else "",
        f"stalls that {place.name} ends stay",
        (case.change("one_constant", loads, place),),
        share,
    )


def fences(case: Case) -> Iterator[Draft]:
    mask = case.chosen(kinds_of(case, "fence"))
    charged = case.baseline.charged.sum(axis=1)
    place = case.worst(mask, charged)
    if place is None or case.share(float(charged[mask].sum())) < LEAST_SHARE:
        return
    n = int(case.executed[mask].sum())
    yield Draft(
        "fences",
        place,
        f"{plural(n, 'fence', 'fences')} of warps, {percent0(case.share(float(charged[mask].sum())))} of the time; "
        "each waits for all stores before it, and a fence of the device empties the L1",
        "Fence once after the last store, of the block only where no other block reads (__threadfence_block, or a "
        "release of cuda::thread_scope_block), or leave the order to __syncthreads.",
        case.text(place),
        f"membar stalls at {place.name} stay",
        (case.change("no_fence", mask, place),),
        case.share(float(charged[mask].sum())),
    )
