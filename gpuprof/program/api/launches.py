"""Launches, and how many blocks of a kernel fit."""

from collections.abc import Callable
from dataclasses import replace

from gpuprof.chips import Chip
from gpuprof.device import commands as cmd
from gpuprof.device.api import Device
from gpuprof.device.launching.config import LaunchConfig, checked_launch
from gpuprof.errors import UsageError
from gpuprof.isa.program import Function
from gpuprof.program import errors
from gpuprof.program.api.memory import Memory
from gpuprof.program.api.modules import USUAL_SHARED_NBYTES, Modules
from gpuprof.program.api.streams import Streams
from gpuprof.program.channel import signed
from gpuprof.program.errors import Failed
from gpuprof.program.launch_choice import Chooser, LaunchChoice

COOPERATIVE, DEPENDENT = 1, 2  # of a launch's flags


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

    def launch(
        self, params: bytes, number: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int,
        shared_nbytes: int, stream: int, flags: int, cx: int, cy: int, cz: int,
    ):  # fmt: skip
        module, function = self._modules.known(number)
        cluster, is_dependent = (cx, cy, cz) if cx and cy and cz else None, flags & DEPENDENT != 0
        config = LaunchConfig(
            (gx, gy, gz), (bx, by, bz), shared_nbytes, self._streams.number(stream), cluster, is_dependent
        )
        if not all((*config.grid, *config.block)):
            raise Failed(errors.INVALID_CONFIGURATION, f"{function.display}{config}: an extent is 0")
        if shared_nbytes > self._shared_limit_of(number):
            raise Failed(
                errors.INVALID_VALUE,
                f"{function.display}{config}: {shared_nbytes} bytes of dynamic shared memory; more than "
                f"{self._shared_limit_of(number)} need cudaFuncSetAttribute(MaxDynamicSharedMemorySize)",
            )
        try:
            text = f"{function.display}{config}"
            launch = checked_launch(
                self.device.chip, self.device.executor.n_launches, module, function, config, params, text
            )
        except UsageError as error:
            raise Failed(errors.INVALID_CONFIGURATION, str(error)) from None
        if flags & COOPERATIVE:
            self._check_cooperative(number, launch)
        self._memory.tell_writes()
        is_timed = self._chooser.wants((function.display, function.name))
        self.device.submit(launch if is_timed else replace(launch, is_timed=False))
        return (), b""

    def _check_cooperative(self, number: int, launch: cmd.Launch) -> None:
        chip = self.device.chip
        most = chip.sms * self._blocks(number, launch.threads_per_block, launch.dynamic_shared_nbytes)
        if launch.n_blocks > most:
            raise Failed(
                errors.COOPERATIVE_LAUNCH_TOO_LARGE,
                f"{launch.name}: {launch.n_blocks} blocks in a cooperative launch; {most} can be resident",
            )

    def shared_limit(self, payload: bytes, number: int, nbytes: int):
        _, function = self._modules.known(number)
        most = self.device.chip.max_shared_nbytes_per_block - function.shared_nbytes
        if not 0 <= signed(nbytes) <= most:
            raise Failed(errors.INVALID_VALUE, f"{function.display}: {signed(nbytes)} bytes of dynamic shared memory")
        self._shared_limits[number] = nbytes
        return (), b""

    def occupancy(self, payload: bytes, number: int, threads: int, shared_nbytes: int):
        return (self._blocks(number, signed(threads), shared_nbytes),), b""

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
