"""One run of a sweep: what a worker is given, what it does, what it gives back."""

import hashlib
import os
import pickle
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import PIPE, Popen
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from gpuprof.base.cache_control import AS_THE_PROGRAM, COLD
from gpuprof.base.processes import ending_with_this
from gpuprof.base.scratch import remove_left_folders, temporary_folder
from gpuprof.base.wording import installed_version
from gpuprof.chips import Chip
from gpuprof.device.launching.argument_values import (
    NOTHING_REQUESTED,
    Argument,
    ArraySpec,
    LaunchRequest,
    RequestedResults,
    TensorMapSpec,
    TextureSpec,
    array_of,
)
from gpuprof.errors import GpuprofError, ScriptError, WrongResult
from gpuprof.hosts import Host
from gpuprof.isa.opcodes import ISA_VERSION
from gpuprof.isa.program import Param
from gpuprof.run.compile_file import BuildOptions
from gpuprof.run.target import Target
from gpuprof.run.trace_file.layout import SweptProgram
from gpuprof.timing.state.model_version import MODEL_VERSION

if TYPE_CHECKING:
    from gpuprof.device.requests import LaunchArrays

# What a task brings back of its results.
NO_RESULTS, DIGESTS, VALUES = "", "digests", "values"
CONFIGS = "configs"  # not of results: of the first kernel that Triton would tune; the script ends there
COPIES = "copies to the host"  # the one result of a script or a program


@dataclass(frozen=True)
class Kernels:
    """Launches of compiled kernels. `image` is the gpubin; `arrays` the bytes of .npy files, by the names that the
    requests, and what is wanted of their results, have for them.
    """

    name: str
    image: bytes
    requests: tuple[LaunchRequest, ...]
    arrays: Mapping[str, bytes]
    wanted: RequestedResults
    seed: int


class Traces(NamedTuple):
    """The traces of a run's launches: it takes them from a file, or writes them to one."""

    path: Path
    program: SweptProgram
    is_written: bool


@dataclass(frozen=True)
class Task:
    """One run, as it travels to a worker. `versions` are those that the worker must have. A script or a program does
    not travel: the worker must see it, and the files that it reads, under the same paths.
    """

    number: int
    chip: Chip
    host: Host | None
    work: Kernels | Target
    options: BuildOptions
    max_cycles: int | None
    max_instructions: int | None
    sample_blocks: bool
    cache: str | None
    repeat: int | None
    versions: Mapping[str, str]
    brings: str = NO_RESULTS
    traces: Traces | None = None


@dataclass(frozen=True)
class Measured:
    """One launch. `grid` and `block` are "x,y,z"; `metrics` those of correlate.metrics, by name. `cycles_error` bounds,
    as a share, how far off the cycles are when only some blocks were timed; None when all were. `blocks_per_sm` fit."""

    launch: int
    kernel: str
    grid: str
    block: str
    metrics: Mapping[str, int]
    cycles_error: float | None = None
    task: str = ""  # names of the tasks it belongs to, joined by /
    control: str = ""  # what the caches held, as base.cache_control.CacheControl says it
    blocks_per_sm: int = 0


class Brought(NamedTuple):
    """An array as the last launch leaves it, or what a script or a program copies to the host, in order.

    `name`: "y", "saxpy.y" for an array without a name, COPIES. `element`: a key of device.elements.ELEMENTS; "" of
    copies. `digest`: SHA-256 of the bytes, in hexadecimal. `data`: the bytes, where the task asks for values.
    """

    name: str
    parameter: str  # of the kernel that takes it first; "" of copies
    element: str
    digest: str
    data: bytes = b""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run: its launches, or the reason why it failed. `is_wrong`: an array is not what the launches
    or the user expect.
    """

    number: int
    launches: tuple[Measured, ...]
    error: str = ""
    is_wrong: bool = False
    results: tuple[Brought, ...] = ()
    configs: tuple[str, ...] = ()  # as run.triton_config has them
    not_stored: str = ""  # why the run has not written the traces that it was to write


def versions() -> dict[str, str]:
    """The versions that must be the same wherever runs of one table are done."""
    return {"gpuprof": installed_version(), "timing model": MODEL_VERSION, "instruction set": str(ISA_VERSION)}


def differing(found: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    """The words on how the gpuprof found differs from the one wanted; "" when it does not."""
    for what, version in wanted.items():
        if found.get(what) != version:
            return f"has {what} {found.get(what)}, not {version}; install the same gpuprof everywhere"
    return ""


# a worker of a cluster has several threads; the emulator wants its process for itself
_ONE_AT_A_TIME = threading.Lock()


def run_one(task: Task) -> Outcome:
    """Does a run. It depends only on the task, and leaves no files. Raises GpuprofError for a task of another
    version only.
    """
    if difference := differing(versions(), task.versions):
        raise GpuprofError(f"a worker {difference}")
    if not isinstance(task.work, Kernels):
        return _in_process_of_its_own(task)
    with _ONE_AT_A_TIME:
        return measure(task)


def measure(task: Task) -> Outcome:
    """The outcome of a task, in this process."""
    with temporary_folder() as folder:
        try:
            return _carried_out(task, folder)
        except _Tuned as found:
            return Outcome(task.number, (), configs=found.configs)
        except GpuprofError as error:
            is_kernels = isinstance(task.work, Kernels)
            folders = [folder] if is_kernels else [folder, task.work.file.parent]
            is_wrong = is_kernels and isinstance(error, WrongResult)
            return Outcome(task.number, (), in_short(error, *folders), is_wrong)


class _Tuned(BaseException):
    """Ends a script whose Configs are all that is wanted; no `except Exception` of its own holds it."""

    def __init__(self, configs: Sequence[str]):
        super().__init__()
        self.configs = tuple(configs)


def _carried_out(task: Task, folder: Path) -> Outcome:
    """The launches of a task, and what it brings back of their results."""
    from gpuprof.records.writer import RecordWriter
    from gpuprof.run.run_settings import Observer, Settings

    errors: dict[int, float] = {}  # by launch
    copied = hashlib.sha256()

    class Notes(Observer):
        def finished(self, result) -> None:
            if writer:
                writer.finished(result.launch, result.counters)
            if result.timing.extrapolation:
                errors[result.launch.index] = result.timing.extrapolation.error

        def copied_out(self, data: bytes) -> None:
            if task.brings:
                copied.update(data)

        def tuned(self, configs: Sequence[str]) -> None:
            if task.brings == CONFIGS:
                raise _Tuned(configs)

    recording = folder / "run.gprec"
    with RecordWriter(recording) as recorder, _writer_of(task) as writer:
        settings = Settings(
            chip=task.chip,
            host=task.host,
            recorder=recorder,
            max_cycles=task.max_cycles,
            max_instructions=task.max_instructions,
            sample_blocks=task.sample_blocks,
            cache=task.cache,
            repeat=task.repeat,
            options=task.options,
            observer=Notes(),
            keeper=writer,
            stored_traces=_stored_traces(task),
        )
        if isinstance(task.work, Kernels):
            work = without_contents(task.work) if settings.stored_traces else task.work
            results = _run_kernels(work, folder, settings, task.brings)
        else:
            _run_target(task.work, settings)
            results = (Brought(COPIES, "", "", copied.hexdigest()),) if task.brings else ()
    not_stored = writer.why_not if writer else ""
    return Outcome(task.number, tuple(_read(recording, errors)), results=results, not_stored=not_stored)


def _writer_of(task: Task):
    """The writer of a task's traces, in a `with`; None for one that writes none."""
    from gpuprof.run.swept_program import versions_here
    from gpuprof.run.trace_file.write_sweep import SweptWriter

    if task.traces is None or not task.traces.is_written:
        return nullcontext()
    return SweptWriter(task.traces.path, task.traces.program, versions_here())


def _stored_traces(task: Task):
    """The traces that a task takes from a file; None for one that emulates its launches."""
    from gpuprof.run.swept_program import versions_here
    from gpuprof.run.trace_file.read_sweep import SweptTraces

    if task.traces is None or task.traces.is_written:
        return None
    return SweptTraces(task.traces.path, versions_here(), task.traces.program, task.chip)


def without_contents(work: Kernels) -> Kernels:
    """The kernels for launches that are not emulated: nothing reads their arrays, and the run that made the traces has
    compared their results.
    """
    requests = tuple(
        replace(request, arguments=tuple(map(_without_contents, request.arguments)), expected=())
        for request in work.requests
    )
    return replace(work, requests=requests, arrays={}, wanted=NOTHING_REQUESTED)


def _without_contents(argument: Argument) -> Argument:
    if isinstance(argument, TextureSpec | TensorMapSpec):
        return replace(argument, array=_without_contents(argument.array))
    return replace(argument, start="zeros") if isinstance(argument, ArraySpec) else argument


def _run_target(target: Target, settings) -> None:
    from gpuprof.base.processes import how_ended

    if code := target.run(settings).code:
        raise WrongResult(f"the program ended with {how_ended(code)}")


def _run_kernels(work: Kernels, folder: Path, settings, brings: str) -> tuple[Brought, ...]:
    from gpuprof.device.requests import run_requests
    from gpuprof.run.session import open_device

    for name, data in work.arrays.items():
        (folder / name).write_bytes(data)
    image = folder / f"{work.name}.gpubin"
    image.write_bytes(work.image)
    device = open_device(settings)
    wanted = replace(work.wanted, folder=folder)
    module = device.load(image)
    arrays = run_requests(
        device,
        module,
        work.requests,
        seed=work.seed,
        folder=folder,
        requested=wanted,
        cache=COLD,
    )
    wrong = "; ".join(str(result) for result in arrays.results if result.is_wrong)
    if wrong:
        raise WrongResult(f"results differ: {wrong}")
    parameters = [module[request.kernel].function.params for request in work.requests]
    return _brought(work.requests, parameters, arrays, brings) if brings else ()


def _brought(
    requests: tuple[LaunchRequest, ...], parameters: list[tuple[Param, ...]], arrays: "LaunchArrays", brings: str
) -> tuple[Brought, ...]:
    """`parameters`: of the kernel of each request."""
    found = []
    for (launch, number), array in arrays.made():
        kernel, made = requests[launch].kernel, array_of(requests[launch].arguments[number])
        parameter = parameters[launch][number].name
        same = [index for index, request in enumerate(requests) if request.kernel == kernel]
        ordinal = f"#{same.index(launch) + 1}" if len(same) > 1 else ""
        data = array.copy_to_host().tobytes()
        found.append(
            Brought(
                made.name or f"{kernel}{ordinal}.{parameter}",
                parameter,
                arrays.element((launch, number)),
                hashlib.sha256(data).hexdigest(),
                data if brings == VALUES else b"",
            )
        )
    return tuple(found)


def _read(recording: Path, errors: Mapping[int, float]) -> list[Measured]:
    """The launches of a recording. One whose fault a script caught has no end, and is left out."""
    from gpuprof.correlate.database import reading
    from gpuprof.correlate.metrics import cache_controls, launch_values

    with reading(recording) as db:
        values, controls = launch_values(db), cache_controls(db)
        fitting = dict(db.execute("SELECT launch, value FROM launch_metrics WHERE metric = 'blocks_per_sm'"))
        columns = "launch, kernel, grid, block, task"
        rows = db.execute(f"SELECT {columns} FROM launches WHERE complete ORDER BY launch").fetchall()
    return [
        Measured(
            launch,
            kernel,
            grid,
            block,
            values[launch],
            errors.get(launch),
            task,
            str(controls.get(launch, AS_THE_PROGRAM)),
            fitting.get(launch, 0),
        )
        for launch, kernel, grid, block, task in rows
    ]


def in_short(error: GpuprofError, *folders: Path) -> str:
    """An error as one line for a table, without the names of folders of this machine."""
    text = str(error)
    diagnostics = getattr(error, "diagnostics", "").strip().splitlines()
    if isinstance(error, ScriptError):  # Python prints the exception last
        text += f": {diagnostics[-1].partition(': ')[2]}"
    elif diagnostics:  # a compiler's first error
        text += ": " + next((line for line in diagnostics if "error:" in line), diagnostics[-1])
    for folder in folders:
        text = text.replace(f"{folder}/", "")
    return "; ".join(line.strip() for line in text.splitlines())


def _in_process_of_its_own(task: Task) -> Outcome:
    """A script may change the process it runs in, so each gets a new one, without a terminal."""
    same_path = f"import sys; sys.path[:] = {sys.path!r}"  # so that it is this gpuprof
    command = [sys.executable, "-c", f"{same_path}; from gpuprof.sweep import run_sweep; run_sweep._child()"]
    with tempfile.TemporaryFile() as complaints:
        code, answer = _asked(command, task, complaints)
        if code == 0:
            return pickle.loads(answer)
        complaints.seek(0)
        last = complaints.read().decode(errors="replace").strip().splitlines()[-1:]
    return Outcome(
        task.number,
        (),
        ": ".join([f"{task.work.file.name}: its process ended with exit code {code}", *last]),
    )


def _asked(command: list[str], task: Task, complaints: BinaryIO) -> tuple[int, bytes]:
    """The exit code of a child that does the task, and what it answers. It does not outlive the question, nor does its
    temporary folder.
    """
    try:
        with Popen(command, stdin=PIPE, stdout=PIPE, stderr=complaints, preexec_fn=ending_with_this()) as child:
            with suppress(BrokenPipeError):  # it ended before it began; its exit code says so
                pickle.dump(task, child.stdin)
                child.stdin.flush()  # and stays open: the child ends when it is closed
            answer = child.stdout.read()
            return child.wait(), answer
    finally:
        remove_left_folders()


def _child() -> None:
    """Reads a task from stdin, writes its outcome to stdout. What the script itself prints is dropped, and it has
    nothing to read.
    """
    asks, answers = os.dup(0), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    task = pickle.load(os.fdopen(asks, "rb", closefd=False))
    threading.Thread(target=_end_with, args=(asks,), daemon=True).start()
    with answers:
        pickle.dump(measure(task), answers)


def _end_with(asks: int) -> None:
    """Ends this process when the other end of its stdin is closed, which is when the parent has ended."""
    os.read(asks, 1)
    os._exit(1)
