"""The sampler of a GPU, as a script sets it: `gpu.sampler.period_cycles = 512`, `with
gpu.sampler.only(block=range(16)): ...`.

Settings hold for all later launches. Values are checked where the command is carried out.
"""

import shlex
from collections.abc import Callable
from types import TracebackType
from typing import Any

from gpuprof.device import commands as cmd
from gpuprof.errors import UsageError

Plain = int | str


class Sampler:
    """Its registers are attributes (`period_cycles`, `mode`, `seed`, ...; `registers` has all of them).

    `set`, `filter`, `only`, `on` and `off` may be used in a `with`: at its end the registers are as they were before.
    """

    def __init__(self, submit: Callable[[cmd.Command], Any]):
        object.__setattr__(self, "_submit", submit)

    @property
    def registers(self) -> dict[str, Plain]:
        """The registers in force, by name; the filter as `gpuprof collect --filter` writes it."""
        return self._submit(cmd.SetSampler(()))

    def __getattr__(self, name: str) -> Plain:
        if name.startswith("_"):  # Python's own probes
            raise AttributeError(name)
        registers = self.registers
        if name not in registers:
            raise UsageError(f"the sampler has no register {name!r}; it has {', '.join(registers)}")
        return registers[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self.set(**{name: value})

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.registers]

    def set(self, **registers: Any) -> "Before":
        """Sets registers by name. Others than the filter are the whole chip's: they wait for the launches in flight, as
        `synchronize` does.
        """
        before = self.registers
        self._submit(cmd.SetSampler(tuple((name, _plain(name, value)) for name, value in registers.items())))
        return Before(self, {name: before[name] for name in registers})

    def filter(self, **conditions: Any) -> "Before":
        """Only these samples, of those that there would be: `filter(sm="0-3,7", block=range(16))`; `filter()` takes
        all.

        Keys are those of `gpuprof collect --filter`; values are numbers, ranges, lists of these, or text as it is
        written there.
        """
        return self.set(filter=shlex.join(_words(conditions)))

    def only(self, **conditions: Any) -> "Before":
        """Narrows the filter in force: a key given here replaces its value, or is added to the others."""
        retained = [
            word
            for word in shlex.split(self.registers["filter"])
            if _key(word) not in {_key(key) for key in conditions}
        ]
        return self.set(filter=shlex.join([*retained, *_words(conditions)]))

    def on(self) -> "Before":
        """Switches sampling on again, after `off`."""
        return self.only(off=False)

    def off(self) -> "Before":
        """Switches sampling off."""
        return self.only(off=True)


class Before:
    """The values of some registers before they were set: the end of a `with` restores them."""

    def __init__(self, sampler: Sampler, registers: dict[str, Plain]):
        self._sampler, self._registers = sampler, registers

    def __enter__(self) -> Sampler:
        return self._sampler

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sampler.set(**self._registers)


def _plain(name: str, value: Any) -> Plain:
    if isinstance(value, str):
        return value
    if _is_number(value):
        return value.__index__()
    if isinstance(value, list | tuple) and all(isinstance(element, str) for element in value):
        return ",".join(value)
    raise UsageError(f"the sampler's register {name} takes a number or text, not {value!r}")


def _words(conditions: dict[str, Any]) -> list[str]:
    """The filter of these keys, a word each; a key that is False has none."""
    return [
        _key(key) if value is True else f"{_key(key)}={_value(key, value)}"
        for key, value in conditions.items()
        if value is not False
    ]


def _key(word: str) -> str:
    return word.partition("=")[0].replace("_", "-")


def _value(key: str, value: Any) -> str:
    """A number, a range, several of these, or text, as `--filter` writes it. Raises UsageError for anything else."""
    if isinstance(value, str):
        return value
    if _is_number(value):
        return str(value.__index__())
    if isinstance(value, range) and value.step == 1 and len(value):
        return f"{value[0]}-{value[-1]}"
    if isinstance(value, list | tuple | set | frozenset | range) and len(value):
        return ",".join(_value(key, element) for element in value)
    number = getattr(value, "number", None)  # of a stream
    if _is_number(number):
        return str(number)
    raise UsageError(
        f"sampling filter {_key(key)}: expected a number, a range of numbers, several of these, or text, got {value!r}"
    )


def _is_number(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)
