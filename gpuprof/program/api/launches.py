"""Launches, and how many blocks of a kernel fit."""

import gc
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from gpuprof.chips import Chip
from gpuprof.compile.demangle import demangle
from gpuprof.device import commands as cmd
from gpuprof.device.api import Device
from gpuprof.device.launching.config import LaunchConfig, checked, launch_of
from gpuprof.device.launching.limits import CLUSTERS_SINCE, MAX_CLUSTER
from gpuprof.errors import LaunchRefused, UsageError
from gpuprof.isa.program import Function
from gpuprof.program import errors
from gpuprof.program.api.memory import Memory
from gpuprof.program.api.modules import USUAL_SHARED_NBYTES, Modules
from gpuprof.program.api.streams import Streams
from gpuprof.program.channel import signed
from gpuprof.program.errors import Failed
from gpuprof.program.launch_choice import Chooser, LaunchChoice

COOPERATIVE, DEPENDENT = 1, 2  # of a launch's flags
PORTABLE_CLUSTER = 8  # blocks, which every chip with clusters can hold (CUDA C++ Programming Guide)


class Checked(NamedTuple):
    """A configuration that kernel and chip allow, and a launch's text with it, as written."""

    config: LaunchConfig
    text: str


class Launches:
    def __init__(
        self,
        device: Device,
        modules: Modules,
        memory: Memory,
        streams: Streams,
        choice: LaunchChoice,
        blocks_per_sm: Callable[[Chip, Function, int, int], int],
    ):
        """`choice`: which launches are timed. `blocks_per_sm`: of a kernel with so many threads and bytes of dynamic
        shared memory; it raises UsageError for a block that fits none.
        """
        self.device, self._modules, self._memory, self._streams = device, modules, memory, streams
        self._blocks_per_sm, self._chooser = blocks_per_sm, Chooser(choice)
        self._shared_limits: dict[int, int] = {}
        self._checked: dict[tuple, Checked] = {}  # by kernel and configuration; a limit that is set empties it
        self.unchecked = (
            ""  # a kernel that was not there when the program launched it, which has not requested the error
        )

    def launch(self, params: bytes, *, function: int, shared_nbytes: int, stream: int, flags: int, **extents: int):
        """`extents`: grid_x and so on, of the grid, of a block and of a cluster."""
        module, kernel = self._modules.known(function)
        number = self._streams.number(stream)
        key = (function, shared_nbytes, number, flags & DEPENDENT, *extents.values())
        is_new = (known := self._checked.get(key)) is None
        if known is None:  # most launches are as others before them
            known = self._checked[key] = self._check(kernel, function, shared_nbytes, number, flags, extents)
        launch = launch_of(self.device.executor.n_launches, module, kernel, known.config, params, known.text)
        if flags & COOPERATIVE:
            self._check_cooperative(function, launch)
        self._memory.report_writes()
        is_timed = self._chooser.wants((kernel.display, kernel.name))
        self.device.submit(launch if is_timed else replace(launch, is_timed=False))
        if is_new:
            # What a first launch has made (code, tables) stays: the collector need not look at it during later ones.
            gc.freeze()
        return (), b""

    def _check(
        self, kernel: Function, function: int, shared_nbytes: int, stream: int, flags: int, extents: dict[str, int]
    ) -> "Checked":
        """Raises Failed, or LaunchRefused, for a launch that a real GPU would refuse."""
        grid, block, cluster = (_extents(extents, what) for what in ("grid", "block", "cluster"))
        is_dependent = flags & DEPENDENT != 0
        config = LaunchConfig(grid, block, shared_nbytes, stream, cluster if all(cluster) else None, is_dependent)
        text = f"{kernel.display}{config}"
        if not all((*config.grid, *config.block)):
            raise Failed(errors.INVALID_CONFIGURATION, f"{text}: an extent is 0")
        if shared_nbytes > self._shared_limit_of(function):
            raise Failed(
                errors.INVALID_VALUE,
                f"{text}: {shared_nbytes} bytes of dynamic shared memory; more than "
                f"{self._shared_limit_of(function)} need cudaFuncSetAttribute(MaxDynamicSharedMemorySize)",
            )
        try:
            return Checked(checked(kernel, config, self.device.chip), text)
        except LaunchRefused:
            raise
        except UsageError as error:
            raise Failed(errors.INVALID_CONFIGURATION, str(error)) from None

    def begin_graph(self, payload: bytes, n: int):
        self.device.submit(cmd.Together("graph", n))
        return (), b""

    def end_graph(self, payload: bytes):
        self.device.submit(cmd.TogetherEnd())
        return (), b""

    def not_launched(self, symbol: bytes, is_unchecked: int):
        """A launch of a kernel that could not be loaded, which was reported; `is_unchecked`: as `kernel<<<>>>`."""
        name = demangle(symbol.decode("utf-8", "replace"))
        if is_unchecked:
            self.unchecked = name
        raise Failed(errors.INVALID_DEVICE_FUNCTION, f"{name} is not launched")

    def error_seen(self, payload: bytes):
        self.unchecked = ""
        return (), b""

    def _check_cooperative(self, number: int, launch: cmd.Launch) -> None:
        chip = self.device.chip
        most = chip.sms * self._blocks(number, launch.threads_per_block, launch.dynamic_shared_nbytes)
        if launch.n_blocks > most:
            raise Failed(
                errors.COOPERATIVE_LAUNCH_TOO_LARGE,
                f"{launch.name}: {launch.n_blocks} blocks in a cooperative launch; {most} can be resident",
            )

    def shared_limit(self, payload: bytes, function: int, nbytes: int):
        kernel = self._modules.known(function).function
        most = self.device.chip.max_shared_nbytes_per_block - kernel.shared_nbytes
        if not 0 <= signed(nbytes) <= most:
            raise Failed(errors.INVALID_VALUE, f"{kernel.display}: {signed(nbytes)} bytes of dynamic shared memory")
        self._shared_limits[function] = nbytes
        self._checked.clear()
        return (), b""

    def occupancy(self, payload: bytes, function: int, threads: int, shared_nbytes: int):
        return (self._blocks(function, signed(threads), shared_nbytes),), b""

    def shared_available(self, payload: bytes, function: int, blocks: int, threads: int):
        """The most dynamic shared memory of a block with which so many blocks still fit on an SM."""
        if signed(blocks) <= 0 or self._blocks(function, signed(threads), 0) <= 0:
            raise Failed(errors.INVALID_VALUE)
        most = self._shared_limit_of(function) + 1
        fits = bisect_left(range(most), True, key=lambda n: self._blocks(function, signed(threads), n) < blocks)
        return (max(fits - 1, 0),), b""

    def clusters(
        self, payload: bytes, function: int, threads: int, shared_nbytes: int, blocks: int, is_nonportable: int
    ):
        """All SMs can share a cluster here: a card's graphics processing clusters have 16 or 18 of them."""
        chip = self.device.chip
        if int("".join(filter(str.isdigit, chip.arch))) < CLUSTERS_SINCE:
            raise Failed(errors.NOT_SUPPORTED, f"{chip.name} has no clusters")
        resident = chip.sms * self._blocks(function, signed(threads), shared_nbytes)
        largest = MAX_CLUSTER if is_nonportable else PORTABLE_CLUSTER
        while largest > resident:
            largest //= 2
        return (largest, resident // blocks if 0 < blocks <= largest else 0), b""

    def _blocks(self, number: int, threads: int, shared_nbytes: int) -> int:
        if threads <= 0:
            raise Failed(errors.INVALID_VALUE)
        try:
            return self._blocks_per_sm(self.device.chip, self._modules.known(number).function, threads, shared_nbytes)
        except UsageError:
            return 0

    def _shared_limit_of(self, number: int) -> int:
        usual = USUAL_SHARED_NBYTES - self._modules.known(number).function.shared_nbytes
        return max(usual, self._shared_limits.get(number, 0))

    def profile(self, payload: bytes, is_on: int):
        self._chooser.is_profiling = bool(is_on)
        return (), b""


def _extents(words: dict[str, int], what: str) -> tuple[int, int, int]:
    """The words "grid_x" and so on of a launch."""
    return words[f"{what}_x"], words[f"{what}_y"], words[f"{what}_z"]
