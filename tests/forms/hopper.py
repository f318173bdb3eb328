"""One snippet for each form of sm_90's asynchronous instructions, for a kernel with the registers of FRAME."""

FRAME = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p0, .param .align 64 .b8 map[128])
{
    .reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .f32 %f<8>;
    .shared .align 8 .b64 bar;
    .shared .align 128 .b8 buf[2048];
    ld.param.u64 %rd1, [p0];
    cvta.to.global.u64 %rd1, %rd1;
    mov.b64 %rd2, map;
    cvta.param.u64 %rd2, %rd2;
    mov.u32 %r1, buf;
    mov.u32 %r2, bar;
    mov.u32 %r3, 64;
    mov.u64 %rd3, 0;
    mov.b16 %rs1, 1;
"""


def kernel(body: str) -> str:
    return f"{FRAME}    {body}\n    ret;\n}}\n"


_SPACES = ("", ".shared", ".shared::cta")
MBARRIER = [
    *(f"mbarrier.init{s}.b64 [%r2], 1;" for s in _SPACES[1:]),
    "mbarrier.init.b64 [%rd1], %r3;",
    "mbarrier.init.shared.b64 [bar+0], 1;",
    "mbarrier.inval.shared.b64 [bar];",
    *(f"mbarrier.arrive{q}{s}.b64 %rd4, "
        "[bar];" for q in ("", ".release.cta", ".release.cluster", ".relaxed.cluster") for s in _SPACES[1:]),
    "mbarrier.arrive.shared.b64 %rd4, [bar], 2;",
    "mbarrier.arrive.shared.b64 _, [bar], %r3;",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2], 1;",
    "mbarrier.arrive.noComplete.shared.b64 %rd4, [bar], 2;",
    "mbarrier.arrive.noComplete.release.cta.shared.b64 %rd4, [bar], %r3;",
    "mbarrier.arrive_drop.shared.b64 %rd4, [bar];",
    "mbarrier.arrive_drop.noComplete.shared.b64 %rd4, [bar], 2;",
    "mbarrier.arrive.expect_tx.shared.b64 %rd4, [bar], 512;",
    "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd4, [bar], %r3;",
    "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r2], %r3;",
    "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%r2], %r3;",
    "mbarrier.arrive_drop.expect_tx.shared.b64 %rd4, [bar], 512;",
    "mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%r2], %r3;",
    "mbarrier.expect_tx.shared.b64 [bar], 512;",
    "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], %r3;",
    "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r2], %r3;",
    "mbarrier.complete_tx.shared.b64 [bar], 512;",
    "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r2], %r3;",
    *(f"mbarrier.{w}_wait{q}.shared.b64 %p1, [bar], "
        "%rd3;" for w in ("test", "try") for q in ("", ".acquire.cta", ".acquire.cluster")),
    *(f"mbarrier.{w}_wait.parity{q}.shared::cta.b64 %p1, [bar], "
        "%r3;" for w in ("test", "try") for q in ("", ".acquire.cta", ".relaxed.cluster")),
    "mbarrier.try_wait.shared.b64 %p1, [bar], %rd3, 1000;",
    "mbarrier.try_wait.parity.shared.b64 %p1, [bar], 1, %r3;",
    "mbarrier.try_wait.parity.b64 %p1, [%rd1], 0;",
    "mbarrier.pending_count.b64 %r4, %rd3;",
    "cp.async.mbarrier.arrive.b64 [%rd1];",
    "cp.async.mbarrier.arrive.shared.b64 [bar];",
    "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];",
]  # fmt: skip
CLUSTER = [
    *(f"barrier.cluster.arrive{o}{a};" for o in ("", ".release", ".relaxed") for a in ("", ".aligned")),
    *(f"barrier.cluster.wait{o}{a};" for o in ("", ".acquire") for a in ("", ".aligned")),
    "mapa.u64 %rd4, %rd1, %r3;",
    "mapa.shared::cluster.u32 %r4, %r1, 1;",
    "mapa.shared::cluster.u32 %r4, buf, %r3;",
    "mapa.shared::cluster.u64 %rd4, %rd3, %r3;",
    "getctarank.u64 %r4, %rd1;",
    "getctarank.shared::cluster.u32 %r4, %r1;",
    "getctarank.shared::cluster.u64 %r4, %rd3;",
    *("mov.u32 %r4, "
        f"%{name}.{axis};" for name in ("clusterid", "nclusterid", "cluster_ctaid",
            "cluster_nctaid") for axis in "xyz"),
    "mov.u32 %r4, %cluster_ctarank;",
    "mov.u32 %r4, %cluster_nctarank;",
    "mov.pred %p1, %is_explicit_cluster;",
    "ld.shared::cluster.u32 %r4, [%r1];",
    "ld.shared::cluster.v4.u32 {%r4, %r5, %r6, %r7}, [%r1];",
    "ld.acquire.cluster.shared::cluster.u32 %r4, [%r1];",
    "st.shared::cluster.f32 [%r1], %f1;",
    "st.release.cluster.shared::cluster.u32 [%r1+16], %r3;",
    "atom.shared::cluster.add.u32 %r4, [%r1], 1;",
    "atom.relaxed.cluster.shared::cluster.cas.b32 %r4, [%r1], 1, 2;",
    "red.shared::cluster.max.s32 [%r1], %r3;",
    "red.relaxed.cluster.shared::cluster.add.u32 [%r1], %r3;",
    "isspacep.shared::cluster %p1, %rd1;",
    "cvta.shared::cluster.u64 %rd4, %rd3;",
    *(f"st.async{q}.shared::cluster.mbarrier::complete_tx::bytes.{t}" for q in ("", ".weak") for t in (
        "b32 [%r1], %r3, [%r2];", "u64 [%r1], %rd3, [%r2];", "f32 [%r1], %f1, [%r2];", "v2.b32 [%r1], {%r3, "
            "%r4}, [%r2];",
        "v2.b64 [%r1], {%rd3, %rd4}, [%r2];", "v4.f32 [%r1], {%f1, %f2, %f3, %f4}, [%r2];")),
    *(f"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{o} [%r1], %r3, [%r2];" for o in (
        "inc.u32", "dec.u32", "min.u32", "max.s32", "add.u32", "add.s32", "and.b32", "or.b32", "xor.b32")),
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%r1], %rd3, [%r2];",
    "griddepcontrol.launch_dependents;", "griddepcontrol.wait;", "setmaxnreg.inc.sync.aligned.u32 232;",
    "setmaxnreg.dec.sync.aligned.u32 40;",
    "fence.proxy.alias;", "fence.proxy.async;", "fence.proxy.async.global;", "fence.proxy.async.shared::cta;",
    "fence.proxy.async.shared::cluster;", "fence.proxy.tensormap::generic.release.gpu;",
    "fence.proxy.tensormap::generic.acquire.gpu [%rd1], "
        "128;", "fence.mbarrier_init.release.cluster;", "fence.acq_rel.cluster;",
    "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
    "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;",
    "fence.acquire.sync_restrict::shared::cluster.cluster;", "fence.release.sync_restrict::shared::cta.cluster;",
]  # fmt: skip
_LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
_TYPES = {
    "and": "b32 b64", "or": "b32 b64", "xor": "b32 b64", "inc": "u32", "dec": "u32", "min": "u32 s32 u64 s64",
    "max": "u32 s32 u64 s64",
    "add": "u32 s32 u64 f32 f64", "add.noftz": "f16 bf16",
}  # fmt: skip
BULK = [
    f"{_LOAD} [%r1], [%rd1], 64, [%r2];",
    f"{_LOAD} [buf], [%rd1+32], %r3, [bar];",
    f"{_LOAD}.L2::cache_hint [%r1], [%rd1], 64, [%r2], %rd3;",
    f"{_LOAD}.multicast::cluster [%r1], [%rd1], 64, [%r2], %rs1;",
    f"{_LOAD}.multicast::cluster.L2::cache_hint [%r1], [%rd1], 64, [%r2], %rs1, %rd3;",
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 64, [%r2];",
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [buf], 64, [%r2];",
    "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 64;",
    "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%rd1], [%r1], %r3, %rd3;",
    "cp.async.bulk.prefetch.L2.global [%rd1], 64;",
    "cp.async.bulk.prefetch.L2.global.L2::cache_hint [%rd1], %r3, %rd3;",
    "cp.async.bulk.commit_group;", "cp.async.bulk.wait_group 0;", "cp.async.bulk.wait_group.read 3;",
    *(f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{o}.{t} [%rd1], [%r1], "
        "64;" for o, ts in _TYPES.items() for t in ts.split()),
    *(f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{o}.{t} [%rd1], [%r1], "
        "64;" for o in ("min", "max") for t in ("f16", "bf16")),
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.u32 [%rd1], [%r1], 64, %rd3;",
    *(f"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{o} [%r1], [buf], 64, "
        "[%r2];" for o in (
        "and.b32", "or.b32", "xor.b32", "inc.u32", "dec.u32", "add.u32", "add.s32", "add.u64", "min.u32", "min.s32",
        "max.u32", "max.s32")),
]  # fmt: skip
# PTX ISA 9.0 has it, for sm_100 and later.
BULK_SM100 = ["cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r1], 64, %rs1;"]


def _tensor() -> list[str]:
    found = []
    for n in range(1, 6):
        at = f"[%rd2, {{{', '.join(f'%r{k + 3}' for k in range(n))}}}]"
        bytes_ = "mbarrier::complete_tx::bytes"
        head = f"cp.async.bulk.tensor.{n}d"
        found += [
            f"{head}.shared::cluster.global.tile.{bytes_} [%r1], {at}, [%r2];",
            f"{head}.shared::cta.global.{bytes_} [%r1], {at}, [%r2];",
            f"{head}.shared::cluster.global.{bytes_}.L2::cache_hint [%r1], {at}, [%r2], %rd3;",
            f"{head}.shared::cluster.global.tile.{bytes_}.multicast::cluster [%r1], {at}, [%r2], %rs1;",
            f"{head}.shared::cluster.global.{bytes_}.multicast::cluster.L2::cache_hint [%r1], {at}, [%r2], %rs1, %rd3;",
            f"{head}.global.shared::cta.tile.bulk_group {at}, [%r1];",
            f"{head}.global.shared::cta.bulk_group.L2::cache_hint {at}, [%r1], %rd3;",
            f"cp.async.bulk.prefetch.tensor.{n}d.L2.global.tile {at};",
            f"cp.async.bulk.prefetch.tensor.{n}d.L2.global.L2::cache_hint {at}, %rd3;",
            *(f"cp.reduce.async.bulk.tensor.{n}d.global.shared::cta.{o}.tile.bulk_group {at}, [%r1];" for o in (
                "add", "min", "max", "inc", "dec", "and", "or", "xor")),
        ]  # fmt: skip
        if n >= 3:
            offsets = "{" + ", ".join(["%rs1", "%rs2", "%rs3"][: n - 2]) + "}"
            found += [
                f"{head}.shared::cluster.global.im2col.{bytes_} [%r1], {at}, [%r2], {offsets};",
                f"{head}.shared::cluster.global.im2col.{bytes_}.multicast::cluster [%r1], {at}, [%r2], {offsets}, "
                "%rs1;",
                f"{head}.global.shared::cta.im2col_no_offs.bulk_group {at}, [%r1];",
                f"cp.async.bulk.prefetch.tensor.{n}d.L2.global.im2col {at}, {offsets};",
            ]
    return found


TENSOR = _tensor()
TENSORMAP = [
    "prefetch.tensormap [%rd2];",
    "prefetch.param.tensormap [map];",
    *(f"tensormap.replace.tile.global_address{s}.b1024.b64 [{a}], "
        "%rd3;" for s, a in ((".global", "%rd1"), (".shared::cta", "buf"), ("", "%rd1"))),
    *(f"tensormap.replace.tile.{f}.shared::cta.b1024.b32 [buf], %r3;" for f in ("rank",)),
    *(f"tensormap.replace.tile.{f}.global.b1024.b32 [%rd1], {k}, "
        "%r3;" for f in ("box_dim", "global_dim", "element_stride") for k in (0, 4)),
    *(f"tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [buf], {k}, %rd3;" for k in (0, 3)),
    "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [buf], 6;",
    "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [buf], 0;",
    "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [buf], 3;",
    "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [buf], 1;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [buf], 128;",
]  # fmt: skip
FORMS = [*MBARRIER, *CLUSTER, *BULK, *TENSOR, *TENSORMAP]
