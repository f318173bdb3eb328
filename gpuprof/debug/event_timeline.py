"""Runs launches under an order, and runs them again up to an exact event.

The launches of the session arrive here one at a time. Each is stored with a checkpoint. When it has ended, and no
earlier event is being replayed, the session continues: memory is then as without a debugger.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields

from gpuprof.debug.breakpoints import Points
from gpuprof.debug.code_locations import LoadedCode
from gpuprof.debug.history import MOST_NBYTES, MOST_STATES_NBYTES, Checkpoint, States, checkpoint, page_nbytes
from gpuprof.debug.plans import Instant, Order, Rewind, Stop
from gpuprof.debug.replayer import Replayer
from gpuprof.debug.thread import Focus
from gpuprof.device.commands import Launch
from gpuprof.device.memory import AddressSpace
from gpuprof.emulate.trace_log import trace as traced
from gpuprof.emulate.trace_log.launch_counters import COUNTER_NAMES, LaunchCounters
from gpuprof.errors import KernelFault


@dataclass(eq=False)
class Entry:
    """A launch of the session. `n_events`: of a complete run, -1 before one has ended."""

    launch: Launch
    memory: AddressSpace
    counters: LaunchCounters
    run: Callable
    checkpoint: Checkpoint | None
    n_events: int = -1
    states: States = field(default_factory=States)
    is_changed: bool = False  # by the user, in this run of it


class Timeline:
    """The launches of one run, and the state of the current one. `ask` reports a stop, and gives the order that follows
    it.
    """

    def __init__(self, points: Points, ask: Callable[[Stop], Order], order: Order):
        self.points, self.ask, self.order = points, ask, order
        self.entries: list[Entry] = []
        self.codes: dict[int, LoadedCode] = {}  # by id of their modules, which the entries hold
        self.focus = Focus(0, 0)
        self.is_interrupted = False

    def carry_out(self, launch: Launch, memory: AddressSpace, counters: LaunchCounters, run: Callable) -> None:
        """`run(counters=..., listener=...)`: the launch's emulation, as an iterator."""
        before = self.entries[-1].checkpoint if self.entries else None
        made = checkpoint(memory, before)
        self.entries.append(Entry(launch, memory, counters, run, made))
        self._bound()
        self.code_of(launch)
        start, is_fresh = Instant(len(self.entries) - 1, 0), True
        while start.launch < len(self.entries):
            try:
                self._play(start, is_fresh)
                start = Instant(start.launch + 1, 0)
            except Rewind as rewind:
                start = rewind.to
            is_fresh = False

    def _bound(self) -> None:
        """Drops the oldest checkpoints and states that exceed the limits."""
        with_states = [entry for entry in self.entries if entry.states.all]
        while len(with_states) > 1 and sum(entry.states.nbytes for entry in with_states) > MOST_STATES_NBYTES:
            with_states.pop(0).states.all = []
        with_checkpoint = [entry for entry in self.entries if entry.checkpoint]
        while len(with_checkpoint) > 1 and page_nbytes([entry.checkpoint for entry in with_checkpoint]) > MOST_NBYTES:
            with_checkpoint.pop(0).checkpoint = None

    def code_of(self, launch: Launch) -> LoadedCode:
        key = id(launch.module)
        if key not in self.codes:
            self.codes[key] = LoadedCode(launch.module)
            for point in self.points.breakpoints():
                point.resolve(list(self.codes.values()))
            self.points.changed()
        return self.codes[key]

    def changed(self, launch: int, event: int) -> None:
        """The user has changed memory: states after `event` are invalid now, and no new ones are saved, as going back
        undoes the change.
        """
        self.entries[launch].is_changed = True
        self.entries[launch].states.drop_after(event)

    def _play(self, start: Instant, is_fresh: bool, quiet_until: int = 0) -> None:
        """Runs a launch to its end. Raises Rewind if another position is to be run. `quiet_until`: there are no stops
        before this event, and all events are reported from it on.
        """
        entry, state = self.entries[start.launch], None
        if not is_fresh:
            state = entry.states.before(start.event)
            clear(entry.counters)
            if state is None:
                entry.checkpoint.restore(entry.memory)
            entry.is_changed = False
        resumed = state and state.restore(entry.memory, entry.counters)
        if not is_fresh:
            entry.launch.module.refresh_constants(entry.memory)
        player = Replayer(self, start.launch, state.event if state else 0, quiet_until)
        steps = entry.run(
            counters=entry.counters, listener=player, orders=[traced.Order(traced.REST, traced=False)], resumed=resumed
        )
        try:
            for _ in steps:
                pass
        except KernelFault as error:
            if not player.has_seen_all:
                # Examining it needs the event: run again, up to the block that was skipped.
                steps.close()
                self._play(Instant(start.launch, player.block_event), False, player.block_event)
                return
            player.fault(error)
            raise
        finally:
            steps.close()
        entry.n_events = player.now + 1
        player.ended()


def clear(counters: LaunchCounters) -> None:
    """Resets the counters to zero, to run the launch again."""
    fresh = LaunchCounters.zeros(len(counters.inst_executed))
    for each in fields(counters):
        if each.name in COUNTER_NAMES:
            getattr(counters, each.name)[:] = 0
        else:
            setattr(counters, each.name, getattr(fresh, each.name))
