"""What the timing model does not have, each with what it does to a kernel's numbers: `gpuprof fidelity` and
docs/model.md show this list.
"""

from typing import NamedTuple


class Missing(NamedTuple):
    unit: str
    what: str
    effect: str


MISSING = (
    Missing("launch", "the host's side of a launch: driver, queues, copies over the "
        "bus", "time between kernels is not a card's"),
    Missing("distributor", "neighbourhood of SMs (GPC, TPC): clusters start wherever there are "
        "slots", "clusters start a little too easily"),
    Missing("clusters", "the port and the banks of the SM whose shared memory another reads, larger clusters' lower "
        "rate", "many that read one block's memory do too well"),
    Missing("fetch", "bandwidth of instruction fetch, instructions and data competing for the "
        "L2", "code that misses the caches does too well"),
    Missing("core", "operand collectors, register banks and their conflicts, the reuse cache, yield "
        "hints", "kernels of multiply-adds alone do up to 30 % too well"),
    Missing("core", "the uniform datapath: what it does is done by the ordinary "
        "pipes", "the ALU does what another unit does on a card: 3 "
        "% of the issue slots of 28 kernels, 17 % at most"),
    Missing("core", "what \"youngest\" means between blocks: here the last started, so blocks that started first can "
        "wait to the end; nothing was found published", "unsynchronised grids may have too long a tail"),
    Missing("core", "write-after-read stalls: registers are never waited for by their readers", "rarely a cycle"),
    Missing("core", "one FP64 unit for four partitions on chips that have so few: each has its "
        "share", "single warps of f64 wait longer than on a card"),
    Missing("tensor", "sums in f32 at half the rate on GeForce parts, tcgen05, warp groups that start together, power "
        "limits", "rtx3090 and rtx4090 do up to twice too well with f32 sums"),
    Missing("textures", "the tiled layout of CUDA arrays, slower filtering of wide formats, the texture units' "
        "queue", "columns of texels cost too many sectors"),
    Missing("L2", "room that copies of the other half's lines take, compression, persistence "
        "controls", "data of nearly the L2's size stays there a little too well"),
    Missing("DRAM", "limits of opening rows in different banks (tFAW), refresh by "
        "itself", "nothing published was found to say"),
    Missing("DRAM", "turns between reading and writing, but for their share of a stream's "
        "bandwidth", "short blocks that load and store do up to a quarter too well"),
    Missing("TLB", "how many misses of a TLB can be on their way, SMs that share one; walks but on v100 and "
        "t4", "accesses at random in many GB may be too fast"),
    Missing("clock", "changes of the clock, power and temperature", "milliseconds are those of a fixed clock"),
    Missing("traces", "effects of time on results: races, spin loops and clock reads go as in the "
        "emulator", "spin loops turn as often as there"),
    Missing("other makers", "scalar units, waves of 64 as one, lines of 64 bytes, several caches for one "
        "level", "parts of other makers are expressed by near equivalents"),
)  # fmt: skip
