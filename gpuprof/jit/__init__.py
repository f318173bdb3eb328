"""All use of Numba's insides: functions cached on disk (`cached`), functions compiled once within their callers
(`internal`), numbers that threads share (`atomics`), and compilation as a stage that progress can show
(`compile_stage`).

With GPUPROF_PLAIN_NUMBA=1 in the environment, plain Numba compiles everything. That shows whether a wrong number is our
compiler's doing, and whether a new release of Numba works, whatever has changed inside it. It takes five times as long
to compile, the code runs a third slower, and nothing is cached on disk: the files there were compiled the other way.
"""

import os

PLAIN = os.environ.get("GPUPROF_PLAIN_NUMBA", "0") not in ("", "0")
