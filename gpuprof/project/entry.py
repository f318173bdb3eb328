"""An entry of a project's file: what is run, and how it is judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpuprof.check.budgets import Budget
from gpuprof.project.keys import Key

Value = str | int | float | bool | list


@dataclass(frozen=True)
class Entry:
    """`name`: "scan", or "scan@h100" where the entry has several chips. `folder`: that of the project file that has it;
    the run begins there, and its paths are relative to it. `options`: values of options of `gpuprof collect`, by their
    keys. `fail_on`, `required`: texts of limits and requirements. `baseline`: the file, there or not.
    """

    name: str
    folder: Path
    file: str
    sources: tuple[str, ...]
    arguments: tuple[str, ...]
    options: Mapping[str, Value]
    checkers: tuple[str, ...]
    environment: tuple[str, ...]
    inputs: tuple[str, ...]
    baseline: Path
    fail_on: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    budgets: tuple[Budget, ...] = ()
    ratchet: bool = False
    strict_shape: bool = False

    def command(self, run_keys: Sequence[Key]) -> list[str]:
        """The words after `gpuprof` that collect it, without those for its output."""
        traces = [word for name in self.checkers for word in ("--trace", name)]
        words = ["collect", self.file, *self.sources, *words_of(run_keys, self.options), *traces]
        return [*words, *(["--", *self.arguments] if self.arguments else [])]

    def set_variables(self) -> dict[str, str]:
        """The variables that it sets."""
        return {name: value for name, equals, value in (each.partition("=") for each in self.environment) if equals}

    def variable_names(self) -> list[str]:
        """The variables that the run depends on."""
        return sorted(each.partition("=")[0] for each in self.environment)


def words_of(keys: Sequence[Key], options: Mapping[str, Value]) -> list[str]:
    """The words of `gpuprof collect` that give these options, in the order of the keys."""
    words: list[str] = []
    for key in keys:
        value = options.get(key.name, False)
        if value is True:
            words.append(key.flag)
        elif value is not False:
            words += [
                word for each in (value if isinstance(value, list) else [value]) for word in _pair(key.flag, each)
            ]
    return words


def _pair(flag: str, value: object) -> list[str]:
    return [f"{flag}{value}"] if flag == "-O" else [flag, str(value)]
