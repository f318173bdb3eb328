"""The emulated GPU instead of numba.cuda's driver.

kernel[grid, block](...) ─ numba: type, compile ─> PTX ─ EmulatedKernel.bind ─> loaded module ─ launch ─> Device.launch
"""

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any, NamedTuple

import numba_cuda
import numpy as np
from numba import cuda
from numba.cuda import codegen, compiler, dispatcher
from numba.cuda.cudadrv import driver
from numba.cuda.np import numpy_support
from numba.cuda.types import Array
from numba.cuda.typing.typeof import typeof_impl

from gpuprof.device import commands as cmd
from gpuprof.device.api import Device
from gpuprof.device.array import DeviceArray, type_text
from gpuprof.device.launching.config import LaunchConfig
from gpuprof.device.module import LoadedModule
from gpuprof.errors import UsageError
from gpuprof.interop.numba_arguments import Arguments
from gpuprof.interop.numba_runtime import linked
from gpuprof.interop.ptx import python_module
from gpuprof.isa.program import Function
from gpuprof.timing.state.occupancy import occupancy

OLDEST_ARCH = (7, 0)
THREADS_OF_FORALL = 256  # `kernel.forall(n)` leaves the block to the driver, which would ask for the best occupancy

NO_DRIVER = (
    "the script calls a function of CUDA's driver that the emulated GPU does not support; docs/interop.md lists "
    "the supported ones"
)


class CurrentDevice:
    """The result of `cuda.get_current_device()`."""

    def __init__(self, gpu: Device):
        chip = gpu.chip
        self.id, self.name = 0, f"{chip.name} (emulated)"
        self.compute_capability = _capability(gpu)
        self.MULTIPROCESSOR_COUNT = chip.sms
        self.WARP_SIZE = chip.warp_lanes
        self.MAX_THREADS_PER_BLOCK = chip.max_threads_per_block
        self.MAX_SHARED_MEMORY_PER_BLOCK = chip.max_shared_nbytes_per_block
        self.MAX_REGISTERS_PER_BLOCK = chip.registers
        self.CLOCK_RATE = int(chip.clock_mhz * 1000)
        self.supports_float16 = True
        self.supports_bfloat16 = self.compute_capability >= (8, 0)
        self.supports_fp8 = self.compute_capability >= (8, 9)

    def reset(self) -> None:
        """A script leaves no state that could be reset."""

    def __enter__(self) -> "CurrentDevice":
        return self

    def __exit__(self, *_: Any) -> None:
        """`with cuda.gpus[0]:` has but this one."""


class CurrentContext:
    """The result of `cuda.current_context()`."""

    def __init__(self, gpu: Device, device: CurrentDevice):
        self.device, self.synchronize = device, gpu.synchronize


class EmulatedKernel(dispatcher._Kernel):
    """A kernel compiled for one signature; numba's dispatcher makes, keeps and launches it. The GPU is the class's."""

    gpu: Device

    def __init__(self, py_func: Callable, argtypes: tuple, **options: Any):
        self._signature, self._options = (py_func, argtypes), dict(options)
        debug = options.pop("debug", False)
        super().__init__(py_func, argtypes, **options | {"debug": debug, "lineinfo": not debug, "lto": False})
        self._loaded: LoadedModule | None = None
        self._twin: EmulatedKernel | None = None  # of another GPU

    def maybe_link_nrt(self, link: list, target_context: Any, asm: str) -> None:
        """Refuses what would need numba's memory manager on the GPU."""
        if any(f"call.uni {name}" in asm or f"\t{name}, " in asm for name in self.NRT_functions):
            raise UsageError(f"{self.py_func.__name__}: it allocates memory on the GPU, which gpuprof does not support")

    def bind(self) -> None:
        """Assembles and loads the kernel."""
        name = self.py_func.__name__
        library = self._codelibrary
        ptx = linked(library.get_asm_strs(), library._linking_files, self._compile_cuda)
        module = python_module(ptx, f"{name}.ptx", f"numba-cuda {numba_cuda.__version__}", {self.entry_name: name})
        self._loaded = self.gpu.load_ptx(module)

    def _compile_cuda(self, source: str, name: str) -> str:
        from gpuprof.interop.nvrtc import compile_cuda

        return compile_cuda(source, name, self.gpu.chip.arch)

    @property
    def function(self) -> Function:
        return next(function for function in self._loaded.program.functions if function.name == self.entry_name)

    regs_per_thread = property(lambda self: self.function.registers)
    shared_mem_per_block = property(lambda self: self.function.shared_nbytes)
    local_mem_per_thread = property(lambda self: self.function.local_nbytes)
    max_threads_per_block = property(lambda self: self.function.max_threads or self.gpu.chip.max_threads_per_block)
    const_mem_size = property(lambda self: len(self._loaded.const_segment))

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """How many blocks of this kernel the GPU holds at once."""
        if self._loaded is None:
            self.bind()
        n_threads = int(np.prod(blockdim))
        return occupancy(self.gpu.chip, self.function, n_threads, dynsmemsize).blocks_per_sm * self.gpu.chip.sms

    def launch(self, args: tuple, griddim: tuple, blockdim: tuple, stream: Any = 0, sharedmem: int = 0) -> None:
        enabled = dispatcher._Kernel
        if issubclass(enabled, EmulatedKernel) and enabled.gpu is not self.gpu:
            self._twin_of(enabled).launch(args, griddim, blockdim, stream, sharedmem)
            return
        if self._loaded is None:
            self.bind()
        config = LaunchConfig(tuple(griddim), tuple(blockdim), sharedmem, getattr(stream, "number", 0))
        if len(args) != len(self.argument_types):
            raise TypeError(
                f"{self.py_func.__name__}() takes {len(self.argument_types)} arguments, {len(args)} were given"
            )
        names = list(self.py_func.__code__.co_varnames[: len(args)])
        if self.debug:
            self._write_symbol("errcode__", 0)
        with Arguments(self.gpu.submit, names, self.argument_types, args, self.extensions, stream) as given:
            values = given.values(self.function)
            self.gpu.launch(
                self._loaded,
                self.function,
                config,
                values,
                f"{self.py_func.__name__}{config}({', '.join(map(_text, args))})",
            )
            given.copy_back()
        if self.debug:
            self._raise_error()

    def _twin_of(self, enabled: "type[EmulatedKernel]") -> "EmulatedKernel":
        """The same kernel, compiled for the GPU that is enabled now: numba's dispatcher has only the first."""
        if self._twin is None or self._twin.gpu is not enabled.gpu:
            self._twin = enabled(*self._signature, **self._options)
        return self._twin

    def _raise_error(self) -> None:
        """Raises the exception of the kernel's first thread that has one, like numba."""
        code = self._read_symbol("errcode__")
        if code == 0:
            return
        thread, block = ([self._read_symbol(f"{name}{axis}__") for axis in "zyx"] for name in ("tid", "ctaid"))
        kind, arguments, location = self.call_helper.get_exception(code)
        where = f"In function {location[0]!r}, file {location[1]}, line {location[2]}, " if location else ""
        text = f"{where}tid={thread} ctaid={block}"
        raise kind(*([f"{text}: {arguments[0]}", *arguments[1:]] if arguments else [text]))

    def _symbol(self, name: str) -> int:
        return self._loaded.global_symbols[f"{self.entry_name}__{name}"]

    def _read_symbol(self, name: str) -> int:
        return int.from_bytes(self.gpu.submit(cmd.CopyOut(self._symbol(name), 4)), "little", signed=True)

    def _write_symbol(self, name: str, value: int) -> None:
        self.gpu.submit(cmd.CopyIn(self._symbol(name), value.to_bytes(4, "little")))


class Replacement(NamedTuple):
    owner: Any
    name: str
    value: Any


def replacements(gpu: Device) -> list[Replacement]:
    """The replacements of numba.cuda's driver."""
    device = CurrentDevice(gpu)
    kernel = type("EmulatedKernel", (EmulatedKernel,), {"gpu": gpu})
    typeof_impl.register(DeviceArray, _type_of_device_array)
    in_dispatcher = {"_Kernel": kernel, "get_current_device": lambda: device}
    of_cuda = _api(gpu, device)
    return [
        *(Replacement(dispatcher, name, value) for name, value in in_dispatcher.items()),
        *(Replacement(cuda, name, value) for name, value in of_cuda.items()),
        Replacement(compiler, "get_current_device", lambda: device),
        Replacement(driver, "_to_core_stream", lambda stream: stream),
        Replacement(driver.driver, "is_initialized", True),
        Replacement(driver.driver, "initialization_error", NO_DRIVER),
        Replacement(codegen.CUDACodeLibrary, "_ensure_cc", lambda library, cc: cc or device.compute_capability),
        Replacement(
            dispatcher.ForAll,
            "_compute_thread_per_block",
            lambda forall, specialized: forall.thread_per_block or THREADS_OF_FORALL,
        ),
        # what it keeps on disk are cubins
        Replacement(dispatcher.CUDADispatcher, "enable_caching", lambda dispatcher: None),
    ]


def _api(gpu: Device, device: CurrentDevice) -> dict[str, Callable]:
    """The functions of `numba.cuda` that ask the GPU something."""

    def device_array(shape, dtype=np.float64, strides=None, order="C", stream=0):
        if strides is not None or order != "C":
            raise UsageError("cuda.device_array: the emulated GPU keeps arrays in C order; leave out strides and order")
        return gpu.device_array(shape, dtype)

    def host_array(shape, dtype=np.float64, strides=None, order="C", stream=0, **_):
        return np.empty(shape, dtype, order=order)

    context = CurrentContext(gpu, device)

    @contextmanager
    def nothing(*_, **__):
        yield

    def detect() -> bool:
        print(
            f"Found 1 CUDA device, emulated\nid 0    {device.name}, compute capability "
            f"{'.'.join(map(str, device.compute_capability))}"
        )
        return True

    return {
        "to_device": gpu.to_device,
        "device_array": device_array,
        "device_array_like": gpu.device_array_like,
        "pinned_array": host_array,
        "pinned_array_like": np.empty_like,
        "mapped_array": host_array,  # as any host array, a launch copies it in and back
        "mapped_array_like": np.empty_like,
        "managed_array": host_array,
        "pinned": nothing,
        "defer_cleanup": nothing,
        "profiling": nothing,
        "profile_start": lambda: None,
        "profile_stop": lambda: None,
        "synchronize": gpu.synchronize,
        "stream": gpu.stream,
        **dict.fromkeys(("default_stream", "legacy_default_stream", "per_thread_default_stream"), lambda: 0),
        "event": lambda timing=True: gpu.event(),
        "event_elapsed_time": lambda start, end: start.elapsed_time(end),
        "is_available": lambda: True,
        "get_current_device": lambda: device,
        "select_device": lambda number=0: device,
        "close": lambda: None,
        "gpus": [device],
        "list_devices": lambda: [device],
        "detect": detect,
        "current_context": lambda number=None: context,
        "is_cuda_array": lambda array: isinstance(array, DeviceArray) or hasattr(array, "__cuda_array_interface__"),
        "as_cuda_array": lambda array, sync=True: array,
    }


def _type_of_device_array(array: DeviceArray, context: Any) -> Array:
    return Array(numpy_support.from_dtype(array.dtype), array.ndim, "C")


def _text(argument: Any) -> str:
    """An argument in a launch's text."""
    argument = getattr(argument, "value", argument)
    return (
        type_text(argument.dtype, argument.shape) if isinstance(argument, np.ndarray | DeviceArray) else str(argument)
    )


def _capability(gpu: Device) -> tuple[int, int]:
    capability = divmod(int("".join(filter(str.isdigit, gpu.chip.arch))), 10)
    if capability < OLDEST_ARCH:
        raise UsageError(
            f"chip {gpu.chip.name} is {gpu.chip.arch}; numba-cuda compiles for sm_70 and later: call enable('a100')"
        )
    return capability
