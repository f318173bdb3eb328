"""FILE as a target of the debugger: the same files as for `gpuprof collect`, and saved streams."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from gpuprof.debug.inferior import Target
from gpuprof.device.launching.launch_requests import command_line_requests, comment_requests, embedded_requests
from gpuprof.device.launching.launch_text import kernel_names
from gpuprof.device.requests import run_requests
from gpuprof.errors import UsageError
from gpuprof.records.command_stream.read import read_stream
from gpuprof.run.compile_file import SOURCES, BuildOptions
from gpuprof.run.program_run import check_linked, program_sources, run_program
from gpuprof.run.replay import chip_of, replay
from gpuprof.run.run_settings import Settings
from gpuprof.run.script import run_script
from gpuprof.run.session import open_device

KINDS = (*SOURCES, ".gpubin", ".gprec", ".py")
Run = Callable[[Settings], int]


def target_of(
    file: Path, others: Sequence[str], arguments: Sequence[str], launches: Sequence[str], settings: Settings
) -> Target:
    """A function that runs FILE under `settings`. `others`: more sources of a program; `arguments`: those of a program
    or script.

    Raises UsageError for a file that cannot be run, or not with these arguments.
    """
    run = _run_of(file, others, arguments, launches, settings.options)
    return lambda supervisor: run(replace(settings, supervisor=supervisor))


def _run_of(
    file: Path, others: Sequence[str], arguments: Sequence[str], launches: Sequence[str], options: BuildOptions
) -> Run:
    sources = _program_sources(file, others, launches)
    check_linked(options, bool(sources))
    if sources:
        return lambda settings: run_program(sources, arguments, settings)
    if not file.is_file():
        raise UsageError(f"{file}: {'is a folder' if file.is_dir() else 'there is no such file'}")
    if file.suffix not in KINDS:
        raise UsageError(f"{file}: unknown kind of file; expected {', '.join(KINDS)}")
    given = (*others, *arguments)
    if file.suffix == ".py":
        if launches:
            raise UsageError(f"{file}: a script launches its kernels itself; leave out --launch")
        return lambda settings: _script(file, given, settings)
    if given:
        raise UsageError(f"{given[0]!r}: only a program or a .py script takes further arguments; leave it out")
    if file.suffix == ".gprec":
        if launches:
            raise UsageError(f"{file}: a saved stream has its launches; leave out --launch")
        return lambda settings: _stream(file, settings)
    requests = command_line_requests(launches) or comment_requests(file)
    folder = Path() if launches else file.parent
    return lambda settings: _launches(file, requests, folder, settings)


def _program_sources(file: Path, others: Sequence[str], launches: Sequence[str]) -> tuple[Path, ...]:
    """The sources of a whole program; none for other files, or if its kernels are launched by `launches`."""
    if launches or (file.suffix in KINDS and file.suffix != ".cu"):
        return ()
    return program_sources(file, others)


def _script(file: Path, arguments: Sequence[str], settings: Settings) -> int:
    run_script(file, tuple(arguments), settings)
    return 0


def _stream(file: Path, settings: Settings) -> int:
    stream = read_stream(file)
    if settings.chip is None and settings.chip_name is None:
        settings = replace(settings, chip=chip_of(stream))
    replay(stream, settings)
    return 0


def _launches(file: Path, requests: list, folder: Path, settings: Settings) -> int:
    device = open_device(settings)
    try:
        module = device.load(file, instantiate=kernel_names(requests))
        asked = requests or embedded_requests(file, module.sources, module.kernels)
        run_requests(device, module, asked, seed=settings.sampling.seed, folder=folder)
        device.executor.finish()
    except BaseException:
        device.executor.drop()
        raise
    return 0
