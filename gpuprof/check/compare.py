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
from collections.abc import Callable, Hashable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from gpuprof.check.facts import Facts, LaunchFacts, LaunchKey, LineCost, LineKey, ShaderOf, is_costly, title
from gpuprof.check.rules import Rule
from gpuprof.correlate.metrics import BY_NAME, METRICS
from gpuprof.errors import NotComparable

Group = Callable[[LaunchKey, LaunchFacts], Hashable]


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
    """A source line's share in a metric. `old` is None where the baseline leaves the line out, `new` where it is
    gone.
    """

    line: LineKey
    place: str  # "path:line" now; the file when the line is gone
    metric: str
    old: int | None
    new: int | None

    @property
    def delta(self) -> int:
        return (self.new or 0) - (self.old or 0)


class Crossing(NamedTuple):
    """A rule that a change exceeds, upwards or downwards. `lines`: the changes of the metric that says where it comes
    from, more now first.
    """

    rule: Rule
    change: Change
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
    changes: tuple[Change, ...]  # in the order of METRICS; those that are zero in both left out
    lines: tuple[LineChange, ...]  # warp-cycles: costlier now first, by how much; unchanged lines left out
    regressions: tuple[Crossing, ...]
    improvements: tuple[Crossing, ...]
    shader_of: ShaderOf | None = None

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
    """A launch that only one side has."""

    key: LaunchKey
    shader_of: ShaderOf | None

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
    chip, model, compiler or gpuprof differ, or a rule's metric was not measured.
    """
    check_origin(old, new)
    for rule in rules:
        if BY_NAME[rule.metric].of_some and not any(rule.metric in each.metrics for each in new.launches.values()):
            raise NotComparable(f"no launch has {rule.metric}, so --fail-on {rule.text!r} cannot be checked")
    pairs = list(same_names(old, new))
    pairs += left_over(old, new, pairs, lambda key, launch: key.name)
    if not strict_shape:
        pairs += left_over(old, new, pairs, lambda key, launch: (launch.module, key.kernel))
    paired_old, paired_new = ({pair[side] for pair in pairs} for side in (0, 1))
    order = {key: number for number, key in enumerate(new.launches)}
    return Comparison(
        tuple(
            compare_launch(pair, old.launches[pair.old], new.launches[pair.new], rules)
            for pair in sorted(pairs, key=lambda pair: order[pair.new])
        ),
        singles(old, paired_old),
        singles(new, paired_new),
        tuple(rules),
    )


def singles(facts: Facts, paired: Set[LaunchKey]) -> tuple[Single, ...]:
    return tuple(Single(key, launch.shader_of) for key, launch in facts.launches.items() if key not in paired)


def same_names(old: Facts, new: Facts) -> Iterator[Pair]:
    known = _by_name(old)
    return (Pair(known[name], key) for name, key in _by_name(new).items() if name in known)


def _by_name(facts: Facts) -> dict[tuple, LaunchKey]:
    """By the name of the launch, its stage and its draw's name, and the ordinal among those with the same ones."""
    seen = Counter()
    found: dict[tuple, LaunchKey] = {}
    for key, launch in facts.launches.items():
        shader_of = launch.shader_of
        name = (key.name, *((shader_of.stage, shader_of.name) if shader_of else ()))
        seen[name] += 1
        found[*name, seen[name] if shader_of else key.ordinal] = key
    return found


def left_over(old: Facts, new: Facts, pairs: Sequence[Pair], group: Group) -> Iterator[Pair]:
    """Launches that are in no pair, n-th with n-th of each group."""
    left_old = _in_groups(old, {pair.old for pair in pairs}, group)
    for name, keys in _in_groups(new, {pair.new for pair in pairs}, group).items():
        yield from map(Pair, left_old.get(name, ()), keys)


def _in_groups(facts: Facts, without: Set[LaunchKey], group: Group) -> dict[Hashable, list[LaunchKey]]:
    """Each group's launches, in their order."""
    groups: dict[Hashable, list[LaunchKey]] = {}
    for key, launch in facts.launches.items():
        if key not in without:
            groups.setdefault(group(key, launch), []).append(key)
    return groups


def check_origin(old: Facts, new: Facts) -> None:
    # The tool too: another version's headers, register allocation and scheduling make other instructions of the same
    # source.
    was, now = {"gpuprof": old.tool, **old.origin}, {"gpuprof": new.tool, **new.origin}
    different = [f"{name} {was[name]!r} -> {now[name]!r}" for name in was if was[name] != now[name]]
    if different:
        raise NotComparable(f"the baseline is not comparable: {'; '.join(different)}; write a new one with --update")


def compare_launch(pair: Pair, old: LaunchFacts, new: LaunchFacts, rules: Sequence[Rule]) -> LaunchComparison:
    changes = {
        m.name: Change(m.name, old.metrics.get(m.name, 0), new.metrics[m.name])
        for m in METRICS
        if m.name in new.metrics
    }
    for rule in rules:
        if rule.metric not in changes and (not BY_NAME[rule.metric].of_some or rule.metric in old.metrics):
            raise NotComparable(
                f"{pair.new}: {rule.metric} was not measured, so --fail-on {rule.text!r} cannot be checked"
            )
    crossings = [
        Crossing(rule, changes[rule.metric], compare_lines(old, new, BY_NAME[rule.metric].lines_by))
        for rule in rules
        if rule.metric in changes
    ]
    return LaunchComparison(
        pair,
        tuple(change for change in changes.values() if change.old or change.new),
        compare_lines(old, new, "warp_cycles"),
        tuple(c for c in crossings if c.rule.exceeded_by(c.change.delta, c.change.old)),
        tuple(c for c in crossings if c.rule.exceeded_by(-c.change.delta, c.change.old)),
        new.shader_of,
    )


def compare_lines(old: LaunchFacts, new: LaunchFacts, metric: str) -> tuple[LineChange, ...]:
    """The lines whose share in a metric changed; none for "". A line that the baseline leaves out and whose share is
    still small may not have changed at all: it is left out too.
    """
    changes = [
        line_change(line, metric, old.lines.get(line), new.lines.get(line))
        for line in old.lines.keys() | new.lines.keys()
        if line in old.lines or is_costly(metric, new.lines[line].values.get(metric, 0), old)
    ]
    return tuple(sorted((c for c in changes if c.delta), key=lambda c: (-c.delta, c.line)))


def line_change(line: LineKey, metric: str, old: LineCost | None, new: LineCost | None) -> LineChange:
    values = [cost and cost.values.get(metric, 0) for cost in (old, new)]
    return LineChange(line, new.place if new else line.file, metric, *values)
