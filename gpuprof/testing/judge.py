"""Judges the runs of a test: against a baseline or an older revision, and by budgets.

runs, Expected ─ judge ─> Judgement: rows of the table, lines of the report, a baseline to write

The runs of a test are one list of launches, in the order they ran: the n-th launch of a kernel and shape counts over
all of them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from gpuprof.check.baseline import baseline_lines, read_baseline
from gpuprof.check.budgets import BudgetOutcome, measure_budgets
from gpuprof.check.compare import Comparison, compare
from gpuprof.check.entry import text_report
from gpuprof.check.facts import Facts, measure
from gpuprof.check.requirements import measure_requirements, outcome_lines
from gpuprof.correlate.database import reading
from gpuprof.correlate.identity.launch_names import LaunchKey, title
from gpuprof.errors import GpuprofError, NotComparable
from gpuprof.isa.printing.printable import printable
from gpuprof.testing.mark import Expected
from gpuprof.testing.run import Run

MAX_LINES = 5  # of a launch, the costliest, where there is nothing to compare with
WORST_FIRST = (
    *("regressed", "over budget", "findings", "missing", "not comparable"),
    *("improved", "new", "same", "written", "measured"),
)
NOT_COMPARABLE = "not comparable"
# Sentences of gpuprof name its own options.
WORDS = (("`gpuprof check --against", "`pytest --gpuprof-against"), (" --update", " --gpuprof-update"))
INDENT = " " * 13  # of a line below a launch, as in check.render


class Row(NamedTuple):
    """A kernel of a test. `before`: its cycles in the baseline, None where it has none there."""

    kernel: str
    cycles: int
    before: int | None
    verdict: str


@dataclass
class Judgement:
    """`failure`: the lines of why the test fails, empty where it does not. `baseline`: the text to write, "" for
    none.
    """

    rows: list[Row] = field(default_factory=list)
    failure: list[str] = field(default_factory=list)
    baseline: str = ""


class Old(NamedTuple):
    """The other side of a comparison. `read`: gives its facts, None where all launches are new; `name`: in messages;
    `hint`: the command that writes it again, if one does.
    """

    name: str
    read: Callable[[], Facts | None]
    hint: str


def baseline_of(path: Path, name: str, hint: str) -> Old:
    """`name`: of the file, as it is shown. `hint`: the command that writes it."""

    def read() -> Facts:
        if not path.exists():
            raise NotComparable(f"{name}: there is no baseline yet")
        return read_baseline(path)

    return Old(name, read, hint)


def judge(runs: Sequence[Run], expected: Expected, old: Old | None, *, update: bool = False) -> Judgement:
    """With `update` the baseline is written and not compared with; budgets and findings count all the same."""
    try:
        parts = [measured(run, expected) for run in runs]
        facts = joined([part.facts for part in parts])
    except GpuprofError as error:
        return Judgement([Row("", 0, None, NOT_COMPARABLE)], [in_pytest(str(error))])
    keys = renumbered([part.facts for part in parts])
    over = list(over_budget(parts, keys))
    judgement = Judgement(failure=[*(line for _, line in over), *(line for part in parts for line in part.broken)])
    verdicts = dict.fromkeys(facts.launches, "measured")
    comparison: Comparison | None = None
    if old and update:
        judgement.baseline = "" if judgement.failure else "".join(baseline_lines(facts))
        verdicts = dict.fromkeys(facts.launches, "written" if judgement.baseline else "measured")
    elif old:
        try:
            before = old.read()
            comparison = compare(before, facts, expected.rules) if before else None
            verdicts = verdicts_of(comparison) if comparison else dict.fromkeys(facts.launches, "new")
            judgement.failure = [*failing_lines(comparison, old), *judgement.failure]
        except GpuprofError as error:
            verdicts = dict.fromkeys(facts.launches, NOT_COMPARABLE)
            judgement.failure = [in_pytest(str(error)), *hint_lines("write it with", old), *judgement.failure]
    found = [key for part, of_whole in zip(parts, keys, strict=True) if part.broken for key in of_whole.values()]
    for verdict, launches in (("findings", found), ("over budget", [key for key, _ in over])):
        verdicts |= {key: verdict for key in launches if is_worse(verdict, verdicts[key])}
    judgement.rows = list(rows_of(facts, verdicts, comparison))
    return judgement


class Measured(NamedTuple):
    """A run: its facts, its budgets, and the lines on requirements that it breaks."""

    facts: Facts
    outcomes: list[BudgetOutcome]
    broken: list[str]


def measured(run: Run, expected: Expected) -> Measured:
    """Raises NotComparable where nothing was measured, or findings are limited and no trace generator has watched."""
    with reading(run.database) as database:
        facts = measure(database, run.recording)
        outcomes = measure_budgets(database, expected.budgets, facts.launches)
        required = [each for each in measure_requirements(database, expected.requirements) if not each.is_met]
    found = run.findings[:MAX_LINES] if required else ()
    lines = (f"{INDENT}{each.place}  {each.severity}: {each.text}" for each in found)
    return Measured(facts, outcomes, [*outcome_lines(required), *lines])


def renumbered(parts: Sequence[Facts]) -> list[dict[LaunchKey, LaunchKey]]:
    """For each part the keys of its launches in the whole, which counts them over all parts."""
    seen = Counter()
    keys: list[dict[LaunchKey, LaunchKey]] = []
    for part in parts:
        keys.append({})
        for key in part.launches:
            seen[key.name] += 1
            keys[-1][key] = LaunchKey(key.name, seen[key.name])
    return keys


def joined(parts: Sequence[Facts]) -> Facts:
    """Facts one after the other. Raises NotComparable for none, and for those of several chips."""
    if not parts:
        raise NotComparable("the test collected nothing, so there is nothing to judge")
    first = parts[0]
    chips = {tuple(part.origin[name] for name in ("chip", "chip_sha256", "model")) for part in parts}
    if len(chips) > 1:
        raise NotComparable(
            f"the runs of the test have several chips ({', '.join(sorted(chip for chip, *_ in chips))}); a test is "
            "judged on one, so write one test for each, as with @pytest.mark.parametrize"
        )
    # A program and a kernel as text have different hosts, a kernel of Triton and one of CUDA C++ different compilers.
    words = {name: {word for part in parts for word in part.origin[name].split(", ")} for name in first.origin}
    launches = {
        keys[key]: launch
        for part, keys in zip(parts, renumbered(parts), strict=True)
        for key, launch in part.launches.items()
    }
    return Facts(first.tool, {name: ", ".join(sorted(each)) for name, each in words.items()}, launches)


def over_budget(
    parts: Sequence[Measured], keys: Sequence[dict[LaunchKey, LaunchKey]]
) -> Iterator[tuple[LaunchKey, str]]:
    """The launches that are over a budget, with the lines that say so."""
    for part, of_whole in zip(parts, keys, strict=True):
        for each in part.outcomes:
            if not each.is_met:
                launch = of_whole[each.launch]
                name = title(launch, part.facts.launches[each.launch].shader_of)
                limit = each.budget.text.removeprefix(each.budget.name).strip()
                place = f", most at {each.place}" if each.place else ""
                yield launch, f"budget     {name}: {each.budget.name} {each.value_text}, budget {limit}{place}"


def verdicts_of(comparison: Comparison) -> dict[LaunchKey, str]:
    return {launch.key: launch.verdict for launch in comparison.launches} | {
        launch.key: "new" for launch in comparison.added
    }


def before_of(comparison: Comparison) -> dict[LaunchKey, int]:
    """The cycles of the baseline's launches, by the launches that they are compared with."""
    return {
        launch.key: change.old
        for launch in comparison.launches
        for change in launch.changes
        if change.name == "cycles" and change.old is not None
    }


def failing_lines(comparison: Comparison | None, old: Old) -> list[str]:
    """The report of a comparison that fails a test; empty where it does not."""
    if comparison is None or not (
        comparison.with_verdict("regressed") or comparison.missing or not comparison.launches
    ):
        return []
    return [
        *map(in_pytest, text_report(comparison)),
        f"against {old.name}",
        *hint_lines("if this is intended", old),
    ]


def in_pytest(text: str) -> str:
    """A sentence of gpuprof with the options of pytest."""
    for word, other in WORDS:
        text = text.replace(word, other)
    return printable(text, keep="\n")


def hint_lines(when: str, old: Old) -> list[str]:
    return [f"{when}: {old.hint}"] if old.hint else []


def rows_of(facts: Facts, verdicts: dict[LaunchKey, str], comparison: Comparison | None) -> Iterator[Row]:
    """One row a kernel: cycles are those of its launches, added up; the verdict is the worst."""
    before = before_of(comparison) if comparison else {}
    missing = dict.fromkeys(single.key.kernel for single in (comparison.missing if comparison else ()))
    for kernel in dict.fromkeys([*(key.kernel for key in facts.launches), *missing]):
        keys = [key for key in facts.launches if key.kernel == kernel]
        cycles = sum(facts.launches[key].metrics.get("cycles", 0) for key in keys)
        is_known = bool(keys) and all(key in before for key in keys)
        found = [verdicts[key] for key in keys] + (["missing"] if kernel in missing else [])
        verdict = min(found, key=WORST_FIRST.index)
        yield Row(kernel, cycles, sum(before[key] for key in keys) if is_known else None, verdict)


def is_worse(verdict: str, other: str) -> bool:
    return WORST_FIRST.index(verdict) < WORST_FIRST.index(other)


def costly_lines(runs: Iterable[Run]) -> Iterator[str]:
    """The costliest lines of each launch: what a failed assertion on its numbers is about."""
    for run in runs:
        with reading(run.database) as database:
            facts = measure(database, run.recording)
        for key, launch in facts.launches.items():
            metrics = launch.metrics
            numbers = f"{metrics.get('cycles', 0)} cycles, {metrics.get('registers', 0)} registers"
            yield f"{title(key, launch.shader_of)}: {numbers}"
            total = metrics.get("warp_cycles") or 1
            costly = sorted(launch.lines.items(), key=lambda item: -item[1].warp_cycles)[:MAX_LINES]
            for line, cost in costly:
                share = f"{100 * cost.warp_cycles / total:.1f} %"
                yield f"{INDENT}{cost.place}  {cost.warp_cycles} warp-cycles ({share})  {line.text}"
        yield f"gpuprof report {run.recording}"
