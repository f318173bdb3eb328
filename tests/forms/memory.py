"""Every form of the PTX instructions that touch memory, other lanes or control, one a line, by the first target that
has it (PTX ISA 9.0).

A line is a few statements inside a kernel with the registers of PROLOGUE. `cluster`, mbarrier and bulk forms stand in a
table of their own.
"""

import itertools

PROLOGUE = """\
.version 9.0
.target {target}
.address_size 64
.global .align 32 .b8 gvar[256];
.const .align 16 .b8 cvar[64];
.shared .align 32 .b8 svar[256];
.func (.param .b32 r) callee(.param .b32 x) {{ .reg .b32 %a; ld.param.b32 %a, [x]; st.param.b32 [r], %a; ret; }}
.visible .entry k(.param .u64 p0, .param .align 16 .b8 pstruct[32])
{{
    .reg .pred %p<8>; .reg .b16 %h<20>; .reg .b32 %r<24>; .reg .b64 %d<24>; .reg .f32 %f<20>; .reg .f64 %e<8>; .reg .b128 %q<6>;
    .reg .b64 %g, %s, %c, %l; .reg .v4 .f32 %v; .reg .v2 .b64 %w;
    .local .align 32 .b8 lvar[64];
    ld.param.u64 %g, [p0]; mov.u64 %s, svar; mov.u64 %c, cvar; mov.u64 %l, lvar; mov.u32 %r0, 0; mov.u32 %r1, 1; setp.eq.u32 %p0, %r0, 0;
"""  # noqa: E501


def product(pattern: str, **choices: str) -> list[str]:
    """The pattern with every combination of the choices, each a list of words; "-" is the empty one."""
    words = [["" if word == "-" else word for word in value.split()] for value in choices.values()]
    return [pattern.format(**dict(zip(choices, combination, strict=True))) for combination in itertools.product(*words)]


def _loads_and_stores() -> dict[str, list[str]]:
    plain = []
    for kind, register in (
        ("b8", "%h1"), ("u8", "%h1"), ("s8", "%h1"), ("b16", "%h1"), ("u16", "%h1"), ("s16", "%h1"), ("b32", "%r2"),
        ("u32", "%r2"),
        ("s32", "%r2"), ("f32", "%f1"), ("b64", "%d1"), ("u64", "%d1"), ("s64", "%d1"), ("f64", "%e1"), ("u8", "%r2"),
        ("s8", "%d1"), ("s16", "%r2"),
    ):  # fmt: skip
        plain += product(f"ld{{space}}.{kind} {register}, [{{at}}];", space=".global", at="%g gvar gvar+8 %g+8 %g+-8")
        plain += [
            f"ld{s}.{kind} {register}, [{a}];"
            for s, a in ((".shared", "%s"), (".local", "lvar"), (".const", "cvar+8"), ("", "%g"))
        ]
        plain += [
            f"st{s}.{kind} [{a}], {register};"
            for s, a in ((".global", "%g"), (".shared::cta", "svar"), (".local", "%l"), ("", "%g"))
        ]
    for kind, n, registers in (
        ("u8", 2, "%h"), ("b16", 2, "%h"), ("b32", 2, "%r"), ("f32", 2, "%f"), ("b64", 2, "%d"), ("f64", 2, "%e"),
        ("s8", 4, "%h"), ("u16", 4, "%h"),
        ("s32", 4, "%r"), ("f32", 4, "%f"),
    ):  # fmt: skip
        group = "{" + ", ".join(f"{registers}{i + 1}" for i in range(n)) + "}"
        for space, at in ((".global", "%g"), (".shared", "%s+16"), (".local", "lvar+16"), ("", "%g")):
            plain += [f"ld{space}.v{n}.{kind} {group}, [{at}];", f"st{space}.v{n}.{kind} [{at}], {group};"]
        plain.append(f"ld.const.v{n}.{kind} {group}, [cvar];")
    plain += [
        "ld.param.b32 %r2, [pstruct+4];", "ld.param.v4.b32 {%r2, %r3, %r4, %r5}, "
            "[pstruct+16];", "ld.param::entry.u64 %d1, [p0];",
        "ld.global.v2.b32 {%r2, _}, [%g];", "ld.v4.f32 {_, %f1, _, %f2}, "
            "[%g];", "ld.global.v4.f32 %v, [%g];", "st.global.v4.f32 [%g], %v;",
        "ld.global.v2.b64 %w, [%g]; mov.b64 %d1, %w.x; mov.b64 %w.y, %d1; st.v2.b64 [%g], "
            "%w;", "mov.f32 %v.x, %f1; add.f32 %f2, %v.x, %v.w;",
        "st.global.b32 [%g], 17;", "st.shared.v2.b32 [%s], {1, %r1};", "st.global.f64 [%g], "
            "0d3FF0000000000000;", "ld.local.b32 %r2, [0];",
        "ld.local.b32 %r2, [16+4];", "ld.global.b32 %r2, [%g+(2*4)];", "ld.global.b32 %r2, "
            "[gvar+4*(1+2)];", "mov.u32 %r2, 3 << 2 | 1;",
        "mov.u32 %r2, (5 + 3) * 2;", "mov.s64 %d1, (.s64)0xffffffffffffffff >> "
            "4;", "mov.u32 %r2, 7 > 3 ? 11 : 12;", "mov.u32 %r2, ~0;",
        "mov.u32 %r2, !5;", "add.u32 %r2, %r1, -(4 / 2) % 7;", "mov.u32 %r2, WARP_SZ - 1;",
    ]  # fmt: skip
    hints = [
        *product("ld.global.{c}.b32 %r2, [%g];", c="ca cg cs lu cv"),
        *product("st.global.{c}.b32 [%g], %r1;", c="wb cg cs wt"),
        *product("ld.global{c}.nc{h}.f32 %f1, [%g];", c="- .ca .cg .cs", h="- .L2::64B .L2::128B"),
        *product("ld.global.nc.v4.{t} {{%r1, %r2, %r3, %r4}}, [%g];", t="b32 u32"),
        *product("ld.global.nc{p}.b32 %r2, [%g];", p=".L1::evict_last .L1::no_allocate .L1::evict_first.L2::128B "
            ".L1::no_allocate.L2::64B"),
        *product("ld{o}{s}.b32 %r2, [%g];", o=".weak .volatile .relaxed.cta .relaxed.gpu .relaxed.sys .acquire.cta "
            ".acquire.gpu .acquire.sys", s=".global -"),
        *product("st{o}{s}.b32 [%g], %r1;", o=".weak .volatile .relaxed.cta .relaxed.gpu .relaxed.sys .release.cta "
            ".release.gpu .release.sys", s=".global -"),
        *product("ld{o}.shared.v2.b32 {{%r2, %r3}}, [%s];", o=".volatile .relaxed.cta .acquire.cta"),
        *product("ld.global{p}{b}.b32 %r2, [%g];", p=".L1::evict_normal .L1::evict_unchanged .L1::evict_first "
            ".L1::evict_last .L1::no_allocate", b="- .L2::128B"),
        *product("st.global{p}.b32 [%g], %r1;", p=".L1::evict_normal .L1::evict_unchanged .L1::evict_first "
            ".L1::evict_last .L1::no_allocate"),
        "st.volatile.shared.f64 [%s], %e1;", "ldu.global.b32 %r2, [%g];", "ldu.v4.f32 {%f1,%f2,%f3,%f4}, [%g];",
        "ldu.global.v2.f64 {%e1, %e2}, [%g];", "ld.mmio.relaxed.sys.global.b32 %r2, "
            "[%g];", "st.mmio.relaxed.sys.global.b32 [%g], %r1;",
        "ld.mmio.relaxed.sys.b64 %d1, [%g];",
    ]  # fmt: skip
    policy = [
        *product("createpolicy.fractional.L2::{p}.b64 %d2, 0.5;", p="evict_last evict_normal "
            "evict_first evict_unchanged"),
        "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 "
            "%d2;", "createpolicy.fractional.L2::evict_first.b64 %d2, 1.0;",
        "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %d2, [%g], 0x100000, 0x200000;",
        "createpolicy.range.L2::evict_first.b64 %d2, [%g], %r1, %r2;", "createpolicy.cvt.L2.b64 %d2, %d3;",
        "ld.global.L2::cache_hint.b32 %r2, [%g], %d2;", "ld.global.L1::evict_last.L2::cache_hint.v4.f32 "
            "{%f1,%f2,%f3,%f4}, [%g], %d2;",
        "ld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B.b32 %r2, [%g], "
            "%d2;", "st.global.L2::cache_hint.v2.b32 [%g], {%r1,%r2}, %d2;",
        "atom.global.add.L2::cache_hint.u32 %r2, [%g], 1, %d2;", "red.global.add.L2::cache_hint.f32 [%g], %f1, %d2;",
        "prefetch.global.L2::evict_last [%g];", "prefetch.global.L2::evict_normal [%g];",
        "applypriority.global.L2::evict_normal [%g], "
            "128;", "applypriority.L2::evict_normal [%g], "
                "128;", "discard.global.L2 [%g], 128;", "discard.L2 [%g+128], 128;",
    ]  # fmt: skip
    b128 = [
        *product("ld{s}.b128 %q1, [{a}];", s=".global -", a="%g %g+16"), "ld.shared.b128 %q1, [svar];",
        "ld.local.b128 %q1, [lvar];", "ld.const.b128 %q1, [cvar];",
        "st.global.b128 [%g], %q1;", "st.shared.b128 [%s], %q1;", "mov.b128 %q1, {%d1, %d2};",
        "mov.b128 {%d1, %d2}, %q1;", "mov.b128 %q1, %q2;",
        *product("atom{o}{s}.exch.b128 %q1, [{a}], "
            "%q2;", o="- .relaxed.gpu .acq_rel.sys", s=".global -", a="%g"), "atom.shared.exch.b128 %q1, [%s], %q2;",
        "atom.global.cas.b128 %q1, [%g], %q2, "
            "%q3;", "atom.shared.cas.b128 %q1, [%s], %q2, %q3;", "atom.cas.b128 %q1, [%g], %q2, %q3;",
    ]  # fmt: skip
    wide = [
        *product("ld{s}.v4.{t} {{%d1,%d2,%d3,%d4}}, "
            "[%g];", s=".global .global.nc", t="b64 u64 s64"), "ld.global.v4.f64 "
            "{%e1,%e2,%e3,%e4}, [%g];",
        *product("ld.global.v8.{t} {{%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}}, "
            "[%g];", t="b32 u32 s32"), "ld.global.v8.f32 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,_}, [%g+32];",
        "st.global.v4.b64 [%g], {%d1,%d2,%d3,%d4};", "st.global.v8.f32 [%g], {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8};",
        "st.global.v8.b32 [%g], {%r1,%r2,%r3,%r4,%r5,%r6,%r7,7};", "ld.global.L2::evict_last.v8.b32 "
            "{%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%g];",
    ]  # fmt: skip
    return {"sm_75": plain + hints, "sm_80": policy, "sm_90": b128, "sm_100": wide}


def _atomics() -> dict[str, list[str]]:
    forms = []
    for operation, kinds in (
        ("add", "u32 s32 u64 f32 f64 f16x2 "
            "f16"), ("and", "b32 b64"), ("or", "b32 b64"), ("xor", "b32 b64"), ("min", "u32 s32 u64 s64"),
        ("max", "u32 s32 u64 s64"), ("inc", "u32"), ("dec", "u32"), ("exch", "b32 b64"), ("cas", "b16 b32 b64"),
    ):  # fmt: skip
        for kind in kinds.split():
            full = f"add.noftz.{kind}" if "16" in kind and operation == "add" else f"{operation}.{kind}"
            register = {"16": "%h", "32": "%r", "64": "%d", "x2": "%r"}[kind[-2:]]
            register = {"f32": "%f", "f64": "%e"}.get(kind, register)
            values = f"{register}2, {register}3" if operation == "cas" else f"{register}2"
            forms += [
                f"atom{s}.{full} {register}1, [{a}], {values};"
                for s, a in ((".global", "%g"), (".shared", "svar"), ("", "%g+8"))
            ]
            if operation not in ("exch", "cas"):
                forms += [
                    f"red{s}.{full} [{a}], {values};" for s, a in ((".global", "%g"), (".shared", "%s"), ("", "%g"))
                ]
    forms += product(
        "atom{o}.global.add.u32 %r2, [%g], 1;",
        o=".relaxed.cta .relaxed.gpu .relaxed.sys .acquire.gpu .release.gpu .acq_rel.cta .acq_rel.sys .gpu .cta .sys",
    )
    forms += product("red{o}.global.add.u32 [%g], 1;", o=".relaxed.cta .relaxed.gpu .release.sys .gpu .sys")
    forms += [
        "atom.global.add.u32 _, [%g], %r1;",
        "atom.shared::cta.inc.u32 %r2, [%s], 15;",
        "atom.global.exch.b32 _, [%g], %r1;",
    ]
    forms += [
        "@%p0 atom.global.add.u64 %d1, [%g], -1;",
        "atom.add.f32 %f1, [%g], 0f3F800000;",
        "atom.acquire.gpu.global.cas.b32 %r2, [gvar], 0, 1;",
    ]
    bf16 = [
        f"{i}{s}.add.noftz.{t} {d}[{a}], {v};"
        for t, v, d in (("bf16", "%h2", "%h1, "), ("bf16x2", "%r2", "%r1, "))
        for i, d in (("atom", d), ("red", ""))
        for s, a in ((".global", "%g"), (".shared", "%s"), ("", "%g"))
    ]
    vectors = []
    for kind, register, counts, operations in (
        ("f32", "%f", (2, 4), ("add",)), ("f16", "%h", (2, 4, 8), ("add", "min", "max")),
        ("bf16", "%h", (2, 4, 8), ("add", "min", "max")),
        ("f16x2", "%r", (2, 4), ("add", "min", "max")), ("bf16x2", "%r", (2, 4), ("add", "min", "max")),
    ):  # fmt: skip
        for n, operation in itertools.product(counts, operations):
            noftz = "" if kind == "f32" else ".noftz"
            group = ["{" + ", ".join(f"{register}{first + i}" for i in range(n)) + "}" for first in (1, 9)]
            vectors += [
                f"atom.global.v{n}.{kind}.{operation}{noftz} {group[0]}, [%g], {group[1]};",
                f"red.global.v{n}.{kind}.{operation}{noftz} [%g], {group[1]};",
            ]
            vectors.append(f"atom.relaxed.gpu.v{n}.{kind}.{operation}{noftz} {group[0]}, [%g], {group[1]};")
    return {"sm_75": forms, "sm_90": bf16 + vectors}


def _copies() -> dict[str, list[str]]:
    ca = product(
        "cp.async.ca.shared{w}.global{h} [%s], [%g], {n}{z};",
        w="- ::cta",
        h="- .L2::64B .L2::128B .L2::256B",
        n="4 8 16",
        z="- ,4 ,%r1 ,%p0",
    )
    cg = product("cp.async.cg.shared.global{h} [%s+16], [%g+16], 16{z};", h="- .L2::128B", z="- ,0 ,%r1 ,%p0")
    more = [
        "cp.async.ca.shared.global.L2::cache_hint [%s], [%g], 8, "
            "%d2;", "cp.async.cg.shared.global.L2::cache_hint.L2::128B [%s], [%g], 16, %r1, %d2;",
        "@%p0 cp.async.cg.shared.global [%r0], [%g], 16;", "@!%p0 cp.async.ca.shared.global [svar+4], [gvar+4], "
            "4;", "cp.async.ca.shared.global [%r1+3], [%g], 4, %p0;",
        "cp.async.commit_group;", "cp.async.wait_group 0;", "cp.async.wait_group 3;", "cp.async.wait_all;",
        "cp.async.wait_group 2+1;",
    ]  # fmt: skip
    return {"sm_80": ca + cg + more}


def _addresses() -> dict[str, list[str]]:
    forms = [
        *product("cvta{to}.{s}.u64 %d1, %d2;", to="- .to", s="global shared "
            "shared::cta local const"), "cvta.global.u64 %d1, gvar;", "cvta.shared.u64 %d1, svar+4;",
        "cvta.local.u64 %d1, lvar;", "cvta.const.u64 %d1, cvar;", *product("isspacep.{s} %p1, %d1;", s="global shared "
            "shared::cta local const"),
        "mov.u64 %d1, pstruct; cvta.param.u64 %d2, "
            "%d1;", "cvta.to.param.u64 %d1, %d2;", "isspacep.param %p1, %d1;", "isspacep.param::entry %p1, %d1;",
        "mov.u64 %d1, gvar+8;", "prefetch.global.L1 [%g];", "prefetch.global.L2 [%g+64];", "prefetch.L1 [%g];",
        "prefetch.local.L1 [lvar];", "prefetchu.L1 [%g];", "alloca.u64 %d1, 64;", "alloca.u64 %d1, %d2, 32;",
        "stacksave.u64 %d1;", "stackrestore.u64 %d1;",
        "stacksave.u64 %d1; alloca.u64 %d2, 16, 8; st.local.u32 [%d2], 1; stackrestore.u64 %d1;",
    ]  # fmt: skip
    return {"sm_75": forms}


def _order() -> dict[str, list[str]]:
    early = [
        *product("membar.{s};", s="cta gl sys"), *product("fence{o}.{s};", o="- .sc .acq_rel", s="cta gpu sys"),
        "fence.proxy.alias;", "membar.proxy.alias;",
    ]  # fmt: skip
    late = [
        *product("fence{o}.cluster;", o="- .sc .acq_rel"), *product("fence.{o}.{s};", o="acquire release",
            s="cta cluster gpu sys"), "fence.proxy.async;",
        *product("fence.proxy.async.{s};", s="global shared::cta "
            "shared::cluster"), "fence.mbarrier_init.release.cluster;",
        "fence.acquire.sync_restrict::shared::cluster.cluster;", "fence.release.sync_restrict::shared::cta.cluster;",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;",
        *product("ld.{o}.cluster.global.b32 %r2, "
            "[%g];", o="relaxed acquire"), "st.release.cluster.global.b32 [%g], "
                "%r1;", "atom.acq_rel.cluster.global.add.u32 %r2, [%g], 1;",
        "red.relaxed.cluster.global.add.u32 [%g], 1;", "atom.cluster.add.u32 %r2, [%g], 1;",
    ]  # fmt: skip
    return {"sm_75": early, "sm_90": late}


def _lanes() -> dict[str, list[str]]:
    forms = [
        "bar.sync 0;", "bar.sync 1, 64;", "bar.sync %r1;", "bar.sync %r1, %r2;", "bar.sync 3, %r2;",
        "bar.arrive 2, 64;", "bar.arrive %r1, %r2;", "bar.cta.sync 0;",
        "barrier.sync 0;", "barrier.sync.aligned 1, 32;", "barrier.cta.sync.aligned %r1, "
            "%r2;", "barrier.arrive 1, 64;", "barrier.cta.arrive.aligned 1, 96;",
        *product("bar.red.popc.u32 %r2, {b}, "
            "{n}%p0;", b="0 1 %r1", n="- !"), *product("bar.red.{o}.pred %p1, {b}, "
                "{n}%p0;", o="and or", b="0 %r1", n="- !"),
        "bar.red.popc.u32 %r2, 1, 64, "
            "%p0;", "barrier.red.popc.u32 %r2, 1, %p0;", "barrier.cta.red.or.aligned.pred %p1, 1, 64, !%p0;",
        "barrier.red.popc.aligned.u32 %r2, %r1, %r3, %p0;", "bar.cta.red.and.pred %p1, 2, %p0;",
        "bar.warp.sync 0xffffffff;", "bar.warp.sync %r1;", *product("vote.sync.{o}.pred "
            "%p1, {n}%p0, {m};", o="all any uni", n="- !", m="%r1 0xffffffff -1"),
        "vote.sync.ballot.b32 %r2, %p0, %r1;", "vote.sync.ballot.b32 %r2, !%p0, "
            "0xff;", *product("match.any.sync.{t} %r2, {v}, %r1;", t="b32", v="%r3 7"),
        "match.any.sync.b64 %r2, %d1, "
            "0xffffffff;", "match.all.sync.b32 %r2|%p1, %r3, "
                "%r1;", "match.all.sync.b32 %r2, %r3, %r1;", "match.all.sync.b64 %r2|%p1, %d1, %r1;",
        "activemask.b32 %r2;", *product("shfl.sync.{m}.b32 {d}, %r3, {b}, {c}, "
            "%r1;", m="up down bfly idx", d="%r2 %r2|%p1", b="1 %r4", c="0x1f %r5"),
        "shfl.sync.idx.b32 %f1, %f2, 0, 31, "
            "-1;", "nanosleep.u32 100;", "nanosleep.u32 %r1;", "brkpt;", "trap;", "exit;", "@%p0 exit;", "pmevent 7;",
            "pmevent.mask 0xff;",
    ]  # fmt: skip
    redux = product("redux.sync.{o}.{t} %r2, %r3, {m};", o="add min max", t="u32 s32", m="%r1 0xffff") + product(
        "redux.sync.{o}.b32 %r2, %r3, %r1;", o="and or xor"
    )
    elect = ["elect.sync %r2|%p1, 0xffffffff;", "elect.sync _|%p1, %r1;"]
    return {"sm_75": forms, "sm_80": redux, "sm_90": elect}


def _special() -> dict[str, list[str]]:
    names = (
        "laneid warpid nwarpid smid nsmid lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt clock "
        "clock_hi total_smem_size dynamic_smem_size"
    )
    names += " globaltimer_lo globaltimer_hi"
    reserved = (
        "reserved_smem_offset_begin reserved_smem_offset_end reserved_smem_offset_cap reserved_smem_offset_0 "
        "reserved_smem_offset_1"
    )
    forms = [
        *product("mov.u32 %r2, %{n};", n=names),
        *product("mov.u32 %r2, %{n}.{c};", n="tid ntid ctaid nctaid", c="x y z"),
    ]
    forms += [
        *product("mov.u64 %d1, %{n};", n="clock64 globaltimer gridid current_graph_exec"),
        *(f"mov.b32 %r2, %envreg{n};" for n in (0, 1, 2, 31)),
    ]
    forms += [
        *(f"mov.u32 %r2, %pm{n};" for n in range(8)),
        *(f"mov.u64 %d1, %pm{n}_64;" for n in range(8)),
        "mov.u16 %h1, %tid.x;",
    ]
    forms += [
        "mov.v4.u32 {%r1, %r2, %r3, %r4}, %ntid;",
        "mov.v2.b64 %w, {%d1, %d2};",
        "mov.v2.u32 {%r1, %r2}, {%r2, %r1};",
    ]
    return {
        "sm_75": forms,
        "sm_80": product("mov.u32 %r2, %{n};", n=reserved),
        "sm_90": ["mov.u32 %r2, %aggr_smem_size;"],
    }


def _control() -> dict[str, list[str]]:
    forms = [
        "bra L1; L1: ret;", "bra.uni L2; L2: ret;", "@%p0 bra L3; L3: ret;", "L4: .branchtargets L5, L6; "
            "brx.idx %r1, L4; L5: ret; L6: exit;",
        "L7: .branchtargets L8, L9; @%p0 brx.idx.uni %r1, L7; L8: ret; L9: "
            "exit;", "{ .param .b32 a; .param .b32 b; st.param.b32 [a], "
            "1; call (b), callee, (a); ld.param.b32 %r2, [b]; }",
        "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), callee, (a); ld.param.b32 %r2, [b]; }",
        "{ P1: .callprototype (.param .b32 _) _ (.param .b32 _); .param .b32 a; .param .b32 b; mov.u64 %d1, callee; "
            "st.param.b32 [a], 1; call (b), %d1, (a), P1; ld.param.b32 %r2, [b]; }",
        "{ T1: .calltargets callee; .param .b32 a; .param .b32 b; mov.u64 %d1, callee; st.param.b32 [a], 1; call (b), "
            "%d1, (a), T1; ld.param.b32 %r2, [b]; }",
        "ret.uni;", '.pragma "nounroll";', ".reg .b32 %x<3>; mov.u32 %x2, 1;",
    ]  # fmt: skip
    return {"sm_75": forms}


def all_forms() -> dict[str, list[str]]:
    """Forms by the first target that has them."""
    found: dict[str, list[str]] = {}
    for family in (_loads_and_stores, _atomics, _copies, _addresses, _order, _lanes, _special, _control):
        for target, lines in family().items():
            found.setdefault(target, []).extend(lines)
    return found


def module(target: str, lines: list[str]) -> str:
    """One kernel with all the lines, each in a block of its own behind a branch, so that all of it can be reached."""
    body = "".join(f"    {{ @%p0 bra N{i}; {line} N{i}: }}\n" for i, line in enumerate(lines))
    return PROLOGUE.format(target=target) + body + "    ret;\n}\n"


FORMS = all_forms()
