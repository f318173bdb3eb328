"""The words over the columns and before the facts of the pages, each with its meaning: for `gpuprof explain` and
docs/report.md. A test holds every page to it.
"""

from collections.abc import Iterator
from typing import NamedTuple

LISTINGS = ("source", "ptx", "isa")


class Head(NamedTuple):
    """A column, or a fact of the summary, by its head. `pages` has the commands `quality` and `sweep`, too."""

    name: str
    pages: tuple[str, ...]
    text: str


COLUMNS = (
    Head("severity", ("findings",), "How bad the finding is: error, warning or note; or advice, which is about speed."),
    Head("kind", ("findings",), "The name of all findings of this sort."),
    Head("count", ("findings",), "How often it happened; of advice, in the unit that docs/report.md names."),
    Head("cycles", ("findings",), "Of advice: warp-cycles of what it is about, from ledger and causes."),
    Head("where", ("findings",), "The source line of the instruction, or its address."),
    Head("second", ("findings",), "A second instruction, such as the one that it races with."),
    Head("launch", ("findings",), "The launch's index; of advice on a kernel that of its longest launch."),
    Head("block", ("findings",), "The linear index of the block in the grid."),
    Head("warp", ("findings",), "The number of the warp in its block."),
    Head("thread", ("findings",), "The linear index of the thread in its block."),
    Head("memory", ("findings",), "The address in memory, and the allocation that holds it."),
    Head("finding", ("findings",), "What was found."),
    Head("table", ("traces",), "The trace generator and its table."),
    Head("rows", ("traces",), "Rows of the table, of all launches."),
    Head("columns", ("traces",), "The columns of the table."),
    Head("holds", ("traces",), "What the table holds."),
    Head("task", ("tasks", "relations"), "The task's number, in the order of their beginnings."),
    Head("begin", ("tasks",), "The GPU cycle in which it begins, or the first of its parts."),
    Head("cycles", ("tasks",), "From its begin to its end; of a task with parts, to the end of the last one."),
    Head("own", ("tasks",), "Cycles of the task itself: only launches take time."),
    Head("parts", ("tasks",), "The own cycles of all its parts and theirs, added up, however they overlap."),
    Head("share", ("tasks",), "Its cycles as a share of the time from the first begin to the last end."),
    Head("hottest", ("tasks",), "The stall reason with the most warp-cycles, of its launches and those of its parts."),
    Head("row", ("tasks",), "What it runs on: a stream, the host, or a row that a script has opened."),
    Head("name", ("tasks", "relations"), "The task's name; of a virtual one in brackets."),
    Head("bytes", ("relations",), "Bytes of a buffer that tie the tasks, or that a task accesses."),
    Head("count", ("relations",), "Tasks, or pairs of tasks, of these names."),
    Head("origin", ("relations",), "Where it is known from: a script stated it, it was observed, or others imply it."),
    Head("relation", ("relations",), "How the tasks are related, and through which buffer."),
    Head("what", ("relations",), "Work that nobody needed, the task that did it, and what it has to do with."),
    Head("bound", ("relations",), "Cycles that could be gained at most if the second did not wait for the first."),
    Head("order", ("relations",), "Why the second waits for the first."),
    Head("tasks", ("relations",), "The two tasks."),
    Head("access", ("relations",), "Whether the task reads or writes the buffer."),
    Head("first", ("relations",), "The first byte in the buffer."),
    Head("end", ("relations",), "The last byte in the buffer plus one."),
    Head("exact", ("relations",), "no: there are too many ranges, and some bytes between them are taken for accessed."),
    Head(">>", LISTINGS, "Marks the costliest rows. The column has no head."),
    Head("line", (*LISTINGS, "blame", "stalls", "samples"), "The line of the source, or of the PTX."),
    Head("address", (*LISTINGS, "stalls"), "The address of the instruction."),
    Head("exact", (*LISTINGS, "blame", "samples"),
         "The row's share of all cycles of all resident warps, from the ledger: no estimate."),
    Head("incl.", ("source",), "The row's share together with the code that is inlined there; empty where none is."),
    Head("sampled", (*LISTINGS, "samples"),
         "The exact share as the samples estimate it: each weighs as many warps as it stands for."),
    Head("interval", (*LISTINGS, "samples"),
         "The 95 % confidence interval of the sampled share, in percent: it holds the exact one 19 times of 20."),
    Head("stalls", LISTINGS,
         "A bar as long as the row is costly, with a part for each stall reason; the legend has its letters."),
    Head("stalls", ("blame", "stalls"), "How many stalls: waits of a warp for one reason before one issue."),
    Head("why", LISTINGS, "The row's largest stall reasons, each with its share of the row."),
    Head("why", ("blame",), "The stall reason."),
    Head("attrib.", LISTINGS,
         "The share of the cycles that other rows wait for this one: what it costs them (attributed)."),
    Head("inst", LISTINGS, "Instructions that warps executed."),
    Head("lanes", LISTINGS, "Lanes of a warp that took part, in the mean of the row's executions; 32 is a full warp."),
    Head("excess", LISTINGS, "Sectors (32 bytes) of global memory beyond those that packed accesses would ask for."),
    Head("conflicts", LISTINGS, "Passes through the banks of shared memory that only bank conflicts make."),
    Head("op/byte", LISTINGS,
         "Where `--trace intensity` counted: arithmetic operations for each byte of global memory, of the basic blocks "
         "that the row is in. Coloured below the chip's ridge of f32, from where on memory is no longer its limit."),
    Head("from", ("ptx", "isa"), "The source line that the instruction comes from."),
    Head("from", ("quality",), "Where the row is from: recorded, thinned (samples dropped) or predicted."),
    Head("source", ("source", "blame", "stalls"), "The text of the line; on the blame page, of the line waited for."),
    Head("instruction", ("ptx", "isa", "stalls"), "The instruction, or the line of PTX."),
    Head("cycles", ("summary", "launches", "sweep"), "Duration in cycles of the chip's clock."),
    Head("cycles", ("blame", "samples"), "Cycles of warps that the row accounts for, exact."),
    Head("waits for", ("blame",), "The line whose instruction ended the stalls; `itself` is the line that waits."),
    Head("which is", ("blame",), "How the stalls ended: a kind of cause. `gpuprof list causes` has them."),
    Head("share", ("summary",), "The kernel's share of the cycles of all kernels."),
    Head("share", ("stalls",), "The row's share of the kernel's stalled cycles of warps."),
    Head("reason", ("stalls", "samples"), "The stall reason."),
    Head("mean", ("stalls",), "Mean length of the stalls, in cycles."),
    Head("longest", ("stalls",), "Length of the longest stall, in cycles."),
    Head("cycles:stalls", ("stalls",),
         "How many stalls have which length: from 1, 2, 4, ... cycles on. On a terminal a bar for each length, with "
         "the cycles over every fourth."),
    Head("kind", ("stalls",), "Which stalls have most of the cycles: many short, middling, long, or few long ones."),
    Head("launch", ("launches",), "Number of the launch, in the order of time."),
    Head("by", ("launches",), "The launch whose kernel launched it, or the host."),
    Head("start", ("launches",), "The GPU's cycle in which it began."),
    Head("end", ("launches",), "The GPU's cycle in which it ended."),
    Head("beside", ("launches",), "Cycles in which another launch ran at the same time."),
    Head("grid", ("launches",), "Blocks in x, y and z."),
    Head("block", ("launches",), "Threads of a block in x, y and z."),
    Head("regs", ("launches",), "Registers of a thread."),
    Head("shared", ("launches",), "Bytes of shared memory of a block."),
    Head("stream", ("launches",), "The stream that it was launched in; 0 is the default stream."),
    Head("priority", ("launches",), "Priority of its stream: the smaller number starts its blocks first."),
    Head("dependent", ("launches",), "Whether it may begin before the launch before it has ended."),
    Head("occupancy", ("launches",), "The share of an SM's warp slots that its blocks can fill."),
    Head("of_peak", ("launches",), "The resource whose throughput is nearest to its peak, and its share of that."),
    Head("due", ("launches",), "Samples that should have been taken: kept and dropped ones."),
    Head("kept", ("launches",), "Samples that are in the recording."),
    Head("dropped", ("launches",), "Samples that were lost to a full buffer."),
    Head("complete", ("launches",), "Whether the recording has its end."),
    Head("kernel", ("summary", "launches", "sweep"), "Name of the kernel."),
    Head("sampler", ("launches",), "Registers of the sampler that were other than the header says."),
    Head("place", ("launches",), "The line of the program that launched it."),
    Head("calls", ("api",), "How many calls there were."),
    Head("time", ("api",), "The host's time in them, in microseconds; in a pipe in nanoseconds."),
    Head("share", ("api",), "Their share of the time of all calls."),
    Head("waited", ("api",), "Of their time, what they waited for the GPU."),
    Head("mean", ("api",), "Time of a call, on average."),
    Head("least", ("api",), "Time of the shortest call."),
    Head("most", ("api",), "Time of the longest call."),
    Head("failed", ("api",), "Calls that gave an error."),
    Head("bytes", ("api",), "Bytes that were copied or filled."),
    Head("GB/s", ("api",), "Bytes by the host's time."),
    Head("call", ("api",), "Name of the function."),
    Head("direction", ("api",), "What copied: to the device, to the host, within the device; or a fill."),
    Head("place", ("api",), "Line of the program, and the function that it calls."),
    Head("task", ("launches",), "Names of the tasks that it belongs to, outermost first."),
    Head("error", ("samples",), "Sampled less exact share, in points of a percent."),
    Head("samples", ("samples", "quality"), "Number of samples."),
    Head("time", ("summary",), "Duration at the chip's clock."),
    Head("launches", ("summary",), "Number of launches."),
    Head("top stall", ("summary",), "The largest stall reason."),
    Head("period", ("quality",), "Sampling period in cycles."),
    Head("mix", ("quality",), "Error of the stall reasons' shares: half the sum of the differences."),
    Head("counted", ("quality",), "The same error when every sample counts as one."),
    Head("formula", ("quality",), "The same error of as many independent samples, by the formula."),
    Head("worst line", ("quality",), "Largest error of a line's share."),
    Head("ranked", ("quality",), "Share of the lines of 1 % and more that are at their right place."),
    Head("hottest", ("quality",), "Share of the recordings that find the hottest line."),
    Head("error of the mix", ("quality",), "The column `mix` as a bar."),
    Head("run", ("sweep",), "Number of the run, in the order of the plan."),
    Head("chip", ("sweep",), "The chip that it ran on. Columns beside it are the parameters that vary."),
    Head("within", ("sweep",), "How far the cycles may be off, since not all blocks were timed."),
    Head("us", ("sweep",), "Duration in microseconds at the chip's clock."),
    Head("speedup", ("sweep",), "How many times as fast as the first run."),
)  # fmt: skip

FACTS = (
    Head("time", ("summary",), "Duration of the launches, summed, at the chip's clock."),
    Head("launch", ("summary",), "Of the last launch: grid, block, registers of a thread, shared memory of a block."),
    Head("occupancy", ("summary",),
         "The share of the warp slots that were filled, and that could be; what sets the limit."),
    Head("issue", ("summary",), "The share of the schedulers' cycles in which they issued, while a block was there."),
    Head("throughput", ("summary",), "What it moved and computed in its time, beside the chip's peak."),
    Head("limits", ("summary",), "What limits it: a resource near its peak, idle SMs, a full unit, or latency."),
    Head("stalls", ("summary",), "The reasons that took most of the warps' cycles; `selected` is work, no stall."),
    Head("memory", ("summary",), "Sectors (32 bytes) that were asked for; how many times those of packed accesses."),
    Head("caches", ("summary",), "Hit rates of L1 and L2, and bytes that device memory moved."),
    Head("shared", ("summary",), "Passes through the banks of shared memory, and those that only conflicts make."),
    Head("hottest", ("summary",), "The lines with the largest exact shares."),
    Head("lengths", ("summary",), "How long the stalls of the hottest line are, for its largest reason."),
    Head("waited for", ("summary",), "The line that other lines wait for most, and how the waits mostly end."),
)  # fmt: skip


def titles_of(page: str) -> set[str]:
    return {head.name for head in COLUMNS if page in head.pages}


def named(name: str) -> Iterator[tuple[str, Head]]:
    """("column" or "fact", head) of this name: in any case, with spaces or underscores, with its dot or without."""
    wanted = _plain(name)
    for kind, heads in (("column", COLUMNS), ("fact", FACTS)):
        yield from ((kind, head) for head in heads if _plain(head.name) == wanted)


def _plain(name: str) -> str:
    return name.lower().replace("_", " ").rstrip(".")
