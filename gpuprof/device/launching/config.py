"""How a kernel is launched, and the one place where a launch is checked and made."""

from typing import NamedTuple

from gpuprof.base.wording import extent_text, launch_text
from gpuprof.chips import Chip
from gpuprof.device import commands as cmd
from gpuprof.device.launching.limits import Extent, check_cache_control, check_dependent, check_limits, cluster_of
from gpuprof.device.module import LoadedModule
from gpuprof.isa.program import Function


class LaunchConfig(NamedTuple):
    """The text between a kernel's name and its arguments, as values."""

    grid: Extent
    block: Extent
    dynamic_shared_nbytes: int = 0
    stream: int = 0
    cluster: Extent | None = None  # None: as the kernel says
    dependent: bool = False  # programmatic dependent launch
    cache: str = ""  # of base.cache_control; "" as the run says
    repeat: int = 0  # timings of it, 0 as the run says

    def __str__(self) -> str:
        """The configuration as CUDA writes it: "<<<(16, 16), 256>>>"."""
        optional = [str(self.dynamic_shared_nbytes)] if self.dynamic_shared_nbytes or self.stream else []
        optional += [str(self.stream)] if self.stream else []
        optional += [f"cluster={extent_text(self.cluster)}"] if self.cluster else []
        optional += ["dependent"] if self.dependent else []
        optional += [f"cache={self.cache}"] if self.cache else []
        optional += [f"repeat={self.repeat}"] if self.repeat else []
        return launch_text("", self.grid, self.block, *optional)


def checked(function: Function, config: LaunchConfig, chip: Chip) -> LaunchConfig:
    """Returns the launch with its cluster filled in. Raises UsageError for a launch that the kernel or chip do not
    allow.
    """
    check_limits(function, config.grid, config.block, config.dynamic_shared_nbytes, chip)
    check_dependent(function, config.dependent, config.stream, chip)
    check_cache_control(function.display, config.cache, config.repeat)
    return config._replace(cluster=cluster_of(function, config.grid, config.cluster, chip))


def checked_launch(
    chip: Chip, index: int, module: LoadedModule, function: Function, config: LaunchConfig, params: bytes, text: str
) -> cmd.Launch:
    """The command of a launch, number `index` of the session. `params` is the kernel's parameter block. Raises
    UsageError as `checked` does.
    """
    return launch_of(index, module, function, checked(function, config, chip), params, text)


def launch_of(
    index: int, module: LoadedModule, function: Function, complete: LaunchConfig, params: bytes, text: str
) -> cmd.Launch:
    """The command of a launch that is `checked`."""
    return cmd.Launch(
        index=index,
        module=module,
        function=function,
        grid=complete.grid,
        block=complete.block,
        dynamic_shared_nbytes=complete.dynamic_shared_nbytes,
        params=params,
        stream=complete.stream,
        name=text,
        cluster=complete.cluster,
        dependent=complete.dependent,
        cache=complete.cache,
        repeat=complete.repeat,
    )
