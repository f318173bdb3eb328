"""The door to plain Numba: with GPUPROF_PLAIN_NUMBA=1 in the environment everything is compiled by Numba as it comes.

That shows whether a wrong number is our compiler's doing, and whether a new release of Numba works, whatever has
changed inside it. It takes five times as long to compile, runs a third slower, and keeps nothing on disk: what is kept
there was compiled the other way.
"""

import os

PLAIN = os.environ.get("GPUPROF_PLAIN_NUMBA", "0") not in ("", "0")
