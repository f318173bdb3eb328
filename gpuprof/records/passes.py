"""Passes: recordings of the same launches, sampled by other seeds and at other phases.

Where each looked for its own period (`--period auto`) they may have found different ones. All are powers of two times
the same shortest one, and what a sampler draws depends only on the cycle: so the samples of those with shorter periods
are thinned to the longest, to what a pass with that period would have recorded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpuprof.errors import FileFormatError, NotComparable
from gpuprof.records.index import Index
from gpuprof.records.reader import FOUND_PERIOD, Launch, found_period
from gpuprof.tables.launch import LOSSES
from gpuprof.tables.samples import WIDE, losses_of_none
from gpuprof.tables.table import CYCLE, SUM, Table

OF_A_PASS = ("seed", "phase_cycles", "passes", "pass_seeds")  # registers in which passes may differ
MOST_OF_A_CYCLE = 1 << 18  # rows: the chips there can be have 1024 SMs of 128 warps
NOTHING = np.empty(0, WIDE.dtype)
COUNTED = ("samples_due", "samples_kept", "samples_dropped")  # fields of LEND that add up


@dataclass(frozen=True)
class Passes:
    """Recordings of one run, of the same launches."""

    indexes: tuple[Index, ...]

    @property
    def first(self) -> Index:
        return self.indexes[0]

    @property
    def sampling(self) -> dict[str, Any]:
        """The first one's registers; where there are several passes, how many, and each one's seed and phase."""
        seeds = [seed for index in self.indexes for seed in pass_seeds(index)]
        sampling = self.first.meta["sampling"]
        return sampling | {"passes": len(seeds), "pass_seeds": " ".join(seeds)} if len(seeds) > 1 else sampling

    def launch_end(self, number: int) -> dict[str, Any]:
        """The fields of the LEND chunk."""
        ends = [self._end(index, number) for index in self.indexes]
        counted = {name: sum(end[name] for end in ends) for name in COUNTED}
        end: dict[str, Any] = ends[0] | counted | {"buffer_full": any(end["buffer_full"] for end in ends)}
        period = self.found_period(number)
        return end | {"counters": end["counters"] | {FOUND_PERIOD: period}} if period else end

    def _end(self, index: Index, number: int) -> dict[str, Any]:
        """Counts of LEND for the samples of a pass that stay. A pass that found its period has lost none."""
        end = index.launches[number].end
        assert end is not None
        if not self._is_thinned(index, number):
            return end
        n = sum(int(rows["due"].sum()) for rows in self._losses(index, number))
        return end | {"samples_due": n, "samples_kept": n}

    def found_period(self, number: int) -> int | None:
        """The longest that a pass has found for a launch; None where none looked for one."""
        return max(filter(None, (found_period(index.launches[number]) for index in self.indexes)), default=None)

    def _is_thinned(self, index: Index, number: int) -> bool:
        return found_period(index.launches[number]) != self.found_period(number)

    def _rows(self, index: Index, number: int, table: Table) -> Iterator[np.ndarray]:
        """The rows of a pass in a table, which has cycles if they are to be thinned."""
        if not self._is_thinned(index, number):
            return index.read_rows(number, table)
        phases = [int(seed.partition("+")[2]) for seed in pass_seeds(index)]
        period = self.found_period(number)
        return (rows[np.isin(rows["cycle"] % period, phases)] for rows in index.read_rows(number, table))

    def _losses(self, index: Index, number: int) -> Iterator[np.ndarray]:
        """Rows of LOSSES of a pass."""
        if not self._is_thinned(index, number):
            return index.read_rows(number, LOSSES)
        return map(losses_of_none, self._rows(index, number, WIDE))

    def losses(self, number: int) -> np.ndarray:
        """Rows of LOSSES: a row for each SM that any pass has one for."""
        each = [rows for index in self.indexes for rows in self._losses(index, number)]
        rows = np.concatenate(each or [np.empty(0, LOSSES.dtype)])
        sms, place = np.unique(rows["sm"], return_inverse=True)
        total = np.zeros(len(sms), LOSSES.dtype)
        total["sm"] = sms
        for name in LOSSES.names(SUM):
            np.add.at(total[name], place, rows[name])
        return total

    def sampled(self, number: int, table: Table) -> Iterator[np.ndarray]:
        """The rows of a launch from all passes: ordered by cycle, then pass, where rows have a cycle; otherwise pass by
        pass.
        """
        each = [self._rows(index, number, table) for index in self.indexes]
        if "cycle" in table.names(CYCLE):
            return by_cycle(each, str(self.first.path))
        return (rows for pass_ in each for rows in pass_)


def pass_seeds(index: Index) -> list[str]:
    """Seed and phase of each pass in a recording: "0+0"."""
    sampling = index.meta["sampling"]
    return str(sampling.get("pass_seeds", f"{sampling.get('seed', 0)}+{sampling.get('phase_cycles', 0)}")).split()


def grouped(indexes: Sequence[Index]) -> list[Passes]:
    """The runs, in the order of their first passes. Raises NotComparable for recordings that cannot be in one file."""
    runs: list[list[Index]] = []
    for index in indexes:
        _check_comparable(indexes[0], index)
        same = next((run for run in runs if _same_run(run[0], index)), None)
        if same is None:
            runs.append([index])
        else:
            _check_new(same, index)
            _check_periods(same[0], index)
            same.append(index)
    return [Passes(tuple(run)) for run in runs]


def by_cycle(streams: Sequence[Iterator[np.ndarray]], name: str) -> Iterator[np.ndarray]:
    """Rows of several streams, each ascending by `cycle`, as one such; of one cycle, an earlier stream's come first.

    Memory holds a chunk of each. `name` is for the FileFormatError that is raised where cycles run backwards.
    """
    ahead = [_Ahead(stream, name) for stream in streams]
    while ahead := [each for each in ahead if len(each.rows)]:
        open_ended = [each for each in ahead if each.more]
        # Rows that a stream has not given yet are of its last cycle here, or later. Before the first of those cycles
        # all rows are there.
        bound = min((each.rows["cycle"][-1] for each in open_ended), default=None)
        ready = np.concatenate([each.take(bound) for each in ahead])
        if len(ready):
            yield ready[np.argsort(ready["cycle"], kind="stable")]
        for each in open_ended:
            if not len(each.rows) or each.rows["cycle"][-1] == bound:
                each.load()


class _Ahead:
    """The rows of a stream that have been read and not given away; `more` may come."""

    def __init__(self, stream: Iterator[np.ndarray], name: str):
        self._stream, self._name = (rows for rows in stream if len(rows)), name
        self.rows = next(self._stream, NOTHING)
        self.more = len(self.rows) > 0
        self._check()

    def load(self) -> None:
        rows = next(self._stream, None)
        self.more = rows is not None
        if rows is not None:
            self.rows = np.concatenate([self.rows, rows])
            self._check()

    def take(self, bound: int | None) -> np.ndarray:
        """The rows before cycle `bound`; all for None."""
        n = len(self.rows) if bound is None else int(np.searchsorted(self.rows["cycle"], bound))
        taken, self.rows = self.rows[:n], self.rows[n:]
        return taken

    def _check(self) -> None:
        cycle = self.rows["cycle"]
        if (cycle[1:] < cycle[:-1]).any() or (len(cycle) > MOST_OF_A_CYCLE and cycle[0] == cycle[-1]):
            raise FileFormatError(f"{self._name}: the cycles of its samples do not ascend")


def _check_comparable(first: Index, second: Index) -> None:
    """Raises NotComparable for another chip, model or way of sampling."""
    both = f"{first.path} and {second.path}"
    if first.chip != second.chip:
        raise NotComparable(
            f"{both}: recorded on {first.meta['chip']} and "
            f"{second.meta['chip']}{_difference(first.chip, second.chip)}; cycles would not "
            "compare"
        )
    if first.meta["model_version"] != second.meta["model_version"]:
        versions = f"{first.meta['model_version']} and {second.meta['model_version']}"
        raise NotComparable(f"{both}: recorded by models {versions}; collect one of them again")
    ours, theirs = _registers(first.meta["sampling"]), _registers(second.meta["sampling"])
    for name in sorted(ours.keys() | theirs.keys()):
        if ours.get(name) != theirs.get(name):
            raise NotComparable(
                f"{both}: sampled with {name} {ours.get(name, 'the default')} and "
                f"{theirs.get(name, 'the default')}; samples "
                "would not add up"
            )


def _difference(first: dict, second: dict) -> str:
    """The first number that differs between two chips of one name, as words; "" for two names."""
    if first.get("name") != second.get("name"):
        return ""
    return (
        ", with another "
        f"{next(name for name in sorted(first.keys() | second.keys()) if first.get(name) != second.get(name))}"
    )


def _registers(sampling: dict) -> dict:
    return {name: value for name, value in sampling.items() if name not in OF_A_PASS}


def _same_run(first: Index, second: Index) -> bool:
    return (
        first.modules == second.modules
        and first.sources == second.sources
        and first.launches.keys() == second.launches.keys()
        and all(_same_launch(launch, second.launches[number]) for number, launch in first.launches.items())
        and first.draws == second.draws
        and _exact_rows(first) == _exact_rows(second)
    )


def _same_launch(first: Launch, second: Launch) -> bool:
    return _begin(first) == _begin(second) and _end(first) == _end(second)


def _begin(launch: Launch) -> dict:
    """The fields of LNCH that passes share: trace generators change nothing of the run."""
    own = {name: value for name, value in launch.begin.items() if name != "traces"}
    return own | {"sampling": _registers(launch.begin.get("sampling", {}))}


def _end(launch: Launch) -> dict | None:
    if not launch.end:
        return launch.end
    counters = {name: value for name, value in launch.end["counters"].items() if name != FOUND_PERIOD}
    return {name: value for name, value in launch.end.items() if name not in (*COUNTED, "buffer_full")} | {
        "counters": counters
    }


def _exact_rows(index: Index) -> dict[int, dict[bytes, bytes]]:
    return {
        launch: {type_: digest.digest() for type_, digest in digests.items()}
        for launch, digests in index.digests.items()
    }


def _check_periods(first: Index, second: Index) -> None:
    """Raises NotComparable where samples would have to be thinned and have no cycle."""
    if first.meta["sampling"].get("record") != "compact":
        return
    for number, launch in first.launches.items():
        ours, theirs = found_period(launch), found_period(second.launches[number])
        if ours != theirs:
            raise NotComparable(
                f"{first.path} and {second.path}: --period auto found {ours} cycles and {theirs} for launch {number}, "
                "but "
                "compact records have no cycle to thin them by; record wide ones, or give --period "
                f"{max(ours or 0, theirs or 0)}"
            )


def _check_new(run: list[Index], index: Index) -> None:
    """Raises NotComparable for a pass that is there already: its samples would count twice."""
    for other in run:
        for seed in set(pass_seeds(other)) & set(pass_seeds(index)):
            number, _, phase = seed.partition("+")
            raise NotComparable(
                f"{index.path} and {other.path}: the same launches, sampled with the same seed {number} and phase "
                f"{phase}, so the samples are the same, too; replay one of them with another --seed or --phase"
            )
