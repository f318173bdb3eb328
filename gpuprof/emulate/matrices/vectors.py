"""Parts of `matrix` that are written as vectors of LLVM, by their names in `vectors_code`. That file is imported, and
Numba with it, when something is compiled.
"""

from gpuprof.jit.internal import deferred_names


def _code():
    from gpuprof.emulate.matrices import vectors_code

    return vectors_code


__getattr__ = deferred_names(_code)
