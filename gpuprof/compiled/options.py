"""How the model's inner loop is compiled.

Every function takes the record `machine` (see timing/state/tables.py). `hot` is inlined into its caller; `cold` marks
what is called from several places, or seldom. Nothing here allocates, so Numba's reference counting is off.
"""

from gpuprof.compiled.parts import part

OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False}
hot = part(forceinline=True, **OPTIONS)
cold = part(**OPTIONS)
