"""Special registers. FIXED ones are the same for a thread's whole life: chunk -> array that broadcasts to (warps, 32).

Estimates, since what happens never depends on when: clock counts the warp's instructions, globaltimer is the same
count, and smid deals blocks out to multiprocessors in turn.
"""

import numpy as np

from gpuprof.emulate.core.lanes import WARP
from gpuprof.emulate.core.spaces import SYSTEM_NBYTES, system_shared
from gpuprof.isa.special import GRID_WORKSPACE

LANE = np.arange(WARP)

# No driver sets the other environment registers, no graph runs, and no events are counted in a kernel.
ALWAYS_ZERO = (
    *(f"envreg{n}" for n in range(32) if n not in (1, 2)), *(f"pm{n}" for n in range(8)),
    *(f"pm{n}_64" for n in range(8)), "current_graph_exec",
)  # fmt: skip


def _block(chunk):
    return chunk.launch.grid_blocks(_number(chunk))


def _number(chunk):
    """Number of each warp's block in the order they run: those of a cluster follow each other."""
    return (chunk.first_block + np.arange(chunk.n_warps) // chunk.warps_per_block)[:, None]


def _system_shared(chunk):
    return system_shared(chunk.launch.shared_nbytes)


def _grid_workspace(chunk):
    return chunk.launch.module.global_symbols.get(GRID_WORKSPACE, 0)


def _coordinate(axis: int, shape: tuple[int, int, int], number):
    """Coordinate `axis` of a linear number in a grid or block."""
    return number // int(np.prod(shape[:axis], dtype=np.int64)) % shape[axis]


def _of_grid(axis: int):
    return lambda chunk: _coordinate(axis, chunk.launch.grid, _block(chunk))


def _of_block(axis: int):
    """Worked out for one block: all are alike."""

    def compute(chunk):
        threads = np.arange(chunk.warps_per_block * WARP)
        one = _coordinate(axis, chunk.launch.block, threads).astype(np.uint32)
        return np.tile(one.reshape(-1, WARP), (chunk.n_blocks, 1))

    return compute


def _of_cluster(axis: int, operation):
    """`operation`(block coordinate, cluster extent) along an axis."""

    def compute(chunk):
        return operation(_of_grid(axis)(chunk), chunk.launch.cluster[axis])

    return compute


def _clock(chunk, lanes):
    return np.repeat(chunk.executed[lanes.warps], WARP)


def _clock_high(chunk, lanes):
    return _clock(chunk, lanes) >> 32


def _local_base(chunk, lanes):
    return chunk.calls.base[lanes.warps].reshape(-1)


FIXED = {
    **{f"tid.{name}": _of_block(axis) for axis, name in enumerate("xyz")},
    **{f"ctaid.{name}": _of_grid(axis) for axis, name in enumerate("xyz")},
    **{f"ntid.{name}": lambda chunk, axis=axis: np.int64(chunk.launch.block[axis]) for axis, name in enumerate("xyz")},
    **{f"nctaid.{name}": lambda chunk, axis=axis: np.int64(chunk.launch.grid[axis]) for axis, name in enumerate("xyz")},
    "laneid": lambda chunk: LANE,
    "warpid": lambda chunk: (np.arange(chunk.n_warps) % chunk.warps_per_block)[:, None],
    "nwarpid": lambda chunk: np.int64(chunk.warps_per_block),
    "smid": lambda chunk: _block(chunk) % chunk.chip.sms,
    "nsmid": lambda chunk: np.int64(chunk.chip.sms),
    "gridid": lambda chunk: np.int64(chunk.launch.index),
    "lanemask_eq": lambda chunk: 1 << LANE,
    "lanemask_lt": lambda chunk: (1 << LANE) - 1,
    "lanemask_le": lambda chunk: (2 << LANE) - 1,
    "lanemask_gt": lambda chunk: 0xFFFFFFFF & ~((2 << LANE) - 1),
    "lanemask_ge": lambda chunk: 0xFFFFFFFF & ~((1 << LANE) - 1),
    "dynamic_smem_size": lambda chunk: np.int64(chunk.launch.dynamic_shared_nbytes),
    "total_smem_size": lambda chunk: np.int64(chunk.launch.shared_nbytes),
    "aggr_smem_size": lambda chunk: np.int64(chunk.launch.shared_nbytes + SYSTEM_NBYTES),
    "reserved_smem_offset_begin": lambda chunk: np.int64(_system_shared(chunk).start),
    "reserved_smem_offset_end": lambda chunk: np.int64(_system_shared(chunk).stop),
    "reserved_smem_offset_cap": lambda chunk: np.int64(SYSTEM_NBYTES),
    # Which part is whose is not documented. Cooperative groups use the second and count on 288 bytes
    # (details/memory.h).
    "reserved_smem_offset_0": lambda chunk: np.int64(_system_shared(chunk).start),
    "reserved_smem_offset_1": lambda chunk: np.int64(_system_shared(chunk).start + SYSTEM_NBYTES // 2),
    "envreg1": lambda chunk: np.int64(_grid_workspace(chunk) >> 32),
    "envreg2": lambda chunk: np.int64(_grid_workspace(chunk) & 0xFFFFFFFF),
    **dict.fromkeys(ALWAYS_ZERO, lambda chunk: np.int64(0)),
    **{f"clusterid.{name}": _of_cluster(axis, np.floor_divide) for axis, name in enumerate("xyz")},
    **{f"cluster_ctaid.{name}": _of_cluster(axis, np.remainder) for axis, name in enumerate("xyz")},
    **{
        f"nclusterid.{name}": lambda chunk, axis=axis: np.int64(chunk.launch.grid[axis] // chunk.launch.cluster[axis])
        for axis, name in enumerate("xyz")
    },
    **{
        f"cluster_nctaid.{name}": lambda chunk, axis=axis: np.int64(chunk.launch.cluster[axis])
        for axis, name in enumerate("xyz")
    },
    "cluster_ctarank": lambda chunk: _number(chunk) % chunk.launch.blocks_of_cluster,
    "cluster_nctarank": lambda chunk: np.int64(chunk.launch.blocks_of_cluster),
    "is_explicit_cluster": lambda chunk: np.int64(chunk.launch.blocks_of_cluster > 1),
}
CHANGING = {
    "clock": _clock, "clock64": _clock, "clock_hi": _clock_high,
    "globaltimer": _clock, "globaltimer_lo": _clock, "globaltimer_hi": _clock_high,
    "localbase": _local_base,
}  # fmt: skip
