"""The order of commands that CUDA guarantees for streams, events and the host's waits.

    commands, in the order of requests ─ StreamOrder ─> Node of each that touches memory ─ is_before ─> ordered or not

The GPU here orders more than it has to: the host waits for everything where a program waits for one stream. A program
may only rely on this order (CUDA C++ Programming Guide, asynchronous concurrent execution; CUDA runtime API,
stream synchronization behavior).

A clock holds the number of commands of each stream that are done. Clocks are never changed, so a node may hold one.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

Clock = Mapping[int, int]  # by stream
DEFAULT_STREAM = 0
_NOTHING: Clock = MappingProxyType({})


class Node(NamedTuple):
    """Command `number` of a stream, from 1. `knows`: the commands that are done when it begins."""

    stream: int
    number: int
    knows: Clock


def is_before(first: Node, second: Node) -> bool:
    """True if a command ends before another begins, which was requested later; a command's parts are ordered by it."""
    is_same = first.stream == second.stream and first.number == second.number
    return is_same or second.knows.get(first.stream, 0) >= first.number


class StreamOrder:
    """The guaranteed order of all commands so far."""

    def __init__(self) -> None:
        self._host: Clock = _NOTHING  # the commands that the host knows to be done
        self._streams: dict[int, Clock] = {}  # the commands that the next one of a stream waits for
        self._events: dict[int, Clock] = {}
        self._non_blocking: set[int] = set()
        self._last: dict[int, Node] = {}  # by stream

    def make_non_blocking(self, stream: int) -> None:
        """It does not wait for the default stream, nor that for it."""
        self._non_blocking.add(stream)

    def ask(self, stream: int, overlaps: bool = False) -> Node:
        """A command is requested on a stream. `overlaps`: it may begin before the last one there has ended (it is a
        programmatic dependent launch that does not wait), where nothing else comes between the two.
        """
        before, last = self._before(stream), self._last.get(stream)
        number = last.number + 1 if last else 1
        knows = before
        if overlaps and last and not any(clock.get(stream, 0) >= last.number for clock in self._around(stream)):
            knows = _joined([last.knows, {**before, stream: last.number - 1}])
        node = self._last[stream] = Node(stream, number, knows)
        self._streams[stream] = {**before, stream: number}
        return node

    def last(self, stream: int) -> Node:
        """The last command of a stream. Raises KeyError if there is none."""
        return self._last[stream]

    def record(self, event: int, stream: int) -> None:
        """An event marks the end of a stream."""
        self._events[event] = self._streams[stream] = self._before(stream)

    def wait(self, event: int, stream: int) -> None:
        """Later commands of a stream wait for an event; if it was not recorded, they do not."""
        self._streams[stream] = _joined([self._before(stream), self._events.get(event, _NOTHING)])

    def wait_for_all(self, stream: int) -> None:
        """Later commands of a stream wait for all commands so far."""
        self._streams[stream] = self._all()

    def host_waits_for_event(self, event: int) -> None:
        self._host = _joined([self._host, self._events.get(event, _NOTHING)])

    def host_waits_for_stream(self, stream: int) -> None:
        its = self._before(stream) if stream == DEFAULT_STREAM else self._streams.get(stream, _NOTHING)
        self._host = _joined([self._host, its])

    def host_waits_for_all(self) -> None:
        self._host = self._all()
        self._streams = {}  # the host's clock has what is in theirs

    def is_known_to_host(self, node: Node) -> bool:
        """True if all later commands come after this one."""
        return self._host.get(node.stream, 0) >= node.number

    def _before(self, stream: int) -> Clock:
        return _joined([self._streams.get(stream, _NOTHING), *self._around(stream)])

    def _around(self, stream: int) -> list[Clock]:
        """Clocks that a stream's commands wait for, without its own: the host's and the default stream's; for the
        default stream, those of the others.
        """
        if stream in self._non_blocking:
            return [self._host]
        if stream != DEFAULT_STREAM:
            return [self._host, self._streams.get(DEFAULT_STREAM, _NOTHING)]
        others = self._streams.keys() - self._non_blocking - {stream}
        return [self._host, *(self._streams[other] for other in others)]

    def _all(self) -> Clock:
        return _joined([self._host, *self._streams.values()])


def _joined(clocks: Iterable[Clock]) -> Clock:
    """The commands that are done by any of the clocks."""
    joined: dict[int, int] = {}
    for clock in clocks:
        for stream, number in clock.items():
            if number > joined.get(stream, 0):
                joined[stream] = number
    return joined
