"""The clock of a program: when the host asks, and when streams and engines have done what is known of them.

    command ─ call ─> host_ns ─ arrival ─> the cycle from which a stream may carry the request out
    end of a launch or an operation ─ ended ─> what waits for it: streams, the host

The GPU's cycles and the host's nanoseconds count from the same moment. What a call costs, and what a link carries, are
numbers of the host (gpuprof.hosts). Without a host, calls and copies take no time: a launch by itself has none.
"""

from collections import deque

from gpuprof.chips import Chip
from gpuprof.hosts import Host
from gpuprof.run.observers.observer import StreamOperation
from gpuprof.tables.engines import ENGINES
from gpuprof.timing.units.transfer import other_way, transfer_end

# Launches that wait for the GPU before the host has to: of the order that threads of NVIDIA's forum report (1,022 to
# 1,024 on several chips). An estimate for all chips.
LAUNCH_QUEUE = 1024
DEFAULT_STREAM = 0
# Of a call that has nodes: what it costs by itself, "" nothing, and what each node does.
CALLS_WITH_NODES = {
    "graph_instantiate": ("graph_instantiate", "graph_instantiate_node"),
    "graph_update": ("", "graph_update_node"),
}


class Timeline:
    """`host_ns`: the host's clock. `engines`: the cycle from which each of tables.engines is free."""

    def __init__(self, host: Host | None, chip: Chip):
        self.host, self._ghz = host, chip.clock_mhz / 1e3
        self.host_ns = 0.0
        self.engines = [0] * len(ENGINES)
        self._ends: dict[int, int] = {}  # by stream: the cycle in which all that is known of it has ended
        self._non_blocking: set[int] = set()
        self._together: list[str] = []
        self._n_rows = 0  # of the copy that is under way
        self._launches: deque[int] = deque(maxlen=LAUNCH_QUEUE)  # cycles in which the last ones ended

    # The host.

    def call(self, kind: str, n: int = 1) -> None:
        """The host spends what `n` calls of a kind cost: a field of the host, without _ns. Parts of a call under way
        are in its cost.
        """
        if self.host and not self._together:
            self.pass_ns(n * getattr(self.host, f"{kind}_ns"))

    def host_call(self, kind: str, n: int) -> None:
        """A call that asks nothing of the GPU. n: nodes of the graph that it makes or sets."""
        whole, each = CALLS_WITH_NODES.get(kind, (kind, ""))
        if whole:
            self.call(whole)
        if each:
            self.call(each, n)

    def pass_ns(self, ns: float) -> None:
        self.host_ns += ns

    def reach_ns(self, ns: float) -> None:
        """The host's clock shows at least so much."""
        self.host_ns = max(self.host_ns, ns)

    def launch(self) -> None:
        """The host launches a kernel: it waits while the queue is full. A node's place is its graph's."""
        if self.host and not self._together and len(self._launches) == LAUNCH_QUEUE:
            self.reach_ns(self.ns(self._launches[0]))
        self.call("launch")

    def wait(self, end: int) -> None:
        """The host waits for what ends at cycle `end`."""
        if self.host is None:
            self.reach_ns(self.ns(end))
            return
        ended = self.ns(end)
        if self._together:  # the wait is in the cost of the call
            self.reach_ns(ended)
        elif ended > self.host_ns:
            self.host_ns = max(ended + self.host.wait_return_ns, self.host_ns + self.host.idle_wait_ns)
        else:
            self.call("idle_wait")

    def begin_together(self, what: str) -> None:
        self._together.append(what)
        self._n_rows = 0

    def end_together(self) -> None:
        self._together.pop()

    def latency_ns(self, whole_ns: float) -> float:
        """The latency of an operation, which by itself is `whole_ns`: rows of one copy follow each other."""
        if not self._together or self._together[-1] != "copy":
            return whole_ns
        self._n_rows += 1
        return whole_ns if self._n_rows == 1 else self.host.row_ns

    @property
    def is_graph(self) -> bool:
        """True while nodes of a graph are launched."""
        return "graph" in self._together

    # The two clocks.

    @property
    def present(self) -> int:
        """The GPU's cycle at the host's present."""
        return self.cycles(self.host_ns)

    def cycles(self, ns: float) -> int:
        return round(ns * self._ghz)

    def ns(self, cycle: int) -> float:
        return cycle / self._ghz

    # Streams.

    def set_non_blocking(self, stream: int) -> None:
        self._non_blocking.add(stream)

    def end_of(self, stream: int) -> int:
        """The cycle in which a stream has done what is known of it, and what the default stream's rules put before its
        next request.
        """
        if stream == DEFAULT_STREAM:
            return max((end for of, end in self._ends.items() if of not in self._non_blocking), default=0)
        own = self._ends.get(stream, 0)
        return own if stream in self._non_blocking else max(own, self._ends.get(DEFAULT_STREAM, 0))

    @property
    def end_of_all(self) -> int:
        return max(self._ends.values(), default=0)

    def arrival(self, stream: int) -> int:
        """The cycle from which a request made now may be carried out, as far as that is known."""
        submitted = self.cycles(self.host_ns + self.host.submit_ns) if self.host else self.present
        return max(submitted, self.end_of(stream))

    def ended(self, stream: int, cycle: int) -> None:
        """Something on a stream ends at a cycle."""
        self.hold(stream, cycle)
        if self.host is None:
            self.reach_ns(self.ns(cycle))

    def launch_ended(self, stream: int, cycle: int) -> None:
        self._launches.append(cycle)
        self.ended(stream, cycle)

    def sees(self, stream: int, event_cycle: int) -> None:
        """A stream waits for an event of which the cycle is known."""
        self.hold(stream, event_cycle + self.cross_stream_cycles)

    def hold(self, stream: int, cycle: int) -> None:
        """Everything that a stream does from now on comes after a cycle."""
        self._ends[stream] = max(self._ends.get(stream, 0), cycle)

    @property
    def cross_stream_cycles(self) -> int:
        """From the end of a stream's work to another stream that waits for it. Branches of a graph have none."""
        return 0 if self.host is None or self.is_graph else self.cycles(self.host.cross_stream_ns)

    @property
    def second_way_permille(self) -> int:
        """The part of its rate that a copy has while an earlier one goes the other way."""
        return 1000 if self.host is None else max(1, round(2000 * self.host.both_ways_share - 1000))

    # Operations.

    def carry_out(self, operation: StreamOperation) -> None:
        """Carries an operation out that waits for nothing in flight, on its engine."""
        start = max(operation.arrival, self.engines[operation.engine])
        other = other_way.py_func(operation.engine)
        busy_until = self.engines[other] if other >= 0 else 0
        end = transfer_end.py_func(
            start + operation.latency_cycles, operation.transfer_cycles, busy_until, self.second_way_permille
        )
        operation.start_cycle, operation.end_cycle = start, end
        self.engines[operation.engine] = end
        self.ended(operation.stream, end)
