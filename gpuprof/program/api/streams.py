"""Streams and events, and how long the host has waited for them."""

from gpuprof.device import commands as cmd
from gpuprof.device.api import Device
from gpuprof.device.streams import Event
from gpuprof.program import errors
from gpuprof.program.calls import WAITS
from gpuprof.program.channel import signed
from gpuprof.program.errors import Failed

FIRST_STREAM = 16  # handles below it are CUDA's own: the default stream by its three names
NON_BLOCKING = 1  # of a stream's flags: cudaStreamNonBlocking


class Streams:
    """`waited_ns`: of the host's time, in calls that wait for the GPU."""

    def __init__(self, device: Device):
        self.device, self.waited_ns = device, 0
        self._streams: dict[int, int] = {0: 0, 1: 0, 2: 0}  # handle -> number
        self._events: list[Event] = []

    def make_stream(self, payload: bytes, priority: int, flags: int):
        number = self.device.stream(signed(priority), non_blocking=flags & NON_BLOCKING != 0).number
        self._streams[FIRST_STREAM + number] = number
        return (FIRST_STREAM + number,), b""

    def destroy_stream(self, payload: bytes, stream: int):
        self.number(stream)
        if stream >= FIRST_STREAM:
            del self._streams[stream]
        return (), b""

    def make_event(self, payload: bytes):
        self._events.append(self.device.event())
        return (len(self._events),), b""

    def record(self, payload: bytes, event: int, stream: int):
        self._event(event).record(self.number(stream))
        return (), b""

    def wait(self, payload: bytes, event: int, stream: int):
        number = self.number(stream)
        if self._event(event).query():  # CUDA: an event that was not recorded is not waited for
            self._event(event).wait(number)
        return (), b""

    def event_time(self, payload: bytes, start: int, end: int):
        begun, ended = (self._event(event).cycle for event in (start, end))
        if begun is None or ended is None:
            raise Failed(errors.INVALID_RESOURCE_HANDLE, "the event was not recorded")
        return (self._nanoseconds(ended) - self._nanoseconds(begun),), b""

    def number(self, handle: int) -> int:
        """The number of the device's stream that a handle stands for."""
        if handle not in self._streams:
            raise Failed(errors.INVALID_RESOURCE_HANDLE, f"there is no stream {handle}")
        return self._streams[handle]

    def _event(self, handle: int) -> Event:
        if not 1 <= handle <= len(self._events):
            raise Failed(errors.INVALID_RESOURCE_HANDLE, f"there is no event {handle}")
        return self._events[handle - 1]

    def waited_for(self, waits: int, handle: int) -> cmd.Wait:
        """The tasks that a program waits for, by number `waits` of WAITS. Raises Failed for an unknown handle."""
        what = WAITS[waits] if waits < len(WAITS) else ""
        if what == "stream":
            return cmd.Wait(cmd.EVERYTHING, cmd.HOST, self.number(handle))
        if what == "event" and self._event(handle).query():
            return cmd.Wait(self._event(handle).number, cmd.HOST)
        return cmd.Wait(cmd.EVERYTHING, cmd.HOST, cmd.EVERY_STREAM if what == "everything" else cmd.NO_STREAM)

    def pass_until(self, wait: cmd.Wait) -> None:
        """All that was asked is done; the host's time has passed until then."""
        begin_ns = self.device.executor.host_ns
        self.device.submit(wait)
        self.waited_ns += self.device.executor.host_ns - begin_ns

    def _nanoseconds(self, cycle: int) -> int:
        return round(cycle * 1e3 / self.device.chip.clock_mhz)
