"""The results of launches written as text: arrays compared with expected values, and saved.

    LaunchRequests, RequestedResults ─ plan_results ─> ResultPlan ─ after each launch ─> Results; .npy files at the end

Everything is looked up and read before the first launch runs. Values are copied from memory once nothing is in flight
any more, so that the timing is the same as without.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gpuprof.base.compared_results import Result
from gpuprof.base.files import replacing
from gpuprof.base.wording import plural
from gpuprof.device.array import DeviceArray
from gpuprof.device.array_contents import numbers, reference_array
from gpuprof.device.kernels import means_kernel
from gpuprof.device.launching.argument_values import (
    ArrayName,
    ArraySpec,
    Expected,
    LaunchRequest,
    NamedArray,
    RequestedResults,
    array_of,
)
from gpuprof.device.results.comparing import DEFAULT_ATOL, default_rtol, difference
from gpuprof.errors import UsageError
from gpuprof.isa.program import Function, Param


class Argued(NamedTuple):
    """An array as an argument of a launch. `made_at`: launch and argument that made it, both from 0. What a kernel does
    with an address that it takes as a number is not known.
    """

    launch: int
    number: int
    parameter: str
    name: str  # of the array; "" without one
    made_at: tuple[int, int]
    spec: ArraySpec
    may_be_written: bool


class RequestedArray(NamedTuple):
    """A requested array, and the launch after which it is read: None for the last one."""

    array: tuple[int, int]
    spec: ArraySpec
    after: int | None


@dataclass(frozen=True)
class Comparison:
    array: RequestedArray
    name: str
    expected: str
    reference: np.ndarray
    rtol: float
    atol: float


class ToSave(NamedTuple):
    array: RequestedArray
    path: Path


@dataclass(frozen=True)
class ResultPlan:
    comparisons: tuple[Comparison, ...]
    saves: tuple[ToSave, ...]

    def comparisons_after(self, launch: int | None) -> list[Comparison]:
        return [comparison for comparison in self.comparisons if comparison.array.after == launch]

    def saves_after(self, launch: int | None) -> list[ToSave]:
        return [save for save in self.saves if save.array.after == launch]


def plan_results(
    requests: Sequence[LaunchRequest], functions: Sequence[Function], requested: RequestedResults, folder: Path
) -> ResultPlan:
    """Looks up arrays, and reads the files that they are compared with; those of the launches' own comparisons from
    `folder`. `functions`: the kernel of each request. Raises UsageError.
    """
    arrays = _Arrays(requests, functions)
    own = [
        _comparison(arrays.of_launch(expected, launch), expected, requested, folder)
        for launch, request in enumerate(requests)
        for expected in request.expected
    ]
    from_flags = [
        _comparison(arrays.find(expected.array, expected.place), expected, requested, requested.folder)
        for expected in requested.expected
    ]
    saves = tuple(ToSave(arrays.find(saved.array, "--save"), saved.path) for saved in requested.saved)
    given = [name for name, value in (("--rtol", requested.rtol), ("--atol", requested.atol)) if value is not None]
    if given and not (own or from_flags):
        raise UsageError(f"{' and '.join(given)}: nothing is compared; give --expect, or ; y == ref.npy after a launch")
    _check_saves(saves, list(input_files(requests, requested, folder)))
    return ResultPlan((*own, *from_flags), saves)


def input_files(requests: Sequence[LaunchRequest], requested: RequestedResults, folder: Path) -> Iterator[Path]:
    """The .npy files that launches and comparisons read."""
    for request in requests:
        for argument in request.arguments:
            array = array_of(argument)
            if isinstance(array, ArraySpec):
                yield folder / array.start
        yield from (folder / str(expected.reference) for expected in request.expected)
    yield from (requested.folder / str(expected.reference) for expected in requested.expected)


def _check_saves(saves: Sequence[ToSave], inputs: Sequence[Path]) -> None:
    for save in saves:
        if save.path.exists() and any(path.exists() and path.samefile(save.path) for path in inputs):
            raise UsageError(f"--save: {save.path} is read by this run; give another name")


def compare_array(comparison: Comparison, array: DeviceArray, launch: int) -> Result:
    """Reads an array and compares it; `launch` is the index of the last launch before."""
    got = numbers(comparison.array.spec.element, array.copy_to_host())
    measured = difference(got, comparison.reference, comparison.rtol, comparison.atol)
    result = Result(
        launch,
        comparison.name,
        comparison.expected,
        got.size,
        measured.count,
        f"{comparison.rtol:g}",
        f"{comparison.atol:g}",
    )
    if not measured.count:
        return result
    index = np.unravel_index(measured.at, got.shape)
    return result._replace(
        first=str([int(number) for number in index]),
        got=str(got[index]),
        wanted=str(comparison.reference[index]),
        absolute_error=f"{measured.absolute_error:.6g}",
        relative_error=f"{measured.relative_error:.6g}",
    )


def save_array(save: ToSave, array: DeviceArray) -> None:
    """Writes an array as a .npy file: bf16 as float32, which holds each of its values."""
    with replacing(save.path) as partial, open(partial, "wb") as file:
        np.save(file, numbers(save.array.spec.element, array.copy_to_host()), allow_pickle=False)


def _comparison(array: RequestedArray, expected: Expected, requested: RequestedResults, folder: Path) -> Comparison:
    try:
        values = reference_array(array.spec.element, array.spec.shape, expected.reference, folder)
    except UsageError as error:
        raise UsageError(f"{expected.place}: {expected.array.text}, {_type(array.spec)}: {error}") from None
    return Comparison(
        array,
        expected.array.text,
        expected.text,
        values,
        _first_given(expected.rtol, requested.rtol, default_rtol(array.spec.element)),
        _first_given(expected.atol, requested.atol, DEFAULT_ATOL),
    )


def _first_given(*values: float | None) -> float:
    return next(value for value in values if value is not None)


def _type(spec: ArraySpec) -> str:
    return f"{spec.element}[{','.join(map(str, spec.shape))}]"


class _Arrays:
    """The arrays that launches have as arguments, by their names."""

    def __init__(self, requests: Sequence[LaunchRequest], functions: Sequence[Function]):
        self.requests, self.functions = requests, functions
        self.argued = list(_argued(requests, functions))

    def of_launch(self, expected: Expected, launch: int) -> RequestedArray:
        """The array that a launch's own comparison names: one that the launch or one before it has named, or a
        parameter.
        """
        before = [argument for argument in self.argued if argument.launch <= launch]
        named = [argument for argument in before if argument.name == expected.array.name]
        own = [
            argument for argument in before if argument.launch == launch and argument.parameter == expected.array.name
        ]
        matches = named or own
        if not matches:
            raise self._unknown(expected.array, expected.place, before)
        return self._after(matches[0], launch, expected.array, expected.place)

    def find(self, array: ArrayName, place: str) -> RequestedArray:
        """The array that a name of the command line means. Raises UsageError for none, and for several."""
        launches = self._launches(array, place)
        candidates = [argument for argument in self.argued if argument.launch in launches]
        matches = [argument for argument in candidates if argument.name == array.name] or [
            argument for argument in candidates if array.name in (argument.parameter, str(argument.number + 1))
        ]
        if not matches:
            raise self._unknown(array, place, candidates)
        if len({argument.made_at for argument in matches}) > 1:
            names = ", ".join(self._full_name(argument, array.name) for argument in matches)
            raise UsageError(f"{place} {array.text}: {len(matches)} launches have such an array; name one: {names}")
        if array.ordinal is None:
            return RequestedArray(matches[0].made_at, matches[0].spec, None)
        return self._after(matches[0], matches[0].launch, array, place)

    def _launches(self, array: ArrayName, place: str) -> list[int]:
        """The launches that a name is about: of its kernel, or all."""
        if not array.kernel:
            return list(range(len(self.requests)))
        of_kernel = [n for n, function in enumerate(self.functions) if means_kernel(array.kernel, function)]
        if not of_kernel:
            names = ", ".join(dict.fromkeys(function.display for function in self.functions))
            raise UsageError(f"{place} {array.text}: no launch is of a kernel {array.kernel}; there are: {names}")
        if array.ordinal is None:
            return of_kernel
        if array.ordinal > len(of_kernel):
            times = plural(len(of_kernel), "time", "times")
            raise UsageError(f"{place} {array.text}: {array.kernel} is launched {times}")
        return [of_kernel[array.ordinal - 1]]

    def _after(self, argument: Argued, launch: int, array: ArrayName, place: str) -> RequestedArray:
        """The array as a launch leaves it. The host does not wait for a launch on another stream: its array is read in
        the end, if no later launch writes to it.
        """
        stream = self.requests[launch].config.stream
        if stream == 0:
            return RequestedArray(argument.made_at, argument.spec, launch)
        later = [other for other in self.argued if other.launch > launch and other.made_at == argument.made_at]
        if any(other.may_be_written for other in later):
            raise UsageError(
                f"{place}: {array.text} is requested after a launch on stream {stream}, and a later launch may write "
                "to it; launch on stream 0, or name it after all launches"
            )
        return RequestedArray(argument.made_at, argument.spec, None)

    def _full_name(self, argument: Argued, name: str) -> str:
        kernel = self.functions[argument.launch].display
        ordinal = sum(function.display == kernel for function in self.functions[: argument.launch + 1])
        return f"{kernel}#{ordinal}.{name}"

    def _unknown(self, array: ArrayName, place: str, candidates: list[Argued]) -> UsageError:
        scalar = self._scalar(array.name)
        if scalar:
            return UsageError(f"{place}: {array.text} is {scalar}, not an array")
        names = list(dict.fromkeys(argument.name for argument in candidates if argument.name))
        near = get_close_matches(array.name, names, n=1)
        hint = f". Did you mean {near[0]}?" if near else "; name it in the launch, as in y: f32[1024]"
        return UsageError(
            f"{place}: no launch has an array {array.text}; named are: {', '.join(names) or 'none'}{hint}"
        )

    def _scalar(self, name: str) -> str:
        """The argument of a parameter of this name, as text, when it is no array; "" where there is none."""
        for request, function in zip(self.requests, self.functions, strict=True):
            for number, (param, argument) in enumerate(zip(function.params, request.arguments, strict=True), 1):
                if name in (param.name, str(number)) and array_of(argument) is None:
                    return f"{argument.text} in the launch of {function.display}"
        return ""


def _argued(requests: Sequence[LaunchRequest], functions: Sequence[Function]) -> Iterator[Argued]:
    named: dict[str, Argued] = {}
    for launch, (request, function) in enumerate(zip(requests, functions, strict=True)):
        for number, (argument, param) in enumerate(zip(request.arguments, function.params, strict=True)):
            array = array_of(argument)
            if isinstance(array, NamedArray):
                made = named[array.name]
                yield made._replace(
                    launch=launch, number=number, parameter=param.name, may_be_written=_may_write(param)
                )
            elif array is not None:
                made = Argued(launch, number, param.name, array.name, (launch, number), array, _may_write(param))
                if array.name:
                    named[array.name] = made
                yield made


def _may_write(param: Param) -> bool:
    return param.is_written or not param.is_pointer
