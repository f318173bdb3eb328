"""Reasons why a chip cannot run a launch."""

import numpy as np

from gpuprof.predict.units.resident_blocks import limits
from gpuprof.predict.work import Work
from gpuprof.timing.state.expansion import generation_of

CLUSTERS_FROM = 90  # compute capability 9.0 has thread block clusters and warp groups
NEEDS = {"cluster_barrier": CLUSTERS_FROM, "matrix_async": CLUSTERS_FROM, "bulk_copy": CLUSTERS_FROM}


def refusals(work: Work) -> dict[int, str]:
    """Why a chip cannot run the launch, by the chip's index; chips that can run it are left out."""
    reasons: dict[int, str] = {}
    needed = {op.kind: NEEDS[op.kind] for op in work.counters.ops if op.kind in NEEDS}
    for arch in dict.fromkeys(work.chips.archs):
        for kind, generation in needed.items():
            if arch.startswith("sm_") and generation_of(arch) < generation:
                text = f"{kind.replace('_', ' ')} needs sm_{generation}, the chip is {arch}"
                reasons |= {index: text for index, other in enumerate(work.chips.archs) if other == arch}
    for resource, blocks in limits(work).items():
        for index in np.flatnonzero(blocks + work.zeros < 1).tolist():
            reasons.setdefault(index, f"a block does not fit an SM: {_need(work, resource, index)}")
    return reasons


def _need(work: Work, resource: str, index: int) -> str:
    counters, chips = work.counters, work.chips
    if resource == "shared":
        most = int(chips["max_shared_nbytes_per_block"][index])
        return f"{counters.shared_nbytes} bytes of shared memory, the chip has {most}"
    if resource == "registers":
        return f"{counters.registers} registers a thread in {counters.threads} threads"
    most = int(chips["max_threads_per_block"][index])
    if counters.threads > most:
        return f"{counters.threads} threads, the chip has {most}"
    return f"{int(work.block_warps[index])} warps, the chip has {int(chips['warp_slots'][index])}"
