"""The limits that a chip and a kernel set to a launch."""

from gpuprof.base.cache_control import MOST_REPEATS, STATES
from gpuprof.chips import Chip
from gpuprof.errors import LaunchRefused, UsageError
from gpuprof.isa.program import Function

Extent = tuple[int, int, int]

# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": the same for every chip since 3.0.
MAX_BLOCK: Extent = (1024, 1024, 64)
# Where the kernel allows a size that is not portable (8 is): of H100, B200 and sm_120 alike (NVIDIA Warp's manual on
# get_cuda_max_cluster_dim); GPUs of one chip with their host take 8.
MAX_CLUSTER = 16
CLUSTERS_SINCE = DEPENDENT_SINCE = 90
MAX_GRID: Extent = ((1 << 31) - 1, 65535, 65535)


def check_limits(function: Function, grid: Extent, block: Extent, dynamic_shared_nbytes: int, chip: Chip) -> None:
    """Raises UsageError, with the limit and whose it is, for a launch that a real GPU would refuse."""
    name = function.display
    _check_extent(name, "grid", grid, MAX_GRID)
    _check_extent(name, "block", block, MAX_BLOCK)
    threads = block[0] * block[1] * block[2]
    shape = "x".join(map(str, block))
    if threads > chip.max_threads_per_block:
        raise LaunchRefused(
            f"{name}: a block of {shape} has {threads} threads; {chip.name} allows {chip.max_threads_per_block}",
            "extent",
        )
    if function.required_threads and block != function.required_threads:
        required = "x".join(map(str, function.required_threads))
        raise LaunchRefused(
            f"{name}: a block of {shape}; the kernel was compiled for blocks of exactly {required} (.reqntid)", "kernel"
        )
    if function.max_threads and threads > function.max_threads:
        raise LaunchRefused(
            f"{name}: a block of {shape} has {threads} threads; the kernel was compiled for at most "
            f"{function.max_threads} (__launch_bounds__)",
            "kernel",
        )
    _check_resources(function, threads, dynamic_shared_nbytes, chip)


def cluster_of(function: Function, grid: Extent, requested: Extent | None, chip: Chip) -> Extent:
    """Blocks of a cluster, from the launch or from the kernel. Raises UsageError for a size that a real GPU would
    refuse.
    """
    name, required = function.display, function.required_cluster
    cluster = requested or required or (1, 1, 1)
    shape, n_blocks = "x".join(map(str, cluster)), cluster[0] * cluster[1] * cluster[2]
    if required and cluster != required:
        raise LaunchRefused(
            f"{name}: clusters of {shape}; the kernel was compiled for clusters of exactly "
            f"{'x'.join(map(str, required))}",
            "cluster",
        )
    if function.explicit_cluster and not (requested or required):
        raise LaunchRefused(
            f"{name}: the kernel needs clusters (.explicitcluster); give their size, as in "
            "<<<grid, block, cluster=2>>>",
            "cluster",
        )
    if min(cluster) < 1 or n_blocks > MAX_CLUSTER:
        raise LaunchRefused(
            f"{name}: clusters of {shape}; each extent is at least 1, and a cluster has at most {MAX_CLUSTER} blocks",
            "cluster",
        )
    if function.max_cluster and n_blocks > function.max_cluster:
        raise LaunchRefused(
            f"{name}: clusters of {shape}; the kernel was compiled for at most {function.max_cluster} blocks "
            "(.maxclusterrank)",
            "cluster",
        )
    if any(extent % part for extent, part in zip(grid, cluster, strict=True)):
        raise LaunchRefused(
            f"{name}: a grid of {'x'.join(map(str, grid))} cannot be divided into clusters of {shape}", "cluster"
        )
    if n_blocks > 1 and _compute_capability(chip) < CLUSTERS_SINCE:
        raise LaunchRefused(f"{name}: clusters need sm_{CLUSTERS_SINCE}; {chip.name} is {chip.arch}", "cluster")
    return cluster


def check_dependent(function: Function, dependent: bool, stream: int, chip: Chip) -> None:
    """Raises UsageError for a programmatic dependent launch that a real GPU would refuse, or that could not overlap
    with anything here.
    """
    if dependent and _compute_capability(chip) < DEPENDENT_SINCE:
        raise UsageError(
            f"{function.display}: dependent launches need sm_{DEPENDENT_SINCE}; {chip.name} is {chip.arch}"
        )
    if dependent and stream == 0:
        raise UsageError(
            f"{function.display}: a dependent launch needs a stream, as in <<<grid, block, 0, 1, dependent>>>: the "
            "host waits for each launch on"
            " the default stream"
        )


def check_cache_control(name: str, cache: str, repeat: int) -> None:
    """Raises UsageError for what is no way to measure a launch; "" and 0 are left to the run."""
    if cache and cache not in STATES:
        raise UsageError(f"{name}: cache={cache}: it must be one of {', '.join(STATES)}")
    if not 0 <= repeat <= MOST_REPEATS:
        raise UsageError(f"{name}: repeat={repeat}: it must be 1 to {MOST_REPEATS:,}")


def _compute_capability(chip: Chip) -> int:
    return int(chip.arch.removeprefix("sm_").rstrip("af"))


def _check_extent(name: str, what: str, extent: Extent, limits: Extent) -> None:
    for axis, value, limit in zip("xyz", extent, limits, strict=True):
        if not 1 <= value <= limit:
            raise LaunchRefused(f"{name}: the {what}'s {axis} extent is {value}; it must be 1 to {limit}", "extent")


def _check_resources(function: Function, threads: int, dynamic_shared_nbytes: int, chip: Chip) -> None:
    name = function.display
    if dynamic_shared_nbytes < 0:
        raise UsageError(f"{name}: {dynamic_shared_nbytes} bytes of shared memory; it must not be negative")
    shared_nbytes = function.shared_nbytes + dynamic_shared_nbytes
    if shared_nbytes > chip.max_shared_nbytes_per_block:
        parts = f"{function.shared_nbytes} static, {dynamic_shared_nbytes} dynamic"
        raise LaunchRefused(
            f"{name}: {shared_nbytes} bytes of shared memory per block ({parts}); {chip.name} allows "
            f"{chip.max_shared_nbytes_per_block}",
            "kernel",
        )
    registers = _registers_of_block(function, threads, chip)
    if registers > chip.registers:
        raise LaunchRefused(
            f"{name}: {threads} threads of {function.registers} registers take {registers}; a multiprocessor of "
            f"{chip.name} has {chip.registers}."
            " Launch smaller blocks, or compile for fewer registers",
            "resources",
        )


def _registers_of_block(function: Function, threads: int, chip: Chip) -> int:
    warps = -(-threads // chip.warp_lanes)
    per_warp = -(-function.registers * chip.warp_lanes // chip.register_granularity) * chip.register_granularity
    return warps * per_warp
