"""Runs a kernel of long blocks and says what memory that took at most: `python -m tests.bench.long_run compute 1000`
for
1,000 million warp instructions.

The blocks are all on the chip at once and run to the end of the launch, so a trace that is kept whole would grow with
the run.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.support.running import run_source

SOURCE = r"""
__global__ void compute(const float *x, float *out, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = x[i], b = a + 1, c = a + 2, d = a + 3;
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < 8; k++) { a = a * 0.5f + 1; b = b * 0.25f + 2; c = c * 0.125f + 3; d = d * 0.75f + 4; }
    }
    out[i] = a + b + c + d;
}

__global__ void memory(const float *x, float *out, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int r = 0; r < rounds; r++) {
        int at = (i + r * 4096) & 0xfffff;
        sum += x[at] * 0.5f + x[(at + 512) & 0xfffff];
        out[at] = sum;
    }
}
"""
BLOCKS, WARPS_PER_BLOCK = 216, 8  # two on each SM of an a100
# Instructions of a warp in a round, as compiled here; what was really executed is counted.
PER_ROUND = {"compute": 67, "memory": 13}


class Run(NamedTuple):
    instructions: int  # by warps
    seconds: float
    peak_nbytes: int  # of the process


def peak_nbytes() -> int:
    """Of this process. What getrusage says begins with the size of the process that started this one, so Linux is asked
    by another way.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])


def long_run(kind: str, millions: float) -> Run:
    """About as many million warp instructions of a kernel of SOURCE, on an a100."""
    rounds = max(1, round(millions * 1e6 / (BLOCKS * WARPS_PER_BLOCK * PER_ROUND[kind])))
    launch = f"{kind}<<<{BLOCKS}, {32 * WARPS_PER_BLOCK}>>>(x: f32[1048576]=random, out: f32[1048576], {rounds})"
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        _, results = run_source(Path(folder), SOURCE, launch, chip_name="a100", max_cycles=1 << 40)
    instructions = int(results.launches[0].counters.inst_executed.sum())
    return Run(instructions, time.perf_counter() - start, peak_nbytes())


if __name__ == "__main__":
    kind, millions = sys.argv[1], float(sys.argv[2])
    run = long_run(kind, millions)
    print(
        f"{kind} {run.instructions / 1e6:.1f} M warp instructions {run.seconds:.1f} s "
        f"{run.peak_nbytes / (1 << 20):.0f} MiB"
    )
