"""The metrics of a launch: every exact count that a database has one of per launch, by name.

Each is a non-negative integer, and less is better. They come from the ledger, the counters and the timing model, never
from samples, so two runs of one program on one chip and model agree to the last digit.
"""

import sqlite3
from typing import NamedTuple

from gpuprof.base.cache_control import CacheControl, control_of
from gpuprof.isa.operations import TENSOR
from gpuprof.isa.stalls import REASONS
from gpuprof.tables.launch import COUNTERS, NUMBERS


class Metric(NamedTuple):
    """`sql`: an expression of one number for launch `l.launch`, NULL when it was not measured. `by_pc`: a query of
    launch, pc and value, where instructions have a share in it. `lines_by`: the metric whose growth, line by line,
    says where this one comes from; "" where no line does. `of_some`: launches of another sort have none.
    """

    name: str
    unit: str
    text: str
    sql: str
    by_pc: str = ""
    lines_by: str = ""
    of_some: bool = False


def _counted(name: str, unit: str, text: str, expression: str) -> Metric:
    sql = f"(SELECT SUM({expression}) FROM counters c WHERE c.launch = l.launch)"
    return Metric(name, unit, text, sql, f"SELECT launch, pc, {expression} FROM counters", name)


def _counter(name: str) -> Metric:
    """A column of the instructions' counters."""
    column = COUNTERS.column(name)
    return _counted(name, column.unit, column.text, name)


def _excess(name: str, unit: str, text: str) -> Metric:
    return _counted(f"{name}_excessive", unit, text, f"{name} - {name}_ideal")


def _value(name: str) -> str:
    return f"(SELECT value FROM launch_metrics m WHERE m.launch = l.launch AND metric = '{name}')"


def _number(name: str, lines_by: str = "") -> Metric:
    """A number of the launch."""
    column = NUMBERS.column(name)
    return Metric(name, column.unit, column.text, _value(name), lines_by=lines_by)


def _missed(cache: str, text: str) -> Metric:
    sql = f"{_value(f'{cache}_sectors')} - {_value(f'{cache}_hits')}"
    return Metric(f"{cache}_misses", "sectors", text, sql, lines_by="l2_sectors_global")


def _operations(name: str, text: str, *precisions: str) -> Metric:
    names = ", ".join(f"'{precision}'" for precision in precisions)
    sql = (
        f"(SELECT COALESCE(SUM(operations), 0) FROM operations o WHERE o.launch = l.launch AND precision IN ({names}))"
    )
    by_pc = f"SELECT launch, pc, SUM(operations) FROM operations WHERE precision IN ({names}) GROUP BY launch, pc"
    return Metric(f"operations_{name}", "operations", text, sql, by_pc, f"operations_{name}")


def _stall(number: int, name: str, text: str) -> Metric:
    sql = f"(SELECT COALESCE(SUM(cycles), 0) FROM ledger g WHERE g.launch = l.launch AND reason = {number})"
    by_pc = f"SELECT launch, pc, cycles FROM ledger WHERE reason = {number}"
    return Metric(f"warp_cycles_{name}", "warp-cycles", text, sql, by_pc, f"warp_cycles_{name}")


METRICS = (
    Metric("cycles", "cycles", "duration of the launch", "l.cycles", lines_by="warp_cycles"),
    _counter("inst_executed"),
    _counter("thread_inst_executed"),
    _counter("thread_inst_executed_pred_on"),
    _counter("divergent_branches"),
    _counter("l1_tag_requests_global"),
    _counter("l2_sectors_global"),
    _excess("l2_sectors_global", "sectors", "of these, sectors beyond those of packed accesses: uncoalesced access"),
    _counter("l2_sectors_local"),
    _counter("l1_wavefronts_shared"),
    _excess("l1_wavefronts_shared", "wavefronts", "of these, wavefronts beyond those without bank conflicts"),
    Metric(
        "dram_nbytes",
        "bytes",
        "bytes read from and written to DRAM",
        "(SELECT SUM(value) FROM launch_metrics m WHERE m.launch = l.launch AND metric IN ('dram_read_nbytes', "
        "'dram_write_nbytes'))",
        lines_by="l2_sectors_global",
    ),
    _number("dram_read_nbytes", "l2_sectors_global"),
    _number("dram_write_nbytes", "l2_sectors_global"),
    _missed("l1", "32-byte sectors that L1 requested from L2"),
    _missed("l2", "32-byte sectors that L2 requested from DRAM"),
    _operations("f64", "arithmetic operations of f64, without those of tensor pipes", "f64"),
    _operations("f32", "of f32", "f32"),
    _operations("f16", "of f16 and bf16, without those of tensor pipes", "f16", "bf16"),
    _operations("tensor", "of tensor pipes, of all precisions", *TENSOR),
    _number("l2_atomic_cycles"),
    _number("issue_slots", "inst_executed"),
    _number("tensor_busy_cycles", "inst_executed"),
    _number("registers"),
    _number("shared_nbytes"),
    _number("local_nbytes"),
    Metric(
        "draw_cycles",
        "cycles",
        "duration of the draw whose vertices the launch shades",
        "(SELECT d.end_cycle - d.start_cycle FROM draw_launches s JOIN draws d USING (draw) "
        "WHERE s.launch = l.launch AND s.stage = 'vertex')",
        lines_by="warp_cycles",
        of_some=True,
    ),
    Metric(
        "warp_cycles",
        "warp-cycles",
        "cycles of all resident warps, added up",
        "(SELECT SUM(cycles) FROM ledger g WHERE g.launch = l.launch)",
        "SELECT launch, pc, SUM(cycles) FROM ledger GROUP BY launch, pc",
        "warp_cycles",
    ),
    *(_stall(number, reason.name, reason.text) for number, reason in enumerate(REASONS)),
)
BY_NAME = {metric.name: metric for metric in METRICS}
OF_LINES = tuple(metric for metric in METRICS if metric.by_pc)
assert all(BY_NAME[metric.lines_by].by_pc for metric in METRICS if metric.lines_by)


def launch_values(database: sqlite3.Connection) -> dict[int, dict[str, int]]:
    """Launch -> metric -> value; a metric that was not measured is left out."""
    columns = ", ".join(f"CAST({metric.sql} AS INTEGER)" for metric in METRICS)
    rows = database.execute(f"SELECT l.launch, {columns} FROM launches l ORDER BY l.launch")
    return {
        launch: {metric.name: value for metric, value in zip(METRICS, values, strict=True) if value is not None}
        for launch, *values in rows
    }


def cache_controls(database: sqlite3.Connection) -> dict[int, CacheControl]:
    """By launch; those that are left out are measured as the program leaves the caches, once."""
    values: dict[int, dict[str, int | str]] = {}
    query = "SELECT launch, metric, value FROM launch_metrics WHERE metric IN ('cache', 'repeat')"
    for launch, name, value in database.execute(query):
        values.setdefault(launch, {})[name] = value
    return {launch: control_of(metrics) for launch, metrics in values.items()}


def read_repetitions(database: sqlite3.Connection) -> dict[int, tuple[int, ...]]:
    """Cycles of each timing of the launches that were timed several times."""
    cycles: dict[int, tuple[int, ...]] = {}
    for launch, each in database.execute("SELECT launch, cycles FROM repetitions ORDER BY launch, repetition"):
        cycles[launch] = (*cycles.get(launch, ()), each)
    return cycles
