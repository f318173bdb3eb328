"""The launch grammar: what texts mean, and the whole message for texts that mean nothing."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from gpuprof.device.images import TextureOptions
from gpuprof.device.launching.argument_values import (
    ArraySpec,
    LaunchRequest,
    NamedArray,
    Null,
    Raw,
    Scalar,
    TensorMapSpec,
)
from gpuprof.device.launching.config import LaunchConfig
from gpuprof.device.launching.launch_text import find_launch_comments, kernel_names, normalised, parse_launch
from gpuprof.errors import UsageError


def test_a_whole_launch():
    text = "saxpy<<<64, 256>>>(16384, 2.0, x: f32[128, 128]=random, y, f64[8])"
    assert parse_launch(text) == LaunchRequest(
        text=text,
        kernel="saxpy",
        config=LaunchConfig((64, 1, 1), (256, 1, 1)),
        arguments=(
            Scalar("16384", 16384),
            Scalar("2.0", 2.0),
            ArraySpec("x: f32[128, 128]=random", "x", "f32", (128, 128), "random"),
            NamedArray("y", "y"),
            ArraySpec("f64[8]", "", "f64", (8,), "zeros"),
        ),
    )


@pytest.mark.parametrize(
    ("config", "meaning"),
    [
        ("64, 256", ((64, 1, 1), (256, 1, 1), 0, 0)),
        ("(8, 9), (16, 4, 2)", ((8, 9, 1), (16, 4, 2), 0, 0)),
        ("dim3(8, 9), dim3(16)", ((8, 9, 1), (16, 1, 1), 0, 0)),
        ("1024/256, 0x20", ((4, 1, 1), (32, 1, 1), 0, 0)),
        ("(1000+255)/256, 256", ((4, 1, 1), (256, 1, 1), 0, 0)),
        ("((1000+255)/256, 2*3-1), (32, 1+1)", ((4, 5, 1), (32, 2, 1), 0, 0)),
        ("(4), (64)", ((4, 1, 1), (64, 1, 1), 0, 0)),
        ("1, 32, 4*256, 2", ((1, 1, 1), (32, 1, 1), 1024, 2)),
        (" 1 ,\t32 ", ((1, 1, 1), (32, 1, 1), 0, 0)),
        ("1, 32, cache=cold", ((1, 1, 1), (32, 1, 1), 0, 0, None, False, "cold")),
        ("1, 32, 0, 2, dependent, cache = warm, repeat=2*5", ((1, 1, 1), (32, 1, 1), 0, 2, None, True, "warm", 10)),
        ("1, 32, 8, cluster=4, repeat=3", ((1, 1, 1), (32, 1, 1), 8, 0, (4, 1, 1), False, "", 3)),
        ("0, -1", ((0, 1, 1), (-1, 1, 1), 0, 0)),  # whether that can be launched is for the chip to say
    ],
)
def test_configurations(config, meaning):
    request = parse_launch(f"k<<<{config}>>>()")
    assert request.config == LaunchConfig(*meaning)


@pytest.mark.parametrize(
    ("argument", "meaning"),
    [
        ("16384", Scalar("16384", 16384)),
        ("-1", Scalar("-1", -1)),
        ("0x10", Scalar("0x10", 16)),
        ("7u", Scalar("7u", 7)),
        ("2.0f", Scalar("2.0f", 2.0)),
        (".5", Scalar(".5", 0.5)),
        ("1e-3", Scalar("1e-3", 0.001)),
        ("-inf", Scalar("-inf", float("-inf"))),
        ("7/2", Scalar("7/2", 3)),
        ("-7/2", Scalar("-7/2", -3)),  # C truncates
        ("-7//2", Scalar("-7//2", -4)),
        ("7/2.0", Scalar("7/2.0", 3.5)),
        ("2*(3+4)-1", Scalar("2*(3+4)-1", 13)),
        ("10-3-2", Scalar("10-3-2", 5)),
        ("18446744073709551615", Scalar("18446744073709551615", (1 << 64) - 1)),
        ("true", Scalar("true", True)),
        ("false", Scalar("false", False)),
        ("null", Null()),
        ("nullptr", Null()),
        ("hex:0000803F", Raw("hex:0000803F", b"\x00\x00\x80\x3f")),
        ("f32(1, -2)", Raw("f32(1, -2)", b"\x00\x00\x80\x3f\x00\x00\x00\xc0")),
        ("f16(1.5)", Raw("f16(1.5)", b"\x00\x3e")),
        ("bf16(1.0)", Raw("bf16(1.0)", b"\x80\x3f")),
        ("i8(-1, 127)", Raw("i8(-1, 127)", b"\xff\x7f")),
        ("u8[4*4]=arange", ArraySpec("u8[4*4]=arange", "", "u8", (16,), "arange")),
        ("in: i64[2,3,4] = ones", ArraySpec("in: i64[2,3,4] = ones", "in", "i64", (2, 3, 4), "ones")),
        ("f16[4]=data/weights-1.npy", ArraySpec("f16[4]=data/weights-1.npy", "", "f16", (4,), "data/weights-1.npy")),
        ('f16[4]="my data (1).npy"', ArraySpec('f16[4]="my data (1).npy"', "", "f16", (4,), "my data (1).npy")),
        ("hex", NamedArray("hex", "hex")),
        ("hex: f32[4]", ArraySpec("hex: f32[4]", "hex", "f32", (4,), "zeros")),
        ("f", NamedArray("f", "f")),
    ],
)
def test_arguments(argument, meaning):
    assert parse_launch(f"k<<<1, 1>>>({argument})").arguments == (meaning,)
    assert parse_launch(f"k<<<1, 1>>>( {argument} , 1 );").arguments == (meaning, Scalar("1", 1))


@pytest.mark.parametrize(
    ("kernel", "meaning"),
    [
        ("saxpy", "saxpy"),
        ("_Z5saxpyifPKfPf", "_Z5saxpyifPKfPf"),
        ("scan<256>", "scan<256>"),
        ("ns::inner::scan< 256,float >", "ns::inner::scan<256, float>"),
        ("scan<Pair<int, float>>", "scan<Pair<int, float>>"),
        ("scan<Pair<int, 4> >", "scan<Pair<int, 4>>"),
        ("scan<unsigned  int>", "scan<unsigned int>"),
        ("scan<(1 > 2), const float *>", "scan<(1>2), const float*>"),
        ("Box<int>::run<4>", "Box<int>::run<4>"),
    ],
)
def test_kernel_names(kernel, meaning):
    assert parse_launch(f"{kernel}<<<1, 1>>>()").kernel == meaning
    assert normalised(meaning) == meaning


ELEMENT_NAMES = "f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64"


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 0, "expected a kernel, as in `saxpy<<<64, 256>>>(...)`"),
        ("saxpy", 5, "expected '<<<'"),
        ("saxpy(1)", 5, "expected '<<<'"),
        ("k<4<<<1, 1>>>()", 1, "the template arguments are not closed"),
        ("k<(4>><<<1, 1>>>()", 1, "the template arguments are not closed"),
        ("k<4)><<<1, 1>>>()", 3, "')' closes nothing"),
        ("k<4;><<<1, 1>>>()", 3, "';' cannot be part of a template argument"),
        ("k<4>; f<<<1, 1>>>()", 4, "expected '<<<'"),
        ("k<<<1 256>>>()", 6, "expected ',' between grid and block"),
        ("k<<<1>>>()", 5, "expected ',' between grid and block"),
        ("k<<<1, 2.5>>>()", 7, "the block must be an integer, not 2.5"),
        ("k<<<(1,2,3,4), 1>>>()", 4, "the grid has at most 3 dimensions, not 4"),
        ("k<<<(1,2, 1>>>()", 11, "expected ')' after the grid"),
        ("k<<<n, 1>>>()", 4, "expected a number"),
        ("k<<<1/0, 1>>>()", 7, "division by zero"),
        ("k<<<1, 1, cache>>>()", 15, "expected '=' and one of cold, warm, keep"),
        ("k<<<1, 1, cache=hot>>>()", 16, "expected one of cold, warm, keep"),
        ("k<<<1, 1, repeat=0>>>()", 17, "the number of timings is 1 to 10,000, not 0"),
        ("k<<<1, 1, repeat=2, cache=cold>>>()", 20, "expected one of cluster, dependent, cache, repeat, in this order"),
        ("k<<<1, 1>>()", 8, "expected '>>>'"),
        ("k<<<1, 1>>>", 11, "expected '(' before the kernel's arguments"),
        ("k<<<1, 1>>>(1", 13, "expected ')' after the kernel's arguments"),
        ("k<<<1, 1>>>(1,)", 14, "expected a number"),
        (
            "k<<<1, 1>>>() x",
            14,
            "nothing may follow the launch; a comparison comes after a semicolon, as in ; y == ref.npy",
        ),
        ("k<<<1, 1>>>(64x)", 14, "'x' cannot follow a number"),
        ("k<<<1, 1>>>(010)", 12, "a leading 0 means octal in C; write the number in decimal or as 0x..."),
        ("k<<<1, 1>>>(1e999)", 12, "1e999 is too large for a double; write inf if that is intended"),
        ("k<<<1, 1>>>(1e308*10)", 20, "the number is too large for a double"),
        ("k<<<1, 1>>>(99999999999999999999)", 12, "the number does not fit into 64 bits"),
        ("k<<<1, 1>>>(f32[0])", 16, "an array's extent is at least 1, not 0"),
        ("k<<<1, 1>>>(f32)", 15, "expected '[' and a shape, as in f32[1024]"),
        ("k<<<1, 1>>>(f33[4])", 12, f"unknown element type f33; known: {ELEMENT_NAMES}"),
        ("k<<<1, 1>>>(x: float[4])", 15, f"expected an element type, one of {ELEMENT_NAMES}"),
        ("k<<<1, 1>>>(f32: f32[4])", 12, "f32 is an element type and cannot name an array"),
        ("k<<<1, 1>>>(f32[4]=twos)", 19, "expected zeros, ones, arange, random or a .npy file"),
        ("k<<<1, 1>>>(f32[4]=)", 19, "expected zeros, ones, arange, random or a .npy file"),
        ("k<<<1, 1>>>(u8(256))", 12, "256 does not fit into u8 (0 to 255)"),
        ("k<<<1, 1>>>(i32(2.5))", 12, "expected an integer, got 2.5"),
        ("k<<<1, 1>>>(f16(1e9))", 12, "1000000000.0 does not fit into f16 (largest 65504.0)"),
        ("k<<<1, 1>>>(hex:123)", 12, "hex: takes two digits for each byte"),
        ("k<<<1, 1>>>(" + "-" * 60 + "1)", 62, "more than 50 levels of signs and parentheses"),
    ],
)
def test_errors(text, column, message):
    with pytest.raises(UsageError) as caught:
        parse_launch(text)
    assert str(caught.value) == f"launch: {message}\n    {text}\n    {' ' * column}^"


def test_an_error_says_where_and_keeps_control_characters_out():
    with pytest.raises(UsageError) as caught:
        parse_launch("k<<<1,\x1b[31m 1>>>()", "saxpy.cu:3")
    assert str(caught.value) == "saxpy.cu:3: expected a number\n    k<<<1, [31m 1>>>()\n          ^"


def test_launch_comments():
    source = """\
// A kernel. The text LAUNCH: in prose is none.
// LAUNCH: a<<<1, 32>>>(1)
  //LAUNCH:  b<<<2, 32>>>(2)\t\r
# LAUNCH: c<<<3, 32>>>(3)
int x = 1; // LAUNCH: d<<<4, 32>>>(4)
// LAUNCH:
"""
    assert find_launch_comments(source) == [
        (2, "a<<<1, 32>>>(1)"),
        (3, "b<<<2, 32>>>(2)"),
        (4, "c<<<3, 32>>>(3)"),
        (6, ""),
    ]


def test_kernel_names_once_each():
    requests = [parse_launch(f"{name}<<<1, 1>>>()") for name in ("b<1, 2>", "a", "b<1,2>", "c")]
    assert kernel_names(requests) == ["b<1, 2>", "a", "c"]


PIECES = ["k", "<<<", ">>>", "<", ">", "(", ")", ",", ", ", "64", "f32", "[", "]", "=", "random", "x: ", ":", "::", "-",
    "/", "+", "*",
          "2.5", "0x", "hex:", "null", "true", "inf", "dim3", '"', ".npy", " ", "\n", "é", "\x00", "1e400",
          "tensormap(box=", "swizzle=",
          "9" * 50]  # fmt: skip


@settings(max_examples=600)
@given(
    st.one_of(
        st.text(),
        st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
        st.lists(st.sampled_from(PIECES)).map(lambda p: f"k<<<1,1>>>({''.join(p)})"),
    )
)
def test_fuzz_any_text_is_a_launch_or_an_error(text):
    try:
        request = parse_launch(text)
    except UsageError as error:
        assert str(error).startswith("launch: ")
    else:
        assert parse_launch(request.text) == request


@pytest.mark.parametrize(
    "text, geometry, is_surface, options",
    [
        ("tex2d f32[8,4]=random", "2d", False, {}),
        ("tex1d(linear) x: f32[8]", "1d", False, {"filter": "linear"}),
        ("tex3d(linear, wrap, clamp, border, normalized) x", "3d", False,
         {"filter": "linear", "address": ("wrap", "clamp", "border"), "normalized": True}),
        ("texcubelayered(normalizedfloat, srgb, mirror) u8[2,6,4,4]", "acube", False,
         {"read": "normalized", "srgb": True, "address": ("mirror",)}),
        ("surf2dlayered out: i32[2,8,4]", "a2d", True, {}),
    ],
)  # fmt: skip
def test_textures_and_surfaces(text, geometry, is_surface, options):
    argument = parse_launch(f"k<<<1, 1>>>({text})").arguments[0]
    assert (argument.text, argument.is_surface) == (text, is_surface)
    assert argument.options == TextureOptions(geometry, **options)


def test_a_word_that_is_also_a_texture_can_name_an_array():
    assert parse_launch("k<<<1, 1>>>(tex2d: f32[4], tex2d)").arguments[1] == NamedArray("tex2d", "tex2d")


MATRIX = ArraySpec("a: f32[64,96]", "a", "f32", (64, 96))


@pytest.mark.parametrize(
    "text, meaning",
    [
        ("tensormap(box=(64, 32)) a: f32[64,96]", TensorMapSpec("", MATRIX, (64, 32))),
        ("tensormap(box=64) a", TensorMapSpec("", NamedArray("a", "a"), (64,))),
        ("tensormap(box=(8, 4*2), swizzle=32, element=f32.ftz, steps=(1, 2), fill=nan) a: f32[64,96]",
         TensorMapSpec("", MATRIX, (8, 8), 32, "f32.ftz", (1, 2), True)),
        ("tensormap(box=(8, 8), fill=zeros, swizzle=0) a: f32[64,96]", TensorMapSpec("", MATRIX, (8, 8))),
    ],
)  # fmt: skip
def test_tensor_maps(text, meaning):
    assert parse_launch(f"k<<<1, 1>>>({text})").arguments == (replace(meaning, text=text),)


def test_a_tensor_map_is_also_a_name():
    assert parse_launch("k<<<1, 1>>>(tensormap: f32[4], tensormap)").arguments[1] == NamedArray(*["tensormap"] * 2)


@pytest.mark.parametrize(
    "text, message",
    [
        ("tensormap(64) a", "expected 'box' and the box that a copy moves"),
        ("tensormap(box=64, swizzle=48) a", "the swizzle is one of 0, 32, 64, 128, not 48"),
        ("tensormap(box=64, colour=1) a", "expected one of swizzle, element, steps, fill"),
        ("tensormap(box=64, element=f24) a", "expected one of u8, u16"),
        ("tensormap(box=64, fill=7) a", "expected one of zeros, nan"),
        ("tensormap(box=(8, 8)) 4", "expected an array, as in tensormap(box=(64, 32)) f32[1024,1024]"),
        ("tensormap(box=(8, 8) a", "expected ')'"),
    ],
)
def test_tensor_maps_that_are_none(text, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        parse_launch(f"k<<<1, 1>>>({text})")


@pytest.mark.parametrize(
    "text, message",
    [
        ("tex2d(cubic) f32[4,4]", "expected one of nearest, linear"),
        ("surf2d(linear) f32[4,4]", "a surface takes no words"),
        ("tex2d(linear) 4", "expected an array"),
        ("tex2d(linear) f32(1, 2)", "expected an array"),
        ("tex4d f32[4]", "expected ')'"),
    ],
)
def test_textures_that_are_none(text, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        parse_launch(f"k<<<1, 1>>>({text})")
