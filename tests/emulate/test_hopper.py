"""Kernels of sm_90: memory barriers, clusters, bulk copies and tensor maps, against numpy."""

from types import SimpleNamespace

import numpy as np
import pytest

from gpuprof.device.tensormap import Im2col, TensorMap
from gpuprof.errors import KernelFault
from tests.support.ptx_support import assemble_text, preamble, run_kernel

U32, F32, F16 = np.uint32, np.float32, np.float16
WAIT = """
{label}:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [{bar}], {parity};
    @!%p1 bra {label};
"""
START = """\
    mov.u32 %r1, %tid.x;
    setp.ne.u32 %p7, %r1, 0;
    mov.u32 %r2, buf;
    mov.u32 %r3, bar;
"""


def kernel(body: str, n_arrays: int, maps: int = 0, shared_nbytes: int = 4096, start: str = START) -> str:
    """Kernel `k`: arrays in %rd1.., tensor maps in %rd11..; thread in %r1, %p7 for all but thread 0; buffers `buf`
    (%r2), `bar` (%r3).
    """
    params = [f".param .u64 p{k}" for k in range(n_arrays)] + [f".param .align 64 .b8 m{k}[128]" for k in range(maps)]
    loads = "".join(
        f"    ld.param.u64 %rd{k + 1}, [p{k}];\n    cvta.to.global.u64 %rd{k + 1}, %rd{k + 1};\n"
        for k in range(n_arrays)
    )
    loads += "".join(
        f"    mov.b64 %rd{k + 11}, m{k};\n    cvta.param.u64 %rd{k + 11}, %rd{k + 11};\n" for k in range(maps)
    )
    return f"""{preamble("sm_90a", "8.6")}.visible .entry k({", ".join(params)})
{{
    .reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .f32 %f<8>;
    .shared .align 8 .b64 bar[8];
    .shared .align 1024 .b8 buf[{shared_nbytes}];
{loads}{start}{body}
    ret;
}}
"""


def run(
    body: str, arrays: list[np.ndarray], grid=1, block: int = 32, cluster=(1, 1, 1), maps=(), **options
) -> list[np.ndarray]:
    """The arrays after kernel(body). `maps`: functions from the arrays, as device arrays, to a TensorMap."""

    def parameter(make):
        def encode(addresses: list[int]) -> bytes:
            device = [
                SimpleNamespace(address=a, shape=v.shape, dtype=v.dtype) for a, v in zip(addresses, arrays, strict=True)
            ]
            return make(device).encode()

        return encode

    program = assemble_text(kernel(body, len(arrays), len(maps), **options))
    found = run_kernel(program, "k", [*arrays, *map(parameter, maps)], grid, block, cluster=cluster)
    return [np.frombuffer(raw, array.dtype).reshape(array.shape) for raw, array in zip(found, arrays, strict=True)]


def store_word(value: str, index: str = "%r1", to: str = "%rd1") -> str:
    """to[index] = value, 32 bits."""
    return (
        f"    mul.wide.u32 %rd30, {index}, 4;\n    add.u64 %rd30, {to}, %rd30;\n    st.global.b32 [%rd30], {value};\n"
    )


# -- mbarrier --------------------------------------------------------------------------------------


def test_phases_of_an_mbarrier():
    """One thread goes through five phases of two arrivals, drops one arrival, and sees what the waits and the pending
    counts say.
    """
    answers = np.zeros(24, U32)
    body = "@%p7 ret;\n    mbarrier.init.shared.b64 [bar], 2;\n"
    wanted = []

    def note(register: str, value: int) -> str:
        wanted.append(value)
        return f"    st.global.b32 [%rd1+{4 * (len(wanted) - 1)}], {register};\n"

    def ask(instruction: str, value: int) -> str:
        return f"    {instruction}\n    selp.b32 %r20, 1, 0, %p1;\n" + note("%r20", value)

    for phase in range(5):
        body += "    mbarrier.arrive.shared.b64 %rd10, [bar];\n    mbarrier.pending_count.b64 %r21, %rd10;\n" + note(
            "%r21", 2
        )
        body += ask(f"mbarrier.test_wait.parity.shared.b64 %p1, [bar], {phase % 2};", 0)
        body += "    mbarrier.arrive.shared.b64 %rd12, [bar], 1;\n"
        body += ask("mbarrier.test_wait.shared.b64 %p1, [bar], %rd10;", 1)
        body += ask("mbarrier.try_wait.shared.b64 %p1, [bar], %rd12;", 1)
    body += "    mbarrier.arrive_drop.shared.b64 %rd10, [bar];\n    mbarrier.arrive.shared.b64 %rd10, [bar];\n"
    # From now on one arrival is a phase; transactions keep it open.
    body += "    mbarrier.arrive.expect_tx.shared.b64 %rd10, [bar], 64;\n" + ask(
        "mbarrier.test_wait.shared.b64 %p1, [bar], %rd10;", 0
    )
    body += "    mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 36;\n    mbarrier.complete_tx.shared.b64 [bar], 64;\n"
    body += ask("mbarrier.test_wait.shared.b64 %p1, [bar], %rd10;", 0)
    body += "    mbarrier.complete_tx.shared.b64 [bar], 36;\n" + ask(
        "mbarrier.try_wait.shared.b64 %p1, [bar], %rd10;", 1
    )
    body += "    mbarrier.arrive_drop.expect_tx.shared.b64 %rd10, [bar], 0;\n" + ask(
        "mbarrier.test_wait.shared.b64 %p1, [bar], %rd10;", 1
    )
    body += "    mbarrier.inval.shared.b64 [bar];\n"
    (found,) = run(body, [answers])
    assert found[: len(wanted)].tolist() == wanted


def test_warps_wait_for_each_other_at_an_mbarrier():
    """Warp w waits for phase w and then ends phase w + 1: the order of the warps is in what they write."""
    body = f"""
    @%p7 bra ready;
    mbarrier.init.shared.b64 [bar], 32;
    mbarrier.init.shared.b64 [bar+8], 1;
ready:
    bar.sync 0;
    shr.u32 %r10, %r1, 5;
    mov.u32 %r11, 0;
again:
    setp.eq.u32 %p2, %r11, %r10;
    @%p2 bra mine;
    and.b32 %r12, %r11, 1;
{WAIT.format(label="wait", bar="bar", parity="%r12")}
    add.u32 %r11, %r11, 1;
    bra again;
mine:
    atom.shared.add.u32 %r13, [%r2], 1;
    mbarrier.arrive.shared.b64 _, [bar];
{store_word("%r13")}"""
    (order,) = run(body, [np.zeros(8 * 32, U32)], block=256)
    assert (order // 32 == np.arange(256) // 32).all()


def test_a_phase_that_never_ends_is_a_deadlock():
    body = (
        "@%p7 bra ready;\n mbarrier.init.shared.b64 [bar], 33;\nready:\n bar.sync 0;\n mbarrier.arrive.shared.b64 "
        "_, [bar];\n"
    )
    with pytest.raises(
        KernelFault, match=r"PTX line 2\d.*deadlock: waits at an mbarrier for 1 arrival.*lanes wait at k.ptx \(PTX line"
    ):
        run(body + WAIT.format(label="wait", bar="bar", parity=0), [np.zeros(1, U32)])


def test_copies_that_arrive_at_an_mbarrier_and_hints():
    """cp.async reports with .noinc as one of the arrivals expected, without as one more; hints of sm_90 change
    nothing.
    """
    data = np.arange(32, dtype=U32)
    body = f"""
    @%p7 bra ready;
    mbarrier.init.shared.b64 [bar], 32;
    mbarrier.init.shared.b64 [bar+8], 32;
ready:
    bar.sync 0;
    griddepcontrol.wait;
    setmaxnreg.dec.sync.aligned.u32 40;
    mul.wide.u32 %rd5, %r1, 4;
    add.u64 %rd6, %rd1, %rd5;
    mad.lo.u32 %r5, %r1, 4, %r2;
    cp.async.ca.shared.global [%r5], [%rd6], 4;
    cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
    cp.async.mbarrier.arrive.shared.b64 [bar+8];
{WAIT.format(label="first", bar="bar", parity=0)}
    mbarrier.test_wait.parity.shared.b64 %p2, [bar+8], 0;
    mbarrier.arrive.shared.b64 _, [bar+8];
{WAIT.format(label="second", bar="bar+8", parity=0)}
    griddepcontrol.launch_dependents;
    selp.u32 %r6, 1000, 0, %p2;
    xor.b32 %r7, %r5, 4;
    ld.shared.u32 %r8, [%r7];
    add.u32 %r8, %r8, %r6;
{store_word("%r8", to="%rd2")}"""
    _, found = run(body, [data, np.zeros(32, U32)])
    np.testing.assert_array_equal(found, data ^ 1)


@pytest.mark.parametrize(
    "body, text",
    [
        ("mbarrier.arrive.shared.b64 _, [bar];", "mbarrier.init has not run"),
        ("mbarrier.init.shared.b64 [bar], 0;", "count of 0"),
        ("mbarrier.init.shared.b64 [bar], 1;\n mbarrier.arrive.shared.b64 _, [bar], 2;", "more arrivals"),
        ("mbarrier.init.shared.b64 [bar+4], 1;", "misaligned"),
        ("mbarrier.init.b64 [%rd1], 1;", "out of bounds mbarrier.init of 8 bytes in shared memory at 0x7"),
        ("mbarrier.init.shared.b64 [bar], 1;\n mbarrier.expect_tx.shared.b64 [bar], 1048576;", "bytes in one phase"),
    ],
)  # fmt: skip
def test_misuse_of_an_mbarrier(body, text):
    with pytest.raises(KernelFault, match=text):
        run("@%p7 ret;\n" + body, [np.zeros(1, U32)])


def test_generic_addresses_of_mbarriers():
    body = f"""
    cvt.u64.u32 %rd5, %r3;
    cvta.shared.u64 %rd5, %rd5;
    @%p7 bra ready;
    mbarrier.init.b64 [%rd5], 32;
ready:
    bar.sync 0;
    mbarrier.arrive.b64 %rd6, [%rd5];
wait:
    mbarrier.try_wait.b64 %p1, [%rd5], %rd6;
    @!%p1 bra wait;
    mbarrier.pending_count.b64 %r5, %rd6;
{store_word("%r5")}"""
    (pending,) = run(body, [np.zeros(32, U32)])
    np.testing.assert_array_equal(pending, 32 - np.arange(32))  # lanes arrive in order


# -- clusters --------------------------------------------------------------------------------------

CLUSTERS = [(1, 1, 1), (4, 1, 1), (2, 2, 1), (1, 2, 2), (8, 1, 1)]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_special_registers_of_a_cluster(cluster):
    names = [
        f"{name}.{axis}"
        for name in ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid", "ctaid")
        for axis in "xyz"
    ]
    names += ["cluster_ctarank", "cluster_nctarank"]
    grid = (8, 4, 2)
    body = """
    @%p7 ret;
    mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z;
    mad.lo.u32 %r5, %r6, 4, %r5; mad.lo.u32 %r4, %r5, 8, %r4;
    mul.wide.u32 %rd5, %r4, 72; add.u64 %rd5, %rd1, %rd5;
"""
    body += "".join(
        f"    mov.u32 %r7, %{name};\n    st.global.u32 [%rd5+{4 * k}], %r7;\n" for k, name in enumerate(names)
    )
    body += "    mov.pred %p1, %is_explicit_cluster;\n    selp.u32 %r7, 1, 0, %p1;\n    st.global.u32 [%rd5+68], %r7;\n"
    (found,) = run(body, [np.zeros((64, 18), U32)], grid=grid, cluster=cluster)
    for block in range(64):
        at = (block % 8, block // 8 % 4, block // 32)
        inside = [a % c for a, c in zip(at, cluster, strict=True)]
        rank = inside[0] + cluster[0] * (inside[1] + cluster[1] * inside[2])
        size = int(np.prod(cluster))
        wanted = [a // c for a, c in zip(at, cluster, strict=True)] + [
            g // c for g, c in zip(grid, cluster, strict=True)
        ]
        assert found[block].tolist() == [*wanted, *inside, *cluster, *at, rank, size, int(size > 1)]


def test_reduction_over_the_shared_memory_of_a_cluster():
    """Each block sums its part; the first block of the cluster reads the others' sums through mapa and
    ld.shared::cluster.
    """
    values = np.arange(16 * 64, dtype=U32) ** 2 % 1009
    body = f"""
    mov.u32 %r4, %ctaid.x;
    mad.lo.u32 %r5, %r4, 64, %r1;
    mul.wide.u32 %rd5, %r5, 4;
    add.u64 %rd5, %rd1, %rd5;
    ld.global.u32 %r6, [%rd5];
    red.shared.add.u32 [%r2], %r6;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    mov.u32 %r7, %cluster_ctarank;
    setp.ne.u32 %p2, %r7, 0;
    or.pred %p2, %p2, %p7;
    mov.u32 %r9, 0;
    @%p2 bra done;
    mov.u32 %r8, 0;
    mov.u32 %r12, %cluster_nctarank;
next:
    mapa.shared::cluster.u32 %r10, %r2, %r8;
    ld.shared::cluster.u32 %r11, [%r10];
    add.u32 %r9, %r9, %r11;
    add.u32 %r8, %r8, 1;
    setp.lt.u32 %p3, %r8, %r12;
    @%p3 bra next;
    mov.u32 %r13, %clusterid.x;
{store_word("%r9", "%r13", "%rd2")}
done:
    barrier.cluster.arrive;
    barrier.cluster.wait;
"""
    _, sums = run(body, [values, np.zeros(4, U32)], grid=16, block=64, cluster=(4, 1, 1))
    np.testing.assert_array_equal(sums, values.reshape(4, 256).sum(1))


def test_generic_addresses_atomics_and_stores_in_another_block():
    """Every thread adds to a word of the next block, by a generic address, and stores beside it; the ranks come back
    with getctarank.
    """
    body = f"""
    mov.u32 %r4, %cluster_ctarank;
    add.u32 %r5, %r4, 1;
    and.b32 %r5, %r5, 3;
    cvt.u64.u32 %rd5, %r2;
    cvta.shared.u64 %rd5, %rd5;
    mapa.u64 %rd6, %rd5, %r5;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    atom.add.u32 %r6, [%rd6], 3;
    @%p7 bra over;
    mapa.shared::cluster.u32 %r7, %r2, %r5;
    add.u32 %r8, %r4, 100;
    st.shared::cluster.u32 [%r7+4], %r8;
    getctarank.u64 %r9, %rd6;
    st.shared::cluster.u32 [%r7+8], %r9;
    getctarank.shared::cluster.u32 %r10, %r2;
    st.shared::cluster.u32 [%r7+12], %r10;
over:
    barrier.cluster.arrive.release;
    barrier.cluster.wait.acquire;
    setp.gt.u32 %p3, %r1, 3;
    @%p3 ret;
    mad.lo.u32 %r11, %r1, 4, %r2;
    ld.shared.u32 %r12, [%r11];
    mov.u32 %r14, %ctaid.x;
    mad.lo.u32 %r13, %r14, 4, %r1;
{store_word("%r12", "%r13")}"""
    (found,) = run(body, [np.zeros((8, 4), U32)], grid=8, block=64, cluster=(4, 1, 1))
    before = [(b - 1) % 4 for b in range(4)] * 2
    assert found.tolist() == [[3 * 64, 100 + p, b % 4, p] for b, p in enumerate(before)]


def test_asynchronous_stores_and_reductions_into_another_block():
    body = f"""
    mov.u32 %r4, %cluster_ctarank;
    xor.b32 %r5, %r4, 1;
    @%p7 bra ready;
    mbarrier.init.shared.b64 [bar], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1536;
    fence.mbarrier_init.release.cluster;
ready:
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mapa.shared::cluster.u32 %r6, %r2, %r5;
    mapa.shared::cluster.u32 %r7, %r3, %r5;
    mad.lo.u32 %r8, %r1, 16, %r6;
    mad.lo.u32 %r9, %r4, 1000, %r1;
    add.u32 %r10, %r9, 1;
    st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r8], {{%r9, %r10}}, [%r7];
    st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r8+8], %r10, [%r7];
    mov.u64 %rd9, 5;
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%r6+2048], %rd9, [%r7];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.u32 [%r6+2056], %r9, [%r7];
{WAIT.format(label="wait", bar="bar", parity=0)}
    mad.lo.u32 %r8, %r1, 16, %r2;
    ld.shared.v2.u32 {{%r11, %r12}}, [%r8];
    ld.shared.u32 %r13, [%r8+8];
    add.u32 %r11, %r11, %r12; add.u32 %r11, %r11, %r13;
    ld.shared.u32 %r14, [%r2+2048]; ld.shared.u32 %r15, [%r2+2056];
    add.u32 %r11, %r11, %r14; add.u32 %r11, %r11, %r15;
    mad.lo.u32 %r16, %r4, 64, %r1;
{store_word("%r11", "%r16")}
    barrier.cluster.arrive;
    barrier.cluster.wait;
"""
    (found,) = run(body, [np.zeros((2, 64), U32)], grid=2, block=64, cluster=(2, 1, 1), shared_nbytes=4096)
    thread = np.arange(64)
    for block in range(2):
        other = 1000 * (1 - block)
        np.testing.assert_array_equal(found[block], 3 * (other + thread) + 2 + 5 * 64 + other + 63)


def test_cluster_barrier_misuse_is_reported():
    with pytest.raises(KernelFault, match="deadlock: waits at barrier 0, where 1 of 32 threads have arrived"):
        run("    mov.u32 %r4, %cluster_ctarank; or.b32 %r5, %r4, %r1; setp.eq.u32 %p1, %r5, 0;\n    @%p1 bra stay;\n   "
            " barrier.cluster.arrive;\n    barrier.cluster.wait;\n"
            "    ret;\nstay:\n    bar.sync 0;\n", [np.zeros(1, U32)], grid=2, cluster=(2, 1, 1))  # fmt: skip
    with pytest.raises(KernelFault, match="without an arrive"):
        run("    barrier.cluster.wait;\n", [np.zeros(1, U32)], grid=2, cluster=(2, 1, 1))
    with pytest.raises(KernelFault, match="second time"):
        run("    barrier.cluster.arrive;\n    barrier.cluster.arrive;\n", [np.zeros(1, U32)], grid=2, cluster=(2, 1, 1))


def test_a_block_that_the_cluster_does_not_have():
    with pytest.raises(KernelFault, match="out of bounds"):
        run("    mapa.shared::cluster.u32 %r4, %r2, 2;\n    ld.shared::cluster.u32 %r5, [%r4];\n    st.global.u32 "
            "[%rd1], %r5;\n",
            [np.zeros(1, U32)], grid=2, cluster=(2, 1, 1))  # fmt: skip


# -- bulk copies -----------------------------------------------------------------------------------

_TO_SHARED = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"


def test_bulk_copies_there_and_back():
    """Global to shared, shared to the other block, and back with every second half of 16 bytes; a prefetch changes
    nothing.
    """
    data = np.arange(512, dtype=U32)
    body = f"""
    mov.u32 %r4, %cluster_ctarank;
    @%p7 bra ready;
    mbarrier.init.shared.b64 [bar], 1;
    mbarrier.init.shared.b64 [bar+8], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1024;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar+8], 1024;
ready:
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mul.wide.u32 %rd5, %r4, 1024;
    add.u64 %rd6, %rd1, %rd5;
    add.u64 %rd7, %rd2, %rd5;
    @%p7 bra copied;
    cp.async.bulk.prefetch.L2.global [%rd6], 1024;
    {_TO_SHARED} [%r2], [%rd6], 1024, [%r3];
copied:
{WAIT.format(label="first", bar="bar", parity=0)}
    xor.b32 %r5, %r4, 1;
    mapa.shared::cluster.u32 %r6, %r2, %r5;
    mapa.shared::cluster.u32 %r7, %r3, %r5;
    add.u32 %r6, %r6, 1024;
    add.u32 %r7, %r7, 8;
    @%p7 bra sent;
    cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r6], [%r2], 1024, [%r7];
sent:
{WAIT.format(label="second", bar="bar+8", parity=0)}
    @%p7 bra done;
    add.u32 %r8, %r2, 1024;
    mov.b16 %rs1, 0xFF00;
    cp.async.bulk.global.shared::cta.bulk_group [%rd7], [%r2], 512;
    add.u64 %rd8, %rd7, 512;
    cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd8], [%r8], 512, %rs1;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
done:
    barrier.cluster.arrive;
    barrier.cluster.wait;
"""
    _, out = run(body, [data, np.full(512, 7, U32)], grid=2, cluster=(2, 1, 1))
    halves, found = data.reshape(2, 2, 32, 4), out.reshape(2, 2, 32, 4)
    np.testing.assert_array_equal(found[:, 0], halves[:, 0])
    # what came from the other block, its high 8 bytes
    np.testing.assert_array_equal(found[:, 1, :, 2:], halves[::-1, 0, :, 2:])
    assert (found[:, 1, :, :2] == 7).all()


REDUCTIONS = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "inc": lambda old, limit: np.where(old >= limit, 0, old + 1), "dec": lambda old,
    limit: np.where((old == 0) | (old > limit), limit, old - 1),
}  # fmt: skip
TYPES = {
    "u32": U32,
    "s32": np.int32,
    "u64": np.uint64,
    "s64": np.int64,
    "f32": F32,
    "f64": np.float64,
    "f16": F16,
    "b32": U32,
    "b64": np.uint64,
}
GLOBAL_REDUCTIONS = [
    *((o, t) for o in ("min", "max") for t in ("u32", "s32", "u64", "s64", "f16")),
    *(("add", t) for t in ("u32", "s32", "u64", "f32", "f64", "f16")),
    *((o, t) for o in ("and", "or", "xor") for t in ("b32", "b64")), ("inc", "u32"), ("dec", "u32"),
]  # fmt: skip


def operands(kind: str, rng) -> tuple[np.ndarray, np.ndarray]:
    dtype = np.dtype(TYPES[kind])
    n = 256 // dtype.itemsize
    if dtype.kind == "f":
        return rng.normal(size=n).astype(dtype), rng.normal(size=n).astype(dtype)
    return tuple(rng.integers(0, 200, n).astype(dtype) - dtype.type(100 if dtype.kind == "i" else 0) for _ in range(2))


@pytest.mark.parametrize("operation, kind", GLOBAL_REDUCTIONS)
def test_bulk_reduction_in_global_memory(operation, kind):
    rng = np.random.default_rng(5)
    old, new = operands(kind, rng)
    noftz = ".noftz" if (operation, kind) == ("add", "f16") else ""
    body = f"""
    @%p7 ret;
    mbarrier.init.shared.b64 [bar], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
    {_TO_SHARED} [%r2], [%rd2], 256, [%r3];
{WAIT.format(label="wait", bar="bar", parity=0)}
    cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation}{noftz}.{kind} [%rd1], [%r2], 256;
"""
    found, _ = run(body, [old, new])
    np.testing.assert_array_equal(found, REDUCTIONS[operation](old, new).astype(old.dtype))


@pytest.mark.parametrize(
    "operation, kind", [("add", "u32"), ("add", "u64"), ("min", "s32"), ("max", "u32"), ("xor", "b32"), ("inc", "u32")]
)
def test_bulk_reduction_in_another_block(operation, kind):
    rng = np.random.default_rng(6)
    old, new = operands(kind, rng)
    body = f"""
    @%p7 ret;
    mov.u32 %r4, %cluster_ctarank;
    mbarrier.init.shared.b64 [bar], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
    {_TO_SHARED} [%r2], [%rd1], 256, [%r3];
    {_TO_SHARED} [buf+256], [%rd2], 256, [%r3];
{WAIT.format(label="wait", bar="bar", parity=0)}
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    xor.b32 %r5, %r4, 1;
    mapa.shared::cluster.u32 %r6, %r2, %r5;
    mapa.shared::cluster.u32 %r7, %r3, %r5;
    cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{operation}.{kind} [%r6], [buf+256], 256, [%r7];
{WAIT.format(label="second", bar="bar", parity=1)}
    mul.wide.u32 %rd5, %r4, 256;
    add.u64 %rd5, %rd3, %rd5;
    cp.async.bulk.global.shared::cta.bulk_group [%rd5], [%r2], 256;
    barrier.cluster.arrive;
    barrier.cluster.wait;
"""  # noqa: E501
    *_, found = run(body, [old, new, np.zeros((2, len(old)), old.dtype)], grid=2, cluster=(2, 1, 1))
    wanted = REDUCTIONS[operation](old, new).astype(old.dtype)
    np.testing.assert_array_equal(found, [wanted, wanted])


def test_multicast_reaches_the_blocks_of_the_mask():
    data = np.arange(64, dtype=U32) + 1
    body = f"""
    mov.u32 %r4, %cluster_ctarank;
    @%p7 bra ready;
    mbarrier.init.shared.b64 [bar], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
ready:
    barrier.cluster.arrive;
    barrier.cluster.wait;
    setp.ne.u32 %p2, %r4, 1;
    or.pred %p2, %p2, %p7;
    mov.b16 %rs1, 0xB;
    @!%p2 {_TO_SHARED}.multicast::cluster [%r2], [%rd1], 128, [%r3], %rs1;
    setp.eq.u32 %p3, %r4, 2;
    @%p3 bra read;
{WAIT.format(label="wait", bar="bar", parity=0)}
read:
    mad.lo.u32 %r5, %r1, 4, %r2;
    ld.shared.u32 %r6, [%r5];
    mad.lo.u32 %r7, %r4, 32, %r1;
{store_word("%r6", "%r7", "%rd2")}
    barrier.cluster.arrive;
    barrier.cluster.wait;
"""
    _, found = run(body, [data, np.zeros((4, 32), U32)], grid=4, cluster=(4, 1, 1))
    np.testing.assert_array_equal(found, [data[:32] * (block != 2) for block in range(4)])


@pytest.mark.parametrize(
    "copy, text",
    [
        ("[%r2], [%rd1+4], 16, [%r3]", "source of a bulk copy"), ("[%r2], [%rd1], 20, [%r3]",
            "the size of a bulk copy, 20"),
        ("[%r2], [%rd1], 4096, [%r3]", "out of bounds bulk read of 4096 bytes in global memory"),
        ("[%r2+4080], [%rd1], 64, [%r3]", "out of bounds bulk write of 64 bytes in shared memory"),
    ],
)  # fmt: skip
def test_bulk_copies_that_do_not_fit(copy, text):
    body = f"@%p7 ret;\n mbarrier.init.shared.b64 [bar], 1;\n {_TO_SHARED} {copy};\n"
    with pytest.raises(KernelFault, match=text):
        run(body, [np.zeros(64, U32)])


# -- tensor maps -----------------------------------------------------------------------------------


def swizzled(rows: np.ndarray, swizzle: int) -> np.ndarray:
    """What a tile of rows looks like in shared memory: byte-wise, from the table of the manual, one 16-byte unit after
    the other.
    """
    raw = np.ascontiguousarray(rows).view(np.uint8).reshape(-1)
    out = np.zeros_like(raw)
    for unit in range(len(raw) // 16):
        line, column = divmod(unit, 8)
        moved = {0: column, 128: column ^ line % 8, 64: column ^ line % 4, 32: column ^ line % 2}[swizzle]
        out[128 * line + 16 * moved :][:16] = raw[16 * unit :][:16]
    return out


LOAD_2D = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
DUMP = """
    mov.u32 %r20, 0;
dump:
    mad.lo.u32 %r21, %r20, 32, %r1;
    mad.lo.u32 %r22, %r21, 4, %r2;
    ld.shared.u32 %r23, [%r22];
    mul.wide.u32 %rd20, %r21, 4;
    add.u64 %rd20, {to}, %rd20;
    st.global.u32 [%rd20], %r23;
    add.u32 %r20, %r20, 1;
    setp.lt.u32 %p5, %r20, {times};
    @%p5 bra dump;
"""


def load_tile(nbytes: int, head: str, coordinates: str, more: str = "", times: int = 8) -> str:
    return f"""
    @%p7 bra issued;
    mbarrier.init.shared.b64 [bar], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], {nbytes};
    prefetch.tensormap [%rd11];
    {head} [%r2], [%rd11, {{{coordinates}}}], [%r3]{more};
issued:
    bar.sync 0;
{WAIT.format(label="wait", bar="bar", parity=0)}
{DUMP.format(to="%rd2", times=times)}"""


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("x, y", [(0, 0), (16, 5), (-8, 30), (56, -3)])
def test_two_dimensional_tile_with_swizzle(swizzle, x, y):
    source = np.arange(40 * 64, dtype=np.uint16).reshape(40, 64).view(F16)
    width = (swizzle or 128) // 2
    box = (1024 // (2 * width), width)
    body = load_tile(1024, LOAD_2D, f"{x}, {y}")
    _, found = run(body, [source, np.full(256, 9, U32)], maps=[lambda d: TensorMap(d[0], box, swizzle=swizzle)])
    padded = np.zeros((40 + 100, 64 + 200), F16)
    padded[50:90, 100:164] = source
    wanted = padded[50 + y :, 100 + x :][: box[0], : box[1]]
    np.testing.assert_array_equal(found.view(np.uint8), swizzled(wanted, swizzle))


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4, 5])
def test_tiles_of_every_rank_with_element_strides_and_nan(dimensions):
    rng = np.random.default_rng(dimensions)
    shape = (3, 4, 5, 6, 8)[5 - dimensions :]
    box = (2, 2, 2, 4, 4)[5 - dimensions :]
    steps = (1, 2, 1, 2, 1)[5 - dimensions :]
    source = rng.normal(size=shape).astype(F32)
    at = (1, 1, 4, 3, 6)[5 - dimensions :]
    n = int(np.prod([-(-b // s) for b, s in zip(box, steps, strict=True)]))
    head = LOAD_2D.replace("2d", f"{dimensions}d")
    body = load_tile(4 * n, head, ", ".join(str(c) for c in at[::-1]), times=2)
    _, found = run(body, [source, np.zeros(64, F32)], maps=[lambda d: TensorMap(d[0], box, steps=steps, fill_nan=True)])
    wanted = np.full([-(-b // s) for b, s in zip(box, steps, strict=True)], np.nan, F32)
    for index in np.ndindex(*wanted.shape):
        place = tuple(a + i * s for a, i, s in zip(at, index, steps, strict=True))
        if all(p < extent for p, extent in zip(place, shape, strict=True)):
            wanted[index] = source[place]
    np.testing.assert_array_equal(found[:n], wanted.reshape(-1))
    assert (found[n:] == 0).all()


def pipeline(stages: int) -> str:
    """A producer warp fills the stages (1, 2 or 4) with 16 tiles by TMA; 128 consumers add up what is there: full and
    empty barriers.
    """
    return f"""
    setp.ne.u32 %p7, %r1, 0;
    @%p7 bra ready;
    mov.u32 %r4, 0;
init:
    mad.lo.u32 %r5, %r4, 8, %r3;
    mbarrier.init.shared.b64 [%r5], 1;
    mbarrier.init.shared.b64 [%r5+32], 128;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, {stages};
    @%p1 bra init;
ready:
    bar.sync 0;
    setp.ge.u32 %p2, %r1, 32;
    mov.u32 %r4, 0;
    @%p2 bra consume;
    @%p7 ret;
produce:
    and.b32 %r6, %r4, {stages - 1};
    shr.u32 %r7, %r4, {stages.bit_length() - 1};
    and.b32 %r8, %r7, 1;
    xor.b32 %r8, %r8, 1;
    mad.lo.u32 %r5, %r6, 8, %r3;
    add.u32 %r9, %r5, 32;
empty:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r9], %r8;
    @!%p1 bra empty;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 1024;
    mad.lo.u32 %r10, %r6, 1024, %r2;
    and.b32 %r11, %r4, 1;
    mul.lo.u32 %r11, %r11, 64;
    shr.u32 %r12, %r4, 1;
    mul.lo.u32 %r12, %r12, 8;
    {LOAD_2D} [%r10], [%rd11, {{%r11, %r12}}], [%r5];
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 16;
    @%p1 bra produce;
    ret;
consume:
    sub.u32 %r20, %r1, 32;
    mov.f32 %f1, 0f00000000;
more:
    and.b32 %r6, %r4, {stages - 1};
    shr.u32 %r7, %r4, {stages.bit_length() - 1};
    and.b32 %r8, %r7, 1;
    mad.lo.u32 %r5, %r6, 8, %r3;
full:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r5], %r8;
    @!%p1 bra full;
    mad.lo.u32 %r10, %r6, 1024, %r2;
    mad.lo.u32 %r10, %r20, 8, %r10;
    ld.shared.v4.b16 {{%rs1, %rs2, %rs3, %rs4}}, [%r10];
    cvt.f32.f16 %f2, %rs1; add.f32 %f1, %f1, %f2;
    cvt.f32.f16 %f2, %rs2; add.f32 %f1, %f1, %f2;
    cvt.f32.f16 %f2, %rs3; add.f32 %f1, %f1, %f2;
    cvt.f32.f16 %f2, %rs4; add.f32 %f1, %f1, %f2;
    mbarrier.arrive.shared.b64 _, [%r5+32];
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p1, %r4, 16;
    @%p1 bra more;
    red.global.add.f32 [%rd2], %f1;
"""


@pytest.mark.parametrize("stages", [1, 2, 4])
def test_pipeline_of_tiles_sums_a_matrix(stages):
    rng = np.random.default_rng(1)
    matrix = rng.integers(0, 100, (64, 128)).astype(F16)
    maps = [lambda d: TensorMap(d[0], (8, 64), swizzle=128)]
    _, total = run(pipeline(stages), [matrix, np.zeros(1, F32)], block=160, maps=maps, grid=3)
    assert total[0] == 3 * matrix.astype(np.float64).sum()


STORE_2D = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"


@pytest.mark.parametrize("operation", ["", "add", "min", "max", "and", "or", "xor"])
@pytest.mark.parametrize("swizzle", [0, 128])
def test_tile_is_stored_or_reduced(operation, swizzle):
    """A tile goes to a place that reaches out of the destination; swizzled in shared memory, plain in both tensors."""
    rng = np.random.default_rng(3)
    source, target = rng.integers(0, 1 << 20, (16, 32)).astype(U32), rng.integers(0, 1 << 20, (20, 40)).astype(U32)
    store = f"cp.reduce.async.bulk.tensor.2d.global.shared::cta.{operation}.tile.bulk_group" if operation else STORE_2D
    body = f"""
    @%p7 ret;
    mbarrier.init.shared.b64 [bar], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1024;
    cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd11, {{0, 4}}];
    {LOAD_2D} [%r2], [%rd11, {{0, 4}}], [%r3];
{WAIT.format(label="wait", bar="bar", parity=0)}
    fence.proxy.async.shared::cta;
    {store} [%rd12, {{-4, 15}}], [%r2];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
"""
    maps = [lambda d: TensorMap(d[0], (8, 32), swizzle=swizzle), lambda d: TensorMap(d[1], (8, 32), swizzle=swizzle)]
    _, found = run(body, [source, target], maps=maps)
    wanted = target.copy()
    part = source[4:9, 4:]
    wanted[15:20, :28] = REDUCTIONS[operation](wanted[15:20, :28], part) if operation else part
    np.testing.assert_array_equal(found, wanted)


def test_im2col_gathers_the_pixels_of_a_filter_tap():
    """NHWC: 9 pixels of 4 channels from (n, h, w) on, in a box that leaves a border; the tap is the offset (2, 1)."""
    rng = np.random.default_rng(4)
    image = rng.normal(size=(2, 6, 7, 8)).astype(F32)
    lower, upper, n = (-1, -1), (-1, -1), 9
    head = "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
    body = "    mov.b16 %rs1, 2;\n    mov.b16 %rs2, 1;\n"
    body += load_tile(n * 16, head, "4, 3, 4, 0", ", {%rs1, %rs2}", times=2)
    _, found = run(
        body, [image, np.zeros(64, F32)], maps=[lambda d: TensorMap(d[0], im2col=Im2col(lower, upper, 4, n))]
    )
    # Pixels of the box, in order, from the one at h=4, w=3 on.
    box = [(i, h, w) for i in range(3) for h in range(-1, 6 - 1) for w in range(-1, 7 - 1)]
    first = box.index((0, 4, 3))
    wanted = np.zeros((n, 4), F32)
    for k, (i, h, w) in enumerate(box[first : first + n]):
        if i < 2 and 0 <= h + 1 < 6 and 0 <= w + 2 < 7:
            wanted[k] = image[i, h + 1, w + 2, 4:8]
    np.testing.assert_array_equal(found[: 4 * n].reshape(n, 4), wanted)


def test_tensor_map_changed_on_the_device():
    """A map is copied to shared memory, changed there to another address, size and stride, and written to global memory
    for use.
    """
    source, other = np.arange(1024, dtype=U32).reshape(32, 32), np.arange(5000, 5000 + 1024, dtype=U32).reshape(16, 64)
    copies = "".join(
        f"    ld.param.v4.u32 {{%r4, %r5, %r6, %r7}}, [m0+{k}];\n    st.shared.v4.u32 [buf+{k}], {{%r4, %r5, %r6, "
        f"%r7}};\n"
        for k in range(0, 128, 16)
    )
    body = f"""
    @%p7 bra changed;
{copies}
    tensormap.replace.tile.global_address.shared::cta.b1024.b64 [buf], %rd2;
    tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [buf], 0, 64;
    tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [buf], 1, 16;
    tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [buf], 0, 256;
    tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [buf], 1, 4;
    tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [buf], 0;
    tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [buf], 0;
    tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [buf], 2;
    tensormap.replace.tile.rank.shared::cta.b1024.b32 [buf], 1;
changed:
    bar.sync 0;
    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd3], [buf], 128;
    fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128;
    bar.sync 0;
    mov.u64 %rd11, %rd3;
    mov.u64 %rd2, %rd4;
""" + load_tile(512, LOAD_2D, "32, 14", times=4)
    maps = [lambda d: TensorMap(d[0], (8, 32), swizzle=128)]
    *_, found = run(body, [source, other, np.zeros(32, U32), np.zeros(128, U32)], maps=maps)
    wanted = np.zeros((4, 32), U32)
    wanted[:2] = other[14:, 32:]
    np.testing.assert_array_equal(found.reshape(4, 32), wanted)


def test_what_is_no_tensor_map_is_reported():
    body = (
        f"    mov.u64 %rd11, %rd1;\n    @%p7 ret;\n    mbarrier.init.shared.b64 [bar], 1;\n    {LOAD_2D} [%r2], "
        f"[%rd11, {{0, 0}}], [%r3];\n"
    )
    with pytest.raises(KernelFault, match="no tensor map"):
        run(body, [np.zeros(64, U32)])
    with pytest.raises(KernelFault, match="1 dimensions, tile mode; the instruction is for 2 dimensions"):
        run(body.replace("mov.u64 %rd11, %rd1;", ""), [np.zeros(64, U32)], maps=[lambda d: TensorMap(d[0], (16,))])


# Opcodes and the test that runs them, for the coverage of the table.
BY_EFFECT = {
    **dict.fromkeys(
        ["MBAR.INIT", "MBAR.INVAL", "MBAR.ARRIVE", "MBAR.ARRIVE_DROP", "MBAR.ARRIVE.TX", "MBAR.ARRIVE_DROP.TX",
            "MBAR.EXPECT_TX", "MBAR.COMPLETE_TX",
         "MBAR.TEST_WAIT", "MBAR.TRY_WAIT", "MBAR.TEST_WAIT.PARITY"], test_phases_of_an_mbarrier),
    "MBAR.TRY_WAIT.PARITY": test_warps_wait_for_each_other_at_an_mbarrier,
    **dict.fromkeys(["MAPA", "MAPA.64", "CTARANK", "BAR.CLUSTER.ARRIVE", "BAR.CLUSTER.WAIT"],
                    test_generic_addresses_atomics_and_stores_in_another_block),
    **dict.fromkeys(["BULK.LOAD", "BULK.STORE", "BULK.PREFETCH", "BULK.COPY", "BULK.COMMIT", "BULK.WAIT"],
        test_bulk_copies_there_and_back),
    "BULK.RED": lambda: test_bulk_reduction_in_global_memory("add", "f32"),
    "BULK.RED.SHARED": lambda: test_bulk_reduction_in_another_block("add", "u32"),
    **dict.fromkeys(["TMA.LOAD", "TMA.STORE", "TMA.PREFETCH", "BULK.WAIT.READ"],
        lambda: test_tile_is_stored_or_reduced("", 128)),
    "TMA.RED": lambda: test_tile_is_stored_or_reduced("add", 0),
}  # fmt: skip
