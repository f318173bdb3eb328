"""Runs a source file's launches without recording, and gives the arrays and what each launch measured."""

from pathlib import Path

from gpuprof.device.launching.launch_text import find_launch_comments, kernel_names, parse_launch
from gpuprof.device.requests import LaunchArrays, run_requests
from gpuprof.run.observers.observer import LaunchResult
from gpuprof.run.run_settings import Observer, Settings
from gpuprof.run.session import open_device


class Results(Observer):
    """The results of a session's launches, in order, and what the kernels printed."""

    def __init__(self) -> None:
        self.launches: list[LaunchResult] = []
        self.printed = ""

    def output(self, text: str) -> None:
        self.printed += text

    def finished(self, result: LaunchResult) -> None:
        self.launches.append(result)

    def cycles(self) -> dict[str, int]:
        """Cycles by kernel name; of the last launch where a kernel ran twice."""
        return {result.launch.function.display: result.timing.cycles for result in self.launches}


def run_file(path: Path, *launches: str, **settings) -> tuple[LaunchArrays, Results]:
    """Runs `launches`, or the LAUNCH comments of the file. `settings` are fields of session.Settings."""
    texts = launches or [text for _, text in find_launch_comments(path.read_text())]
    requests = [parse_launch(text) for text in texts]
    results = Results()
    device = open_device(Settings(observer=results, **settings))
    module = device.load(path, instantiate=kernel_names(requests))
    arrays = run_requests(device, module, requests, folder=path.parent)
    return arrays, results


def run_source(folder: Path, source: str, *launches: str, **settings) -> tuple[LaunchArrays, Results]:
    """The same for CUDA C++ given as text."""
    path = folder / "kernel.cu"
    path.write_text(source)
    return run_file(path, *launches, **settings)
