"""Finds the commit that made a metric grow: a binary search over the commits between two revisions.

    commits, good's and bad's values ─ search ─> Found: the first commit over the limit, and the last one within it

A commit that cannot be measured (it does not build, or lacks the kernel) is passed over for the nearest one that can.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gpuprof.check.facts import Facts
from gpuprof.check.rules import Rule
from gpuprof.correlate.identity.launch_names import LaunchKey
from gpuprof.errors import NotComparable

# Of several launches, the largest; other metrics add up.
LARGEST = ("registers", "shared_nbytes", "local_nbytes")


class Step(NamedTuple):
    """A commit that was looked at. `value`: of the metric; None where it cannot be measured, and `why` says it."""

    commit: str
    value: int | None
    why: str = ""


class Found(NamedTuple):
    """`before`: the last commit that was measured and is within the limit; `after`: the first that is not. `skipped`:
    commits between them that cannot be measured, so that one of them may be it.
    """

    before: Step
    after: Step
    skipped: tuple[str, ...]
    n_measured: int


def metric_value(facts: Facts, metric: str, is_wanted: Callable[[LaunchKey], bool]) -> int:
    """The metric of all launches that are wanted. Raises NotComparable where there are none, or none has it."""
    wanted = [launch.metrics for key, launch in facts.launches.items() if is_wanted(key)]
    values = [metrics[metric] for metrics in wanted if metric in metrics]
    if not wanted:
        raise NotComparable("no launch of such a kernel")
    if not values:
        raise NotComparable(f"no launch has {metric}")
    return max(values) if metric in LARGEST else sum(values)


def search(commits: Sequence[str], good: Step, bad: Step, rule: Rule, measure: Callable[[str], Step]) -> Found:
    """`commits`: those after `good`, the oldest first; the last is `bad`. `measure` is called for at most log2 of them,
    and for those next to one that cannot be measured. Raises NotComparable where `bad` does not exceed the rule.
    """
    if good.value is None or bad.value is None:
        raise NotComparable(f"{(good if good.value is None else bad).commit[:10]} cannot be measured")
    if not rule.exceeded_by(bad.value - good.value, good.value):
        raise NotComparable(
            f"{rule.metric} is {good.value:,} at the good revision and {bad.value:,} at the bad one: within "
            f"{rule.text}; give another --metric or a smaller limit"
        )
    low, high = -1, len(commits) - 1  # good's place, and bad's
    steps = {low: good, high: bad}
    unmeasured: set[int] = set()
    while at := _next(low, high, unmeasured):
        place = at - 1
        step = measure(commits[place])
        if step.value is None:
            unmeasured.add(place)
            continue
        steps[place] = step
        if rule.exceeded_by(step.value - good.value, good.value):
            high = place
        else:
            low = place
    skipped = tuple(commits[place] for place in range(low + 1, high))
    return Found(steps[low], steps[high], skipped, len(steps) + len(unmeasured))


def _next(low: int, high: int, unmeasured: set[int]) -> int:
    """One more than the place to measure next: the one nearest to the middle; 0 where none is left."""
    left = [place for place in range(low + 1, high) if place not in unmeasured]
    middle = (low + high) / 2
    return 1 + min(left, key=lambda place: abs(place - middle)) if left else 0
