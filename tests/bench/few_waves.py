"""`--sample-blocks` on launches of 4 to 28 waves: twenty, chosen before the rule for them was tried. Not a test.

Run `python -m tests.bench.few_waves [NUMBER ...]`: of each launch the waves, the share of its blocks that was timed,
the error and the error stated, and the seconds of the processor with and without it.
"""

import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from gpuprof.chips import load_chip
from tests.bench.tensor import PRODUCT
from tests.paths import ROOT
from tests.support.running import run_file

CHIP = 'inherits = "a100"\nsms = 8\ndram_channels = 3\n'  # eight SMs with their share of the memory: waves are short
LAUNCHES = (
    ("samples/matmul.cu", "naive<<<(16, 16), (16, 16)>>>(f32[256,256]=random, f32[256,256]=random, f32[256,256], 256)"),
    ("samples/matmul.cu", "naive<<<(20, 20), (16, 16)>>>(f32[320,320]=random, f32[320,320]=random, f32[320,320], 320)"),
    ("samples/matmul.cu", "tiled<<<(22, 22), (16, 16)>>>(f32[352,352]=random, f32[352,352]=random, f32[352,352], 352)"),
    ("samples/matmul.cu", "tiled<<<(28, 28), (16, 16)>>>(f32[448,448]=random, f32[448,448]=random, f32[448,448], 448)"),
    (
        "samples/matmul.cu",
        "blocked<<<(24, 24), (16, 8)>>>(f32[768,768]=random, f32[768,768]=random, f32[768,768], 768)",
    ),
    ("samples/saxpy.cu", "saxpy<<<512, 256>>>(131072, 2.0, f32[131072]=random, f32[131072]=ones)"),
    ("samples/saxpy.cu", "saxpy<<<1500, 256>>>(384000, 2.0, f32[384000]=random, f32[384000]=ones)"),
    ("samples/transpose.cu", "naive<<<(32, 32), (32, 8)>>>(f32[1024,1024], f32[1024,1024]=random, 1024)"),
    ("samples/transpose.cu", "coalesced<<<(24, 24), (32, 8)>>>(f32[768,768], f32[768,768]=random, 768)"),
    ("samples/transpose.cu", "padded<<<(20, 20), (32, 8)>>>(f32[640,640], f32[640,640]=random, 640)"),
    ("samples/stencil3d.cu", "heat<<<1024, 256>>>(f32[64,64,64], f32[64,64,64]=random, 64, 64, 64, 0.1)"),
    ("samples/stencil3d.cu", "heat<<<320, 256>>>(f32[40,32,64], f32[40,32,64]=random, 64, 32, 40, 0.1)"),
    ("samples/reduction.cu", "shuffle<<<512, 256>>>(f32[131072]=random, f32[512])"),
    ("samples/reduction.cu", "interleaved<<<800, 256>>>(f32[204800]=random, f32[800])"),
    ("samples/reduction.cu", "sequential<<<1000, 256>>>(f32[256000]=random, f32[1000])"),
    ("samples/reduction.cu", "divergent<<<300, 256>>>(f32[76800]=random, f32[300])"),
    ("samples/mandelbrot.cu", "mandelbrot<<<(16, 32), (16, 8)>>>(i32[256,256], 256, 256, 200)"),
    ("samples/mandelbrot.cu", "mandelbrot<<<(32, 64), (16, 8)>>>(i32[512,512], 512, 512, 100)"),
    ("samples/histogram.cu", "shared_atomics<<<300, 256>>>(u32[307200]=random, 307200, u32[64])"),
    ("tests/bench/tensor.cu", PRODUCT.format(8, 1024)),
)


class Compared(NamedTuple):
    launch: str
    blocks: int
    timed: int  # blocks
    error: float  # of the cycles, as a share
    stated: float
    seconds: float  # of the processor, of both threads together
    seconds_of_all: float


def compared(numbers: Iterable[int] = range(len(LAUNCHES))) -> Iterator[Compared]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "eight.toml")
        path.write_text(CHIP)
        chip = load_chip(path)
    for number in numbers:
        file, launch = LAUNCHES[number]
        found = []
        for samples_blocks in (False, True):
            began = time.process_time()
            _, results = run_file(ROOT / file, launch, chip=chip, sample_blocks=samples_blocks)
            found.append((results.launches[0].timing, time.process_time() - began))
        (full, of_all), (part, seconds) = found
        known = part.extrapolation
        timed, stated = (known.simulated, known.error) if known else (full.blocks_launched, 0.0)
        error = part.cycles / full.cycles - 1
        yield Compared(launch.partition("(f")[0], full.blocks_launched, timed, error, stated, seconds, of_all)


if __name__ == "__main__":
    for each in compared(map(int, sys.argv[1:]) if sys.argv[1:] else range(len(LAUNCHES))):
        print(
            f"{each.launch:40.40} {each.timed:5,} of {each.blocks:5,} blocks  error {100 * each.error:+6.2f} %  stated "
            f"{100 * each.stated:5.2f} %  {each.seconds:6.2f} s of {each.seconds_of_all:6.2f}",
            flush=True,
        )
