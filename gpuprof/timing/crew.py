"""The threads that run SMs of a batch, along with the one that times it (units/handout.py).

Most launches are small, and over before other threads have come: a batch begins on one thread, and gets others when it
has lasted for some quanta with several SMs at work. No cycle depends on that.
"""

import weakref
from concurrent.futures import ThreadPoolExecutor
from os import register_at_fork

import numpy as np

from gpuprof.base.processes import MOST_THREADS
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.state.machine import Machine, Rooms, State, most_causes, most_samples
from gpuprof.timing.state.views import View, causes_of, merge, new_view
from gpuprof.timing.units.handout import OVER

FIRST_QUANTA = 16  # that a batch runs on one thread
# With fewer at work no quantum is handed out: an SM's is over about when others have seen it.
LEAST_SMS = 4


class Crew:
    """The threads of one batch, and their views of the machine. There are none at first."""

    def __init__(self, machine: Machine, state: State, sampling: Sampling, rooms: Rooms):
        self.machine, self.state, self.sampling, self.rooms = machine, state, sampling, rooms
        self.views: list[View] = []
        self.is_over = False
        # Records on their way through the load/store unit are known by their numbers, which change with the table.
        self.n_wanted = 1 if sampling.stream == "lsu" else len(state.machine)

    def look(self) -> None:
        """Between quanta: gets threads, when they are worth it."""
        if not self.views and self.n_wanted > 1 and self._is_long():
            self._begin()

    def _is_long(self) -> bool:
        busy = int(np.count_nonzero(self.state.core.sm["warps"]))
        return int(self.state.machine[0]["quantum_number"]) >= FIRST_QUANTA and busy >= LEAST_SMS

    def _begin(self) -> None:
        chip = self.machine.chip
        rooms = self.rooms, most_causes(chip), most_samples(chip, self.sampling)
        self.views = [new_view(self.state, number, *rooms) for number in range(1, self.n_wanted)]
        record = self.state.machine[0]
        record["n_views"], record["least_running"] = self.n_wanted, LEAST_SMS
        for number in range(1, self.n_wanted):
            _threads().submit(_help, weakref.ref(self), number)

    def end(self) -> None:
        """Lets the threads go. What they do not know yet they will not touch."""
        self.is_over = True
        self.state.core.handout["work"] = OVER

    def merge(self) -> None:
        """Adds up the accounts of all views, once the launch has ended."""
        for view in self.views:
            merge(self.state, view)

    def causes(self) -> list[np.ndarray]:
        """layout.BLAME, the rows of each view but the first."""
        return [causes_of(view) for view in self.views]


def _help(crew: "weakref.ref[Crew]", number: int) -> None:
    """The work of a thread. It looks again and again whether the batch is still there."""
    from gpuprof.timing import engine  # compiles, so not before it is needed

    while (batch := crew()) is not None and not batch.is_over:
        state = batch.state
        del batch
        engine.run(state.machine, 0, number)


_pools: list[ThreadPoolExecutor] = []


def _threads() -> ThreadPoolExecutor:
    """The threads of this process, which go from batch to batch."""
    if not _pools:
        _pools.append(ThreadPoolExecutor(MOST_THREADS, "timing"))
    return _pools[0]


register_at_fork(after_in_child=_pools.clear)  # a forked process has none of them
