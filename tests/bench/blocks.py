"""`--sample-blocks` against timing all blocks, on launches of many waves: seconds, blocks timed, error and the error
stated. Not a test.

Run `python -m tests.bench.blocks [NAME ...]`; seconds are wall-clock, and in brackets the processor's, of both threads
together.
"""

import sys
import time
from typing import NamedTuple

from gpuprof.chips import load_chip
from tests.paths import SAMPLES
from tests.support.running import run_file

TRANSPOSE = "{}<<<(256, 256), (32, 8)>>>(out: f32[8192,8192], in: f32[8192,8192]=random, 8192)"
MATMUL = "{}<<<(48, 48), (16, 16)>>>(a: f32[768,768]=random, b: f32[768,768]=random, c: f32[768,768], 768)"
LADDER = {
    "saxpy": ("saxpy.cu", "a100", "saxpy<<<262144, 256>>>(67108864, 2.0, f32[67108864]=random, f32[67108864])"),
    "naive transpose": ("transpose.cu", "a100", TRANSPOSE.format("naive")),
    "coalesced transpose": ("transpose.cu", "a100", TRANSPOSE.format("coalesced")),
    "padded transpose": ("transpose.cu", "a100", TRANSPOSE.format("padded")),
    "heat": (
        "stencil3d.cu",
        "a100",
        "heat<<<131072, 256>>>(after: f32[512,256,256], before: f32[512,256,256]=random, 256, 256, 512, 0.1)",
    ),
    "shuffle": ("reduction.cu", "a100", "shuffle<<<262144, 256>>>(in: f32[67108864]=random, sums: f32[262144])"),
    "interleaved": (
        "reduction.cu",
        "a100",
        "interleaved<<<131072, 256>>>(in: f32[33554432]=random, sums: f32[131072])",
    ),
    "mandelbrot": (
        "mandelbrot.cu",
        "a100",
        "mandelbrot<<<(256, 512), (16, 8)>>>(counts: i32[4096,4096], 4096, 4096, 100)",
    ),
    "naive matmul": ("matmul.cu", "t4", MATMUL.format("naive")),
    "tiled matmul": ("matmul.cu", "t4", MATMUL.format("tiled")),
}


class Run(NamedTuple):
    seconds: float
    processor_seconds: float
    timing: object  # LaunchTiming


def run(name: str, sample_blocks: bool) -> Run:
    file, chip, launch = LADDER[name]
    began, busy = time.perf_counter(), time.process_time()
    _, results = run_file(SAMPLES / file, launch, chip=load_chip(chip), sample_blocks=sample_blocks)
    return Run(time.perf_counter() - began, time.process_time() - busy, results.launches[0].timing)


def line(name: str, full: Run, part: Run) -> str:
    known = part.timing.extrapolation
    timed, within = (100 * known.simulated / known.blocks, 100 * known.error) if known else (100.0, 0.0)
    error = 100 * (part.timing.cycles / full.timing.cycles - 1)
    seconds = "  ".join(f"{each.seconds:7.1f} s ({each.processor_seconds:6.1f})" for each in (full, part))
    return (
        f"{name:20} {full.timing.blocks_launched:>8,} blocks  {seconds}  timed {timed:5.1f} %  error {error:+5.2f} "
        f"%  stated {within:4.2f} %"
    )


if __name__ == "__main__":
    for name in sys.argv[1:] or LADDER:
        run_file(SAMPLES / LADDER[name][0])  # compiled, and read from the disk
        print(line(name, run(name, False), run(name, True)), flush=True)
