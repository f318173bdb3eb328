"""racecheck: bulk copies, warp groups' multiplications and mbarriers. Planted errors, each next to what would have been
right."""

import re
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

import pytest

from gpuprof.run.compile_file import build
from gpuprof.trace.checkers.racecheck import Racecheck
from tests.support.compacting import Compacting
from tests.support.matrices import long_but_every
from tests.support.nvidia_tools import PTXAS, needs_ptxas
from tests.support.planted import Planted, in_short

PRELUDE = """\
typedef unsigned long long u64;
#define F static __device__ __forceinline__
#define M ::"r"
F unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
F void init(u64 *b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" M(at(b)), "r"(n) : "memory"); }
F void arrive(u64 *b) { asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" M(at(b)) : "memory"); }
F void expect(u64 *b, int n) { asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" M(at(b)), "r"(n) : "memory"); }
F void wait(u64 *b, int parity)
{
    int done;
    do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(b)), "r"(parity) : "memory");
    while (!done);
}
F void load(void *to, const void *from, int n, u64 *b) { asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" M(at(to)), "l"(from), "r"(n), "r"(at(b)) : "memory"); }
F void store(void *to, const void *from, int n) { asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(at(from)), "r"(n) : "memory"); }
F void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
F void written() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
F void been_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
F void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
F void fence_all() { asm volatile("fence.proxy.async;" ::: "memory"); }
F void copy(void *to, const void *from) { asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" M(at(to)), "l"(from) : "memory"); }
F void copied() { asm volatile("cp.async.wait_all;" ::: "memory"); }
F void copies_arrive(u64 *b) { asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" M(at(b)) : "memory"); }
F void copies_count(u64 *b) { asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" M(at(b)) : "memory"); }
F u64 tile(const void *p) { return at(p) >> 4 & 0x3fff | 8ull << 16 | 16ull << 32; }
F void multiply(float *d, const void *a, const void *b) { asm volatile("wgmma.fence.sync.aligned;\\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 0, 1, 1, 0, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(tile(a)), "l"(tile(b)) : "memory"); }
F void multiply_by_own(float *d, int a, const void *b) { asm volatile("wgmma.fence.sync.aligned;\\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %4, %4, %4}, %5, 1, 1, 1, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a), "l"(tile(b)) : "memory"); }
F void meet() { asm volatile("barrier.cluster.arrive.aligned;\\nbarrier.cluster.wait.aligned;" ::: "memory"); }
F void come() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
F void go() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
F unsigned far(const void *p) { unsigned r; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(at(p)), "r"(1 - blockIdx.x)); return r; }
F void put(unsigned to, int v) { asm volatile("st.shared::cluster.u32 [%0], %1;" M(to), "r"(v) : "memory"); }
F void add(unsigned to, int v) { asm volatile("red.shared::cluster.add.u32 [%0], %1;" M(to), "r"(v) : "memory"); }
F void store_async(unsigned to, int v, unsigned b) { asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" M(to), "r"(v), "r"(b) : "memory"); }
F void add_async(unsigned to, int v, unsigned b) { asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" M(to), "r"(v), "r"(b) : "memory"); }
F void arrive_far(unsigned b) { asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" M(b) : "memory"); }
F void copy_far(unsigned to, const void *from, int n, unsigned b) { asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" M(to), "r"(at(from)), "r"(n), "r"(b) : "memory"); }
F void order() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
F void go_on(float *d, const void *a, const void *b) { asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(tile(a)), "l"(tile(b)) : "memory"); }
F void go_on_by_own(float *d, int a, const void *b) { asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %4, %4, %4}, %5, 1, 1, 1, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a), "l"(tile(b)) : "memory"); }
F void group() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int n> F void multiplied() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory"); }
"""  # noqa: E501


class Case(NamedTuple):
    """A kernel body (int *x, int *y; t is the thread) for one block, or a cluster, and the kinds that are found."""

    name: str
    body: str
    kinds: tuple[str, ...] = ()
    block: int = 64
    cluster: int = 1


ASYNC, REGISTER, UNFENCED, NO_FENCE, WR, RW, WW = (
    ("async_copy_race",),
    ("async_register_race",),
    ("missing_proxy_fence",),
    ("missing_wgmma_fence",),
    ("shared_write_read_race",),
    ("shared_read_write_race",),
    ("shared_write_write_race",),
)
OWN = (
    "__shared__ __align__(128) int s[64]; __shared__ u64 full, empty;"
    "if (t == 0) {{ init(&full, {n}); init(&empty, 64); }} __syncthreads();"
)
GO = "if (t == 0) { expect(&full, 256); load(s, y, 256, &full); }"
OTHER = "x[t] = s[(t + 32) % 64];"


def _loads():
    own = OWN.format(n=1)
    for name, behind, kinds in (
        ("waited", "wait(&full, 0);" + OTHER, ()),
        ("not_waited", OTHER, ASYNC),
        ("barrier_in_place_of_wait", "__syncthreads();" + OTHER, ASYNC),
        ("one_waits_for_all", "if (t == 0) wait(&full, 0); __syncthreads();" + OTHER, ()),
        ("one_warp_waits_for_itself", "if (t < 32) wait(&full, 0);" + OTHER, ASYNC),
        ("written_before_it_came", "s[t] = 1;", ASYNC),
        ("loaded_again", "wait(&full, 0);" + OTHER + "__syncthreads();" + GO + "wait(&full, 1);" + OTHER, ()),
        ("loaded_again_over_readers", "wait(&full, 0);" + OTHER + GO + "wait(&full, 1);" + OTHER, RW),
        ("loaded_again_when_empty", "wait(&full, 0);" + OTHER + "arrive(&empty); if (t == 0) wait(&empty, 0);" + GO
         + "wait(&full, 1);" + OTHER, ()),
        ("loaded_twice_at_once", GO + "__syncwarp();", ASYNC),
    ):  # fmt: skip
        yield Case(f"load_{name}", own + GO + behind, kinds)
    for name, between, kinds in (
        ("fenced", "fence_all();", ()),
        ("not_fenced", "", UNFENCED),
        ("only_ordered", "__threadfence();", UNFENCED),
        ("fenced_before", "", UNFENCED),
    ):
        write = "fence_all();" * (name == "fenced_before") + "y[t] = t;" + between + "__syncthreads();"
        yield Case(f"load_of_global_{name}", own + write + GO + "wait(&full, 0);" + OTHER, kinds)
    yield Case("load_wrong_phase", own + "wait(&full, 1); __syncthreads();" + GO + "__syncwarp();" + OTHER, ASYNC)
    consumer = "if (t >= 32) { wait(&full, 0); x[t] = s[t - 32]; }"
    yield Case("load_consumer_came_first", own + consumer + GO)


def _stores():
    own, write, go = OWN.format(n=1), "s[t] = y[t];", "if (t == 0) { store(x, s, 256); commit(); }"
    end = "if (t == 0) been_read();"
    for name, body, kinds in (
        ("fenced", write + "fence(); __syncthreads();" + go + end, ()),
        ("not_fenced", write + "__syncthreads();" + go + end, UNFENCED),
        ("not_synchronised", write + "fence();" + go + end, WR),
        ("fenced_before_the_write", "fence();" + write + "__syncthreads();" + go + end, UNFENCED),
        ("only_one_fences", write + "if (t == 0) fence(); __syncthreads();" + go + end, UNFENCED),
        ("who_stores_fences", write + "__syncthreads(); if (t == 0) fence();" + go + end, ()),
        ("another_fences_between", write + "__syncthreads(); if (t == 33) fence(); __syncthreads();" + go + end, ()),
        ("thread_fence_alone", write + "__threadfence(); __syncthreads();" + go + end, UNFENCED),
        ("overwritten", write + "fence(); __syncthreads();" + go + "__syncthreads(); s[t] = 1;", ASYNC),
        ("overwritten_when_read", write + "fence(); __syncthreads();" + go + end + "__syncthreads(); s[t] = 1;", ()),
        ("overwritten_no_barrier", write + "fence(); __syncthreads();" + go + end + "s[t] = 1;", RW),
        ("another_waits", write + "fence(); __syncthreads();" + go + "if (t == 32) been_read(); __syncthreads();"
         "s[t] = 1;", ASYNC),
        ("lane_waits", write + "fence(); __syncthreads();" + go + "if (t == 1) been_read(); __syncthreads(); s[t] = 1;",
         ASYNC),
        ("no_group", write + "fence(); __syncthreads(); if (t == 0) { store(x, s, 256); been_read(); } __syncthreads();"
         "s[t] = 1;", ASYNC),
        ("read_back", write + "fence(); __syncthreads();" + go + end + "__syncthreads(); y[t] = x[t];", ASYNC),
        ("read_back_when_written", write + "fence(); __syncthreads();" + go + "if (t == 0) written();"
         "__syncthreads(); y[t] = x[t];", ()),
    ):  # fmt: skip
        yield Case(f"store_{name}", own + body, kinds)


def _copies():
    own = OWN.format(n=64)
    for name, body, kinds in (
        ("report", "copy(s + t, y + t); copies_arrive(&full); wait(&full, 0);" + OTHER, ()),
        ("counted_report", "copy(s + t, y + t); copies_count(&full); arrive(&full); wait(&full, 0);" + OTHER, ()),
        ("report_before", "copies_count(&full); copy(s + t, y + t); arrive(&full); wait(&full, 0);" + OTHER, ASYNC),
        ("plain_arrival", "copy(s + t, y + t); arrive(&full); wait(&full, 0);" + OTHER, ASYNC),
        ("not_waited", "copy(s + t, y + t); copies_arrive(&full);" + OTHER, ("shared_write_read_race",)),
        ("written_and_arrived", "s[t] = y[t]; arrive(&full); wait(&full, 0);" + OTHER, ()),
        ("written_and_not_waited", "s[t] = y[t]; arrive(&full);" + OTHER, WR),
        ("written_behind_arrival", "arrive(&full); s[t] = y[t]; wait(&full, 0);" + OTHER, WR),
    ):
        yield Case(f"copy_{name}", own + body, kinds)
    copy, arrived = "copy(s + t, y + t);", "copies_arrive(&full); if (t == 0) wait(&full, 0);"
    store = "if (t == 0) { store(x, s, 256); commit(); been_read(); }"
    for name, body, kinds in (
        ("fenced", copy + "copied(); fence(); __syncthreads();" + store, ()),
        ("not_fenced", copy + "copied(); __syncthreads();" + store, UNFENCED),
        ("fenced_before_the_wait", copy + "fence(); copied(); __syncthreads();" + store, UNFENCED),
        ("who_stores_fences", copy + "copied(); __syncthreads(); if (t == 0) fence();" + store, ()),
        ("another_fences", copy + "copied(); if (t == 33) fence(); __syncthreads();" + store, UNFENCED),
        ("report_fenced", copy + arrived + "if (t == 0) fence();" + store, ()),
        ("report_not_fenced", copy + arrived + store, UNFENCED),
    ):
        yield Case(f"copy_for_bulk_{name}", own + body, kinds)


def _matrices():
    own = "__shared__ __align__(128) int s[1216]; float d[4] = {};"
    own += "for (int k = t; k < 1216; k += 128) s[k] = y[k % 1024];"
    go, out = "multiply(d, s, s + 1024); group();", "x[t] = (int)d[0];"
    for name, body, kinds in (
        ("fenced", "fence(); __syncthreads();" + go + "multiplied<0>();" + out, ()),
        ("not_fenced", "__syncthreads();" + go + "multiplied<0>();" + out, UNFENCED),
        ("not_synchronised", "fence();" + go + "multiplied<0>();" + out, WR),
        ("overwritten", "fence(); __syncthreads();" + go + "__syncthreads(); s[t] = 1; multiplied<0>();" + out, ASYNC),
        ("overwritten_too_early", "fence(); __syncthreads();" + go + "multiplied<1>(); __syncthreads(); s[t] = 1;"
         + out, ASYNC + REGISTER),
        ("overwritten_when_done", "fence(); __syncthreads();" + go + "multiplied<0>(); __syncthreads(); s[t] = 1;"
         + out, ()),
        ("older_group_done", "fence(); __syncthreads();" + go + "multiply(d, s + 512, s + 1024); group();"
         "multiplied<1>(); __syncthreads(); if (t < 64) s[t] = 1; multiplied<0>();" + out, ()),
    ):  # fmt: skip
        yield Case(f"matrix_{name}", own + body, kinds, 128)
    ready, two = "fence(); __syncthreads();", "float e[4] = {}; multiply(e, s + 512, s + 1024); group();"
    turn = "for (int k = 0; k < y[1200]; k++) { multiply(d, s, s + 1024); group(); multiplied<1>(); }"
    for name, body, kinds in (
        ("not_waited", go + out, REGISTER),
        ("waited_too_early", "multiplied<0>();" + go + out, REGISTER),
        ("too_few_groups", go + two + "multiplied<1>(); x[t] = (int)e[0]; multiplied<0>();", REGISTER),
        ("older_group", go + two + "multiplied<1>();" + out + "multiplied<0>(); x[t + 128] = (int)e[0];", ()),
        ("no_group", "multiply(d, s, s + 1024); multiplied<0>();" + out, REGISTER),
        ("added_to", go + go + "multiplied<0>();" + out, ()),
        ("loop", turn + "multiplied<0>();" + out, ()),
        ("loop_not_waited", turn + out, REGISTER),
        ("copied", go + "float copied = d[0]; multiplied<0>(); x[t] = (int)copied;", ()),
        ("some_warps_wait", go + "if (t < 64) multiplied<0>();" + out + "multiplied<0>();", REGISTER),
        ("of_fragments", "multiply_by_own(d, t, s + 1024); group(); multiplied<0>();" + out, ()),
        ("as_fragments", go + "multiply_by_own(d, __float_as_int(d[1]), s + 1024); group(); multiplied<0>();" + out,
         REGISTER),
    ):  # fmt: skip
        yield Case(f"accumulators_{name}", own + "if (t == 0) y[1200] = 3;" + ready + body, kinds, 128)


def _fragments():
    """Gives the cases of accumulators and of A in registers. `turns`: a loop that is not unrolled."""
    own = "__shared__ __align__(128) int s[1216]; float d[4] = {};"
    own += "for (int k = t; k < 1216; k += 128) s[k] = y[k % 1024]; fence(); __syncthreads();"
    go, end = "go_on(d, s, s + 1024);", "group(); multiplied<0>();"
    read, by_own = "int a = *(volatile int *)(y + t);", "go_on_by_own(d, a, s + 1024);"
    turns = "for (int k = 0; k < y[1200] + 3; k++) {{ {} }}".format
    for name, body, kinds in (
        ("fenced", "order();" + go, ()),
        ("never_fenced", go, NO_FENCE),
        ("fenced_behind", go + "order();", NO_FENCE),
        ("some_warps_fence", "if (t < 64) order();" + go, NO_FENCE),
        ("added_to", "order();" + go + go, ()),
        ("turns", "order();" + turns(go), ()),
        ("scaled", "order();" + go + end + "d[0] *= 0.5f;" + go, NO_FENCE),
        ("scaled_and_fenced", "order();" + go + end + "d[0] *= 0.5f; order();" + go, ()),
        ("turns_scaled", "order();" + turns(go + end + "d[0] *= 0.5f;"), NO_FENCE),
        ("turns_scaled_and_fenced", turns("order();" + go + end + "d[0] *= 0.5f;"), ()),
        ("scaled_where_nobody_goes_on", "order();" + go + end + "if (y[1201]) { d[0] *= 0.5f; } else " + go, ()),
        ("a_read_before", read + "order();" + by_own, ()),
        ("a_read_behind", "order();" + read + by_own, NO_FENCE),
        ("a_overwritten", turns(read + "order();" + by_own + "group(); multiplied<1>();"), REGISTER),
        ("a_overwritten_when_done", turns(read + "order();" + by_own + end), ()),
        ("a_overwritten_in_one_turn", "if (t >= 0)" + turns(read + "order();" + by_own + "group(); multiplied<1>();"
         "if (y[1202] == 0) break;"), ()),
        ("a_older_group_done", turns("order(); int a = 1;" + by_own + "group(); multiplied<1>();"), ()),
    ):  # fmt: skip
        yield Case(f"fragments_{name}", own + body + end + "x[t] = (int)d[0];", kinds, 128)


def _clusters():
    own = OWN.format(n=64) + "s[t] = y[t]; meet();"
    write, out = "put(far(s + t), t);", "x[64 * blockIdx.x + t] = s[t];"
    for name, body, kinds in (
        ("meets", write + "meet();" + out + "meet();", ()),
        ("does_not_meet", write + out + "meet();", WR),
        ("only_arrives", write + "come();" + out + "go();", WR),
        ("reads_between", write + "come(); go();" + out + "meet();", ()),
        ("barrier_of_the_block", write + "__syncthreads();" + out + "meet();", WR),
        ("both_write", write + "s[t] = y[t] + 500; meet();", WW),
        ("atomics", "add(far(s + t), 1); atomicAdd(s + t, 1); meet();", ()),
        ("mbarrier", write + "arrive_far(far(&full)); wait(&full, 0);" + out + "meet();", ()),
        ("mbarrier_not_waited", write + "arrive_far(far(&full));" + out + "meet();", WR),
    ):  # fmt: skip
        yield Case(f"cluster_{name}", own + body, kinds, cluster=2)
    own, store = OWN.format(n=1) + "s[t] = 0;", "store_async(far(s + t), t, far(&full));"
    half, one, two = (f"{own} if (t == 0) expect(&full, {nbytes}); meet();" for nbytes in (128, 256, 512))
    add, wait = "add_async(far(s + t), t, far(&full));", "wait(&full, 0);"
    for name, body, kinds in (
        ("waited", one + store + wait + out, ()),
        ("not_waited", one + store + out, ASYNC),
        ("meets_in_place_of_wait", one + store + "meet();" + out, ASYNC),
        ("one_waits_for_all", one + store + "if (t == 0) wait(&full, 0); __syncthreads();" + out, ()),
        ("overwritten", one + store + "s[t] = 1;", ASYNC),
        ("over_readers", one + out + store + wait, RW),
        ("over_readers_that_met", one + out + "meet();" + store + wait, ()),
        ("twice", two + store + store + wait + out, ASYNC),
        ("by_a_warp_to_one_word", half + "if (t < 32) store_async(far(s), t, far(&full));" + wait, ASYNC),
        ("added_by_a_warp_to_one_word", half + "if (t < 32) add_async(far(s), t, far(&full));" + wait, ()),
        ("added_twice", two + add + add + wait + out, ()),
        ("added_not_waited", one + add + out, ASYNC),
    ):  # fmt: skip
        yield Case(f"async_store_{name}", body + "meet();", kinds, cluster=2)
    own = OWN.format(n=64) + "s[t] = y[t]; meet();"
    bulk = "__shared__ __align__(128) int from[64]; __shared__ u64 here; if (t == 0) init(&here, 1); from[t] = y[t];"
    bulk += "{} meet(); if (t == 0) {{ expect(&here, 256); copy_far(far(s), from, 256, far(&here)); }} {}" + out
    yield Case("cluster_copy", own + bulk.format("fence();", "wait(&here, 0);") + "meet();", cluster=2)
    yield Case("cluster_copy_not_waited", own + bulk.format("fence();", "") + "meet();", ASYNC, cluster=2)
    yield Case("cluster_copy_not_fenced", own + bulk.format("", "wait(&here, 0);") + "meet();", UNFENCED, cluster=2)


CASES = [*_loads(), *_stores(), *_copies(), *_matrices(), *_fragments(), *_clusters()]


PAGES = (
    "__shared__ __align__(128) int s[2048]; __shared__ u64 full; y[1500 + t] = 1; fence_all();"
    "if (t == 0) init(&full, 1); __syncthreads(); if (t == 0) { expect(&full, 8192); load(s, y, 8192, &full); }"
)
CASES += [
    Case("pages_clean", PAGES + "wait(&full, 0); x[t] = s[t]; if (t == 0) y[1023] = y[2047] = 1;"),
    Case("pages_overwritten", PAGES + "if (t == 0) y[1023] = y[2047] = 1; __syncthreads(); wait(&full, 0);", ASYNC),
]


def source_of(cases: Iterable[Case]) -> str:
    return PRELUDE + "".join(
        f'extern "C" __global__ void {case.name}(int *x, int *y) {{ int t = threadIdx.x; {case.body} }}\n'
        for case in cases
    )


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    return Planted(tmp_path_factory.mktemp("async"), source_of(CASES), Racecheck(), Compacting(), chip="h200")


@pytest.mark.parametrize("case", long_but_every(3, CASES), ids=lambda case: case.name)
def test_planted(planted, case):
    x, y = planted.array(4096), planted.array(8192)
    kinds = {kind for kind, _ in in_short(planted.run(case.name, case.cluster, case.block, x, y, cluster=case.cluster))}
    assert kinds == set(case.kinds)
    plain, compacting = (checker.results[-1].findings for checker in planted.checkers)
    assert compacting == plain


def test_both_sides_of_registers_are_told(planted):
    """The line of the multiplication, the register of the PTX, and the line that writes it."""
    x, y = planted.array(4096), planted.array(8192)
    told = {}
    for name in ("never_fenced", "scaled", "a_overwritten"):
        planted.run(f"fragments_{name}", 1, 128, x, y)
        (finding,) = planted.checkers[0].results[-1].findings
        told[name] = re.sub(r"%r\d+", "%r", finding.text), finding.count, finding.other_pc >= 0
    who = "the warp of thread (0, 0, 0) of block (0, 0, 0)"
    assert told == {
        "never_fenced": (
            f"{who} multiplies; there is no wgmma.fence before its first wgmma.mma_async, so registers may have old "
            "values", 4, False),
        "scaled": (
            f"{who} multiplies %r, which it has written; there is no wgmma.fence in between, so it may have the old "
            "value", 4, True),
        "a_overwritten": (
            f"{who} writes %r, which a wgmma.mma_async reads; no thread has waited for its group, so it may still be "
            "in progress", 8, True),
    }  # fmt: skip


@pytest.mark.long
@needs_ptxas
def test_ptxas_adds_the_fences_that_are_missing(tmp_path):
    """It says at which line of the PTX: C7519, "warpgroup.arrive is injected in around line ..."."""
    missing, clean = ("never_fenced", "fenced_behind", "scaled"), ("fenced", "added_to", "a_read_before")
    cases = [case for case in CASES if case.name.removeprefix("fragments_") in missing + clean]
    (tmp_path / "a.cu").write_text(source_of(cases))
    program, _ = build(tmp_path / "a.cu", arch="sm_90a")
    (tmp_path / "a.ptx").write_text(program.ptx)
    command = [PTXAS, "-arch=sm_90a", "-v", tmp_path / "a.ptx", "-o", tmp_path / "a.cubin"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    added = {int(line) for line in re.findall(r"C7519.* around line (\d+) ", done.stdout + done.stderr)}
    assert added == {hazard.line for hazard in program.facts.register_hazards}
    assert len(added) == len(missing)
