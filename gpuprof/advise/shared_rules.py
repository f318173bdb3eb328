"""Rules about shared memory, barriers and atomics."""

from collections.abc import Iterator

import numpy as np

from gpuprof.advise.case import Case, kinds_of
from gpuprof.advise.draft import Draft
from gpuprof.advise.global_rules import LEAST_SHARE
from gpuprof.base.wording import percent0
from gpuprof.correlate.advice.access_advice import remedy, worst_of
from gpuprof.isa.operations import multiplies_and_adds
from gpuprof.timing.piece_accesses import positions
from gpuprof.timing.state.static_program import BARRIER, LOAD, SHARED, STORE
from gpuprof.whatif.changes import on_accesses

CONFLICTS = 1.1  # passes through the banks per needed one from which there are conflicts
REDUCTION_STEPS = 6  # barriers a warp passes at least in a tree over shared memory
FEW_LANES = 0.7  # of a warp: a tree's later steps have fewer
READS_PER_MULTIPLY = 0.4  # of shared memory, from which a product is bound by it
RESULTS = (4, 2)  # of a thread, by blocking: the first number that divides a block's warps
HALVES = frozenset(("f16", "bf16"))  # of which tensor pipes multiply matrices; conversions to f32 name them, too
MEETING = 0.9  # of the lanes of atomics, that go to one address: the warp can add up for them


def bank_conflicts(case: Case) -> Iterator[Draft]:
    used, ideal = case.counts("l1_wavefronts_shared"), case.counts("l1_wavefronts_shared_ideal")
    mask = case.chosen(on_accesses.shared_accesses(case.inst) & (used > CONFLICTS * np.maximum(ideal, 1)))
    place = case.worst(mask, used - ideal)
    if place is None:
        return
    share = case.share(case.baseline.waited(mask, only_conflicts=True))
    if share < LEAST_SHARE / 2:
        return
    here = place.insts & mask
    line = case.counted_line(place, mask)
    arrays = case.elements(place)
    yield Draft(
        "bank_conflicts",
        place,
        f"{used[here].sum():,} passes through the banks where {ideal[here].sum():,} would do, "
        f"{used[here].sum() / max(1, ideal[here].sum()):.3g}-way conflicts",
        remedy(case.counted, line, worst_of(line, lambda each: each.counters.l1_wavefronts_shared_excess)),
        _padded(case, arrays[-1][0] if len(arrays) == 1 else "", place.path, [name for name, _ in arrays]),
        f"wavefronts at {place.name} stay above {ideal[here].sum():,}",
        (case.change("no_conflicts", mask, place),),
        share,
    )


def _padded(case: Case, only: str, path: str, names: list[str]) -> str:
    """The declaration of the array with a padded row."""
    source = case.baseline.subject.launch.module.program.sources.get(path, "")
    for line in source.splitlines():
        for name in [only] if only else names:
            if "__shared__" in line and f" {name}[" in line and "][" in line:
                head, _, last = line.strip().rpartition("[")
                return f"{head}[{last.replace(']', ' + 1]', 1)}"
    return ""


def atomics(case: Case) -> Iterator[Draft]:
    mask = case.chosen(on_accesses.atomics(case.inst))
    place = case.worst(mask, case.ended + case.baseline.charged.sum(axis=1))
    if place is None:
        return
    share = case.share(case.baseline.waited(mask) + case.baseline.stalled(mask, ("lg_throttle", "mio_throttle")))
    slices = case.baseline.timing.l2_atomic_cycles / max(1, case.baseline.timing.cycles)
    if max(share, slices) < LEAST_SHARE:
        return
    here = place.insts & mask
    in_shared = bool((case.inst["kind"][here] == SHARED).all())
    lanes = case.counts("thread_inst_executed_pred_on")[here].sum() / max(1, case.executed[here].sum())
    evidence = (
        f"{case.executed[here].sum():,} atomics of warps, {lanes:.3g} lanes each; "
        + (f"the busiest L2 slice works on atomics {percent0(slices)} of the time" if not in_shared else "")
    ).removesuffix("; ")
    arrays = case.elements(place)
    name = arrays[-1][0] if arrays else "the result"
    change = (
        "Give each warp a copy of its own in shared memory, and add the copies up at the end."
        if in_shared
        else "Add in registers and in the warp first (__reduce_add_sync, __shfl_down_sync), then in a copy of the "
        "block in shared memory, and to global memory once a block."
    )
    own = case.change("own_addresses", mask, place)
    one = case.change("one_a_warp", mask, place)
    meet = meeting_lanes(case, mask)
    yield Draft(
        "atomics",
        place,
        evidence,
        change,
        f"__shared__ copy of {name} for each {'warp' if in_shared else 'block'}",
        f"atomics executed at {place.name} stay, or the busiest slice stays above half of its time",
        (one if meet > MEETING else own,),
        max(share, slices / 2),
    )


def meeting_lanes(case: Case, mask: np.ndarray) -> float:
    """The part of the lanes that go to the address most of a warp's lanes go to."""
    most = lanes = 0
    subject = case.baseline.subject
    for piece in subject.trace:
        at = positions(piece, case.baseline.program)
        mine = piece.accesses[mask[at.inst]]
        most, lanes = most + int(mine["conflicts"].sum()), lanes + int(mine["lanes"].sum())
    return most / max(1, lanes)


def is_tree(case: Case) -> bool:
    """Barriers between accesses to shared memory of ever fewer lanes."""
    steps = case.executed[case.chosen(case.inst["kind"] == BARRIER)].sum() / max(1, case.n_warps)
    accesses = case.chosen((case.inst["kind"] == SHARED) & case.is_repeated_or_unrolled)
    lanes = case.counts("thread_inst_executed_pred_on")[accesses].sum()
    return steps >= REDUCTION_STEPS and lanes < FEW_LANES * 32 * max(1, case.executed[accesses].sum())


def warp_shuffle(case: Case) -> Iterator[Draft]:
    """A tree in shared memory, with a barrier each step."""
    barriers = case.chosen(case.inst["kind"] == BARRIER)
    if not barriers.any() or not is_tree(case):
        return
    accesses = case.chosen((case.inst["kind"] == SHARED) & case.is_repeated_or_unrolled)
    place = case.worst(accesses, case.ended + case.executed)
    if place is None:
        return
    both, stores = barriers | accesses, case.inst["operation"] == STORE
    share = case.share(case.baseline.waited(both) + float(case.baseline.charged[barriers].sum()))
    steps = case.executed[barriers].sum() / max(1, case.n_warps)
    yield Draft(
        "warp_shuffle",
        place,
        f"a warp passes {steps:.3g} barriers, and ever fewer of its lanes take part in what is between them",
        "Let each warp add up its 32 values by shuffles, without a barrier; one value a warp goes through shared "
        "memory, and the first warp adds these.",
        "for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(0xffffffff, v, k);",
        "barriers a warp passes stay above two",
        # A shuffle takes a shared load's time; stores and barriers are what it saves.
        (case.change("open_barrier", barriers, place), case.change("free", accesses & stores, place)),
        share,
    )


def barriers(case: Case) -> Iterator[Draft]:
    """Barriers that warps pass often, with little between them."""
    mask = case.chosen(case.inst["kind"] == BARRIER)
    waits = case.baseline.charged.sum(axis=1)
    place = case.worst(mask, waits)
    if place is None or is_tree(case):
        return
    share = case.share(float(waits[mask].sum()))
    passed = case.executed[mask].sum() / max(1, case.n_warps)
    if share < LEAST_SHARE or passed < 2:
        return
    between = case.executed.sum() / max(1, case.executed[mask].sum())
    yield Draft(
        "barriers",
        place,
        f"a warp passes {passed:.3g} barriers, {between:.3g} instructions apart; {percent0(share)} of the time is "
        "spent at them",
        "Leave out barriers that order nothing: two buffers that take turns need one a step, what only one warp uses "
        "needs __syncwarp, and a barrier outside of the loop serves all turns of it.",
        "",
        f"barrier stalls at {place.name} stay",
        (case.change("open_barrier", mask, place),),
        share,
    )


def register_blocking(case: Case) -> Iterator[Draft]:
    """Products whose operands all come from shared memory."""
    reads = case.chosen((case.inst["kind"] == SHARED) & (case.inst["operation"] == LOAD) & case.is_repeated)
    multiplies = case.chosen(np.array([op.pipe == "fma" and "f" in "".join(op.types) for op in case.ops], np.bool_))
    n_reads, n_multiplies = int(case.executed[reads].sum()), int(case.executed[multiplies].sum())
    place = case.worst(reads, case.ended + case.baseline.charged.sum(axis=1))
    if place is None or n_reads < READS_PER_MULTIPLY * n_multiplies or not n_multiplies:
        return
    here = reads & place.insts
    share = case.share(case.baseline.waited(here) + case.baseline.stalled(here, ("mio_throttle", "short_scoreboard")))
    if share < LEAST_SHARE or n_multiplies < 0.05 * case.executed.sum():
        return
    warps = case.baseline.subject.trace[0].warps_per_block
    times = next((each for each in RESULTS if warps % each == 0), 1)
    again = case.chosen(on_accesses.accesses(case.inst)) & ~here | _one_operand(case, here)
    if times == 1:
        return
    yield Draft(
        "register_blocking",
        place,
        f"{n_reads:,} reads of shared memory for {n_multiplies:,} multiplications, {n_reads / n_multiplies:.3g} each",
        f"Let each thread compute several results, {times} say, and keep their operands in registers: {times + 1} "
        f"reads then serve {times} multiplications; of {times} x {times} results, {2 * times} serve {times * times}.",
        f"float sums[{times}];",
        f"reads of shared memory per multiplication at {place.name} do not fall",
        (case.change("merged", again, place)._replace(amount=times),),
        share,
    )


def _one_operand(case: Case, reads: np.ndarray) -> np.ndarray:
    """Reads of half of the words, the widest ones: those of the operand that each of a thread's results has for itself,
    while all share the other.
    """
    width = case.inst["width"].astype(np.int64)
    order = np.flatnonzero(reads)[np.argsort(-width[reads], kind="stable")]
    found = np.zeros(len(reads), np.bool_)
    found[order[2 * np.cumsum(width[order]) <= width[order].sum()]] = True
    return found


def tensor_cores(case: Case) -> Iterator[Draft]:
    """Half-precision products on the plain pipes."""
    halves = np.array([op.kind == "compute" and not HALVES.isdisjoint(op.types) for op in case.ops], np.bool_)
    multiplies = case.chosen(
        np.array([op.pipe in ("fma", "half") and multiplies_and_adds(op) for op in case.ops], np.bool_)
        & case.is_repeated
    )
    by_tensor = case.chosen(kinds_of(case, "matrix", "matrix_async"))  # another kernel of the module may have some
    if not (case.chosen(halves) & case.is_repeated).any() or by_tensor.any():
        return
    place = case.worst(multiplies, case.executed)
    if place is None or case.executed[multiplies].sum() < 0.1 * case.executed.sum() or not case.chip.tensor:
        return
    here = place.insts & case.is_repeated
    gone = case.chosen(here).copy()
    gone[np.flatnonzero(gone)[::16]] = False
    share = case.share(case.baseline.waited(here) + float(case.issued_cycles[here].sum()))
    yield Draft(
        "tensor_cores",
        place,
        f"{case.executed[multiplies].sum():,} multiplications of halves by warps, and none on the tensor pipe",
        "Multiply tiles of 16 x 16 x 16 with wmma::mma_sync or mma.sync: a warp does 4,096 multiplications in one "
        "instruction.",
        "wmma::mma_sync(sums, a, b, sums);",
        "the tensor pipe stays idle",
        (case.change("free", gone, place),),
        share,
    )
