"""The accessors of `table_code` for compiled code, by their names there. That file is imported, and Numba with it, when
something is compiled.
"""

from gpuprof.jit.internal import deferred_names


def _code():
    from gpuprof.timing.state import table_code

    return table_code


__getattr__ = deferred_names(_code)
