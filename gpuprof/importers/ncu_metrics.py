"""Nsight Compute's names of metrics that gpuprof has names for, too (Nsight Compute, "Metrics Reference").

All numbers of a launch are imported under Nsight Compute's own names as well.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeGuard

Metrics = Mapping[str, Any]


class Renamed(NamedTuple):
    """`sources`: Nsight Compute's names, all of which are needed; their sum is the value."""

    name: str
    sources: tuple[str, ...]


# Names of the table `launch_metrics`. Sectors of L1 are those of global loads, as gpuprof counts them.
OF_LAUNCHES = (
    Renamed("registers", ("launch__registers_per_thread",)),
    Renamed("shared_nbytes", ("launch__shared_mem_per_block_static",)),
    Renamed("issue_slots", ("smsp__inst_issued.sum",)),
    Renamed("l1_sectors", ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",)),
    Renamed("l1_hits", ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",)),
    Renamed("l2_sectors", ("lts__t_sectors.sum",)),
    Renamed("l2_hits", ("lts__t_sectors_lookup_hit.sum",)),
    Renamed("dram_read_nbytes", ("dram__bytes_read.sum",)),
    Renamed("dram_write_nbytes", ("dram__bytes_write.sum",)),
)
# Columns of the table `counters`, from metrics with a value for each instruction.
OF_INSTRUCTIONS = {
    "inst_executed": "inst_executed",
    "thread_inst_executed": "thread_inst_executed",
    "thread_inst_executed_true": "thread_inst_executed_pred_on",
    "smsp__branch_targets_threads_divergent": "divergent_branches",
    "memory_l1_tag_requests_global": "l1_tag_requests_global",
    "memory_l2_theoretical_sectors_global": "l2_sectors_global",
    "memory_l2_theoretical_sectors_global_ideal": "l2_sectors_global_ideal",
    "memory_l2_theoretical_sectors_local": "l2_sectors_local",
    "memory_l1_wavefronts_shared": "l1_wavefronts_shared",
    "memory_l1_wavefronts_shared_ideal": "l1_wavefronts_shared_ideal",
}
# Newer releases have the first, older ones the last: of all SMs, of all GPCs, of an SM's active time.
CYCLES = ("sm__cycles_elapsed.max", "gpc__cycles_elapsed.max", "sm__cycles_active.avg")
CLOCK = ("smsp__cycles_elapsed.avg.per_second", "gpc__cycles_elapsed.avg.per_second")
LIMITERS = {
    "blocks": "launch__occupancy_limit_blocks",
    "registers": "launch__occupancy_limit_registers",
    "shared memory": "launch__occupancy_limit_shared_mem",
    "warps": "launch__occupancy_limit_warps",
}
SAMPLES = "smsp__pcsamp_warps_issue_stalled_"
NOT_ISSUED = "_not_issued"
INTERVAL_CYCLES, INTERVAL = "smsp__pcsamp_interval_cycles", "smsp__pcsamp_interval"
LEAST_INTERVAL_BITS = 5  # an interval of e is 2^(5+e) cycles

# Numbers of the card, by the names of chips.fields.
CHIP_NAME = "device__attribute_display_name"
OF_CHIP = {
    "sms": "device__attribute_multiprocessor_count",
    "partitions": "device__attribute_num_schedulers_per_multiprocessor",
    "warp_slots": "device__attribute_max_warps_per_multiprocessor",
    "l2_nbytes": "device__attribute_l2_cache_size",
}
NOT_OF_A_LAUNCH = ("device__attribute_",)  # beginnings of names
MOST = 1e18  # of a number in a database


def first(metrics: Metrics, names: tuple[str, ...]) -> float | None:
    """The value of the first of `names` that is present and a number."""
    return next((metrics[name] for name in names if is_number(metrics.get(name))), None)


def is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and math.isfinite(value) and abs(value) <= MOST


def of_launch(metrics: Metrics, chip: Mapping[str, int | float]) -> dict[str, int | float | str]:
    """A launch's metrics under gpuprof's names, and those of Nsight Compute that are numbers."""
    values_by_name = {
        name: value for name, value in metrics.items() if is_number(value) and not name.startswith(NOT_OF_A_LAUNCH)
    }
    for name, sources in OF_LAUNCHES:
        values = [value for source in sources if is_number(value := metrics.get(source))]
        if len(values) == len(sources):
            values_by_name[name] = round(sum(values))
    return values_by_name | _occupancy(metrics) | _residence(metrics, chip)


def _occupancy(metrics: Metrics) -> dict[str, int | str]:
    limits = {name: metrics[source] for name, source in LIMITERS.items() if is_number(metrics.get(source))}
    if not limits:
        return {}
    limiter = min(limits, key=limits.__getitem__)
    return {"occupancy_limiter": limiter, "blocks_per_sm": round(limits[limiter])}


def _residence(metrics: Metrics, chip: Mapping[str, int | float]) -> dict[str, int]:
    """Cycles of SMs that had a warp, and of resident warps, from means: their rounding is that of the report."""
    active = metrics.get("sm__cycles_active.avg")
    if not (is_number(active) and "sms" in chip):
        return {}
    cycles = active * chip["sms"]
    cycles_by_name = {"sm_active_cycles": round(cycles)}
    warps = metrics.get("sm__warps_active.avg.per_cycle_active")
    return cycles_by_name | ({"resident_warp_cycles": round(cycles * warps)} if is_number(warps) else {})


def period_of(metrics: Metrics) -> int:
    """Cycles between samples; 0 where none were taken."""
    if is_number(metrics.get(INTERVAL_CYCLES)):
        return round(metrics[INTERVAL_CYCLES])
    interval = metrics.get(INTERVAL)
    return 1 << LEAST_INTERVAL_BITS + round(interval) if is_number(interval) and 0 <= interval < 32 else 0


def chip_of(metrics: Metrics) -> dict[str, int | float]:
    """Facts of the card; its clock is that of the launch, which the profiler may have fixed."""
    facts: dict[str, int | float] = {
        name: round(metrics[source]) for name, source in OF_CHIP.items() if is_number(metrics.get(source))
    }
    per_second = first(metrics, CLOCK)
    return facts | ({"clock_mhz": round(per_second / 1e6, 3)} if per_second else {})
