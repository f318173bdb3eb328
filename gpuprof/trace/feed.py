"""Passes the emulator's events of a launch to the generators that need them."""

import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from gpuprof.base.interrupts import Stopped
from gpuprof.errors import GeneratorError
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import TraceGenerator, name_of, overrides, wanted
from gpuprof.trace.kernel import ADDRESSED, MBARRIERS, RANGED, Code, Instruction, Kernel
from gpuprof.trace.tables import Results


class Feed:
    """The generators of one launch. `before`, `after`, `operands_after`, `blocks`, `refusing`, `passing`: numbers of
    the instructions and basic blocks that some of them need, in the form of the emulator's WatchRequests.
    """

    def __init__(self, kernel: Kernel, generators: Sequence[TraceGenerator]):
        self.kernel, self.generators = kernel, tuple(generators)
        self._open: list[TraceGenerator] = []  # those whose `finish` is still to be called
        self._before: dict[int, list[TraceGenerator]] = {}
        self._after: dict[int, list[TraceGenerator]] = {}
        self._of_blocks = [each for each in self.generators if each.blocks and overrides(each, "event")]
        operands: set[int] = set()
        self._refusing: dict[int, list[TraceGenerator]] = {}
        for generator in self.generators:
            if generator.blocks:
                continue
            numbers = numbers_wanted(generator, kernel.code)
            numbers_after = [number for number in numbers if _gets_post_event(generator, kernel.instructions[number])]
            for call, table, chosen in (
                ("event", self._before, numbers),
                ("post_event", self._after, numbers_after),
            ):
                if overrides(generator, call):
                    for number in chosen:
                        table.setdefault(number, []).append(generator)
            if generator.values and overrides(generator, "post_event"):
                operands.update(numbers_after)
            if generator.refuses:
                refused = (*ADDRESSED, *MBARRIERS, *(RANGED if overrides(generator, "refused") else ()))
                for number in numbers:
                    if kernel.instructions[number].kind in refused:
                        self._refusing.setdefault(number, []).append(generator)
        self.refusing = frozenset(self._refusing)
        self.passing = frozenset(
            number
            for number, notified in self._before.items()
            if number not in self._after and all(overrides(generator, "passes") for generator in notified)
        )
        self.before = frozenset(self._before) | frozenset(self._after)
        self.after, self.operands_after = frozenset(self._after), frozenset(operands)
        self.blocks = frozenset(range(len(kernel.basic_blocks))) if self._of_blocks else frozenset()

    # Events from the emulator

    def passes(self, number: int) -> bool:
        """True if no generator needs an instruction of `passing` this time."""
        return all(_call(generator, generator.passes, number) for generator in self._before[number])

    def notify_block(self, run: Any) -> None:
        block = self.kernel.basic_blocks[run.block]
        event = TraceEvent(self.kernel, block.instructions[0], block, run)
        for generator in self._of_blocks:
            self._call(generator, generator.event, event)

    def notify_before(self, executed: Any) -> None:
        self._notify(self._before, "event", executed)

    def notify_after(self, executed: Any) -> None:
        self._notify(self._after, "post_event", executed)

    def _notify(self, table: dict[int, list[TraceGenerator]], call: str, executed: Any) -> None:
        if executed.at in table:
            event = self._event(executed)
            for generator in table[executed.at]:
                self._call(generator, getattr(generator, call), event)

    def notify_wrong(self, executed: Any, refused: Any) -> None:
        event = self._event(executed)
        for generator in self._refusing[executed.at]:
            self._call(generator, generator.refused, event, refused)

    def _event(self, executed: Any) -> TraceEvent:
        instruction: Instruction = self.kernel.instructions[executed.at]
        return TraceEvent(self.kernel, instruction, self.kernel.basic_blocks[instruction.basic_block], executed)

    # The launch.

    def initialize(self) -> None:
        for generator in self.generators:
            _call(generator, generator.initialize, self.kernel)
            self._open.append(generator)

    def fault(self, text: str) -> None:
        """A fault of the kernel has ended the launch."""
        for generator in self._open:
            _call(generator, generator.fault, text)

    @property
    def is_open(self) -> bool:
        """True if a generator's `finish` is still to be called."""
        return bool(self._open)

    def finish(self) -> Iterator[tuple[TraceGenerator, Results]]:
        """The results of each generator; none of those that are finished already."""
        while self._open:
            generator = self._open.pop(0)
            _call(generator, generator.finish)
            yield generator, generator.end_launch(self.kernel.launch)

    def _call(self, generator: TraceGenerator, call: Callable[..., None], *arguments: Any) -> None:
        """If an interrupt comes during the call, the state of the generator is undefined, and it is dropped."""
        try:
            _call(generator, call, *arguments)
        except Stopped:
            self._open.remove(generator)
            raise


_numbers: WeakKeyDictionary[Code, dict[tuple, tuple[int, ...]]] = WeakKeyDictionary()


def numbers_wanted(generator: TraceGenerator, code: Code) -> tuple[int, ...]:
    """Numbers of the instructions that a generator wants, cached, since many launches share a module."""
    known = _numbers.setdefault(code, {})
    key = generator.kinds, generator.opcodes, generator.spaces, type(generator)
    if key not in known:
        known[key] = tuple(sorted({*wanted(generator, code.instructions), *generator.wants_too(code)}))
    return known[key]


def _gets_post_event(generator: TraceGenerator, instruction: Instruction) -> bool:
    return not generator.post_kinds or instruction.kind in generator.post_kinds


def _call(generator: TraceGenerator, call: Callable[..., Any], *arguments: Any) -> Any:
    """Raises GeneratorError for any exception of the generator, which may be user code."""
    try:
        return call(*arguments)
    except (Exception, SystemExit) as error:
        own = error.__traceback__.tb_next  # from the generator's own first line on
        text = "".join(traceback.format_exception(type(error), error, own))
        raise GeneratorError(
            f"trace generator {name_of(type(generator))}: {type(error).__name__}: {error}", text
        ) from None
