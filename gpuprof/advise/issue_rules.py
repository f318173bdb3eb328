"""Rules about what is issued: divergence, precision, costly instructions, spills."""

import re
from collections.abc import Iterator

import numpy as np

from gpuprof.advise.case import Case
from gpuprof.advise.draft import Draft
from gpuprof.advise.global_rules import LEAST_SHARE
from gpuprof.advise.shared_rules import is_tree
from gpuprof.base.wording import percent0, plural
from gpuprof.timing.state.layout import PORT_FP64
from gpuprof.whatif.bounds import AT_LINES
from gpuprof.whatif.places import Place

LOST_LANES = 0.1  # ours: of all lanes


def divergence(case: Case) -> Iterator[Draft]:
    """Branches that split warps, and loops that their lanes leave one after the other."""
    splits = case.counts("divergent_branches")
    branches = case.chosen(splits > 0)
    place = case.worst(branches, splits)
    executed, threads = case.executed.sum(), case.counts("thread_inst_executed").sum()
    launched = np.prod(case.baseline.subject.launch.block) * case.n_blocks / max(1, case.n_warps)
    lost = 1 - threads / max(1.0, launched * executed)
    if place is None or lost < LOST_LANES or is_tree(case) or splits.sum() <= case.n_blocks:
        return
    n = int(splits[place.insts].sum())
    yield Draft(
        "divergence",
        place,
        f"{plural(n, 'branch', 'branches')} of warps split there, of {case.executed[place.insts & branches].sum():,}; "
        f"an instruction runs with {threads / max(1, executed):.3g} of {launched:.3g} lanes on average",
        "Let the lanes of a warp go the same way: sort or group the work by it, so that whole warps take one side, or "
        "loops of equal length are together.",
        case.text(place),
        f"divergent branches at {place.name} do not fall",
        (case.change("full_warps", branches, place),),
        lost,
    )


def f64(case: Case) -> Iterator[Draft]:
    """Arithmetic in double precision on a chip that has few units for it."""
    mask = case.chosen(case.inst["port"] == PORT_FP64)
    place = case.worst(mask, case.ended + case.baseline.charged.sum(axis=1))
    if place is None or case.chip.lanes["fp64"] >= case.chip.lanes["fma"]:
        return
    share = case.share(AT_LINES["f32"].costs(case.baseline, mask))
    if share < LEAST_SHARE:
        return
    conversions = case.chosen(
        np.array([op.latency == "conversion" and "f64" in op.types and "f32" in op.types for op in case.ops], np.bool_)
    )
    wide = any(op.space == "global" and "f64" in op.types for op in case.ops)
    evidence = (
        f"{case.executed[mask].sum():,} f64 instructions of warps, and {case.executed[conversions].sum():,} "
        f"conversions between f32 and f64; {percent0(share)} of the time"
    )
    change = (
        "Compute in float where its 24 bits are enough."
        if wide
        else "No f64 is loaded or stored: a literal or a function makes the arithmetic f64. Write 1.0f for 1.0, and "
        "sqrtf for sqrt."
    )
    yield Draft(
        "f64",
        place,
        evidence,
        change,
        case.text(place),
        f"f64 instructions at {place.name} stay",
        (case.change("f32", mask, place), *_free(case, conversions, place)),
        share,
    )


def _free(case: Case, mask: np.ndarray, place: Place) -> tuple:
    return (case.change("free", mask, place),) if mask.any() else ()


def costly_instructions(case: Case) -> Iterator[Draft]:
    """Divisions, remainders and functions that take many issue slots."""
    mask = case.chosen(AT_LINES["one_slot"].applies(case.inst))
    place = case.worst(mask, case.issued_cycles + case.ended)
    if place is None:
        return
    share = case.share(AT_LINES["one_slot"].costs(case.baseline, mask))
    if share < LEAST_SHARE:
        return
    names = ", ".join(dict.fromkeys(case.ops[k].name for k in np.flatnonzero(mask & place.insts).tolist()))
    slots = case.issued_cycles[mask].sum() / max(1, case.executed[mask].sum())
    yield Draft(
        "costly_instructions",
        place,
        f"{names}: {slots:.3g} issue slots each, {percent0(case.share(float(case.issued_cycles[mask].sum())))} of the "
        f"warps' time to issue, {percent0(share)} with what waits for it",
        "Take it out of the loop: a power of two by shift and mask, a fixed divisor as a template parameter or a "
        "multiplication by its reciprocal, x * x for pow(x, 2), __fdividef or __sinf where their error is allowed.",
        case.text(place),
        f"issue slots at {place.name} do not fall",
        (case.change("one_slot", mask, place),),
        share,
    )


FUNCTIONS = re.compile(r"\b(pow|exp|log|sin|cos|tan|sqrt|cbrt|erf|atan|asin|acos|fmod|remainder)\w*\s*\(")
LONG_FUNCTION = 24  # instructions of a line from which a function in it is a long one
LEFT = 16  # of its instructions, one stays


def costly_functions(case: Case) -> Iterator[Draft]:
    """Functions of the mathematical library in a loop, whose instructions are many."""
    long = [
        place
        for place in case.lines
        if (place.insts & case.is_repeated).sum() >= LONG_FUNCTION and FUNCTIONS.search(case.text(place))
    ]
    if not long:
        return
    place = max(long, key=lambda each: int(case.baseline.charged[each.insts].sum()))
    here = case.chosen(place.insts)
    share = case.share(float(case.baseline.charged[here].sum()))
    if share < LEAST_SHARE:
        return
    left_out = here.copy()
    left_out[np.flatnonzero(here)[::LEFT]] = False
    name = FUNCTIONS.search(case.text(place))[0].rstrip("( ")
    yield Draft(
        "costly_instructions",
        place,
        f"{name} takes {int(here.sum())} instructions, and a warp executes "
        f"{case.executed[here].sum() / case.n_warps:,.0f} of them; {percent0(share)} of the time",
        f"Replace {name} by what the loop needs: a running product for powers, a recurrence, a table, or the fast "
        "variant (__powf, __sinf, __expf) where its error is allowed.",
        case.text(place),
        f"instructions executed at {place.name} do not fall",
        (case.change("free", left_out, place),),
        share,
    )


def local_memory(case: Case) -> Iterator[Draft]:
    """Spilled registers, or arrays that are indexed at run time."""
    mask = case.chosen(case.inst["is_local"] != 0)
    place = case.worst(mask, case.ended + case.executed)
    if place is None:
        return
    share = case.share(case.baseline.waited(mask) + float(case.baseline.charged[mask].sum()))
    if share < LEAST_SHARE:
        return
    spilled = case.counted.facts.spill_nbytes
    function = case.baseline.subject.launch.function
    is_spills = spilled > 0 and 2 * spilled >= function.local_nbytes
    change = (
        "Allow the kernel more registers (a larger --max-registers, fewer blocks in __launch_bounds__), or keep fewer "
        "values alive."
        if is_spills
        else "Index the array with constants only, by unrolling its loops, or keep it in shared memory."
    )
    yield Draft(
        "spills" if is_spills else "local_arrays",
        place,
        f"{case.executed[mask].sum():,} accesses to local memory by warps, {percent0(share)} of the time; "
        f"{function.local_nbytes} bytes a thread, {spilled} of them spilled registers",
        change,
        case.text(place),
        "local memory stays in use",
        (case.change("in_registers", mask, place),),
        share,
    )
