"""Parts of `matrix` that are written as vectors of LLVM, by their names in `vectors_code`. That file is imported, and
Numba with it, when something is compiled.
"""

import functools

from gpuprof.jit.internal import Deferred


@functools.cache
def __getattr__(name: str) -> Deferred:
    def made():
        from gpuprof.emulate.matrices import vectors_code

        return getattr(vectors_code, name)

    if name.startswith("__"):
        raise AttributeError(name)
    return Deferred(made)
