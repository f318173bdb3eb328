"""What another clock does to a chip's numbers. Cycles are those of the SMs' clock, and the memory has its own.

The way to the L2 and back takes the same cycles at any clock. Beyond it time is DRAM's and stays as it is in
nanoseconds. `dram_gbytes_per_s`, `dram_row_cycle_ns` and `dram_row_open_ns` are stated in time already.
"""


def dram_cycles_at(clock_mhz: float, dram_cycles: int, l2_far_cycles: int, stated_at_mhz: float) -> int:
    """`dram_cycles`, in cycles at `stated_at_mhz`, in cycles at `clock_mhz`: what it takes beyond an L2 hit is time."""
    return l2_far_cycles + round((dram_cycles - l2_far_cycles) * clock_mhz / stated_at_mhz)
