"""A launch emulated a segment of its trace at a time, all blocks or only some of them: the same trace, results and
counters as in one go.
"""

from pathlib import Path

import numpy as np
import pytest

import gpuprof.run.session
from gpuprof.emulate.run import emulate as plain
from gpuprof.emulate.trace_log.launch_counters import COUNTER_NAMES
from gpuprof.emulate.trace_log.trace import REST, Order
from gpuprof.run.launching import launcher
from tests.support.matrices import long_from
from tests.support.running import run_source

SOURCE = r"""
#include <cstdio>

// Loops of other lengths in every lane, barriers, shuffles on both sides of a branch, shared memory.
__global__ void mixed(int *out, int n) {
    __shared__ int box[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int round = 0; round < 4 + blockIdx.x % 3; round++) {
        for (int k = 0; k < (i * 7 + round) % 11; k++)
            sum += (k & i & 1) ? k * i : out[(i + k) % n] * 0 + 3;
        box[threadIdx.x] = sum;
        __syncthreads();
        sum += box[63 - threadIdx.x];
        __syncthreads();
        if (sum & 1)
            sum += __shfl_xor_sync(0xffffffff, sum, 1);
        else
            sum -= __shfl_xor_sync(0xffffffff, sum, 1);
    }
    if (i % 96 == 5)
        return;
    out[i] = sum;
}

// The turn of a block comes when the one before it has had its own.
__global__ void in_turn(int *turn, int *out) {
    if (threadIdx.x == 0)
        while (atomicCAS(turn, -1, -1) != blockIdx.x) ;
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = *turn * 32 + threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(turn, 1);
}

// Local memory by a changing index, atomics, copies to shared memory, and pointers of which each lane's may be to other memory.
__global__ void everywhere(int *out, int n) {
    __shared__ __align__(16) int box[64], copy[64];
    __shared__ int counts[8];
    int own[16], i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    for (int k = 0; k < 16; k++)
        own[k] = i ^ k;
    if (t < 8)
        counts[t] = 0;
    box[t] = i;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.wait_all;"
                 :: "r"((unsigned)__cvta_generic_to_shared(copy + t)), "l"(out + (i * 5) % n) : "memory");
    __syncthreads();
    int *from = t % 3 == 0 ? box + t * 7 % 64 : t % 3 == 1 ? own + i % 16 : out + (i * 33) % n;
    int sum = *from + own[(t * 3) & 15] + copy[63 - t] * 0;
    atomicAdd(counts + (sum & 7), 1);
    if (t % 5)
        atomicAdd(out + n + i % 7, sum);
    __syncthreads();
    if (i < n - 9)
        out[i] = counts[t & 7] * 0 + sum * 0 + i;
}

__global__ void alone(int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < 40; k++) {
        out[i] += k * i;
        asm volatile("" ::: "memory");
    }
}

__global__ void __cluster_dims__(4) cluster(int *out) {
    int rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    for (int round = 0; round < 3; round++) {
        out[blockIdx.x * 32 + threadIdx.x] += rank + 1;
        asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
        out[(blockIdx.x ^ 1) * 32 + threadIdx.x] *= 3;
        asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    }
}
"""  # noqa: E501
LAUNCHES = {
    "alone": "alone<<<4, 128>>>(out: i32[512])",
    "mixed": "mixed<<<24, 64>>>(out: i32[1536], 1536)",
    "in_turn": "in_turn<<<3, 32>>>(turn: i32[1], out: i32[96])",
    "everywhere": "everywhere<<<24, 64>>>(out: i32[1543], 1536)",
    "cluster": "cluster<<<8, 32>>>(out: i32[256])",
}


def alternately(parts: int, warps_together: int):
    """Orders that give every `parts`-th group of so many warps its turn, until all blocks of the 24 have come to their
    end.
    """

    def orders(seen):
        yield Order()
        while True:
            if not seen[-1].final.all():
                awake = np.arange(len(seen[-1].final)) // warps_together % parts == len(seen) % parts
                yield Order(seen[-1].first_block, awake)
            elif seen[-1].first_block + seen[-1].n_blocks < 24:
                yield Order()
            else:
                return

    return orders


def emulated(folder: Path, monkeypatch, kernel: str, chip: str = "a100", make_orders=None, **limits):
    """(trace of each warp to its end; the arrays; the counters; the pieces) of a kernel emulated within `limits`."""
    memory, counters, seen = launched(folder, monkeypatch, kernel, chip, make_orders, **limits)
    return traces(seen), memory, counters, seen


def launched(folder: Path, monkeypatch, kernel: str, chip: str, make_orders=None, **limits):
    """The same without a look at the trace, which may end early."""
    seen = []

    def emulate(*arguments, **options):
        orders = make_orders(seen) if make_orders else None
        for piece in plain(*arguments, **options | limits | {"orders": orders}):
            seen.append(piece)
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(launcher, "emulate", emulate)
    counters = []
    monkeypatch.setattr(launcher.LaunchCounters, "zeros", keeping(counters, launcher.LaunchCounters.zeros))
    memory = []
    monkeypatch.setattr(gpuprof.run.session, "AddressSpace", keeping(memory, gpuprof.run.session.AddressSpace))
    with pytest.raises(KeyboardInterrupt):
        run_source(folder, SOURCE, LAUNCHES[kernel], chip_name=chip)
    return memory[0].arena.tobytes(), {name: getattr(counters[0], name).tolist() for name in COUNTER_NAMES}, seen


def same(one, other) -> bool:
    """Whether traces, memory and counters are; pytest would take minutes to show how they differ."""
    return one[:3] == other[:3]


def keeping(made: list, make):
    def wrapper(*arguments):
        made.append(make(*arguments))
        return made[-1]

    return wrapper


def traces(pieces) -> dict[int, tuple[bytes, bytes, bytes]]:
    """Steps, accesses and sectors by warp of the launch. A warp has nothing after its final piece, and every warp has
    one.
    """
    found, ended = {}, set()
    for piece in pieces:
        for row in range(piece.n_blocks * piece.warps_per_block):
            warp = piece.first_block * piece.warps_per_block + row
            parts = tuple(
                rows[start[row] : start[row + 1]].tobytes()
                for start, rows in (
                    (piece.step_start, piece.steps),
                    (piece.access_start, piece.accesses),
                    (piece.sector_start, piece.sectors),
                )
            )
            assert warp not in ended or not any(parts)
            found[warp] = tuple(a + b for a, b in zip(found.get(warp, (b"", b"", b"")), parts, strict=True))
            if piece.final[row]:
                ended.add(warp)
    assert ended == set(found)
    return found


@pytest.mark.parametrize(
    "kernel, chip, sizes",
    long_from(1, [("mixed", "a100", (1, 5000)), ("in_turn", "a100", (500,)), ("cluster", "h200", (1, 500))]),
)
def test_a_trace_in_segments_is_the_same_trace(tmp_path, monkeypatch, kernel, chip, sizes):
    whole = emulated(tmp_path, monkeypatch, kernel, chip)
    assert {piece.number for piece in whole[3]} == {0}
    for nbytes in sizes:
        parts = emulated(tmp_path, monkeypatch, kernel, chip, segment_nbytes=nbytes)
        assert max(piece.number for piece in parts[3]) > 3
        assert same(parts, whole)


def test_blocks_whose_trace_is_not_wanted_sleep(tmp_path, monkeypatch):
    whole = emulated(tmp_path, monkeypatch, "mixed")
    parts = emulated(tmp_path, monkeypatch, "mixed", make_orders=alternately(3, 2), segment_nbytes=2000)
    assert same(parts, whole)
    for count, piece in enumerate(parts[3]):
        if piece.number:
            steps = np.diff(piece.step_start).reshape(piece.n_blocks, -1).sum(axis=1)
            asleep = np.arange(piece.n_blocks) % 3 != count % 3
            assert not steps[asleep].any()
            assert piece.final.all() or steps.any() or piece.final.reshape(piece.n_blocks, -1)[~asleep].all()


@pytest.mark.parametrize("nbytes", long_from(1, [1, 2000]))
def test_warps_are_woken_by_those_who_wait_for_them(tmp_path, monkeypatch, nbytes):
    """Every third warp, so one of the two of a block: at the barrier the other one gets up, no warp of another block
    does.
    """
    whole = emulated(tmp_path, monkeypatch, "mixed")
    parts = emulated(tmp_path, monkeypatch, "mixed", make_orders=alternately(3, 1), segment_nbytes=nbytes)
    assert same(parts, whole)
    alone = 0
    for count, piece in enumerate(parts[3]):
        if piece.number:
            steps = np.diff(piece.step_start).reshape(-1, 2)
            wanted = np.arange(steps.size).reshape(-1, 2) % 3 == count % 3
            assert not steps[~wanted.any(axis=1)].any()
            alone += int(((steps > 0) & wanted & ~(steps > 0)[:, ::-1]).sum())
    assert alone > 20


def test_warps_that_never_wait_run_alone(tmp_path, monkeypatch):
    """Those that are not wanted have no step before the others' end, however long a stretch those may make."""

    def orders(seen):
        yield Order()
        while not seen[-1].final[1::2].all():
            yield Order(0, np.arange(16) % 2 == 1)
        while not seen[-1].final.all():
            yield Order(0)

    whole = emulated(tmp_path, monkeypatch, "alone")
    parts = emulated(tmp_path, monkeypatch, "alone", make_orders=orders, segment_nbytes=2000)
    assert same(parts, whole)
    of_others = [piece for piece in parts[3][1:] if not parts[3][piece.number - 1].final[1::2].all()]
    assert len(of_others) > 3
    for piece in of_others:
        steps = np.diff(piece.step_start)
        assert not steps[::2].any() and steps[1::2].any()


def test_clusters_are_woken_whole(tmp_path, monkeypatch):
    """A block that comes to the barrier of its cluster wakes that, not the other."""

    def orders(seen):
        yield Order()
        while not seen[-1].final[[1, 6]].all():
            yield Order(0, np.arange(8) == (6 if len(seen) % 2 else 1))
        while not seen[-1].final.all():
            yield Order(0)

    whole = emulated(tmp_path, monkeypatch, "cluster", "h200")
    parts = emulated(tmp_path, monkeypatch, "cluster", "h200", make_orders=orders, segment_nbytes=1000)
    assert same(parts, whole)
    first, second = (np.diff(parts[3][k].step_start) > 0 for k in (1, 2))
    assert first.tolist() == [False] * 4 + [True] * 4 and second.tolist() == [True] * 4 + [False] * 4


def test_blocks_that_wait_for_each_other_never_sleep(tmp_path, monkeypatch):
    def orders(seen):
        yield Order()
        while not seen[-1].final.all():
            yield Order(0, np.arange(3) == len(seen) % 3)

    whole = emulated(tmp_path, monkeypatch, "in_turn")
    parts = emulated(tmp_path, monkeypatch, "in_turn", make_orders=orders, segment_nbytes=500)
    assert len(parts[3]) > 3 and same(parts, whole)


@pytest.mark.parametrize(
    "kernel, chip", long_from(1, [("mixed", "a100"), ("everywhere", "a100"), ("in_turn", "a100"), ("cluster", "h200")])
)
def test_what_is_not_traced_is_counted_all_the_same(tmp_path, monkeypatch, kernel, chip):
    """From the first segment's end on nobody wants a trace: no piece comes, memory and counters are as ever."""

    def orders(seen):
        yield Order()
        yield Order(REST, traced=False)

    whole = emulated(tmp_path, monkeypatch, kernel, chip)
    memory, counters, pieces = launched(tmp_path, monkeypatch, kernel, chip, orders, segment_nbytes=500)
    assert len(pieces) == 1 and not pieces[0].final.all()
    assert memory == whole[1]
    assert counters == whole[2]
    assert sum(counters["l2_sectors_global"]) > 0


@pytest.mark.parametrize("kernel, chip", long_from(1, [("mixed", "a100"), ("everywhere", "a100"), ("cluster", "h200")]))
def test_what_nobody_counts_does_the_same(tmp_path, monkeypatch, kernel, chip):
    """Without a trace and without counts: memory is as ever, and the counters are zero."""

    def orders(seen):
        yield Order(REST, traced=False)

    whole = emulated(tmp_path, monkeypatch, kernel, chip)
    memory, counters, pieces = launched(tmp_path, monkeypatch, kernel, chip, orders, is_counted=False)
    assert not pieces and memory == whole[1]
    assert not any(map(any, counters.values())) and sum(whole[2]["inst_executed"]) > 0
