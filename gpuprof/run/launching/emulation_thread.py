"""Runs a generator on another thread, a bounded number of items ahead of its consumer.

The emulator (numpy, which releases the interpreter lock inside its loops) fills one core while the timing model (Numba,
`nogil`) consumes on another. Memory is bounded by the queue's bound, or by what is ordered (`Orders`). The generator
may have begun on the thread that calls.

A thread that has reached its generator's end is reused for the next one: most launches are small, and starting a thread
takes a good part of the time of one. A thread that was stopped is never used again.
"""

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeVar

from gpuprof.base.interrupts import Stopped, stop_thread

T = TypeVar("T")

WORKING, IDLE = "emulator", "idle emulator"  # names of the threads
_END = object()


class _Raised:
    def __init__(self, error: BaseException):
        self.error = error


class Orders:
    """The orders for a generator. It iterates over them, and waits for more until they are closed."""

    def __init__(self):
        self._queue: queue.SimpleQueue = queue.SimpleQueue()

    def put(self, order) -> None:
        self._queue.put(order)

    def close(self) -> None:
        self._queue.put(_END)

    def __iter__(self):
        while True:
            try:
                order = self._queue.get(timeout=0.05)  # a thread that waits without end cannot be stopped
            except queue.Empty:
                continue
            if order is _END:
                return
            yield order


def ahead(items: Iterator[T], depth: int = 2) -> Iterator[T]:
    """Starts the thread; gives the items in order, of which at most `depth` are ready, or any number when that is 0.

    What the generator raises is raised here, at its place. Closing early stops the thread, soon, also in the middle of
    an item: an item can be minutes of emulation, and Ctrl-C should not wait for it.
    """
    results = _ahead(items, depth)
    next(results)
    return results


def _ahead(items: Iterator[T], depth: int) -> Iterator[T]:
    """First of all nothing, once the thread has started; then the items."""
    results = queue.Queue(maxsize=depth) if depth else queue.SimpleQueue()
    stop = threading.Event()

    def put(item) -> bool:
        while not stop.is_set():
            try:
                # A put without a timeout could not be stopped, and there may be no consumer any more.
                results.put(item, timeout=0.05)
                return True
            except queue.Full:
                continue
        return False

    def produce():
        try:
            for item in items:
                if not put(item):
                    return
            put(_END)
        except Stopped:
            raise
        except BaseException as error:  # carried to the consumer, whatever it is
            put(_Raised(error))

    settled = _Settled()

    def work():
        with suppress(Stopped):
            with suppress(Stopped):
                produce()
            # Stopped may still arrive on the way here, which is what the outer `suppress` is for.
            settled.settle()

    worker = _worker()
    worker.begin(work)
    finished = False
    try:
        yield
        while not finished:
            item = results.get()
            finished = item is _END or isinstance(item, _Raised)
            if not finished:
                yield item
        if item is not _END:
            raise item.error
    finally:
        stop.set()
        if finished:
            worker.keep()
        else:
            settled.stop(worker.thread)
            worker.end()


class _Worker:
    """A thread that carries out one piece of work after the other."""

    def __init__(self):
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        # A daemon: an emulation without an end must not keep the process alive.
        self.thread = threading.Thread(target=self._run, name=WORKING, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()
            del work  # it holds on to the memory of a GPU

    def begin(self, work: Callable[[], None]) -> None:
        self.thread.name = WORKING
        self._work.put(work)

    def keep(self) -> None:
        """Its work is over, or as good as that: it may get more. One idle thread is enough: rarely are two at work."""
        if _idle:
            self.end()
        else:
            self.thread.name = IDLE
            _idle.append(self)

    def end(self) -> None:
        """Waits for the end of its work, and ends the thread."""
        self._work.put(None)
        self.thread.join()


_idle: list[_Worker] = []


def _worker() -> _Worker:
    """One that is idle, or a new one. Of several callers each gets another."""
    with suppress(IndexError):
        while True:
            if (worker := _idle.pop()).thread.is_alive():  # in a forked process it is not
                return worker
    return _Worker()


class _Settled:
    """The state in which a thread cannot be stopped any more: after `settle` no Stopped is raised, and one that was on
    its way has been raised by its end.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._settled = False

    def settle(self) -> None:
        with self._lock:
            self._settled = True

    def stop(self, thread: threading.Thread) -> None:
        """Raises Stopped inside the thread, before its next Python instruction."""
        # Under the lock the thread cannot end, and its number cannot become another thread's.
        with self._lock:
            if not self._settled:
                stop_thread(thread.ident)
