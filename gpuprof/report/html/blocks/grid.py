"""Costs by stream, task, kernel and call path, to be grouped in any order."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from gpuprof.base.wording import base_name
from gpuprof.correlate.counts import Counters
from gpuprof.correlate.frames import Position
from gpuprof.report.html.block import Columns, PageTable, by_column
from gpuprof.report.html.blocks.stalls import term_of
from gpuprof.report.html.profile_block import Profile
from gpuprof.tables.table import Column

RUNS = (
    Column("stream", "int", "", "0 is the default stream."),
    Column("task", "text", "", "Names of the tasks, outermost first, joined by /; empty outside any."),
    Column("kernel", "int", "", "Row of `kernels`."),
    Column("launches", "int", "", "Launches of this kernel in this stream and task."),
    Column("cycles", "int", "cycles", "Their durations, summed."),
)
PATHS = (
    Column("function", "text", "", "The function whose line it is, inlined or not."),
    Column("path", "text", "", "The calls that lead there, inlined ones: the outermost function first."),
)
CELLS = (
    Column("run", "int", "", "Row of `runs`."),
    Column("path", "int", "", "Row of `paths`."),
    Column("term", "int", "", "Row of `terms`."),
    Column("cycles", "int", "warp-cycles", "Exact, from the ledger."),
    Column("samples", "int", "samples", "That hit it."),
)
SUMMED = ("inst_executed", "l2_sectors_global", "l2_sectors_global_ideal", "l1_wavefronts_shared",
          "l1_wavefronts_shared_ideal", "l2_sectors_local")  # fmt: skip
assert set(SUMMED) <= set(Counters._fields)
WORKS = (
    Column("run", "int", "", "Row of `runs`."),
    Column("path", "int", "", "Row of `paths`."),
    *(Column(name, "int", "", "A counter: see `counters` in gpudb.md.") for name in SUMMED),
)
RUN_OF = "CREATE TEMP TABLE run_of (launch INTEGER PRIMARY KEY, run INTEGER NOT NULL)"
COSTS = "SELECT run, pc, reason, SUM(c.{value}) FROM temp.run_of CROSS JOIN {table} c USING (launch) GROUP BY 1, 2, 3"
COUNTS = "SELECT run, pc, {sums} FROM temp.run_of CROSS JOIN counters USING (launch) GROUP BY 1, 2"


class Grid:
    """Costs of the launches of a profile's report. `runs`: (stream, task, kernel) to [launches, cycles]; `cells`: (run,
    path, term) to [cycles, samples]; `works`: (run, path) to the counters of SUMMED.
    """

    def __init__(self, profile: Profile):
        self.profile = profile
        self.runs: dict[tuple[int, str, int], list[int]] = {}
        self.paths: dict[tuple[str, str], int] = {}
        self.cells: dict[tuple[int, int, int], list[int]] = {}
        self.works: dict[tuple[int, int], list[int]] = {}
        self._place: dict[tuple[int, int], int] = {}
        self._list_runs()
        self._kernel_of = [kernel for _, _, kernel in self.runs]
        self._add_costs(0, "ledger", "cycles")
        self._add_costs(1, "samples", "samples")
        self._add_counts()

    def _list_runs(self) -> None:
        rows, numbers = [], {}
        for number, kernel in enumerate(self.profile.report.kernels):
            for launch in kernel.launches:
                run = launch.stream, launch.task, number
                sums = self.runs.setdefault(run, [0, 0])
                sums[0] += 1
                sums[1] += launch.cycles
                rows.append((launch.launch, numbers.setdefault(run, len(numbers))))
        database = self.profile.database
        database.execute("DROP TABLE IF EXISTS temp.run_of")
        database.execute(RUN_OF)
        database.executemany("INSERT INTO temp.run_of VALUES (?, ?)", rows)

    def _add_costs(self, place: int, table: str, value: str) -> None:
        terms = term_of(self.profile)
        for run, pc, reason, cost in self.profile.database.execute(COSTS.format(table=table, value=value)):
            if cost:
                self.cells.setdefault((run, self._path(run, pc), terms[reason]), [0, 0])[place] += cost

    def _add_counts(self) -> None:
        sums = ", ".join(f"SUM({name})" for name in SUMMED)
        for run, pc, *counts in self.profile.database.execute(COUNTS.format(sums=sums)):
            if any(counts):
                works = self.works.setdefault((run, self._path(run, pc)), [0] * len(SUMMED))
                works[:] = map(int.__add__, works, counts)

    def _path(self, run: int, pc: int) -> int:
        kernel = self._kernel_of[run]
        if (kernel, pc) not in self._place:
            _, instruction = self.profile.instructions[self.profile.places[kernel, pc]]
            path = path_of(instruction.positions)
            self._place[kernel, pc] = self.paths.setdefault(path, len(self.paths))
        return self._place[kernel, pc]


@lru_cache(maxsize=1)
def grid_of(profile: Profile) -> Grid:
    """Four tables are filled from it, one after the other."""
    return Grid(profile)


def path_of(positions: Sequence[Position]) -> tuple[str, str]:
    """The function of the innermost line, and the path to it with the line of each call: "sum > at (sum.cu:14)"."""
    calls = [f"{inner.function} ({base_name(site.path)}:{site.line})" for inner, site in pairwise(positions)]
    return positions[0].function, " > ".join([positions[-1].function, *reversed(calls)])


def run_columns(profile: Profile) -> Columns:
    return by_column(RUNS, ((*run, *sums) for run, sums in grid_of(profile).runs.items()))


def path_columns(profile: Profile) -> Columns:
    return by_column(PATHS, grid_of(profile).paths)


def cell_columns(profile: Profile) -> Columns:
    return by_column(CELLS, ((*key, *costs) for key, costs in sorted(grid_of(profile).cells.items())))


def work_columns(profile: Profile) -> Columns:
    return by_column(WORKS, ((*key, *counts) for key, counts in sorted(grid_of(profile).works.items())))


TABLES = (
    PageTable("runs", "Launches of one kernel in one stream and task, together.", RUNS, run_columns),
    PageTable("paths", "Where code is: a function, and the calls that lead there.", PATHS, path_columns),
    PageTable("cells", "What code cost in each run, by stall reason.", CELLS, cell_columns),
    PageTable("works", "What code did in each run.", WORKS, work_columns),
)
