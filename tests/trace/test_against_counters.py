"""What generators see, against the exact counters of the same launches, which are made another way: by basic blocks,
and from the trace.
"""

import numpy as np
import pytest

from gpuprof.run.observers.tracing import Attached
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import TraceGenerator
from tests.paths import ROOT
from tests.support.running import run_file, run_source

SECTOR_SHIFT = 5


class Counts(TraceGenerator):
    """Counts by instruction what the counters count, from events."""

    def initialize(self, kernel):
        self.kernel = kernel
        names = ("inst_executed", "thread_inst_executed", "thread_inst_executed_pred_on", "divergent_branches")
        self.counts = {name: np.zeros(len(kernel.instructions), np.uint64) for name in (*names, "l2_sectors_global")}
        self.after = np.zeros(len(kernel.instructions), np.uint64)

    def event(self, event: TraceEvent) -> None:
        at, counts = event.instruction.number, self.counts
        counts["inst_executed"][at] += event.n_warps
        counts["thread_inst_executed"][at] += event.n_active
        counts["thread_inst_executed_pred_on"][at] += event.n_true
        if event.instruction.kind in ("branch", "exit", "return", "call"):
            split = (event.taken_masks != 0) & (event.fall_through_masks != 0)
            counts["divergent_branches"][at] += np.count_nonzero(split)
        for access in event.accesses:
            if access.space == "global":
                assert not (access.addresses[access.active] % access.nbytes).any()
                places = np.where(access.active, access.addresses >> SECTOR_SHIFT, -1)
                counts["l2_sectors_global"][at] += sum(len(set(row[row >= 0].tolist())) for row in places)

    def post_event(self, event: TraceEvent) -> None:
        self.after[event.instruction.number] += event.n_warps


class Blocks(TraceGenerator):
    """Counts runs of basic blocks."""

    blocks = True

    def initialize(self, kernel):
        self.executed = np.zeros(len(kernel.instructions), np.uint64)

    def event(self, event: TraceEvent) -> None:
        for instruction in event.basic_block.instructions:
            self.executed[instruction.number] += event.n_warps


DIVERGENT = """
__device__ __noinline__ int collatz(int n)
{
    int k = 0;
    while (n > 1) { n = n % 2 ? 3 * n + 1 : n / 2; k++; }
    return k;
}
__global__ void k(int *x, int *hist, int n)
{
    __shared__ int part[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 32) part[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) {
        int k = collatz(i % 97);
        int *where = k % 2 ? &part[k % 32] : &hist[k % 32];
        atomicAdd(where, 1);
        x[i] = __shfl_xor_sync(__activemask(), k, 1);
    }
    __syncthreads();
    if (threadIdx.x < 32) atomicAdd(&hist[threadIdx.x], part[threadIdx.x]);
}
"""


def check(results, counts: Counts, blocks: Blocks) -> None:
    """Of the last launch."""
    counters = results.launches[-1].counters
    for name, found in counts.counts.items():
        assert found.tolist() == getattr(counters, name).tolist(), name
    assert blocks.executed.tolist() == counters.inst_executed.tolist()
    assert counts.after.tolist() == counters.inst_executed.tolist()


def test_divergence_calls_atomics_and_barriers(tmp_path):
    counts, blocks = Counts(), Blocks()
    _, results = run_source(
        tmp_path, DIVERGENT, "k<<<40, 96>>>(i32[3840], i32[32], 3800)", traces=(Attached(counts), Attached(blocks))
    )
    check(results, counts, blocks)
    assert counts.counts["divergent_branches"].any()


@pytest.mark.long
@pytest.mark.parametrize(
    "file, launch",
    [
        ("transpose.cu", "padded<<<(4, 4), (32, 8)>>>(out: f32[128,128], in: f32[128,128]=random, 128)"),
        ("reduction.cu", "divergent<<<9, 256>>>(in: f32[2304]=random, sums: f32[9])"),
        ("reduction.cu", "shuffle<<<9, 256>>>(in: f32[2304]=random, sums: f32[9])"),
        ("histogram.cu", "shared_atomics<<<5, 256>>>(data: u32[4096]=random, 4000, bins: u32[64])"),
        ("mandelbrot.cu", "mandelbrot<<<(2, 5), (16, 8)>>>(counts: i32[40,32], 32, 40, 50)"),
    ],
)
def test_samples(file, launch):
    counts, blocks = Counts(), Blocks()
    _, results = run_file(ROOT / "samples" / file, launch, traces=(Attached(counts), Attached(blocks)))
    check(results, counts, blocks)


@pytest.mark.long
@pytest.mark.parametrize("settings", [{"sample_blocks": True}, {"chip_name": "t4"}], ids=["sample-blocks", "t4"])
def test_all_blocks_are_watched_in_whatever_order_the_chip_takes_them(settings):
    """A chip of 40 SMs asks for the trace in several pieces, with warps that sleep between."""
    counts, blocks = Counts(), Blocks()
    launch = "saxpy<<<2048, 256>>>(524288, 2.0, f32[524288]=random, f32[524288]=ones)"
    _, results = run_file(ROOT / "samples/saxpy.cu", launch, traces=(Attached(counts), Attached(blocks)), **settings)
    check(results, counts, blocks)
    assert counts.counts["thread_inst_executed"].max() == 524288
