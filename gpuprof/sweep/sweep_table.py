"""A sweep as one table: a row per launch of each run, in the order of the plan, or one row that says why the run
failed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gpuprof.base.wording import plural
from gpuprof.chips.changes import Value
from gpuprof.chips.fidelity.sentence import line, sentence
from gpuprof.correlate.metrics import METRICS
from gpuprof.sweep.run_sweep import Measured, Outcome, versions
from gpuprof.sweep.sweep_parameters import Parameter
from gpuprof.sweep.sweep_plan import Plan, Run
from gpuprof.tables.table import Column
from gpuprof.timing.state.model_version import MODEL_VERSION

NOT_RUN = "not run: interrupted"


BEFORE = (
    Column("run", "integer", "", "number of the run, in the order of the plan"),
    Column("chip", "text", "", "the chip whose numbers the run starts from"),
)
AFTER = (
    Column("launch", "integer", "", "number of the launch in its run; NULL for a run that failed"),
    Column("kernel", "text", "", "name as written in the source"),
    Column("grid", "text", "blocks", "x,y,z"),
    Column("block", "text", "threads", "x,y,z"),
    Column("clock_mhz", "real", "MHz", "core clock of the run's chip"),
    Column("microseconds", "real", "us", "cycles at that clock"),
    Column("speedup", "real", "", "time of the same launch in the first run that did not fail, divided by this one's"),
    Column(
        "cycles_within", "real", "%", "bound of the cycles' error when only some blocks were timed; NULL when all were"
    ),
    Column("cache", "text", "", "what the caches held: cold (nothing), warm (what one launch like it leaves), keep"),
    Column("model_version", "text", "", "of the timing model"),
    Column("fidelity", "text", "", "how far the model's numbers of the run's chip can be trusted"),
    Column("error", "text", "", "why the run failed; NULL when it did not"),
)
MEASURED = tuple(Column(metric.name, "integer", metric.unit, metric.text) for metric in METRICS)


@dataclass(frozen=True)
class SweepTable:
    """`rows` hold a value per column, None where nothing was measured. `parameters` are those that were swept. `meta`
    says what made it.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value | None, ...], ...]
    parameters: tuple[Parameter, ...]
    meta: Mapping[str, str]

    def records(self) -> Iterator[dict[str, Value | None]]:
        """Each row as column -> value."""
        names = [column.name for column in self.columns]
        return (dict(zip(names, row, strict=True)) for row in self.rows)

    def trust(self) -> list[str]:
        """How far the numbers can be trusted: a line for each chip, and, when blocks were left out, one for all."""
        chips: dict[str, set[str]] = {}
        for record in self.records():
            if record["fidelity"]:
                chips.setdefault(record["fidelity"], set()).add(record["chip"])
        lines = [f"{', '.join(sorted(names))}: {line(text)}" for text, names in chips.items()]
        bounds = [record["cycles_within"] for record in self.records() if record["cycles_within"] is not None]
        if bounds:
            lines.append(
                f"{plural(len(bounds), 'launch', 'launches')} extrapolated from part of the blocks: cycles within "
                f"{max(bounds):.1f} %"
            )
        return lines

    def caches(self) -> list[str]:
        """The ways in which the launches were measured, each once."""
        return list(dict.fromkeys(str(record["cache"]) for record in self.records() if record["cache"]))

    def failures(self) -> list[dict[str, Value | None]]:
        return [record for record in self.records() if record["error"] is not None]


def build_table(plan: Plan, planned: Sequence[Run], outcomes: Mapping[int, Outcome]) -> SweepTable:
    """`outcomes` by the run's number; a run without one was not run."""
    swept = tuple(Column(p.column, type_of(p), p.unit, p.meaning) for p in plan.parameters)
    found = [(run, outcomes.get(run.number) or Outcome(run.number, (), NOT_RUN)) for run in planned]
    first = next(((run, outcome) for run, outcome in found if not outcome.error), None)
    start = _times(*first) if first else {}
    rows = tuple(row for run, outcome in found for row in _rows(run, outcome, start))
    meta = {
        "file": plan.file.name,
        "seed": str(plan.seed),
        **{what.replace(" ", "_"): version for what, version in versions().items()},
    }
    return SweepTable((*BEFORE, *swept, *AFTER, *MEASURED), rows, plan.parameters, meta)


def type_of(parameter: Parameter) -> str:
    if not parameter.is_numeric:
        return "text"
    return "integer" if all(isinstance(value, int) for value in parameter.values) else "real"


def _rows(run: Run, outcome: Outcome, start: Mapping[tuple, float]) -> Iterator[tuple[Value | None, ...]]:
    head = (run.number, run.chip.name, *run.values)
    trust = (MODEL_VERSION, sentence(run.chip, MODEL_VERSION))
    if outcome.error:
        yield (
            *head,
            None,
            None,
            None,
            None,
            run.chip.clock_mhz,
            None,
            None,
            None,
            None,
            *trust,
            outcome.error,
            *(None for _ in MEASURED),
        )
    for launch in outcome.launches:
        time = _time(run, launch)
        before = start.get((launch.launch, launch.kernel))
        speedup = round(before / time, 4) if before and time else None
        within = None if launch.cycles_error is None else round(100 * launch.cycles_error, 2)
        facts = (
            launch.launch,
            launch.kernel,
            launch.grid,
            launch.block,
            run.chip.clock_mhz,
            round(time, 6),
            speedup,
            within,
            launch.control,
        )
        yield (*head, *facts, *trust, None, *(launch.metrics.get(column.name) for column in MEASURED))


def _times(run: Run, outcome: Outcome) -> dict[tuple, float]:
    return {(launch.launch, launch.kernel): _time(run, launch) for launch in outcome.launches}


def _time(run: Run, launch: Measured) -> float:
    """Microseconds."""
    return launch.metrics["cycles"] / run.chip.clock_mhz


def describe_run(record: Mapping[str, Value | None], parameters: Iterable[Parameter]) -> str:
    """ "run 3 (a100, TILE=64)" """
    return (
        f"run {record['run']} "
        f"({', '.join([str(record['chip']), *(f'{p.name}={record[p.column]}' for p in parameters)])})"
    )
