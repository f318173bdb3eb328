"""Every form of the instructions that compute on one thread's registers, to PTX ISA 9.0: the lines of the manual's
syntax boxes.

`(a|b|)` stands for a, b or nothing; what is written out is one instruction. Registers by width: p predicates, h 16
bits, r 32, d 64, c 8.
Each group names the oldest target on which all of its forms exist.
"""

import itertools
import re

REGISTERS = ".reg .pred %p<4>; .reg .b8 %c<4>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %d<8>;"

CMP = "(.eq|.ne|.lt|.le|.gt|.ge)"
FCMP = "(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan)"
RND = "(.rn|.rz|.rm|.rp)"
SEL = "(|.b0|.b1|.b2|.b3|.h0|.h1)"

FORMS = {
    "sm_80": f"""
        (add|sub).(u16|s16) h0, h1, h2
        (add|sub).(u32|s32) r0, r1, r2
        (add|sub).(u64|s64) d0, d1, d2
        (add|sub).sat.s32 r0, r1, r2
        (add|addc|sub|subc).cc.(u32|s32) r0, r1, r2
        (addc|subc).(u32|s32) r0, r1, r2
        (add|addc|sub|subc).cc.(u64|s64) d0, d1, d2
        (addc|subc).(u64|s64) d0, d1, d2
        (mad|madc).(lo|hi).cc.(u32|s32) r0, r1, r2, r3
        madc.(lo|hi).(u32|s32) r0, r1, r2, r3
        (mad|madc).(lo|hi).cc.(u64|s64) d0, d1, d2, d3
        madc.(lo|hi).(u64|s64) d0, d1, d2, d3
        mul.(lo|hi).(u16|s16) h0, h1, h2
        mul.(lo|hi).(u32|s32) r0, r1, r2
        mul.(lo|hi).(u64|s64) d0, d1, d2
        mul.wide.(u16|s16) r0, h1, h2
        mul.wide.(u32|s32) d0, r1, r2
        mad.(lo|hi).(u16|s16) h0, h1, h2, h3
        mad.(lo|hi).(u32|s32) r0, r1, r2, r3
        mad.(lo|hi).(u64|s64) d0, d1, d2, d3
        mad.wide.(u16|s16) r0, h1, h2, r3
        mad.wide.(u32|s32) d0, r1, r2, d3
        mad.hi.sat.s32 r0, r1, r2, r3
        mul24.(lo|hi).(u32|s32) r0, r1, r2
        mad24.(lo|hi).(u32|s32) r0, r1, r2, r3
        mad24.hi.sat.s32 r0, r1, r2, r3
        sad.(u16|s16) h0, h1, h2, h3
        sad.(u32|s32) r0, r1, r2, r3
        sad.(u64|s64) d0, d1, d2, d3
        (div|rem|min|max).(u16|s16) h0, h1, h2
        (div|rem|min|max).(u32|s32) r0, r1, r2
        (div|rem|min|max).(u64|s64) d0, d1, d2
        (abs|neg).s16 h0, h1
        (abs|neg).s32 r0, r1
        (abs|neg).s64 d0, d1
        (popc|clz|brev).b32 r0, r1
        (popc|clz).b64 r0, d1
        brev.b64 d0, d1
        bfind(|.shiftamt).(u32|s32) r0, r1
        bfind(|.shiftamt).(u64|s64) r0, d1
        fns.b32 r0, r1, r2, r3
        bfe.(u32|s32) r0, r1, r2, r3
        bfe.(u64|s64) d0, d1, r2, r3
        bfi.b32 r0, r1, r2, r3, r4
        bfi.b64 d0, d1, d2, r3, r4
        bmsk.(clamp|wrap).b32 r0, r1, r2
        szext.(clamp|wrap).(u32|s32) r0, r1, r2
        dp4a.(u32|s32).(u32|s32) r0, r1, r2, r3
        dp2a.(lo|hi).(u32|s32).(u32|s32) r0, r1, r2, r3

        testp.(finite|infinite|number|notanumber|normal|subnormal).f32 p0, r1
        testp.(finite|infinite|number|notanumber|normal|subnormal).f64 p0, d1
        copysign.f32 r0, r1, r2
        copysign.f64 d0, d1, d2
        (add|sub|mul)(|.rn|.rz|.rm|.rp)(|.ftz)(|.sat).f32 r0, r1, r2
        (add|sub|mul)(|.rn|.rz|.rm|.rp).f64 d0, d1, d2
        (fma|mad){RND}(|.ftz)(|.sat).f32 r0, r1, r2, r3
        (fma|mad){RND}.f64 d0, d1, d2, d3
        div.(approx|full)(|.ftz).f32 r0, r1, r2
        div{RND}(|.ftz).f32 r0, r1, r2
        div{RND}.f64 d0, d1, d2
        (abs|neg)(|.ftz).f32 r0, r1
        (abs|neg).f64 d0, d1
        (min|max)(|.ftz)(|.NaN).f32 r0, r1, r2
        (min|max).f64 d0, d1, d2
        (rcp|sqrt).approx(|.ftz).f32 r0, r1
        (rcp|sqrt){RND}(|.ftz).f32 r0, r1
        (rcp|sqrt){RND}.f64 d0, d1
        (rcp|rsqrt).approx.ftz.f64 d0, d1
        rsqrt.approx(|.ftz).f32 r0, r1
        rsqrt.approx.f64 d0, d1
        (sin|cos|lg2|ex2).approx(|.ftz).f32 r0, r1
        tanh.approx.f32 r0, r1

        (add|sub|mul)(|.rn)(|.ftz)(|.sat).f16 h0, h1, h2
        (add|sub|mul)(|.rn)(|.ftz)(|.sat).f16x2 r0, r1, r2
        fma.rn(|.ftz)(|.sat|.relu).f16 h0, h1, h2, h3
        fma.rn(|.ftz)(|.sat|.relu).f16x2 r0, r1, r2, r3
        fma.rn(|.relu).bf16 h0, h1, h2, h3
        fma.rn(|.relu).bf16x2 r0, r1, r2, r3
        (neg|abs)(|.ftz).f16 h0, h1
        (neg|abs)(|.ftz).f16x2 r0, r1
        (neg|abs).bf16 h0, h1
        (neg|abs).bf16x2 r0, r1
        (min|max)(|.ftz)(|.NaN).f16 h0, h1, h2
        (min|max)(|.ftz)(|.NaN).f16x2 r0, r1, r2
        (min|max)(|.NaN).bf16 h0, h1, h2
        (min|max)(|.NaN).bf16x2 r0, r1, r2
        (tanh|ex2).approx.f16 h0, h1
        (tanh|ex2).approx.f16x2 r0, r1

        setp{CMP}(.u16|.s16) p0, h1, h2
        setp{CMP}(.u32|.s32) p0, r1, r2
        setp{CMP}(.u64|.s64) p0, d1, d2
        setp(.eq|.ne).b16 p0, h1, h2
        setp(.eq|.ne).b32 p0, r1, r2
        setp(.eq|.ne).b64 p0, d1, d2
        setp(.lo|.ls|.hi|.hs).u16 p0, h1, h2
        setp(.lo|.ls|.hi|.hs).u32 p0, r1, r2
        setp(.lo|.ls|.hi|.hs).u64 p0, d1, d2
        setp{FCMP}(|.ftz).f32 p0, r1, r2
        setp{FCMP}.f64 p0, d1, d2
        setp{FCMP}(|.ftz).f16 p0, h1, h2
        setp{FCMP}(|.ftz).f16x2 p0|p1, r1, r2
        setp.lt(.and|.or|.xor)(.u16|.s16) p0|p1, h1, h2, (|!)p2
        setp.lt(.and|.or|.xor)(.f16|.ftz.f16) p0, h1, h2, (|!)p2
        setp.lt(.and|.or|.xor)(.u32|.s32|.f32|.ftz.f32) p0|p1, r1, r2, (|!)p2
        setp.lt(.and|.or|.xor)(.u64|.s64|.f64) p0|p1, d1, d2, (|!)p2
        setp.ne(.and|.or|.xor).b16 p0|_, h1, h2, p2
        setp.ne(.and|.or|.xor).b64 _|p1, d1, d2, p2
        setp.lt(.and|.or|.xor).f16x2 p0|p1, r1, r2, (|!)p2
        set{CMP}(.u32|.s32|.f32)(.u16|.s16) r0, h1, h2
        set{CMP}(.u32|.s32|.f32)(.u32|.s32) r0, r1, r2
        set{CMP}(.u32|.s32|.f32)(.u64|.s64) r0, d1, d2
        set(.eq|.ne)(.u32|.s32|.f32).b16 r0, h1, h2
        set(.eq|.ne)(.u32|.s32|.f32).b32 r0, r1, r2
        set(.eq|.ne)(.u32|.s32|.f32).b64 r0, d1, d2
        set{FCMP}(|.ftz)(.u32|.s32|.f32).f32 r0, r1, r2
        set{FCMP}(.u32|.s32|.f32).f64 r0, d1, d2
        set.lt(.and|.or|.xor)(.u32|.s32|.f32)(.u32|.s32|.f32|.ftz.f32) r0, r1, r2, (|!)p2
        set.lt(.and|.or|.xor)(.u32|.s32|.f32)(.u16|.s16) r0, h1, h2, (|!)p2
        set.lt(.and|.or|.xor)(.u32|.s32|.f32)(.u64|.s64|.f64) r0, d1, d2, (|!)p2
        set{FCMP}(|.ftz)(.f16|.u16|.s16).f16 h0, h1, h2
        set{FCMP}(|.ftz)(.u32|.s32).f16 r0, h1, h2
        set.ge.f16(.u16|.s16) h0, h1, h2
        set.ge.f16(.u32|.s32|.f32|.ftz.f32) h0, r1, r2
        set.ge.f16(.u64|.s64|.f64) h0, d1, d2
        set.eq.f16(.b16) h0, h1, h2
        set.eq.f16(.b32) h0, r1, r2
        set.eq.f16(.b64) h0, d1, d2
        set.lt(.and|.or|.xor)(|.ftz)(.f16|.u16|.s16).f16 h0, h1, h2, (|!)p2
        set{FCMP}(|.ftz)(.f16x2|.u32|.s32).f16x2 r0, r1, r2
        set.lt(.and|.or|.xor)(|.ftz)(.f16x2|.u32|.s32).f16x2 r0, r1, r2, (|!)p2
        selp(.b16|.u16|.s16) h0, h1, h2, p1
        selp(.b32|.u32|.s32|.f32) r0, r1, r2, p1
        selp(.b64|.u64|.s64|.f64) d0, d1, d2, p1
        slct(.b16|.u16|.s16).s32 h0, h1, h2, r3
        slct(.b32|.u32|.s32|.f32).s32 r0, r1, r2, r3
        slct(.b64|.u64|.s64|.f64).s32 d0, d1, d2, r3
        slct(|.ftz)(.b16|.u16|.s16).f32 h0, h1, h2, r3
        slct(|.ftz)(.b32|.u32|.s32|.f32).f32 r0, r1, r2, r3
        slct(|.ftz)(.b64|.u64|.s64|.f64).f32 d0, d1, d2, r3

        (and|or|xor).pred p0, p1, p2
        (and|or|xor).b16 h0, h1, h2
        (and|or|xor).b32 r0, r1, r2
        (and|or|xor).b64 d0, d1, d2
        not.pred p0, p1
        (not|cnot).b16 h0, h1
        (not|cnot).b32 r0, r1
        (not|cnot).b64 d0, d1
        lop3.b32 r0, r1, r2, r3, (0|0x40|0xca|0xff)
        lop3(.or|.and).b32 r0|p0, r1, r2, r3, 0x3f, (|!)p1
        lop3(.or|.and).b32 _|p0, r1, r2, r3, 0x3f, p1
        shf(.l|.r)(.clamp|.wrap).b32 r0, r1, r2, r3
        shl.b16 h0, h1, r2
        shl.b32 r0, r1, r2
        shl.b64 d0, d1, r2
        shr(.b16|.u16|.s16) h0, h1, r2
        shr(.b32|.u32|.s32) r0, r1, r2
        shr(.b64|.u64|.s64) d0, d1, r2
        prmt(.b32|.b32.f4e|.b32.b4e|.b32.rc8|.b32.ecl|.b32.ecr|.b32.rc16) r0, r1, r2, r3

        mov.pred p0, p1
        mov(.b16|.u16|.s16) h0, h1
        mov(.b32|.u32|.s32|.f32) r0, r1
        mov(.b64|.u64|.s64|.f64) d0, d1
        mov.b16 h0, {{c0, c1}}
        mov.b16 {{c0, c1}}, h0
        mov.b32 r0, {{h0, h1}}
        mov.b32 {{h0, h1}}, r0
        mov.b32 r0, {{c0, c1, c2, c3}}
        mov.b32 {{c0, c1, c2, c3}}, r0
        mov.b64 d0, {{r0, r1}}
        mov.b64 {{r0, r1}}, d0
        mov.b64 d0, {{h0, h1, h2, h3}}
        mov.b64 {{h0, h1, h2, h3}}, d0
        mov.b64 {{_, r1}}, d0

        cvt(.u8|.s8|.u16|.s16|.u32|.s32)(.u8|.s8|.u32|.s32) r0, r1
        cvt(.u8|.s8|.u16|.s16)(.u8|.s8|.u16|.s16) h0, h1
        cvt(.u32|.s32)(.u16|.s16) r0, h1
        cvt(.u64|.s64)(.u16|.s16) d0, h1
        cvt(.u64|.s64)(.u8|.s8|.u32|.s32) d0, r1
        cvt(.u8|.s8|.u16|.s16|.u32|.s32)(.u64|.s64) r0, d1
        cvt.sat.(u8.s8|u8.u16|u8.s16|s8.u8|s8.u16|s8.s16|u16.s8|u16.s16|s16.u16) h0, h1
        cvt.sat.(u32.s32|s32.u32|u16.u32|u16.s32|s16.u32|s16.s32|u8.u32|u8.s32|s8.u32|s8.s32) r0, r1
        cvt.sat.(u32.s64|u32.u64|s32.s64|s32.u64|u16.s64|s16.u64|u8.s64|s8.u64) r0, d1
        cvt.sat.(u64.s64|s64.u64) d0, d1
        cvt.sat.(u64.s8|u64.s32) d0, r1
        cvt(.rni|.rzi|.rmi|.rpi)(|.ftz)(.u8|.s8|.u16|.s16|.u32|.s32).f32 r0, r1
        cvt(.rni|.rzi|.rmi|.rpi)(|.ftz)(.u64|.s64).f32 d0, r1
        cvt(.rni|.rzi|.rmi|.rpi)(.u8|.s8|.u16|.s16|.u32|.s32).f64 r0, d1
        cvt(.rni|.rzi|.rmi|.rpi)(.u64|.s64).f64 d0, d1
        cvt(.rni|.rzi|.rmi|.rpi)(.u8|.s8|.u16|.s16).f16 h0, h1
        cvt(.rni|.rzi|.rmi|.rpi)(.u32|.s32).f16 r0, h1
        cvt(.rni|.rzi|.rmi|.rpi)(.u64|.s64).f16 d0, h1
        cvt(.rni|.rzi|.rmi|.rpi)(|.ftz)(|.sat).f32.f32 r0, r1
        cvt(.rni|.rzi|.rmi|.rpi)(|.sat).f64.f64 d0, d1
        cvt(.rni|.rzi|.rmi|.rpi)(|.sat).f16.f16 h0, h1
        cvt(.rzi.sat)(.u8|.s8|.u16|.s16|.u32|.s32).f32 r0, r1
        cvt{RND}(|.sat).f32(.u8|.s8|.u32|.s32) r0, r1
        cvt{RND}(|.sat).f32(.u16|.s16) r0, h1
        cvt{RND}(|.sat).f32(.u64|.s64) r0, d1
        cvt{RND}(|.sat).f64(.u8|.s8|.u32|.s32) d0, r1
        cvt{RND}(|.sat).f64(.u16|.s16) d0, h1
        cvt{RND}(|.sat).f64(.u64|.s64) d0, d1
        cvt{RND}(|.sat).f16(.u8|.s8|.u16|.s16) h0, h1
        cvt{RND}(|.sat).f16(.u32|.s32) h0, r1
        cvt{RND}(|.sat).f16(.u64|.s64) h0, d1
        cvt{RND}(|.ftz)(|.sat).f32.f64 r0, d1
        cvt{RND}(|.ftz)(|.sat).f16.f32 h0, r1
        cvt{RND}(|.sat).f16.f64 h0, d1
        cvt(|.ftz)(|.sat).f32.f32 r0, r1
        cvt(|.ftz)(|.sat).f64.f32 d0, r1
        cvt(|.ftz)(|.sat).f32.f16 r0, h1
        cvt(|.sat).f64.f16 d0, h1
        cvt(|.sat).f64.f64 d0, d1
        cvt(|.sat).f16.f16 h0, h1
        cvt(.rn|.rz).relu.(f16|bf16).f32 h0, r1
        cvt(.rn|.rz).bf16.f32 h0, r1
        cvt(.rn|.rz)(|.relu).(f16x2|bf16x2).f32 r0, r1, r2
        cvt.rna.tf32.f32 r0, r1
        cvt.f32.bf16 r0, h1
        cvt.pack.sat.(u16|s16).s32 r0, r1, r2
        cvt.pack.sat.(u2|s2|u4|s4|u8|s8).s32.b32 r0, r1, r2, r3

        (vadd|vsub|vabsdiff|vmin|vmax)(.u32|.s32)(.u32|.s32)(.u32|.s32)(|.sat) r0, r1, r2
        (vadd|vsub|vabsdiff|vmin|vmax).s32.u32.s32(|.sat)(|.add|.min|.max) r0, r1.b1, r2.h1, r3
        (vadd|vsub|vabsdiff|vmin|vmax).u32.s32.u32(|.sat) r0(.b0|.b1|.b2|.b3|.h0|.h1), r1.h0, r2.b3, r3
        vsub.s32.s32.u32 r0, r1(.b0|.b1|.b2|.b3|.h0|.h1), r2{SEL}
        (vshl|vshr)(.u32|.s32)(.u32|.s32).u32(|.sat)(.clamp|.wrap) r0, r1, r2
        (vshl|vshr).s32.s32.u32(|.sat)(.clamp|.wrap)(.add|.min|.max) r0, r1.h1, r2.b0, r3
        (vshl|vshr).u32.s32.u32(|.sat)(.clamp|.wrap) r0(.b0|.b1|.b2|.b3|.h0|.h1), r1.h1, r2.b0, r3
        vmad(.u32|.s32)(.u32|.s32)(.u32|.s32)(|.sat)(|.shr7|.shr15) r0, r1.b0, r2.h1, r3
        vmad.(u32.u32.u32|s32.s32.s32|s32.s32.u32).po(|.sat)(|.shr7|.shr15) r0, r1.b2, r2.b3, r3
        vmad.s32(.u32|.s32)(.u32|.s32)(|.sat) r0, r1.h0, r2.h1, -r3
        vmad.s32(.u32|.s32)(.u32|.s32)(|.sat) r0, -r1.h0, r2.h1, r3
        vmad.s32(.u32|.s32)(.u32|.s32)(|.sat) r0, r1.h0, -r2.b1, r3
        vset(.u32|.s32)(.u32|.s32){CMP} r0, r1, r2
        vset(.u32|.s32)(.u32|.s32){CMP}(|.add|.min|.max) r0, r1.b1, r2.h0, r3
        vset.s32.u32{CMP} r0(.b0|.b1|.b2|.b3|.h0|.h1), r1.b1, r2.h0, r3
        (vadd|vsub|vavrg|vabsdiff|vmin|vmax)(2|4)(.u32|.s32)(.u32|.s32)(.u32|.s32)(|.sat|.add) r0, r1, r2, r3
        (vadd|vsub|vavrg|vabsdiff|vmin|vmax)2.s32.u32.s32(|.sat|.add) r0(|.h0|.h1|.h10), r1.h21, r2.h03, r3
        (vadd|vsub|vavrg|vabsdiff|vmin|vmax)4.s32.u32.s32(|.sat|.add) r0(|.b0|.b1|.b10|.b2|.b20|.b21|.b210|.b3|.b310|.b3210), r1.b7010, r2.b1234, r3
        vset(2|4)(.u32|.s32)(.u32|.s32){CMP}(|.add) r0, r1, r2, r3
        vset2.s32.u32{CMP}(|.add) r0(|.h0|.h1|.h10), r1.h21, r2.h03, r3
        vset4.u32.s32{CMP}(|.add) r0(|.b2|.b20|.b310), r1.b7010, r2.b1234, r3
        """,  # noqa: E501
    "sm_86": """
        (min|max)(|.ftz)(|.NaN).xorsign.abs.f32 r0, r1, r2
        (min|max)(|.ftz)(|.NaN).xorsign.abs.f16 h0, h1, h2
        (min|max)(|.ftz)(|.NaN).xorsign.abs.f16x2 r0, r1, r2
        (min|max)(|.NaN).xorsign.abs.bf16 h0, h1, h2
        (min|max)(|.NaN).xorsign.abs.bf16x2 r0, r1, r2
        """,
    "sm_90": f"""
        add.(u16x2|s16x2) r0, r1, r2
        (min|max).(u16x2|s16x2) r0, r1, r2
        (min|max).relu.(s16x2|s32) r0, r1, r2
        (add|sub|mul)(|.rn).bf16 h0, h1, h2
        (add|sub|mul)(|.rn).bf16x2 r0, r1, r2
        (tanh.approx|ex2.approx.ftz).bf16 h0, h1
        (tanh.approx|ex2.approx.ftz).bf16x2 r0, r1
        setp{FCMP}.bf16 p0, h1, h2
        setp{FCMP}.bf16x2 p0|p1, r1, r2
        setp.lt(.and|.or|.xor).bf16 p0, h1, h2, (|!)p2
        setp.lt(.and|.or|.xor).bf16x2 p0|p1, r1, r2, (|!)p2
        set{FCMP}(.bf16|.u16|.s16).bf16 h0, h1, h2
        set{FCMP}(.u32|.s32).bf16 r0, h1, h2
        set.ge.bf16(.u16|.s16|.f16) h0, h1, h2
        set.ge.bf16(.u32|.s32|.f32) h0, r1, r2
        set.ge.bf16(.u64|.s64|.f64) h0, d1, d2
        set{FCMP}(.bf16x2|.u32|.s32).bf16x2 r0, r1, r2
        set.lt(.and|.or|.xor)(.bf16x2|.u32|.s32).bf16x2 r0, r1, r2, (|!)p2
        cvt(.rn|.rz)(|.relu).satfinite.(f16|bf16).f32 h0, r1
        cvt(.rn|.rz)(|.relu).satfinite.(f16x2|bf16x2).f32 r0, r1, r2
        cvt.rna(|.satfinite).tf32.f32 r0, r1
        cvt(.rn|.rz)(|.relu).tf32.f32 r0, r1
        cvt(.rni|.rzi|.rmi|.rpi)(.u8|.s8).bf16 c0, h1
        cvt(.rni|.rzi|.rmi|.rpi)(.u16|.s16).bf16 h0, h1
        cvt(.rni|.rzi|.rmi|.rpi)(.u32|.s32).bf16 r0, h1
        cvt(.rni|.rzi|.rmi|.rpi)(.u64|.s64).bf16 d0, h1
        cvt(.rni|.rzi|.rmi|.rpi).bf16.bf16 h0, h1
        cvt{RND}.bf16(.u8|.s8) h0, c1
        cvt{RND}.bf16(.u16|.s16|.f16) h0, h1
        cvt{RND}.bf16(.u32|.s32|.f32) h0, r1
        cvt{RND}.bf16(.u64|.s64|.f64) h0, d1
        cvt{RND}.f16.bf16 h0, h1
        cvt.f32.bf16 r0, h1
        cvt.ftz.f32.bf16 r0, h1
        cvt.f64.bf16 d0, h1
        cvt.rn.satfinite(|.relu).(e4m3x2|e5m2x2).f32 h0, r1, r2
        cvt.rn.satfinite(|.relu).(e4m3x2|e5m2x2).f16x2 h0, r1
        cvt.rn(|.relu).f16x2.(e4m3x2|e5m2x2) r0, h1
        """,
    "sm_100a": f"""
        (add|sub|mul){RND}(|.ftz).f32x2 d0, d1, d2
        fma{RND}(|.ftz).f32x2 d0, d1, d2, d3
        (add|sub)(|.rn|.rz|.rm|.rp)(|.sat).f32.(f16|bf16) r0, h1, r2
        fma{RND}(|.sat).f32.(f16|bf16) r0, h1, h2, r3
        (min|max)(|.ftz)(|.NaN)(|.abs).f32 r0, r1, r2, r3
        redux.sync.(min|max)(|.abs)(|.NaN).f32 r0, r1, 0xffffffff
        cvt(.rn|.rz).satfinite(|.relu).tf32.f32 r0, r1
        cvt.rn.satfinite(|.relu).(e2m3x2|e3m2x2).f32 h0, r1, r2
        cvt.rn(|.relu).f16x2.(e2m3x2|e3m2x2) r0, h1
        cvt.rn.satfinite(|.relu).e2m1x2.f32 c0, r1, r2
        cvt.rn(|.relu).f16x2.e2m1x2 r0, c1
        cvt(.rz|.rp)(|.satfinite).ue8m0x2.f32 h0, r1, r2
        cvt(.rz|.rp)(|.satfinite).ue8m0x2.bf16x2 h0, r1
        cvt.rn.bf16x2.ue8m0x2 r0, h1
        cvt.rs(|.relu)(|.satfinite).(f16x2|bf16x2).f32 r0, r1, r2, r3
        cvt.rs(|.relu).satfinite.(e4m3x4|e5m2x4|e2m3x4|e3m2x4).f32 r0, {{r1, r2, r3, r4}}, r5
        cvt.rs(|.relu).satfinite.e2m1x4.f32 h0, {{r1, r2, r3, r4}}, r5
        """,
}


def expanded(line: str) -> list[str]:
    """The instructions that a line stands for, registers with their `%`."""
    parts = re.split(r"\(([^()]*)\)", line)
    choices = [part.split("|") if index % 2 else [part] for index, part in enumerate(parts)]
    return [
        re.sub(r"(?<![.\w])([phrdc]\d)\b", r"%\1", "".join(combined)) + ";" for combined in itertools.product(*choices)
    ]


def forms(target: str) -> list[str]:
    """All instructions of a group."""
    return [form for line in FORMS[target].splitlines() if line.strip() for form in expanded(line.strip())]


def module(target: str, instructions: list[str]) -> tuple[str, int]:
    """A module whose kernel `k` holds the instructions, and the line of the first."""
    head = f".version 9.0\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n{REGISTERS}\n"
    return head + "\n".join(instructions) + "\nret;\n}\n", head.count("\n") + 1
