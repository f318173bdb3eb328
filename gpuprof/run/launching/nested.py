"""Grids launched by kernels (CUDA dynamic parallelism): in what order they run, and what each waits for.

A kernel that may launch is emulated to its end before anything else happens; then what it launched, each with all that
comes of it, in the order launched, and last what it put on the tail launch stream. That is an order in which a GPU may
run them, whatever the time they take: so the results do not depend on timing. Then all of them are in flight together,
and timing knows when each was launched.
"""

from collections import defaultdict
from collections.abc import Callable
from weakref import WeakKeyDictionary

from gpuprof.chips import Chip
from gpuprof.device import commands as cmd
from gpuprof.device.launching.config import checked_launch
from gpuprof.device.module import LoadedModule
from gpuprof.emulate.core.device_launches import BLOCK_STREAM, FIRE_AND_FORGET, MOST_PENDING, TAIL_LAUNCH, GridRequest
from gpuprof.errors import KernelFault
from gpuprof.isa.opcodes import BY_NAME
from gpuprof.isa.special import LAUNCH_SERVICE
from gpuprof.run.launching.pending import BegunLaunch, InFlight

_SYSCALL = BY_NAME["SYSCALL"]
DEEPEST = 24  # CUDA programming guide: the limit of nesting

Begin = Callable[[cmd.Launch, int], BegunLaunch]


def launches_grids(module: LoadedModule) -> bool:
    """True for a module with code that launches."""
    if module not in _launch:
        _launch[module] = _has_launches(module)
    return _launch[module]


_launch: WeakKeyDictionary[LoadedModule, bool] = WeakKeyDictionary()


def _has_launches(module: LoadedModule) -> bool:
    calls = module.code["opcode"] == _SYSCALL.number
    return bool((module.code["imm"][calls] == LAUNCH_SERVICE).any())


class Descent:
    """The descendants of one flight. `emulate` runs all flights so far to their end; `begin` begins a launch, given
    it and the index of the launch that launched it.
    """

    def __init__(self, in_flight: InFlight, emulate: Callable[[], None], begin: Begin, chip: Chip):
        self.in_flight, self.emulate, self.begin, self.chip = in_flight, emulate, begin, chip
        self.n_grids = 0

    def run(self, number: int, depth: int = 0) -> None:
        """Emulates a flight and its descendants. They are the flights that follow it."""
        self.emulate()
        flights = self.in_flight.flights
        requests = flights[number].counters.launched.grids
        before: dict[tuple, list[int]] = defaultdict(list)  # by stream: the flights that its next launch waits for
        for request in (request for request in requests if request.stream != TAIL_LAUNCH):
            before[_stream(request)] = self._child(number, request, before[_stream(request)], depth)
        tail = list(range(number, len(flights)))
        for request in (request for request in requests if request.stream == TAIL_LAUNCH):
            tail = self._child(number, request, tail, depth)

    def _child(self, number: int, request: GridRequest, after: list[int], depth: int) -> list[int]:
        """Launches and runs a grid; gives its flight and its descendants'."""
        parent = self.in_flight.flights[number].launch
        self.n_grids += 1
        _check(parent, request, depth, self.n_grids)
        first = len(self.in_flight.flights)
        index = parent.index + first - number
        launch = checked_launch(
            self.chip,
            index,
            parent.module,
            request.function,
            request.config._replace(stream=parent.stream),
            request.params,
            f"{request.function.display}{request.config}",
        )
        self.in_flight.add_launched(self.begin(launch, parent.index), after, (number, request.warp, request.turn))
        self.run(first, depth + 1)
        return [] if request.stream == FIRE_AND_FORGET else list(range(first, len(self.in_flight.flights)))


def _check(parent: cmd.Launch, request: GridRequest, depth: int, n_grids: int) -> None:
    what = f"{parent.function.display}: it launches {request.function.display}"
    if depth + 1 > DEEPEST:
        raise KernelFault(f"{what} {depth + 1} levels below the host's launch; {DEEPEST} is the most")
    if n_grids > MOST_PENDING:
        raise KernelFault(
            f"{what}, and one launch of the host has led to {MOST_PENDING} others: more are not supported"
        )


def _stream(request: GridRequest) -> tuple[int, int]:
    """The default stream and those that a kernel makes are a block's; nothing waits on fire and forget."""
    return request.stream, request.launcher_block if request.stream == BLOCK_STREAM else -1
