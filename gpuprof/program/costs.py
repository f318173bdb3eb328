"""The time that calls take on the host's simulated clock, in nanoseconds. The GPU's time is not part of it.

Round numbers of the order that people measure on machines of today with PCIe 4.0: a launch of 2.5 us (NVIDIA,
"Understanding the Overhead of Launching Kernels", 2.2 us and more), copies of 10 us and 25 GB/s from page-locked
memory. They make what programs print of themselves plausible and repeatable; nothing else depends on them.
"""

CALL_NS = 1_000
COSTS_NS = {
    "launch": 2_500, "allocate": 20_000, "free": 20_000, "free_later": 2_000, "copy_in": 10_000, "copy_out": 10_000,
    "staged_in": 10_000, "staged_out": 10_000,
    "fill": 5_000, "fill_words": 5_000, "begin_call": 0, "end_call": 0, "begin_task": 100, "end_task": 100,
    "read_clock": 0,
}  # fmt: skip
COPY_NBYTES_PER_NS = 25


def cost_ns(call: str, nbytes: int) -> int:
    """The time of a call that carries `nbytes` bytes to the device or from it."""
    return COSTS_NS.get(call, CALL_NS) + nbytes // COPY_NBYTES_PER_NS
