"""Arguments against parameters: the bytes of the parameter block, and the whole text of each refusal."""

import struct
from dataclasses import replace

import pytest

from gpuprof.chips import load_chip
from gpuprof.device.kernels import find_kernel
from gpuprof.device.launching.argument_values import Null, Raw, Scalar
from gpuprof.device.launching.bind import ArrayValue, parameter_block, signature, use
from gpuprof.device.launching.launch_text import parse_launch
from gpuprof.device.launching.limits import check_limits
from gpuprof.errors import UsageError
from gpuprof.isa.program import Function, Param, Program

INPUT = {"is_pointer": True, "is_read": True, "is_written": False}
SAXPY = Function(
    "_Z5saxpyifPKfPf",
    "saxpy",
    0,
    1,
    True,
    (
        Param("n", "u32", 0, 4, 4),
        Param("a", "f32", 4, 4, 4),
        Param("x", "u64", 8, 8, 8, element="f32", **INPUT),
        Param("y", "u64", 16, 8, 8, is_pointer=True, element="f32"),
    ),
)
X = ArrayValue(0x7_0000_0000, "f32", 4096)


def kernel(*params: Param) -> Function:
    return Function("k", "k", 0, 1, True, params)


def scalar(text: str) -> Scalar:
    return parse_launch(f"k<<<1, 1>>>({text})").arguments[0]


def message(function: Function, *values) -> str:
    with pytest.raises(UsageError) as caught:
        parameter_block(function, values)
    return str(caught.value)


def test_the_parameter_block():
    block = parameter_block(SAXPY, [scalar("-2"), scalar("2"), X, ArrayValue(0x7_0000_2000, "f32", 4096)])
    assert block == struct.pack("<ifQQ", -2, 2.0, 0x7_0000_0000, 0x7_0000_2000)


def test_padding_between_parameters_is_zero():
    function = kernel(Param("flag", "u8", 0, 1, 1), Param("x", "f64", 8, 8, 8), Param("s", "s16", 16, 2, 2))
    assert parameter_block(function, [scalar("true"), scalar("0.5"), scalar("-1")]) == struct.pack("<B7xdh", 1, 0.5, -1)


@pytest.mark.parametrize(
    ("type", "nbytes", "text", "packed"),
    [
        ("u32", 4, "-1", b"\xff\xff\xff\xff"),  # PTX says u32 for int, too
        ("u32", 4, "4294967295", b"\xff\xff\xff\xff"),
        ("b32", 4, "7", b"\7\0\0\0"),
        ("s8", 1, "-128", b"\x80"),
        ("u8", 1, "255", b"\xff"),
        ("u64", 8, "18446744073709551615", b"\xff" * 8),
        ("u32", 4, "8.0", b"\x08\0\0\0"),
        ("f16", 2, "1.5", b"\x00\x3e"),
        ("f32", 4, "0.1", struct.pack("<f", 0.1)),
        ("f32", 4, "-inf", struct.pack("<f", -float("inf"))),
        ("f64", 8, "3", struct.pack("<d", 3)),
        ("b8", 16, "f32(1, 2, 3, 4)", struct.pack("<4f", 1, 2, 3, 4)),
        ("b8", 3, "hex:0a0B0c", b"\x0a\x0b\x0c"),
        ("b16", 2, "f16(1.5)", b"\x00\x3e"),
        ("u64", 8, "null", bytes(8)),
    ],
)
def test_values_by_type(type, nbytes, text, packed):
    assert parameter_block(kernel(Param("p", type, 0, nbytes, nbytes)), [scalar(text)]) == packed


@pytest.mark.parametrize(
    ("param", "value", "text"),
    [
        (Param("a", "f32", 0, 4, 4), X, "argument 1 (float a): expected a number, got an array"),
        (Param("a", "f32", 0, 4, 4), Null(), "argument 1 (float a): expected a value, got null"),
        (Param("a", "f32", 0, 4, 4), scalar("1e39"), "argument 1 (float a): 1e+39 does not fit into f32 (largest "
            "3.4028234663852886e+38)"),
        (Param("a", "f32", 0, 4, 4), Raw("hex:00", b"\0"), "argument 1 (float a): expected 4 bytes, got the 1 of "
            "hex:00"),
        (Param("n", "u32", 0, 4, 4), scalar("2.5"), "argument 1 (int n): expected an integer, got 2.5"),
        (Param("n", "u32", 0, 4, 4), scalar("inf"), "argument 1 (int n): expected an integer, got inf"),
        (Param("n", "u32", 0, 4, 4), scalar("nan"), "argument 1 (int n): expected an integer, got nan"),
        (Param("n", "u32", 0, 4, 4), scalar("4294967296"), "argument 1 (int n): 4294967296 does not fit into 32 bits "
            "(-2147483648 to 4294967295)"),
        (Param("c", "u8", 0, 1, 1), scalar("300"), "argument 1 (char c): 300 does not fit into 8 bits (-128 to 255)"),
        (Param("c", "s8", 0, 1, 1), scalar("128"), "argument 1 (char c): 128 does not fit into 8 bits (-128 to 127)"),
        (Param("v", "b8", 0, 16, 16), scalar("1"), "argument 1 (16-byte struct v): expected 16 bytes, as in f32(1.0, "
            "2.0) or hex:00000000..., got the number 1"),
        (Param("v", "b8", 0, 16, 16), X, "argument 1 (16-byte struct v): expected 16 bytes, got an array"),
        (Param("x", "u64", 0, 8, 8, element="f32", **INPUT), scalar("1"), "argument 1 (const float *x): "
            "expected an array, got the number 1"),
        (Param("x", "u64", 0, 8, 8, is_pointer=True), Raw("hex:00", b"\0"), "argument 1 (void *x): expected "
            "an array, got the bytes hex:00"),
        (Param("x", "u64", 0, 8, 8, is_pointer=True, element="f64"), X, "argument 1 (double *x): expected "
            "an array of double, got float (f32)"),
        (Param("x", "u64", 0, 8, 8, is_pointer=True, element="s32"), X, "argument 1 (int *x): expected "
            "an array of int, got float (f32)"),
        (
            Param("x", "u64", 0, 8, 8, is_pointer=True, element="f32"),
            ArrayValue(0, "i32", 4),
            "argument 1 (float *x): expected an array of float, got int (i32)",
        ),
    ],
)  # fmt: skip
def test_refusals(param, value, text):
    assert message(kernel(param), value) == f"k: {text}"


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        ("", "f32"),
        ("f32", ""),
        ("s32", "u32"),
        ("u32", "i32"),
        ("b32", "f32"),
        ("b16", "f16"),
        ("u16", "f16"),
        ("bf16", "u16"),
        ("Particle", "f32"),
    ],
)
def test_arrays_that_fit(wanted, given):
    param = Param("x", "u64", 0, 8, 8, is_pointer=True, element=wanted)
    assert parameter_block(kernel(param), [ArrayValue(0x7_0000_0000, given, 64)]) == struct.pack("<Q", 0x7_0000_0000)


def test_counts_and_signatures():
    assert (
        message(SAXPY, X, X, X)
        == "saxpy takes 4 parameters (int n, float a, const float *x, float *y) but 3 were given"
    )
    assert message(kernel(), X) == "k takes no parameters but 1 was given"
    assert (
        message(kernel(Param("k_param_0", "u64", 0, 8, 8, element="f64", **INPUT)))
        == "k takes 1 parameter (const double *) but 0 were given"
    )
    nameless = kernel(Param("k_param_0", "u32", 0, 4, 4), Param("_Z1kPf_param_1", "u64", 8, 8, 8, is_pointer=True))
    assert signature(nameless) == "k takes 2 parameters (int, void *)"
    assert message(nameless, X, X) == "k: argument 1 (int): expected a number, got an array"


def test_use():
    assert [use(Param("p", "u64", 0, 8, 8, True, "", read, written)) for read in (True, False) for written in (True,
        False)] == [
        "inout", "in", "out", "unused",
    ]  # fmt: skip


def kernels(*displays: str) -> Program:
    functions = tuple(Function(f"_Z{index}", display, index, 1, True) for index, display in enumerate(displays))
    return Program("m.cu", None, (*functions, Function("helper", "helper", 9, 1, False)), (), (), "", None, ())


@pytest.mark.parametrize("name", ["ns::scan<256, float>", "ns::scan<256,float>", "scan<256, float>", "_Z1"])
def test_finding_a_kernel(name):
    assert find_kernel(kernels("saxpy", "ns::scan<256, float>", "b::copy<ns::T>"), name).name == "_Z1"


@pytest.mark.parametrize(
    ("name", "display"),
    [
        ("scan2<>", "scan2<256>"),
        ("scan<256>", "scan<256, float>"),  # the second has a default
        ("scan<256, unsigned>", "scan<256, unsigned int>"),
        ("scan<256u>", "scan<256U, float>"),
        ("scan<uint8_t>", "ns::scan<unsigned char>"),
        ("scan<Pair<int, 4>, 1>", "scan<Pair<int, 4>, 1>"),
        ("scan<Pair<int, 4>>", "scan<Pair<int, 4>, 1>"),
        ("Box<int>::run", "Box<int>::run<4>"),
    ],
)
def test_a_template_instance_by_another_spelling(name, display):
    assert find_kernel(kernels("scan<1, float>", display), name).display == display


@pytest.mark.parametrize(
    ("program", "name", "text"),
    [
        (kernels("saxpy", "scale"), "saxpi", "m.cu has no kernel saxpi; it has saxpy, scale. Did you mean saxpy?"),
        (kernels("saxpy", "scale"), "helper", "m.cu has no kernel helper; it has saxpy, scale"),
        (kernels(), "saxpy", "m.cu has no kernel saxpy; it has no kernels at all"),
        (kernels("scan"), "scan>", "m.cu has no kernel scan>; it has scan. Did you mean scan?"),
        (kernels("scan<8, float>"), "scan<2*4>", "m.cu has no kernel scan<2*4>; it has scan<8, float>"),
        (
            kernels("scan<4, float>", "scan<4, int>"),
            "scan<4>",
            "m.cu has 2 kernels called scan<4>; name one by its symbol: _Z0, _Z1",
        ),
        (kernels("a::f", "b::f", "c"), "f", "m.cu has 2 kernels called f; name one by its symbol: _Z0, _Z1"),
    ],
)
def test_kernels_not_found(program, name, text):
    with pytest.raises(UsageError) as caught:
        find_kernel(program, name)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("properties", "grid", "block", "shared", "text"),
    [
        ({}, (0, 1, 1), (32, 1, 1), 0, "the grid's x extent is 0; it must be 1 to 2147483647"),
        ({}, (1, 65536, 1), (32, 1, 1), 0, "the grid's y extent is 65536; it must be 1 to 65535"),
        ({}, (1, 1, 1), (32, 1, -1), 0, "the block's z extent is -1; it must be 1 to 64"),
        ({}, (1, 1, 1), (64, 32, 1), 0, "a block of 64x32x1 has 2048 threads; a100 allows 1024"),
        ({}, (1, 1, 1), (32, 1, 1), -4, "-4 bytes of shared memory; it must not be negative"),
        (
            {"shared_nbytes": 1024},
            (1, 1, 1),
            (32, 1, 1),
            166000,
            "167024 bytes of shared memory per block (1024 static, 166000 dynamic); a100 allows 166912",
        ),
        (
            {"required_threads": (16, 16, 1)},
            (1, 1, 1),
            (256, 1, 1),
            0,
            "a block of 256x1x1; the kernel was compiled for blocks of exactly 16x16x1 (.reqntid)",
        ),
        (
            {"max_threads": 128},
            (1, 1, 1),
            (256, 1, 1),
            0,
            "a block of 256x1x1 has 256 threads; the kernel was compiled for at most 128 (__launch_bounds__)",
        ),
        (
            {"registers": 85},  # rounded up to 88 by the allocation of 256 registers at a time
            (1, 1, 1),
            (768, 1, 1),
            0,
            "768 threads of 85 registers take 67584; a multiprocessor of a100 has 65536. Launch smaller blocks, or "
            "compile for fewer registers",
        ),
    ],
)
def test_limits(properties, grid, block, shared, text):
    with pytest.raises(UsageError) as caught:
        check_limits(Function("k", "k", 0, 1, True, **properties), grid, block, shared, load_chip("a100"))
    assert str(caught.value) == f"k: {text}"


def test_launches_at_the_limits():
    biggest = Function(
        "k", "k", 0, 1, True, registers=64, shared_nbytes=1024, max_threads=1024, required_threads=(32, 32, 1)
    )
    grid, block, shared_nbytes, a100 = ((1 << 31) - 1, 65535, 65535), (32, 32, 1), 166912 - 1024, load_chip("a100")
    assert check_limits(biggest, grid, block, shared_nbytes, a100) is None
    for over in ((1 << 31, 65535, 65535), ((1 << 31) - 1, 65536, 65535), ((1 << 31) - 1, 65535, 65536)):
        with pytest.raises(UsageError):
            check_limits(biggest, over, block, shared_nbytes, a100)
    for larger, threads, nbytes in (
        (biggest, (32, 32, 2), shared_nbytes),
        (biggest, block, shared_nbytes + 1),
        (replace(biggest, registers=65), block, shared_nbytes),
    ):
        with pytest.raises(UsageError):
            check_limits(larger, grid, threads, nbytes, a100)
