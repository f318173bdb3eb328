"""Assembling very many lines, and a module of which one kernel has changed.

`python -m tests.bench.assembling 1200000`: seconds and MiB of assembling so many lines, in a process of its own.
"""

import os
import resource
import sys
import time
from dataclasses import replace
from pathlib import Path

from tests.bench.large_ptx import many_kernels


def seconds_and_peak(n_lines: int) -> tuple[float, float]:
    """Seconds of assembling at least so many lines, and the most MiB of this process."""
    from gpuprof.assemble.assemble import assemble_program

    module = many_kernels(n_lines)
    start = time.perf_counter()
    assemble_program(module)
    return time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def changed_seconds(folder: Path, n_lines: int, repeats: int) -> list[float]:
    """Seconds of each of some runs that assemble so many lines, of which one kernel is another than in the run before,
    as `gpuprof compile` does. `folder`: holds the cache.
    """
    from gpuprof.run.compile_file import build_ptx

    os.environ["GPUPROF_CACHE"] = str(folder / "cache")
    module = many_kernels(n_lines)
    build_ptx(module)
    seconds = []
    first = module.ptx.index("fma.rn.f32", len(module.ptx) // 2)
    line = module.ptx[first : module.ptx.index("\n", first) + 1]
    for number in range(1, repeats + 1):
        changed = replace(module, ptx=module.ptx[:first] + line * number + module.ptx[first:])
        start = time.perf_counter()
        build_ptx(changed)
        seconds.append(time.perf_counter() - start)
    return seconds


if __name__ == "__main__":
    print(*seconds_and_peak(int(sys.argv[1])))
