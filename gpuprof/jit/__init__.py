"""All use of Numba's insides: functions whose machine code is stored (`cached`), functions compiled within their
callers (`internal`), numbers that threads share (`atomics`), and compilation as a stage that progress can show
(`compile_stage`).

    function of Python ─ compiler, entry ─> object files ─ store ─> files ─ loading ─> a builtin function of Python

`shipped.txt` lists what `build` compiles ahead: a wheel has it. A start that finds all code imports no Numba.

With GPUPROF_PLAIN_NUMBA=1 in the environment, plain Numba compiles everything. That shows whether a wrong number is our
compiler's doing, and whether a new release of Numba works, whatever has changed inside it. It takes five times as long
to compile, the code runs a third slower, and nothing is cached on disk: the files there were compiled the other way.
With NUMBA_DISABLE_JIT=1 nothing is compiled.
"""

import os


def _is_set(name: str) -> bool:
    return os.environ.get(name, "0") not in ("", "0")


PLAIN = _is_set("GPUPROF_PLAIN_NUMBA")
DISABLED = _is_set("NUMBA_DISABLE_JIT")
