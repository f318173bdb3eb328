"""The accessors of `table_code` for compiled code, by their names there. That file is imported, and Numba with it, when
something is compiled.
"""

import functools

from gpuprof.jit.internal import Deferred


@functools.cache
def __getattr__(name: str) -> Deferred:
    def made():
        from gpuprof.timing.state import table_code

        return getattr(table_code, name)

    if name.startswith("__"):
        raise AttributeError(name)
    return Deferred(made)
