"""Runs a generator on another thread, a bounded number of items ahead of its consumer.

The emulator (numpy, which releases the interpreter lock inside its loops) fills one core while the timing model (Numba,
`nogil`) consumes on another. Memory is bounded by the queue's bound, or by what is ordered (`Orders`). The generator
may have begun on the thread that calls.
"""

import queue
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import TypeVar

from gpuprof.base.interrupts import Stopped, stop_thread

T = TypeVar("T")

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
    results: queue.Queue = queue.Queue(maxsize=depth)
    stop = threading.Event()

    def put(item) -> bool:
        while not stop.is_set():
            try:
                # A put without a timeout could not be stopped, and nobody may be left to take the item.
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

    # A daemon: an emulation without an end must not keep the process alive.
    thread = threading.Thread(target=work, name="emulator", daemon=True)
    thread.start()
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
        if not finished:
            settled.stop(thread)
        thread.join()


class _Settled:
    """Whether a thread is past being stopped: from `settle` on no Stopped comes any more, and one under way has come
    by its end.
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
