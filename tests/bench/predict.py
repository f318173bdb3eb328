"""What a hundred thousand predictions take. Not a test: `make bench` calls `points`."""

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.paths import ROOT

GPUPROF = [sys.executable, "-m", "gpuprof"]
SPACE = ("--param", "sms=40:139:1", "--param", "l2_mb=10:49:1", "--param", "dram_gbytes_per_s=800:3200:100")
POINTS = 100 * 40 * 25


def points(folder: Path) -> tuple[float, float]:
    """Milliseconds a point, and the most memory in MiB, of a Pareto front of POINTS points from one launch."""
    (folder / "cost.csv").write_text("number,cost\nsms,1\nl2_mb,0.5\n")
    collect = ["collect", str(ROOT / "samples" / "saxpy.cu"), "--counters", "blocks", "-o", "points.gprec"]
    subprocess.run([*GPUPROF, *collect], cwd=folder, check=True, capture_output=True)
    predict = ["predict", "points.gprec", "--chips", "a100", *SPACE, "--cost", "cost.csv"]
    start = time.perf_counter()
    started = subprocess.Popen([*GPUPROF, *predict], cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(started.pid, 0)
    assert status == 0
    return 1000 * (time.perf_counter() - start) / POINTS, used.ru_maxrss / 1024
