"""When it happens: traces and a chip give cycles, the stall ledger and samples. Nothing is compiled before the first
launch.
"""

from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate
from gpuprof.timing.state.machine import Machine, power_on
from gpuprof.timing.state.occupancy import Occupancy, occupancy
from gpuprof.timing.state.result import LaunchTiming
from gpuprof.timing.state.version import MODEL_VERSION

__all__ = ["MODEL_VERSION", "LaunchTiming", "Machine", "Occupancy", "Sampling", "occupancy", "power_on", "simulate"]
