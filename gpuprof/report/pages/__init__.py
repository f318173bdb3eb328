"""The pages of `gpuprof report`: each is a row of PAGES and a file of this folder.

The table imports nothing, so that help is quick. A page's file has its renderings in every format as `PAGE`, a
`page.Page`.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    text: str  # what the page shows, for --help and docs/report.md
    file: str  # that has it, in this folder
    flags: tuple[str, ...] = ()  # of --source-lines, --isa, --task and --sort, those that go with it
    needs_cycles: bool = True  # there must be samples or a ledger


PAGES = {
    "summary": Entry(
        "each kernel's time, occupancy, stalls, memory, hottest lines, and what to look at first", "summary"
    ),
    "source": Entry("the annotated source, a line of code a row", "listings", ("--source-lines", "--isa")),
    "ptx": Entry("the annotated PTX", "listings"),
    "isa": Entry("the annotated instructions, by address", "listings"),
    "blame": Entry("what ended the stalls: for each line and reason, the line that was waited for", "blame"),
    "stalls": Entry("how many stalls each line has for each reason, and how long they are", "stalls", ("--isa",)),
    "launches": Entry("a row per launch: cycles, grid, block, occupancy, samples", "launches"),
    "api": Entry("CUDA API calls: count, duration, bytes moved, call site", "api", needs_cycles=False),
    "findings": Entry("what trace generators found, and what costs time, worst first", "findings", needs_cycles=False),
    "traces": Entry("the tables of trace generators", "traces", needs_cycles=False),
    "tasks": Entry("the tree of tasks: begin, duration, own cycles and those of the parts, hottest stall", "tasks"),
    "relations": Entry(
        "data flow between tasks, unused data, launches that could overlap; with --task, what a task or a buffer is "
        "related to",
        "relations",
        ("--task",),
    ),
    "timeline": Entry("a row of bars for each task, in time, with the longest chain of needs marked", "timeline"),
    "draws": Entry(
        "each draw's primitives, fragments, overdraw, busy blocks and bottleneck; sums by pass and command buffer",
        "draws",
        ("--sort",),
        needs_cycles=False,
    ),
    "samples": Entry("estimates from samples and the exact numbers, for each line and reason", "samples"),
}
