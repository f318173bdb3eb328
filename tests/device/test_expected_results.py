"""Results of launches as text: which array a name means, what it is compared with, what is said and saved.

Every kernel is saxpy, y += a * x, carried out by numpy.
"""

import re
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gpuprof.base.compared_results import Result
from gpuprof.chips import load_chip
from gpuprof.device import commands as cmd
from gpuprof.device.api import Device
from gpuprof.device.elements import bfloat16_bits
from gpuprof.device.launching.argument_values import ArrayName, Expected, RequestedResults, Saved
from gpuprof.device.launching.expected_results import parse_comparison, parse_expected, parse_saved
from gpuprof.device.launching.launch_text import parse_launch
from gpuprof.device.requests import run_requests
from gpuprof.errors import UsageError
from gpuprof.isa.program import Param
from tests.support.device_support import AXPY, FakeExecutor

ADD = "saxpy<<<1, 32>>>(4, 2.0, x: f32[4]=arange, y: f32[4]=ones)"  # y is 1 3 5 7
AGAIN = "saxpy<<<1, 32>>>(4, 2.0, x, y)"  # and then 1 5 9 13


def results(*launches: str, expect=(), save=(), folder=Path(), executor=None, **tolerances) -> list[Result]:
    gpu = Device(executor or FakeExecutor(), load_chip("a100"))
    wanted = RequestedResults(
        tuple(parse_expected(text, "--expect") for text in expect),
        tuple(parse_saved(text, "--save") for text in save),
        folder=folder,
        **tolerances,
    )
    requests = [parse_launch(text, f"axpy.cu:{line}") for line, text in enumerate(launches, 1)]
    return run_requests(gpu, gpu.load("axpy.cu"), requests, folder=folder, requested=wanted).results


def complaint(*launches: str, **options) -> str:
    executor = FakeExecutor()
    with pytest.raises(UsageError) as caught:
        results(*launches, executor=executor, **options)
    assert executor.n_launches == 0  # it comes before anything has run
    return str(caught.value)


@pytest.fixture
def folder(tmp_path):
    np.save(tmp_path / "once.npy", np.array([1, 3, 5, 7], np.float32))
    np.save(tmp_path / "twice.npy", np.array([1, 5, 9, 13]))
    return tmp_path


# Texts.


def test_comparisons_as_text():
    name = ArrayName("y", "y")
    assert parse_expected("y=ref.npy", "p") == Expected(name, "ref.npy", "ref.npy")
    assert parse_expected(" y == /a/b/ref.npy ", "p") == Expected(name, "/a/b/ref.npy", "ref.npy")
    assert parse_expected("y=3/2.0", "p") == Expected(name, 1.5, "3/2.0")
    assert parse_expected("y=-inf", "p").reference == float("-inf")
    assert parse_expected('y="a b;c.npy"', "p").reference == "a b;c.npy"
    assert parse_expected("ns::scan<256, float>#2.y=zeros", "p").array == ArrayName(
        "ns::scan<256, float>#2.y", "y", "ns::scan<256, float>", 2
    )
    assert parse_expected("scan.4=zeros", "p").array == ArrayName("scan.4", "4", "scan")
    assert parse_comparison("y == ref.npy, rtol=1e-3, atol=0;", "p") == Expected(name, "ref.npy", "ref.npy", 1e-3, 0.0)
    assert parse_saved("k#1.y= out.npy", "p") == Saved(ArrayName("k#1.y", "y", "k", 1), Path("out.npy"))
    request = parse_launch(f"{ADD}; y == ref.npy, atol=1; x == 2 ;")
    assert [each.array.text for each in request.expected] == ["y", "x"]
    assert request.text == ADD  # a launch is recorded the same with its comparisons and without
    assert parse_launch(ADD).expected == ()


@pytest.mark.parametrize(
    ("parse", "text", "column", "message"),
    [
        (parse_expected, "ref.npy", 0, "expected the name of an array, as in y=ref.npy or saxpy#2.y=ref.npy"),
        (parse_expected, "y#0.x=1", 0, "expected the name of an array, as in y=ref.npy or saxpy#2.y=ref.npy"),
        (parse_expected, "y=random", 2, "expected zeros, ones, arange, a number or a .npy file"),
        (parse_expected, "y=", 2, "expected zeros, ones, arange, a number or a .npy file"),
        (
            parse_expected,
            "y=r.npy, rtol=1",
            7,
            "nothing may follow the expected values; --rtol and --atol give tolerances",
        ),
        (parse_comparison, "y = r.npy", 2, "expected '==' and the expected values"),
        (parse_comparison, "y == r.npy, tol=1", 12, "expected rtol=NUMBER or atol=NUMBER"),
        (parse_comparison, "y == r.npy, rtol=1, rtol=1", 20, "expected rtol=NUMBER or atol=NUMBER"),
        (parse_comparison, "y == r.npy, rtol=-1", 17, "a tolerance is a finite number from 0 on, not -1.0"),
        (parse_comparison, "y == r.npy, atol=inf", 17, "a tolerance is a finite number from 0 on, not inf"),
        (parse_comparison, "y == r.npy z", 11, "nothing may follow the comparison"),
        (parse_saved, "y= ", 3, "expected the name of a file"),
    ],
)
def test_errors_in_texts(parse, text, column, message):
    with pytest.raises(UsageError) as caught:
        parse(text, "p")
    assert str(caught.value) == f"p: {message}\n    {text}\n    {' ' * column}^"


# Which array.


def test_an_array_is_compared_after_all_launches_or_after_its_own(folder):
    assert results(
        f"{ADD}; y == once.npy",
        AGAIN,
        expect=["y=twice.npy", "saxpy#1.y=once.npy", "saxpy#2.y=twice.npy", "saxpy#1.4=once.npy", "x=arange"],
        folder=folder,
    ) == [
        Result(0, "y", "once.npy", 4, 0, "1e-05", "0"),
        Result(0, "saxpy#1.y", "once.npy", 4, 0, "1e-05", "0"),
        Result(0, "saxpy#1.4", "once.npy", 4, 0, "1e-05", "0"),
        Result(1, "saxpy#2.y", "twice.npy", 4, 0, "1e-05", "0"),
        Result(1, "y", "twice.npy", 4, 0, "1e-05", "0"),
        Result(1, "x", "arange", 4, 0, "1e-05", "0"),
    ]


def test_a_parameter_names_the_array_that_it_gets():
    unnamed = "saxpy<<<1, 32>>>(4, 2.0, f32[4]=ones, f32[4]=ones)"
    assert not results(f"{unnamed}; y == 3", expect=["y=3", "saxpy.y=3", "4=3", "saxpy#1.x=1"])[-1].is_wrong
    swapped = "saxpy<<<1, 32>>>(4, 2.0, y: f32[4]=ones, x: f32[4]=zeros)"
    assert [each.differ for each in results(swapped, expect=["y=1", "x=2"])] == [0, 0]  # arrays' names go first


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ("sum=1", "--expect: no launch has an array sum; named are: x, sums. Did you mean sums?"),
        (
            "out=1",
            "--expect: no launch has an array out; named are: x, sums; name it in the launch, as in y: f32[1024]",
        ),
        ("n=1", "--expect: n is 4 in the launch of saxpy, not an array"),
        ("2=1", "--expect: 2 is 2.0 in the launch of saxpy, not an array"),
        (
            "y=1",
            "--expect y: 2 launches have such an array; name one: saxpy#1.y, ns::other#1.y",
        ),
        ("saxpi.y=1", "--expect saxpi.y: no launch is of a kernel saxpi; there are: saxpy, ns::other"),
        ("saxpy#3.y=1", "--expect saxpy#3.y: saxpy is launched 1 time"),
    ],
)
def test_names_that_mean_nothing_or_too_much(expect, message):
    found = complaint(
        "saxpy<<<1, 32>>>(4, 2.0, x: f32[4]=arange, sums: f32[4])",
        "ns::other<<<1, 32>>>(4, 2.0, x, f32[4])",
        expect=[expect],
    )
    assert found == message


def test_a_comment_cannot_name_an_array_that_comes_later():
    text = complaint(f"{ADD.replace('y:', 'z:')}; out == 1", ADD.replace("x:", "w:").replace("y:", "out:"))
    assert text.startswith("axpy.cu:1: no launch has an array out; named are: x, z")


def test_on_another_stream_an_array_is_read_in_the_end():
    """Nobody waits for such a launch, and to wait would change what runs together."""
    on_stream = AGAIN.replace("1, 32", "1, 32, 0, 1")
    executor = FakeExecutor()
    reads = AGAIN.replace(", y)", ", z: f32[4])")
    found = results(ADD, f"{on_stream}; y == 1", reads, expect=["saxpy#2.x=arange"], executor=executor)
    assert [(each.name, each.launch) for each in found] == [("y", 2), ("saxpy#2.x", 2)]
    kinds = [type(command) for command in executor.commands]
    assert cmd.CopyOut not in kinds[: kinds.index(cmd.Wait)]
    assert complaint(ADD, f"{on_stream}; y == 1", AGAIN) == (
        "axpy.cu:2: y is requested after a launch on stream 1, and a later launch may write to it; launch on stream 0, "
        "or name it after all launches"
    )


# With what.


def element(array: str, start: str, *expect: str, save=(), folder=Path(), **tolerances) -> list[Result]:
    """Comparisons of an array v that no launch changes, of any type: the kernel takes its address as a number."""
    gpu = Device(FakeExecutor(), load_chip("a100"))
    module = gpu.load("axpy.cu")
    function = module["saxpy"].function
    object.__setattr__(function, "params", (*AXPY[:3], Param("y", "u64", 16, 8, 8)))
    wanted = RequestedResults(
        tuple(parse_expected(f"v={text}", "--expect") for text in expect),
        tuple(parse_saved(text, "--save") for text in save),
        folder=folder,
        **tolerances,
    )
    request = parse_launch(f"saxpy<<<1, 32>>>(0, 2.0, f32[4], v: {array}={start})")
    return run_requests(gpu, module, [request], folder=folder, requested=wanted).results


@pytest.mark.parametrize(
    ("name", "got", "wanted", "within"),
    [
        ("f64", np.float64(1), np.float64(1 + 0.9e-9), True),
        ("f64", np.float64(1), np.float64(1 + 1.1e-9), False),
        ("f32", np.float32(1), np.float64(1 + 0.9e-5), True),  # a reference in more digits
        ("f32", np.float32(1), np.float32(1 + 1.2e-5), False),
        ("f16", np.float16(1), np.float32(1 + 1.9e-3), True),
        ("f16", np.float16(1), np.float32(1 + 2.1e-3), False),
        ("bf16", bfloat16_bits(np.ones(1))[0], np.float32(1.019), True),
        ("bf16", bfloat16_bits(np.ones(1))[0], np.float32(1.021), False),
        ("bf16", bfloat16_bits(np.ones(1))[0], bfloat16_bits(np.ones(1))[0], True),  # bits, as =FILE.npy takes them
        ("f32", np.float32(3), np.int64(3), True),
        ("i32", np.int32(3), np.uint8(3), True),
        ("i32", np.int32(3), np.int64(4), False),
        ("u64", np.uint64(2**64 - 1), np.uint64(2**64 - 2), False),
        ("u8", np.uint8(1), np.bool_(True), True),
    ],
)
def test_types_and_their_tolerances(tmp_path, name, got, wanted, within):
    np.save(tmp_path / "got.npy", np.full(4, got))
    np.save(tmp_path / "ref.npy", np.full(4, wanted))
    (result,) = element(f"{name}[4]", "got.npy", "ref.npy", folder=tmp_path)
    assert (result.elements, result.is_wrong) == (4, not within)


@pytest.mark.parametrize(
    ("name", "reference", "message"),
    [
        ("f32[4]", np.zeros(5, np.float32), "has the shape [5], not [4]"),
        ("f32[2,2]", np.zeros(4, np.float32), "has the shape [4], not [2, 2]"),
        ("f32[4]", np.zeros(4, np.complex64), "holds complex64, which cannot be compared with f32"),
        ("f32[4]", np.zeros(4, "S3"), "is not a .npy file of plain numbers: it holds |S3"),
        ("i32[4]", np.zeros(4), "holds float64, and i32 are integers; save it as integers"),
        ("u32[4]", np.array([0, 0, -1, 0]), "holds -1, which no u32 can be"),
        ("i8[4]", np.array([0, 0, 128, 0]), "holds 128, which no i8 can be"),
    ],
)
def test_files_that_cannot_be_compared(tmp_path, name, reference, message):
    np.save(tmp_path / "ref.npy", reference)
    with pytest.raises(UsageError) as caught:
        element(name, "zeros", "ref.npy", folder=tmp_path)
    assert str(caught.value) == f"--expect: v, {name}: {tmp_path / 'ref.npy'}: {message}"


def test_other_references():
    assert [each.differ for each in element("i32[4]", "arange", "arange", "zeros", "ones", "2", "-1")] == [
        0,
        3,
        3,
        3,
        4,
    ]
    assert [each.differ for each in element("f32[4]", "ones", "1", "1.0", "nan", "2-1", "0x1")] == [0, 0, 4, 0, 0]
    assert not element("f16[4]", "zeros", "0.0", rtol=0)[0].is_wrong
    with pytest.raises(UsageError, match=re.escape("--expect: v, u8[4]: 256 does not fit into u8 (0 to 255)")):
        element("u8[4]", "zeros", "256")
    with pytest.raises(UsageError, match="there is no such file"):
        element("u8[4]", "zeros", "none.npy")


def test_tolerances_that_are_given():
    assert [each.differ for each in element("i32[4]", "arange", "ones", atol=1)] == [1]
    assert [each.differ for each in element("f32[4]", "arange", "ones", rtol=1)] == [1]
    own = results(f"{ADD}; y == 4, rtol=0, atol=1; y == 4", rtol=0.75)
    assert [(each.differ, each.rtol, each.atol) for each in own] == [(2, "0", "1"), (0, "0.75", "0")]
    assert complaint(ADD, rtol=1.0) == ("--rtol: nothing is compared; give --expect, or ; y == ref.npy after a launch")


# What is said, and saved.


def test_a_difference_is_told_whole(tmp_path):
    np.save(tmp_path / "ref.npy", np.array([[1, 3], [4, 0]], np.float32))
    launch = ADD.replace("y: f32[4]=ones", "y: f32[2,2]=ones")
    (result,) = results(launch, expect=["y=ref.npy"], folder=tmp_path)
    assert result == Result(0, "y", "ref.npy", 4, 2, "1e-05", "0", "[1, 0]", "5.0", "4.0", "7", "inf")
    assert str(result) == (
        "y == ref.npy: 2 of 4 elements differ, first [1, 0]: got 5.0, expected 4.0; largest error 7 absolute, inf "
        "relative (rtol 1e-05, atol 0)"
    )


def test_arrays_are_saved(tmp_path):
    results(ADD, AGAIN, save=[f"y={tmp_path}/y.npy", f"saxpy#1.y={tmp_path}/first.npy", f"saxpy#2.3={tmp_path}/x.npy"])
    found = {path.stem: np.load(path) for path in tmp_path.iterdir()}
    assert {name: (array.dtype, array.tolist()) for name, array in found.items()} == {
        "y": (np.float32, [1, 5, 9, 13]),
        "first": (np.float32, [1, 3, 5, 7]),
        "x": (np.float32, [0, 1, 2, 3]),
    }


def test_bf16_is_saved_as_numbers(tmp_path):
    np.save(tmp_path / "v.npy", bfloat16_bits(np.array([1.5, -2, 0, 256], np.float32)))
    element("bf16[4]", "v.npy", folder=tmp_path, save=[f"v={tmp_path}/out.npy"])
    found = np.load(tmp_path / "out.npy")
    assert (found.dtype, found.tolist()) == (np.float32, [1.5, -2, 0, 256])


PIECES = ["y", "==", "=", "ref.npy", "k<4>", "#2", ".", ";", ",", "rtol", "1e-3", "(", '"', "-", "nan", " ", "zeros"]


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join) | st.text(max_size=20))
def test_any_text_is_read_or_refused(text):
    for parse in (parse_expected, parse_saved, parse_comparison):
        with suppress(UsageError):
            assert parse(text, "p").array.name
    with suppress(UsageError):
        parse_launch(f"k<<<1, 1>>>();{text}")
