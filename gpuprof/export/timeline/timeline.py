"""A timeline as plain values: tracks with slices or counters on them, and flows from slice to slice."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple


class Track(NamedTuple):
    """`parent`: the track that it is under, None at the top. `unit` is that of a counter, None for slices."""

    key: str
    name: str
    parent: str | None = None
    unit: str | None = None


class Slice(NamedTuple):
    """`start`, `end`: GPU cycles; slices of one track follow each other or are nested."""

    track: str  # a Track's key
    name: str
    start: int
    end: int
    arguments: Mapping[str, str | int | float] = {}


class Point(NamedTuple):
    """A counter has this value from `cycle` on."""

    track: str
    cycle: int
    value: float


class Flow(NamedTuple):
    """An arrow between two slices, by their places in `Timeline.slices`."""

    start: int
    end: int


class Timeline(NamedTuple):
    process: str  # name of the whole, such as the chip's
    clock_mhz: float  # cycles of a microsecond
    tracks: tuple[Track, ...]  # parents before their children
    slices: tuple[Slice, ...]
    points: tuple[Point, ...]
    flows: tuple[Flow, ...]


class Edge(NamedTuple):
    """A slice begins or ends; `slice` is its place in the timeline."""

    slice: int
    is_begin: bool
    cycle: int


def edges(slices: Iterable[tuple[int, Slice]]) -> Iterator[Edge]:
    """The slices of one track, in an order that closes the last opened first."""
    opened: list[tuple[int, Slice]] = []
    for place, each in sorted(slices, key=lambda item: (item[1].start, -item[1].end, item[0])):
        while opened and opened[-1][1].end <= each.start:
            yield _end(opened.pop())
        assert not opened or each.end <= opened[-1][1].end, f"{each.name} and {opened[-1][1].name} cross"
        opened.append((place, each))
        yield Edge(place, True, each.start)
    while opened:
        yield _end(opened.pop())


def _end(opened: tuple[int, Slice]) -> Edge:
    place, each = opened
    return Edge(place, False, each.end)


def by_track(timeline: Timeline) -> dict[str, list[tuple[int, Slice]]]:
    """The slices of each track that has any, with their places in the timeline."""
    found: dict[str, list[tuple[int, Slice]]] = {}
    for place, each in enumerate(timeline.slices):
        found.setdefault(each.track, []).append((place, each))
    return found


def lanes(spans: Iterable[tuple[int, int]]) -> list[int]:
    """A lane, 0, 1, ..., for each span (start, end) of ascending starts, so that spans of a lane follow each other or
    are nested.
    """
    opened: list[list[int]] = []  # of each lane, the ends of the spans that are open, the innermost last
    found = []
    for start, end in spans:
        for ends in opened:
            while ends and ends[-1] <= start:
                ends.pop()
        free = (lane for lane, ends in enumerate(opened) if not ends or end <= ends[-1])
        lane = next(free, len(opened))
        if lane == len(opened):
            opened.append([])
        opened[lane].append(end)
        found.append(lane)
    return found


def picoseconds(cycle: int, clock_mhz: float) -> int:
    """Since power-on; exact, then rounded, to even where two are as near."""
    numerator, denominator = clock_mhz.as_integer_ratio()
    whole, rest = divmod(cycle * 1_000_000 * denominator, numerator)
    return whole + (2 * rest + whole % 2 > numerator)
