"""Launches that were timed again: changes, and advice."""

from gpuprof.tables.table import KEY, LAUNCH, Column, Table

# Kinds of changes that show what a place costs. They cannot be had.
NOT_TO_BE_HAD = frozenset(("free", "sooner", "perfect_l1", "perfect_l2"))
_PLACE = (
    Column("place", "text", "", "FILE:N, loop at FILE:N-M, or kernel"),
    Column("path", "text", "", "path of the source, '': no line"),
    Column("line", "integer", "", "line of the source, of a loop its first one, 0: none"),
)
_CYCLES = (
    Column("cycles_before", "integer", "cycles", "cycles of the launch as it is; of `launches` those of all launches"),
    Column("cycles_after", "integer", "cycles", "cycles with the change, measured by the same model"),
)
ADVICE = Table(
    "advice",
    "advice with measured gains, by gpuprof advise: the largest gain of a kernel first",
    (
        Column("launch", "integer", "", "launch of the kernel that was timed again", LAUNCH, parent="launches"),
        Column("rank", "integer", "", "place of the piece among those of its kernel, from 1 on", KEY),
        Column("topic", "text", "", "what it is about, as docs/advice.md lists it"),
        *_PLACE,
        Column("evidence", "text", "", "what was counted"),
        Column("change", "text", "", "what to do"),
        Column("sketch", "text", "", "the same in names of the kernel; '': none"),
        Column("refuted_by", "text", "", "what would show it to be wrong"),
        Column("intervention", "text", "", "what stood for the change in the measurement, as docs/whatif.md lists it"),
        *_CYCLES,
    ),
    grain="launch rank",
    since=12,
)
WHATIF = Table(
    "whatif",
    "changes of a launch, each timed on the same emulation, by gpuprof whatif",
    (
        Column("launch", "integer", "", "launch that was timed again", LAUNCH, parent="launches"),
        Column("row", "integer", "", "number of the row, in the order found", KEY),
        Column("kind", "text", "", "what was changed, as docs/whatif.md lists it"),
        Column("sooner_cycles", "integer", "cycles", "of a curve: by how much results came sooner; 0: no curve"),
        *_PLACE,
        *_CYCLES,
        Column("bound_cycles", "integer", "cycles", "cycles that the ledger charges to what was changed"),
        Column("moved_to", "text", "", "the largest stall reasons with the change, as JSON: [[name, share], ...]"),
    ),
    grain="launch row",
    since=12,
)
