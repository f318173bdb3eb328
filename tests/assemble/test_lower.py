"""Every kind of PTX instruction becomes the rows it should. ptxas is asked whether the PTX is real."""

import pytest

from gpuprof.assemble.abi.layout import Layout
from gpuprof.assemble.ir.body import Body
from gpuprof.assemble.lower.lowering import check_supported, lower_function
from gpuprof.assemble.ptx import ast
from gpuprof.assemble.ptx.parse import parse
from gpuprof.errors import PtxError, UnsupportedInstruction
from tests.support.nvidia_tools import needs_ptxas
from tests.support.ptx_support import kernel_text, ptxas

# PTX -> opcodes before any optimisation; "@" marks a guarded one. Moves at the end are dropped by later passes.
ROWS = """\
add.s32 %r1, %r2, %r3                                      -> IADD
add.u64 %rd1, %rd2, 5                                      -> IADD.64
add.s16 %rs1, %rs2, %rs3                                   -> IADD AND
add.sat.s32 %r1, %r2, %r3                                  -> CVT.S64.S32 CVT.S64.S32 IADD.64 CVT.S32.S64
add.cc.u32 %r1, %r2, %r3                                   -> IADDC
addc.cc.u32 %r1, %r2, %r3                                  -> IADDC
addc.u32 %r1, %r2, 0                                       -> IADDC
sub.s32 %r1, %r2, %r3                                      -> ISUB
sub.cc.u64 %rd1, %rd2, %rd3                                -> ISUBC.64
subc.u64 %rd1, %rd2, %rd3                                  -> ISUBC.64
mul.lo.s32 %r1, %r2, %r3                                   -> IMUL
mul.hi.u32 %r1, %r2, %r3                                   -> IMULHI.U32
mul.wide.s32 %rd1, %r2, -4                                 -> IMUL.WIDE.S32
mul.wide.u16 %r1, %rs1, %rs2                               -> IMUL
mul.lo.u16 %rs1, %rs2, 3                                   -> IMUL AND
mul.hi.s16 %rs1, %rs2, %rs3                                -> CVT.S32.S16 CVT.S32.S16 IMUL SHR.U32
mul.lo.s64 %rd1, %rd2, %rd3                                -> IMUL.64
mul.hi.u64 %rd1, %rd2, %rd3                                -> IMULHI.U64
mad.lo.s32 %r1, %r2, %r3, %r4                              -> IMAD
mad.wide.s32 %rd1, %r2, %r3, %rd2                          -> IMAD.WIDE.S32
mad.hi.u32 %r1, %r2, %r3, %r4                              -> IMADHI.U32
mad.lo.u64 %rd1, %rd2, %rd3, %rd4                          -> IMAD.64
mad.lo.cc.u32 %r1, %r2, %r3, %r4                           -> IMUL IADDC
madc.hi.u32 %r1, %r2, %r3, %r4                             -> IMULHI.U32 IADDC
mad.lo.s16 %rs1, %rs2, %rs3, %rs4                          -> CVT.S32.S16 CVT.S32.S16 IMAD AND
mad.wide.s16 %r1, %rs2, %rs3, %r4                          -> CVT.S32.S16 CVT.S32.S16 IMAD
sad.u32 %r1, %r2, %r3, %r4                                 -> SAD.U32
dp4a.s32.u32 %r1, %r2, %r3, %r4                            -> DP4A.S.U
dp2a.lo.u32.s32 %r1, %r2, %r3, %r4                         -> DP2A.LO.U.S
div.s32 %r1, %r2, %r3                                      -> IDIV.S32
rem.u64 %rd1, %rd2, %rd3                                   -> IREM.U64
div.u16 %rs1, %rs2, %rs3                                   -> IDIV.U32 AND
rem.s16 %rs1, %rs2, %rs3                                   -> CVT.S32.S16 CVT.S32.S16 IREM.S32 AND
min.s32 %r1, %r2, %r3                                      -> IMIN.S32
max.u64 %rd1, %rd2, %rd3                                   -> IMAX.U64
min.s16 %rs1, %rs2, %rs3                                   -> CVT.S32.S16 CVT.S32.S16 IMIN.S32 AND
abs.s32 %r1, %r2                                           -> IABS
neg.s64 %rd1, %rd2                                         -> INEG.64
neg.s16 %rs1, %rs2                                         -> CVT.S32.S16 INEG AND
abs.s64 %rd1, %rd2                                         -> IABS.64
add.f32 %f1, %f2, %f3                                      -> FADD
add.rz.ftz.sat.f32 %f1, %f2, 0f3F800000                    -> FADD
sub.f32 %f1, %f2, %f3                                      -> FADD
mul.rn.f64 %fd1, %fd2, 0d3FF0000000000000                  -> DMUL
mul.f64 %fd1, %fd2, 0d3FF0000000000001                     -> MOVI.64 DMUL
fma.rn.f32 %f1, %f2, %f3, %f4                              -> FFMA
fma.rm.f64 %fd1, %fd2, %fd3, %fd4                          -> DFMA
add.f16 %rs1, %rs2, %rs3                                   -> HADD
fma.rn.f16x2 %r1, %r2, %r3, %r4                            -> HFMA2
fma.rn.relu.bf16x2 %r1, %r2, %r3, %r4                      -> BFMA2
mul.bf16 %rs1, %rs2, %rs3                                  -> BMUL
neg.f16x2 %r1, %r2                                         -> HNEG2
abs.bf16 %rs1, %rs2                                        -> BABS
min.NaN.f16 %rs1, %rs2, %rs3                               -> HMIN
max.f16x2 %r1, %r2, %r3                                    -> HMAX2
sub.f16x2 %r1, %r2, %r3                                    -> HADD2
min.ftz.f32 %f1, %f2, %f3                                  -> FMIN
max.NaN.f32 %f1, %f2, %f3                                  -> FMAX
max.f64 %fd1, %fd2, %fd3                                   -> DMAX
neg.ftz.f32 %f1, %f2                                       -> FNEG
abs.f64 %fd1, %fd2                                         -> DABS
div.approx.ftz.f32 %f1, %f2, %f3                           -> FDIV.APPROX
div.full.f32 %f1, %f2, %f3                                 -> FDIV.FULL
div.rn.f32 %f1, %f2, %f3                                   -> FDIV
div.rn.f64 %fd1, %fd2, %fd3                                -> DDIV
rcp.approx.ftz.f32 %f1, %f2                                -> MUFU.RCP
rcp.rn.f32 %f1, %f2                                        -> FRCP
rcp.rn.f64 %fd1, %fd2                                      -> DRCP
rcp.approx.ftz.f64 %fd1, %fd2                              -> MUFU.RCP64H
sqrt.rn.f32 %f1, %f2                                       -> FSQRT
sqrt.approx.f32 %f1, %f2                                   -> MUFU.SQRT
sqrt.rn.f64 %fd1, %fd2                                     -> DSQRT
rsqrt.approx.f32 %f1, %f2                                  -> MUFU.RSQRT
rsqrt.approx.ftz.f64 %fd1, %fd2                            -> MUFU.RSQRT64H
sin.approx.f32 %f1, %f2                                    -> MUFU.SIN
cos.approx.ftz.f32 %f1, %f2                                -> MUFU.COS
ex2.approx.ftz.f32 %f1, %f2                                -> MUFU.EX2
lg2.approx.f32 %f1, %f2                                    -> MUFU.LG2
tanh.approx.f32 %f1, %f2                                   -> MUFU.TANH
ex2.approx.f16 %rs1, %rs2                                  -> MUFU.EX2.F16
tanh.approx.bf16x2 %r1, %r2                                -> MUFU.TANH.BF16X2
ex2.approx.ftz.bf16 %rs1, %rs2                             -> MUFU.EX2.BF16
and.b32 %r1, %r2, 255                                      -> AND
or.b64 %rd1, %rd2, %rd3                                    -> OR.64
xor.b16 %rs1, %rs2, %rs3                                   -> XOR
not.b32 %r1, %r2                                           -> NOT
not.b16 %rs1, %rs2                                         -> XOR
cnot.b32 %r1, %r2                                          -> CNOT
and.pred %p1, %p2, %p3                                     -> PAND
not.pred %p1, %p2                                          -> PMOV
xor.pred %p1, %p2, !%p3                                    -> PXOR
or.pred %p1, %p2, %p3                                      -> POR
shl.b32 %r1, %r2, 3                                        -> SHL
shl.b64 %rd1, %rd2, %r3                                    -> SHL.64
shl.b16 %rs1, %rs2, 2                                      -> SHL AND
shr.s16 %rs1, %rs2, 2                                      -> CVT.S32.S16 SHR.S32 AND
shr.u16 %rs1, %rs2, %r1                                    -> SHR.U32
shr.u64 %rd1, %rd2, 32                                     -> SHR.U64
shr.s32 %r1, %r2, %r3                                      -> SHR.S32
shr.b32 %r1, %r2, 1                                        -> SHR.U32
shf.l.wrap.b32 %r1, %r2, %r3, 7                            -> SHF.L
shf.r.clamp.b32 %r1, %r2, %r3, %r4                         -> SHF.R
lop3.b32 %r1, %r2, %r3, %r4, 0x96                          -> LOP3
prmt.b32 %r1, %r2, %r3, 0x5410                             -> PRMT
prmt.b32.f4e %r1, %r2, %r3, %r4                            -> PRMT
bfe.u32 %r1, %r2, 8, 8                                     -> SHR.U32 AND
bfe.s32 %r1, %r2, 4, 5                                     -> SHL SHR.S32
bfe.u32 %r1, %r2, %r3, %r4                                 -> BFE.U32
bfe.s64 %rd1, %rd2, %r3, 8                                 -> BFE.S64
bfe.u64 %rd1, %rd2, 16, 40                                 -> SHL.64 SHR.U64
bfi.b32 %r1, %r2, %r3, 4, 8                                -> BFI
bfi.b64 %rd1, %rd2, %rd3, %r1, %r2                         -> AND BFI BFI.64
popc.b32 %r1, %r2                                          -> POPC
popc.b64 %r1, %rd2                                         -> POPC.64
clz.b32 %r1, %r2                                           -> CLZ
clz.b64 %r1, %rd2                                          -> CLZ.64
brev.b32 %r1, %r2                                          -> BREV
brev.b64 %rd1, %rd2                                        -> BREV.64
bfind.u32 %r1, %r2                                         -> FLO.U32
bfind.shiftamt.s64 %r1, %rd2                               -> FLO.SH.S64
bmsk.clamp.b32 %r1, %r2, %r3                               -> BMSK.U32
setp.lt.s32 %p1, %r2, %r3                                  -> ISETP.S32
setp.eq.and.f32 %p1|%p2, %f1, %f2, !%p3                    -> FSETP
setp.ge.u16 %p1, %rs1, 3                                   -> ISETP.U32
setp.gt.s16 %p1, %rs1, -3                                  -> CVT.S32.S16 ISETP.S32
setp.ne.b64 %p1, %rd1, 0                                   -> ISETP.U64
setp.num.f64 %p1, %fd1, %fd2                               -> DSETP
setp.lt.ftz.f32 %p1, %f1, 0f00000000                       -> FSETP
setp.gt.f16 %p1, %rs1, %rs2                                -> HSETP
setp.lt.f16x2 %p1|%p2, %r1, %r2                            -> HSETP2
setp.hi.u32 %p1, %r1, 5                                    -> ISETP.U32
setp.neu.bf16 %p1, %rs1, %rs2                              -> BSETP
setp.lt.s32 %p1, 5, %r3                                    -> ISETP.S32
set.lt.u32.f32 %r1, %f1, %f2                               -> FSETP SEL
set.eq.f32.s32 %f1, %r1, %r2                               -> ISETP.S32 SEL
set.lt.f16x2.f16x2 %r1, %r2, %r3                           -> HSETP2 SEL SEL PRMT
selp.b32 %r1, %r2, 7, %p1                                  -> SEL
selp.f64 %fd1, %fd2, %fd3, %p1                             -> SEL.64
selp.b16 %rs1, %rs2, 1, %p1                                -> SEL
selp.b32 %r1, 1, 0, !%p1                                   -> SEL
slct.s32.f32 %r1, %r2, %r3, %f1                            -> FSETP SEL
slct.f64.s32 %fd1, %fd2, %fd3, %r1                         -> ISETP.S32 SEL.64
testp.finite.f32 %p1, %f1                                  -> FTESTP
testp.subnormal.f64 %p1, %fd1                              -> DTESTP
copysign.f32 %f1, %f2, %f3                                 -> FCOPYSIGN
copysign.f64 %fd1, %fd2, %fd3                              -> DCOPYSIGN
cvt.u32.u64 %r1, %rd1                                      -> LO.64
cvt.u64.u32 %rd1, %r1                                      -> CVT.U64.U32
cvt.s64.s32 %rd1, %r1                                      -> CVT.S64.S32
cvt.s32.s8 %r1, %r2                                        -> CVT.S32.S8
cvt.s8.s32 %r1, %r2                                        -> CVT.S32.S8
cvt.u16.u32 %rs1, %r1                                      -> CVT.U16.U32
cvt.s32.s16 %r1, %rs1                                      -> CVT.S32.S16
cvt.u8.u32 %rs1, %r1                                       -> CVT.U16.U8
cvt.s16.s8 %rs1, %rs2                                      -> CVT.S16.S8
cvt.sat.u8.s32 %r1, %r2                                    -> CVT.U8.S32 CVT.U32.U8
cvt.u64.u16 %rd1, %rs1                                     -> CVT.U64.U16
cvt.s64.s8 %rd1, %r1                                       -> CVT.S64.S8
cvt.u32.s16 %r1, %rs1                                      -> CVT.U32.S16
cvt.rzi.s32.f32 %r1, %f1                                   -> CVT.S32.F32
cvt.rni.ftz.u64.f32 %rd1, %f1                              -> CVT.U64.F32
cvt.rn.f32.s32 %f1, %r1                                    -> CVT.F32.S32
cvt.rn.f64.u64 %fd1, %rd1                                  -> CVT.F64.U64
cvt.f64.f32 %fd1, %f1                                      -> CVT.F64.F32
cvt.rn.f32.f64 %f1, %fd1                                   -> CVT.F32.F64
cvt.rn.f16.f32 %rs1, %f1                                   -> CVT.F16.F32
cvt.f32.f16 %f1, %rs1                                      -> CVT.F32.F16
cvt.f32.bf16 %f1, %rs1                                     -> CVT.F32.BF16
cvt.rn.bf16.f32 %rs1, %f1                                  -> CVT.BF16.F32
cvt.rni.f32.f32 %f1, %f2                                   -> FRND.F32
cvt.rmi.f64.f64 %fd1, %fd2                                 -> FRND.F64
cvt.sat.f32.f32 %f1, %f2                                   -> FADD
cvt.sat.f64.f64 %fd1, %fd2                                 -> DMAX DMIN
cvt.sat.f64.f32 %fd1, %f1                                  -> CVT.F64.F32 DMAX DMIN
cvt.rni.sat.f64.f64 %fd1, %fd2                             -> FRND.F64 DMAX DMIN
cvt.rn.f16x2.f32 %r1, %f1, %f2                             -> CVT.F16X2.F32
cvt.rz.bf16x2.f32 %r1, %f1, %f2                            -> CVT.BF16X2.F32
cvt.rna.tf32.f32 %r1, %f1                                  -> CVT.TF32.F32
cvt.rzi.s16.f32 %rs1, %f1                                  -> CVT.S16.F32
cvt.rzi.u8.f32 %r1, %f1                                    -> CVT.U8.F32 CVT.U32.U8
cvt.rn.f16.s16 %rs1, %rs2                                  -> CVT.F16.S16
cvt.rzi.s32.f64 %r1, %fd1                                  -> CVT.S32.F64
cvt.rzi.s8.f32 %r1, %f1                                    -> CVT.S8.F32 CVT.S32.S8
mov.u32 %r1, %r2                                           -> MOV
mov.u32 %r1, 5                                             -> MOV
mov.u64 %rd1, 0x123456789ab                                -> MOVI.64
mov.f64 %fd1, 0d4000000000000000                           -> MOVI.64
mov.f32 %f1, 0f3F800000                                    -> MOV
mov.pred %p1, %p2                                          -> PMOV
mov.pred %p1, -1                                           -> PMOV
mov.b64 {%r1, %r2}, %rd1                                   -> LO.64 HI.64 MOV MOV
mov.b64 %rd1, {%r1, %r2}                                   -> PACK.64 MOV.64
mov.b32 {%rs1, %rs2}, %r1                                  -> AND SHR.U32 MOV MOV
mov.b32 %r1, {%rs1, %rs2}                                  -> PRMT MOV
mov.b64 {%rs1, %rs2, %rs3, %rs4}, %rd1                     -> LO.64 HI.64 AND SHR.U32 AND SHR.U32 MOV MOV MOV MOV
mov.u32 %r1, %tid.x                                        -> S2R MOV
mov.u64 %rd1, %clock64                                     -> S2R.64 MOV.64
mov.u32 %r1, %laneid                                       -> S2R MOV
mov.u64 %rd1, gvar                                         -> MOVI.64 MOV.64
mov.u32 %r1, sarr                                          -> MOV
mov.u64 %rd1, sarr                                         -> MOV.64
mov.u64 %rd1, garr+8                                       -> MOVI.64 MOV.64
mov.u64 %rd1, carr                                         -> MOV.64
mov.u64 %rd1, loc                                          -> MOV.64
mov.u32 %r1, WARP_SZ                                       -> MOV
mov.b32 %r1, %f1                                           -> MOV
mov.b64 {_, %r2}, %rd1                                     -> HI.64 MOV
mov.b16 %rs1, 7                                            -> MOV
ld.global.f32 %f1, [%rd1]                                  -> LDG.32
ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16]           -> LDG.V4.32 MOV MOV MOV MOV
ld.global.nc.v2.u64 {%rd1, %rd2}, [%rd3]                   -> LDG.V2.64 MOV.64 MOV.64
ld.shared.v2.f32 {%f1, %f2}, [sarr+8]                      -> LDS.V2.32 MOV MOV
ld.shared.u32 %r1, [%r2+4]                                 -> LDS.32
ld.shared.u32 %r1, [%rd2+4]                                -> LDS.32
ld.const.f32 %f1, [carr+4]                                 -> LDC.32
ld.const.f32 %f1, [%rd1]                                   -> LDC.32
ld.local.u64 %rd1, [loc+8]                                 -> LDL.64
ld.u8 %rs1, [%rd1]                                         -> LD.U8
ld.s8 %rs1, [%rd1]                                         -> LD.S8 AND
ld.global.s8 %r1, [%rd1]                                   -> LDG.S8
ld.global.s16 %rd1, [%rd2]                                 -> LDG.S16 CVT.S64.S32
ld.global.u32 %rd1, [%rd2]                                 -> LDG.32 CVT.U64.U32
ld.volatile.shared.u32 %r1, [sarr]                         -> LDS.32
ld.acquire.gpu.global.u32 %r1, [%rd1]                      -> LDG.32
ld.relaxed.sys.global.u64 %rd1, [%rd2]                     -> LDG.64
ld.global.v4.u8 {%r1, %r2, %r3, %r4}, [%rd1]               -> LDG.32 AND SHR.U32 AND SHR.U32 AND SHR.U32 MOV MOV MOV MOV
ld.global.v2.u16 {%rs1, %rs2}, [%rd1]                      -> LDG.32 AND SHR.U32 MOV MOV
ld.global.v4.u16 {%rs1, %rs2, %rs3, %rs4}, [%rd1]          -> LDG.64 LO.64 HI.64 AND SHR.U32 AND SHR.U32 MOV MOV MOV MOV
ld.global.v2.s8 {%rs1, %rs2}, [%rd1]                       -> LDG.U16 AND SHR.U32 CVT.S32.S8 AND CVT.S32.S8 AND
ld.global.ca.u32 %r1, [gvar]                               -> MOVI.64 LDG.32
ld.global.L1::evict_last.L2::128B.f32 %f1, [%rd1]          -> LDG.32
ld.param.u64 %rd1, [p0]                                    -> MOV.64 MOV.64
ld.param.u32 %r1, [p1]                                     -> MOV MOV
ld.param.f32 %f1, [p2]                                     -> MOV MOV
ld.param.u8 %rs1, [p1+1]                                   -> LDP.U8
ldu.global.u32 %r1, [%rd1]                                 -> LDG.32
st.global.f32 [%rd1], %f1                                  -> STG.32
st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4}              -> MOV MOV MOV MOV STG.V4.32
st.shared.u8 [sarr+3], %rs1                                -> STS.U8
st.local.u32 [loc], %rd1                                   -> LO.64 STL.32
st.global.v4.u8 [%rd1], {%r1, %r2, %r3, %r4}               -> PRMT PRMT PRMT STG.32
st.global.v2.u16 [%rd1], {%rs1, %rs2}                      -> PRMT STG.32
st.u64 [%rd1], 5                                           -> MOV.64 ST.64
st.release.gpu.global.u32 [%rd1], %r1                      -> MEMBAR STG.32
st.global.wt.u32 [gvar], %r1                               -> MOVI.64 STG.32
st.global.u8 [%rd1], %r1                                   -> STG.U8
st.global.v2.b8 [%rd1], {%rs1, %rs2}                       -> PRMT STG.U16
st.global.v4.b16 [%rd1], {%rs1, %rs2, %rs3, %rs4}          -> PRMT PRMT PACK.64 STG.64
st.global.v2.f64 [%rd1], {%fd1, %fd2}                      -> MOV.64 MOV.64 STG.V2.64
atom.global.add.u32 %r1, [%rd1], %r2                       -> ATOMG.ADD.U32
atom.shared.add.f32 %f1, [sarr], %f2                       -> ATOMS.ADD.F32
atom.add.f64 %fd1, [%rd1], %fd2                            -> ATOM.ADD.F64
atom.global.cas.b32 %r1, [%rd1], %r2, %r3                  -> ATOMG.CAS.B32
atom.global.exch.b64 %rd1, [%rd2], %rd3                    -> ATOMG.EXCH.B64
atom.global.min.s32 %r1, [%rd1], 5                         -> MOV ATOMG.MIN.S32
atom.global.max.u64 %rd1, [%rd2], %rd3                     -> ATOMG.MAX.U64
atom.inc.u32 %r1, [%rd1], 9                                -> MOV ATOM.INC.U32
atom.acq_rel.gpu.global.and.b32 %r1, [%rd1], %r2           -> MEMBAR ATOMG.AND.B32
atom.global.add.noftz.f16x2 %r1, [%rd1], %r2               -> ATOMG.ADD.F16X2
atom.global.cas.b16 %rs1, [%rd1], %rs2, %rs3               -> ATOMG.CAS.B16
red.global.add.f32 [%rd1], %f1                             -> REDG.ADD.F32
red.shared.or.b32 [sarr], %r1                              -> REDS.OR.B32
red.relaxed.gpu.global.add.s32 [%rd1], 1                   -> MOV REDG.ADD.U32
atom.shared.cas.b64 %rd1, [%r1], %rd2, %rd3                -> ATOMS.CAS.B64
atom.global.add.s32 %r1, [gvar], 1                         -> MOVI.64 MOV ATOMG.ADD.U32
atom.cta.shared.exch.b32 %r1, [%r2+8], %r3                 -> ATOMS.EXCH.B32
membar.gl                                                  -> MEMBAR
membar.cta                                                 -> MEMBAR
membar.sys                                                 -> MEMBAR
fence.acq_rel.gpu                                          -> MEMBAR
fence.sc.cta                                               -> MEMBAR
bar.sync 0                                                 -> BAR.SYNC
bar.sync 1, 64                                             -> BAR.SYNC
bar.sync %r1, %r2                                          -> BAR.SYNC
bar.arrive 2, 128                                          -> BAR.ARRIVE
bar.red.popc.u32 %r1, 0, %p1                               -> BAR.RED.POPC
bar.red.and.pred %p1, 0, !%p2                              -> BAR.RED.AND
bar.red.or.pred %p1, 1, 64, %p2                            -> BAR.RED.OR
barrier.sync 3                                             -> BAR.SYNC
barrier.cta.sync.aligned 0                                 -> BAR.SYNC
bar.warp.sync -1                                           -> WARPSYNC
bar.warp.sync %r1                                          -> WARPSYNC
vote.sync.any.pred %p1, %p2, -1                            -> VOTE.ANY
vote.sync.ballot.b32 %r1, %p1, %r2                         -> VOTE.BALLOT
vote.sync.all.pred %p1, !%p2, 0xff                         -> VOTE.ALL
activemask.b32 %r1                                         -> ACTIVEMASK
shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1                 -> SHFL.P SHFL
shfl.sync.idx.b32 %r1, %r2, %r3, %r4, %r5                  -> SHFL
shfl.sync.bfly.b32 %r1, %r2, 16, 0x1f, 0xffffffff          -> SHFL
shfl.sync.up.b32 %r1, %r2, %r3, 0, -1                      -> SHFL
match.any.sync.b32 %r1, %r2, -1                            -> MATCH.ANY.B32
match.all.sync.b64 %r1|%p1, %rd1, %r2                      -> MATCH.ALL.B64
redux.sync.add.s32 %r1, %r2, -1                            -> REDUX.ADD.S32
redux.sync.min.u32 %r1, %r2, %r3                           -> REDUX.MIN.U32
redux.sync.add.u32 %r1, %r2, -1                            -> REDUX.ADD.S32
elect.sync %r1|%p1, -1                                     -> ELECT
cvta.to.global.u64 %rd1, %rd2                              -> MOV.64
cvta.global.u64 %rd1, %rd2                                 -> MOV.64
cvta.shared.u64 %rd1, %rd2                                 -> CVTA.SHARED
cvta.to.shared.u64 %rd1, %rd2                              -> CVTA.TO.SHARED
cvta.local.u64 %rd1, %rd2                                  -> CVTA.LOCAL
isspacep.shared %p1, %rd1                                  -> ISSPACEP.SHARED
isspacep.global %p1, %rd1                                  -> ISSPACEP.GLOBAL
cvta.to.shared.u64 %rd1, %rd2                              -> CVTA.TO.SHARED
nanosleep.u32 100                                          -> NANOSLEEP
trap                                                       -> TRAP
brkpt                                                      -> BRKPT
pmevent 7                                                  -> NOP
prefetch.global.L2 [%rd1]                                  -> NOP
prefetchu.L1 [%rd1]                                        -> NOP
@%p1 exit                                                  -> @EXIT
@!%p1 add.s32 %r1, %r2, %r3                                -> @IADD
@%p1 ld.global.v2.u32 {%r1, %r2}, [%rd1]                   -> @LDG.V2.32 @MOV @MOV
"""
CASES = [tuple(part.strip() for part in line.split("->")) for line in ROWS.strip().splitlines()]


def lowered(tree: ast.Module) -> list[Body]:
    layout, unsupported = Layout(tree), []
    bodies = [lower_function(function, layout, unsupported) for function in tree.functions if function.body]
    check_supported(unsupported)
    return bodies


def rows_of(instruction: str) -> str:
    tree = parse(kernel_text(instruction + ";"), "k.ptx")
    body = lowered(tree)[0]
    names = [("@" if inst.guard is not None else "") + inst.op.name for inst in body.instructions()]
    assert names[-1] == "EXIT"
    return " ".join(names[:-1])


@pytest.mark.parametrize(("instruction", "expected"), CASES, ids=[case[0] for case in CASES])
def test_rows(instruction: str, expected: str):
    assert rows_of(instruction) == expected


@needs_ptxas
def test_ptxas_takes_every_instruction_of_the_table(tmp_path):
    ptxas(tmp_path, kernel_text("".join(f"    {instruction};\n" for instruction, _ in CASES)))


# Constant operands: (PTX, slot of the immediate, its bits, the whole imm word).
IMMEDIATES = [
    ("add.s32 %r1, %r2, -1", "b", 0xFFFFFFFF),
    ("add.s64 %rd1, %rd2, -8", "b", 0xFFFFFFF8),  # sign-extended by the row
    ("mul.f64 %fd1, %fd2, 0d3FE0000000000000", "b", 0x3FE00000),  # the high half of 0.5
    ("fma.rn.f32 %f1, %f2, %f3, 0f3F800000", "c", 0x3F800000),
    ("selp.b32 %r1, 1, 0, %p1", "a", 1),  # zero needs no immediate
    ("setp.lt.s16 %p1, %rs1, -3", "b", 0xFFFFFFFD),  # sign-extended to the 32 bits of the row
    ("and.b16 %rs1, %rs2, -2", "b", 0xFFFE),
    ("bfi.b32 %r1, %r2, %r3, 4, 8", "c", 0x0804),
]


@pytest.mark.parametrize(("instruction", "slot", "imm"), IMMEDIATES)
def test_immediates(instruction: str, slot: str, imm: int):
    tree = parse(kernel_text(instruction + ";"), "k.ptx")
    inst = [i for i in lowered(tree)[0].instructions() if i.slot][-1]
    assert (inst.slot, inst.imm) == (slot, imm)


def test_all_unsupported_instructions_are_reported_at_once():
    text = (
        kernel_text("    .loc 1 7 3\n    multimem.st;\n    add.s32 %r1, %r2, %r3;\n    add.f32.foo %f1, %f2, %f3;")
        + '.file 1 "k.cu"\n'
    )
    with pytest.raises(UnsupportedInstruction) as caught:
        lower_text(text)
    assert str(caught.value).splitlines() == [
        "k.ptx:13: unsupported instruction multimem.st (source k.cu:7)",
        "k.ptx:15: unsupported type .foo of add.f32.foo (source k.cu:7)",
    ]


def lower_text(text: str):
    tree = parse(text, "k.ptx")
    return lowered(tree)


INVALID = [
    ("add.s32 %r1, %r2, %nope", "k.ptx:12:1: add.s32: %nope is not declared"),
    ("add.s32 %r1, %r2", "k.ptx:12:1: add.s32: 2 operands, expected 3"),
    ("add.s32 %r1, %r2, %rd1, %rd2", "k.ptx:12:1: add.s32: 4 operands, expected 3"),
    ("add.s64 %rd1, %rd2, %r1", "k.ptx:12:1: add.s64: %r1 is a .b32 register, which does not fit the type .s64"),
    ("bra nowhere", "k.ptx:12:1: bra: nowhere is not a label of this function"),
    ("st.const.u32 [carr], %r1", "k.ptx:12:1: st.const.u32: constant memory cannot be written"),
    ("ld.shared.u32 %r1, [carr]", "k.ptx:12:1: ld.shared.u32: carr is in const memory, not in shared"),
    ("bar.sync 16", "k.ptx:12:1: bar.sync: 16 is out of range"),
    ("ld.global.v2.u32 %r1, [%rd1]", "k.ptx:12:1: ld.global.v2.u32: 1 registers for 2 elements"),
    ("cvt.u32.u64 %rs1, %rd1", "k.ptx:12:1: cvt.u32.u64: the destination register has only 16 bits"),
    ("call nothing", "k.ptx:12:1: call: nothing is not a function of this module"),
]


@pytest.mark.parametrize(("instruction", "message"), INVALID)
def test_invalid_operands(instruction: str, message: str):
    with pytest.raises(PtxError) as caught:
        lower_text(kernel_text(instruction + ";"))
    assert str(caught.value) == message


UNSUPPORTED = "multimem.red.relaxed.sys.global.add.u32 [%rd1], %r1;"


@pytest.mark.parametrize(
    "name, message",
    [
        ("k.ptx", "k.ptx:13: unsupported instruction multimem.red.relaxed.sys.global.add.u32 (source k.cu:7)"),
        ("k.cu", "k.cu:7: unsupported instruction multimem.red.relaxed.sys.global.add.u32 (PTX line 13)"),
    ],
)
def test_an_unsupported_instruction_names_the_line_of_the_file_given_first(name, message):
    tree = parse(kernel_text(f"    .loc 1 7 3\n{UNSUPPORTED}") + '.file 1 "k.cu"\n', name)
    with pytest.raises(UnsupportedInstruction) as caught:
        lowered(tree)
    assert str(caught.value) == message


def test_an_address_with_indices_is_no_address_of_a_load():
    tree = parse(kernel_text("    ld.global.f32 %f1, [%rd1, {%r1, %r2}];"), "k.ptx")
    with pytest.raises(PtxError, match="expected an address in brackets"):
        lowered(tree)


@pytest.mark.parametrize(
    "text, message",
    [
        ("shfl.sync.b32 %r1, %r2, 1, 31, -1;", "form without a mode of shfl.sync.b32"),
        ("bmsk.b32 %r1, %r2, %r3;", "form without .wrap or .clamp of bmsk.b32"),
        ("testp.f32 %p1, %f1;", "form without a test of testp.f32"),
    ],
)
def test_a_modifier_that_is_missing_is_named(text, message):
    tree = parse(kernel_text(f"    {text}\n"), "k.ptx")
    with pytest.raises(UnsupportedInstruction, match=f"unsupported {message}"):
        lowered(tree)
