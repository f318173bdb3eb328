"""Values that are computed again where they are read, and so take no register until then.

    IADD r9, r42, 1024            r9 lives all through the loop, and so does r42
    LOOP: ...                     LOOP: ...
          LDG.32 r50, [r9]              IADD r99, r42, 1024
                                        LDG.32 r50, [r99]

ptxas does so where it brings a kernel to the next step of occupancy, or saves it spills.
"""

from collections.abc import Iterator, Set
from copy import copy
from typing import NamedTuple

from gpuprof.assemble.ir.body import Block, Body, Inst, groups_of, words_of
from gpuprof.assemble.ir.defs import replace_reads, single_definitions
from gpuprof.assemble.ir.dominators import nearest
from gpuprof.assemble.ir.liveness import Liveness
from gpuprof.assemble.registers.schedule import Schedule
from gpuprof.isa.opcodes import numbers

_FORMS = numbers(
    "MOV", "MOV.64", "MOVI.64", "CVT.U64.U32", "CVT.S64.S32", "CVTA.SHARED",
    "IADD", "ISUB", "IMUL", "IMAD", "IADD3", "LEA", "SHL", "SHR.S32", "SHR.U32", "AND", "OR", "XOR", "LOP3",
    "IADD.64", "ISUB.64", "SHL.64", "IMUL.WIDE.S32", "IMUL.WIDE.U32", "IMAD.WIDE.S32", "IMAD.WIDE.U32",
)  # fmt: skip
_LONGEST_CHAIN = 3  # instructions that compute a value again
_NEAR = 8  # instructions of a block whose reads share a value that was computed again
_TURNS = 10  # of a loop, as the spiller counts them


class _Place(NamedTuple):
    block: int
    number: int  # of the instruction in the block


class _Cluster(NamedTuple):
    """Readers of a value, each near the one before, that share one computation of it."""

    block: int
    first: int
    last: int


class _Candidate(NamedTuple):
    """`clusters`: the first lives on the value as it was made; for the others it is computed again. `slots`: the
    instructions for that, weighted by loops.
    """

    register: int
    words: int
    clusters: list[_Cluster]
    slots: float

    def is_held(self, place: _Place) -> bool:
        """True if the value, made once or again, is in a register there."""
        return any(each.block == place.block and each.first <= place.number <= each.last for each in self.clusters)


class Plan(NamedTuple):
    """`again`: the values to compute in front of each cluster, the last of which it reads. `share`: the instructions
    for that, as a part of those of the body, both weighted by loops. `most_left`: registers that a place still has too
    many, as far as can be seen before.
    """

    again: list[tuple[_Cluster, list[int]]]
    share: float
    most_left: int


class Rematerializer:
    """The values of a body that can be computed again. `liveness`: of the body as it is."""

    def __init__(self, body: Body, liveness: Liveness):
        self.body = body
        self.single = single_definitions(body)
        self.live_in = [set(liveness.members(live)) for live in liveness.live_in]
        self.live_out = [set(liveness.members(live)) for live in liveness.live_out]
        self.above = nearest([block.predecessors for block in body.blocks], [0])
        self.made: dict[int, _Place] = {}  # where a value of one definition is made
        self.readers: dict[int, list[_Place]] = {}
        self.places: dict[int, _Place] = {}  # of each instruction, by its `id`
        for index, block in enumerate(body.blocks):
            for number, inst in enumerate(block.insts):
                self.places[id(inst)] = place = _Place(index, number)
                self.made.update((r, place) for r in inst.written if r in self.single)
                for register in inst.read:
                    self.readers.setdefault(register, []).append(place)
        self.slots = sum(_weight(block) * len(block.insts) for block in body.blocks)
        self.candidates = list(self._candidates())

    def _candidates(self) -> Iterator[_Candidate]:
        words = words_of(self.body)
        grouped = {register for inst in self.body.instructions() for group in groups_of(inst) for register in group}
        for register in self.made:
            if not self._is_cheap(register) or register in grouped or not words[register]:
                continue
            clusters = self._clusters(register)
            chains = [len(self._chain(register, each)) for each in clusters[1:]]
            if chains and all(chains):
                slots = sum(n * self._weight_of(each) for n, each in zip(chains, clusters[1:], strict=True))
                yield _Candidate(register, words[register], clusters, slots)

    def _is_cheap(self, register: int) -> bool:
        inst = self.single.get(register)
        return inst is not None and inst.op.number in _FORMS and inst.guard is None

    def _clusters(self, register: int) -> list[_Cluster]:
        """The first begins where the value is made."""
        block, number = self.made[register]
        clusters = {block: [_Cluster(block, number, number)]}
        for block, number in self.readers.get(register, ()):
            of_block = clusters.setdefault(block, [])
            if of_block and 0 <= number - of_block[-1].last <= _NEAR:
                of_block[-1] = of_block[-1]._replace(last=number)
            else:
                of_block.append(_Cluster(block, number, number))
        return [each for of_block in clusters.values() for each in of_block]

    def _precedes(self, register: int, place: _Place) -> bool:
        """True if every way to a place goes through the one definition of a register."""
        made = self.made.get(register)
        if made is None:
            return False
        if made.block == place.block:
            return made.number < place.number
        above: int | None = place.block
        seen = set()
        while above is not None and above not in seen and above != made.block:
            seen.add(above)
            above = self.above[above]
        return above == made.block

    def _is_live(self, register: int, place: _Place) -> bool:
        """True if a value that precedes a place lives on to it or past it."""
        if register in self.body.uniform or register in self.live_out[place.block]:
            return True
        readers = [each.number for each in self.readers.get(register, ()) if each.block == place.block]
        return max(readers, default=-1) >= place.number

    def _chain(self, register: int, cluster: _Cluster, gone: Set[int] = frozenset()) -> list[int]:
        """The values to compute again for a cluster to get that of a register, the last one; none where it cannot be
        done. `gone`: registers that are not there any more.
        """
        place = _Place(cluster.block, cluster.first)
        found: list[int] = []

        def reach(value: int) -> bool:
            if not self._is_cheap(value) or len(found) >= _LONGEST_CHAIN:
                return False
            for source in self.single[value].read:
                # Its one definition comes before the value's on every way, so it has the same value here.
                if not self._precedes(source, self.made[value]):
                    return False
                is_there = source not in gone and self._is_live(source, place)
                if not is_there and source not in found and not reach(source):
                    return False
            found.append(value)
            return True

        is_found = self._precedes(register, place) and reach(register) and len(found) <= _LONGEST_CHAIN
        return found if is_found else []

    def plan(self, schedule: Schedule, aim: int, *, in_part: bool = False) -> Plan | None:
        """The cheapest values by what they free that bring the orders of least pressure to `aim` registers, as far as
        can be seen before; None where all are not enough. What others are computed from stays, if that is possible.
        `in_part`: as near as all bring them.
        """
        numbers = {each.register: number for number, each in enumerate(self.candidates)}
        crowded = []  # words too many, and a bit set of the candidates that free some there
        for inst, excess, live in schedule.crowded(aim):
            place = self.places[id(inst)]
            bits = 0
            for register in live & numbers.keys():
                if not self.candidates[numbers[register]].is_held(place):
                    bits |= 1 << numbers[register]
            crowded.append((excess, bits))
        sources = {source for each in self.candidates for source in self.single[each.register].read}
        found = [self._chosen(crowded, kept, in_part) for kept in (sources, set())]
        plans = [plan for plan in found if plan is not None]
        return min(plans, key=lambda plan: (plan.most_left, plan.share), default=None)

    def _chosen(self, crowded: list[tuple[int, int]], kept: set[int], in_part: bool) -> Plan | None:
        """`kept`: registers that stay."""
        left = [excess for excess, _ in crowded]
        chosen = []
        for bit, each in sorted(enumerate(self.candidates), key=lambda pair: pair[1].slots / pair[1].words):
            helped = [i for i, (_, bits) in enumerate(crowded) if left[i] > 0 and bits >> bit & 1]
            if helped and each.register not in kept:
                chosen.append(each)
                for place in helped:
                    left[place] -= each.words
        most_left = max(0, *left)
        if most_left and not in_part:
            return None
        gone = {each.register for each in chosen}
        again = [(each.register, cluster, self._weight_of(cluster)) for each in chosen for cluster in each.clusters[1:]]
        chains = [(cluster, self._chain(register, cluster, gone), weight) for register, cluster, weight in again]
        if not all(chain for _, chain, _ in chains):
            return None
        slots = sum(len(chain) * weight for _, chain, weight in chains)
        return Plan([(cluster, chain) for cluster, chain, _ in chains], slots / self.slots, most_left)

    def apply(self, plan: Plan) -> None:
        """Computes values again at their readers. Blocks get new lists of instructions, and the old ones stay."""
        by_block: dict[int, list[tuple[_Cluster, list[int]]]] = {}
        for cluster, chain in plan.again:
            by_block.setdefault(cluster.block, []).append((cluster, chain))
        for index, again in by_block.items():
            self.body.blocks[index].insts = self._rewritten(self.body.blocks[index].insts, sorted(again))

    def _rewritten(self, insts: list[Inst], again: list[tuple[_Cluster, list[int]]]) -> list[Inst]:
        result: list[Inst] = []
        new: dict[int, int] = {}  # register -> its name in the cluster
        for number, inst in enumerate(insts):
            for cluster, chain in again:
                if cluster.first == number:
                    new[chain[-1]] = self._compute(chain, result)
            renamed = copy(inst)
            replace_reads(renamed, new)
            result.append(renamed)
            for cluster, chain in again:
                if cluster.last == number:
                    del new[chain[-1]]
        return result

    def _compute(self, chain: list[int], result: list[Inst]) -> int:
        """Appends the instructions of a chain; returns the new register of its last value."""
        new: dict[int, int] = {}
        for value in chain:
            inst = copy(self.single[value])
            replace_reads(inst, new)
            inst.dst = new[value] = self.body.register(self.body.files[value])
            result.append(inst)
        return new[chain[-1]]

    def _weight_of(self, cluster: _Cluster) -> float:
        return _weight(self.body.blocks[cluster.block])


def _weight(block: Block) -> float:
    return float(_TURNS**block.loop_depth)
