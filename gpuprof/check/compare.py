"""Facts against a baseline's facts: a pure function. `compare.launches` says which launch is compared with which, and
`compare.lines` which line of source: a line that was edited, or whose file has another name, is the same line.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from gpuprof.check.causes import cause_of_change, check_origin
from gpuprof.check.facts import Chain, Facts, LaunchFacts, LineKey, Position, is_costly
from gpuprof.check.rules import Rule
from gpuprof.compare.changes import Change, changes, largest_growth_first
from gpuprof.compare.launches import Launched, paired_launches
from gpuprof.compare.lines import Line, Passage, Spot, line_pairs
from gpuprof.compare.pairing import by_group
from gpuprof.correlate.identity.launch_names import LaunchKey, ShaderOf, title
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
    olds, news = _launched(old), _launched(new)
    pairing = paired_launches(list(olds), list(news), strict_shape)
    pairs = [Pair(olds[was], news[now]) for was, now in pairing.pairs]
    check_caches(old, new, pairs)
    return Comparison(
        tuple(compare_launch(pair, old.launches[pair.old], new.launches[pair.new], rules) for pair in pairs),
        tuple(Single(key, old.launches[key].shader_of) for key in map(olds.__getitem__, pairing.old)),
        tuple(
            Single(key, new.launches[key].shader_of, new.launches[key].at) for key in map(news.__getitem__, pairing.new)
        ),
        tuple(rules),
    )


def _launched(facts: Facts) -> dict[Launched, LaunchKey]:
    """The launches as they are known again, in their order."""
    found = {}
    for key, launch in facts.launches.items():
        shader_of = launch.shader_of
        shader = (shader_of.stage, shader_of.name) if shader_of else ()
        found[Launched(key.kernel, key.shape, key.ordinal, launch.module, shader)] = key
    return found


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
    found = []
    for was, now in paired_lines(old, new):
        before, after = (
            launch.lines[line].values.get(metric, 0) if line else None for launch, line in ((old, was), (new, now))
        )
        name = now or was
        assert name is not None
        if was or is_costly(metric, after or 0, old):
            found.append(Change(name, before, after))
    return tuple(_line_change(metric, change, new) for change in largest_growth_first(found))


def paired_lines(old: LaunchFacts, new: LaunchFacts) -> list[tuple[LineKey | None, LineKey | None]]:
    """Lines of both sides that are one line; None where a side does not have it."""
    return _paired_keys(tuple(old.lines), tuple(new.lines))


@lru_cache(maxsize=256)  # launches of one kernel have the same lines
def _paired_keys(old: tuple[LineKey, ...], new: tuple[LineKey, ...]) -> list[tuple[LineKey | None, LineKey | None]]:
    olds, news = _passages(old), _passages(new)

    def key(side: list[tuple[Passage, list[LineKey]]], spot: Spot | None) -> LineKey | None:
        return None if spot is None else side[spot.passage][1][spot.line]

    pairs = line_pairs([passage for passage, _ in olds], [passage for passage, _ in news])
    return [(key(olds, pair.old), key(news, pair.new)) for pair in pairs]


def _passages(lines: tuple[LineKey, ...]) -> list[tuple[Passage, list[LineKey]]]:
    """The lines by file, in their order. One of several that say the same is known by which of them it is."""
    by_file = by_group(lines, lambda line: line.file)
    return [(Passage(file, file, tuple(Line(0, _text(line)) for line in some)), some) for file, some in by_file.items()]


def _text(line: LineKey) -> str:
    return line.text if line.occurrence == 1 else f"{line.text} ({line.occurrence})"


def _line_change(metric: str, change: Change[LineKey, int], new: LaunchFacts) -> LineChange:
    cost = new.lines.get(change.name)
    if cost is None:
        return LineChange(change.name.file, metric, change)
    return LineChange(cost.place, metric, change, cost.positions(metric))
