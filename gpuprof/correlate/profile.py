"""Samples and ledger of a recording as the arrays that `thinning` compares."""

import sqlite3
from pathlib import Path

import numpy as np

from gpuprof.correlate.sample_counts import first_reasons
from gpuprof.correlate.sample_weights import weights
from gpuprof.correlate.thinning import Samples, Truth
from gpuprof.errors import FileFormatError, NotComparable
from gpuprof.isa.stalls import N_REASONS
from gpuprof.records.encoding import LaunchRows, is_count
from gpuprof.records.reader import read_recording
from gpuprof.records.sampling_registers import CYCLES, narrowed_by
from gpuprof.records.schema import Chunk
from gpuprof.tables.launch import LEDGER

THINNED_MODES = ("random", "all")  # the slot that round-robin looks at depends on the period


class Gathered:
    """Takes the sample chunks of the launches wanted; keeps 14 bytes of each record."""

    def __init__(self, launches: list[int], pcs: np.ndarray, line_of_pc: np.ndarray):
        self.registers: dict[int, dict] = {}  # of the launches that have samples
        self.has_cycles = True
        self._wanted, self._pcs, self._line_of_pc = set(launches), pcs, line_of_pc
        self._known: dict[int, dict] = {}
        self._parts: list[Samples] = []

    def begin(self, launch: int, registers: dict) -> None:
        self._known[launch] = registers

    def add(self, chunk: Chunk, payload: LaunchRows) -> None:
        if payload.launch not in self._wanted or not len(payload.rows):
            return
        self.registers[payload.launch] = registers = self._known[payload.launch]
        self.has_cycles &= "cycle" in payload.rows.dtype.names
        self._parts.append(samples_of(payload.rows, registers, self._pcs, self._line_of_pc))

    def samples(self, period_cycles: int) -> Samples:
        samples = Samples(*(np.concatenate(columns) for columns in zip(*self._parts, strict=True)))
        np.floor_divide(samples.turn, period_cycles, out=samples.turn)
        return samples


def read_profile(path: Path, database: sqlite3.Connection, launches: list[int]) -> tuple[Samples, Truth, int, bool]:
    """Samples and exact shares of these launches, the period, and whether longer periods can be had by thinning.

    `database` is the database of the same recording. Raises NotComparable when the launches have no samples or no
    ledger, or were not sampled alike, or by something other than time.
    """
    pcs, line_of_pc = lines_of(database)
    gathered = Gathered(launches, pcs, line_of_pc)
    recording = read_recording(path, gathered.add, gathered.begin)
    if not gathered.registers:
        raise NotComparable(f"{path}: no samples to compare; collect with --period, or with a shorter one")
    # A period that was searched for (--period auto) is known when the launch has ended.
    registers = common_registers(path, [recording.registers(launch) for launch in sorted(gathered.registers)])
    truth = truth_of([recording.launches[number].rows[LEDGER] for number in launches], pcs, line_of_pc)
    if truth is None:
        raise NotComparable(f"{path}: no ledger to compare the samples with: collect again")
    period_cycles = registers["period_cycles"]
    return (
        gathered.samples(period_cycles),
        truth,
        period_cycles,
        gathered.has_cycles and registers["mode"] in THINNED_MODES,
    )


def common_registers(path: Path, each_launch: list[dict]) -> dict:
    """The registers of all launches; raises NotComparable where they differ in what matters, or do not sample all
    warps' time.
    """
    first = each_launch[0]
    if not is_count(first["period_cycles"]):
        raise FileFormatError(
            f"{path}: a sampling period is {first['period_cycles']!r}, which is not a number of cycles"
        )
    if first.get("auto_period") and not first["period_cycles"]:
        raise NotComparable(f"{path}: it ends before --period auto found its period; collect again")
    for name in ("period_cycles", "mode", "phase_cycles", "partition", "filter", "trigger"):
        values = {str(registers.get(name, "")) for registers in each_launch}
        if len(values) > 1:
            raise NotComparable(
                f"{path}: launches were sampled with {name} {' and '.join(sorted(values))}: choose one with --launch"
            )
    narrowing = narrowed_by(first)
    if narrowing in ("mode", "trigger") or not first["period_cycles"]:
        raise NotComparable(
            f"{path}: mode {first['mode']} with trigger {first.get('trigger', CYCLES)} does not sample the warps' "
            "time, so the ledger is no measure of it"
        )
    if narrowing == "partition":
        raise NotComparable(
            f"{path}: only partition {first['partition']} of the SMs was sampled, but the ledger covers all partitions"
        )
    if narrowing:
        raise NotComparable(
            f"{path}: only samples of {first['filter']} were recorded, but the ledger covers the whole run"
        )
    return first


def lines_of(database: sqlite3.Connection) -> tuple[np.ndarray, np.ndarray]:
    """Code addresses, ascending, and the number of each one's line. The last number, of none of them, is for what lies
    elsewhere.
    """
    rows = database.execute("SELECT pc, COALESCE(source, -1), line FROM instructions ORDER BY pc").fetchall()
    numbers: dict[tuple, int] = {}
    lines = [numbers.setdefault(tuple(place), len(numbers)) for _, *place in rows]
    return np.array([pc for pc, *_ in rows], np.int64), np.array([*lines, len(numbers)], np.int64)


def line_numbers(pc: np.ndarray, pcs: np.ndarray, line_of_pc: np.ndarray) -> np.ndarray:
    at = np.searchsorted(pcs, pc.astype(np.int64))
    known = at < len(pcs)
    known[known] = pcs[at[known]] == pc[known]
    return line_of_pc[np.where(known, at, len(pcs))]


def samples_of(rows: np.ndarray, registers: dict, pcs: np.ndarray, line_of_pc: np.ndarray) -> Samples:
    """The samples of rows, with the cycle as `turn`, since the period need not be known yet. A sample without a weight
    counts for one.
    """
    weight = weights(rows, registers)
    cycle = rows["cycle"] if "cycle" in rows.dtype.names else np.zeros(len(rows), np.uint64)
    return Samples(
        line_numbers(rows["pc"], pcs, line_of_pc).astype(np.int32),
        first_reasons(rows["stall_sm"]).astype(np.uint8),
        cycle.astype(np.int64),
        np.ones(len(rows), np.uint8) if weight is None else weight.astype(np.uint8),
    )


def truth_of(ledgers: list[np.ndarray], pcs: np.ndarray, line_of_pc: np.ndarray) -> Truth | None:
    ledger = np.concatenate(ledgers) if ledgers else np.empty(0)
    if not len(ledger):
        return None
    cycles = ledger["cycles"].astype(float)
    lines = np.bincount(line_numbers(ledger["pc"], pcs, line_of_pc), cycles, int(line_of_pc[-1]) + 1)
    reasons = np.bincount(ledger["reason"], cycles, N_REASONS)
    return Truth(lines / cycles.sum(), reasons / cycles.sum())
