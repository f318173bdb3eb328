"""The debugged program, on a thread of its own: it runs while the debugger waits, and waits while the debugger
works.
"""

import queue
import threading
from collections.abc import Callable
from typing import TypeAlias

from gpuprof.base.interrupts import Ended, is_ctrl_c
from gpuprof.debug.breakpoints import Points
from gpuprof.debug.event_timeline import Timeline
from gpuprof.debug.plans import Order, Stop
from gpuprof.errors import GpuprofError

POLL_SECONDS = 0.05  # a thread that waits forever cannot be stopped
KILL_SECONDS = 10.0  # for the next instruction of a kernel

RunAll: TypeAlias = Callable[[Timeline], int]  # runs the target under a supervisor, and gives an exit code


class Killed(BaseException):
    """The run is no longer needed."""


class Inferior:
    """One run of a target. Either its thread or the caller's is active, never both."""

    def __init__(self, target: RunAll, points: Points, order: Order):
        self._stops: queue.SimpleQueue = queue.SimpleQueue()
        self._orders: queue.SimpleQueue = queue.SimpleQueue()
        self.timeline = Timeline(points, self._ask, order)
        self._target, self._is_unwanted = target, False
        self.has_ended = False
        self._thread = threading.Thread(target=self._work, name="debugged", daemon=True)

    def start(self) -> Stop:
        self._thread.start()
        return self._wait()

    def resume(self, order: Order) -> Stop:
        self._orders.put(order)
        return self._wait()

    def kill(self) -> None:
        """Ends the run, at a stop or while it runs. Host code that launches nothing more is left to its thread."""
        self._is_unwanted = self.timeline.is_interrupted = True
        self._orders.put(None)
        while not self.has_ended:
            try:
                self._take(KILL_SECONDS)
            except queue.Empty:
                return
        self._thread.join()

    def _take(self, seconds: float | None = None) -> Stop:
        stop = self._stops.get(timeout=seconds)
        self.has_ended = stop.reason in ("exit", "error")
        return stop

    def _wait(self) -> Stop:
        while True:
            try:
                return self._take()
            except KeyboardInterrupt as error:
                # Ctrl-C stops the kernel, and a second one before it does, the debugger.
                if self.timeline.is_interrupted or not is_ctrl_c(error):
                    raise
                self.timeline.is_interrupted = True

    def _ask(self, stop: Stop) -> Order:
        """Waits for an order, on the run's own threads."""
        if self._is_unwanted:
            raise Killed
        self._stops.put(stop)
        while True:
            try:
                order = self._orders.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue
            if order is None:
                raise Killed
            return order

    def _work(self) -> None:
        try:
            code = self._target(self.timeline)
            self._stops.put(Stop("exit", exit_code=code))
        except Killed:
            self._stops.put(Stop("exit"))
        except GpuprofError as error:
            details = getattr(error, "diagnostics", "")
            self._stops.put(
                Stop("error", text=(*details.rstrip("\n").splitlines(), str(error)), exit_code=error.exit_code)
            )
        except Ended as error:
            self._stops.put(Stop("error", text=(str(error),), exit_code=error.exit_code))
        except BaseException as error:  # a fault of gpuprof's own must not leave the debugger waiting
            self._stops.put(Stop("error", text=(f"{type(error).__name__}: {error}",), exit_code=1))
            raise
