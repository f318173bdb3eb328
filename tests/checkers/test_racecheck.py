"""racecheck: planted races, by what would have ordered them, and their clean twins."""

from typing import NamedTuple

import numpy as np
import pytest

from gpuprof.run.compile_file import BuildOptions
from gpuprof.trace.checkers.memcheck import Memcheck
from gpuprof.trace.checkers.racecheck import Racecheck
from gpuprof.trace.checkers.races import conflict_rules, pairs, stamp_lines, stamps, vector_clocks
from gpuprof.trace.checkers.races.block_races import Blocks
from tests.support.planted import Planted, in_short


class Case(NamedTuple):
    """A kernel body (int *x, int *y; t is the thread, b the block), its launch, and the kinds that are found."""

    name: str
    body: str
    grid: int
    block: int
    kinds: tuple[str, ...] = ()


SHARED = "__shared__ {of} s[512]; "
ROUND = "{before} s[t] = t; {sync} x[t] = s[{other}]; {after}"
WW, RW, WR = "shared_write_write_race", "shared_read_write_race", "shared_write_read_race"
GWW, GRW, GWR = "global_write_write_race", "global_read_write_race", "global_write_read_race"
NEXT, IN_WARP = "(t + 1) % blockDim.x", "(t & ~31) + (t + 1) % 32"
# name -> (what stands between a store and a load of another's, whether that is enough within a block of two warps)
BETWEEN = {
    "nothing": ("", False),
    "barrier": ("__syncthreads();", True),
    "named_barrier": ('asm volatile("bar.sync 3, 64;" ::: "memory");', True),
    "half_a_barrier": ('if (t < 32) asm volatile("bar.sync 3, 32;" ::: "memory");', False),
    "fence": ("__threadfence_block();", False),
    "wide_fence": ("__threadfence();", False),
    "warp": ("__syncwarp();", False),
    "arrive": (
        'if (t < 32) asm volatile("bar.arrive 2, 64;" ::: "memory");else asm volatile("bar.sync 2, 64;" ::: "memory");',
        False,
    ),
}


def _shared():
    for of in ("unsigned char", "short", "int", "double"):
        for name, (sync, enough) in BETWEEN.items():
            body = SHARED.format(of=of) + f"s[t] = ({of})y[t]; {sync} x[t] = (int)s[{NEXT}];"
            yield Case(f"between_{name}_{of.split()[-1]}", body, 1, 64, () if enough else (WR,))
    for name, sync, enough in (
        ("none", "", False),
        ("all", "__syncwarp();", True),
        ("half", "if (t % 32 < 16) __syncwarp(0xffff); else __syncwarp(0xffff0000);", False),
        ("fence", "__threadfence_block();", False),
        ("block", "__syncthreads();", True),
    ):
        for of in ("int", "volatile int"):
            body = SHARED.format(of=of) + f"s[t] = y[t]; {sync} x[t] = s[{IN_WARP}];"
            yield Case(f"in_warp_{name}_{of.split()[0]}", body, 2, 64, () if enough else (WR,))
    own = SHARED.format(of="int")
    yield Case("exits_before_barriers", own + "if (t % 3 == 0) return; for (int k = 0; k < 3; k++) { s[t] = y[t] + k;"
               "__syncthreads(); x[t] += s[(t + 1) % 3 ? (t + 1) % 64 : t]; __syncthreads(); }", 1, 64)  # fmt: skip
    yield Case("exits_between_warp_syncs", own + "s[t] = y[t]; if (t % 32 == 5) return; __syncwarp(); x[t] = s["
               + IN_WARP + "];", 2, 64, (WR,))  # fmt: skip
    yield Case("tiles", own + "s[t] = y[t]; __syncwarp(t % 32 < 16 ? 0xffff : 0xffff0000); x[t] = s[t ^ 5];", 2, 64)
    yield Case("across_tiles", own + "s[t] = y[t]; __syncwarp(t % 32 < 16 ? 0xffff : 0xffff0000); x[t] = s[t ^ 16];", 2,
               64, (WR,))  # fmt: skip
    yield Case("own_element", own + "s[t] = y[t]; x[t] = s[t]; s[t] = 3; x[t] += s[t];", 2, 64)
    yield Case("halves", own + "if (t < 32) { s[t] = y[t]; __syncwarp(); x[t] = s[t ^ 1]; }", 2, 64)
    yield Case("next_turn", own + "for (int k = 0; k < 3; k++) { s[t] = y[t] + k; __syncthreads(); x[t] += s[" + NEXT
               + "]; }", 1, 64, (RW,))  # fmt: skip
    yield Case("next_turn_waits", own + "for (int k = 0; k < 3; k++) { s[t] = y[t] + k; __syncthreads(); x[t] += s["
               + NEXT + "]; __syncthreads(); }", 1, 64)  # fmt: skip
    yield Case("same_place", own + "s[0] = t; __syncthreads(); x[t] = s[0];", 1, 64, (WW,))
    yield Case("same_place_and_value", own + "s[0] = 7; __syncthreads(); x[t] = s[0];", 1, 64)
    yield Case("atomics", own + "if (t == 0) s[0] = 0; __syncthreads(); atomicAdd(&s[0], t); __syncthreads();"
               "x[t] = s[0];", 1, 64)  # fmt: skip
    yield Case("atomic_and_read", own + "if (t == 0) s[0] = 0; __syncthreads(); atomicAdd(&s[0], t); x[t] = s[0];", 1,
               64, (WR,))  # fmt: skip
    yield Case("bytes_beside", "__shared__ unsigned char s[512]; s[t] = y[t]; x[t] = s[t];", 1, 64)
    yield Case("wide_over_narrow", "__shared__ int s[64]; ((char *)s)[4 * t + 3] = y[t]; __syncwarp();"
               "x[t] = s[(t + 32) % 64];", 1, 64, (WR,))  # fmt: skip


COPY = (
    "unsigned to = (unsigned)__cvta_generic_to_shared(&s[t]);"
    'asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(y + t) : "memory");'
    'asm volatile("cp.async.commit_group;" ::: "memory");'
)
WAIT = 'asm volatile("cp.async.wait_group {};" ::: "memory");'


def _copies():
    own = SHARED.format(of="int")
    for name, behind, kinds in (
        ("waited", WAIT.format(0) + "x[t] = s[t];", ()),
        ("not_waited", "x[t] = s[t];", ("async_copy_race",)),
        ("not_waited_barrier", "__syncthreads(); x[t] = s[" + NEXT + "];", ("async_copy_race",)),
        ("waited_too_little", WAIT.format(1) + "__syncthreads(); x[t] = s[t];", ("async_copy_race",)),
        ("waited_no_barrier", WAIT.format(0) + "x[t] = s[" + NEXT + "];", (WR,)),
        ("waited_barrier", WAIT.format(0) + "__syncthreads(); x[t] = s[" + NEXT + "];", ()),
    ):
        yield Case(f"copy_{name}", own + COPY + behind, 1, 64, kinds)


def _global():
    yield Case("blocks_apart", "x[b * blockDim.x + t] = y[t];", 4, 64)
    yield Case("blocks_write", "x[t] = b;", 4, 64, (GWW,))
    yield Case("blocks_write_same", "x[t] = 5;", 4, 64)
    yield Case("blocks_read", "x[b * blockDim.x + t] = y[0];", 4, 64)
    yield Case("block_reads_others", "if (b == 0) y[t] = t; else x[b * 64 + t] = y[t];", 3, 64, (GRW,))
    yield Case("within_block", "y[t] = t; x[t] = y[" + NEXT + "];", 1, 64, (GWR,))
    yield Case("within_block_barrier", "y[t] = t; __syncthreads(); x[t] = y[" + NEXT + "];", 1, 64)
    yield Case("atomics_of_all", "atomicAdd(&x[0], t);", 4, 64)
    yield Case(
        "atomics_of_block", 'asm volatile("red.global.cta.add.u32 [%0], 1;" :: "l"(x) : "memory");', 4, 64, (GWW,)
    )
    yield Case("atomics_of_block_in_cuda", "atomicAdd_block(&x[0], t);", 4, 64, (GWW,))
    yield Case("atomics_of_each_block", "atomicAdd_block(&x[b], t);", 4, 64)
    yield Case("atomics_of_two_scopes", "if (b) atomicAdd(&x[0], t); else atomicAdd_block(&x[0], t);", 4, 64, (GWW,))
    yield Case("atomics_of_system", "if (b) atomicAdd(&x[0], t); else atomicAdd_system(&x[0], t);", 4, 64)
    yield Case("compare_and_swap_of_block", "atomicCAS_block(&x[0], 0, t);", 2, 64, (GWW,))
    guess = "int old = x[0], seen; do {{ seen = old; {act} }} while (old != seen);"
    yield Case("compare_and_swap", guess.format(act="old = atomicCAS(&x[0], seen, seen + 1);"), 2, 64)
    volatile = "int old = *(volatile int *)(x + 2), seen; do {{ seen = old; {act} }} while (old != seen);"
    yield Case("compare_and_swap_volatile", volatile.format(act="old = atomicCAS(&x[2], seen, seen + 1);"), 1, 32)
    yield Case("compare_and_store", guess.format(act="x[0] = seen + t; old = seen;"), 1, 64, (GRW, GWW))
    last = (
        "y[b * 64 + t] = t; {before} __syncthreads(); __shared__ int is_last;"
        "if (t == 0) {{ {fence} is_last = atomicAdd(&x[0], 1) == gridDim.x - 1; }} __syncthreads();"
        "if (is_last) for (int k = 0; k < gridDim.x; k++) x[64 + t] += y[k * 64 + (t + 1) % 64];"
    )
    for name, before, fence, kinds in (
        ("fence", "", "__threadfence();", ()),
        ("each_fences", "__threadfence();", "", ()),
        ("no_fence", "", "", (GWR,)),
        ("small_fence", "", "__threadfence_block();", (GWR,)),
    ):
        yield Case(f"last_block_{name}", last.format(before=before, fence=fence), 4, 64, kinds)
    no_barrier = (
        "y[b * 64 + t] = t; __shared__ int is_last;"
        "if (t == 0) { __threadfence(); is_last = atomicAdd(&x[0], 1) == gridDim.x - 1; } __syncthreads();"
        "if (is_last) for (int k = 0; k < gridDim.x; k++) x[64 + t] += y[k * 64 + (t + 1) % 64];"
    )
    yield Case("last_block_others_unfenced", no_barrier, 4, 64, (GWR,))
    flag = "if (b == 0 && t == 0) {{ y[5] = 3; {release} }}if (b == 1 && t == 0) {{ {acquire} x[0] = y[5]; }}"
    set_it, spin = "*(volatile int *)&x[9] = 1;", "while (*(volatile int *)&x[9] == 0);"
    for name, release, acquire, kinds in (
        ("fences", "__threadfence();" + set_it, spin + "__threadfence();", ()),
        ("no_release", set_it, spin + "__threadfence();", (GWR,)),
        ("no_acquire", "__threadfence();" + set_it, spin, (GWR,)),
        ("small_release", "__threadfence_block();" + set_it, spin + "__threadfence();", (GWR,)),
        ("small_acquire", "__threadfence();" + set_it, spin + "__threadfence_block();", (GWR,)),
        (
            "instructions",
            'asm volatile("st.release.gpu.b32 [%0], 1;" :: "l"(x + 9) : "memory");',
            'int v; do asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(v) : "l"(x + 9) : "memory"); while (!v);',
            (),
        ),
        (
            "instructions_of_block",
            'asm volatile("st.release.cta.b32 [%0], 1;" :: "l"(x + 9) : "memory");',
            'int v; do asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(v) : "l"(x + 9) : "memory"); while (!v);',
            (GWR,),
        ),
    ):
        yield Case(f"flag_{name}", flag.format(release=release, acquire=acquire), 2, 32, kinds)


CASES = [*_shared(), *_copies(), *_global()]


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    source = "".join(
        f'extern "C" __global__ void {case.name}(int *x, int *y)\n'
        f"{{ int t = threadIdx.x, b = blockIdx.x; (void)b; {case.body} }}\n"
        for case in CASES
    )
    return Planted(tmp_path_factory.mktemp("racecheck"), source, Racecheck())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_planted(planted, case):
    x, y = planted.array(4096), planted.array(4096)
    kinds = {kind for kind, _ in in_short(planted.run(case.name, case.grid, case.block, x, y))}
    assert kinds == set(case.kinds)


def test_races_between_warps_stay_without_those_within(tmp_path):
    """One place has both, and the first of them is within a warp."""
    source = 'extern "C" __global__ void k(int *x) { __shared__ int s[64]; int t = threadIdx.x;\n'
    source += f"s[t] = x[t]; x[t] = s[{NEXT}]; }}\n"
    planted = Planted(tmp_path, source, Racecheck(), Racecheck(warp_synchronous=False))
    within, between = planted.run("k", 1, 64, planted.array(256))
    assert (within.kind, within.thread // 32, within.count > between.count) == (WR, 0, True)
    assert (between.kind, between.thread, between.text.count("thread (32, 0, 0)")) == (WR, 31, 1)


def test_an_access_is_counted_once_for_all_of_its_bytes(tmp_path):
    """Stamps are as narrow as the narrowest access of the file."""
    source = 'extern "C" __global__ void narrow(char *x) { x[threadIdx.x] = 1; }\n'
    source += 'extern "C" __global__ void wide(double *x) { x[0] = threadIdx.x; }\n'
    planted = Planted(tmp_path, source, Racecheck())
    assert in_short(planted.run("wide", 1, 64, planted.array(8))) == [(GWW, 63)]


def test_what_is_misaligned_is_for_memcheck_alone(tmp_path):
    """Its bytes may go on where no stamps are: at the end of the last page that anybody has touched."""
    source = (
        'extern "C" __global__ void k(char *x) { *(uint4 *)(x + 4095) = make_uint4(threadIdx.x, 0, 0, 0); x[0] = 1; }\n'
    )
    planted = Planted(tmp_path, source, Memcheck(), Racecheck())
    assert in_short(planted.run("k", 1, 64, planted.array(4096))) == [("misaligned", 64)]


def test_volatile_accesses_race_when_that_is_asked_for(tmp_path):
    """A flag races itself then, and still orders what is behind it."""
    source = 'extern "C" __global__ void data(volatile int *x) { x[0] = blockIdx.x; }\n'
    source += (
        'extern "C" __global__ void flag(volatile int *x, int *y) { if (blockIdx.x) { while (!x[9]); __threadfence();'
        "x[0] = y[0]; } else { y[0] = 3; __threadfence(); x[9] = 1; } }\n"
    )
    planted = Planted(tmp_path, source, Racecheck(volatile=True), Racecheck())
    assert in_short(planted.run("data", 2, 1, planted.array(64))) == [(GWW, 1)]
    assert in_short(planted.run("flag", 2, 1, planted.array(64), planted.array(64))) == [(GRW, 1), (GWR, 1)]


def test_values_are_compared_as_bytes(tmp_path):
    """5 in a word is no 5 in its second byte, but a zero is a zero; of a register a byte alone may be stored."""
    source = 'extern "C" __global__ void two(int *x, int v) { int t = threadIdx.x; if (t == 0) x[0] = v;\n'
    source += "if (t == 40) ((char *)x)[1] = v; }\n"
    source += 'extern "C" __global__ void low(char *x) {\n'
    source += 'asm volatile("st.global.u8 [%0], %1;" :: "l"(x), "r"(256 * threadIdx.x + 5) : "memory"); }\n'
    planted = Planted(tmp_path, source, Racecheck())
    found = [in_short(planted.run("two", 1, 64, planted.array(4), value)) for value in (5, 0)]
    assert (found, planted.run("low", 1, 64, planted.array(1))) == ([[(GWW, 1)], []], [])


def test_pairs_that_have_no_room_are_counted():
    """Two warps take turns to write a word, each time at another place of the code."""
    blocks = Blocks(1, 64, False, False)
    slots, zero = blocks.slots(np.zeros(1, np.int64)), np.zeros(1, np.int64)
    pool, place = stamp_lines.new_pool(), stamps.LineTable(np.zeros(1, np.uint32), np.zeros(0, np.int64), 0, 32)
    pool.numbers.resize(1 << 14, refcheck=False)
    found = np.zeros((pairs.MOST_FOUND, pairs.N_FIELDS), np.int64)
    words, addresses, of_lanes = np.zeros((0, 1, 1), np.uint64), np.zeros((1, 32), np.int64), np.zeros(32, np.int64)
    for at in range(pairs.MOST_FOUND + 4):
        blocks.room_for(64)
        blocks.room_for_rows(stamps.rows_of_warp(4))
        warp = np.array([at % 2], np.int64)
        given = conflict_rules.Stored(words, words, 4, zero, warp, np.ones(1, np.uint32), addresses, slots, 0, 0)
        stamps.touch(blocks.order, pool, place, found, given, addresses, of_lanes, of_lanes.copy(), at, 0,
                     conflict_rules.WRITE, stamps.rows_of_warp(4), stamps.numbers_of_warp(4), 0)  # fmt: skip
    assert blocks.order.counts[[vector_clocks.N_FOUND, vector_clocks.N_LOST]].tolist() == [pairs.MOST_FOUND, 3]


def test_a_barrier_of_some_threads_in_each_block(tmp_path):
    """Nothing else in the module orders anything."""
    barrier = 'asm volatile("bar.sync 3, 64;" ::: "memory");'
    body = f"__shared__ int s[64]; if (t < 64) {{ s[t] = t; {barrier} x[t] = s[t ^ 32]; }}"
    source = f'extern "C" __global__ void k(int *x) {{ int t = threadIdx.x; {body} }}'
    planted = Planted(tmp_path, source, Racecheck())
    assert planted.run("k", 3, 128, planted.array(256)) == []


def test_a_guess_of_code_that_is_not_optimised(tmp_path):
    """The pointer is a variable in memory, which is loaded for each of the two."""
    loop = "int old = p[2], seen; do {{ seen = old; {} }} while (old != seen);".format
    kernels = {"swaps": loop("old = atomicCAS(&p[2], seen, seen + 1);"), "stores": loop("p[2] = seen + threadIdx.x;")}
    source = "".join(
        f'extern "C" __global__ void {name}(int *x) {{ int *p = x; {body} }}\n' for name, body in kernels.items()
    )
    planted = Planted(tmp_path, source, Racecheck(), options=BuildOptions(optimize=0))
    told = {name: {kind for kind, _ in in_short(planted.run(name, 1, 64, planted.array(64)))} for name in kernels}
    assert told == {"swaps": set(), "stores": {GRW, GWW}}


def test_a_guess_of_an_atomic_that_is_called(tmp_path):
    """nvcc's -G makes each of CUDA's atomics a function that calls another. `other` swaps the next element."""
    calls = {"inner": "atomicCAS(p + 2, a, b)", "outer": "inner(p, a, b)", "other": "outer(p + 1, a, b)"}
    source = "".join(
        f"__device__ __noinline__ int {name}(int *p, int a, int b) {{ return {what}; }}\n"
        for name, what in calls.items()
    )
    source += "".join(
        f'extern "C" __global__ void by_{name}(int *x) {{ int *p = x + 1, old = p[2]; atomicAdd(p + 2, 1); '
        f"x[8 + 64 * blockIdx.x + threadIdx.x] = {name}(p, old, 7); }}\n"
        for name in calls
    )
    planted = Planted(tmp_path, source, Racecheck())
    found = {name: planted.run(f"by_{name}", 2, 64, planted.array(544)) for name in calls}
    told = {name: {kind for kind, _ in in_short(each)} for name, each in found.items()}
    assert told == {"inner": set(), "outer": set(), "other": {GRW}}


def test_a_guess_is_of_the_same_address_not_of_the_same_register(tmp_path):
    """The register of the data was the lock's before."""
    source = "__device__ int lock;\n"
    source += (
        'extern "C" __global__ void k(int *x) { if (blockIdx.x) { while (atomicCAS(&lock, 0, 1)); x[1] = x[0]; }\n'
    )
    source += "else { while (atomicCAS(&lock, 1, 1) == 0); atomicAdd(x, 1); } }\n"
    planted = Planted(tmp_path, source, Racecheck())
    assert len(planted.run("k", 2, 1, planted.array(64))) == 1
    pairs = [(each.number, each.encoded.a) for each in planted.checkers[0].kernel.instructions
             if each.kind == "load" or (each.kind == "atomic" and each.op.c)]  # fmt: skip
    assert len({register for _, register in pairs}) < len(pairs), "no register is used twice: the test shows nothing"
