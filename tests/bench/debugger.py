"""What the debugger's commands cost late in a long launch: seconds of processor time, and the most memory.

python -m tests.bench.debugger wide 24000      16 blocks of 256 threads: some 97 million warp-instructions
python -m tests.bench.debugger narrow 320000   one warp: some 10 million

The stop is behind the loop. Then: a step back and a second one, who wrote the warp's element of shared memory last
(some turns before), and `reverse-continue` with a condition that holds a tenth of the turns before. `conditions`:
threads per second for which a condition on a variable is worked out.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.bench.long_run import peak_nbytes

SOURCE = """__global__ void turn(int n, unsigned *o) {
    __shared__ unsigned s[256];
    unsigned t = threadIdx.x, x = t;
    s[t] = 0;
    for (int i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        if (x >> 28 == 3)
            s[t] += i;
        x ^= x >> 7;
    }
    o[blockIdx.x * blockDim.x + t] = x + s[t];
}
"""
AFTER_THE_LOOP, IN_THE_LOOP = "turn.cu:11", "turn.cu:9"
GRIDS = {"wide": (16, 256), "narrow": (1, 32)}
MOST_INSTRUCTIONS = 1 << 40


class Costs(NamedTuple):
    """CPU seconds, warp-instructions until the stop, and MiB."""

    warp_instructions: int
    first_stop: float
    step_back: float
    second_step_back: float
    last_write: float
    reverse_continue: float
    peak: float


def seconds(act: Callable[[], object]) -> float:
    start = time.process_time()
    act()
    return time.process_time() - start


def costs(kind: str, turns: int, folder: Path) -> Costs:
    from gpuprof.debug import Debugger

    blocks, threads = GRIDS[kind]
    file = folder / "turn.cu"
    file.write_text(SOURCE)
    launch = f"turn<<<{blocks}, {threads}>>>({turns}, o: u32[{blocks * threads}])"
    with Debugger(file, launches=[launch], max_instructions=MOST_INSTRUCTIONS) as debugger:
        debugger.break_at(AFTER_THE_LOOP)
        first_stop = seconds(debugger.run)
        n_instructions = debugger.timeline.entries[0].counters.pulse.warp_instructions
        back = [seconds(debugger.reverse_step) for _ in range(2)]
        last_write = seconds(lambda: debugger.last_write("s[t]"))
        debugger.break_at(IN_THE_LOOP, condition=f"threadIdx.x == 0 && i == {turns - turns // 10}")
        reverse = seconds(debugger.reverse_continue)
        assert debugger.evaluate("i").number == turns - turns // 10
    peak = peak_nbytes() / (1 << 20)
    return Costs(n_instructions, first_stop, *back, last_write, reverse, peak)


def conditions(folder: Path, turns: int = 100) -> float:
    """Threads per second for which a condition is worked out that holds for none."""
    from gpuprof.debug import Debugger

    file = folder / "turn.cu"
    file.write_text(SOURCE)
    launch = f"turn<<<1, 256>>>({turns}, o: u32[256])"
    with Debugger(file, launches=[launch]) as debugger:
        debugger.break_at(IN_THE_LOOP, condition="i > 1000 && x != t")
        taken = seconds(debugger.run)
    return 256 * turns / taken


def debugger_figures() -> Iterator[tuple[str, float, str, str]]:
    """Of a launch of ten million warp-instructions, for `make bench`."""
    with tempfile.TemporaryDirectory() as folder:
        found = costs("wide", 2_400, Path(folder))
        what = f"tests/bench/debugger.py, {found.warp_instructions / 1e6:.1f} million warp-instructions"
        yield "debug.stop", found.first_stop, "CPU s", f"{what}: to a breakpoint after the loop"
        yield "debug.back", found.step_back, "CPU s", f"{what}: reverse-step from there"
        yield "debug.written", found.last_write, "CPU s", f"{what}: info last-write from there"
        yield "debug.conditions", conditions(Path(folder)), "threads/s", "tests/bench/debugger.py: a condition's value"


def main(kind: str, turns: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, value in costs(kind, int(turns), Path(folder))._asdict().items():
            print(f"{name:18} {value:,.3f}" if isinstance(value, float) else f"{name:18} {value:,}")
        print(f"{'conditions':18} {conditions(Path(folder)):,.0f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
