"""The driver that Triton asks for its device: the emulated GPU instead of CUDA's.

kernel[grid](...) ─ Triton: specialise, compile ─> PTX ─ load_binary ─> loaded module ─ Launcher ─> Device.launch
"""

import itertools
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import triton
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from gpuprof.device import commands as cmd
from gpuprof.device.api import Device
from gpuprof.device.elements import bfloat16_bits
from gpuprof.device.launching.argument_values import Null, Raw
from gpuprof.device.launching.bind import ArrayValue, Value
from gpuprof.device.launching.config import LaunchConfig
from gpuprof.device.module import LoadedModule
from gpuprof.device.tensormap import Im2col, TensorMap
from gpuprof.errors import UsageError
from gpuprof.interop.mirror import value_of
from gpuprof.interop.ptx import python_module
from gpuprof.interop.triton_arguments import given
from gpuprof.isa.program import Function, Param
from gpuprof.isa.tensormap import ELEMENT_NUMBERS, SWIZZLES

OLDEST_ARCH = 75  # LLVM has older ones, but Triton's own passes do not: it generates mma.sync of Turing at least

_INTEGERS = {"i1": 1, "u1": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8}
_FLOATS = {
    "fp16": lambda value: np.float16(value).tobytes(),
    "bf16": lambda value: bfloat16_bits(np.array([value], np.float32)).tobytes(),
    "fp32": lambda value: np.float32(value).tobytes(),
    "f32": lambda value: np.float32(value).tobytes(),
    "fp64": lambda value: struct.pack("<d", value),
}
_numbers = itertools.count()  # of drivers: Triton caches the kernels of each device under its number


class Loaded(NamedTuple):
    """A loaded kernel: Triton calls it a function handle."""

    module: LoadedModule
    function: Function


class EmulatedDriver(DriverBase):
    """One emulated GPU, as Triton's runtime asks for it."""

    def __init__(self, gpu: Device):
        super().__init__()
        self.gpu, self.number = gpu, next(_numbers)
        self.capability = _capability(gpu)
        self.utils = _Utils(gpu)
        self.launcher_cls = lambda src, metadata: Launcher(self, src, metadata)
        self.cycles = 0  # of the last launch

    @classmethod
    def is_active(cls) -> bool:
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        raise NotImplementedError("the emulated GPU has no launcher in C++")

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", self.capability, self.gpu.chip.warp_lanes)

    def get_current_device(self) -> int:
        return self.number

    def set_current_device(self, device: int) -> None:
        if device != self.number:
            raise UsageError(f"the only emulated GPU is number {self.number}, not {device}")

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        return divmod(self.capability, 10)

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_benchmarker(self) -> Callable:
        return benchmark(self)


class _Utils:
    """The functions that Triton's own driver has in C."""

    def __init__(self, gpu: Device):
        self.gpu = gpu

    def get_device_properties(self, device: int) -> dict[str, int]:
        chip = self.gpu.chip
        return {
            "max_shared_mem": chip.max_shared_nbytes_per_block,
            "max_num_regs": chip.registers,
            "multiprocessor_count": chip.sms,
            "warpSize": chip.warp_lanes,
            "sm_clock_rate": int(chip.clock_mhz * 1000),
        }

    def load_binary(
        self, name: str, binary: bytes, shared_nbytes: int, device: int
    ) -> tuple[LoadedModule, Loaded, int, int, int]:
        """Loads the PTX that `keep_ptx` left where the binary would be: (module, function, registers, spills, most
        threads).
        """
        module = self.gpu.load_ptx(python_module(binary.decode(), f"{name}.ptx", f"Triton {triton.__version__}", {}))
        function = next(function for function in module.program.functions if function.name == name)
        return (
            module,
            Loaded(module, function),
            function.registers,
            function.spill_nbytes // 4,
            self.gpu.chip.max_threads_per_block,
        )

    def unload_module(self, module: LoadedModule) -> None:
        """Loaded code stays, as a recording names it."""


def keep_ptx(backend=None, stages=None, options=None, language=None, capability=None) -> tuple[str, str]:
    """Triton's hook on its stages: the last one, ptxas, is left out. Without arguments, its name in Triton's cache of
    kernels.
    """
    if stages is not None:
        stages["cubin"] = lambda ptx, metadata: ptx.encode()
    return "gpuprof", "gpuprof"


def benchmark(driver: EmulatedDriver) -> Callable:
    """Triton's do_bench in simulated time. Each call runs twice, as caches are cold the first time; the second one
    counts.
    """

    def do_bench(kernel_call: Callable, *_, quantiles: Sequence[float] | None = None, **__) -> Any:
        with driver.gpu.task("autotune" if quantiles else "do_bench"):
            kernel_call()
            start, end = driver.gpu.event(), driver.gpu.event()
            start.record()
            kernel_call()
            end.record()
            cycles = end.cycle - start.cycle
        milliseconds = cycles / (driver.gpu.chip.clock_mhz * 1000)
        return [milliseconds] * len(quantiles) if quantiles else milliseconds

    return do_bench


class Launcher:
    """Launches one compiled kernel; `src` is Triton's ASTSource, `metadata` the results of its compiler."""

    def __init__(self, driver: EmulatedDriver, src: Any, metadata: Any):
        self.driver, self.metadata = driver, metadata
        self.names, self.types = list(src.signature), list(src.signature.values())

    def __call__(
        self, x, y, z, stream, loaded: Loaded, packed, launch_metadata, enter_hook, exit_hook, *arguments
    ) -> None:
        if x * y * z == 0:
            return
        if enter_hook is not None:
            enter_hook(launch_metadata)
        with given(self.driver.gpu, self.names, arguments, {}) as call:
            self._launch((x, y, z), loaded, call.arguments)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def _launch(self, grid: tuple[int, int, int], loaded: Loaded, arguments: tuple[Any, ...]) -> None:
        gpu, function = self.driver.gpu, loaded.function
        scratch = self._scratch(grid)
        try:
            values = [*self._values(arguments), *scratch]
            packed = [value(param) for value, param in zip(values, function.params, strict=True)]
            block = function.required_threads or (self.metadata.num_warps * gpu.chip.warp_lanes, 1, 1)
            n_ctas = self.metadata.num_ctas  # one program of Triton's is a cluster of so many blocks
            cluster = (n_ctas, 1, 1) if n_ctas > 1 else None
            config = LaunchConfig((grid[0] * n_ctas, *grid[1:]), block, self.metadata.shared, cluster=cluster)
            gpu.launch(loaded.module, function, config, packed, self._text(function, grid, arguments))
        finally:
            for value in scratch:
                value.free()

    def _scratch(self, grid: tuple[int, int, int]) -> list["_Scratch"]:
        """The two pointers that end every kernel's parameters: memory that blocks get for themselves, and a
        profiler's.
        """
        blocks = grid[0] * grid[1] * grid[2] * self.metadata.num_ctas
        sizes = (self.metadata.global_scratch_size, self.metadata.profile_scratch_size)
        return [_Scratch(self.driver.gpu, blocks * (size or 0)) for size in sizes]

    def _values(self, arguments: Sequence[Any]) -> Iterator[Callable[[Param], Value]]:
        tensor_maps = iter(getattr(self.metadata, "tensordesc_meta", None) or ())
        for name, kind, argument in zip(self.names, self.types, arguments, strict=True):
            yield from _flat(name, kind, argument, tensor_maps)

    def _text(self, function: Function, grid: tuple[int, int, int], arguments: Sequence[Any]) -> str:
        """The launch as it was written: "add[4](float32[4000], float32[4000], 4000, BLOCK=1024)"."""
        shown = [
            f"{name}={value!r}" if kind == "constexpr" else repr(value)
            for name, kind, value in zip(self.names, self.types, arguments, strict=True)
        ]
        extents = grid[: 3 if grid[2] > 1 else 2 if grid[1] > 1 else 1]
        return f"{function.display}[{', '.join(map(str, extents))}]({', '.join(shown)})"


class _Scratch:
    def __init__(self, gpu: Device, nbytes: int):
        self.gpu, self.nbytes = gpu, nbytes
        self.address = gpu.submit(cmd.Allocate(nbytes, "Triton's scratch memory")).address if nbytes else 0

    def __call__(self, param: Param) -> Value:
        return ArrayValue(self.address, "", self.nbytes) if self.nbytes else Null("0")

    def free(self) -> None:
        if self.nbytes:
            self.gpu.submit(cmd.Free(self.address))


def _flat(
    name: str, kind: Any, value: Any, tensor_maps: Iterator[dict[str, Any]]
) -> Iterator[Callable[[Param], Value]]:
    """An argument as the kernel's parameters it becomes, by its type in Triton's signature; constants become none.

    `tensor_maps` has, from sm_90 on, one entry for each descriptor.
    """
    if isinstance(kind, tuple):
        for number, (part_kind, part) in enumerate(zip(kind, value, strict=True)):
            yield from _flat(f"{name}[{number}]", part_kind, part, tensor_maps)
    elif kind.startswith("tensordesc"):
        yield from _descriptor(name, value, next(tensor_maps, None))
    elif kind != "constexpr":
        yield _parameter(name, kind, value)


def _descriptor(name: str, value: Any, made: dict[str, Any] | None) -> Iterator[Callable[[Param], Value]]:
    """A tensor descriptor as parameters, then its shape and its strides. `made`: how Triton lays the box out in shared
    memory.

    From sm_90 on it is a tensor map; before, it is a pointer, shape, strides and how it pads.
    """
    if made is None:
        parts = [("*", value.base), *(("i64", extent) for extent in (*value.shape, *value.strides))]
        parts += [("i1", value.padding == "nan"), ("i1", value.round_f32_to_tf32)]
        yield from (_parameter(name, kind, part) for kind, part in parts)
    else:
        encoded = _tensor_map(value, made).encode()
        yield lambda param: Raw(f"a tensor map of {name}", encoded)
    yield from (_parameter(name, "i32", extent) for extent in value.shape)
    yield from (_parameter(name, "i64", stride) for stride in value.strides)


def _tensor_map(value: Any, made: dict[str, Any]) -> TensorMap:
    """The tensor map that Triton's own driver makes: triton.backends.nvidia.driver.make_tensordesc_arg."""
    names = {number: element for element, number in ELEMENT_NUMBERS.items()}
    shape = (*value.shape[:-1], 2 * value.shape[-1]) if made["fp4_padded"] else tuple(value.shape)
    return TensorMap(
        _Place(value.base.data_ptr(), shape, value.base.dtype),
        strides=tuple(stride * made["elem_size"] for stride in value.strides),
        swizzle=SWIZZLES[made["swizzle"]],
        fill_nan=value.padding == "nan",
        element="tf32" if value.round_f32_to_tf32 else names[made["elem_type"]],
        **(_pixels(value, made) if made.get("is_im2col") else {"box": tuple(made["block_size"])}),
    )


def _pixels(value: Any, made: dict[str, Any]) -> dict[str, Any]:
    """Gives the arguments of a tensor map that im2col mode has in place of a box. Triton has D, H, W in this order."""
    pixels, channels = made["block_size"]
    lower, upper = (tuple(reversed(each)) for each in (value.pixel_box_lower_corner, value.pixel_box_upper_corner))
    return {"steps": value.element_strides, "im2col": Im2col(lower, upper, channels, pixels)}


class _Place(NamedTuple):
    """A tensor, as a tensor map asks for it."""

    address: int
    shape: tuple[int, ...]
    dtype: Any


def _parameter(name: str, kind: str, value: Any) -> Callable[[Param], Value]:
    data = _bytes(name, kind, value)
    return lambda param: value_of(param, data, str(value))


def _bytes(name: str, kind: str, value: Any) -> bytes:
    """A value of one of Triton's types, little-endian."""
    if kind.startswith("*"):
        return struct.pack("<Q", _address(name, value))
    if kind in _FLOATS:
        return _FLOATS[kind](value)
    if kind in _INTEGERS:
        nbytes = _INTEGERS[kind]
        return (int(value) & (1 << 8 * nbytes) - 1).to_bytes(nbytes, "little")
    raise UsageError(f"{name}: gpuprof cannot pass a kernel a value of Triton's type {kind}")


def _address(name: str, value: Any) -> int:
    if value is None:
        return 0
    if hasattr(value, "data_ptr"):  # a Tensor, or what triton.reinterpret makes of one
        return value.data_ptr()
    raise UsageError(f"{name}: expected an array, got a {type(value).__name__}")


def _capability(gpu: Device) -> int:
    """80 for sm_80."""
    capability = int("".join(filter(str.isdigit, gpu.chip.arch)))
    if capability < OLDEST_ARCH:
        raise UsageError(
            f"chip {gpu.chip.name} is {gpu.chip.arch}; Triton compiles for sm_{OLDEST_ARCH} and later: call "
            "enable('a100')"
        )
    return capability
