"""The selection of samples: the filter registers of the trace cells, and their text.

    sm=0-3,7  block=0-63  warp=0  launch=2  kernel=^matmul  stream=1  task=layer  cycles=1000-2000
    launch-cycles=0-4095  draw=3,5-9  stage=vertex,pixel  off

A sample is taken as if there were no filter; one that does not pass is then not due and takes no place in the FIFO.
Conditions on an entire launch (launch, kernel, stream, task, draw, stage) are decided when it is requested, the others
by the cell, sample by sample (`units.sample_filter`).
"""

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import NamedTuple

from gpuprof.chips import Chip
from gpuprof.chips.draw_units import SHADER_STAGES
from gpuprof.errors import UsageError

NO_END = (1 << 62) - 1
NUMBER = re.compile(r"(\d{1,18})(?:\^(\d{1,2}))?")


class Range(NamedTuple):
    """Whole numbers from `first` to `last`, both among them."""

    first: int
    last: int

    def __str__(self) -> str:
        return (
            str(self.first) if self.first == self.last else f"{self.first}-{'' if self.last == NO_END else self.last}"
        )


EVERY = Range(0, NO_END)


class Key(NamedTuple):
    """How a register is written. `form`: "ranges", "range" (one), "pattern", "stages", "count", or "word", which takes
    no value.
    """

    form: str
    text: str


KEYS = {
    "sm": Key("ranges", "multiprocessors"),
    "block": Key("range", "blocks of the grid, by linear index"),
    "warp": Key("range", "warps of the block"),
    "launch": Key("ranges", "launches, by index"),
    "kernel": Key("pattern", "kernels whose name matches the regular expression"),
    "stream": Key("ranges", "streams, by number"),
    "task": Key("pattern", "tasks that match the regular expression: names of the open tasks, joined by /"),
    "draw": Key("ranges", "draws, by number: launches of their shaders"),
    "stage": Key("stages", "stages of draws' shaders"),
    "cycles": Key("range", "GPU cycles, from power-on"),
    "launch-cycles": Key("range", "cycles since the launch's start"),
    "skip": Key("count", "number of launches to skip first, of those that pass the other keys"),
    "count": Key("count", "number of launches to sample after these"),
    "off": Key("word", "no samples"),
}


@dataclass(frozen=True)
class Filter:
    """The registers, under the names of KEYS: a sample passes when it meets all of them. What is empty lets everything
    pass.

    Raises UsageError for a pattern that is no regular expression.
    """

    sm: tuple[Range, ...] = ()
    block: tuple[Range, ...] = ()
    warp: tuple[Range, ...] = ()
    launch: tuple[Range, ...] = ()
    kernel: str = ""
    stream: tuple[Range, ...] = ()
    task: str = ""
    draw: tuple[Range, ...] = ()
    stage: tuple[str, ...] = ()
    cycles: tuple[Range, ...] = ()
    launch_cycles: tuple[Range, ...] = ()
    skip: int = 0
    count: int = 0
    off: bool = False

    def __post_init__(self):
        for key in ("kernel", "task"):
            try:
                re.compile(getattr(self, key))
            except re.error as error:
                raise UsageError(
                    f"sampling filter {key}={getattr(self, key)}: it is not a regular expression: {error}"
                ) from None

    def __str__(self) -> str:
        """The text that `filter_of_text` reads, "" for a filter that lets everything pass."""
        return shlex.join(_word(key, value) for key in KEYS if (value := getattr(self, _field(key))))

    def check(self, chip: Chip) -> None:
        """Raises UsageError when it names a multiprocessor that the chip has not."""
        for some in self.sm:
            if (some.last >= chip.sms and some.last != NO_END) or some.first >= chip.sms:
                raise UsageError(f"sampling filter sm={some}: {chip.name} has multiprocessors 0 to {chip.sms - 1}")

    def sms(self, n: int) -> list[bool]:
        """For each of `n` SMs, whether samples of it are wanted."""
        return [not self.off and _contains(self.sm, sm) for sm in range(n)] if self.off or self.sm else [True] * n


ALL, NOTHING = Filter(), Filter(off=True)


class Chooser:
    """Says of one launch after the other what of it is wanted. It counts them, for `skip` and `count`."""

    def __init__(self, filter: Filter):
        self.filter = filter
        self._n = 0

    def choose(
        self, launch: int, names: Iterable[str], stream: int, task: str, draw: int | None = None, stage: str = ""
    ) -> Filter:
        """The filter for this launch, NOTHING when no sample of it is wanted. `names`: the kernel's, as written and as
        a symbol. draw, stage: of a draw's shader; None and "" for other launches.
        """
        filter = self.filter
        finds = re.compile(filter.kernel).search
        if not (_contains(filter.launch, launch) and _contains(filter.stream, stream) and any(map(finds, names))):
            return NOTHING
        if filter.task and not re.search(filter.task, task):
            return NOTHING
        if filter.draw and (draw is None or not _contains(filter.draw, draw)):
            return NOTHING
        if filter.stage and stage not in filter.stage:
            return NOTHING
        self._n += 1
        if self._n <= filter.skip or (filter.count and self._n > filter.skip + filter.count):
            return NOTHING
        return filter


def filter_of_text(text: str) -> Filter:
    """The filter that `str` has written. Raises UsageError as `filter_of_words` does."""
    try:
        return filter_of_words(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"sampling filter {text!r}: {error}") from None


def filter_of_words(words: Iterable[str]) -> Filter:
    """The filter of "sm=0-3", "kernel=^matmul" and so on, in any order. Raises UsageError for a word that it does not
    know or a second of a key.
    """
    registers: dict[str, object] = {}
    for word in words:
        key, equals, value = word.partition("=")
        key = key.strip().replace("_", "-")
        if key not in KEYS:
            raise UsageError(
                f"sampling filter {word!r}: unknown key {key!r}; write one of {', '.join(map(_shape, KEYS))}"
            )
        if bool(equals) == (KEYS[key].form == "word"):
            raise UsageError(f"sampling filter {word!r}: write {_shape(key)}")
        if _field(key) in registers:
            raise UsageError(
                f"sampling filter {word!r}: {key} is given twice; give all values in one, as in {_shape(key)}"
            )
        registers[_field(key)] = _value(key, value)
    return Filter(**registers)


def kernel_pattern(name: str) -> str:
    """A pattern for the kernels that Nsight Compute's --kernel-name finds: the kernel of this name, whatever its
    namespace and template arguments, or `regex:RE`.
    """
    if name.startswith("regex:"):
        return name.removeprefix("regex:")
    return rf"^(.*::)?{re.escape(name)}(<.*>)?$"


SHAPES = {"stages": "vertex,pixel", "ranges": "0-3,7", "range": "0-63", "pattern": "RE", "count": "1"}


def _shape(key: str) -> str:
    form = KEYS[key].form
    return key if form == "word" else f"{key}={SHAPES[form]}"


def _field(key: str) -> str:
    return key.replace("-", "_")


def _word(key: str, value: object) -> str:
    if KEYS[key].form == "word":
        return key
    return f"{key}={','.join(map(str, value)) if isinstance(value, tuple) else value}"


def _value(key: str, text: str) -> object:
    form = KEYS[key].form
    if form == "word":
        return True
    if form == "pattern":
        if not text:
            raise UsageError(f"sampling filter {key}=: it needs a regular expression")
        return text
    if form == "stages":
        return _stages(key, text)
    if form == "count":
        number = _number(key, text, text)
        if key == "count" and number == 0:
            raise UsageError("sampling filter count=0: to sample nothing, write off")
        return number
    ranges = tuple(sorted(_range(key, part, text) for part in text.split(",")))
    if form == "range" and len(ranges) > 1:
        raise UsageError(f"sampling filter {key}={text}: expected one range, as in {_shape(key)}")
    return ranges


def _stages(key: str, text: str) -> tuple[str, ...]:
    """In the order of the pipeline."""
    given = [part.strip() for part in text.split(",")]
    for stage in given:
        if stage not in SHADER_STAGES:
            raise UsageError(
                f"sampling filter {key}={text}: there is no stage {stage!r}; stages are {', '.join(SHADER_STAGES)}"
            )
    return tuple(stage for stage in SHADER_STAGES if stage in given)


def _range(key: str, text: str, condition: str) -> Range:
    first, dash, last = text.partition("-")
    start = _number(key, first, condition)
    end = start if not dash else _number(key, last, condition) if last else NO_END
    if start > end:
        raise UsageError(f"sampling filter {key}={condition}: {start} comes after {end}")
    return Range(start, end)


def _number(key: str, text: str, condition: str) -> int:
    match = NUMBER.fullmatch(text.strip()) if text.isascii() else None
    number = int(match[1]) ** int(match[2] or 1) if match else NO_END + 1
    if number > NO_END:
        raise UsageError(
            f"sampling filter {key}={condition}: expected "
            f"{'a number' if KEYS[key].form == 'count' else 'numbers'}, as in {_shape(key)}"
        )
    return number


def _contains(ranges: tuple[Range, ...], number: int) -> bool:
    return not ranges or any(some.first <= number <= some.last for some in ranges)


assert [_field(key) for key in KEYS] == [field.name for field in fields(Filter)]
