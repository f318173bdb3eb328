"""Streams and events of the Python face."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.errors import UsageError

Submit: TypeAlias = Callable[[cmd.Command], Any]


class Stream:
    """A queue of work: what is asked on one stream happens in order. Number 0 is the default stream."""

    def __init__(self, submit: Submit, number: int):
        self._submit, self.number = submit, number

    def synchronize(self) -> None:
        """Waits for everything asked so far."""
        self._submit(cmd.Wait(cmd.EVERYTHING, cmd.HOST))

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
        self.cycle: int | None = None  # when everything before it was done, in GPU cycles; None before `record`

    def record(self, stream: StreamLike = 0) -> None:
        """Marks the present end of a stream."""
        self.cycle = self._submit(cmd.Event(self.number, stream_number(stream)))

    def wait(self, stream: StreamLike = 0) -> None:
        """What is asked of `stream` from now on starts after the event."""
        self._recorded_cycle()
        self._submit(cmd.Wait(self.number, stream_number(stream)))

    def synchronize(self) -> None:
        """Waits for the event."""
        self._recorded_cycle()
        self._submit(cmd.Wait(self.number, cmd.HOST))

    def query(self) -> bool:
        """Whether it was recorded: the host sees everything before it done."""
        return self.cycle is not None

    def elapsed_time(self, end: "Event") -> float:
        """Milliseconds of GPU time from this event to `end`, at the chip's clock."""
        return (end._recorded_cycle() - self._recorded_cycle()) / (self._clock_mhz * 1e3)

    def _recorded_cycle(self) -> int:
        if self.cycle is None:
            raise UsageError("the event was not recorded: call record() first")
        return self.cycle


def stream_number(stream: StreamLike) -> int:
    """The number of a stream given as such, as a Stream, or as None (the default stream)."""
    if isinstance(stream, Stream):
        return stream.number
    if stream is None:
        return 0
    if not isinstance(stream, int | np.integer) or stream < 0:
        raise UsageError(f"expected a stream or its number, got {stream!r}")
    return int(stream)
