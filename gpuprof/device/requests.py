"""Runs launches that were written as text. All are checked, and all their arrays made, before the first one runs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gpuprof.base.compared_results import Result
from gpuprof.base.stages import stage
from gpuprof.device.api import Device, Module
from gpuprof.device.array import DeviceArray
from gpuprof.device.array_contents import array_seed, make_array
from gpuprof.device.elements import ELEMENTS
from gpuprof.device.images import IMAGE_ELEMENTS
from gpuprof.device.launching.argument_values import (
    NOTHING_REQUESTED,
    Argument,
    ArraySpec,
    HandleValue,
    LaunchRequest,
    NamedArray,
    Raw,
    RequestedResults,
    TensorMapSpec,
    TextureSpec,
    array_of,
)
from gpuprof.device.launching.bind import ArrayValue, Value, check_count, parameter_block
from gpuprof.device.launching.config import checked
from gpuprof.device.results.plan import ResultPlan, compare_array, plan_results, save_array
from gpuprof.device.tensormap import TensorMap
from gpuprof.device.texture import image_of, make_surface, make_texture, sampler_of_options
from gpuprof.errors import UsageError

MAP_ELEMENTS = {"i8": "u8", "i16": "u16", "i32": "s32", "i64": "s64"}  # where a tensor map names a type otherwise


class LaunchArrays:
    """The arrays of some launches: `arrays["x"]` by name, `arrays[0, 3]` by launch and argument, both from 0; and what
    comparisons found, in the order made.
    """

    def __init__(self) -> None:
        self.results: list[Result] = []
        self._arrays: dict[str | tuple[int, int], DeviceArray] = {}
        self._elements: dict[str | tuple[int, int], str] = {}

    def __getitem__(self, key: str | tuple[int, int]) -> DeviceArray:
        return self._arrays[key]

    def add(self, place: tuple[int, int], array: DeviceArray, spec: ArraySpec) -> None:
        """The array that `spec` requests, made for a launch's argument."""
        for key in (place, spec.name) if spec.name else (place,):
            self._arrays[key], self._elements[key] = array, spec.element

    def share(self, place: tuple[int, int], name: str) -> None:
        """An argument is the array of that name."""
        self._arrays[place], self._elements[place] = self._arrays[name], self._elements[name]

    def made(self) -> Iterator[tuple[tuple[int, int], DeviceArray]]:
        """Each array once, in the order made, with the argument that it was made for."""
        seen: set[int] = set()
        for place, array in self._arrays.items():
            if isinstance(place, tuple) and id(array) not in seen:
                seen.add(id(array))
                yield place, array

    def element(self, place: tuple[int, int]) -> str:
        """The element type of an argument's array, a key of ELEMENTS: bf16, which numpy does not have, is held as
        integers.
        """
        return self._elements[place]


def run_requests(
    device: Device,
    module: Module,
    requests: Sequence[LaunchRequest],
    *,
    seed: int = 0,
    folder: Path = Path(),
    requested: RequestedResults = NOTHING_REQUESTED,
    cache: str = "",
) -> LaunchArrays:
    """Launches in order, sharing named arrays, and compares and saves results. `seed` is for random data; .npy files of
    launches are looked up from `folder`. `cache`: of launches that do not say it, "" as the run says.

    Raises UsageError, with the launch's place and text, for one that does not fit its kernel, the chip or its files,
    before any has run; GpuprofError when the disk refuses a result.
    """
    check_requests(device, module, requests)
    plan = plan_results(requests, [module[request.kernel].function for request in requests], requested, folder)
    arrays = LaunchArrays()
    with stage("making the arrays"):
        for launch, request in enumerate(requests):
            with _place_of(request):
                _make_arrays(device, arrays, launch, request, seed, folder)
    with stage("", "launches", len(requests), each="launch") as under_way:
        for launch, request in enumerate(requests):
            kernel = module[request.kernel]
            values = [
                _value(device, arrays, (launch, number), argument) for number, argument in enumerate(request.arguments)
            ]
            index = device.executor.n_launches
            config = request.config._replace(cache=request.config.cache or cache)
            device.launch(kernel.module, kernel.function, config, values, request.text)
            _handle_results(arrays, plan, launch, index)
            under_way.done += 1
        if any(request.config.stream for request in requests):
            device.synchronize()
        _handle_results(arrays, plan, None, device.executor.n_launches - 1)
    return arrays


def _handle_results(arrays: LaunchArrays, plan: ResultPlan, after: int | None, index: int) -> None:
    """Compares and saves the arrays of a request; after all requests for None. `index`: of the last launch."""
    for comparison in plan.comparisons_after(after):
        arrays.results.append(compare_array(comparison, arrays[comparison.array.array], index))
    for save in plan.saves_after(after):
        save_array(save, arrays[save.array.array])


def check_requests(device: Device, module: Module, requests: Sequence[LaunchRequest]) -> None:
    """Raises UsageError for everything that can be wrong with launches, short of making their arrays and running
    them.
    """
    declared: dict[str, ArraySpec] = {}
    for request in requests:
        with _place_of(request):
            _check_request(device, module, request, declared)


@contextmanager
def _place_of(request: LaunchRequest) -> Iterator[None]:
    """Adds to an error where its launch was written, and how."""
    try:
        yield
    except UsageError as error:
        origin = f"{request.place}: " if request.place else ""
        raise UsageError(f"{origin}{error}\n    {request.text}") from None


def _check_request(device: Device, module: Module, request: LaunchRequest, declared: dict[str, ArraySpec]) -> None:
    function = module[request.kernel].function
    stream = request.config.stream
    if stream < 0:
        raise UsageError(f"{function.display}: the stream is {stream}; it must not be negative")
    checked(function, request.config, device.chip)
    check_count(function, len(request.arguments))
    parameter_block(function, [_dry_value(argument, declared) for argument in request.arguments])


def _dry_value(argument: Argument, declared: dict[str, ArraySpec]) -> Value:
    """The value an argument will be, its address aside; notes the arrays that get a name."""
    match argument:
        case NamedArray(_, name) if name not in declared:
            raise UsageError(
                f"array {name} is not defined yet; define it where it is first used, as in {name}: f32[1024]=random"
            )
        case NamedArray(_, name):
            return ArrayValue(0, declared[name].element, declared[name].nbytes)
        case ArraySpec(name=name) if name in declared:
            raise UsageError(f"array {name} is already defined; write just {name} to use it again")
        case ArraySpec(name=name):
            if name:
                declared[name] = argument
            return ArrayValue(0, argument.element, argument.nbytes)
        case TextureSpec(text=text, array=array):
            _dry_value(array, declared)
            _check_texture(argument, declared[array.name] if isinstance(array, NamedArray) else array)
            return HandleValue(text, 0)
        case TensorMapSpec(array=array):
            _dry_value(array, declared)
            spec = declared[array.name] if isinstance(array, NamedArray) else array
            return _map_value(argument, _looked_at(spec), spec.element)
    return argument


def _map_value(spec: TensorMapSpec, array: DeviceArray, element: str) -> Raw:
    """The bytes of a tensor map over an array of `element`, which is a launch's type."""
    made = TensorMap(
        array,
        spec.box,
        element=spec.element or MAP_ELEMENTS.get(element, element),
        steps=spec.steps or None,
        swizzle=spec.swizzle,
        fill_nan=spec.fill_nan,
    )
    return Raw(spec.text, made.encode())


def _looked_at(spec: ArraySpec) -> DeviceArray:
    """An array that is not there yet, for its shape and type."""
    return DeviceArray(None, 0, spec.shape, ELEMENTS[spec.element].dtype)


def _check_texture(texture: TextureSpec, spec: ArraySpec) -> None:
    """Raises UsageError for an array that cannot be seen so."""
    if spec.element not in IMAGE_ELEMENTS:
        raise UsageError(
            f"a texture or surface cannot have elements of {spec.element}; it can have {' '.join(IMAGE_ELEMENTS)}"
        )
    image_of([_looked_at(spec)], texture.options, texture.is_surface)
    sampler_of_options(texture.options)


def _make_arrays(
    device: Device, arrays: LaunchArrays, launch: int, request: LaunchRequest, seed: int, folder: Path
) -> None:
    for number, argument in enumerate(request.arguments):
        array = array_of(argument)
        if isinstance(array, NamedArray):
            arrays.share((launch, number), array.name)
        elif isinstance(array, ArraySpec):
            made = _make_array(device, array, number, request.kernel, seed, folder)
            arrays.add((launch, number), made, array)


def _make_array(device: Device, spec: ArraySpec, number: int, kernel: str, seed: int, folder: Path) -> DeviceArray:
    name = spec.name or f"argument {number + 1} of {kernel}"
    array = device.device_array(
        spec.shape,
        ELEMENTS[spec.element].dtype,
        name=f"{name}, {spec.text.partition('=')[0].rpartition(':')[2].strip()}",
    )
    if spec.start != "zeros":  # new memory is zero already
        array.copy_to_device(
            make_array(spec.element, spec.shape, spec.start, array_seed(seed, spec.name or str(number)), folder)
        )
    return array


def _value(device: Device, arrays: LaunchArrays, key: tuple[int, int], argument: Argument) -> Value:
    if isinstance(argument, ArraySpec | NamedArray):
        return ArrayValue(arrays[key].address, "", arrays[key].nbytes)  # its element type was checked before
    if isinstance(argument, TextureSpec):
        if argument.is_surface:
            return make_surface(device.submit, arrays[key], argument.options.geometry).as_argument()
        return make_texture(device.submit, [arrays[key]], argument.options).as_argument()
    if isinstance(argument, TensorMapSpec):
        return _map_value(argument, arrays[key], arrays.element(key))
    return argument
