"""Rules about the shape of the launch: its blocks, warps and waves, and how many launches there are."""

from collections.abc import Iterator

import numpy as np

from gpuprof.advise.case import WHOLE, Case
from gpuprof.advise.draft import Draft
from gpuprof.advise.global_rules import LEAST_SHARE
from gpuprof.base.wording import percent0, plural
from gpuprof.timing.state.occupancy import occupancy
from gpuprof.whatif.bounds import OF_LAUNCH
from gpuprof.whatif.candidates import OF_KERNEL
from gpuprof.whatif.changes.intervention import Intervention
from gpuprof.whatif.changes.on_blocks import block_slots
from gpuprof.whatif.changes.on_loops import fewest_turns

WELL_FILLED = 0.8  # ours: of an SM's warp slots
UNEVEN = 1.3  # ours: the longest block's work, of the mean
FEW_WAVES, LOW_FILL = 8, 0.4  # ours: of a last wave that is worth a word
MANY_LAUNCHES = 8

LIMITS = {
    "registers": ("more_registers", "registers", "Compile with fewer registers (__launch_bounds__ with a minimum of "
        "blocks, --max-registers), or keep fewer values alive."),
    "shared": ("more_shared", "shared memory", "Use smaller tiles or smaller types in shared memory, or larger blocks "
        "that share one tile."),
    "blocks": ("more_blocks", "the number of blocks", "Launch larger blocks: so small ones fill the block slots of an "
        "SM before its warp slots."),
}  # fmt: skip


def occupancy_limit(case: Case) -> Iterator[Draft]:
    launch = case.baseline.subject.launch
    threads = int(np.prod(launch.block))
    fit = occupancy(case.chip, launch.function, threads, launch.dynamic_shared_nbytes)
    for resource, (kind, name, change) in LIMITS.items():
        share = case.share(OF_LAUNCH[kind](case.baseline))
        if share < LEAST_SHARE or fit.limits[resource] > fit.blocks_per_sm:
            continue
        warps = fit.blocks_per_sm * fit.warps_per_block
        yield Draft(
            "occupancy",
            WHOLE,
            f"limited by {name}, an SM has {fit.blocks_per_sm} blocks, {warps} of its {case.chip.warp_slots} warps; "
            f"{launch.function.registers} registers a thread, {fit.shared_nbytes_per_block:,} bytes of shared memory "
            "a block",
            change,
            f"__launch_bounds__({threads}, {fit.blocks_per_sm + 1})" if resource == "registers" else "",
            "achieved occupancy stays",
            (Intervention(kind, place=OF_KERNEL),),
            share,
        )


def large_blocks(case: Case) -> Iterator[Draft]:
    """Blocks so large that what is left of an SM holds none of them."""
    launch, subject = case.baseline.subject.launch, case.baseline.subject
    threads = int(np.prod(launch.block))
    fit = occupancy(case.chip, launch.function, threads, launch.dynamic_shared_nbytes)
    filled = fit.blocks_per_sm * fit.warps_per_block / case.chip.warp_slots
    per_sm = case.n_blocks / case.chip.sms
    if filled > WELL_FILLED or fit.warps_per_block % 4 or per_sm <= fit.blocks_per_sm or len(subject.grids) > 1:
        return
    smaller = [parts for parts in (2, 4) if _warps_of_smaller(case, parts) > fit.blocks_per_sm * fit.warps_per_block]
    if not smaller or launch.function.shared_nbytes + launch.dynamic_shared_nbytes:
        return
    yield Draft(
        "occupancy",
        WHOLE,
        f"blocks of {threads} threads: {fit.blocks_per_sm} of them fit an SM, {percent0(filled)} of its warp slots "
        f"(limited by {fit.limiter})",
        "Launch smaller blocks, and more of them: more warps then fit an SM.",
        f"<<<{case.n_blocks * smaller[0]}, {threads // smaller[0]}>>>",
        "achieved occupancy stays",
        (Intervention("smaller_blocks", (), smaller[0], "", OF_KERNEL),),
        case.share(case.baseline.waiting) * (1 - filled),
        others=tuple((Intervention("smaller_blocks", (), parts, "", OF_KERNEL),) for parts in smaller[1:]),
    )


def _warps_of_smaller(case: Case, parts: int) -> int:
    """Warps of an SM full of blocks of a part of the threads."""
    launch = case.baseline.subject.launch
    threads = int(np.prod(launch.block)) // parts
    fit = occupancy(case.chip, launch.function, threads, launch.dynamic_shared_nbytes)
    return fit.blocks_per_sm * fit.warps_per_block


def more_blocks(case: Case) -> Iterator[Draft]:
    """Fewer blocks than SMs, each of which does much."""
    sms = case.chip.sms
    if case.n_blocks * 2 > sms or case.baseline.subject.launch.blocks_of_cluster > 1:
        return
    # A block for each SM, or as many as the chip holds at a time; none without a turn of a loop.
    turns = fewest_turns(case.baseline.program, case.baseline.subject.trace)
    wanted = [-(-sms * each // case.n_blocks) for each in (1, case.baseline.timing.blocks_per_sm)]
    few, many = (min(turns, parts) for parts in wanted)
    if many < 2:
        return
    yield Draft(
        "more_blocks",
        WHOLE,
        f"{case.n_blocks} blocks on {sms} SMs: {percent0(1 - case.n_blocks / sms)} of the chip has nothing to do",
        "Deal the work of a block to several: a loop over k in parts whose sums are added at the end (split-K), a grid "
        "that covers more of the output, or smaller blocks.",
        f"gridDim.z = {few}; each takes 1/{few} of the loop" + (f"; or {many}" if many > few else ""),
        "SMs stay idle",
        (Intervention("split", (), few, "", OF_KERNEL),),
        1 - case.n_blocks / sms,
        others=((Intervention("split", (), many, "", OF_KERNEL),),) if many > few else (),
    )


def tail(case: Case) -> Iterator[Draft]:
    """A last wave of few blocks."""
    capacity = case.baseline.timing.blocks_per_sm * case.chip.sms
    waves = case.n_blocks / capacity
    whole = int(waves)
    fill = waves - whole
    if not 1 <= whole < FEW_WAVES or not 0 < fill <= LOW_FILL:
        return
    kept = whole * capacity
    yield Draft(
        "tail",
        WHOLE,
        f"{case.n_blocks} blocks, {capacity} at a time: {plural(whole, 'full wave', 'full waves')}, and a last one of "
        f"{case.n_blocks - kept} blocks that keeps {percent0(fill)} of the chip busy",
        "Choose block size and work per block so that whole waves come out, or let blocks stay and fetch their work.",
        f"grid of {kept} blocks, each with {case.n_blocks / kept:.3g} times the work",
        "the last wave stays",
        (Intervention("first_blocks", (), kept, "", OF_KERNEL),),
        fill / waves,
        kept / case.n_blocks,
    )


def load_balance(case: Case) -> Iterator[Draft]:
    """Blocks of very different lengths."""
    subject = case.baseline.subject
    slots = np.concatenate([block_slots(case.baseline.program, piece) for piece in subject.trace])
    ratio = float(slots.max()) / max(1.0, float(slots.mean()))
    idle = 1 - float(case.baseline.timing.active_cycles_of_sm.mean()) / max(1, case.baseline.timing.cycles)
    share = min(idle, 1 - 1 / ratio)
    if ratio < UNEVEN or share < LEAST_SHARE or subject.launch.blocks_of_cluster > 1 or len(subject.grids) > 1:
        return
    yield Draft(
        "load_balance",
        WHOLE,
        f"the longest block issues {ratio:.3g} times as much as the mean: {int(slots.max()):,} slots, "
        f"{slots.mean():,.0f} on average; SMs are idle {percent0(idle)} of the time",
        "Start long blocks first, give each block the same amount of work, or let blocks fetch their next piece with "
        "an atomic.",
        "",
        "SMs still end far from each other",
        (Intervention("dealt", place=OF_KERNEL),),
        share,
        others=((Intervention("dealt_turns", place=OF_KERNEL),),),
    )


def launches(case: Case) -> Iterator[Draft]:
    """Many short launches of one kernel."""
    timing, chip = case.baseline.timing, case.chip
    overhead = chip.grid_overhead_cycles / max(1, timing.cycles)
    if case.n_launches < MANY_LAUNCHES or overhead < 5 * LEAST_SHARE:
        return
    yield Draft(
        "launches",
        WHOLE,
        f"{case.n_launches} launches of {case.launch_cycles / case.n_launches:,.0f} cycles each; "
        f"{chip.grid_overhead_cycles:,} of these are the launch's own",
        "Make one launch of them: a loop in the kernel, a batch along gridDim.y, or a graph.",
        f"<<<dim3(grid, {case.n_launches}), block>>>",
        "the number of launches stays",
        (Intervention("repeated", (), case.n_launches, "", OF_KERNEL),),
        overhead,
        n_launches=case.n_launches,
    )
