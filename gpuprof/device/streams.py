"""Streams and events of the Python face."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.errors import UsageError

Submit: TypeAlias = Callable[[cmd.Command], Any]


class Stream:
    """A queue of work: requests on one stream are carried out in order. Number 0 is the default stream.

    Launches on different streams run at the same time where there is room. `priority`: as in CUDA, the smaller number
    goes first. `non_blocking`: a program may not rely on an order between the stream and the default one.
    """

    def __init__(self, submit: Submit, number: int, priority: int = 0, non_blocking: bool = False):
        self._submit, self.number, self.priority = submit, number, priority
        if priority:
            submit(cmd.Priority(number, priority))
        if non_blocking:
            submit(cmd.NonBlocking(number))

    def synchronize(self) -> None:
        """Waits for all requests so far. As in CUDA, a program may rely only on those on this stream."""
        self._submit(cmd.Wait(cmd.EVERYTHING, cmd.HOST, of=self.number))

    @contextmanager
    def auto_synchronize(self) -> Iterator["Stream"]:
        """Waits at the end of a `with` block."""
        yield self
        self.synchronize()

    def __repr__(self) -> str:
        return f"<stream {self.number}>"


StreamLike: TypeAlias = Stream | int | None


class Event:
    """A mark in a stream, to wait for and to measure time with."""

    def __init__(self, submit: Submit, number: int, clock_mhz: float):
        self._submit, self.number, self._clock_mhz = submit, number, clock_mhz
        self._recorded = False

    def record(self, stream: StreamLike = 0) -> None:
        """Marks the present end of a stream."""
        self._submit(cmd.Event(self.number, stream_number(stream)))
        self._recorded = True

    @property
    def cycle(self) -> int | None:
        """When everything before it was done, in GPU cycles: waits for that. None before `record`."""
        return self._submit(cmd.EventTime(self.number)) if self._recorded else None

    def wait(self, stream: StreamLike = 0) -> None:
        """Work that is asked of `stream` from now on starts after the event."""
        self._check_recorded()
        self._submit(cmd.Wait(self.number, stream_number(stream)))

    def synchronize(self) -> None:
        """Waits until the event is recorded."""
        self._check_recorded()
        self._submit(cmd.Wait(self.number, cmd.HOST))

    def query(self) -> bool:
        """True when the event was recorded: all work before it is complete then, for simulated time does not pass
        during the query.
        """
        return self._recorded

    def elapsed_time(self, end: "Event") -> float:
        """Milliseconds of GPU time from this event to `end`, at the chip's clock."""
        self._check_recorded()
        end._check_recorded()
        return (end.cycle - self.cycle) / (self._clock_mhz * 1e3)

    def _check_recorded(self) -> None:
        if not self._recorded:
            raise UsageError("the event was not recorded: call record() first")


def stream_number(stream: StreamLike) -> int:
    """The number of a stream given as such, as a Stream, or as None (the default stream)."""
    if isinstance(stream, Stream):
        return stream.number
    if stream is None:
        return 0
    if not isinstance(stream, int | np.integer) or stream < 0:
        raise UsageError(f"expected a stream or its number, got {stream!r}")
    return int(stream)
