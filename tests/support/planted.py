"""Kernels of CUDA C++ under a checker: all of a file are compiled at once, and each runs alone, without timing."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gpuprof.device.launching.config import LaunchConfig, checked_launch
from gpuprof.run.observers.tracing import Attached
from gpuprof.run.run_settings import Observer, Settings
from gpuprof.run.session import open_device
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.tables import Finding

Extents = int | tuple[int, int, int]


class _Notes(Observer):
    def __init__(self, notices: list[str]):
        self.notice = notices.append


class Planted:
    """The kernels of one source, and the GPU that they run on. `notices`: what its user is told; `launch`: the last."""

    def __init__(
        self,
        folder: Path,
        source: str,
        *checkers: TraceGenerator,
        suffix: str = ".cu",
        chip: str | None = None,
        **settings,
    ):
        """`settings`: further ones of run.settings.Settings."""
        path = folder / f"planted{suffix}"
        path.write_text(source)
        self.checkers, self.notices = checkers, []
        self.device = open_device(
            Settings(is_timed=False, traces=tuple(map(Attached, checkers)), observer=_Notes(self.notices), **settings),
            chip,
        )
        self.module = self.device.load(path)

    def array(self, nbytes: int, value: int = 0):
        return self.device.to_device(np.full(nbytes, value, np.uint8))

    def run(
        self,
        name: str,
        grid: Extents,
        block: Extents,
        *arguments,
        cluster: int = 1,
        stream: int = 0,
        dependent: bool = False,
    ) -> list[Finding]:
        """What the checkers find in one launch. Arguments are arrays, addresses and integers."""
        module, function = self.module[name].module, self.module[name].function
        params = bytearray(sum(param.nbytes for param in function.params))
        for param, given in zip(function.params, arguments, strict=True):
            number = getattr(given, "address", given)
            bits = number % (1 << 8 * param.nbytes)  # of a negative one, and of a handle, whose highest bit is set
            params[param.offset : param.offset + param.nbytes] = bits.to_bytes(param.nbytes, "little")
        config = LaunchConfig(
            _extent(grid), _extent(block), stream=stream, cluster=(cluster, 1, 1), dependent=dependent
        )
        number = self.device.executor.n_launches
        self.launch = checked_launch(self.device.chip, number, module, function, config, bytes(params), name)
        self.device.submit(self.launch)
        return [finding for checker in self.checkers for finding in checker.results[-1].findings]


def _extent(given: Extents) -> tuple[int, int, int]:
    return (given, 1, 1) if isinstance(given, int) else given


def in_short(findings: Sequence[Finding]) -> list[tuple[str, int]]:
    """Kinds and how often they happened."""
    return sorted((finding.kind, finding.count) for finding in findings)
