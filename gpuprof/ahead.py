"""Runs a generator on another thread, a bounded number of items ahead of its consumer.

The emulator (numpy, which releases the interpreter lock inside its loops) fills one core while the timing model (Numba,
`nogil`) consumes on another. The queue's bound keeps memory bounded.
"""

import queue
import threading
from collections.abc import Iterator
from typing import TypeVar

T = TypeVar("T")

_END = object()


class _Raised:
    def __init__(self, error: BaseException):
        self.error = error


def ahead(items: Iterator[T], depth: int = 2) -> Iterator[T]:
    """Yields the items in order. What the generator raises is raised here, at its place. Closing early stops the thread."""
    results: queue.Queue = queue.Queue(maxsize=depth)
    stop = threading.Event()

    def put(item) -> bool:
        while not stop.is_set():
            try:
                results.put(item, timeout=0.05)
                return True
            except queue.Full:
                continue
        return False

    def work():
        try:
            for item in items:
                if not put(item):
                    return
            put(_END)
        except BaseException as error:  # carried to the consumer, whatever it is
            put(_Raised(error))

    thread = threading.Thread(target=work, name="emulator", daemon=True)
    thread.start()
    try:
        while True:
            item = results.get()
            if item is _END:
                return
            if isinstance(item, _Raised):
                raise item.error
            yield item
    finally:
        stop.set()
        thread.join()
