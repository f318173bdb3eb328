"""Draws, and groups of them: their work, how busy each block of the pipeline was, and which was the bottleneck."""

import json
import sqlite3
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from gpuprof.chips.draw_units import MEMORIES, SECTOR_NBYTES, most_nbytes
from gpuprof.tables.draws import DRAW_COUNT_NAMES

# Units and shader stages, in the order of the pipeline.
BLOCKS = (
    *("command", "fetch", "vertex", "hull", "tessellate", "domain", "geometry", "assembly"),
    *("setup", "scan", "depth", "pixel", "write"),
)


class Shaders(NamedTuple):
    """Launches of draws' shaders: those of some draws, as ranges of both ends, and of some stages; all where there are
    none of these. `text`: the option that names them.
    """

    text: str
    draws: tuple[tuple[int, int], ...] = ()
    stages: tuple[str, ...] = ()

    def among(self, database: sqlite3.Connection) -> Iterator[int]:
        """Their numbers."""
        for launch, draw, stage in database.execute("SELECT launch, draw, stage FROM draw_launches"):
            is_chosen = not self.draws or any(first <= draw <= last for first, last in self.draws)
            if is_chosen and (not self.stages or stage in self.stages):
                yield launch


Amount = TypeVar("Amount", int, float)


class Waves(NamedTuple):
    """The waves of one stage. `cycles`: sum of their times; `most`: the most that were in flight at a time."""

    number: int
    cycles: int
    most: int


class Work(NamedTuple):
    """A draw, or a group. start_cycle, end_cycle: None where no time is known. `busy` and `blocked`: cycles of
    fixed-function units; `waves`: by stage. `nbytes`: that units and shaders read and wrote in each of MEMORIES;
    `most_nbytes`: the most that these transfer in a cycle. Both are empty where unknown.
    """

    start_cycle: int | None
    end_cycle: int | None
    counts: dict[str, int]
    target_samples: int
    busy: dict[str, float]
    blocked: dict[str, float]
    waves: dict[str, Waves]
    nbytes: Mapping[str, int] = MappingProxyType({})
    most_nbytes: Mapping[str, float] = MappingProxyType({})

    @property
    def cycles(self) -> int | None:
        return None if self.start_cycle is None or self.end_cycle is None else self.end_cycle - self.start_cycle

    @property
    def fragments(self) -> int:
        """Pixels that were shaded, without helper lanes."""
        return 4 * self.counts["quads"] - self.counts["helpers"]

    @property
    def quad_efficiency(self) -> float | None:
        """Lanes of the pixel shader that a sample is covered for, of all in its quads; None where there are none."""
        return self.fragments / (4 * self.counts["quads"]) if self.counts["quads"] else None

    @property
    def overdraw(self) -> float:
        """Samples that passed all tests, for each sample of the target."""
        return self.counts["passed"] / self.target_samples

    @property
    def shares(self) -> dict[str, float]:
        """How much of its time each block was at work, in the order of the pipeline; none where no time is known.

        A fixed-function unit: its busy cycles. A shader stage: waves in flight, in the mean, of the most that were in
        flight at a time. So a stage is full as long as no wave of it could be there that was not.
        """
        if not self.cycles:
            return {}
        shares = {unit: cycles / self.cycles for unit, cycles in self.busy.items()}
        full = {stage: waves.most * self.cycles for stage, waves in self.waves.items()}
        shares |= {stage: self.waves[stage].cycles / cycles for stage, cycles in full.items() if cycles}
        return {block: shares[block] for block in BLOCKS if block in shares}

    @property
    def blocked_shares(self) -> dict[str, float]:
        """How much of its time each fixed-function unit was blocked; none where no time is known."""
        return {unit: cycles / self.cycles for unit, cycles in self.blocked.items()} if self.cycles else {}

    @property
    def memory_shares(self) -> dict[str, float]:
        """Bytes read and written, as a share of those that each of MEMORIES could have transferred in the time."""
        most = {name: per_cycle * self.cycles for name, per_cycle in self.most_nbytes.items()} if self.cycles else {}
        return {name: self.nbytes[name] / most[name] for name in MEMORIES if name in self.nbytes and most.get(name)}

    @property
    def bottleneck(self) -> str:
        """The block or memory with the largest share, the first of the pipeline where several have it, blocks before
        memories; "" where none is known.
        """
        shares = self.shares | self.memory_shares
        return max(shares, key=lambda name: shares[name], default="")


class Draw(NamedTuple):
    """`task`: its own; None where a run was stopped before it ended. `launches`: those of its shaders, with
    their stages. command_buffer: the name of the one that it is in, "" none; buffer_task: its task.
    """

    draw: int
    task: int | None
    number_of_pass: int
    buffer_task: int | None
    command_buffer: str
    name: str
    extent: tuple[int, int, int]  # of its targets: width, height, samples
    state_changes: int
    drains: bool
    launches: dict[int, str]
    work: Work


class Group(NamedTuple):
    """Draws that have a pass or a command buffer in common, and their work together."""

    draws: tuple[Draw, ...]
    work: Work


class Draws(NamedTuple):
    """All draws in the order asked, by pass, and by command buffer. `unfinished`: draws that something ended."""

    draws: tuple[Draw, ...] = ()
    passes: tuple[Group, ...] = ()
    command_buffers: tuple[Group, ...] = ()
    unfinished: int = 0


NO_DRAWS = Draws()


def read_draws(database: sqlite3.Connection, launches: set[int] | None = None) -> Draws:
    """The draws that have a shader's launch among `launches`; None: all, also those that launched none."""
    by_draw: dict[int, dict[int, str]] = {}
    for draw, launch, stage in database.execute("SELECT draw, launch, stage FROM draw_launches"):
        by_draw.setdefault(draw, {})[launch] = stage
    recorded = {draw for (draw,) in database.execute("SELECT draw FROM draws")}
    chosen = set(by_draw) if launches is None else {draw for draw, own in by_draw.items() if own.keys() & launches}
    _list(database, recorded if launches is None else chosen & recorded)
    busy, blocked = _units(database)
    waves, nbytes, most_nbytes = _waves(database, "d.draw"), _nbytes(database), _most_nbytes(database)
    names = (
        *("draw", "task", "pass", "command_buffer", "name", "state_changes", "drains"),
        *("width", "height", "samples", "start_cycle", "end_cycle"),
    )
    query = f"""
        SELECT {", ".join(f"d.{name}" for name in names)}, t.name, {", ".join(f"d.{name}" for name in DRAW_COUNT_NAMES)}
        FROM temp.draws_shown JOIN draws d USING (draw) LEFT JOIN tasks t ON t.task = d.command_buffer ORDER BY d.draw
    """
    draws = []
    for draw, task, of_pass, buffer_task, name, changes, drains, *facts in database.execute(query):
        *extent, start, end, buffer = facts[:6]
        counts = dict(zip(DRAW_COUNT_NAMES, facts[6:], strict=True))
        samples = extent[0] * extent[1] * extent[2]
        work = Work(
            *(start, end, counts, samples, busy.get(draw, {}), blocked.get(draw, {}), waves.get(draw, {})),
            *(nbytes.get(draw, {}), most_nbytes),
        )
        identity = (draw, task, of_pass, buffer_task, buffer or "", name, tuple(extent), changes, bool(drains))
        draws.append(Draw(*identity, by_draw.get(draw, {}), work))
    passes = _groups(draws, lambda draw: draw.number_of_pass, _waves(database, "d.pass"))
    in_buffers = [draw for draw in draws if draw.buffer_task is not None]
    buffers = _groups(in_buffers, lambda draw: draw.buffer_task, _waves(database, "d.command_buffer"))
    return Draws(tuple(draws), passes, buffers, len(chosen - recorded))


def _list(database: sqlite3.Connection, draws: Iterable[int]) -> None:
    """Lists draws in a temporary table: the file is not written to."""
    database.execute("PRAGMA temp_store = MEMORY")
    database.execute("DROP TABLE IF EXISTS temp.draws_shown")
    database.execute("CREATE TEMP TABLE draws_shown (draw INTEGER PRIMARY KEY)")
    database.executemany("INSERT INTO temp.draws_shown VALUES (?)", ((draw,) for draw in draws))


def _units(database: sqlite3.Connection) -> tuple[dict[int, dict[str, float]], dict[int, dict[str, float]]]:
    """Busy and blocked cycles, by draw and unit."""
    busy: dict[int, dict[str, float]] = {}
    blocked: dict[int, dict[str, float]] = {}
    query = "SELECT draw, unit, busy_cycles, blocked_cycles FROM temp.draws_shown JOIN draw_units USING (draw)"
    for draw, unit, busy_cycles, blocked_cycles in database.execute(query):
        busy.setdefault(draw, {})[unit] = busy_cycles
        blocked.setdefault(draw, {})[unit] = blocked_cycles
    return busy, blocked


def _nbytes(database: sqlite3.Connection) -> dict[int, dict[str, int]]:
    """Bytes of each of MEMORIES, by draw: what its units accessed, and the launches of its shaders."""
    query = """
        WITH parts AS (
            SELECT draw, l2_read_nbytes + l2_write_nbytes AS l2, dram_read_nbytes + dram_write_nbytes AS dram
            FROM temp.draws_shown JOIN draw_traffic USING (draw)
            UNION ALL
            SELECT draw, iif(metric = 'l2_sectors', ? * value, 0), iif(metric = 'l2_sectors', 0, value)
            FROM temp.draws_shown JOIN draw_launches USING (draw) JOIN launch_metrics USING (launch)
            WHERE metric IN ('l2_sectors', 'dram_read_nbytes', 'dram_write_nbytes')
        )
        SELECT draw, SUM(l2), SUM(dram) FROM parts WHERE draw IN (SELECT draw FROM draw_traffic) GROUP BY draw
    """
    return {
        draw: dict(zip(MEMORIES, numbers, strict=True)) for draw, *numbers in database.execute(query, (SECTOR_NBYTES,))
    }


def _most_nbytes(database: sqlite3.Connection) -> dict[str, float]:
    """The most bytes per cycle of the chip that the draws were timed on, for those of MEMORIES that are known."""
    row = database.execute("SELECT value FROM meta WHERE key = 'chip_json'").fetchone()
    return most_nbytes(json.loads(row[0]) or {}) if row else {}


def _waves(database: sqlite3.Connection, group: str) -> dict[Hashable, dict[str, Waves]]:
    """Waves by the value of `group`, an expression over a draw `d`, and by stage. A wave that ends in the
    cycle in which another begins is not in flight with it.
    """
    query = f"""
        WITH steps AS (
            SELECT {group} AS key, stage, w.start_cycle AS cycle, 1 AS step
            FROM temp.draws_shown JOIN draws d USING (draw) JOIN draw_waves w USING (draw)
            UNION ALL
            SELECT {group}, stage, w.end_cycle, -1
            FROM temp.draws_shown JOIN draws d USING (draw) JOIN draw_waves w USING (draw)
        ), flights AS (
            SELECT *, SUM(step) OVER (PARTITION BY key, stage ORDER BY cycle, step) AS number FROM steps
        )
        SELECT key, stage, SUM(step = 1), SUM(-step * cycle), MAX(number) FROM flights GROUP BY key, stage
    """
    by_key: dict[Hashable, dict[str, Waves]] = {}
    for key, stage, *numbers in database.execute(query):
        by_key.setdefault(key, {})[stage] = Waves(*numbers)
    return by_key


def _groups(
    draws: Sequence[Draw],
    key: Callable[[Draw], Hashable],
    waves: dict[Hashable, dict[str, Waves]],
) -> tuple[Group, ...]:
    """The draws grouped by `key`, in the order of the groups' first draws."""
    by_key: dict[Hashable, list[Draw]] = {}
    for draw in draws:
        by_key.setdefault(key(draw), []).append(draw)
    return tuple(
        Group(tuple(members), _together([draw.work for draw in members], waves.get(group_key, {})))
        for group_key, members in by_key.items()
    )


def _together(works: Sequence[Work], waves: dict[str, Waves]) -> Work:
    """Draws overlap: busy cycles of a unit, which has one item at a time, do not. Targets are the largest one."""
    timed = [work for work in works if work.cycles is not None]
    return Work(
        min((work.start_cycle for work in timed if work.start_cycle is not None), default=None),
        max((work.end_cycle for work in timed if work.end_cycle is not None), default=None),
        _sums([work.counts for work in works]),
        max(work.target_samples for work in works),
        _sums([work.busy for work in timed]),
        _sums([work.blocked for work in timed]),
        waves,
        _sums([work.nbytes for work in timed]),
        max((work.most_nbytes for work in works), key=len, default={}),
    )


def _sums(parts: Iterable[Mapping[str, Amount]]) -> dict[str, Amount]:
    sums: dict[str, Amount] = {}
    for amounts in parts:
        for name, amount in amounts.items():
            sums[name] = sums[name] + amount if name in sums else amount
    return sums
