"""Counters of each launch in a database, as plain arrays: its work, which is the same on every chip, and its waits on
the reference chip.
"""

import json
import sqlite3
from dataclasses import dataclass

import numpy as np

from gpuprof.chips import Chip
from gpuprof.chips.model import LINE_NBYTES, described
from gpuprof.errors import NotComparable, UsageError
from gpuprof.isa.opcodes import BY_NAME
from gpuprof.isa.row import Opcode
from gpuprof.predict.registers import Instruction, Reads, reads_of
from gpuprof.predict.reuse_profile import COLUMNS, NO_REUSE, Reuse, assumed, counted, reused, together

MANY_LINES = 1 << 40
AGAIN = "record it by `gpuprof collect --counters blocks` of this version"
NEEDED = (
    *("warps_launched", "l1_sectors", "l1_hits", "l2_sectors", "l2_hits"),
    *("dram_read_nbytes", "dram_write_nbytes"),
)  # metrics


@dataclass(frozen=True)
class Executed:
    """float64 arrays, one element per instruction that the launch executed: sums over its warps."""

    pc: np.ndarray  # int64
    op: np.ndarray  # int64, index in LaunchCounters.ops
    warps: np.ndarray  # executions
    slots: np.ndarray  # issue slots on the reference chip
    lanes: np.ndarray
    lines: np.ndarray  # requested 128-byte lines of global memory
    sectors: np.ndarray  # 32-byte sectors of global and local memory
    shared: np.ndarray  # wavefronts of shared memory
    even: np.ndarray  # words of the register file that one execution reads from the bank of even registers
    odd: np.ndarray
    even_left: np.ndarray  # those of them that are not in the reuse cache after the previous instruction
    odd_left: np.ndarray
    wavefronts: np.ndarray  # passes of global accesses through the banks
    tag_passes: np.ndarray
    tag_lookups: np.ndarray
    conflicts: np.ndarray  # of atomics: most lanes on one word, summed over executions
    partial_sectors: np.ndarray  # that stores fill in part
    partial_requests: np.ndarray  # lines of such stores


@dataclass(frozen=True)
class Waits:
    """float64 arrays, one element per (instruction, reason, cause): the waits of warps on the reference chip."""

    waiting: np.ndarray  # int64, index in Executed of the instruction that waited; -1: none of these
    cause: np.ndarray  # int64, index of the instruction that ended the wait
    reason: np.ndarray  # int64, isa.stalls
    kind: np.ndarray  # int64, isa.causes
    cycles: np.ndarray  # warp-cycles
    count: np.ndarray


@dataclass(frozen=True)
class LaunchCounters:
    launch: int
    kernel: str
    stream: int
    blocks: int
    threads: int  # of a block
    registers: int  # of a thread
    shared_nbytes: int  # of a block, without what the system reserves
    cycles: int  # on the reference chip
    start_cycle: int
    end_cycle: int
    warps: int
    atomic_lines: int  # lines that are written, at most
    metrics: dict[str, float]
    footprint_lines: float  # distinct lines; 0 where they were not counted
    reuse: Reuse  # loads and stores, all SMs and the previous launches as one stream
    reuse_before: Reuse  # of the previous launches
    reuse_of_blocks: Reuse  # loads of each block by itself
    ops: tuple[Opcode, ...]
    executed: Executed
    waits: Waits
    is_counted: bool  # its accesses, if any, were counted by `collect --counters blocks`


def reference_chip(database: sqlite3.Connection) -> Chip:
    """The chip that the recording was made on. Raises NotComparable for a profile of a real card, for which some
    numbers of a chip file are unknown.
    """
    (text,) = database.execute("SELECT value FROM meta WHERE key = 'chip_json'").fetchone()
    try:
        return described(json.loads(text), "the reference chip")
    except UsageError as error:
        raise NotComparable(f"predictions need all numbers of the chip: {error}; {AGAIN}") from None


def read_counters(database: sqlite3.Connection) -> list[LaunchCounters]:
    rows = database.execute(
        "SELECT launch, kernel, stream, grid, block, f.registers, f.shared_nbytes + dynamic_shared_nbytes, cycles, "
        "start_cycle, end_cycle FROM launches JOIN functions f USING (function) ORDER BY launch"
    ).fetchall()
    launches, before = [], NO_REUSE
    for row in rows:
        launches.append(_launch(database, before, *row))
        before = together(before, launches[-1].reuse)
    return launches


def is_complete(database: sqlite3.Connection) -> bool:
    """True if the recording reached its end."""
    return database.execute("SELECT value FROM meta WHERE key = 'complete'").fetchone() == ("1",)


def again(database: sqlite3.Connection) -> str:
    """The advice for a recording that lacks something: how to record it again."""
    if not is_complete(database):
        return "the recording was stopped early: record it to its end"
    if database.execute("SELECT 1 FROM launches WHERE complete = 0").fetchone():
        return "a fault ended launches early: fix it and record again"
    return AGAIN


def _launch(db, before, launch, kernel, stream, grid, block, registers, shared, cycles, start, end) -> LaunchCounters:  # noqa: PLR0913  # a value for each number that a launch has
    metrics = {
        name: value
        for name, value in db.execute("SELECT metric, value FROM launch_metrics WHERE launch = ?", (launch,))
        if not isinstance(value, str)
    }
    for name in NEEDED:
        if name not in metrics:
            raise NotComparable(f"predictions need {name} of each launch, and launch {launch} has none; {again(db)}")
    executed, ops = _executed(db, launch)
    if metrics["warps_launched"] < 1 or not ops:
        raise NotComparable(
            f"predictions need what each launch executed, and launch {launch} has nothing of it; {AGAIN}"
        )
    index_of_pc = {pc: index for index, pc in enumerate(executed.pc.tolist())}
    threads = int(np.prod([int(n) for n in block.split(",")]))
    blocks = int(np.prod([int(n) for n in grid.split(",")], dtype=np.int64))
    return LaunchCounters(
        launch,
        kernel,
        stream,
        blocks,
        threads,
        registers,
        shared,
        cycles,
        start,
        end,
        int(metrics["warps_launched"]),
        _written_lines(db, launch),
        metrics,
        float(reused(db, launch, "launch").lines.sum()),
        reused(db, launch, "device"),
        before,
        reused(db, launch, "block"),
        ops,
        executed,
        _waits(db, launch, index_of_pc),
        not metrics["l1_sectors"] + metrics["l2_sectors"] or bool(counted(db, launch)),
    )


def _executed(db, launch) -> tuple[Executed, tuple[Opcode, ...]]:
    rows = db.execute(
        "SELECT c.pc, i.opcode, c.inst_executed, COALESCE(l.cycles, 0), c.thread_inst_executed_pred_on, "
        "c.l1_tag_requests_global, c.l2_sectors_global + c.l2_sectors_local, c.l1_wavefronts_shared, "
        "c.l2_sectors_global_ideal, i.text, f.registers FROM counters c JOIN instructions i USING (pc) "
        "JOIN functions f USING (function) "
        "LEFT JOIN ledger l ON l.launch = c.launch AND l.pc = c.pc AND l.reason = 0 WHERE c.launch = ? ORDER BY c.pc",
        (launch,),
    ).fetchall()
    names = sorted({row[1] for row in rows})
    for name in names:
        if name not in BY_NAME:
            raise NotComparable(f"launch {launch} has an instruction {name!r} that this version does not know")
    number = {name: index for index, name in enumerate(names)}
    pcs, opcodes, *columns = list(zip(*rows, strict=True)) if rows else [()] * 11
    *columns, texts, registers = columns
    warps, slots, lanes, lines, sectors, shared, ideal = (np.array(column, float) for column in columns)
    code = [Instruction(BY_NAME[name], *rest) for name, *rest in zip(opcodes, texts, registers, strict=True)]
    reads = np.array(reads_of(code), float).reshape(-1, len(Reads._fields)).T
    by_name = assumed(warps, lanes, lines, sectors, ideal)
    known = counted(db, launch)
    for index, pc in enumerate(pcs):
        for name, value in zip(COLUMNS, known.get(pc, ()), strict=False):
            by_name[name][index] = value
    ops = np.array([number[name] for name in opcodes], np.int64)
    executed = Executed(np.array(pcs, np.int64), ops, warps, slots, lanes, lines, sectors, shared, *reads, **by_name)
    return executed, tuple(BY_NAME[name] for name in names)


def _written_lines(db, launch) -> int:
    """Lines that a launch writes, at most; MANY_LINES if the accesses of tasks were not observed."""
    (nbytes,) = db.execute(
        "SELECT SUM(end - first) FROM accesses_by_task JOIN tasks USING (task) WHERE launch = ? AND is_write = 1",
        (launch,),
    ).fetchone()
    return MANY_LINES if nbytes is None else max(1, -(-nbytes // LINE_NBYTES))


def _waits(db, launch, index_of_pc) -> Waits:
    rows = db.execute(
        "SELECT pc, cause_pc, reason, kind, SUM(cycles), SUM(stalls) FROM causes WHERE launch = ? "
        "GROUP BY pc, cause_pc, reason, kind ORDER BY pc, cause_pc, reason, kind",
        (launch,),
    ).fetchall()
    columns = list(zip(*rows, strict=True)) if rows else [()] * 6
    return Waits(
        np.array([index_of_pc.get(pc, -1) for pc in columns[0]], np.int64),
        np.array([index_of_pc.get(pc, -1) for pc in columns[1]], np.int64),
        np.array(columns[2], np.int64),
        np.array(columns[3], np.int64),
        np.array(columns[4], float),
        np.array(columns[5], float),
    )
