"""When it happens: traces and a chip give cycles, the stall ledger and samples. Nothing is compiled before the first
launch.
"""

from gpuprof.timing.occupancy import Occupancy, occupancy
from gpuprof.timing.result import LaunchTiming
from gpuprof.timing.sampling import Sampling
from gpuprof.timing.simulate import simulate
from gpuprof.timing.state import Machine, power_on
from gpuprof.timing.version import MODEL_VERSION

__all__ = ["MODEL_VERSION", "LaunchTiming", "Machine", "Occupancy", "Sampling", "occupancy", "power_on", "simulate"]
