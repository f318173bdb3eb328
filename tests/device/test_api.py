"""The Python face and text launches: the commands they make, and what comes back."""

import ast
import struct
from pathlib import Path

import numpy as np
import pytest

import gpuprof
from gpuprof.chips import load_chip
from gpuprof.device import commands as cmd
from gpuprof.device.api import Device, Executor
from gpuprof.device.launching.launch_text import parse_launch
from gpuprof.device.requests import run_requests
from gpuprof.device.variables import source_name
from gpuprof.errors import DeviceMemoryError, UsageError
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import Session
from tests.house.source_graph import read_package
from tests.paths import ROOT
from tests.support.device_support import FakeExecutor


@pytest.fixture
def executor() -> FakeExecutor:
    return FakeExecutor()


@pytest.fixture
def gpu(executor) -> Device:
    return Device(executor, load_chip("a100"))


def message(call, *args, **kwargs) -> str:
    with pytest.raises(UsageError) as caught:
        call(*args, **kwargs)
    return str(caught.value)


def test_an_executor_is_used_as_the_protocol_declares():
    """Nothing reaches around it, and both executors have all of it."""
    declared = {name for name in (*vars(Executor), *Executor.__annotations__) if not name.startswith("_")}
    used = {
        node.attr
        for module in read_package(ROOT / "gpuprof").values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and getattr(node.value, "attr", getattr(node.value, "id", "")) == "executor"
    }
    assert used == declared == {
        "n_launches", "host_ns", "finish_emulation", "compile", "assemble", "adopt", "submit", "add_trace_generator",
        "remove_trace_generator", "finish", "drop", "place_of_call",
    }  # fmt: skip
    for executor in (FakeExecutor(), Session(Settings(), load_chip("a100"))):
        assert declared <= set(dir(executor))


def test_a_launch_is_checked_and_made_in_one_place():
    makers = {"check_limits", "check_dependent", "cluster_of", "cmd.Launch"}
    found = {
        (path.name, ast.unparse(node.func))
        for path in (ROOT / "gpuprof").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in makers
    }
    assert found == {("config.py", maker) for maker in makers}


def test_a_script(gpu, executor):
    module = gpu.load("axpy.cu")
    del executor.commands[:]
    x = gpu.to_device(np.arange(4, dtype=np.float32))
    y = gpu.device_array(4, np.float32)
    module.saxpy[1, (32, 2)](4, np.float64(0.5), x, y)
    assert y.copy_to_host().tolist() == [0, 0.5, 1, 1.5]
    launch = cmd.Launch(
        0, executor.loaded[0], executor.loaded[0].program.functions[0], (1, 1, 1), (32, 2, 1), 0,
        struct.pack("<ifQQ", 4, 0.5, x.address, y.address), 0, "saxpy<<<1, (32, 2)>>>(4, 0.5, float32[4], float32[4])",
    )  # fmt: skip
    assert executor.commands[:3] + executor.commands[4:] == [
        cmd.Allocate(16, "array 1 of float32[4]"),
        cmd.CopyIn(x.address, np.arange(4, dtype=np.float32).tobytes()),
        cmd.Allocate(16, "array 2 of float32[4]"),
        cmd.CopyOut(y.address, 16),
    ]
    assert vars(executor.commands[3]) == vars(launch)


def test_plain_arrays_are_copied_in_and_out(gpu, executor):
    module = gpu.load("axpy.cu")
    x = np.ones((2, 4), np.float32)[:, ::2]  # not contiguous
    y = np.full((2, 2), 10, ">f4")  # another byte order
    x.flags.writeable = False  # the kernel only reads it
    used_nbytes = executor.memory.used_nbytes
    module["saxpy"][1, 32, 3, 512](4, 2, x, y)
    assert y.tolist() == [[12, 12], [12, 12]] and y.dtype == ">f4"
    assert executor.memory.used_nbytes == used_nbytes, "the temporary copies are gone"
    (launch,) = executor.launches()
    assert (launch.stream, launch.dynamic_shared_nbytes) == (3, 512)
    assert launch.name == "saxpy<<<1, 32, 512, 3>>>(4, 2, float32[2,2], >f4[2,2])"
    y.flags.writeable = False
    assert (
        message(module.saxpy[1, 32], 4, 2, x, y)
        == "saxpy: argument 4 (float *y): the kernel writes to this array, which is read-only"
    )
    assert executor.memory.used_nbytes == used_nbytes, "also after a mistake"


def test_arguments_that_do_not_fit(gpu):
    saxpy = gpu.load("axpy.cu").saxpy
    x = gpu.device_array(4, np.float32)
    assert (
        message(saxpy[1, 32], 4, 2.0, x)
        == "saxpy takes 4 parameters (int n, float a, const float *x, float *y) but 3 were given"
    )
    assert message(saxpy[1, 32], 4, x, x, x) == "saxpy: argument 2 (float a): expected a number, got an array"
    assert message(saxpy[1, 32], 4, 2.0, x, 7) == "saxpy: argument 4 (float *y): expected an array, got the number 7"
    assert message(saxpy[1, 32], 4, 2j, x, x) == "saxpy: argument 2 (float a): a complex cannot be passed to a kernel"
    assert message(saxpy[1, 32], 4.5, 2, x, x) == "saxpy: argument 1 (int n): expected an integer, got 4.5"
    assert (
        message(saxpy[1, 32], 4, 2, np.zeros(4), x)
        == "saxpy: argument 3 (const float *x): expected an array of float, got double (f64)"
    )
    assert message(saxpy[1, 2048], 4, 2, x, x) == "saxpy: the block's x extent is 2048; it must be 1 to 1024"
    assert message(saxpy[1, (64, 32)], 4, 2, x, x) == "saxpy: a block of 64x32x1 has 2048 threads; a100 allows 1024"


def test_configurations(gpu):
    saxpy = gpu.load("axpy.cu").saxpy
    assert saxpy[np.int64(2), [8, 8]].config == ((2, 1, 1), (8, 8, 1), 0, 0, None, False, "", 0)
    assert saxpy[(1, 2, 3), 4, gpu.stream(), 64].config == ((1, 2, 3), (4, 1, 1), 64, 1, None, False, "", 0)
    assert saxpy[1, 2, None].config == ((1, 1, 1), (2, 1, 1), 0, 0, None, False, "", 0)
    assert (
        message(saxpy.__getitem__, 4)
        == "saxpy: launch it as saxpy[grid, block](...) or [grid, block, stream, shared_bytes, cluster]"
    )
    assert message(saxpy, 4) == "saxpy: needs a grid and a block: saxpy[grid, block](...)"
    assert message(saxpy.__getitem__, (1.5, 2)) == "the grid must be an integer, not 1.5"
    assert message(saxpy.__getitem__, ((1, 1, 1, 1), 2)) == "the grid has 1 to 3 dimensions, not 4"
    assert message(saxpy.__getitem__, (1, 2, "s")) == "expected a stream or its number, got 's'"


def test_kernels_and_templates(gpu, executor):
    module = gpu.load(Path("axpy.cu"), instantiate=["scan<128>"])
    assert module.kernels == ["saxpy", "ns::other", "scan<128>"]
    assert module.other.name == "ns::other" and module["_Z_saxpy"].name == "saxpy"
    assert module["scan<256>"].name == "scan<256>" and module["scan< 256 >"].name == "scan<256>"
    assert executor.compiled == [("axpy.cu", ("scan<128>",)), ("axpy.cu", ("scan<256>",))]
    assert module.kernels == ["saxpy", "ns::other", "scan<128>", "scan<256>"]
    expected = "axpy.cu has no kernel saxpi; it has saxpy, ns::other, scan<128>. Did you mean saxpy?"
    assert message(getattr, module, "saxpi") == expected
    assert "saxpy" in dir(module) and not hasattr(module, "__wrapped__")
    assert (
        message(gpu.load("axpy.ptx").__getitem__, "scan<256>")
        == "axpy.ptx has no kernel scan<256>; it has saxpy, ns::other"
    )


def test_an_instance_that_the_compiler_names_otherwise(gpu, executor):
    executor.names_of_instances = {"scan<2*128>": "scan<256, float>", "scan<M>": "scan<8, float>"}
    module = gpu.load("axpy.cu", instantiate=["scan<2*128>"])
    assert module["scan<2*128>"].name == "scan<256, float>" and module["scan<2*128>"].module is executor.loaded[0]
    assert module["scan<M>"].name == "scan<8, float>" and module["scan<M>"].module is executor.loaded[1]
    assert executor.compiled == [
        ("axpy.cu", ("scan<2*128>",)),
        ("axpy.cu", ("scan<2*128>",)),
        ("axpy.cu", ("scan<M>",)),
    ]


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("counter", "counter"),
        ("_ZL7weights", "weights"),
        ("_ZN2ns5inner1wE", "ns::inner::w"),
        ("_ZN12_GLOBAL__N_11wE", "w"),
        ("_Zx", "_Zx"),
    ],
)
def test_names_of_variables(symbol, name):
    assert source_name(symbol) == name


def test_symbols(gpu, executor):
    module = gpu.load("axpy.cu")
    weights = module.symbol("weights", np.float32)
    weights.copy_to_device(np.array([1, 2], np.float32))
    executor.loaded[0].refresh_constants(executor.memory)
    assert executor.loaded[0].const_segment == struct.pack("<2f", 1, 2)
    assert message(module.symbol, "nothing") == "axpy.cu has no variable nothing; it has counter, weights"
    assert (
        message(module.symbol, "counter", np.float64) == "counter has 4 bytes, which is not a whole number of float64"
    )


def test_device_arrays(gpu, executor):
    matrix = np.arange(12, dtype=np.int32).reshape(4, 3)
    a = gpu.to_device(matrix)
    assert (a.shape, a.dtype, a.size, a.nbytes, a.ndim, len(a)) == ((4, 3), np.int32, 12, 48, 2, 4)
    assert a[1:3].copy_to_host().tolist() == [[3, 4, 5], [6, 7, 8]]
    assert (a[1, 2], a[-1, 0], a[2:][0, 1]) == (5, 9, 7)
    with pytest.raises(IndexError):
        a[4, 0]
    assert a[-1:].address == a.address + 36 and a[9:].shape == (0, 3)
    b = gpu.device_array_like(a)
    b.copy_to_device(a)
    b[:1].fill(7)
    host = np.zeros((4, 3), np.int32)
    assert b.copy_to_host(host) is host and host.tolist() == [[7, 7, 7], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    gpu.to_device(matrix.T, to=gpu.device_array((3, 4), np.int32))
    assert gpu.to_device([[1, 2]]).copy_to_host().tolist() == [[1, 2]]
    assert gpu.device_array(()).shape == () and gpu.device_array((2, 0)).copy_to_host().shape == (2, 0)
    assert message(a.copy_to_host, np.zeros(12, np.int32)) == "cannot copy between int32[12] and int32[4,3]"
    assert message(a.copy_to_device, [1, 2]) == "expected an array, got list"
    assert (
        message(a.__getitem__, slice(0, 4, 2))
        == f"{a!r} can be sliced as a[first:last], and has single elements; copy_to_host() gives the rest"
    )
    assert (
        message(gpu.to_device, np.array([{}]))
        == "an array of object holds Python objects, which a GPU cannot hold; give it a numeric dtype"
    )
    assert message(gpu.device_array, (2, -1)) == "an array cannot have the shape [2, -1]"
    assert message(gpu.device_array, 2.5) == "an array's extent must be an integer, not 2.5"
    assert (
        message(a[1:2].free)
        == f"<device array int32[1,3] at 0x{a.address + 12:x}> is part of another allocation and cannot be freed "
        "separately"
    )
    a.free()
    with pytest.raises(DeviceMemoryError, match="was freed before"):
        a.free()


def test_streams_events_tasks(gpu, executor):
    stream, start, end = gpu.stream(), gpu.event(), gpu.event()
    assert message(start.elapsed_time, end) == "the event was not recorded: call record() first"
    with gpu.task("layer 1"):
        start.record(stream)
        gpu.device_array(1).copy_to_host(stream=stream)
        end.record(stream)
    end.wait(gpu.stream())
    end.synchronize()
    gpu.synchronize()
    address = 0x7_0000_0000
    assert executor.commands == [
        cmd.TaskBegin("layer 1", 0),
        cmd.Event(0, 1),
        cmd.Allocate(8, "array 1 of float64[1]"),
        cmd.CopyOut(address, 8, 1),
        cmd.Event(1, 1),
        cmd.TaskEnd("layer 1", 0),
        cmd.Wait(1, 2),
        cmd.Wait(1, cmd.HOST),
        cmd.Wait(cmd.EVERYTHING, cmd.HOST),
    ]
    assert start.elapsed_time(end) == pytest.approx((5000 - 2000) / 1410e6 * 1e3)


def requests(*texts: str):
    return [parse_launch(text, f"axpy.cu:{line}") for line, text in enumerate(texts, 1)]


def test_launches_as_text(gpu, executor):
    module = gpu.load("axpy.cu")
    arrays = run_requests(
        gpu,
        module,
        requests(
            "saxpy<<<1, 32>>>(4, 2.0, x: f32[4]=arange, sum: f32[4]=ones)",
            "ns::other<<<(2, 2), 64, 128, 1>>>(2, 1.0, x, sum)",
        ),
    )
    assert arrays["sum"].copy_to_host().tolist() == [1, 4, 5, 7]
    assert arrays[1, 3] is arrays["sum"] and arrays[0, 2] is arrays["x"]
    first, second = executor.launches()
    assert (first.index, first.grid, first.block, first.params) == (
        0,
        (1, 1, 1),
        (32, 1, 1),
        struct.pack("<ifQQ", 4, 2, arrays["x"].address, arrays["sum"].address),
    )
    assert (second.index, second.grid, second.dynamic_shared_nbytes, second.stream) == (1, (2, 2, 1), 128, 1)
    assert second.name == "ns::other<<<(2, 2), 64, 128, 1>>>(2, 1.0, x, sum)"
    assert [a.name for a in executor.memory.allocations[2:]] == ["x, f32[4]", "sum, f32[4]"]


def test_random_data_does_not_depend_on_order_or_names_of_others(gpu):
    module = gpu.load("axpy.cu")
    one = run_requests(gpu, module, requests("saxpy<<<1, 32>>>(4, 2.0, x: f32[4]=random, f32[4]=random)"))
    two = run_requests(
        gpu,
        module,
        requests(
            "saxpy<<<1, 32>>>(1, 1.0, f32[1], f32[9]=random)",
            "saxpy<<<1, 32>>>(0, 0.0, y: f32[2]=random, x: f32[8]=random)",
        ),
    )
    assert one["x"].copy_to_host().tolist() == two["x"].copy_to_host()[:4].tolist()
    other_seed = run_requests(
        gpu, module, requests("saxpy<<<1, 32>>>(4, 2.0, x: f32[4]=random, f32[4]=random)"), seed=1
    )
    assert one["x"].copy_to_host().tolist() != other_seed["x"].copy_to_host().tolist()


@pytest.mark.parametrize(
    ("texts", "text"),
    [
        (
            ["saxpi<<<1, 32>>>()"],
            "axpy.cu:1: axpy.cu has no kernel saxpi; it has saxpy, ns::other. Did you mean saxpy?\n    saxpi<<<1, "
            "32>>>()",
        ),
        (
            ["saxpy<<<1, 32>>>(4, 2.0, x: f32[4], y: f32[4])", "saxpy<<<1, 32>>>(4, 2.0, z)"],
            "axpy.cu:2: saxpy takes 4 parameters (int n, float a, const float *x, float *y) but 3 were given\n    "
            "saxpy<<<1, 32>>>(4, 2.0, z)",
        ),
        (
            ["saxpy<<<1, 32>>>(4, 2.0, x, f32[4])"],
            "axpy.cu:1: array x is not defined yet; define it where it is first used, as in x: f32[1024]=random\n    "
            "saxpy<<<1, 32>>>(4, 2.0, x, f32[4])",
        ),
        (
            ["saxpy<<<1, 32>>>(4, 2.0, x: f32[4], x: f32[4])"],
            "axpy.cu:1: array x is already defined; write just x to use it again\n    saxpy<<<1, 32>>>(4, 2.0, x: "
            "f32[4], x: f32[4])",
        ),
        (
            ["saxpy<<<1, 32>>>(4, 2.0, x: f64[4], f32[4])"],
            "axpy.cu:1: saxpy: argument 3 (const float *x): expected an array of float, got double (f64)\n    "
            "saxpy<<<1, 32>>>(4, 2.0, x: f64[4], f32[4])",
        ),
        (
            ["saxpy<<<0, 32>>>(4, 2.0, f32[4], f32[4])"],
            "axpy.cu:1: saxpy: the grid's x extent is 0; it must be 1 to 2147483647\n    saxpy<<<0, 32>>>(4, 2.0, "
            "f32[4], f32[4])",
        ),
        (
            ["saxpy<<<1, 32, 0, -1>>>(4, 2.0, f32[4], f32[4])"],
            "axpy.cu:1: saxpy: the stream is -1; it must not be negative\n    saxpy<<<1, 32, 0, -1>>>(4, 2.0, f32[4], "
            "f32[4])",
        ),
        (
            ["saxpy<<<1, 32>>>(4, 2.0, f32[4], f32[4])", "saxpy<<<1, 32>>>(4, 2.0, f32[4]=none.npy, f32[4])"],
            "axpy.cu:2: none.npy: there is no such file\n    saxpy<<<1, 32>>>(4, 2.0, f32[4]=none.npy, f32[4])",
        ),
    ],
)
def test_launches_that_do_not_fit(gpu, executor, texts, text):
    module = gpu.load("axpy.cu")
    assert message(run_requests, gpu, module, requests(*texts)) == text
    assert executor.launches() == [], "nothing runs before everything is checked"


INT_AS_FLOAT = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry halved(.param .u64 x, .param .u64 y)
{ .reg .b32 %r; .reg .f32 %f; .reg .b64 %a, %b, %o;
mov.u32 %r, %tid.x; mul.wide.u32 %o, %r, 4;
ld.param.u64 %a, [x]; cvta.to.global.u64 %a, %a; add.s64 %a, %a, %o; ld.global.f32 %f, [%a];
mul.f32 %f, %f, 0f3F000000;
ld.param.u64 %b, [y]; cvta.to.global.u64 %b, %b; add.s64 %b, %b, %o; st.global.f32 [%b], %f; ret; }
"""


def test_integers_that_a_kernel_takes_as_floats(tmp_path):
    """`extern "C"` kernels have no C++ types in their PTX: `__int_as_float(x[i])` loads a float from an array of
    integers.
    """
    (tmp_path / "k.ptx").write_text(INT_AS_FLOAT)
    module = gpuprof.Device().load(tmp_path / "k.ptx")
    x, y = np.arange(32, dtype=np.float32), np.zeros(32, np.int32)
    module.halved[1, 32](x.view(np.int32), y)
    np.testing.assert_array_equal(y.view(np.float32), x / 2)
