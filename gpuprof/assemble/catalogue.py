"""Every instruction of PTX ISA 9.0 and whether gpuprof runs it: what `gpuprof list instructions` prints.

The names are those of the manual's section 9.7, in its order. `refused` names the forms that stop a program before it
starts; "all" for an instruction there is no lowering for. A test holds this against the lowering.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    """One instruction. `refused`: "" when every form runs, "all" when none does, else which ones do not."""

    name: str
    kind: str
    refused: str = ""

    @property
    def status(self) -> str:
        return {"": "runs", "all": "refused"}.get(self.refused, "partly")


# kind -> names, separated by spaces, whose every form runs
WHOLE = {
    "integer": "add sub mul mad mul24 mad24 sad div rem abs neg min max popc clz bfind fns brev bfe bfi szext bmsk "
        "dp4a dp2a",
    "extended precision": "add.cc addc sub.cc subc mad.cc madc",
    "floating point": "testp copysign add sub mul fma mad div abs neg min max rcp rcp.approx.ftz.f64 sqrt rsqrt "
        "rsqrt.approx.ftz.f64 sin cos lg2 ex2 tanh",
    "half precision": "add sub mul fma neg abs min max tanh ex2",
    "mixed precision": "add sub fma",
    "comparison and selection": "set setp selp slct",
    "logic and shift": "and or xor not cnot lop3 shf shl shr",
    "data movement": "mov shfl shfl.sync prmt ld ld.global.nc ldu st st.async st.bulk prefetch prefetchu applypriority "
        "discard createpolicy isspacep cvta cvt cvt.pack mapa getctarank",
    "asynchronous copy": "cp.async cp.async.commit_group cp.async.wait_group cp.async.wait_all cp.async.bulk "
        "cp.reduce.async.bulk"
    " cp.async.bulk.prefetch cp.async.bulk.commit_group cp.async.bulk.wait_group cp.async.bulk.tensor "
        "cp.reduce.async.bulk.tensor"
    " cp.async.bulk.prefetch.tensor tensormap.replace",
    "texture": "tex tld4 txq istypep",
    "surface": "suld sust sured suq",
    "control flow": "bra brx.idx call ret exit",
    "synchronisation": "bar barrier bar.warp.sync barrier.cluster membar fence atom red red.async vote vote.sync "
        "match.sync activemask redux.sync griddepcontrol elect.sync",
    "mbarrier": "mbarrier.init mbarrier.inval mbarrier.expect_tx mbarrier.complete_tx mbarrier.arrive "
        "mbarrier.arrive_drop"
    " cp.async.mbarrier.arrive mbarrier.test_wait mbarrier.try_wait mbarrier.pending_count tensormap.cp_fenceproxy",
    "warp matrix": "wmma.load wmma.store wmma.mma mma mma.sp ldmatrix stmatrix movmatrix",
    "warpgroup matrix": "wgmma.mma_async wgmma.mma_async.sp wgmma.fence wgmma.commit_group wgmma.wait_group",
    "stack": "stacksave stackrestore alloca",
    "video": "vadd vsub vabsdiff vmin vmax vshl vshr vmad vset vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2 vadd4 "
        "vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4",
    "miscellaneous": "brkpt nanosleep pmevent trap setmaxnreg",
}  # fmt: skip

# (kind, name): the forms that are refused
REFUSED = {
    ("half precision", "fma"): ".oob",
    ("data movement", "cvt"): ".rs to .e2m1x4",
    ("data movement", "st.bulk"): "all",
    ("asynchronous copy", "cp.async.bulk.tensor"): ".tile::gather4, .tile::scatter4, .im2col::w, .cta_group",
    ("asynchronous copy", "cp.async.bulk.prefetch.tensor"): ".tile::gather4, .im2col::w",
    ("texture", "tex"): ".2dms, .a2dms, texel offsets, depth comparison",
    ("texture", "tld4"): "texel offsets, depth comparison",
    ("surface", "suq"): ".memory_layout",
    ("warp matrix", "mma"): ".kind, .block_scale",
    ("warp matrix", "mma.sp"): ".kind, .block_scale",
    ("warp matrix", "ldmatrix"): ".m16n16, .m8n16",
    ("warp matrix", "stmatrix"): ".m16n8",
    ("warpgroup matrix", "wgmma.mma_async.sp"): "all",
    ("data movement", "multimem.ld_reduce"): "all",
    ("data movement", "multimem.st"): "all",
    ("data movement", "multimem.red"): "all",
    ("asynchronous copy", "multimem.cp.async.bulk"): "all",
    ("asynchronous copy", "multimem.cp.reduce.async.bulk"): "all",
    ("synchronisation", "clusterlaunchcontrol.try_cancel"): "all",
    ("synchronisation", "clusterlaunchcontrol.query_cancel"): "all",
    **{
        ("tensor core generation 5", f"tcgen05.{name}"): "all"
        for name in (
            "alloc", "dealloc", "relinquish_alloc_permit", "ld", "st", "ld.red", "wait", "cp", "shift", "mma", "mma.sp",
            "mma.ws", "mma.ws.sp",
            "fence", "commit",
        )
    },
}  # fmt: skip


def entries() -> list[Entry]:
    """All instructions, those of one kind together."""
    whole = [
        Entry(name, kind, REFUSED.get((kind, name), "")) for kind, names in WHOLE.items() for name in names.split()
    ]
    known = {(entry.kind, entry.name) for entry in whole}
    return whole + [
        Entry(name, kind, refused) for (kind, name), refused in REFUSED.items() if (kind, name) not in known
    ]
