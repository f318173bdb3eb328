"""A second opinion on the table of errors, in Python: what a sequence of calls gives, and the state after each.

    lines of the program's input ─ Model.call ─> Said, or None where the line prints nothing

It knows only what the manuals and the table say. Streams have names; a node of a graph is a number, with the numbers
that it comes after.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.program.errors.table import Said

INVALID_VALUE, INVALID_CONFIGURATION, INVALID_DEVICE, INVALID_HANDLE, ILLEGAL_STATE = 1, 9, 101, 400, 401
UNSUPPORTED, INVALIDATED, MERGE, UNMATCHED, UNJOINED, ISOLATION, IMPLICIT, CAPTURED_EVENT, WRONG_THREAD = range(
    900, 909
)
FAULTS = {"address": 700, "alignment": 716, "trap": 719, "assert": 710}
MODES = ("global", "thread_local", "relaxed")
LEGACY = "0"


@dataclass(eq=False)
class Capture:
    origin: str
    mode: str
    thread: str
    is_valid: bool = True
    is_over: bool = False


@dataclass
class Event:
    """`capture`: that it was recorded in last, with the nodes it is after. `has_time`: the device has reached it."""

    is_recorded: bool = False
    capture: Capture | None = None
    nodes: frozenset[int] = frozenset()
    has_time: bool = False


@dataclass
class Thread:
    last: int = 0
    mode: str = "global"


@dataclass
class Model:
    blocking: dict[str, bool] = field(default_factory=dict)
    events: dict[str, Event] = field(default_factory=dict)
    threads: dict[str, Thread] = field(default_factory=lambda: {"1": Thread(), "2": Thread()})
    captures: dict[str, Capture] = field(default_factory=dict)  # by stream
    tails: dict[str, frozenset[int]] = field(default_factory=dict)  # by stream
    earlier: dict[int, frozenset[int]] = field(default_factory=dict)  # all that a node comes after
    allocation: str = "null"
    pending: int = 0
    lost: int = 0

    def call(self, line: str) -> Said | None:
        """Carries a line out."""
        number, name, *words = line.split()
        self.name, self.thread = number, self.threads[number]
        if name == "begin":
            self._begin()
        if name in ("begin", "forget"):
            self.thread.last, self.thread.mode = 0, "global"
            return None
        result = self._result(name, words)
        self.thread.last = last = self.lost or self.thread.last  # the program asks for the streams' states as well
        return Said(result, last, "".join(map(self._status, "abn")))

    def _result(self, name: str, words: list[str]) -> int:
        if name in ("cudaGetLastError", "cudaPeekAtLastError"):
            found = self.lost or self.thread.last
            if name == "cudaGetLastError":
                self.thread.last = 0
            return found
        if name == "fault":  # its result is the last error
            error = self._launch(LEGACY)
            if not error and not self.pending:
                self.pending = FAULTS[words[0]]
            self.thread.last = self.lost or error or self.thread.last
            return self.lost or self.thread.last
        handlers: dict[str, Callable[..., int]] = {
            "cudaLaunchKernel": lambda _, grid, *rest: self._launch(rest[-1], is_sized="0" not in grid),
            "cudaMemsetAsync": lambda p, nbytes, stream: self._launch(stream),
            "cudaMemcpyAsync": lambda to, of, nbytes, kind, stream: self._launch(stream, waits=True),
            "cudaMemset": lambda p, nbytes: self._launch(LEGACY),
            "cudaMemcpy": lambda *_: self._legacy() or self._unsafe() or self._meet(),
            "cudaLaunchHostFunc": lambda stream: self._known(stream) or self._launch(stream, waits=True),
            "cudaStreamAddCallback": lambda stream, _: self._known(stream) or self._forbid(stream) or self._meet(),
            "cudaStreamSynchronize": lambda stream: self._forbid(stream) or self._unsafe() or self._meet(stream),
            "cudaStreamQuery": lambda stream: self._forbid(stream) or self._unsafe() or self._meet(stream),
            "cudaDeviceSynchronize": self._synchronize,
            "cudaDeviceReset": self._reset,
            "cudaEventSynchronize": self._event_wait,
            "cudaEventQuery": self._event_wait,
            "cudaEventRecord": self._record,
            "cudaStreamWaitEvent": self._wait,
            "cudaEventElapsedTime": self._elapsed,
            "cudaMalloc": self._allocate,
            "cudaFree": self._free,
            "cudaSetDevice": lambda number: INVALID_DEVICE if number != "0" else 0,
            "cudaStreamBeginCapture": self._begin_capture,
            "cudaStreamEndCapture": self._end_capture,
            "cudaStreamIsCapturing": self._is_capturing,
            "cudaThreadExchangeStreamCaptureMode": self._exchange,
            "cudaStreamDestroy": self._destroy,
        }
        error = handlers[name](*words)
        error = self.lost or error
        self.thread.last = error or self.thread.last
        return error

    def _begin(self) -> None:
        self.blocking, self.events = {"a": True, "b": True, "n": False}, {"e": Event(), "f": Event()}
        self.captures, self.tails = {}, {}
        self.pending = self.lost = 0
        self.allocation = "null"

    def _status(self, stream: str) -> str:
        if stream not in self.blocking:
            return "-"
        if stream not in self.captures:
            return "0"
        return "1" if self.captures[stream].is_valid else "2"

    def _exists(self, stream: str) -> bool:
        return stream == LEGACY or stream in self.blocking

    def _known(self, stream: str) -> int:
        return 0 if self._exists(stream) else INVALID_HANDLE

    # The rules of captures

    def _end(self, *captures: Capture) -> None:
        for each in captures:
            each.is_valid = False

    def _legacy(self) -> int:
        hit = [capture for stream, capture in self.captures.items() if self.blocking[stream]]
        self._end(*hit)
        return IMPLICIT if hit else 0

    def _unsafe(self) -> int:
        hit = [capture for capture in self.captures.values() if self._prohibits(capture)]
        self._end(*hit)
        return UNSUPPORTED if hit else 0

    def _prohibits(self, capture: Capture) -> bool:
        if "relaxed" in (self.thread.mode, capture.mode):
            return False
        return capture.thread == self.name or (self.thread.mode == "global" and capture.mode == "global")

    def _forbid(self, stream: str) -> int:
        """For a call that no graph can have."""
        capture = self.captures.get(stream)
        if capture is None:
            return self._legacy() if stream == LEGACY else 0
        error = UNSUPPORTED if capture.is_valid else INVALIDATED
        self._end(capture)
        return error

    # Work in streams. `_meet`: a call that waits, or that only the device can answer, meets a fault.

    def _meet(self, stream: str = LEGACY) -> int:
        self.lost = self.lost or self.pending
        return self.lost or self._known(stream)

    def _launch(self, stream: str, *, waits: bool = False, is_sized: bool = True) -> int:
        capture = self.captures.get(stream)
        if capture is None:
            error = self._legacy() if stream == LEGACY else 0
            if error or waits:
                return error or self._meet(stream)
            if self.pending or self.lost:
                return 0
            return self._known(stream) or (0 if is_sized else INVALID_CONFIGURATION)
        if not capture.is_valid:
            return INVALIDATED
        node = len(self.earlier)
        before = self.tails[stream]
        self.earlier[node] = before.union(*(self.earlier[each] for each in before))
        self.tails[stream] = frozenset({node})
        return 0

    def _synchronize(self) -> int:
        hit = set(self.captures.values())
        self._end(*hit)
        return UNSUPPORTED if hit else self._meet()

    def _reset(self) -> int:
        error = self._synchronize()
        if self.lost:
            self.pending = self.lost = self.thread.last = 0
            return 0
        return error

    def _event_wait(self, event: str) -> int:
        if error := self._unsafe():
            return error
        capture = self.events[event].capture
        if capture is not None:
            self._end(capture)
            return CAPTURED_EVENT
        return self._meet()

    def _record(self, event: str, stream: str) -> int:
        capture = self.captures.get(stream)
        if capture is None:
            if error := self._legacy() if stream == LEGACY else 0:
                return error
            if not self._exists(stream) and not self.pending:
                return INVALID_HANDLE
        elif not capture.is_valid:
            return INVALIDATED
        if capture or not self.lost:
            has_time = self.events[event].has_time or not (capture or self.pending)
            self.events[event] = Event(True, capture, self.tails.get(stream, frozenset()), has_time)
        return 0

    def _wait(self, stream: str, event: str) -> int:
        own, of = self.captures.get(stream), self.events[event]
        if own and not own.is_valid:
            return INVALIDATED
        if of.capture is None:
            if own:
                self._end(own)
                return ISOLATION
            error = self._legacy() if stream == LEGACY else 0
            return error or (0 if self.pending else self._known(stream))
        if own is of.capture:
            self.tails[stream] |= of.nodes
            return 0
        if own:
            self._end(own, of.capture)
            return CAPTURED_EVENT if of.capture.is_over else MERGE
        if of.capture.is_over:
            return CAPTURED_EVENT
        return self._join(stream, of) if of.capture.is_valid else INVALID_VALUE

    def _join(self, stream: str, event: Event) -> int:
        assert event.capture
        if stream == LEGACY:
            error = self._legacy()
            self._end(*([] if error else [event.capture]))
            return error or UNSUPPORTED
        if not self._exists(stream):
            return INVALID_HANDLE
        self.captures[stream], self.tails[stream] = event.capture, event.nodes
        return 0

    def _elapsed(self, *events: str) -> int:
        for event in map(self.events.__getitem__, events):
            if not event.is_recorded:
                return INVALID_HANDLE
            if event.capture is not None:
                return CAPTURED_EVENT
        return self._meet() or (0 if all(self.events[event].has_time for event in events) else INVALID_HANDLE)

    def _allocate(self, name: str, nbytes: str) -> int:
        error = self._unsafe() or self._meet()
        self.allocation = "null" if error else "live"
        return error

    def _free(self, name: str) -> int:
        if self.allocation == "null":
            return 0
        if error := self._unsafe() or self._meet():  # nothing is freed
            return error
        was_live, self.allocation = self.allocation == "live", "freed"
        return 0 if was_live else INVALID_VALUE

    # Captures

    def _begin_capture(self, stream: str, mode: str) -> int:
        if stream == LEGACY:
            return UNSUPPORTED
        if not self._exists(stream):
            return INVALID_HANDLE
        if stream in self.captures:
            return ILLEGAL_STATE
        self.captures[stream], self.tails[stream] = Capture(stream, mode, self.name), frozenset()
        return 0

    def _end_capture(self, stream: str) -> int:
        capture = self.captures.get(stream)
        if capture is None:
            return ILLEGAL_STATE
        if capture.origin != stream:
            self._end(capture)
            return UNMATCHED
        if capture.mode != "relaxed" and capture.thread != self.name:
            self._end(capture)
            return WRONG_THREAD
        error = 0 if capture.is_valid else INVALIDATED
        nodes = frozenset().union(*(self.tails[each] for each, its in self.captures.items() if its is capture))
        tail = self.tails[stream]
        if not error and nodes - tail.union(*(self.earlier[each] for each in tail)):
            error = UNJOINED
        self._finish(capture)
        return error

    def _finish(self, capture: Capture) -> None:
        capture.is_over = True
        for stream in [each for each, its in self.captures.items() if its is capture]:
            del self.captures[stream], self.tails[stream]

    def _is_capturing(self, stream: str) -> int:
        if not self._exists(stream):
            return INVALID_HANDLE
        return IMPLICIT if stream == LEGACY and any(self.blocking[each] for each in self.captures) else 0

    def _exchange(self, mode: str) -> int:
        self.thread.mode = mode
        return 0

    def _destroy(self, stream: str) -> int:
        if stream not in self.blocking:
            return INVALID_HANDLE
        capture = self.captures.get(stream)
        if capture and capture.origin == stream:
            self._finish(capture)
        elif capture:
            self._end(capture)
            del self.captures[stream], self.tails[stream]
        del self.blocking[stream]
        return self._meet()
