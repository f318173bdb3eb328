"""Whether a variable has, where optimized code has come to, the value that it has at a line of the source.

An instruction has a line, and the records around it (`compile.variables.positions`) give how far the code has come: to
other positions of the source, where LLVM has moved the instruction. A variable is the same at both if nothing changes
it on any path from one to the other, and every path reaches the other.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from functools import cached_property

from gpuprof.compile.llvm.flow import postorder


class Positions:
    """Of one function; see `compile.variables.numbering.number_variables`. Positions are numbers from 0 on."""

    def __init__(self, lines: list[int], following: list[list[int]], sets: dict[str, list[int]], ends: list[int]):
        self._lines, self._following, self._sets, self._ends = lines, following, sets, frozenset(ends)
        self._agreeing: dict[tuple[int, int], frozenset[int]] = {}
        self._changed: dict[tuple[int, int], set[int]] = {}
        self._led: dict[int, set[int]] = {}

    def agree(self, variable: int, line: int, reached: Collection[int], is_inlined: bool) -> bool:
        """Whether a variable, by its node, is at the positions `reached` what it is at a line. Behind the end of an
        inlined call nothing is known: the next call may have begun.
        """
        if not reached or (is_inlined and not self._ends.isdisjoint(reached)):
            return False
        key = variable, line
        if key not in self._agreeing:
            self._agreeing[key] = frozenset(self._found(self._setting(variable), line))
        return self._agreeing[key].issuperset(reached)

    def _setting(self, variable: int) -> frozenset[int]:
        return frozenset(self._sets.get(str(variable), ()))

    def lasts(self, variable: int, then: Collection[int] | None, now: Collection[int]) -> bool:
        """Whether what a variable was set to at the positions `then` is its value at all of `now`: no way from one to
        the other, which does not come to the first again, changes it. LLVM says nothing of a change that it has
        dropped, as nobody needs the value. None: an argument has had its value from the begin on.
        """
        if then is None:
            then = [min(self._setting(variable), default=0)]
        elif min(then) < 0:
            return False
        for start in then:
            key = variable, start
            if key not in self._changed:
                self._changed[key] = self._changed_behind(self._setting(variable), start)
        return all(self._changed[variable, each].isdisjoint(now) for each in then)

    def is_set(self, variable: int, before: Collection[int], position: int) -> bool:
        """Whether what is said of a variable between positions `before` and the next one that is told belongs to that
        one: it begins behind a change of the variable, or ways meet there.
        """
        if position in self._setting(variable):
            return True
        if position in self._heads:
            return all(each >= 0 and position in self._following[each] for each in before)
        if position not in self._led:
            self._led[position] = self._led_to({position}, self._back, ())
        return position in self._meetings and self._led[position].issuperset({*before} - {position})

    def leaves(self, then: Collection[int] | None, now: Collection[int]) -> bool:
        """Whether one of `then` is in a loop that one of `now` is not in."""
        return any(not loop.isdisjoint(then or ()) and not loop.issuperset(now) for loop in self._loops)

    @cached_property
    def _loops(self) -> list[set[int]]:
        """The positions of each loop."""
        ends: dict[int, set[int]] = {head: {head} for head in self._heads}
        for number, following in enumerate(self._following):
            for head in self._heads.intersection(following) - {*self._ahead[number]}:
                ends[head].add(number)
        return [found | self._led_to(found - {head}, self._leading, {head}) for head, found in ends.items()]

    @cached_property
    def _heads(self) -> frozenset[int]:
        """Of loops."""
        return frozenset(each for number, found in enumerate(self._following) for each in found
                         if each not in self._ahead[number])  # fmt: skip

    @cached_property
    def _meetings(self) -> frozenset[int]:
        """Positions where several ways meet."""
        count = Counter(each for following in self._following for each in following)
        return frozenset(number for number, n in count.items() if n > 1)

    def _changed_behind(self, sets: frozenset[int], start: int) -> set[int]:
        changes = sets & self._led_to({start}, self._following, {start})
        return changes | self._led_to(changes, self._following, {start})

    @staticmethod
    def _led_to(starts: Iterable[int], ways: list[list[int]], without: Collection[int]) -> set[int]:
        """All that some positions lead to, on ways that do not come to others."""
        found, todo = set(), list(starts)
        while todo:
            for each in ways[todo.pop()]:
                if each not in found and each not in without:
                    found.add(each)
                    todo.append(each)
        return found

    def _found(self, sets: frozenset[int], line: int) -> set[int]:
        own = {number for number, each in enumerate(self._lines) if each == line}
        behind = self._led_to(own, self._following, own)
        changed = sets & behind
        behind -= changed | self._led_to(changed, self._following, own)
        before = self._led_to(own, self._leading, own)
        before -= self._led_to(sets & (before | own), self._leading, own)
        behind &= self._sure(own, self._order, self._back)
        before &= self._sure(own, self._order[::-1], self._ahead)
        return own | behind | before

    def _sure(self, own: set[int], order: list[int], ways: list[list[int]]) -> set[int]:
        """Positions from which all `ways` lead to some of `own`, which are among them."""
        found = set()
        for number in order:
            if number in own or (ways[number] and found.issuperset(ways[number])):
                found.add(number)
        return found

    @cached_property
    def _ahead(self) -> list[list[int]]:
        """What follows each, without the ways back to the head of a loop."""
        place = {number: at for at, number in enumerate(self._order)}
        return [[each for each in found if place.get(each, -1) > place.get(number, len(place))]
                for number, found in enumerate(self._following)]  # fmt: skip

    @cached_property
    def _leading(self) -> list[list[int]]:
        """What each follows."""
        return self._turned(self._following)

    @cached_property
    def _back(self) -> list[list[int]]:
        return self._turned(self._ahead)

    @staticmethod
    def _turned(ways: list[list[int]]) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in ways]
        for number, following in enumerate(ways):
            for each in following:
                found[each].append(number)
        return found

    @cached_property
    def _order(self) -> list[int]:
        """Those that can be reached, each in front of what follows it, but for the heads of loops."""
        return postorder(self._following)[::-1] if self._following else []
