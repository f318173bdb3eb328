"""Shared memory of another block of the cluster: its latency and the SM's port to it, by hand; what the trace says of
it; beside the twin.
"""

from pathlib import Path

import numpy as np
import pytest

from gpuprof.chips import altered, load_chip
from gpuprof.isa.stalls import INDEX
from tests.readable.timing import ledger_of, time_launch
from tests.support.matrices import long_from
from tests.support.running import run_source
from tests.support.timing_support import access, encode, launch, make, run, warp
from tests.timing.test_timing import ffma, rows


@pytest.fixture(scope="module")
def chip(tmp_path_factory):
    """One SM; 191 cycles to another block's shared memory, 16 bytes a cycle."""
    path = Path(tmp_path_factory.mktemp("chip")) / "near.toml"
    path.write_text(
        'inherits = "a100"\nsms = 1\nl0i_miss_cycles = 1\nl1i_miss_cycles = 1\ncluster_shared_cycles = '
        "191\ncluster_nbytes_per_cycle = 16\nmio_gap_cycles = 1\nexit_cycles = 1\n"
    )
    return load_chip(path)


def waits(chip, *accesses):
    """Cycles that a multiply-add waits for each of the loads, which are issued one after the other."""
    n = len(accesses)
    code = [make("LDS.32", dst=k, a=20) for k in range(n)] + [ffma(k + 8, k) for k in range(n)] + [make("EXIT")]
    timing, _ = run(chip, code, [warp([0], accesses)])
    return [rows(timing)[n + k].get("short_scoreboard", 0) for k in range(n)]


def test_latency(chip):
    """The load leaves at 102 and its data is there 191 cycles later, in the own memory 23; the multiply-add could have
    issued at 103.
    """
    assert waits(chip, access(remote=32)) == [102 + 191 - 103]
    assert waits(chip, access(remote=1)) == [102 + 191 - 103]
    assert waits(chip, access()) == [102 + 23 - 103]


def test_a_chip_without_a_number_has_it_as_the_own(chip):
    assert waits(altered(chip, {"cluster_shared_cycles": 0}, "test"), access(remote=32)) == [102 + 23 - 103]


def test_the_port_takes_its_time(chip):
    """Loads pass the address unit at 102 and 106. The first has 32 lanes of 4 bytes, 8 cycles of the port, so the
    second begins at 110 and has its data at 301; the multiply-add for the first issued at 293, and keeps its pipe for
    another cycle, which is no wait for data. With 16 lanes the port is free at 106.
    """
    assert waits(chip, access(remote=32), access(remote=32)) == [
        102 + 191 - 104,
        110 - 102 - 1 - 1,
    ]
    assert waits(chip, access(remote=16), access(remote=32)) == [102 + 191 - 104, 106 - 102 - 1 - 1]


def test_bank_conflicts_and_the_port_add_up(chip):
    """Four passes: three more than a word a lane needs, two cycles each."""
    assert waits(chip, access(remote=32, wavefronts=4)) == [102 + 191 + 3 * 2 - 103]


def test_stores_that_wait_for_the_port_fill_the_queue(chip):
    """Stores one after the other. The port takes one in 8 cycles; five wait in the queue, which a place leaves 8 cycles
    after the port took its store: store k enters the queue when k - 5 has left it, at 102 + 8 (k - 5) + 8."""
    code = [*(make("STS.32", a=20, b=8) for _ in range(12)), make("EXIT")]
    timing, _ = run(chip, code, [warp([0], [access(remote=32)] * 12)])
    issued = np.cumsum([sum(row.values()) for row in rows(timing)])  # cycles from the block's start to each issue
    gaps = np.diff(issued)
    assert gaps[6:-1].tolist() == [8] * 5
    own, _ = run(chip, code, [warp([0], [access()] * 12)])
    assert own.cycles < timing.cycles


@pytest.mark.parametrize("depth", [1, 5])
def test_random_accesses_beside_the_twin(chip, depth):
    """Loads, stores and atomics of eight warps, to the own memory and to others': each cycle of each instruction."""
    own = altered(chip, {"queue_depth": depth}, "test")
    random = np.random.default_rng(depth)
    body = [
        make("LDS.32", dst=0, a=20),
        make("LDS.64", dst=2, a=20),
        make("STS.32", a=20, b=8),
        make("ATOMS.ADD.U32", dst=4, a=20, b=8),
    ]
    code = [*body, ffma(9, 0), *body, ffma(9, 4), make("STG.32", a=20, b=9, mods=1 << 6), make("EXIT")]

    def accesses():
        found = [
            access(remote=int(random.choice([0, 0, 3, 32])), wavefronts=int(random.integers(1, 4))) for _ in range(8)
        ]
        return [*found, access([int(random.integers(64))])]

    warps = [warp([0], accesses()) for _ in range(8)]
    timing, _ = run(own, code, warps, warps_per_block=4)
    job = launch(encode(code))
    twin = time_launch(own, job.module.code, job.module.load_base, job.function, 128, warps)
    assert ledger_of(timing) == dict(twin.ledger)
    assert timing.end_cycle == twin.end


SOURCE = """
#define MEET asm volatile("barrier.cluster.arrive.aligned;\\n\\tbarrier.cluster.wait.aligned;" ::: "memory")
__global__ void peek(int other, int lanes, unsigned *out) {
  __shared__ unsigned data[64];
  unsigned at = (unsigned)__cvta_generic_to_shared(data + threadIdx.x), rank, x = 7;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  data[threadIdx.x] = 100 * rank + threadIdx.x;
  MEET;
  asm("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(at) : "r"(rank ^ other));
  if (threadIdx.x < lanes)
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(x) : "r"(at));
  out[blockIdx.x * 64 + threadIdx.x] = x;
  MEET;
}
__global__ void peek_generic(int other, int lanes, unsigned *out) {
  __shared__ unsigned data[64];
  unsigned rank, x = 7;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  data[threadIdx.x] = 100 * rank + threadIdx.x;
  MEET;
  unsigned *at = data + threadIdx.x, *there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(at), "r"(rank ^ other));
  if (threadIdx.x < lanes)
    asm volatile("ld.u32 %0, [%1];" : "=r"(x) : "l"(there));
  out[blockIdx.x * 64 + threadIdx.x] = x;
  MEET;
}
"""


@pytest.mark.parametrize(
    ("kernel", "own", "reason"),
    long_from(1, [("peek", "shared", "short_scoreboard"), ("peek_generic", "memory", "long_scoreboard")]),
)
def test_a_kernel_waits_for_another_block(tmp_path, kernel, own, reason):
    """The same loads, of the own memory by its address as a cluster's and of the other block's: the difference is that
    of the latencies.
    """
    asked = ((0, 64), (0, 64), (1, 64), (1, 1))  # the first fetches the code
    launches = [
        f"{kernel}<<<2, 64, cluster=2>>>({other}, {lanes}, out{k}: u32[128])" for k, (other, lanes) in enumerate(asked)
    ]
    arrays, results = run_source(tmp_path, SOURCE, *launches, chip_name="h200")
    chip = load_chip("h200")
    waits = [int(launch.timing.ledger[:, INDEX[reason]].sum()) for launch in results.launches]
    more = chip.cluster_shared_cycles - chip.latency[own]
    # two warps of two blocks; the second of a block may wait for the port, too
    assert 4 * more <= waits[2] - waits[1] <= 4 * more + 2 * 8
    rank, thread = np.arange(128) // 64, np.arange(128) % 64
    out = [arrays[f"out{k}"].copy_to_host() for k in range(4)]
    assert out[1].tolist() == (100 * rank + thread).tolist()
    assert out[2].tolist() == (100 * (1 - rank) + thread).tolist()
    assert out[3].tolist() == np.where(thread < 1, 100 * (1 - rank) + thread, 7).tolist()
