"""FILE as something that runs: launches of kernels, a script, a whole program, or a saved command stream.

FILE, arguments, launches ─ target_of ─> Target ─ run(Settings) ─> Ended
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeAlias

from gpuprof.base.cache_control import COLD
from gpuprof.base.compared_results import Result
from gpuprof.base.confinement import check_runs_programs
from gpuprof.base.heap import nothing_is_garbage
from gpuprof.base.inputs import check_is_file
from gpuprof.device.launching.argument_values import NOTHING_REQUESTED, LaunchRequest, RequestedResults
from gpuprof.device.launching.launch_requests import command_line_requests, comment_requests, embedded_requests
from gpuprof.device.launching.launch_text import kernel_names
from gpuprof.device.requests import run_requests
from gpuprof.device.results.plan import input_files
from gpuprof.errors import UsageError
from gpuprof.program.binary import is_binary
from gpuprof.records.command_stream.read import read_stream
from gpuprof.run.compile_file import DEFAULT_OPTIONS, SOURCES, BuildOptions
from gpuprof.run.program_run import check_sources, program_sources, run_program
from gpuprof.run.replay import chip_of, replay
from gpuprof.run.run_settings import Settings
from gpuprof.run.script import run_script
from gpuprof.run.session import open_device
from gpuprof.run.triton_config import parse_config

SCRIPT, STREAM = ".py", ".gprec"
KINDS = (*SOURCES, ".gpubin", SCRIPT)


class Ended(NamedTuple):
    """The end of a run. `code`: the exit code of a program (negative for a signal), None for other targets."""

    code: int | None = None
    results: Sequence[Result] = ()


@dataclass(frozen=True)
class Program:
    """A whole program, by its sources or as an executable."""

    sources: tuple[Path, ...]
    arguments: tuple[str, ...] = ()

    @property
    def file(self) -> Path:
        return self.sources[0]

    @property
    def is_built(self) -> bool:
        return is_binary(self.file)

    def inputs(self) -> Iterator[Path]:
        yield from (*self.sources, *map(Path, self.arguments))

    def run(self, settings: Settings) -> Ended:
        return Ended(run_program(self.sources, self.arguments, settings))


@dataclass(frozen=True)
class Script:
    """A Python script, which launches kernels itself."""

    file: Path
    arguments: tuple[str, ...] = ()

    def inputs(self) -> Iterator[Path]:
        yield from (self.file, *map(Path, self.arguments))

    def run(self, settings: Settings) -> Ended:
        run_script(self.file, self.arguments, settings)
        return Ended()


@dataclass(frozen=True)
class Stream:
    """The command stream of a recording."""

    file: Path

    def inputs(self) -> Iterator[Path]:
        yield self.file

    def run(self, settings: Settings) -> Ended:
        stream = read_stream(self.file)
        if settings.chip is None and settings.chip_name is None:
            settings = replace(settings, chip=chip_of(stream))
        replay(stream, settings)
        return Ended()


@dataclass(frozen=True)
class Launches:
    """Launches of a file's kernels: `texts` from the command line, else those of the file's comments."""

    file: Path
    texts: tuple[str, ...] = ()
    wanted: RequestedResults = NOTHING_REQUESTED

    @cached_property
    def requests(self) -> list[LaunchRequest]:
        """The launches as far as they are known before the file is compiled. Raises UsageError for wrong text."""
        return command_line_requests(self.texts) or comment_requests(self.file)

    @property
    def folder(self) -> Path:
        """The folder of the arrays' files."""
        return Path() if self.texts else self.file.parent

    def inputs(self) -> Iterator[Path]:
        yield self.file
        yield from input_files(self.requests, self.wanted, self.folder)

    def run(self, settings: Settings) -> Ended:
        device = open_device(settings)
        try:
            with nothing_is_garbage():
                module = device.load(self.file, instantiate=kernel_names(self.requests))
            requests = self.requests or embedded_requests(self.file, module.sources, module.kernels)
            seed, folder = settings.sampling.seed, self.folder
            wanted = self.wanted
            results = run_requests(
                device, module, requests, seed=seed, folder=folder, requested=wanted, cache=COLD
            ).results
            device.executor.finish()
        except BaseException:
            if settings.recorder is None:  # a recording has what was recorded before, and its process ends
                device.executor.drop()
            raise
        for result in results if settings.recorder else ():
            settings.recorder.result(result)
        return Ended(results=results)


# Each has `file`, `inputs()` (the files that it reads, as far as they are known before anything is compiled: arguments
# may name files) and `run(settings)`.
Target: TypeAlias = Program | Script | Stream | Launches


def target_of(
    file: Path,
    others: Sequence[str] = (),
    arguments: Sequence[str] = (),
    launches: Sequence[str] = (),
    *,
    options: BuildOptions = DEFAULT_OPTIONS,
    wanted: RequestedResults = NOTHING_REQUESTED,
    takes_streams: bool = False,
) -> Target:
    """The target that FILE is. `others`: more sources of a program, or arguments of a script; `arguments`: those after
    `--`; `launches`: the texts of --launch; `takes_streams`: a recording is run as its command stream.

    Raises UsageError for a file that does not run, not with these, or not in a confined run.
    """
    kinds = (*KINDS, STREAM) if takes_streams else KINDS
    sources = _sources(file, others, launches, kinds)
    if sources:
        check_runs_programs(file, "a whole program")
        if options.triton_config:
            raise UsageError("--config is for scripts with Triton kernels; leave it out")
        return Program(sources, tuple(arguments))
    for flag, value in of_programs(options).items():
        if value:
            raise UsageError(f"{flag} is for whole programs; leave it out")
    check_is_file(file)
    if file.suffix not in kinds:
        raise UsageError(f"{file}: unknown kind of file; expected {', '.join(kinds)}")
    if launches and file.suffix in OWN_LAUNCHES:
        raise UsageError(f"{file}: {OWN_LAUNCHES[file.suffix]}; leave out --launch")
    given = (*others, *arguments)
    if file.suffix == SCRIPT:
        check_runs_programs(file, "a script")
        if options.triton_config:
            parse_config(options.triton_config)
        return Script(file, given)
    if options.triton_config:
        raise UsageError("--config is for scripts with Triton kernels; leave it out")
    if given:
        raise UsageError(f"{given[0]!r}: only a program or a .py script takes further arguments; leave it out")
    return Stream(file) if file.suffix == STREAM else Launches(file, tuple(launches), wanted)


def of_programs(options: BuildOptions) -> dict[str, object]:
    """The options that only whole programs have, with their values."""
    return {
        "--rdc": options.links_device,
        "--host-compiler": options.host_compiler,
        "-l": options.libraries,
        "-L": options.library_dirs,
    }


OWN_LAUNCHES = {SCRIPT: "a script launches its kernels itself", STREAM: "a saved stream has its launches"}


def program_of(sources: Sequence[Path], arguments: Sequence[str]) -> Program:
    """A program of which at least one source is given. Raises UsageError for a file that is no source of a program."""
    check_sources(sources)
    return Program(tuple(sources), tuple(arguments))


def _sources(file: Path, others: Sequence[str], launches: Sequence[str], kinds: Sequence[str]) -> tuple[Path, ...]:
    """The sources of a whole program; none where the file is something else, or its kernels are launched one by one."""
    if launches or (file.suffix in kinds and file.suffix != ".cu"):
        return ()
    return program_sources(file, others)
