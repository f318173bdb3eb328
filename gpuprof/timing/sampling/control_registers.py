"""The sampler's settings as plain values by name: those that a script sets in mid-stream, and those that a recording
states.
"""

from collections.abc import Iterable
from dataclasses import fields, replace

from gpuprof.errors import UsageError
from gpuprof.timing.sampling.configuration import Sampling
from gpuprof.timing.sampling.filter import Filter, filter_of_text

USUAL = Sampling()
REGISTERS = tuple(field.name for field in fields(Sampling))
ALWAYS = ("period_cycles", "mode", "seed")  # a recording has these; the others where they are not the default


def registers(sampling: Sampling) -> dict[str, int | str]:
    """All of them, by the names of Sampling's fields: a filter as it is written, several names joined by commas."""
    return {name: _plain(getattr(sampling, name)) for name in REGISTERS}


def described(sampling: Sampling, recorded: Sampling = USUAL) -> dict[str, int | str]:
    """The registers that a recording states: ALWAYS, and each whose value is not the usual one here or in `recorded`,
    the sampling of the whole recording.
    """
    usual, recorded_values = registers(USUAL), registers(recorded)
    return {
        name: value
        for name, value in registers(sampling).items()
        if name in ALWAYS or not value == usual[name] == recorded_values[name]
    }


def changed(sampling: Sampling, changes: Iterable[tuple[str, int | str]]) -> Sampling:
    """The settings with some registers set. Raises UsageError for one that there is not, or a value that it does not
    take.
    """
    values = {}
    for name, value in changes:
        if name not in REGISTERS:
            raise UsageError(f"the sampler has no register {name!r}; it has {', '.join(REGISTERS)}")
        values[name] = _value(name, value, getattr(sampling, name))
    return replace(sampling, **values)


def _plain(value: object) -> int | str:
    if isinstance(value, tuple):
        return ",".join(value)
    return str(value) if isinstance(value, Filter) else value


def _value(name: str, value: int | str, present: object) -> object:
    if not isinstance(value, int if isinstance(present, int) else str):
        raise UsageError(
            f"the sampler's register {name} is {'a number' if isinstance(present, int) else 'text'}, not {value!r}"
        )
    if isinstance(present, Filter):
        return filter_of_text(value)
    return tuple(filter(None, value.split(","))) if isinstance(present, tuple) else value
