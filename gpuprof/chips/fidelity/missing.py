"""Parts of a GPU that the timing model leaves out or takes coarsely, and parts that no published card was held against.

What a launch ran ─ Missing.uses ─> warp-cycles ─ matters ─> names, in the recording ─ caution ─> a line of every page

`gpuprof fidelity` and docs/model.md show the list; a recording names the parts that its launches used.
"""

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from gpuprof.chips.fidelity.likeness import MATRICES
from gpuprof.isa.kinds import ATOMICS, kinds_of
from gpuprof.isa.opcodes import numbers
from gpuprof.isa.row import Opcode

LEAST_SHARE = 0.02  # ours, of the warp-cycles: what takes less changes no conclusion
NOT_HELD = "not held against any card"
SEPARATOR = "; "  # of the names in a recording


class Spent(NamedTuple):
    """An instruction of a launch. `warp_cycles`: of warps that waited to issue it, or that it let
    continue elsewhere.
    """

    op: Opcode
    scope: str  # of a fence or an access with memory order: cta, cluster, gpu, sys; "" none
    warp_cycles: int


class Ran(NamedTuple):
    """A launch. `warp_cycles`: of all of it."""

    spent: tuple[Spent, ...]
    warp_cycles: int


class Missing(NamedTuple):
    """`name`: of what a launch uses of it, for pages; "" where no rule finds it. `uses` picks instructions that use it,
    `calls` those of a program's host. `since`: the first chip that has it, "" all. `off`: how far the model is from
    published figures; "" where none was found.
    """

    unit: str
    what: str
    effect: str
    name: str = ""
    uses: Callable[[Spent], bool] | None = None
    calls: Collection[str] = ()
    since: str = ""
    off: str = ""


def _of_kinds(*names: str) -> Callable[[Spent], bool]:
    kinds = kinds_of(*names)
    return lambda spent: spent.op.kind in kinds


FENCES = kinds_of("fence")
GLOBAL = ("global", "generic")
# Those of published histograms and sums.
MEASURED = numbers(
    *("ATOM.ADD.U32", "ATOM.ADD.F32", "ATOMG.ADD.U32", "ATOMG.ADD.F32"),
    *("RED.ADD.U32", "RED.ADD.F32", "REDG.ADD.U32", "REDG.ADD.F32"),
)

MISSING = (
    Missing("program", "loading of modules, contexts and compilation at a program's first calls; how a launch's cost "
        "follows its arguments", "the first calls of a program cost no more than later ones"),
    Missing("program", "how copies from memory that is not page-locked change with their size",
        "two shares of the link's rate, below and above 2 MiB: published machines have 0.3 to 0.9 of it at any size"),
    Missing("program", "faults of managed memory while a kernel runs; memory beyond the GPU's own",
        "all pages that a kernel touches come before it begins",
        "managed memory", calls=("cudaMallocManaged", "cuMemAllocManaged", "cudaMemPrefetchAsync",
            "cuMemPrefetchAsync"),
        off="faults took 0.5 to 1.5 times as long as on a V100"),
    Missing("program", "memory of the host that kernels read and write over the link, while they run",
        "it crosses the link before the kernel begins, and each byte once", "mapped memory of the host",
        calls=("cudaHostGetDevicePointer", "cuMemHostGetDevicePointer"),
        off="buffers that are read or written once took 1.02 to 1.15 times as long as on cards"),
    Missing("distributor", "neighbourhood of SMs (GPC, TPC): a cluster starts on any free SMs",
        "clusters start a little too early", since="sm_90"),
    Missing("clusters", "port and banks of the SM whose shared memory others read; the lower rate of larger clusters",
        "many blocks that read one block's memory are too fast", "clusters",
        _of_kinds("cluster_barrier", "bulk_copy", "bulk_reduction_shared"), since="sm_90"),
    Missing("fences", "what a fence of system scope waits for beyond the device's L2",
        "fences of system scope cost as much as the device's", "system-scope fences",
        lambda spent: spent.op.kind in FENCES and spent.scope == "sys"),
    Missing("atomics", "rates of global atomics other than 32-bit additions: compare-and-swap, 64 bits, f16, vectors",
        "unknown: no measurement was found", "atomics other than 32-bit additions",
        lambda spent: spent.op.kind in ATOMICS and spent.op.space in GLOBAL
            and spent.op.number not in MEASURED),
    Missing("copies", "queues and start-up of copies from global to shared memory", "short copies are too fast",
        "copies to shared memory", _of_kinds("copy", "bulk_load", "bulk_store", "bulk_copy"), since="sm_80",
        off="products, transposes and attention by such copies took 0.9 to 1.2 times as long as on cards"),
    Missing("fetch", "bandwidth of instruction fetch; instructions and data competing for the L2",
        "code that misses the caches is too fast"),
    Missing("core", "register ports for writing and for operands of memory instructions, yield hints",
        "unknown: no measurement was found"),
    Missing("core", "the uniform datapath: the ordinary pipes do its work",
        "the ALU does another unit's work: 3 % of the issue slots of 28 kernels, 17 % at most"),
    Missing("core", "what makes a warp the youngest, of which nothing was found published: here it became ready last",
        "issue-bound blocks end one warp after another: achieved occupancy is up to 25 points too low, and loops of "
        "FMAs of six warps a partition take up to a fifth too long"),
    Missing("core", "write-after-read stalls: no instruction waits for a register's readers", "rarely a cycle"),
    Missing("tensor", "tcgen05, warp groups that start together, power limits", "products at the peak rate are faster "
        "than on a card that lowers its clock", "tensor cores", lambda spent: spent.op.kind in MATRICES, since="sm_70",
        off="products by mma.sync, wmma and wgmma took 0.8 to 1.2 times as long as on cards"),
    Missing("textures", "the tiled layout of CUDA arrays, slower filtering of wide formats, the texture units' queue",
        "columns of texels cost too many sectors", "textures and surfaces",
        _of_kinds("fetch", "surface_load", "surface_store", "surface_reduction")),
    Missing("L2", "requests of neighbouring SMs for one line, which an H100 joins on their way",
        "products whose blocks read the same tiles at the same time are up to a fifth too slow"),
    Missing("L2", "the rate between its two halves, compression, persistence controls",
        "data that all blocks read together and that exceeds a half may be a seventh too fast"),
    Missing("DRAM", "refresh by itself, rows that close when idle",
        "unknown: no measurement was found"),
    Missing("DRAM", "writes that are held back and drained together, while reads wait",
        "short blocks that load and store are up to a sixth too fast"),
    Missing("TLB", "the number of misses in flight, SMs that share a TLB, walks (except on v100 and t4)",
        "accesses at random in many GB may be too fast"),
    Missing("draws", "size of the memory on the chip between stages, what it takes of the L1, and its ways between SMs",
        "draws with many varyings are a little too fast"),
    Missing("draws", "compression of depths and colors, caches of the ROPs",
        "draws with depth or several samples take too many bytes"),
    Missing("clock", "changes of the clock, power and temperature", "milliseconds are those of a fixed clock"),
    Missing("traces", "effects of time on results: races, clock reads and which block takes which tile follow the "
        "emulator's order, by an estimate of time; loops that wait for others last as long as they must, but loops of "
        "compare-and-swaps turn as often as in the emulator",
        "spin locks are too fast, or too slow"),
    Missing("clusters", "the fence in the barrier of a cluster", "cluster.sync() is too fast, and the L1 keeps lines"),
    Missing("other makers", "scalar units, waves of 64 as one, lines of 64 bytes, several caches for one level",
        "near equivalents express parts of other makers"),
)  # fmt: skip
NAMED = {gap.name: gap for gap in MISSING if gap.name}


def used(ran: Ran) -> tuple[str, ...]:
    """The names of the parts on which a launch spent so much that they matter, in the order of the list."""
    return tuple(gap.name for gap in NAMED.values() if gap.uses and _share(gap.uses, ran) >= LEAST_SHARE)


def _share(uses: Callable[[Spent], bool], ran: Ran) -> float:
    return sum(spent.warp_cycles for spent in ran.spent if uses(spent)) / max(ran.warp_cycles, 1)


def is_used_by(spent: Spent) -> bool:
    """True if the instruction uses one of the parts, whatever its time."""
    return any(gap.uses(spent) for gap in NAMED.values() if gap.uses)


def used_by_calls(calls: Collection[str]) -> tuple[str, ...]:
    """The names of the parts that calls of a program's host use."""
    return tuple(gap.name for gap in NAMED.values() if set(gap.calls) & set(calls))


def caution(names: Iterable[str]) -> tuple[str, ...]:
    """Phrases for a page's head on these parts. Those without a published figure share a phrase. A name of another
    version counts as one of them.
    """
    chosen = set(names)
    known = [name for name in NAMED if name in chosen]
    measured = [f"{name}: {NAMED[name].off}" for name in known if NAMED[name].off]
    others = [name for name in known if not NAMED[name].off] + sorted(chosen - set(known))
    return (*measured, *([f"{', '.join(others)}: {NOT_HELD}"] if others else ()))
