"""How the model's inner loop is compiled.

Every function takes the machine's record `m` (see `tables`). `hot` is inlined into its caller; `cold` marks what is called from several
places, or seldom. Nothing here allocates, so Numba's reference counting is off.
"""

from numba import njit

OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False}
UNCALLED = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # by the interpreter: no bridge to it needs compiling
hot = njit(forceinline=True, **OPTIONS, **UNCALLED)
cold = njit(**OPTIONS, **UNCALLED)
