"""The host's clock of a session, in nanoseconds."""

from gpuprof.device import commands as cmd

# TODO(lead): the Timeline takes this file's place.
COSTS_NS = {
    cmd.Launch: 2_500, cmd.Allocate: 20_000, cmd.Free: 20_000, cmd.FreeLater: 2_000, cmd.CopyIn: 10_000,
    cmd.CopyOut: 10_000, cmd.CopyWithin: 1_000, cmd.Fill: 5_000, cmd.Event: 1_000, cmd.EventTime: 1_000,
    cmd.HostCall: 1_000, cmd.Together: 1_000,
}  # fmt: skip
COPY_NBYTES_PER_NS = 25


class HostClock:
    def __init__(self, clock_mhz: float):
        self.ns, self._gpu_ns, self._clock_mhz = 0, 0, clock_mhz
        self._n_together = 0

    def passes(self, command: cmd.Command, cycle: int) -> None:
        """A command has been carried out; the GPU is at `cycle`."""
        self._n_together += isinstance(command, cmd.Together) - isinstance(command, cmd.TogetherEnd)
        if isinstance(command, cmd.HostTime):
            self.ns = max(self.ns, command.ns)
        elif isinstance(command, cmd.Wait) and command.stream == cmd.HOST:
            gpu_ns = max(self._gpu_ns, round(cycle * 1e3 / self._clock_mhz))
            self.ns, self._gpu_ns = self.ns + gpu_ns - self._gpu_ns, gpu_ns
        elif not self._n_together or isinstance(command, cmd.Together):
            self.ns += COSTS_NS.get(type(command), 0)
        if isinstance(command, cmd.CopyIn):
            self.ns += len(command.data) // COPY_NBYTES_PER_NS
        elif isinstance(command, cmd.CopyOut):
            self.ns += command.nbytes // COPY_NBYTES_PER_NS
