"""Misuse of mbarrier objects, and the arrivals that are missing in a deadlock."""

from collections.abc import Callable

from gpuprof.base.wording import plural
from gpuprof.isa.families.mbarrier import Mbarrier
from gpuprof.isa.opcodes import by_number
from gpuprof.trace.checkers.checker import GridThread
from gpuprof.trace.checkers.mbarrier_phases import INIT, INVAL, MbarrierAddress, Mbarriers, Operation, waited_phase
from gpuprof.trace.event import WARP, TraceEvent
from gpuprof.trace.kernel import Kernel

# Effect of an instruction with operand b on its object: arrivals, expected bytes, permanently dropped arrivals.
EFFECTS: dict[int, Callable[[int], tuple[int, int, int]]] = by_number(
    {
        "MBAR.ARRIVE": lambda b: (b, 0, 0),
        "MBAR.ARRIVE_DROP": lambda b: (b, 0, b),
        "MBAR.ARRIVE.TX": lambda b: (1, b, 0),
        "MBAR.ARRIVE_DROP.TX": lambda b: (1, b, 1),
        "MBAR.EXPECT_TX": lambda b: (0, b, 0),
        "MBAR.COMPLETE_TX": lambda b: (0, -b, 0),
    }
)
NAMED = 3  # threads that a deadlock names

Note = Callable[[TraceEvent, str, str, GridThread], None]  # event, kind, what is wrong, thread


class MbarrierUse:
    """The objects of one launch. `note` receives errors; `has_ended` is true for a block that has ended."""

    def __init__(self, kernel: Kernel, note: Note, has_ended: Callable[[int], bool]):
        self._mbarriers, self._note, self._has_ended = Mbarriers(kernel), note, has_ended
        self._known: set[MbarrierAddress] = set()  # objects that have been initialised
        self._arrived: dict[MbarrierAddress, tuple[int, list[GridThread]]] = {}  # phase, and its arrivals
        self._passed: dict[tuple[MbarrierAddress, GridThread], int] = {}  # the last phase whose end a thread has seen
        self._waits: dict[GridThread, Operation] = {}  # each thread's last one
        self._phases: dict[GridThread, int] = {}

    def operate(self, event: TraceEvent) -> None:
        """Lanes are about to change objects."""
        number = event.instruction.encoded.op.number
        now: dict[MbarrierAddress, Mbarrier] = {}
        for operation in self._mbarriers.operations(event):
            key, who = operation.look.key, _who(event, operation)
            if self._is_ended(event, key, who):
                continue
            if number in INIT:
                self._begin(event, operation, who)
            elif self._is_valid(event, operation, who):
                now[key] = self._arrive(event, operation, who, now.get(key, operation.look.object))
            if number in INVAL:
                self._known.discard(key)

    def wait(self, event: TraceEvent) -> None:
        """Lanes are about to wait."""
        for operation in self._mbarriers.operations(event):
            key, who = operation.look.key, _who(event, operation)
            if self._is_ended(event, key, who) or not self._is_valid(event, operation, who):
                continue
            phase = waited_phase(event.instruction, operation)
            self._waits[who], self._phases[who] = operation, phase
            if phase == operation.look.phase:
                continue  # it is not complete yet
            if self._passed.get((key, who)) == phase and operation.look.object.is_begun:
                text = f"waits a second time for phase {phase} of {_name(key)}, while phase {phase + 1} is active"
                self._note(event, "mbarrier_stale_wait", f"{text}: the parity has not been changed", who)
            self._passed[key, who] = phase

    def forget(self, block: int) -> None:
        """Drops the objects of a block that has ended."""
        self._mbarriers.forget(block)
        self._known = {key for key in self._known if key.block != block}
        self._passed = {passed: phase for passed, phase in self._passed.items() if passed[1].block != block}
        self._waits = {who: wait for who, wait in self._waits.items() if who.block != block}
        self._phases = {who: phase for who, phase in self._phases.items() if who.block != block}
        self._arrived = {key: those for key, those in self._arrived.items() if key.block != block}

    def what_is_missing(self, who: GridThread) -> str:
        """ "phase 0 of the mbarrier at 0x10: 1 of 2 arrivals is missing", for a thread that waits at one."""
        operation = self._waits[who]
        key, phase = operation.look.key, self._phases[who]
        mbarrier = operation.look.object
        of_phase, arrived = self._arrived.get(key, (phase, []))
        if of_phase != phase:
            arrived = []
        text = f"phase {phase} of {_name(key)}"
        if not arrived:
            return f"{text}, for which {plural(mbarrier.expected, 'arrival is', 'arrivals are')} expected"
        names = ", ".join(str(each.thread) for each in arrived[:NAMED])
        more = f" and {len(arrived) - NAMED} more" if len(arrived) > NAMED else ""
        return f"{text}, in which of {mbarrier.expected} arrivals those of threads {names}{more} have come"

    def _begin(self, event: TraceEvent, operation: Operation, who: GridThread) -> None:
        key = operation.look.key
        if key in self._known and operation.look.object.is_valid:
            self._note(
                event, "mbarrier_reinitialized", f"initialises {_name(key)}, which is one already (no inval)", who
            )
        self._mbarriers.begins(event.instruction, key)
        self._known.add(key)
        self._arrived.pop(key, None)
        self._passed = {passed: phase for passed, phase in self._passed.items() if passed[0] != key}

    def _arrive(self, event: TraceEvent, operation: Operation, who: GridThread, now: Mbarrier) -> Mbarrier:
        """The object after the lane's operation."""
        effect = EFFECTS.get(event.instruction.encoded.op.number)
        if effect is None:
            return now
        count, nbytes, dropped = effect(operation.operand)
        key, phase = operation.look.key, operation.look.phase
        if count > now.pending:
            text = f"arrives at {_name(key)}, which expects no more than {now.expected} in a phase"
            self._note(event, "mbarrier_overflow", text, who)
            return now
        if count:
            of_phase, arrived = self._arrived.get(key, (phase, []))
            self._arrived[key] = (phase, [*arrived, who] if of_phase == phase else [who])
        pending, nbytes, expected = now.pending - count, now.nbytes + nbytes, now.expected - dropped
        is_over = pending == 0 and nbytes == 0
        return now._replace(nbytes=nbytes, expected=expected, pending=expected if is_over else pending)

    def _is_valid(self, event: TraceEvent, operation: Operation, who: GridThread) -> bool:
        if not operation.look.object.is_valid:
            self._note(event, "mbarrier_not_initialized", f"uses {_name(operation.look.key)}, where there is none", who)
        return operation.look.object.is_valid

    def _is_ended(self, event: TraceEvent, key: MbarrierAddress, who: GridThread) -> bool:
        is_ended = key.block != who.block and self._has_ended(key.block)
        if is_ended:
            text = f"uses {_name(key)} of block {key.block}, whose threads have all exited"
            self._note(event, "exited_block", text, who)
        return is_ended


def _who(event: TraceEvent, operation: Operation) -> GridThread:
    return GridThread(int(event.block[operation.row]), WARP * int(event.warp[operation.row]) + operation.lane)


def _name(key: MbarrierAddress) -> str:
    return f"the mbarrier at {key.offset:#x}"
