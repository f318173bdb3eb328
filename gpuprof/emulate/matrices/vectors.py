"""Parts of `matrix` that are written as vectors of LLVM, by their names in `vectors_code`. That file is imported, and
Numba with it, when something is compiled.

A factor of a product is stored as float64 columns: of A the 16 rows of one k side by side, of B its 8 columns. Eight
numbers that are side by side are in ORDER, evens first, because then a row of C is the words of one register and
those of the next.
"""

import functools

from gpuprof.jit.internal import Deferred

ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
EIGHT = len(ORDER)


@functools.cache
def __getattr__(name: str) -> Deferred:
    def made():
        from gpuprof.emulate.matrices import vectors_code

        return getattr(vectors_code, name)

    if name.startswith("__"):
        raise AttributeError(name)
    return Deferred(made)
