"""The rules, and what they make of launches: rows of `findings` whose severity is `advice`."""

import sqlite3
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from gpuprof.base.compared_results import ADVICE
from gpuprof.base.wording import percent0
from gpuprof.correlate.advice.access_advice import LOCAL_SHARE, bank_conflicts, local_memory, uncoalesced
from gpuprof.correlate.advice.kernel_costs import Advised, Measured, read_measured, read_waited
from gpuprof.correlate.advice.lane_lists import block_lanes, divergence
from gpuprof.correlate.advice.repeated_work import repeated_work
from gpuprof.correlate.findings import Found


class Rule(NamedTuple):
    """A finding's kind is its function's name. `explain`: the stall reason to read about, "" none; `counts` and
    `costs`: what the numbers of its findings are.
    """

    look: Callable[[Measured], Iterator[Advised]]
    text: str
    explain: str
    counts: str
    costs: str

    @property
    def name(self) -> str:
        return self.look.__name__


CONFLICTS = "stalls that the line's accesses ended, where their lanes took more of them than need be"
RULES = (
    Rule(repeated_work, "Lanes of a warp that load the same words and store to one place: they compute the same.", "",
         "stores of all lanes of a warp but one", "the cycles of the kernel that one lane of them would not take"),
    Rule(uncoalesced, "Accesses to global memory that ask for more sectors than packed ones would, by the line with "
         "the most excess sectors; only where the kernel waits for memory.", "long_scoreboard",
         "sectors beyond the ideal", CONFLICTS),
    Rule(bank_conflicts, "Accesses to shared memory that take more passes through the banks than they need, and that "
         "something waits for. The padding is tried out on the lanes' addresses that were seen.", "short_scoreboard",
         "wavefronts beyond the ideal", CONFLICTS),
    Rule(local_memory, f"Spills and arrays in local memory with more than {percent0(LOCAL_SHARE)} of the memory "
         "sectors.", "lg_throttle", "sectors of local memory", "stalls that accesses to local memory ended"),
    Rule(block_lanes, "Blocks that do not fill their warps: no multiple of 32 threads.", "", "lanes without a thread",
         "not known"),
    Rule(divergence, "Lines that run with few of the lanes that a warp has, since branches split it.",
         "branch_resolving", "executions that idle lanes miss", "all cycles of warps at the line"),
)  # fmt: skip
BY_NAME = {rule.name: rule for rule in RULES}
NOBODY = ""  # the generator of a finding that no generator made


def advise(database: sqlite3.Connection, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Findings about these launches, or all: of each kernel over all of its launches, costliest first. `launch` is the
    longest one.
    """
    for function, launches in _launches_of(database, wanted).items():
        kernel = read_measured(database, function, launches)
        if kernel.cycles:  # a launch that was cut off has no ledger
            longest = max(kernel.facts.shapes, key=lambda shape: (shape.cycles, -shape.launch)).launch
            advice = [(rule.name, each) for rule in RULES for each in rule.look(kernel)]
            advice.sort(key=lambda each: -(each[1].cost_cycles or 0))
            yield from (_found(longest, kind, advised) for kind, advised in advice)


def _launches_of(database: sqlite3.Connection, wanted: Collection[int] | None) -> dict[int, list[int]]:
    """By function, the kernel with the most cycles first."""
    launches: dict[int, list[int]] = {}
    cycles: dict[int, int] = {}
    for launch, function, n in database.execute("SELECT launch, function, cycles FROM launches ORDER BY launch"):
        if wanted is None or launch in wanted:
            launches.setdefault(function, []).append(launch)
            cycles[function] = cycles.get(function, 0) + n
    return {function: launches[function] for function in sorted(launches, key=lambda each: (-cycles[each], each))}


def _found(launch: int, kind: str, advised: Advised) -> Found:
    text, pc, count, cost_cycles = advised
    nowhere = dict.fromkeys(("other_pc", "block", "warp", "thread", "address"))
    return Found(launch, NOBODY, kind, ADVICE, text, pc, **nowhere, allocation="", count=count, cost_cycles=cost_cycles)


def fill_costs(database: sqlite3.Connection) -> None:
    """Gives advice of trace generators its cost: the stalls of the launch that the instruction ended."""
    query = "SELECT finding, launch, pc FROM findings WHERE severity = ? AND pc IS NOT NULL AND cost_cycles IS NULL"
    by_launch: dict[int, list[tuple[int, int]]] = {}
    for finding, launch, pc in database.execute(query, (ADVICE,)):
        by_launch.setdefault(launch, []).append((finding, pc))
    for launch, findings in by_launch.items():
        if waited := read_waited(database, [launch]):  # the recording says what ended the stalls
            costs = [(waited[pc].cycles if pc in waited else 0, finding) for finding, pc in findings]
            database.executemany("UPDATE findings SET cost_cycles = ? WHERE finding = ?", costs)
