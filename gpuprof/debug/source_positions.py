"""Decides if a variable has, at the position that optimized code has reached, its value at a line of the source.

An instruction belongs to a line, and the records around it (`compile.variables.positions`) give the positions of the
source that the code has reached; these differ where LLVM has moved the instruction. A variable is the same at both if
nothing changes it on any path between them, and every path leads to the other.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from functools import cached_property

from gpuprof.isa.flow.dominators import postorder


class Positions:
    """The positions of one function, numbers from 0 on; see `compile.variables.numbering.number_variables`."""

    def __init__(self, lines: list[int], following: list[list[int]], sets: dict[str, list[int]], ends: list[int]):
        self._lines, self._following, self._sets, self._ends = lines, following, sets, frozenset(ends)
        self._agreeing: dict[tuple[int, int], frozenset[int]] = {}
        self._changed: dict[tuple[int, int], set[int]] = {}
        self._leading_to: dict[int, set[int]] = {}

    def agree(self, variable: int, line: int, reached: Collection[int], is_inlined: bool) -> bool:
        """True if a variable, by its node, has at the positions `reached` its value at a line. After the end of an
        inlined call nothing is known: the next call may have begun.
        """
        if not reached or (is_inlined and not self._ends.isdisjoint(reached)):
            return False
        key = variable, line
        if key not in self._agreeing:
            self._agreeing[key] = frozenset(self._same_as(self._setting(variable), line))
        return self._agreeing[key].issuperset(reached)

    def _setting(self, variable: int) -> frozenset[int]:
        return frozenset(self._sets.get(str(variable), ()))

    def lasts(self, variable: int, then: Collection[int] | None, now: Collection[int]) -> bool:
        """True if the value assigned to a variable at the positions `then` is its value at all of `now`: no path
        between them that does not pass the first again changes it. LLVM omits assignments that it has removed because
        their value is unused. None: an argument has had its value from the begin on.
        """
        if then is None:
            then = [min(self._setting(variable), default=0)]
        elif min(then) < 0:
            return False
        for start in then:
            key = variable, start
            if key not in self._changed:
                self._changed[key] = self._changed_after(self._setting(variable), start)
        return all(self._changed[variable, each].isdisjoint(now) for each in then)

    def is_set(self, variable: int, before: Collection[int], position: int) -> bool:
        """True if a comment on a variable between positions `before` and the next reported one belongs to that one: it
        begins after an assignment to the variable, or paths join there.
        """
        if position in self._setting(variable):
            return True
        if position in self._heads:
            return all(each >= 0 and position in self._following[each] for each in before)
        if position not in self._leading_to:
            self._leading_to[position] = self._reachable({position}, self._back, ())
        return position in self._meetings and self._leading_to[position].issuperset({*before} - {position})

    def leaves(self, then: Collection[int] | None, now: Collection[int]) -> bool:
        """True if one of `then` is in a loop that one of `now` is not in."""
        return any(not loop.isdisjoint(then or ()) and not loop.issuperset(now) for loop in self._loops)

    @cached_property
    def _loops(self) -> list[set[int]]:
        """The positions of each loop."""
        ends: dict[int, set[int]] = {head: {head} for head in self._heads}
        for number, following in enumerate(self._following):
            for head in self._heads.intersection(following) - {*self._ahead[number]}:
                ends[head].add(number)
        return [loop | self._reachable(loop - {head}, self._leading, {head}) for head, loop in ends.items()]

    @cached_property
    def _heads(self) -> frozenset[int]:
        """The heads of loops."""
        return frozenset(each for number, following in enumerate(self._following) for each in following
                         if each not in self._ahead[number])  # fmt: skip

    @cached_property
    def _meetings(self) -> frozenset[int]:
        """Positions where several paths join."""
        count = Counter(each for following in self._following for each in following)
        return frozenset(number for number, n in count.items() if n > 1)

    def _changed_after(self, sets: frozenset[int], start: int) -> set[int]:
        changes = sets & self._reachable({start}, self._following, {start})
        return changes | self._reachable(changes, self._following, {start})

    @staticmethod
    def _reachable(starts: Iterable[int], ways: list[list[int]], without: Collection[int]) -> set[int]:
        """All positions that are reachable from `starts` on paths that do not pass `without`."""
        reachable, todo = set(), list(starts)
        while todo:
            for each in ways[todo.pop()]:
                if each not in reachable and each not in without:
                    reachable.add(each)
                    todo.append(each)
        return reachable

    def _same_as(self, sets: frozenset[int], line: int) -> set[int]:
        """The positions at which a variable has its value at a line; `sets`: those that assign to it."""
        own = {number for number, each in enumerate(self._lines) if each == line}
        after = self._reachable(own, self._following, own)
        changed = sets & after
        after -= changed | self._reachable(changed, self._following, own)
        before = self._reachable(own, self._leading, own)
        before -= self._reachable(sets & (before | own), self._leading, own)
        after &= self._sure(own, self._order, self._back)
        before &= self._sure(own, self._order[::-1], self._ahead)
        return own | after | before

    def _sure(self, own: set[int], order: list[int], ways: list[list[int]]) -> set[int]:
        """Positions from which all `ways` lead to some of `own`, including `own`."""
        sure = set()
        for number in order:
            if number in own or (ways[number] and sure.issuperset(ways[number])):
                sure.add(number)
        return sure

    @cached_property
    def _ahead(self) -> list[list[int]]:
        """The successors of each position, without back edges to the heads of loops."""
        rank = {number: at for at, number in enumerate(self._order)}
        return [[each for each in following if rank.get(each, -1) > rank.get(number, len(rank))]
                for number, following in enumerate(self._following)]  # fmt: skip

    @cached_property
    def _leading(self) -> list[list[int]]:
        """The predecessors of each position."""
        return self._turned(self._following)

    @cached_property
    def _back(self) -> list[list[int]]:
        return self._turned(self._ahead)

    @staticmethod
    def _turned(ways: list[list[int]]) -> list[list[int]]:
        reversed_ways: list[list[int]] = [[] for _ in ways]
        for number, following in enumerate(ways):
            for each in following:
                reversed_ways[each].append(number)
        return reversed_ways

    @cached_property
    def _order(self) -> list[int]:
        """The reachable positions, each before its successors, except for the heads of loops."""
        return postorder(self._following)[::-1] if self._following else []
