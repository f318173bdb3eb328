"""A run: what was collected, how, and its numbers."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gpuprof.errors import UsageError
from gpuprof.testing.profile import FindingOfRun, KernelOfRun, LaunchOfRun, Profile, read_profile, sums

if TYPE_CHECKING:
    import numpy as np

    from gpuprof.device.api import Device


class Collection(NamedTuple):
    """The command line of a run, to run it again elsewhere: `gpuprof collect` with `arguments`, in `folder`."""

    file: str
    arguments: tuple[str, ...]
    folder: Path


class Run:
    """The numbers of a run, exact and the same on every machine.

    `recording`: the file, for `gpuprof report`; `database`: the same as SQLite. `output`: what the program and its
    kernels printed; `exit_code`: the program's. `collection`: None for a run in the test's own process, `device` its
    Device, which is None for a child process.
    """

    def __init__(
        self,
        recording: Path,
        *,
        collection: Collection | None = None,
        output: str = "",
        exit_code: int = 0,
        array: "Callable[[str], np.ndarray] | None" = None,
        device: "Device | None" = None,
    ):
        self.recording, self.database = recording, recording.with_suffix(".gpudb")
        self.collection, self.output, self.exit_code, self.device = collection, output, exit_code, device
        self._array = array

    @cached_property
    def _profile(self) -> Profile:
        return read_profile(self.database)

    @property
    def launches(self) -> tuple[LaunchOfRun, ...]:
        """All launches, in the order they ran."""
        return self._profile.launches

    @property
    def cycles(self) -> int:
        """Cycles of all launches, added up."""
        return self.metrics["cycles"]

    @cached_property
    def metrics(self) -> dict[str, int]:
        """The metrics of all launches, added up; of registers and bytes of memory per thread or block, the largest."""
        return sums(self.launches)

    @property
    def findings(self) -> tuple[FindingOfRun, ...]:
        """Errors, warnings and notes of the trace generators that `trace=` attached, the worst first."""
        return self._profile.findings

    @property
    def advice(self) -> tuple[FindingOfRun, ...]:
        """Findings about speed, the costliest first."""
        return self._profile.advice

    def kernel(self, name: str) -> KernelOfRun:
        """The launches of a kernel. Raises UsageError when it was not launched."""
        return self._profile.kernel(name)

    def array(self, name: str) -> "np.ndarray":
        """An array as the last launch left it, by the names of `--save`: "y", "scan.y", "scan#2.y".

        Arrays that `save=` did not name are collected by a second, equal run. Raises UsageError for a name that is
        none, and for a run in the test's own process, which has its arrays itself.
        """
        if self._array is None:
            raise UsageError(f"array({name!r}): the arrays of a run in the test's own process are the test's")
        return self._array(name)

    def __repr__(self) -> str:
        return f"Run({str(self.recording)!r})"
