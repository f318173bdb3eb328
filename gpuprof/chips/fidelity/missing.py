"""Parts of a GPU that the timing model leaves out, each with the effect on a kernel's numbers: `gpuprof fidelity` and
docs/model.md show this list.
"""

from typing import NamedTuple


class Missing(NamedTuple):
    unit: str
    what: str
    effect: str


MISSING = (
    Missing("launch", "the host's side of a launch: driver, queues, copies over the bus",
        "time between kernels is not a card's"),
    Missing("distributor", "neighbourhood of SMs (GPC, TPC): a cluster starts on any free SMs",
        "clusters start a little too early"),
    Missing("clusters", "port and banks of the SM whose shared memory others read; the lower rate of larger clusters",
        "many blocks that read one block's memory are too fast"),
    Missing("fetch", "bandwidth of instruction fetch; instructions and data competing for the L2",
        "code that misses the caches is too fast"),
    Missing("core", "register ports for writing and for operands of memory instructions, yield hints",
        "unknown: no measurement was found"),
    Missing("core", "the uniform datapath: the ordinary pipes do its work",
        "the ALU does another unit's work: 3 % of the issue slots of 28 kernels, 17 % at most"),
    Missing("core", "what makes a warp the youngest, of which nothing was found published: here it became ready last",
        "issue-bound blocks end one warp after another: achieved occupancy is up to 25 points too low"),
    Missing("core", "write-after-read stalls: no instruction waits for a register's readers", "rarely a cycle"),
    Missing("tensor", "tcgen05, warp groups that start together, power limits",
        "products at the peak rate are faster than on a card that lowers its clock"),
    Missing("textures", "the tiled layout of CUDA arrays, slower filtering of wide formats, the texture units' queue",
        "columns of texels cost too many sectors"),
    Missing("L2", "room for copies of the other half's lines, compression, persistence controls",
        "data of nearly the L2's size stays there a little too well"),
    Missing("DRAM", "refresh by itself, rows that close when idle",
        "unknown: no measurement was found"),
    Missing("DRAM", "writes that are held back and drained together, while reads wait; dirty lines that are written "
        "back before the L2 needs their places",
        "short blocks that load and store are up to a sixth too fast; a launch after a fill finds the L2 dirty"),
    Missing("TLB", "the number of misses in flight, SMs that share a TLB, walks (except on v100 and t4)",
        "accesses at random in many GB may be too fast"),
    Missing("draws", "size of the memory on the chip between stages, what it takes of the L1, and its ways between SMs",
        "draws with many varyings are a little too fast"),
    Missing("draws", "compression of depths and colors, caches of the ROPs",
        "draws with depth or several samples take too many bytes"),
    Missing("clock", "changes of the clock, power and temperature", "milliseconds are those of a fixed clock"),
    Missing("traces", "effects of time on results: races and clock reads follow the emulator's order; loops that wait "
        "for others last as long as they must, but loops of compare-and-swaps turn as often as in the emulator",
        "spin locks are too fast, or too slow"),
    Missing("clusters", "the fence in the barrier of a cluster", "cluster.sync() is too fast, and the L1 keeps lines"),
    Missing("other makers", "scalar units, waves of 64 as one, lines of 64 bytes, several caches for one level",
        "near equivalents express parts of other makers"),
)  # fmt: skip
