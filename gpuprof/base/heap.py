"""Memory: how the C library's heap treats large arrays, and when Python has no garbage to look for.

Pieces of trace are tens of megabytes each; they are made on one thread and dropped on another, thousands of them in a
long run. glibc raises the size from which an array has pages of its own to that of the largest one freed so far, up to
32 MiB; from then on pieces lie in a heap whose holes are not given back, and a process grows by some 2 bytes a warp
instruction.
"""

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

M_MMAP_THRESHOLD = -3  # malloc.h
LARGE_NBYTES = 1 << 20


def give_back_large_arrays() -> None:
    """Puts arrays of LARGE_NBYTES and more on pages of their own, which go back to the system with them. Only glibc
    needs this setting.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries may not have it, and do without
        if mallopt:
            mallopt(M_MMAP_THRESHOLD, LARGE_NBYTES)


@contextmanager
def nothing_is_garbage() -> Iterator[None]:
    """Switches garbage collection off while modules are imported and tables are built, all of which stay: collecting
    takes a sixth of a short run. The block may contain another one.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
