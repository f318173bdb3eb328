"""The instructions that real kernels use: every opcode, and their forms with modifiers, one PTX line each.

Which they are: a count over the PTX of 9,037 public kernels. 99 % of those need no more than 58 opcodes, in 186 forms
beside the types.
"""

OPCODES = [
    "add",
    "mov",
    "ld",
    "st",
    "cvt",
    "fma",
    "mul",
    "setp",
    "shl",
    "bra",
    "ldmatrix",
    "mma",
    "ex2",
    "not",
    "sin",
    "selp",
    "shfl",
    "sub",
    "shr",
    "and",
    "bar",
    "xor",
    "cp",
    "cvta",
    "max",
    "wmma",
    "mad",
    "neg",
    "or",
    "cos",
    "bfe",
    "min",
    "div",
    "ret",
    "vote",
    "barrier",
    "atom",
    "shf",
    "abs",
    "lop3",
    "rcp",
    "sqrt",
    "clz",
    "call",
    "rsqrt",
    "set",
    "rem",
    "popc",
    "bfi",
    "bmsk",
    "prmt",
    "tex",
    "membar",
    "nanosleep",
    "brev",
    "copysign",
    "lg2",
    "madc",
    "redux",
    "addc",
    "subc",
    "trap",
    "exit",
    "mbarrier",
    "bfind",
    "red",
    "prefetch",
    "activemask",
    "dp4a",
    "vabsdiff4",
    "sust",
    "match",
    "suld",
    "fence",
    "vabsdiff2",
]

DECLARATIONS = """\
.global .texref tx;
.global .surfref sf;
.global .align 16 .b8 table[64];
.const .align 16 .b8 fixed[64];
.func (.param .b32 r) callee(.param .b32 a) { .reg .b32 t; ld.param.b32 t, [a]; st.param.b32 [r], t; ret; }
"""

REGISTERS = """\
.reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<64>; .reg .b64 %rd<16>; .reg .f32 %f<64>; .reg .f64 %fd<16>;
.shared .align 128 .b8 tile[4096];
.local .align 16 .b8 depot[64];
"""

# By what they do. `A` is a target of a branch; %rd1 holds a global address, %rd2 one in shared memory, %rd3 a generic
# one.
FORMS = {
    "integer": """
add.s32 %r1, %r2, %r3;
add.u32 %r1, %r2, 5;
add.s64 %rd4, %rd5, %rd6;
add.u64 %rd4, %rd5, 8;
add.s16 %h1, %h2, %h3;
add.cc.u32 %r1, %r2, %r3;
addc.u32 %r1, %r2, %r3;
addc.cc.u32 %r1, %r2, %r3;
add.cc.s32 %r1, %r2, %r3;
sub.s32 %r1, %r2, %r3;
sub.s64 %rd4, %rd5, %rd6;
sub.u16 %h1, %h2, %h3;
sub.cc.u32 %r1, %r2, %r3;
subc.u32 %r1, %r2, %r3;
subc.cc.u32 %r1, %r2, %r3;
mul.lo.s32 %r1, %r2, %r3;
mul.lo.s64 %rd4, %rd5, %rd6;
mul.lo.u16 %h1, %h2, %h3;
mul.hi.u32 %r1, %r2, %r3;
mul.hi.s32 %r1, %r2, %r3;
mul.hi.u64 %rd4, %rd5, %rd6;
mul.wide.s32 %rd4, %r2, %r3;
mul.wide.u32 %rd4, %r2, 4;
mul.wide.u16 %r1, %h1, %h2;
mad.lo.s32 %r1, %r2, %r3, %r4;
mad.lo.u32 %r1, %r2, 3, %r4;
mad.lo.s64 %rd4, %rd5, %rd6, %rd7;
mad.hi.u32 %r1, %r2, %r3, %r4;
mad.wide.s32 %rd4, %r2, %r3, %rd5;
mad.wide.u32 %rd4, %r2, 4, %rd5;
mad.lo.cc.u32 %r1, %r2, %r3, %r4;
madc.lo.u32 %r1, %r2, %r3, %r4;
madc.hi.u32 %r1, %r2, %r3, %r4;
madc.lo.cc.u32 %r1, %r2, %r3, %r4;
madc.hi.cc.u32 %r1, %r2, %r3, %r4;
div.s32 %r1, %r2, %r3;
div.u32 %r1, %r2, %r3;
div.s64 %rd4, %rd5, %rd6;
div.u64 %rd4, %rd5, %rd6;
rem.s32 %r1, %r2, %r3;
rem.u32 %r1, %r2, 7;
rem.s64 %rd4, %rd5, %rd6;
rem.u64 %rd4, %rd5, %rd6;
abs.s32 %r1, %r2;
abs.s64 %rd4, %rd5;
neg.s32 %r1, %r2;
neg.s64 %rd4, %rd5;
min.s32 %r1, %r2, %r3;
min.u32 %r1, %r2, %r3;
min.s64 %rd4, %rd5, %rd6;
max.s32 %r1, %r2, %r3;
max.u32 %r1, %r2, %r3;
max.u64 %rd4, %rd5, %rd6;
max.s16 %h1, %h2, %h3;
dp4a.s32.s32 %r1, %r2, %r3, %r4;
dp4a.u32.u32 %r1, %r2, %r3, %r4;
vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r4;
vabsdiff2.u32.u32.u32.add %r1, %r2, %r3, %r4;
""",
    "bits": """
and.b32 %r1, %r2, %r3;
and.b64 %rd4, %rd5, -8;
and.pred %p1, %p2, %p3;
and.b16 %h1, %h2, 255;
or.b32 %r1, %r2, %r3;
or.b64 %rd4, %rd5, %rd6;
or.pred %p1, %p2, %p3;
xor.b32 %r1, %r2, %r3;
xor.b64 %rd4, %rd5, %rd6;
xor.pred %p1, %p2, %p3;
not.b32 %r1, %r2;
not.b64 %rd4, %rd5;
not.pred %p1, %p2;
shl.b32 %r1, %r2, 3;
shl.b64 %rd4, %rd5, %r1;
shl.b16 %h1, %h2, 8;
shr.s32 %r1, %r2, 31;
shr.u32 %r1, %r2, %r3;
shr.u64 %rd4, %rd5, 32;
shr.s64 %rd4, %rd5, 4;
shr.u16 %h1, %h2, 8;
shf.l.wrap.b32 %r1, %r2, %r3, %r4;
shf.r.wrap.b32 %r1, %r2, %r3, 7;
shf.l.clamp.b32 %r1, %r2, %r3, %r4;
shf.r.clamp.b32 %r1, %r2, %r3, %r4;
bfe.u32 %r1, %r2, 4, 8;
bfe.s32 %r1, %r2, %r3, %r4;
bfe.u64 %rd4, %rd5, 3, 9;
bfi.b32 %r1, %r2, %r3, 16, 8;
bfi.b64 %rd4, %rd5, %rd6, 4, 8;
bfind.u32 %r1, %r2;
bfind.shiftamt.u32 %r1, %r2;
bfind.s32 %r1, %r2;
bmsk.clamp.b32 %r1, %r2, %r3;
bmsk.wrap.b32 %r1, %r2, %r3;
brev.b32 %r1, %r2;
brev.b64 %rd4, %rd5;
clz.b32 %r1, %r2;
clz.b64 %r1, %rd5;
popc.b32 %r1, %r2;
popc.b64 %r1, %rd5;
prmt.b32 %r1, %r2, %r3, 0x5410;
lop3.b32 %r1, %r2, %r3, %r4, 0x96;
""",
    "single": """
add.f32 %f1, %f2, %f3;
add.rn.f32 %f1, %f2, 0f3F800000;
add.rz.f32 %f1, %f2, %f3;
add.ftz.f32 %f1, %f2, %f3;
sub.f32 %f1, %f2, %f3;
sub.rn.f32 %f1, %f2, %f3;
mul.f32 %f1, %f2, %f3;
mul.rn.f32 %f1, %f2, %f3;
mul.ftz.f32 %f1, %f2, %f3;
fma.rn.f32 %f1, %f2, %f3, %f4;
fma.rn.ftz.f32 %f1, %f2, %f3, %f4;
fma.rn.sat.f32 %f1, %f2, %f3, %f4;
fma.rm.f32 %f1, %f2, %f3, %f4;
fma.rp.f32 %f1, %f2, %f3, %f4;
div.rn.f32 %f1, %f2, %f3;
div.full.f32 %f1, %f2, %f3;
div.approx.f32 %f1, %f2, %f3;
div.approx.ftz.f32 %f1, %f2, %f3;
rcp.rn.f32 %f1, %f2;
rcp.approx.f32 %f1, %f2;
rcp.approx.ftz.f32 %f1, %f2;
sqrt.rn.f32 %f1, %f2;
sqrt.approx.f32 %f1, %f2;
sqrt.approx.ftz.f32 %f1, %f2;
rsqrt.approx.f32 %f1, %f2;
rsqrt.approx.ftz.f32 %f1, %f2;
sin.approx.f32 %f1, %f2;
sin.approx.ftz.f32 %f1, %f2;
cos.approx.f32 %f1, %f2;
cos.approx.ftz.f32 %f1, %f2;
ex2.approx.f32 %f1, %f2;
ex2.approx.ftz.f32 %f1, %f2;
lg2.approx.f32 %f1, %f2;
lg2.approx.ftz.f32 %f1, %f2;
abs.f32 %f1, %f2;
abs.ftz.f32 %f1, %f2;
neg.f32 %f1, %f2;
min.f32 %f1, %f2, %f3;
max.f32 %f1, %f2, %f3;
max.ftz.f32 %f1, %f2, %f3;
max.NaN.f32 %f1, %f2, %f3;
copysign.f32 %f1, %f2, %f3;
""",
    "double and half": """
add.f64 %fd1, %fd2, %fd3;
add.rn.f64 %fd1, %fd2, 0d3FF0000000000000;
sub.f64 %fd1, %fd2, %fd3;
mul.f64 %fd1, %fd2, %fd3;
mul.rn.f64 %fd1, %fd2, %fd3;
fma.rn.f64 %fd1, %fd2, %fd3, %fd4;
div.rn.f64 %fd1, %fd2, %fd3;
rcp.rn.f64 %fd1, %fd2;
rcp.approx.ftz.f64 %fd1, %fd2;
sqrt.rn.f64 %fd1, %fd2;
rsqrt.approx.f64 %fd1, %fd2;
rsqrt.approx.ftz.f64 %fd1, %fd2;
abs.f64 %fd1, %fd2;
neg.f64 %fd1, %fd2;
min.f64 %fd1, %fd2, %fd3;
max.f64 %fd1, %fd2, %fd3;
copysign.f64 %fd1, %fd2, %fd3;
add.f16 %h1, %h2, %h3;
add.f16x2 %r1, %r2, %r3;
sub.f16 %h1, %h2, %h3;
mul.f16 %h1, %h2, %h3;
mul.f16x2 %r1, %r2, %r3;
fma.rn.f16 %h1, %h2, %h3, %h4;
fma.rn.f16x2 %r1, %r2, %r3, %r4;
fma.rn.bf16 %h1, %h2, %h3, %h4;
fma.rn.bf16x2 %r1, %r2, %r3, %r4;
fma.rn.relu.f16x2 %r1, %r2, %r3, %r4;
max.f16x2 %r1, %r2, %r3;
min.f16 %h1, %h2, %h3;
max.bf16x2 %r1, %r2, %r3;
neg.f16 %h1, %h2;
neg.bf16x2 %r1, %r2;
abs.f16x2 %r1, %r2;
ex2.approx.f16x2 %r1, %r2;
ex2.approx.ftz.bf16x2 %r1, %r2;
""",
    "compare": """
setp.eq.s32 %p1, %r1, %r2;
setp.ne.s32 %p1, %r1, 0;
setp.lt.s32 %p1, %r1, %r2;
setp.le.s32 %p1, %r1, %r2;
setp.gt.s32 %p1, %r1, %r2;
setp.ge.s32 %p1, %r1, %r2;
setp.lt.u32 %p1, %r1, %r2;
setp.ge.u64 %p1, %rd4, %rd5;
setp.eq.b32 %p1, %r1, %r2;
setp.ne.b64 %p1, %rd4, 0;
setp.eq.s16 %p1, %h1, %h2;
setp.lt.f32 %p1, %f1, %f2;
setp.gtu.f32 %p1, %f1, %f2;
setp.leu.f32 %p1, %f1, %f2;
setp.ltu.f32 %p1, %f1, %f2;
setp.geu.f32 %p1, %f1, %f2;
setp.neu.f32 %p1, %f1, %f2;
setp.equ.f32 %p1, %f1, %f2;
setp.nan.f32 %p1, %f1, %f1;
setp.num.f32 %p1, %f1, %f1;
setp.eq.f64 %p1, %fd1, %fd2;
setp.gt.ftz.f32 %p1, %f1, %f2;
setp.lt.and.s32 %p1, %r1, %r2, %p2;
setp.gt.or.f32 %p1, %f1, %f2, !%p2;
setp.ne.xor.s32 %p1, %r1, %r2, %p2;
setp.lt.s32 %p1|%p2, %r1, %r2;
setp.lt.f16 %p1, %h1, %h2;
set.eq.u32.u32 %r1, %r2, %r3;
set.gt.f32.f32 %f1, %f2, %f3;
set.le.f16x2.f16x2 %r1, %r2, %r3;
set.gt.u32.f32 %r1, %f1, %f2;
selp.b32 %r1, %r2, %r3, %p1;
selp.b64 %rd4, %rd5, %rd6, %p1;
selp.f32 %f1, %f2, %f3, %p1;
selp.f64 %fd1, %fd2, %fd3, %p1;
selp.b16 %h1, %h2, %h3, %p1;
selp.u32 %r1, 1, 0, %p1;
""",
    "convert and move": """
mov.u32 %r1, %r2;
mov.b32 %r1, %f1;
mov.b64 %rd4, {%r1, %r2};
mov.b64 {%r1, %r2}, %rd4;
mov.b32 {%h1, %h2}, %r1;
mov.b32 %r1, {%h1, %h2};
mov.f32 %f1, 0f00000000;
mov.f64 %fd1, 0d0000000000000000;
mov.u64 %rd4, table;
mov.pred %p1, %p2;
mov.u16 %h1, 3;
mov.u32 %r1, %tid.x;
mov.u32 %r1, %ctaid.y;
mov.u32 %r1, %ntid.x;
mov.u32 %r1, %nctaid.z;
mov.u32 %r1, %laneid;
mov.u32 %r1, %lanemask_lt;
mov.u32 %r1, %lanemask_le;
mov.u32 %r1, %lanemask_ge;
mov.u32 %r1, %clock;
mov.u64 %rd4, %clock64;
mov.u64 %rd4, %globaltimer;
mov.b32 %r1, %envreg1;
mov.b32 %r1, %envreg2;
mov.u32 %r1, %warpid;
mov.u32 %r1, %smid;
cvt.u32.u64 %r1, %rd4;
cvt.u64.u32 %rd4, %r1;
cvt.s64.s32 %rd4, %r1;
cvt.u16.u32 %h1, %r1;
cvt.u32.u16 %r1, %h1;
cvt.s32.s8 %r1, %r2;
cvt.u32.u8 %r1, %r2;
cvt.s16.s8 %h1, %h2;
cvt.s32.s16 %r1, %h1;
cvt.rn.f32.s32 %f1, %r1;
cvt.rn.f32.u32 %f1, %r1;
cvt.rn.f32.s64 %f1, %rd4;
cvt.rn.f64.s32 %fd1, %r1;
cvt.rn.f64.u64 %fd1, %rd4;
cvt.rn.f32.f64 %f1, %fd1;
cvt.f64.f32 %fd1, %f1;
cvt.rn.f16.f32 %h1, %f1;
cvt.f32.f16 %f1, %h1;
cvt.rn.bf16.f32 %h1, %f1;
cvt.f32.bf16 %f1, %h1;
cvt.rn.f16x2.f32 %r1, %f1, %f2;
cvt.rn.bf16x2.f32 %r1, %f1, %f2;
cvt.rna.tf32.f32 %r1, %f1;
cvt.rzi.s32.f32 %r1, %f1;
cvt.rni.s32.f32 %r1, %f1;
cvt.rmi.f32.f32 %f1, %f2;
cvt.rpi.f32.f32 %f1, %f2;
cvt.rzi.f32.f32 %f1, %f2;
cvt.rni.f64.f64 %fd1, %fd2;
cvt.rzi.u32.f32 %r1, %f1;
cvt.rzi.s64.f64 %rd4, %fd1;
cvt.rzi.ftz.s32.f32 %r1, %f1;
cvt.sat.f32.f32 %f1, %f2;
cvt.rn.f16.s32 %h1, %r1;
cvt.rzi.s32.f16 %r1, %h1;
cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;
cvt.rn.f16x2.e4m3x2 %r1, %h1;
""",
    "memory": """
ld.param.u64 %rd4, [p];
ld.global.f32 %f1, [%rd1];
ld.global.u8 %h1, [%rd1+1];
ld.global.s16 %h1, [%rd1+2];
ld.global.u64 %rd4, [%rd1];
ld.global.v2.f32 {%f1, %f2}, [%rd1];
ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
ld.global.nc.f32 %f1, [%rd1];
ld.global.nc.v2.f32 {%f1, %f2}, [%rd1];
ld.global.nc.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
ld.global.nc.L1::no_allocate.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
ld.global.cg.u32 %r1, [%rd1];
ld.global.ca.u32 %r1, [%rd1];
ld.global.cs.u32 %r1, [%rd1];
ld.volatile.global.u32 %r1, [%rd1];
ld.relaxed.gpu.global.u32 %r1, [%rd1];
ld.acquire.gpu.global.u32 %r1, [%rd1];
ld.shared.f32 %f1, [%r60];
ld.shared.u32 %r1, [tile+4];
ld.shared.v2.f32 {%f1, %f2}, [%r60];
ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r60];
ld.volatile.shared.f32 %f1, [%r60];
ld.const.f32 %f1, [fixed];
ld.const.u32 %r1, [fixed+8];
ld.local.u32 %r1, [depot];
ld.local.v4.u32 {%r1, %r2, %r3, %r4}, [depot];
ld.u32 %r1, [%rd3];
ld.f64 %fd1, [%rd3];
st.global.f32 [%rd1], %f1;
st.global.u8 [%rd1], %h1;
st.global.v2.f32 [%rd1], {%f1, %f2};
st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};
st.global.cg.u32 [%rd1], %r1;
st.global.cs.u32 [%rd1], %r1;
st.global.wt.u32 [%rd1], %r1;
st.volatile.global.u32 [%rd1], %r1;
st.release.gpu.global.u32 [%rd1], %r1;
st.shared.f32 [%r60], %f1;
st.shared.v4.f32 [%r60], {%f1, %f2, %f3, %f4};
st.volatile.shared.f32 [%r60], %f1;
st.local.u32 [depot], %r1;
st.u32 [%rd3], %r1;
cvta.to.global.u64 %rd4, %rd3;
cvta.to.shared.u64 %rd4, %rd3;
cvta.global.u64 %rd4, %rd1;
cvta.shared.u64 %rd4, %rd2;
cvta.local.u64 %rd4, %rd5;
cvta.const.u64 %rd4, %rd5;
prefetch.global.L2 [%rd1];
prefetch.global.L1 [%rd1];
cp.async.ca.shared.global [%r60], [%rd1], 4;
cp.async.cg.shared.global [%r60], [%rd1], 16;
cp.async.cg.shared.global.L2::128B [%r60], [%rd1], 16;
cp.async.cg.shared.global [%r60], [%rd1], 16, %r1;
cp.async.commit_group;
cp.async.wait_group 1;
cp.async.wait_all;
""",
    "atomic and order": """
atom.global.add.u32 %r1, [%rd1], %r2;
atom.global.add.f32 %f1, [%rd1], %f2;
atom.global.add.f64 %fd1, [%rd1], %fd2;
atom.global.add.u64 %rd4, [%rd1], %rd5;
atom.global.add.noftz.f16x2 %r1, [%rd1], %r2;
atom.global.min.s32 %r1, [%rd1], %r2;
atom.global.max.s32 %r1, [%rd1], %r2;
atom.global.and.b32 %r1, [%rd1], %r2;
atom.global.or.b32 %r1, [%rd1], %r2;
atom.global.xor.b32 %r1, [%rd1], %r2;
atom.global.exch.b32 %r1, [%rd1], %r2;
atom.global.inc.u32 %r1, [%rd1], %r2;
atom.global.dec.u32 %r1, [%rd1], %r2;
atom.global.cas.b32 %r1, [%rd1], %r2, %r3;
atom.global.cas.b64 %rd4, [%rd1], %rd5, %rd6;
atom.shared.add.u32 %r1, [%r60], %r2;
atom.shared.cas.b32 %r1, [%r60], %r2, %r3;
atom.shared.exch.b32 %r1, [%r60], %r2;
atom.shared.max.s32 %r1, [%r60], %r2;
atom.add.u32 %r1, [%rd3], %r2;
atom.acq_rel.gpu.global.add.u32 %r1, [%rd1], %r2;
atom.relaxed.sys.global.add.u32 %r1, [%rd1], %r2;
red.global.add.u32 [%rd1], %r1;
red.global.add.f32 [%rd1], %f1;
red.shared.add.u32 [%r60], %r1;
red.release.gpu.global.add.s32 [%rd1], %r1;
membar.cta;
membar.gl;
membar.sys;
fence.acq_rel.gpu;
fence.sc.cta;
fence.proxy.async;
mbarrier.init.shared.b64 [%r60], 32;
mbarrier.arrive.shared.b64 %rd4, [%r60];
mbarrier.test_wait.shared.b64 %p1, [%r60], %rd4;
mbarrier.inval.shared.b64 [%r60];
""",
    "together": """
bar.sync 0;
bar.sync 1, 64;
bar.arrive 1, 64;
bar.red.popc.u32 %r1, 0, %p1;
bar.red.and.pred %p1, 0, %p2;
bar.red.or.pred %p1, 0, %p2;
bar.warp.sync -1;
barrier.sync 0;
barrier.sync.aligned 0;
barrier.sync 1, 64;
vote.sync.ballot.b32 %r1, %p1, -1;
vote.sync.any.pred %p1, %p2, -1;
vote.sync.all.pred %p1, %p2, -1;
vote.sync.uni.pred %p1, %p2, -1;
shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;
shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;
shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;
shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;
match.any.sync.b32 %r1, %r2, -1;
match.any.sync.b64 %r1, %rd4, -1;
match.all.sync.b32 %r1|%p1, %r2, -1;
redux.sync.add.s32 %r1, %r2, -1;
redux.sync.max.u32 %r1, %r2, -1;
redux.sync.or.b32 %r1, %r2, -1;
activemask.b32 %r1;
nanosleep.u32 100;
""",
    "control": """
bra A;
bra.uni A;
@%p1 bra A;
@!%p1 bra A;
@%p1 bra.uni A;
call.uni (%r1), callee, (%r2);
@%p1 trap;
@%p1 exit;
@%p1 ret;
""",
    "tensor": """
ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r60];
ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r60];
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r60];
ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1, %r2}, [%r60];
ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1, %r2, %r3, %r4}, [%r60];
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8};
mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4, %r5, %r6}, {%r7, %r8}, {%r9, %r10};
mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8};
mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8};
mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%r9, %r10}, {%r11, %r12, %r13, %r14};
mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd1, %fd2}, {%fd3}, {%fd4}, {%fd5, %fd6};
wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1], 16;
wmma.load.b.sync.aligned.col.m16n16k16.shared.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%r60], 16;
wmma.load.c.sync.aligned.row.m16n16k16.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, [%rd3], 16;
wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, \
{%r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16}, {%f9, %f10, %f11, %f12, %f13, %f14, %f15, %f16};
wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn {%fd1, %fd2}, {%fd3}, {%fd4}, {%fd5, %fd6};
wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, 16;
""",  # noqa: E501
    "texture": """
tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [tx, {%r1}];
tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tx, {%f5, %f6}];
tex.3d.v4.s32.f32 {%r1, %r2, %r3, %r4}, [tx, {%f5, %f6, %f7, %f8}];
tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tx, {%f5, %f6}], %f7;
suld.b.2d.b32.trap {%r1}, [sf, {%r2, %r3}];
sust.b.2d.b32.trap [sf, {%r2, %r3}], {%r1};
sust.b.2d.v4.b32.clamp [sf, {%r2, %r3}], {%r1, %r4, %r5, %r6};
""",
}  # fmt: skip


def lines(group: str) -> list[str]:
    """The forms of a group, one a line; a backslash continues a long one."""
    return [line for line in FORMS[group].replace("\\\n", "").splitlines() if line]


TYPES = frozenset(
    [
        "pred",
        "b8",
        "b16",
        "b32",
        "b64",
        "u8",
        "u16",
        "u32",
        "u64",
        "s8",
        "s16",
        "s32",
        "s64",
        "f16",
        "bf16",
        "f16x2",
        "bf16x2",
        "f32",
        "f64",
        "tf32",
        "e4m3x2",
    ]
)


def without_types(line: str) -> str:
    """Opcode and modifiers, the types taken out: what the count calls a form."""
    return ".".join(word for word in mnemonic(line).split(".") if word not in TYPES)


def mnemonic(line: str) -> str:
    """Opcode and modifiers, without a predicate in front."""
    words = line.rstrip(";").split()
    return words[1] if words[0].startswith("@") else words[0]


def kernel(body: str) -> str:
    """A module with one kernel around some of the forms."""
    return (
        f".version 8.8\n.target sm_90\n.address_size 64\n{DECLARATIONS}.visible .entry k(.param .u64 "
        f"p)\n{{\n{REGISTERS}"
        f"ld.param.u64 %rd1, [p];\nmov.u64 %rd2, tile;\nmov.u32 %r60, tile;\nmov.u64 %rd3, %rd1;\n{body}\nA: ret;\n}}\n"
    )
