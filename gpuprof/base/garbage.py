"""When Python's garbage collector has nothing to find."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def nothing_is_garbage() -> Iterator[None]:
    """While modules are imported and tables built, all of which stay: looking through them for garbage takes a sixth of
    a short run. May stand inside itself.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
