"""The results of launches written as text: arrays compared with expected values, and saved.

    LaunchRequests, Wanted ─ plan_results ─> ResultPlan ─ after each launch ─> Results; .npy files at the end

Everything is looked up and read before the first launch runs. Values are copied from memory once nothing is in flight
any more, so that what is timed stays as it is without.
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
    Argument,
    ArrayName,
    ArraySpec,
    Expected,
    LaunchRequest,
    NamedArray,
    TextureSpec,
    Wanted,
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


class Found(NamedTuple):
    """An array that was asked for, and the launch after which it is read: None for the last one."""

    array: tuple[int, int]
    spec: ArraySpec
    after: int | None


@dataclass(frozen=True)
class Comparison:
    found: Found
    name: str
    expected: str
    wanted: np.ndarray
    rtol: float
    atol: float


class ToSave(NamedTuple):
    found: Found
    path: Path


@dataclass(frozen=True)
class ResultPlan:
    comparisons: tuple[Comparison, ...]
    saves: tuple[ToSave, ...]

    def comparisons_after(self, launch: int | None) -> list[Comparison]:
        return [comparison for comparison in self.comparisons if comparison.found.after == launch]

    def saves_after(self, launch: int | None) -> list[ToSave]:
        return [save for save in self.saves if save.found.after == launch]


def plan_results(
    requests: Sequence[LaunchRequest], functions: Sequence[Function], wanted: Wanted, folder: Path
) -> ResultPlan:
    """Looks up arrays, and reads the files that they are compared with; those of the launches' own comparisons from
    `folder`. `functions`: the kernel of each request. Raises UsageError.
    """
    arrays = _Arrays(requests, functions)
    own = [
        _comparison(arrays.of_launch(expected, launch), expected, wanted, folder)
        for launch, request in enumerate(requests)
        for expected in request.expected
    ]
    asked = [
        _comparison(arrays.find(expected.array, expected.place), expected, wanted, wanted.folder)
        for expected in wanted.expected
    ]
    saves = tuple(ToSave(arrays.find(saved.array, "--save"), saved.path) for saved in wanted.saved)
    given = [name for name, value in (("--rtol", wanted.rtol), ("--atol", wanted.atol)) if value is not None]
    if given and not (own or asked):
        raise UsageError(
            f"{' and '.join(given)}: nothing is compared; give --expect, or ; y == ref.npy behind a launch"
        )
    _check_saves(saves, list(input_files(requests, wanted, folder)))
    return ResultPlan((*own, *asked), saves)


def input_files(requests: Sequence[LaunchRequest], wanted: Wanted, folder: Path) -> Iterator[Path]:
    """The .npy files that launches and comparisons read."""
    for request in requests:
        for argument in request.arguments:
            array = _array_of(argument)
            if isinstance(array, ArraySpec):
                yield folder / array.start
        yield from (folder / str(expected.reference) for expected in request.expected)
    yield from (wanted.folder / str(expected.reference) for expected in wanted.expected)


def _check_saves(saves: Sequence[ToSave], inputs: Sequence[Path]) -> None:
    for save in saves:
        if save.path.exists() and any(path.exists() and path.samefile(save.path) for path in inputs):
            raise UsageError(f"--save: {save.path} is read by this run; give another name")


def compare_array(comparison: Comparison, array: DeviceArray, launch: int) -> Result:
    """Reads an array and compares it; `launch` is the index of the last launch before."""
    got = numbers(comparison.found.spec.element, array.copy_to_host())
    found = difference(got, comparison.wanted, comparison.rtol, comparison.atol)
    result = Result(
        launch,
        comparison.name,
        comparison.expected,
        got.size,
        found.count,
        f"{comparison.rtol:g}",
        f"{comparison.atol:g}",
    )
    if not found.count:
        return result
    index = np.unravel_index(found.at, got.shape)
    return result._replace(
        first=str([int(number) for number in index]),
        got=str(got[index]),
        wanted=str(comparison.wanted[index]),
        absolute_error=f"{found.absolute_error:.6g}",
        relative_error=f"{found.relative_error:.6g}",
    )


def save_array(save: ToSave, array: DeviceArray) -> None:
    """Writes an array as a .npy file: bf16 as float32, which holds each of its values."""
    with replacing(save.path) as partial, open(partial, "wb") as file:
        np.save(file, numbers(save.found.spec.element, array.copy_to_host()), allow_pickle=False)


def _comparison(found: Found, expected: Expected, wanted: Wanted, folder: Path) -> Comparison:
    try:
        values = reference_array(found.spec.element, found.spec.shape, expected.reference, folder)
    except UsageError as error:
        raise UsageError(f"{expected.place}: {expected.array.text}, {_type(found.spec)}: {error}") from None
    return Comparison(
        found,
        expected.array.text,
        expected.text,
        values,
        _first_given(expected.rtol, wanted.rtol, default_rtol(found.spec.element)),
        _first_given(expected.atol, wanted.atol, DEFAULT_ATOL),
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

    def of_launch(self, expected: Expected, launch: int) -> Found:
        """The array that a launch's own comparison names: one that the launch or one before it has named, or a
        parameter.
        """
        before = [each for each in self.argued if each.launch <= launch]
        named = [each for each in before if each.name == expected.array.name]
        own = [each for each in before if each.launch == launch and each.parameter == expected.array.name]
        matches = named or own
        if not matches:
            raise self._unknown(expected.array, expected.place, before)
        return self._after(matches[0], launch, expected.array, expected.place)

    def find(self, array: ArrayName, place: str) -> Found:
        """The array that a name of the command line means. Raises UsageError for none, and for several."""
        launches = self._launches(array, place)
        there = [each for each in self.argued if each.launch in launches]
        matches = [each for each in there if each.name == array.name] or [
            each for each in there if array.name in (each.parameter, str(each.number + 1))
        ]
        if not matches:
            raise self._unknown(array, place, there)
        if len({each.made_at for each in matches}) > 1:
            names = ", ".join(self._full_name(each, array.name) for each in matches)
            raise UsageError(f"{place} {array.text}: {len(matches)} launches have such an array; name one: {names}")
        if array.ordinal is None:
            return Found(matches[0].made_at, matches[0].spec, None)
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

    def _after(self, each: Argued, launch: int, array: ArrayName, place: str) -> Found:
        """The array as a launch leaves it. Nobody waits for one on another stream: its array is read in the end, if no
        later launch writes to it.
        """
        stream = self.requests[launch].config.stream
        if stream == 0:
            return Found(each.made_at, each.spec, launch)
        later = [other for other in self.argued if other.launch > launch and other.made_at == each.made_at]
        if any(other.may_be_written for other in later):
            raise UsageError(
                f"{place}: {array.text} is wanted after a launch on stream {stream}, and a later launch may write to "
                "it; launch on stream 0, or name it after all launches"
            )
        return Found(each.made_at, each.spec, None)

    def _full_name(self, each: Argued, name: str) -> str:
        kernel = self.functions[each.launch].display
        ordinal = sum(function.display == kernel for function in self.functions[: each.launch + 1])
        return f"{kernel}#{ordinal}.{name}"

    def _unknown(self, array: ArrayName, place: str, there: list[Argued]) -> UsageError:
        scalar = self._scalar(array.name)
        if scalar:
            return UsageError(f"{place}: {array.text} is {scalar}, not an array")
        names = list(dict.fromkeys(each.name for each in there if each.name))
        near = get_close_matches(array.name, names, n=1)
        hint = f". Did you mean {near[0]}?" if near else "; name it in the launch, as in y: f32[1024]"
        return UsageError(
            f"{place}: no launch has an array {array.text}; named are: {', '.join(names) or 'none'}{hint}"
        )

    def _scalar(self, name: str) -> str:
        """What a parameter of the name is given that is no array, as text; "" where there is none."""
        for request, function in zip(self.requests, self.functions, strict=True):
            for number, (param, argument) in enumerate(zip(function.params, request.arguments, strict=True), 1):
                if name in (param.name, str(number)) and _array_of(argument) is None:
                    return f"{argument.text} in the launch of {function.display}"
        return ""


def _argued(requests: Sequence[LaunchRequest], functions: Sequence[Function]) -> Iterator[Argued]:
    named: dict[str, Argued] = {}
    for launch, (request, function) in enumerate(zip(requests, functions, strict=True)):
        for number, (argument, param) in enumerate(zip(request.arguments, function.params, strict=True)):
            array = _array_of(argument)
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


def _array_of(argument: Argument) -> ArraySpec | NamedArray | None:
    array = argument.array if isinstance(argument, TextureSpec) else argument
    return array if isinstance(array, ArraySpec | NamedArray) else None
