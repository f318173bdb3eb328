"""The Python face: names and order of numba.cuda, so that its users feel at home.

    gpu = gpuprof.Device("a100"); mod = gpu.load("matmul.cu")
    a = gpu.to_device(array); c = gpu.device_array((n, n), np.float32)
    mod.matmul[(32, 32), (16, 16)](a, b, c, n)          # [grid, block, stream, shared_bytes]
    c.copy_to_host()

A Device only says what is to be done; an Executor does it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gpuprof.chips import Chip
from gpuprof.device import commands as cmd
from gpuprof.device.array import DeviceArray, host_array, plain_dtype, type_text
from gpuprof.device.host_arguments import host_arguments
from gpuprof.device.images import TextureOptions
from gpuprof.device.kernels import find_instance, find_kernel, has_kernel
from gpuprof.device.launching.bind import Value, parameter_block
from gpuprof.device.launching.config import LaunchConfig, checked_launch
from gpuprof.device.launching.limits import Extent, check_cache_control
from gpuprof.device.module import LoadedModule
from gpuprof.device.sampler import Sampler
from gpuprof.device.streams import Event, Stream, StreamLike, stream_number
from gpuprof.device.tasks import Related, Row, Task, state
from gpuprof.device.texture import Surface, Texture, device_arrays, make_surface, make_texture
from gpuprof.device.variables import find_variable, source_name
from gpuprof.errors import UsageError
from gpuprof.isa.handles import bind_word
from gpuprof.isa.program import Function, Program

if TYPE_CHECKING:
    from gpuprof.compile import PtxModule

CUDA_SUFFIXES = (".cu", ".cuh")


class Executor(Protocol):
    """Carries out commands, one after the other. `n_launches`: Launch commands carried out so far. `host_ns`: the
    host's clock, in ns since the first command. `place_of_call` returns the host's location ("app.cu:15: cudaFree"),
    "" where it is unknown: errors of the host are reported with it.
    """

    n_launches: int
    host_ns: int
    place_of_call: Callable[[], str]

    def compile(self, path: Path, names: Iterable[str] = (), compiler: str | None = None) -> Program:
        """The program of a .cu, .ptx or .gpubin file; `names` are kernels it must have, template instances among
        them.
        """

    def assemble(self, module: "PtxModule") -> Program:
        """The program of PTX that the caller has compiled."""

    def adopt(self, program: Program, image: bytes) -> None:
        """Takes a program that the caller has compiled and assembled, with its ELF image, before it is loaded."""

    def submit(self, command: cmd.Command) -> Any:
        """Carries out a command and returns the result that the command's docstring describes. What it raises comes out
        of the call that asked.
        """

    def finish_emulation(self) -> None:
        """Memory is as all launches so far leave it."""

    def add_trace_generator(self, generator: Any, where: str = "") -> None:
        """A gpuprof.trace.TraceGenerator watches launches from now on."""

    def remove_trace_generator(self, generator: Any) -> None:
        """Detaches a trace generator; earlier requests are carried out first."""

    def finish(self) -> None:
        """No command follows: waits for all that was asked."""

    def drop(self) -> None:
        """Abandons the last requests: no command follows and no result is needed, so running work stops at once."""


class Device:
    """An emulated GPU, from the host's side."""

    def __init__(self, executor: Executor, chip: Chip):
        self.executor, self.chip = executor, chip
        self.sampler = Sampler(self.submit)
        self._array_numbers, self._stream_numbers, self._event_numbers = count(1), count(1), count(0)
        self._task_numbers = count(0)
        self._measured = ("", 0)  # cache and repeat of launches that do not say them

    def submit(self, command: cmd.Command) -> Any:
        return self.executor.submit(command)

    def load(self, path: str | Path, instantiate: Sequence[str] = (), *, compiler: str | None = None) -> "Module":
        """Compiles and loads a .cu, .ptx or .gpubin file. `instantiate` names template kernels to have from the start.

        compiler: "clang", "nvcc" where it is installed, or the path of either, in place of what `collect --compiler`
        says.
        """
        return Module(self, Path(path), instantiate, compiler)

    def load_ptx(self, module: "PtxModule") -> LoadedModule:
        """Assembles and loads PTX that another compiler has just made. Its kernels are launched with `launch`."""
        return self.submit(cmd.Load(self.executor.assemble(module)))

    def to_device(
        self, obj: Any, stream: StreamLike = 0, copy: bool = True, to: DeviceArray | None = None
    ) -> DeviceArray:
        """A copy of an array (or of what numpy makes one of) in device memory, in C order; in `to` when that is
        given.
        """
        array = host_array(obj)
        target = self.device_array(array.shape, array.dtype) if to is None else to
        if copy:
            target.copy_to_device(array, stream)
        return target

    def device_array(self, shape: int | Sequence[int], dtype: Any = np.float64, *, name: str = "") -> DeviceArray:
        """A new array of zeros. `name` is what error messages call it."""
        extents = tuple(integer(extent, "an array's extent") for extent in np.atleast_1d(np.asarray(shape, object)))
        if any(extent < 0 for extent in extents):
            raise UsageError(f"an array cannot have the shape {list(extents)}")
        kind = plain_dtype(dtype)
        array = DeviceArray(
            self.submit, 0, extents, kind, name or f"array {next(self._array_numbers)} of {type_text(kind, extents)}"
        )
        array.address = self.submit(cmd.Allocate(array.nbytes, array.name)).address
        return array

    def device_array_like(self, ary: np.ndarray | DeviceArray) -> DeviceArray:
        return self.device_array(ary.shape, ary.dtype)

    def texture(self, array: Any, geometry: str = "", *, filter: str = "nearest",
        address: str | Sequence[str] = "clamp",
                normalized: bool = False, read: str = "element", mip_filter: str = "nearest",
                srgb: bool = False) -> Texture:  # fmt: skip
        """A texture over an array (copied in unless it is a device array), or over a list of them, the mipmap levels.

        geometry: "1d", "2d", "3d", "a1d" and "a2d" (layered), "cube", "acube"; by the array when left out. A further
        dimension of 1, 2 or 4 is the channels. address: "clamp", "wrap", "mirror", "border", for all dimensions or x,
        y, z; read: "element", "normalized".
        """
        modes = (address,) if isinstance(address, str) else tuple(address)
        options = TextureOptions(geometry, filter, modes, normalized, read, mip_filter, srgb)
        return make_texture(self.submit, device_arrays(self.to_device, array), options)

    def surface(self, array: Any, geometry: str = "") -> Surface:
        """A surface over an array, which kernels read and write; `.array` is the device array."""
        (data,) = device_arrays(self.to_device, array)
        return make_surface(self.submit, data, geometry)

    def stream(self, priority: int = 0, non_blocking: bool = False) -> Stream:
        """A new stream. Of launches that wait for room, those of the smaller priority number start their blocks first,
        as in CUDA. `non_blocking`: as cudaStreamNonBlocking, for racecheck.
        """
        number = next(self._stream_numbers)
        return Stream(self.submit, number, integer(priority, "a stream's priority"), bool(non_blocking))

    def event(self) -> Event:
        return Event(self.submit, next(self._event_numbers), self.chip.clock_mhz)

    def synchronize(self) -> None:
        """Waits for everything asked so far."""
        self.submit(cmd.Wait(cmd.EVERYTHING, cmd.HOST))

    @contextmanager
    def task(
        self,
        name: str,
        *,
        parent: Task | None = None,
        row: Row | None = None,
        produces: Related | None = None,
        consumes: Related | None = None,
        depends_on: Related | None = None,
        is_command_buffer: bool = False,
    ) -> Iterator[Task]:
        """`with gpu.task("layer 1"):` makes what is asked inside parts of a task. Tasks nest; command buffers do not.

        parent: the task that it is a part of, in place of the one around it. produces, consumes: arrays; depends_on:
        tasks.
        """
        task = Task(self.submit, next(self._task_numbers), name)
        above = cmd.NO_TASK if parent is None else parent.identifier
        self.submit(
            cmd.TaskBegin(name, task.identifier, above, row.name if row else "", is_command_buffer=is_command_buffer)
        )
        try:
            state(task, {"produces": produces, "consumes": consumes, "depends on": depends_on})
            yield task
        finally:
            self.submit(cmd.TaskEnd(name, task.identifier))

    def virtual_task(
        self,
        name: str,
        *,
        parent: Task | None = None,
        kernel: str = "",
        writes: str = "",
        starts: str = "",
    ) -> Task:
        """A task whose parts other tasks become later: with `add`, or by a rule, until its `end`. The rule is a regular
        expression: all launches of a `kernel`, all tasks that write a buffer (`writes`), or all that is asked from a
        launch of a kernel (`starts`) until the next one of it.
        """
        rules = [(key, text) for key, text in (("kernel", kernel), ("writes", writes), ("starts", starts)) if text]
        if len(rules) > 1:
            raise UsageError(f"virtual task {name!r}: give one of kernel, writes and starts")
        task = Task(self.submit, next(self._task_numbers), name, is_virtual=True)
        above = cmd.NO_TASK if parent is None else parent.identifier
        key, pattern = rules[0] if rules else ("", "")
        self.submit(cmd.TaskBegin(name, task.identifier, above, "", True, key, pattern))
        return task

    def last_task(self) -> Task:
        """The most recently requested launch, copy or wait, as a task."""
        task = Task(self.submit, next(self._task_numbers), "the last task")
        self.submit(cmd.Identify(task.identifier))
        return task

    def row(self, name: str) -> Row:
        """A row for tasks of their own, such as those of another thread of the script."""
        return Row(name)

    def add_trace_generator(self, generator: Any, where: str = "") -> None:
        """Lets a gpuprof.trace.TraceGenerator watch the launches from now on. `where` names some of them, as sampling
        filters do: "kernel=^saxpy", "launch=0-3", "stream=1", "task=layer", "skip=2", "count=1".
        """
        self.executor.add_trace_generator(generator, where)

    def remove_trace_generator(self, generator: Any) -> None:
        """Waits for everything asked so far; the generator watches no more."""
        self.executor.remove_trace_generator(generator)

    @contextmanager
    def trace(self, generator: Any, where: str = "") -> Iterator[Any]:
        """`with gpu.trace(MyGenerator()) as found:` watches the launches inside."""
        self.add_trace_generator(generator, where)
        try:
            yield generator
        finally:
            self.remove_trace_generator(generator)

    @contextmanager
    def measure(self, *, cache: str = "", repeat: int = 0) -> Iterator[None]:
        """`with gpu.measure(cache="cold", repeat=5):` says how the launches inside are measured: what the caches hold
        ("cold", "warm" or "keep"), and how often they are timed. `--cache` and `--repeat` of `collect` go before it.
        """
        check_cache_control("measure", cache, integer(repeat, "repeat"))
        before, self._measured = self._measured, (cache or self._measured[0], repeat or self._measured[1])
        try:
            yield
        finally:
            self._measured = before

    def launch(
        self, module: LoadedModule, function: Function, config: LaunchConfig, values: Sequence[Value], text: str
    ) -> Any:
        """Checks a launch and submits it; returns the executor's result. Raises UsageError when it does not fit kernel
        or chip.
        """
        params = parameter_block(function, values)
        cache, repeat = self._measured
        config = config._replace(cache=config.cache or cache, repeat=config.repeat or repeat)
        return self.submit(checked_launch(self.chip, self.executor.n_launches, module, function, config, params, text))


class Module:
    """A loaded file. Its kernels are attributes (`mod.saxpy`) and items (`mod["scan<256>"]`, also by symbol)."""

    def __init__(self, device: Device, path: Path, instantiate: Sequence[str] = (), compiler: str | None = None):
        self._device, self._path, self._compiler = device, path, compiler
        self._loaded: list[LoadedModule] = []
        self._found: dict[str, tuple[LoadedModule, Function]] = {}  # by the requested names
        self._load(device.executor.compile(path, tuple(instantiate), compiler))

    @property
    def kernels(self) -> list[str]:
        """Names of the kernels it has, as in the source. A template instance is among them once it was requested."""
        names = (
            function.display for module in self._loaded for function in module.program.functions if function.is_kernel
        )
        return list(dict.fromkeys(names))

    @property
    def sources(self) -> dict[str, str]:
        """Path -> text of the source files it was compiled from, as far as they were stored."""
        return {path: text for module in self._loaded for path, text in module.program.sources.items()}

    def __getitem__(self, name: str) -> "Kernel":
        """A kernel. A template instance that the module does not have yet is compiled now, into a module of its own:
        its `__device__` variables are not those of the other kernels then. Device.load(instantiate=...) keeps them
        together.
        """
        if name not in self._found:
            self._found[name] = self._find(name)
        return Kernel(self._device, *self._found[name])

    def __getattr__(self, name: str) -> "Kernel":
        if name.startswith("_"):  # Python's own probes, and mistakes inside this class
            raise AttributeError(name)
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.kernels]

    def symbol(self, name: str, dtype: Any = np.uint8) -> DeviceArray:
        """A `__device__` or `__constant__` variable as an array of `dtype`, to copy to and from. Raises UsageError for
        an unknown name.
        """
        for module in self._loaded:
            if variable := find_variable(module.program, name):
                kind = plain_dtype(dtype)
                if variable.nbytes % kind.itemsize:
                    raise UsageError(f"{name} has {variable.nbytes} bytes, which is not a whole number of {kind}")
                shape = (variable.nbytes // kind.itemsize,)
                return DeviceArray(
                    self._device.submit, module.global_symbols[variable.name], shape, kind, name, is_part=True
                )
        known = sorted({source_name(variable.name) for module in self._loaded for variable in module.program.variables})
        raise UsageError(f"{self._path} has no variable {name}; it has {', '.join(known) or 'none'}")

    def bind(self, name: str, texture: Texture) -> None:
        """Binds a texture or surface to a `.texref` or `.surfref` variable of a PTX file."""
        variable = self.symbol(name, np.uint64)
        old = int(variable.copy_to_host()[0])
        variable.copy_to_device(np.array([bind_word(old, texture.handle)], np.uint64))

    def _find(self, name: str) -> tuple[LoadedModule, Function]:
        for module in self._loaded:
            if has_kernel(module.program, name):
                return module, find_kernel(module.program, name)
        if name.endswith(">") and self._path.suffix in CUDA_SUFFIXES:
            return self._instantiate(name)
        return self._loaded[0], find_kernel(self._loaded[0].program, name)

    def _instantiate(self, name: str) -> tuple[LoadedModule, Function]:
        """Compiles one more instance. The compiler may name it otherwise ("scan<2*128>" is scan<256>): then there may
        be one already.
        """
        program = self._device.executor.compile(self._path, (name,), self._compiler)
        function = find_instance(program, name)
        for module in self._loaded:
            if has_kernel(module.program, function.name):
                return module, find_kernel(module.program, function.name)
        return self._load(program), function

    def _load(self, program: Program) -> LoadedModule:
        self._loaded.append(self._device.submit(cmd.Load(program)))
        return self._loaded[-1]


class Kernel:
    """A kernel, to be launched as `kernel[grid, block, stream, shared_bytes, cluster](arguments...)`; the last three
    may be left out.

    A last "dependent" makes it a programmatic dependent launch: `kernel[grid, block, stream,
    "dependent"](arguments...)`.
    """

    def __init__(self, device: Device, module: LoadedModule, function: Function):
        self.device, self.module, self.function = device, module, function

    @property
    def name(self) -> str:
        return self.function.display

    def __getitem__(self, config: Any) -> "ConfiguredKernel":
        dependent = isinstance(config, tuple) and isinstance(config[-1], str) and config[-1] == "dependent"
        config = config[:-1] if dependent else config
        if not isinstance(config, tuple) or not 2 <= len(config) <= 5:
            raise UsageError(
                f"{self.name}: launch it as {self.name}[grid, block](...) or [grid, block, stream, shared_bytes, "
                "cluster]"
            )
        grid, block, stream, shared_nbytes, cluster = (*config, *(0, 0, None)[len(config) - 2 :])
        return ConfiguredKernel(
            self,
            LaunchConfig(
                _extent(grid, "the grid"),
                _extent(block, "the block"),
                integer(shared_nbytes, "shared_bytes"),
                stream_number(stream),
                _extent(cluster, "the cluster") if cluster else None,
                dependent,
            ),
        )

    def __call__(self, *arguments: Any) -> None:
        raise UsageError(f"{self.name}: needs a grid and a block: {self.name}[grid, block](...)")


class ConfiguredKernel:
    """A kernel with its grid and block; calling it launches."""

    def __init__(self, kernel: Kernel, config: LaunchConfig):
        self.kernel, self.config = kernel, config

    def __call__(self, *arguments: Any) -> None:
        """Launches with numbers, device arrays and numpy arrays (copied in, and back out when the kernel writes
        them).
        """
        kernel, device = self.kernel, self.kernel.device
        with host_arguments(device.submit, kernel.function, arguments) as given:
            text = f"{kernel.name}{self.config}({', '.join(given.texts)})"
            device.launch(kernel.module, kernel.function, self.config, given.values, text)
            given.copy_back()


def _extent(value: Any, what: str) -> Extent:
    parts = value if isinstance(value, tuple | list) else (value,)
    if not 1 <= len(parts) <= 3:
        raise UsageError(f"{what} has 1 to 3 dimensions, not {len(parts)}")
    x, y, z = [integer(part, what) for part in parts] + [1] * (3 - len(parts))
    return (x, y, z)


def integer(value: Any, what: str) -> int:
    """The value as Python's. Raises UsageError for a value that is no integer."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise UsageError(f"{what} must be an integer, not {value!r}")
    return int(value)
