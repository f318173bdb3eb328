"""The runs of a sweep, in the order of its table, and the task that each one gives a worker."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gpuprof.base.inputs import ARRAY, read_input
from gpuprof.chips import Chip, load_chip
from gpuprof.chips.changes import Value, chip_with
from gpuprof.device.launching.argument_values import (
    NOTHING_REQUESTED,
    Argument,
    ArraySpec,
    Expected,
    LaunchRequest,
    RequestedResults,
    TensorMapSpec,
    TextureSpec,
)
from gpuprof.device.launching.launch_requests import command_line_requests, embedded_requests
from gpuprof.device.launching.launch_text import kernel_names
from gpuprof.errors import GpuprofError, UsageError
from gpuprof.hosts import Host, load_host
from gpuprof.run.compile_file import DEFAULT_CHIP, DEFAULT_OPTIONS, BuildOptions, build
from gpuprof.run.target import Launches, Program, Target, target_of
from gpuprof.sweep.run_sweep import Kernels, Outcome, Task, in_short, versions
from gpuprof.sweep.sweep_parameters import Parameter, check_names, combinations

if TYPE_CHECKING:
    from gpuprof.isa.program import Program

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Plan:
    """The options of `gpuprof sweep`. `parameters` vary, the last one fastest; chips vary
    slowest.
    """

    file: Path
    chips: tuple[str, ...] = (DEFAULT_CHIP,)
    parameters: tuple[Parameter, ...] = ()
    in_step: bool = False
    launches: tuple[str, ...] = ()
    script_args: tuple[str, ...] = ()
    options: BuildOptions = DEFAULT_OPTIONS
    seed: int = 0
    max_cycles: int | None = None
    max_instructions: int | None = None
    sample_blocks: bool = False
    cache: str | None = None
    repeat: int | None = None
    wanted: RequestedResults = NOTHING_REQUESTED
    host: str | None = None  # None: each chip's own

    @cached_property
    def target(self) -> Target:
        """Raises UsageError for a file that does not run, or not so."""
        return target_of(self.file, (), self.script_args, self.launches, options=self.options, wanted=self.wanted)


@dataclass(frozen=True)
class Run:
    """One line of the plan: a chip with its numbers changed, and how the file is compiled. `values` are those of the
    parameters.
    """

    number: int
    chip: Chip
    host: Host | None
    values: tuple[Value, ...]
    defines: Mapping[str, str]
    options: BuildOptions
    requests: tuple[LaunchRequest, ...] = ()  # in place of the plan's
    source: str | None = None  # in place of the file's text


def runs(plan: Plan) -> list[Run]:
    """All runs of a plan. Raises UsageError for a chip, a parameter or a value that cannot be, before anything is
    compiled or run.
    """
    check_names(plan.parameters)
    _check_kinds(plan)
    chips = [load_chip(name) for name in plan.chips]
    _check_chips(plan, chips)
    host = load_host(plan.host) if plan.host else None
    chosen = list(combinations(plan.parameters, plan.in_step))
    pairs = [(chip, indices) for chip in chips for indices in chosen]
    return [_run(plan, number, chip, host, indices) for number, (chip, indices) in enumerate(pairs)]


def _check_chips(plan: Plan, chips: list[Chip]) -> None:
    names = [chip.name for chip in chips]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--chips {','.join(plan.chips)}: {name} is given twice")


def _check_kinds(plan: Plan) -> None:
    """Raises UsageError for parameters that do nothing to a file of this kind."""
    suffix = plan.file.suffix
    useless = {"define": (".ptx", ".gpubin"), "registers": (".gpubin",)}
    is_built = isinstance(plan.target, Program) and plan.target.is_built
    for parameter in plan.parameters:
        if suffix in useless.get(parameter.kind, ()) or (is_built and parameter.kind == "define"):
            raise UsageError(f"{plan.file}: is already compiled, so {parameter.name} has no effect; leave it out")


def _run(plan: Plan, number: int, chip: Chip, host: Host | None, indices: tuple[int, ...]) -> Run:
    picked = list(zip(plan.parameters, indices, strict=True))
    numbers = {parameter.name: parameter.values[index] for parameter, index in picked if parameter.kind == "chip"}
    defines = {parameter.name: parameter.texts[index] for parameter, index in picked if parameter.kind == "define"}
    registers = [int(parameter.texts[index]) for parameter, index in picked if parameter.kind == "registers"]
    options = replace(
        plan.options,
        defines=(*plan.options.defines, *(f"{name}={text}" for name, text in defines.items())),
        max_registers=registers[0] if registers else plan.options.max_registers,
    )
    values = tuple(parameter.values[index] for parameter, index in picked)
    return Run(number, chip_with(chip, numbers), host, values, defines, options)


def prepare(plan: Plan, planned: list[Run]) -> list[Task | Outcome]:
    """A task for each run, with its kernels compiled and arrays read. Where the file does not compile for a run,
    that is its outcome.

    Raises UsageError for what no run can do without, and the compiler's own error when the file compiles for none of
    the runs.
    """
    if not isinstance(plan.target, Launches):
        here = replace(plan, file=plan.file.absolute()).target
        return [_task(plan, run, here) for run in planned]
    preparation = _Preparation(plan)
    made = [preparation.of(run) for run in planned]
    failures = [each for each in made if isinstance(each, GpuprofError)]
    if len(failures) == len(made):
        raise failures[0]
    return [
        Outcome(run.number, (), in_short(each, plan.file.parent.absolute()))
        if isinstance(each, GpuprofError)
        else _task(plan, run, each)
        for run, each in zip(planned, made, strict=True)
    ]


def _task(plan: Plan, run: Run, work: Kernels | Target) -> Task:
    return Task(
        run.number,
        run.chip,
        run.host,
        work,
        run.options,
        plan.max_cycles,
        plan.max_instructions,
        plan.sample_blocks,
        plan.cache,
        plan.repeat,
        versions(),
    )


class _Preparation:
    """Compiles each program of a sweep once, and reads each array file once."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.comments = file_requests(plan)
        self._built: dict[tuple, tuple[Program, bytes] | GpuprofError] = {}
        self._files: dict[Path, bytes] = {}

    def of(self, run: Run) -> Kernels | GpuprofError:
        """The kernels that `run` launches; the error when its program cannot be compiled."""
        requests = run.requests or flag_requests(self.plan, run) or self.comments
        built = self._build(run, tuple(kernel_names(requests)))
        if isinstance(built, GpuprofError):
            return built
        program, image = built
        names = FileNames(self.plan.target.folder)
        requests = names.of_requests(requests or self._embedded(program))
        wanted = replace(self.plan.wanted, expected=names.of_expected(self.plan.wanted.expected, Path()))
        return Kernels(
            self.plan.file.stem,
            image,
            requests,
            {name: self._array(path) for path, name in names.names.items()},
            wanted,
            self.plan.seed,
        )

    def _build(self, run: Run, names: tuple[str, ...]) -> "tuple[Program, bytes] | GpuprofError":
        key = (run.chip.arch, run.options, names, run.source)
        if key not in self._built:
            try:
                self._built[key] = build(
                    self.plan.file, arch=run.chip.arch, names=names, options=run.options, source=run.source
                )
            except UsageError:
                raise
            except GpuprofError as error:  # of this run's macros, perhaps: the others may do
                self._built[key] = error
        return self._built[key]

    def _embedded(self, program: "Program") -> tuple[LaunchRequest, ...]:
        kernels = [function.display for function in program.functions if function.is_kernel]
        return tuple(embedded_requests(self.plan.file, program.sources, kernels))

    def _array(self, path: Path) -> bytes:
        if path not in self._files:
            self._files[path] = read_input(path, ARRAY)
        return self._files[path]


def flag_requests(plan: Plan, run: Run) -> tuple[LaunchRequest, ...]:
    """The launches of the plan's flags, with the values of a run."""
    return tuple(command_line_requests(with_values(text, run.defines) for text in plan.launches))


def file_requests(plan: Plan) -> tuple[LaunchRequest, ...]:
    """The launches that the plan's source names, where no flag does."""
    if plan.launches or not isinstance(plan.target, Launches):
        return ()
    return tuple(
        replace(request, place=request.place.removeprefix(f"{plan.file.parent}/")) for request in plan.target.requests
    )


def with_values(launch: str, defines: Mapping[str, str], flag: str = "--define") -> str:
    """A launch's text with {TILE} replaced by what the run defines TILE as. Raises UsageError for a name that `flag`
    does not have.
    """

    def value(match: re.Match) -> str:
        if match[1] not in defines:
            known = ", ".join(defines) or "none"
            raise UsageError(f"--launch {launch}: {match[0]} needs a {flag} of that name (there are: {known})")
        return defines[match[1]]

    return _PLACEHOLDER.sub(value, launch)


class FileNames:
    """Array files as they travel: `names` has a plain file name for each path."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.names: dict[Path, str] = {}

    def of_requests(self, requests: tuple[LaunchRequest, ...]) -> tuple[LaunchRequest, ...]:
        """The requests with these names in place of paths, which are relative to `folder`."""
        return tuple(
            replace(
                request,
                arguments=tuple(map(self._of_argument, request.arguments)),
                expected=self.of_expected(request.expected, self.folder),
            )
            for request in requests
        )

    def of_expected(self, expected: tuple[Expected, ...], folder: Path) -> tuple[Expected, ...]:
        """The comparisons with these names in place of paths, which are relative to `folder`."""
        return tuple(replace(each, reference=self._of_start(each.reference, folder)) for each in expected)

    def _of_argument(self, argument: Argument) -> Argument:
        if isinstance(argument, TextureSpec | TensorMapSpec):
            return replace(argument, array=self._of_argument(argument.array))
        if not isinstance(argument, ArraySpec):
            return argument
        return replace(argument, start=self._of_start(argument.start, self.folder))

    def _of_start(self, start: str | int | float, folder: Path) -> str | int | float:
        if not isinstance(start, str) or not start.endswith(".npy"):
            return start
        path = folder / start
        return self.names.setdefault(path, f"{len(self.names)}-{path.name}")
