"""Texture and surface PTX: every form assembles and is what ptxas takes; what is not supported is refused by name;
programs run.
"""

import numpy as np
import pytest

from gpuprof.assemble.ptx.parse import parse
from gpuprof.errors import PtxError, UnsupportedInstruction
from gpuprof.isa.handles import Sampler, bind_word, pack_handle, sampler_of
from tests.forms.texture import FORMS, INDEPENDENT_FORMS, REFUSED, SAMPLER_QUERIES, ptx_of
from tests.support.nvidia_tools import needs_ptxas
from tests.support.ptx_support import assemble_text, ptxas


def test_every_form_assembles():
    for forms, independent in ((FORMS, False), (INDEPENDENT_FORMS, True)):
        for first in range(0, len(forms), 40):
            assemble_text(ptx_of(forms[first : first + 40], independent))


@needs_ptxas
def test_ptxas_takes_them(tmp_path):
    ptxas(tmp_path, ptx_of(FORMS), "sm_80")
    ptxas(tmp_path, ptx_of([form for form in INDEPENDENT_FORMS if form not in SAMPLER_QUERIES], True), "sm_80")


@pytest.mark.parametrize("form", REFUSED)
def test_refused_by_name(form):
    with pytest.raises(UnsupportedInstruction, match=rf"unsupported {REFUSED[form]}.* of {form.split()[0]}"):
        assemble_text(ptx_of([form]))


def test_a_refusal_names_line_and_source():
    form = "tex.2dms.v4.f32.s32 {%f4, %f5, %f6, %f7}, [%rd0, {%r0, %r1, %r2, %r3}];"
    text = ptx_of([form])
    line = next(number for number, written in enumerate(text.splitlines(), 1) if "2dms" in written)
    with pytest.raises(UnsupportedInstruction, match=rf"^k\.ptx:{line}: unsupported geometry"):
        assemble_text(text)


@pytest.mark.parametrize(
    "form, text",
    [
        ("tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd0, {%f0}];", "1 coordinates, expected 2"),
        ("tex.2d.v4.f32.f32 {%f4, %f5}, [%rd0, {%f0, %f1}];", "expected a vector of 4 registers"),
        ("tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd0];", "expected \\[texture, coordinates\\]"),
        ("tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%r0, {%f0, %f1}];", "32-bit register"),
        ("tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [nothing, {%f0, %f1}];", "nothing is not a texture"),
        ("sust.b.1d.v2.b32.trap [%rd1, {%r0}], {%r1};", "1 registers for 2 elements"),
        ("suld.b.1d.b32.trap {%r1}, [%rd1, %rd0, {%r0}];", "a surface has no sampler"),
    ],
)
def test_malformed_operands(form, text):
    with pytest.raises(PtxError, match=text):
        assemble_text(ptx_of([form]))


@pytest.mark.parametrize(
    "variable, text",
    [
        (".global .samplerref s = { filter_mode = cubic };", "filter_mode is one of nearest, linear, not cubic"),
        (".global .samplerref s = { sharpness = 3 };", "unknown field sharpness"),
        (".global .surfref s = { filter_mode = linear };", "no such initial value"),
    ],
)
def test_initial_values_of_samplers_are_checked(variable, text):
    with pytest.raises(PtxError, match=text):
        parse(f".version 8.0\n.target sm_80\n{variable}\n", "k.ptx")


def test_handle_words():
    """Every sampler comes back, and a static one stays when a texture is bound."""
    sampler = Sampler(("mirror", "clamp_to_border", "clamp_to_edge"), "linear", False, "linear")
    assert sampler_of(pack_handle(7, sampler)) == sampler
    static = pack_handle(0, sampler, is_static=True)
    assert bind_word(static, pack_handle(9)) == pack_handle(9, sampler, is_static=True)
    assert bind_word(0, pack_handle(9, sampler)) == pack_handle(9, sampler)
    with pytest.raises(ValueError, match="address mode 7"):
        sampler_of(pack_handle(0) | 7 << 32)


VARIABLES = """
.version 8.6
.target sm_80{mode}
.address_size 64
.global .texref numbers{initial};
.global .samplerref between = {{ addr_mode_0 = clamp_to_edge, filter_mode = linear, force_unnormalized_coords = 1 }};
.global .surfref canvas;
.visible .entry copy(.param .u64 xs, .param .u32 unused)
{{
    .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<8>;
    ld.param.u64 %rd0, [xs];
    mov.u32 %r0, %tid.x;
    shl.b32 %r1, %r0, 2;
    cvt.u64.u32 %rd1, %r1;
    add.s64 %rd0, %rd0, %rd1;
    ld.global.f32 %f0, [%rd0];
    mov.u64 %rd2, numbers;
    tex.1d.v4.f32.f32 {{%f1, %f2, %f3, %f4}}, [{operand}, {{%f0}}];
    sust.b.1d.b32.trap [canvas, {{%r1}}], {{%f1}};
    ret;
}}
"""


def run_variables(tmp_path, **parts):
    import gpuprof

    path = tmp_path / "k.ptx"
    path.write_text(VARIABLES.format(**({"mode": "", "initial": ""} | parts)))
    gpu = gpuprof.Device()
    module = gpu.load(path)
    canvas = gpu.surface(np.zeros(32, np.float32))
    module.bind("numbers", gpu.texture(np.array([1, 2, 4], np.float32), filter="nearest", address="border"))
    module.bind("canvas", canvas)
    module.copy[1, 32](np.arange(32, dtype=np.float32) / 8, 0)
    return canvas.array.copy_to_host()


def test_opaque_variables(tmp_path):
    """A texture bound to a variable is read by its name or its address; a sampler given in the text goes before its
    own.
    """
    xs = np.arange(32) / 8
    nearest = np.where(xs < 3, np.array([1, 2, 4])[np.minimum(np.floor(xs), 2).astype(int)], 0)
    linear = np.interp(xs - 0.5, [0, 1, 2], [1, 2, 4])
    np.testing.assert_array_equal(run_variables(tmp_path, operand="numbers"), nearest)
    np.testing.assert_array_equal(run_variables(tmp_path, operand="%rd2"), nearest)
    initial = " = { addr_mode_0 = clamp_to_edge, filter_mode = linear, normalized_coords = 0 }"
    np.testing.assert_array_equal(run_variables(tmp_path, operand="numbers", initial=initial), linear)
    independent = run_variables(tmp_path, operand="numbers, between", mode=", texmode_independent")
    np.testing.assert_array_equal(independent, linear)


PARAMETERS = """
.version 8.6
.target sm_80
.address_size 64
.visible .entry copy(.param .texref picture, .param .surfref canvas)
{
    .reg .b32 %r<4>; .reg .f32 %f<8>;
    mov.u32 %r0, %tid.x;
    shl.b32 %r1, %r0, 2;
    tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [picture, {%r0}];
    sust.b.1d.b32.trap [canvas, {%r1}], {%f1};
    ret;
}
"""


def test_opaque_parameters(tmp_path):
    import gpuprof

    path = tmp_path / "k.ptx"
    path.write_text(PARAMETERS)
    gpu = gpuprof.Device()
    canvas, numbers = gpu.surface(np.zeros(32, np.float32)), np.random.default_rng(1).random(32, dtype=np.float32)
    gpu.load(path).copy[1, 32](gpu.texture(numbers), canvas)
    np.testing.assert_array_equal(canvas.array.copy_to_host(), numbers)
