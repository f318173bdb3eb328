"""Orders that the program requests and no data needs: the two tasks could run at the same time."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gpuprof.relate.critical import Needs


class Order(NamedTuple):
    """The second task waits for the first, because of a constraint of this kind (relate.task_kinds)."""

    source: int
    target: int
    kind: str


class Pair(NamedTuple):
    """`bound_cycles`: no more is gained when the second does not wait for the first."""

    source: int
    target: int
    kind: str
    bound_cycles: int


def independent(spans: Mapping[int, tuple[int, int]], orders: Iterable[Order], needs: Needs) -> Iterator[Pair]:
    """The largest bound first. spans: (begin, end) of the tasks that take time."""
    for pair in sorted(bounds(spans, orders), key=lambda pair: (-pair.bound_cycles, pair.target, pair.source)):
        if pair.bound_cycles and not needs.reaches(pair.source, pair.target):
            yield pair


def bounds(spans: Mapping[int, tuple[int, int]], orders: Iterable[Order]) -> Iterator[Pair]:
    """Every order between tasks that take time. Without it the second may begin when the others that it waits for have
    ended, and what came before the first; it then ends as much earlier, but what follows both still waits for the
    first.
    """
    before: dict[int, list[Order]] = {}
    for order in orders:
        if order.source in spans and order.target in spans:
            before.setdefault(order.target, []).append(order)
    for target, orders_before in before.items():
        begin, end = spans[target]
        last = [(-1, -1), *sorted({(spans[order.source][1], order.source) for order in orders_before})]
        for order in orders_before:
            first_begin, first_end = spans[order.source]
            other_end = next(cycle for cycle, task in reversed(last) if task != order.source)
            gain = min(begin - max(first_begin, other_end), end - first_end)
            yield Pair(order.source, target, order.kind, max(gain, 0))
