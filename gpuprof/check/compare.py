"""Facts against a baseline's facts: a pure function."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gpuprof.check.facts import Facts, LaunchFacts, LaunchKey, LineCost, LineKey, is_costly
from gpuprof.check.rules import Rule
from gpuprof.correlate.metrics import METRICS
from gpuprof.errors import NotComparable


class Change(NamedTuple):
    """A metric, in the baseline and now."""

    metric: str
    old: int
    new: int

    @property
    def delta(self) -> int:
        return self.new - self.old

    @property
    def percent(self) -> float | None:
        """None when there was nothing to begin with."""
        return 100 * self.delta / self.old if self.old else None


class LineChange(NamedTuple):
    """A source line's warp-cycles. `old` is None where the baseline leaves the line out, `new` where it is gone."""

    line: LineKey
    place: str  # "path:line" now; the file when the line is gone
    old: int | None
    new: int | None

    @property
    def delta(self) -> int:
        return (self.new or 0) - (self.old or 0)


class Crossing(NamedTuple):
    """A rule that a change exceeds, upwards or downwards."""

    rule: Rule
    change: Change


@dataclass(frozen=True)
class LaunchComparison:
    key: LaunchKey
    changes: tuple[Change, ...]  # in the order of METRICS; those that are zero in both left out
    lines: tuple[LineChange, ...]  # costlier now first, by how much; unchanged lines left out
    regressions: tuple[Crossing, ...]
    improvements: tuple[Crossing, ...]

    @property
    def verdict(self) -> str:
        return "regressed" if self.regressions else "improved" if self.improvements else "same"


@dataclass(frozen=True)
class Comparison:
    launches: tuple[LaunchComparison, ...]
    missing: tuple[LaunchKey, ...]  # in the baseline, not measured now
    added: tuple[LaunchKey, ...]  # measured now, not in the baseline
    rules: tuple[Rule, ...]

    def with_verdict(self, verdict: str) -> list[LaunchComparison]:
        return [launch for launch in self.launches if launch.verdict == verdict]


def compare(old: Facts, new: Facts, rules: Sequence[Rule]) -> Comparison:
    """`old` is the baseline. Raises NotComparable when chip, model, compiler or gpuprof differ, or a rule's metric was
    not measured.
    """
    check_origin(old, new)
    common = sorted(old.launches.keys() & new.launches.keys())
    return Comparison(
        tuple(compare_launch(key, old.launches[key], new.launches[key], rules) for key in common),
        tuple(sorted(old.launches.keys() - new.launches.keys())),
        tuple(sorted(new.launches.keys() - old.launches.keys())),
        tuple(rules),
    )


def check_origin(old: Facts, new: Facts) -> None:
    # The tool too: another version's headers, register allocation and scheduling make other instructions of the same
    # source.
    was, now = {"gpuprof": old.tool, **old.origin}, {"gpuprof": new.tool, **new.origin}
    different = [f"{name} {was[name]!r} -> {now[name]!r}" for name in was if was[name] != now[name]]
    if different:
        raise NotComparable(f"the baseline is not comparable: {'; '.join(different)}; write a new one with --update")


def compare_launch(key: LaunchKey, old: LaunchFacts, new: LaunchFacts, rules: Sequence[Rule]) -> LaunchComparison:
    changes = {
        m.name: Change(m.name, old.metrics.get(m.name, 0), new.metrics[m.name])
        for m in METRICS
        if m.name in new.metrics
    }
    for rule in rules:
        if rule.metric not in changes:
            raise NotComparable(f"{key}: {rule.metric} was not measured, so --fail-on {rule.text!r} cannot be checked")
    crossings = [Crossing(rule, changes[rule.metric]) for rule in rules]
    return LaunchComparison(
        key,
        tuple(change for change in changes.values() if change.old or change.new),
        compare_lines(old, new),
        tuple(c for c in crossings if c.rule.exceeded_by(c.change.delta, c.change.old)),
        tuple(c for c in crossings if c.rule.exceeded_by(-c.change.delta, c.change.old)),
    )


def compare_lines(old: LaunchFacts, new: LaunchFacts) -> tuple[LineChange, ...]:
    """A line that the baseline leaves out and that is still cheap may not have changed at all: it is left out too."""
    lines = [
        line
        for line in old.lines.keys() | new.lines.keys()
        if line in old.lines or is_costly(new.lines[line].warp_cycles, old)
    ]
    changes = [line_change(line, old.lines.get(line), new.lines.get(line)) for line in lines]
    return tuple(sorted((c for c in changes if c.delta), key=lambda c: (-c.delta, c.line)))


def line_change(line: LineKey, old: LineCost | None, new: LineCost | None) -> LineChange:
    return LineChange(line, new.place if new else line.file, old and old.warp_cycles, new and new.warp_cycles)
