"""Every form of the texture and surface instructions that is supported, as PTX; and forms that are refused, with what
the refusal names.

Registers: %f0-7 f32, %r0-7 b32, %rd0-3 b64 (handles in 0 and 1), %rs0-3 b16, %l0-3 b64 data, %p0-1 predicates;
variables tex0, smp0, srf0.
"""

from itertools import product

COORDINATES = {
    "f32": {"1d": "{%f0}", "2d": "{%f0, %f1}", "3d": "{%f0, %f1, %f2, %f3}", "a1d": "{%r0, %f1}",
        "a2d": "{%r0, %f1, %f2, %f3}",
            "cube": "{%f0, %f1, %f2, %f3}", "acube": "{%r0, %f1, %f2, %f3}"},
    "s32": {"1d": "{%r0}", "2d": "{%r0, %r1}", "3d": "{%r0, %r1, %r2, %r3}", "a1d": "{%r0, %r1}",
        "a2d": "{%r0, %r1, %r2, %r3}"},
}  # fmt: skip
RESULTS = {"f32": "{%f4, %f5, %f6, %f7}", "u32": "{%r4, %r5, %r6, %r7}", "s32": "{%r4, %r5, %r6, %r7}"}
DERIVATIVES = {
    "1d": "{%f0}, {%f1}", "2d": "{%f0, %f1}, {%f2, %f3}", "3d": "{%f0, %f1, %f2, %f3}, {%f4, %f5, %f6, %f7}",
    "a1d": "{%f0}, {%f1}", "a2d": "{%f0, %f1}, {%f2, %f3}", "cube": "{%f0, %f1, %f2, %f3}, {%f4, %f5, %f6, %f7}",
    "acube": "{%f0, %f1, %f2, %f3}, {%f4, %f5, %f6, %f7}",
}  # fmt: skip


def fetches():
    for ctype, places in COORDINATES.items():
        for (geometry, place), dtype in product(places.items(), RESULTS):
            yield f"tex.{geometry}.v4.{dtype}.{ctype} {RESULTS[dtype]}, [%rd0, {place}];"
            yield f"tex.base.{geometry}.v4.{dtype}.{ctype} {RESULTS[dtype]}, [%rd0, {place}];"
            yield (
                f"tex.level.{geometry}.v4.{dtype}.{ctype} {RESULTS[dtype]}, [%rd0, {place}], "
                f"{'%f3' if ctype == 'f32' else '%r3'};"
            )
            if ctype == "f32":
                yield f"tex.grad.{geometry}.v4.{dtype}.f32 {RESULTS[dtype]}, [%rd0, {place}], {DERIVATIVES[geometry]};"
    yield "tex.2d.v2.f16x2.f32 {%r4, %r5}, [%rd0, {%f0, %f1}];"
    yield "tex.2d.v4.f16.f32 {%rs0, %rs1, %rs2, %rs3}, [%rd0, {%f0, %f1}];"
    yield "tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}|%p1, [%rd0, {%f0, %f1}];"
    yield "@%p0 tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd0, {%f0, %f1}];"
    yield "@!%p0 tex.1d.v4.f32.s32 {%f4, %f5, %f6, %f7}, [%rd0, %r0];"
    yield "tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [tex0, {0f3F000000, 0f3F000000}];"
    yield "tex.3d.v4.s32.s32 {%r4, %r5, %r6, %r7}, [tex0, {%r0, 1, -1, 0}];"


def gathers():
    for component, geometry in product("rgba", ("2d", "a2d", "cube", "acube")):
        for dtype, result in RESULTS.items():
            yield f"tld4.{component}.{geometry}.v4.{dtype}.f32 {result}, [%rd0, {COORDINATES['f32'][geometry]}];"


def queries():
    for query in (
        "width",
        "height",
        "depth",
        "channel_data_type",
        "channel_order",
        "normalized_coords",
        "array_size",
        "num_mipmap_levels",
        "num_samples",
    ):
        yield f"txq.{query}.b32 %r4, [%rd0];"
    for query in ("width", "height", "depth"):
        yield f"txq.level.{query}.b32 %r4, [tex0], %r1;"
    for query in ("width", "height", "depth", "channel_data_type", "channel_order", "array_size"):
        yield f"suq.{query}.b32 %r4, [%rd1];"
        yield f"suq.{query}.b32 %r4, [srf0];"
    for kind in ("texref", "samplerref", "surfref"):
        yield f"istypep.{kind} %p0, %rd0;"


SAMPLER_QUERIES = [
    f"txq.{query}.b32 %r4, [smp0];"
    for query in ("force_unnormalized_coords", "filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2")
]
SURFACE_PLACES = {
    "1d": "{%r0}", "2d": "{%r0, %r1}", "3d": "{%r0, %r1, %r2, %r3}", "a1d": "{%r0, %r1}", "a2d": "{%r0, %r1, %r2, %r3}",
}  # fmt: skip
VECTORS = {
    "b8": "{%rs0}", "b16": "{%rs0}", "b32": "{%r4}", "b64": "{%l0}",
    "v2.b8": "{%rs0, %rs1}", "v2.b16": "{%rs0, %rs1}", "v2.b32": "{%r4, %r5}", "v2.b64": "{%l0, %l1}",
    "v4.b8": "{%rs0, %rs1, %rs2, %rs3}", "v4.b16": "{%rs0, %rs1, %rs2, %rs3}", "v4.b32": "{%r4, %r5, %r6, %r7}",
}  # fmt: skip


def surfaces():
    for (geometry, place), (vector, registers), bounds in product(
        SURFACE_PLACES.items(), VECTORS.items(), ("trap", "clamp", "zero")
    ):
        yield f"suld.b.{geometry}.{vector}.{bounds} {registers}, [%rd1, {place}];"
        yield f"sust.b.{geometry}.{vector}.{bounds} [%rd1, {place}], {registers};"
    for cache in ("ca", "cg", "cs", "cv"):
        yield f"suld.b.2d.{cache}.b32.trap {{%r4}}, [srf0, {{%r0, %r1}}];"
    for cache in ("wb", "cg", "cs", "wt"):
        yield f"sust.b.2d.{cache}.b32.trap [srf0, {{%r0, %r1}}], {{%r4}};"
    for geometry, vector, bounds in product(("1d", "2d", "3d"), ("b32", "v2.b32", "v4.b32"), ("trap", "clamp", "zero")):
        yield f"sust.p.{geometry}.{vector}.{bounds} [%rd1, {SURFACE_PLACES[geometry]}], {VECTORS[vector]};"


def reductions():
    types = {
        "add": ("u32", "s32", "u64"),
        "min": ("u32", "s32", "u64", "s64"),
        "max": ("u32", "s32", "u64", "s64"),
        "and": ("b32",),
        "or": ("b32",),
    }
    for geometry, (operation, kinds), bounds in product(("1d", "2d", "3d"), types.items(), ("trap", "clamp", "zero")):
        place = SURFACE_PLACES[geometry]
        for kind in kinds:
            yield (
                f"sured.b.{operation}.{geometry}.{kind}.{bounds} [%rd1, {place}], "
                f"{'%l0' if kind.endswith('64') else '%r4'};"
            )
        yield f"sured.p.{operation}.{geometry}.b32.{bounds} [%rd1, {place}], %r4;"
        if operation in ("min", "max"):
            yield f"sured.p.{operation}.{geometry}.b64.{bounds} [%rd1, {place}], %l0;"


FORMS = [*fetches(), *gathers(), *queries(), *surfaces(), *reductions()]
# In independent mode a fetch names its sampler; the handles are variables, or registers.
INDEPENDENT_FORMS = [
    "tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [tex0, smp0, {%f0, %f1}];",
    "tex.level.3d.v4.s32.f32 {%r4, %r5, %r6, %r7}, [tex0, smp0, {%f0, %f1, %f2, %f3}], %f3;",
    "tld4.g.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [tex0, smp0, {%f0, %f1}];",
    *SAMPLER_QUERIES,
]
REFUSED = {
    "tex.2dms.v4.f32.s32 {%f4, %f5, %f6, %f7}, [%rd0, {%r0, %r1, %r2, %r3}];": "geometry .2dms",
    "tex.a2dms.v4.f32.s32 {%f4, %f5, %f6, %f7}, [%rd0, {%r0, %r1, %r2, %r3}];": "geometry .a2dms",
    "tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd0, {%f0, %f1}], {%r0, %r1};": "texel offset",
    "tld4.r.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd0, {%f0, %f1}], {%r0, %r1};": "texel offset",
    "suq.memory_layout.b32 %r4, [%rd1];": "query",
}

_VARIABLES = ".global .texref tex0;\n.global .surfref srf0;\n"
_SAMPLER = ".global .samplerref smp0 = { addr_mode_0 = clamp_to_border, filter_mode = linear };\n"
_REGISTERS = """
    .reg .pred %p<2>; .reg .f32 %f<8>; .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .b16 %rs<4>; .reg .b64 %l<4>;
    ld.param.u64 %rd0, [p0]; ld.param.u64 %rd1, [p1]; mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 3;
"""
_INITIAL = "".join(
    [f"    mov.b32 %f{k}, 0f3F000000;\n" for k in range(8)] + [f"    mov.b32 %r{k}, 0;\n" for k in range(8)]
    + [f"    mov.b16 %rs{k}, 0;\n    mov.b64 %l{k}, 0;\n" for k in range(4)]
)  # fmt: skip


def ptx_of(forms, independent: bool = False) -> str:
    """A module with one kernel that holds the forms."""
    target = ".version 8.6\n.target sm_80" + (", texmode_independent" if independent else "") + "\n.address_size 64\n"
    variables = _VARIABLES + (_SAMPLER if independent else "")
    body = "".join(f"    {form}\n" for form in forms)
    return (
        f"{target}{variables}.visible .entry k(.param .u64 p0, .param .u64 p1)\n{{{_REGISTERS}{_INITIAL}{body}    "
        f"ret;\n}}\n"
    )
