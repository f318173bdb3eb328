"""Declarations, directives and calls at module level, a small module each, without its first three lines (PTX ISA 9.0,
chapters 5, 7 and 11).
"""

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
MODULES = {
    "attr managed": """\
.global .attribute(.managed) .align 8 .b8 m[16];
.visible .entry k() { ret; }
""",
    "common": """\
.common .global .u32 c[4];
.visible .entry k() { ret; }
""",
    "extern shared": """\
.extern .shared .align 16 .b8 dyn[];
.visible .entry k() { .reg .b32 %r; ld.shared.b32 %r, [dyn]; ret; }
""",
    "multi dim": """\
.global .s32 o[][2] = { {-1, 0}, {0, -1}, {1} };
.visible .entry k() { ret; }
""",
    "3 dim": """\
.global .u8 o[2][2][3] = { {{1,2},{3}}, {{4}} };
.visible .entry k() { ret; }
""",
    "vec var": """\
.global .v4 .f32 V = {1.0, 2.0, 3.0, 4.0};
.visible .entry k() { ret; }
""",
    "addr init": """\
.global .u32 a[4];
.global .u64 p = a;
.global .u64 q[2] = {a+4, generic(a)+8};
.const .u64 r = generic(a);
.visible .entry k() { ret; }
""",
    "mask init": """\
.global .u32 foo;
.global .u8 addr[] = {0xff(foo), 0xff00(foo), 0xff0000(foo), 0xff000000(foo), 0xff00000000(foo), 0xff0000000000(foo), 0xff000000000000(foo), 0xff00000000000000(foo)};
.visible .entry k() { ret; }
""",  # noqa: E501
    "func addr": """\
.func f() { ret; }
.global .u64 t[2] = {f, f};
.visible .entry k() { ret; }
""",
    "directives": """\
.visible .entry k() .maxntid 128,1,1 .minnctapersm 2 .maxnreg 64 { ret; }
""",
    "cluster dirs": """\
.visible .entry k() .explicitcluster .maxclusterrank 8 { ret; }
""",
    "cluster dirs2": """\
.visible .entry k() .reqnctapercluster 2,1,1 { ret; }
""",
    "noreturn": """\
.func f() .noreturn { trap; }
.visible .entry k() { call f; ret; }
""",
    "ptr attrs": """\
.visible .entry k(.param .u64 .ptr .global .align 16 a, .param .u64 .ptr .shared b, .param .u64 .ptr c, .param .b32 .ptr .const .align 4 d, .param .u64 .ptr .local e) { ret; }
""",  # noqa: E501
    "param arr": """\
.visible .entry k(.param .align 8 .b8 a[24], .param .b32 v[4], .param .f64 w[2]) { .reg .b32 %r; ld.param.b32 %r, [v+8]; ret; }
""",  # noqa: E501
    "file loc": """\
.file 1 "a.cu", 1234, 5678
.visible .entry k() { .loc 1 3 4
 ret; }
""",
    "reg param func": """\
.func (.reg .b32 r) f(.reg .b32 x, .reg .f64 y) { add.u32 r, x, 1; ret; }
.visible .entry k() { .reg .b32 %a; .reg .f64 %y; call (%a), f, (%a, %y); ret; }
""",
    "struct by value": """\
.func (.param .align 8 .b8 r[16]) f(.param .align 8 .b8 x[16]) { .reg .b64 %a<2>; ld.param.v2.b64 {%a0,%a1}, [x]; st.param.v2.b64 [r], {%a1,%a0}; ret; }
.visible .entry k() { .reg .b64 %a; .param .align 8 .b8 i[16]; .param .align 8 .b8 o[16]; st.param.b64 [i], 1; st.param.b64 [i+8], 2; call (o), f, (i); ld.param.b64 %a, [o+8]; ret; }
""",  # noqa: E501
    "variadic": """\
.func (.param .b32 r) sum(.param .b32 n, .param .align 8 .b8 args[]) { .reg .b64 %p; .reg .b32 %a, %b; mov.u64 %p, args; ld.param.b32 %a, [%p]; ld.param.b32 %b, [args+8]; add.u32 %a, %a, %b; st.param.b32 [r], %a; ret; }
.visible .entry k() { .reg .b32 %a; .param .b32 n; .param .align 8 .b8 v[16]; .param .b32 o; st.param.b32 [n], 2; st.param.b32 [v], 40; st.param.b32 [v+8], 2; call (o), sum, (n, v); ld.param.b32 %a, [o]; ret; }
""",  # noqa: E501
    "callproto variadic": """\
.visible .entry k(.param .u64 f) { .reg .b64 %f; .reg .b32 %a; ld.param.u64 %f, [f]; { .param .b32 n; .param .b32 o; .param .align 8 .b8 v[8]; st.param.b32 [n], 1; st.param.b32 [v], 1; P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[]); call (o), %f, (n, v), P; ld.param.b32 %a, [o]; } ret; }
""",  # noqa: E501
    "recursion": """\
.visible .func (.param .b32 r) f(.param .b32 x);
.visible .func (.param .b32 r) f(.param .b32 x) { .reg .b32 %a,%b; .reg .pred %p; ld.param.b32 %a,[x]; setp.eq.u32 %p, %a, 0; @%p bra D; { .param .b32 i,o; sub.u32 %b,%a,1; st.param.b32 [i], %b; call (o), f, (i); ld.param.b32 %b, [o]; } add.u32 %a, %a, %b; D: st.param.b32 [r], %a; ret; }
.visible .entry k() { ret; }
""",  # noqa: E501
    "locals": """\
.visible .entry k() { .local .align 16 .b8 l[32]; .shared .align 8 .u64 s[4]; .reg .b64 %r; mov.u64 %r, l; { .local .b32 l; .reg .b32 %r; ld.local.b32 %r, [l]; } ret; }
""",  # noqa: E501
    "callproto abi": """\
.visible .entry k(.param .u64 f) { .reg .b64 %f; ld.param.u64 %f, [f]; P: .callprototype _ () .noreturn; call %f, P; ret; }
""",  # noqa: E501
    "abi_preserve": """\
.func f() .abi_preserve 8 { ret; }
.visible .entry k() { call f; ret; }
""",
    "b128 var": """\
.global .b128 w;
.visible .entry k() { .reg .b128 %q; ld.global.b128 %q, [w]; ret; }
""",
    "pred reg scope": """\
.visible .entry k() { .reg .pred p, q; .reg .b32 a; setp.eq.u32 p|q, a, 0; @p bra L; L: ret; }
""",
    "labels": """\
.visible .entry k() { $L__BB0_1: bra.uni $L__BB0_2; $L__BB0_2: ret; }
""",
    "hexfloat": """\
.visible .entry k() { .reg .f32 %f; .reg .f64 %d; mov.f32 %f, 0F3f800000; mov.f64 %d, 0D3ff0000000000000; mov.f32 %f, 1e-3; mov.f64 %d, .5; ret; }
""",  # noqa: E501
    "octal bin": """\
.visible .entry k() { .reg .b32 %r; mov.u32 %r, 0b1011; mov.u32 %r, 017; mov.u32 %r, 0XFFU; ret; }
""",
    "neg imm types": """\
.visible .entry k() { .reg .b16 %h; mov.s16 %h, -5; mov.b16 %h, 0xfffb; ret; }
""",
}
