"""How the model's inner loop is compiled.

Every function takes the whole machine `m` (state.State). Passing it costs a few hundred words, so what runs for each instruction is
`hot`, inlined into its one caller; `cold` marks what is called from several places, or seldom. Nothing here allocates, so Numba's
reference counting is off.
"""

from numba import njit

OPTIONS = dict(nogil=True, error_model="numpy", _nrt=False)
hot = njit(forceinline=True, **OPTIONS)
cold = njit(**OPTIONS)
