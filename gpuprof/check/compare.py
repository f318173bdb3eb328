"""Facts against a baseline's facts: a pure function.

Which launch is compared with which:

1. A launch with the baseline's launch of the same kernel, shape and ordinal. A draw's shader has that of a draw of the
   same name, and its ordinal among these.
2. What is left over of a kernel and shape, draws whose names changed, in the order of both sides.
3. What is left over of a kernel, in its order, with what is left over of that kernel in the baseline, in its order: its
   shape changed.

Equal shapes go first since they do equal work: a launch that was inserted, or one of several that changed, moves no
other one to a foreign partner. Kernels of one name in different modules are never partners with different shapes.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gpuprof.check.causes import cause_of_change, check_origin
from gpuprof.check.facts import (
    Chain,
    Facts,
    LaunchFacts,
    LaunchKey,
    LineKey,
    Position,
    ShaderOf,
    is_costly,
    title,
)
from gpuprof.check.rules import Rule
from gpuprof.compare.changes import Change, changes, largest_growth_first
from gpuprof.compare.pairing import paired
from gpuprof.correlate.metrics import BY_NAME, METRICS
from gpuprof.errors import NotComparable


class LineChange(NamedTuple):
    """A source line's share in a metric. `change` is named by the line; its old number is None where the baseline
    leaves the line out, its new one where the line is gone. `positions`: those of its code, the innermost first.
    """

    place: str  # "path:line" now; the file when the line is gone
    metric: str
    change: Change[LineKey, int]
    positions: Chain = ()


class Crossing(NamedTuple):
    """A rule that a change exceeds, upwards or downwards. `lines`: the changes of the metric that says where it comes
    from, more now first.
    """

    rule: Rule
    change: Change[str, int]
    lines: tuple[LineChange, ...]


class Pair(NamedTuple):
    """A launch of the baseline and one of now."""

    old: LaunchKey
    new: LaunchKey

    @property
    def shape_change(self) -> str:
        """The words on it; "" where there is none."""
        if self.old.shape == self.new.shape:
            return ""
        return f"shape changed from {self.old.shape} to {self.new.shape}"


@dataclass(frozen=True)
class LaunchComparison:
    pair: Pair
    changes: tuple[Change[str, int], ...]  # in the order of METRICS; those that are zero in both left out
    lines: tuple[LineChange, ...]  # warp-cycles: costlier now first, by how much; unchanged lines left out
    regressions: tuple[Crossing, ...]
    improvements: tuple[Crossing, ...]
    shader_of: ShaderOf | None = None
    cause: str = ""  # of its changes: a name of check.causes.CAUSES
    at: Position | None = None  # the kernel's first line

    @property
    def title(self) -> str:
        return title(self.key, self.shader_of)

    @property
    def key(self) -> LaunchKey:
        return self.pair.new

    @property
    def verdict(self) -> str:
        return "regressed" if self.regressions else "improved" if self.improvements else "same"


class Single(NamedTuple):
    """A launch that only one side has. `at`: the kernel's first line, where it is measured now."""

    key: LaunchKey
    shader_of: ShaderOf | None
    at: Position | None = None

    @property
    def title(self) -> str:
        return title(self.key, self.shader_of)


@dataclass(frozen=True)
class Comparison:
    launches: tuple[LaunchComparison, ...]
    missing: tuple[Single, ...]  # in the baseline, not measured now
    added: tuple[Single, ...]  # measured now, not in the baseline
    rules: tuple[Rule, ...]

    def with_verdict(self, verdict: str) -> list[LaunchComparison]:
        return [launch for launch in self.launches if launch.verdict == verdict]

    @property
    def reshaped(self) -> list[LaunchComparison]:
        return [launch for launch in self.launches if launch.pair.shape_change]


def compare(old: Facts, new: Facts, rules: Sequence[Rule], strict_shape: bool = False) -> Comparison:
    """`old` is the baseline; with `strict_shape` a launch of another shape is another launch. Raises NotComparable when
    chip, model, host, compiler, gpuprof or what caches held differ, or a rule's metric was not measured.
    """
    check_origin(old, new)
    for rule in rules:
        if BY_NAME[rule.metric].of_some and not any(rule.metric in each.metrics for each in new.launches.values()):
            raise NotComparable(f"no launch has {rule.metric}, so --fail-on {rule.text!r} cannot be checked")
    name_old, name_new = _names(old), _names(new)
    groups = [
        (name_old.get, name_new.get),
        (lambda key: key.name, lambda key: key.name),
        *(() if strict_shape else [(_kernel_of(old), _kernel_of(new))]),
    ]
    pairing = paired(list(old.launches), list(new.launches), *groups)
    pairs = [Pair._make(pair) for pair in pairing.pairs]
    check_caches(old, new, pairs)
    return Comparison(
        tuple(compare_launch(pair, old.launches[pair.old], new.launches[pair.new], rules) for pair in pairs),
        tuple(Single(key, old.launches[key].shader_of) for key in pairing.old),
        tuple(Single(key, new.launches[key].shader_of, new.launches[key].at) for key in pairing.new),
        tuple(rules),
    )


def _names(facts: Facts) -> dict[LaunchKey, tuple]:
    """The name of each launch, its stage and its draw's name, and the ordinal among those with the same ones."""
    seen = Counter()
    names: dict[LaunchKey, tuple] = {}
    for key, launch in facts.launches.items():
        shader_of = launch.shader_of
        name = (key.name, *((shader_of.stage, shader_of.name) if shader_of else ()))
        seen[name] += 1
        names[key] = (*name, seen[name] if shader_of else key.ordinal)
    return names


def _kernel_of(facts: Facts) -> Callable[[LaunchKey], tuple]:
    return lambda key: (facts.launches[key].module, key.kernel)


def check_caches(old: Facts, new: Facts, pairs: Sequence[Pair]) -> None:
    different = [pair for pair in pairs if old.launches[pair.old].cache != new.launches[pair.new].cache]
    if not different:
        return
    was, now = old.launches[different[0].old].cache, new.launches[different[0].new].cache
    others = f" and {len(different) - 1} more" if len(different) > 1 else ""
    raise NotComparable(
        f"the baseline is not comparable: cache {was!r} -> {now!r} ({different[0].new}{others}); collect with the "
        "baseline's --cache and --repeat, or write a new one with --update",
        cause="cache",
    )


def compare_launch(pair: Pair, old: LaunchFacts, new: LaunchFacts, rules: Sequence[Rule]) -> LaunchComparison:
    zeros = dict.fromkeys(new.metrics, 0)
    measured = [metric.name for metric in METRICS if metric.name in new.metrics]
    of_metric = {change.name: change for change in changes(zeros | old.metrics, new.metrics, measured)}
    for rule in rules:
        if rule.metric not in of_metric and (not BY_NAME[rule.metric].of_some or rule.metric in old.metrics):
            raise NotComparable(
                f"{pair.new}: {rule.metric} was not measured, so --fail-on {rule.text!r} cannot be checked"
            )
    crossings = [
        Crossing(rule, of_metric[rule.metric], compare_lines(old, new, BY_NAME[rule.metric].lines_by))
        for rule in rules
        if rule.metric in of_metric
    ]
    return LaunchComparison(
        pair,
        tuple(change for change in of_metric.values() if change.old or change.new),
        compare_lines(old, new, "warp_cycles"),
        tuple(c for c in crossings if c.rule.exceeded_by(c.change.delta, c.change.old or 0)),
        tuple(c for c in crossings if c.rule.exceeded_by(-c.change.delta, c.change.old or 0)),
        new.shader_of,
        cause_of_change(old, new, bool(pair.shape_change)),
        new.at,
    )


def compare_lines(old: LaunchFacts, new: LaunchFacts, metric: str) -> tuple[LineChange, ...]:
    """The lines whose share in a metric changed; none for "". A line that the baseline leaves out and whose share is
    still small may not have changed at all: it is left out too.
    """
    was, now = ({line: cost.values.get(metric, 0) for line, cost in launch.lines.items()} for launch in (old, new))
    lines = [line for line in was.keys() | now.keys() if line in was or is_costly(metric, now[line], old)]
    return tuple(_line_change(metric, change, new) for change in largest_growth_first(changes(was, now, lines)))


def _line_change(metric: str, change: Change[LineKey, int], new: LaunchFacts) -> LineChange:
    cost = new.lines.get(change.name)
    if cost is None:
        return LineChange(change.name.file, metric, change)
    return LineChange(cost.place, metric, change, cost.positions(metric))
