"""Budgets: limits to what a kernel may need, which hold without a baseline.

{"gemm_*": {"registers": "<=128", "spills": 0, "occupancy": ">=50%"}} ─ parse_budgets ─> Budgets
database, Budgets ─ measure_budgets ─> an outcome for each launch that a budget is about
"""

import json
import re
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from gpuprof.base.compared_results import ADVICE
from gpuprof.base.wording import extent_of, suggestion
from gpuprof.check.facts import LaunchFacts
from gpuprof.check.finding_kinds import why_unknown
from gpuprof.correlate.identity.launch_names import LaunchKey, launch_keys
from gpuprof.correlate.metrics import BY_NAME as METRICS, launch_values
from gpuprof.errors import NotComparable, UsageError
from gpuprof.isa.stalls import REASONS

_LIMIT = re.compile(r"\s*(?P<sign><=|>=)?\s*(?P<value>\d+(?:\.\d+)?)\s*(?P<percent>%)?\s*")
LANES = 32
FINDINGS = "findings"


class Measured(NamedTuple):
    """The numbers of a launch that budgets limit. `values`: its metrics; `numbers`: rows of launch_metrics that are
    numbers; `chip`: the chip's numbers.
    """

    values: Mapping[str, int]
    numbers: Mapping[str, float]
    chip: Mapping[str, Any]
    spill_nbytes: int
    n_threads: int  # of a block


class Quantity(NamedTuple):
    """`value`: of a launch, None where it was not measured. `lines_by`: the metric whose lines say where it comes from;
    "" where none does. `is_share`: it is a percentage.
    """

    name: str
    unit: str
    text: str
    value: Callable[[Measured], float | None]
    lines_by: str = ""
    is_share: bool = False


def _metric(name: str) -> Callable[[Measured], float | None]:
    return lambda launch: launch.values.get(name)


def _occupancy(launch: Measured) -> float | None:
    blocks, slots = launch.numbers.get("blocks_per_sm"), launch.chip.get("warp_slots")
    if blocks is None or not slots:
        return None
    return 100 * blocks * -(-launch.n_threads // LANES) / slots


def _microseconds(launch: Measured) -> float | None:
    cycles, clock_mhz = launch.values.get("cycles"), launch.chip.get("clock_mhz")
    return cycles / clock_mhz if cycles is not None and clock_mhz else None


def _share(metric: str) -> Callable[[Measured], float | None]:
    def share(launch: Measured) -> float | None:
        whole = launch.values.get("warp_cycles")
        return 100 * launch.values.get(metric, 0) / whole if whole else None

    return share


def _of_stall(name: str, text: str) -> Quantity:
    metric = f"warp_cycles_{name}"
    return Quantity(f"stall.{name}", "%", f"share of warp-cycles: {text}", _share(metric), metric, is_share=True)


OWN = (
    Quantity("spills", "bytes", "local memory of a thread that holds spilled registers", lambda it: it.spill_nbytes,
             "l2_sectors_local"),
    Quantity("occupancy", "%", "warp slots of an SM that the launch's blocks can fill", _occupancy, is_share=True),
    Quantity("time_us", "us", "duration of the launch at the chip's clock", _microseconds, "warp_cycles"),
    Quantity("bank_conflicts", "wavefronts", "passes through the banks of shared memory beyond those without conflicts",
             _metric("l1_wavefronts_shared_excessive"), "l1_wavefronts_shared_excessive"),
    Quantity("excess_sectors", "sectors", "sectors of global memory beyond those of packed accesses",
             _metric("l2_sectors_global_excessive"), "l2_sectors_global_excessive"),
    *(_of_stall(reason.name, reason.text) for reason in REASONS),
)  # fmt: skip
QUANTITIES = {
    each.name: each
    for each in (*OWN, *(Quantity(m.name, m.unit, m.text, _metric(m.name), m.lines_by) for m in METRICS.values()))
}

# What counts findings, for lists.
OF_FINDINGS = (
    (FINDINGS, "findings", "findings of trace generators and checkers in the launch, without advice"),
    (f"{FINDINGS}.KIND", "findings", "findings of one kind of `gpuprof list findings`, advice too"),
)


class Budget(NamedTuple):
    """`kernel`: a pattern of the kernel's name, with or without its template arguments, or of the launch. `name`: a
    quantity, findings, or findings.KIND. `sign`: "<=" or ">=". `text`: as "registers <=128".
    """

    kernel: str
    name: str
    sign: str
    limit: float
    text: str

    def is_met_by(self, value: float) -> bool:
        return value <= self.limit if self.sign == "<=" else value >= self.limit

    def is_about(self, launch: LaunchKey) -> bool:
        kernel = launch.kernel
        return any(fnmatchcase(name, self.kernel) for name in (kernel, kernel.partition("<")[0], str(launch)))


class BudgetOutcome(NamedTuple):
    """The value that a budget limits, of a launch. `place`: the line that has the most of it, "path:line"; "" where no
    line does.
    """

    budget: Budget
    launch: LaunchKey
    value: float
    place: str = ""

    @property
    def is_met(self) -> bool:
        return self.budget.is_met_by(self.value)

    @property
    def value_text(self) -> str:
        """The value with its unit, where the name does not say it: "25 %", "96 bytes"."""
        unit = QUANTITIES[self.budget.name].unit if self.budget.name in QUANTITIES else "findings"
        if unit == "%":
            return f"{self.value:.1f} %"
        return f"{self.value:,.10g}" if unit == self.budget.name else f"{self.value:,.10g} {unit}"


def parse_budgets(table: Mapping[str, Any]) -> tuple[Budget, ...]:
    """Budgets by pattern of kernels. Raises UsageError for a quantity, a kind or a limit that is none."""
    return tuple(
        _budget(kernel, name, limit) for kernel, limits in table.items() for name, limit in _flat(kernel, limits)
    )


def _flat(kernel: str, limits: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Names with their limits: TOML makes a table of each part of stall.long_scoreboard."""
    if not isinstance(limits, dict):
        raise UsageError(f'budgets of {kernel!r}: expected a table, as in {{ registers = "<=128", spills = 0 }}')
    for name, limit in limits.items():
        if isinstance(limit, dict):
            yield from _flat(kernel, limit, f"{prefix}{name}.")
        else:
            yield prefix + name, limit


def _budget(kernel: str, name: str, limit: Any) -> Budget:
    where = f"budget of {kernel!r}"
    kind = name.partition(".")[2] if name.partition(".")[0] == FINDINGS else ""
    if name not in QUANTITIES and name != FINDINGS and not kind:
        near = suggestion(name, (*QUANTITIES, FINDINGS)) or "`gpuprof list budgets` has what can be limited"
        raise UsageError(f"{where}: {name!r} is nothing that has a budget; {near}")
    if kind and (reason := why_unknown(kind)):
        raise UsageError(f"{where}: {name}: {reason}")
    match = _LIMIT.fullmatch(str(limit)) if not isinstance(limit, bool) else None
    is_share = name in QUANTITIES and QUANTITIES[name].is_share
    if match is None or bool(match["percent"]) > is_share:
        example = ">=50%" if name == "occupancy" else "<=30%" if is_share else "<=128"
        raise UsageError(f'{where}: {name} = {limit!r} is no limit; give one as in {name} = "{example}"')
    if name == "occupancy" and not match["sign"]:
        raise UsageError(f'{where}: occupancy = {limit!r} has no sign; say "<={limit}" or ">={limit}"')
    sign = match["sign"] or "<="
    return Budget(kernel, name, sign, float(match["value"]), f"{name} {sign}{match['value']}{match['percent'] or ''}")


def measure_budgets(
    database: sqlite3.Connection, budgets: Sequence[Budget], launches: Mapping[LaunchKey, LaunchFacts]
) -> list[BudgetOutcome]:
    """An outcome for each budget and launch that it is about, in the order of the budgets. `launches`: the facts, for
    the lines. Raises NotComparable for what was not measured.
    """
    if not budgets:
        return []
    measured = _measured(database)
    keys = [(launch, key) for launch, key, *_ in launch_keys(database)]
    found = _findings(database)
    return [
        _outcome(budget, key, measured[launch], found.get(launch, ()), launches.get(key))
        for budget in budgets
        for launch, key in keys
        if budget.is_about(key)
    ]


def unmatched(budgets: Sequence[Budget], launches: Collection[LaunchKey]) -> list[str]:
    """The patterns that no launch has."""
    patterns = dict.fromkeys(budget.kernel for budget in budgets if not any(map(budget.is_about, launches)))
    return list(patterns)


def _outcome(
    budget: Budget,
    key: LaunchKey,
    launch: Measured,
    findings: Sequence[tuple[str, str, str]],
    facts: LaunchFacts | None,
) -> BudgetOutcome:
    if budget.name not in QUANTITIES:
        kind = budget.name.partition(".")[2]
        counted = [each for each in findings if (each[0] == kind if kind else each[1] != ADVICE)]
        return BudgetOutcome(budget, key, len(counted), counted[0][2] if counted else "")
    quantity = QUANTITIES[budget.name]
    value = quantity.value(launch)
    if value is None:
        raise NotComparable(f"{key}: {budget.name} was not measured, so the budget {budget.text!r} cannot be checked")
    return BudgetOutcome(budget, key, value, _costliest_place(facts, quantity.lines_by) if facts else "")


def _costliest_place(facts: LaunchFacts, metric: str) -> str:
    lines = [(cost.values.get(metric, 0), cost.place) for cost in facts.lines.values()]
    most, place = max(lines, key=lambda line: line[0], default=(0, ""))
    return place if most else ""


def _measured(database: sqlite3.Connection) -> dict[int, Measured]:
    (text,) = database.execute("SELECT value FROM meta WHERE key = 'chip_json'").fetchone()
    chip = json.loads(text)
    numbers: dict[int, dict[str, float]] = {}
    for launch, name, value in database.execute("SELECT launch, metric, value FROM launch_metrics"):
        if isinstance(value, int | float):
            numbers.setdefault(launch, {})[name] = value
    values = launch_values(database)
    query = "SELECT launch, spill_nbytes, block FROM launches JOIN functions USING (function)"
    return {
        launch: Measured(values[launch], numbers.get(launch, {}), chip, spill_nbytes, _product(block))
        for launch, spill_nbytes, block in database.execute(query)
    }


def _product(extent: str) -> int:
    x, y, z = extent_of(extent)
    return x * y * z


def _findings(database: sqlite3.Connection) -> dict[int, list[tuple[str, str, str]]]:
    """Kind, severity and place of each finding, by launch."""
    place = (
        "(SELECT path || ':' || line FROM instructions i JOIN sources USING (source) WHERE i.pc = f.pc AND line > 0)"
    )
    found: dict[int, list[tuple[str, str, str]]] = {}
    query = f"SELECT launch, kind, severity, COALESCE({place}, '') FROM findings f ORDER BY finding"
    for launch, *row in database.execute(query):
        found.setdefault(launch, []).append(tuple(row))
    return found
