"""synccheck: planted errors of synchronisation and their clean twins."""

import pytest

from gpuprof.errors import KernelFault
from gpuprof.trace.checkers.synccheck import Synccheck
from tests.support.planted import Planted, in_short

# name -> body (t: the thread), threads, what is found; a fault ends those of the second table
CASES = {
    "whole": ("__syncthreads(); x[t] = 1; __syncthreads();", 96, []),
    "whole_in_loop": ("for (int k = 0; k < 3; k++) { x[t] += k; __syncthreads(); }", 96, []),
    "after_a_branch": ("if (t % 3) x[t] = 1; else x[t] = y[t]; __syncthreads();", 96, []),
    "uneven_loops": ("for (int k = 0; k < t % 5; k++) x[t] += y[k]; __syncthreads();", 96, []),
    "by_warps": ("if (t < 32) __syncthreads(); else __syncthreads();", 64, []),
    "left_early": ("if (t >= 40) return; x[t] = 1; __syncthreads();", 96, []),
    "two_places": (
        'if (t % 2) { x[t] = 1; asm volatile("bar.sync 0;" ::: "memory"); }'
        'else { y[t] = 2; asm volatile("bar.sync 0; // other" ::: "memory"); }',
        64,
        [("divergent_barrier", 32)],
    ),
    "two_places_unaligned": (
        'if (t % 2) { x[t] = 1; asm volatile("barrier.sync 0;" ::: "memory"); }'
        'else { y[t] = 2; asm volatile("barrier.sync 0; // other" ::: "memory"); }',
        64,
        [],
    ),
    "member": ("if (t % 32 < 8) __syncwarp(0xff);", 64, []),
    "not_a_member": ("if (t % 32 < 8) __syncwarp(0x7f);", 64, [("not_a_member", 2)]),
    "shuffle": ("x[t] = __shfl_xor_sync(0xffffffff, y[t], 1);", 64, []),
    "shuffle_not_a_member": ("if (t % 32 < 8) x[t] = __shfl_xor_sync(0x7f, y[t], 1);", 64, [("not_a_member", 2)]),
    "vote_not_a_member": ("if (t % 32 < 8) x[t] = __ballot_sync(0x1, y[t]);", 32, [("not_a_member", 7)]),
}
DEADLOCKS = {
    "all_wait_for_more": (
        'asm volatile("bar.sync 1, 128;" ::: "memory");',
        "thread (0, 0, 0) of block (0, 0, 0) waits forever: "
        "64 threads from thread 0 on of the block reached BAR.SYNC at planted.cu:{} last, which is for 128 threads",
    ),
    "one_warp_waits": (
        'if (t < 32) asm volatile("bar.sync 1, 64;" ::: "memory"); else asm volatile("bar.sync 2, 64;" ::: "memory");',
        "thread (0, 0, 0) of block (0, 0, 0) waits forever: "
        "32 threads from thread 0 on of the block reached BAR.SYNC at planted.cu:{} last, which is for 64 "
        "threads; "
        "32 threads from thread 32 on of the block reached BAR.SYNC at planted.cu:{} last, which is for 64 threads",
    ),
}


def kernel(name: str, body: str) -> str:
    return f'extern "C" __global__ void {name}(int *x, int *y) {{ int t = threadIdx.x; {body} }}\n'


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    bodies = {name: body for name, (body, *_) in (CASES | DEADLOCKS).items()}
    source = "".join(kernel(name, body) for name, body in bodies.items())
    return Planted(tmp_path_factory.mktemp("synccheck"), source, Synccheck())


@pytest.mark.parametrize("name", CASES)
def test_planted(planted, name):
    _, threads, expected = CASES[name]
    assert in_short(planted.run(name, 2, threads, planted.array(4096), planted.array(4096))) == [
        (kind, 2 * count) for kind, count in expected
    ]


@pytest.mark.parametrize("name", DEADLOCKS)
def test_deadlock(planted, name):
    with pytest.raises(KernelFault):
        planted.run(name, 1, 64, planted.array(4096), planted.array(4096))
    (found,) = planted.checkers[0].results[-1].findings
    line = len(CASES) + 1 + list(DEADLOCKS).index(name)
    assert (found.kind, found.block, found.thread) == ("deadlock", 0, 0)
    assert found.text == DEADLOCKS[name][1].format(line, line)
