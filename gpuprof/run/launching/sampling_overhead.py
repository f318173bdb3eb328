"""The cost of sampling to a kernel: the same launches timed twice, once on a GPU whose cells write nothing.

    pieces of the trace ─> undisturbed GPU ─> cycles
          └─ stored ─────> disturbed GPU ───> cycles, samples

The emulator works to the orders of the first timing, which are those of a run without sampling: so memory and counters
are those of that run. Both GPUs live as long as the session, and the lines that sampling leaves in the L2 are charged
to the launch that pays.
"""

from copy import deepcopy
from dataclasses import replace

from gpuprof.run.launching.stored_trace import stored
from gpuprof.timing.batch import Grid, Transfers
from gpuprof.timing.buffer import Sink
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.simulate import simulate_batch
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.timing.state.machine import Machine


def copy_of(machine: Machine) -> Machine:
    """A second GPU in the same state."""
    return deepcopy(machine, {id(machine.chip): machine.chip})


def simulate_twice(
    machine: Machine,
    undisturbed: Machine,
    grids: list[Grid],
    sampling: Sampling,
    sink: Sink,
    max_cycles: int,
    record_nbytes: int,
    transfers: Transfers | None = None,
) -> list[LaunchTiming]:
    """Times grids like `simulate_batch` on `machine`, and gives `disturbance_cycles`. An error in the first timing
    leaves no samples.
    """
    first, second = stored(grids, "traces that --stream lsu times twice", "use --stream aux, or a shorter launch")
    quiet = simulate_batch(
        undisturbed, first, Sampling(), lambda samples: None, max_cycles, transfers=deepcopy(transfers)
    )
    disturbed = simulate_batch(
        machine, second, sampling, sink, max_cycles, record_nbytes=record_nbytes, transfers=transfers
    )
    return [
        replace(timing, disturbance_cycles=timing.cycles - alike.cycles)
        for alike, timing in zip(quiet, disturbed, strict=True)
    ]
