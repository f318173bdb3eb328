"""The parts that Triton's and numba.cuda's launches share: memory laid out as on the host, and PTX whose lines lead to
Python. No compiler is needed.
"""

import sys

import numpy as np
import pytest

import gpuprof.interop.numba
import gpuprof.interop.triton
from gpuprof.errors import DeviceMemoryError, UsageError
from gpuprof.interop.mirror import HostArray, Mirror
from gpuprof.interop.ptx import python_module, shown_name
from gpuprof.report.sections import whole_function
from tests.support.device_support import FakeExecutor

PTX = """.version 8.7
.target sm_80
.address_size 64
.visible .entry kernel_0d1d()
{
	.loc	1 5 3
	// begin inline asm
	.loc	1 5 3
	mov.u32 %r1, 0x0;
	.loc	1 6 3
	mov.u32 %r2, 0x0;
	// end inline asm
	// begin inline asm

{
	.reg .pred complete;
	.loc	1 8 3
	waitLoop:
	.loc	1 9 3
	@!complete bra.uni waitLoop;
}
	// end inline asm
	.loc	1 2 1, function_name $L__info_string0, inlined_at 1 6 9
	ret;
}
	.file	1 "FOLDER/script.py"
	.file	2 "/somewhere/lib/python3.12/site-packages/triton/language/standard.py"
"""
SCRIPT = "def helper(a):\n    return a\n\n\ndef kernel():\n    return helper(1)\n"


def test_inline_assembly_has_one_line_and_inlined_code_its_function(tmp_path, monkeypatch):
    (tmp_path / "script.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    module = python_module(PTX.replace("FOLDER", str(tmp_path)), "kernel.ptx", "Triton 3", {"kernel_0d1d": "kernel"})
    assert module.ptx == (
        PTX.replace("FOLDER/script.py", "script.py")
        .replace("\t.loc\t1 6 3\n", "\n")
        .replace("\t.loc\t1 8 3\n", "\t.loc\t1 5 3\n")
        .replace("\t.loc\t1 9 3\n", "\n")
        .replace("$L__info_string0", "helper")
        .replace("/somewhere/lib/python3.12/site-packages/", "")
    )
    assert (module.sources, module.display["kernel_0d1d"], module.compiler, module.arch) == (
        {"script.py": SCRIPT}, "kernel", "Triton 3", "sm_80",
    )  # fmt: skip


def test_a_line_of_a_file_that_is_gone_belongs_to_the_file(tmp_path):
    module = python_module(PTX.replace("FOLDER", str(tmp_path)), "kernel.ptx", "Triton 3", {})
    assert "function_name script, inlined_at" in module.ptx and module.sources == {}


def test_names_without_the_folders_of_this_machine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["/home/me/scripts", *sys.path])
    assert shown_name(str(tmp_path / "a" / "b.py")) == "a/b.py"
    assert shown_name("/home/me/scripts/train.py") == "train.py"
    assert shown_name("/usr/lib/python3/dist-packages/numba/cuda/cg.py") == "numba/cuda/cg.py"
    assert shown_name("/elsewhere/x.py") == "/elsewhere/x.py"


def test_a_python_function_ends_with_its_last_line():
    text = ["@jit", "def f(x):", "    y = x", "    return y", "", "print(f'{f(1)}')", "}"]
    assert whole_function(text, "f", 3, 4, is_python=True) == (2, 4)


@pytest.fixture
def executor():
    return FakeExecutor()


def mirror(executor, *arrays: np.ndarray) -> Mirror:
    return Mirror(executor.submit, [HostArray(f"x{n}", array) for n, array in enumerate(arrays)])


def written(executor, address: int, value: bytes) -> None:
    executor.memory.write(address, value)


def test_views_of_one_array_are_at_their_distance(executor):
    memory = np.arange(100, dtype=np.int32)
    copy = mirror(executor, memory[10:50], memory[40:], memory[20:30])
    first, second, third = copy.addresses
    assert (second - first, third - first) == (120, 40) and first % 256 == 40
    assert executor.memory.read(first, 360) == memory[10:].tobytes()


def test_arrays_apart_are_apart(executor):
    memory = np.arange(100, dtype=np.int32)
    copy = mirror(executor, memory[50:], memory[:50])
    with pytest.raises(DeviceMemoryError):
        executor.memory.read(copy.addresses[1], 201)


def test_a_reversed_transposed_view(executor):
    memory = np.arange(12, dtype=np.int16).reshape(3, 4)
    view = memory.T[::-1, ::2]
    (address,) = mirror(executor, view).addresses
    strides = view.strides
    cell = address + 2 * strides[0] + strides[1]
    assert int.from_bytes(executor.memory.read(cell, 2), "little") == view[2, 1]


def test_only_what_was_written_comes_back(executor):
    x, y = np.zeros(4, np.uint8), np.zeros(4, np.uint8)
    copy = mirror(executor, x, y)
    written(executor, copy.addresses[0] + 1, b"\7")
    y[0] = 9  # the host writes meanwhile; the kernel did not touch it
    copy.copy_back()
    assert (x.tolist(), y.tolist()) == ([0, 7, 0, 0], [9, 0, 0, 0])


def test_a_read_only_array_that_was_written(executor):
    x = np.zeros(4, np.uint8)
    x.flags.writeable = False
    copy = mirror(executor, x)
    copy.copy_back()
    written(executor, copy.addresses[0], b"\1")
    with pytest.raises(UsageError, match="x0: the kernel wrote to this read-only array; pass a copy"):
        copy.copy_back()


def test_released_memory_is_free(executor):
    copy = mirror(executor, np.zeros(100), np.zeros(0), np.array(3.5))
    copy.release()
    assert executor.memory.used_nbytes == 0


def test_addresses_do_not_depend_on_the_host(executor):
    arrays = sorted((np.zeros(1000) for _ in range(3)), key=lambda array: -array.ctypes.data)
    addresses = mirror(executor, *arrays).addresses
    assert addresses == sorted(addresses)


@pytest.mark.parametrize(
    "array, complaint",
    [
        (
            np.array([None]),
            "x0: an array of object holds Python objects, which a GPU cannot hold; give it a numeric dtype",
        ),
        (np.zeros(2, ">f4"), r"x0: its byte order is not a GPU's; pass array.astype\('<f4'\)"),
    ],
)
def test_arrays_that_a_gpu_cannot_have(executor, array, complaint):
    with pytest.raises(UsageError, match=complaint):
        mirror(executor, array)


@pytest.mark.parametrize(
    "interop, package, name",
    [
        (gpuprof.interop.triton, "triton", "Triton cannot be imported"),
        (gpuprof.interop.numba, "numba_cuda", "numba-cuda cannot compile here"),
    ],
)
def test_a_compiler_that_is_not_installed(monkeypatch, interop, package, name):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=rf"{name} .*; install it with: pip install 'gpuprof\[interop\]'"):
        interop.enable()
