"""Instructions that a generator lets pass: it is not told of them, and the others who want them are."""

from gpuprof.isa.encoding import make
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import TraceGenerator
from tests.support.watching import Notes, watch

CODE = [
    make("MOV", dst=0, imm=1, slot="a"),
    make("IADD", dst=1, a=0, imm=2, slot="b"),
    make("IADD", dst=2, a=1, imm=3, slot="b"),
    make("EXIT"),
]


class Evens(TraceGenerator):
    """Wants to hear of every second instruction."""

    def initialize(self, kernel):
        self.told: list[int] = []

    def passes(self, number: int) -> bool:
        return number % 2 == 1

    def event(self, event: TraceEvent) -> None:
        self.told.append(event.instruction.number)


def test_what_passes_is_not_told():
    evens = Evens()
    watch(CODE, evens)
    assert evens.told == [0, 2]


def test_it_is_told_where_somebody_else_wants_to_hear_of_it():
    evens, notes = Evens(), Notes()
    watch(CODE, evens, notes)
    assert [each.at for each in notes.events] == [0, 1, 2, 3]
    assert evens.told == [0, 1, 2, 3]
