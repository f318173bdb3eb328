"""Words and classes that a script gives."""

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any, TypeVar

from gpuprof.errors import UsageError

T = TypeVar("T")


def known(word: str, words: Iterable[str], what: str) -> str:
    """The word. Raises UsageError for one that is not among those known."""
    words = tuple(words)
    if not isinstance(word, str) or word not in words:
        raise UsageError(f"{what} is one of {', '.join(words)}, not {word!r}")
    return word


def of_kind(value: Any, kind: type[T], what: str) -> T:
    """The value. Raises UsageError for a value of another class."""
    if not isinstance(value, kind):
        raise UsageError(f"{what} is a {kind.__name__}, not {value!r}")
    return value


def real(value: Any, what: str) -> float:
    """The value as Python's. Raises UsageError for a value that is no real number, or too large for a float."""
    try:
        return float(of_kind(value, Real, what))
    except OverflowError:
        raise UsageError(f"{what} is a number that a float can be, not {value!r}") from None


def sequence_of(values: Sequence[Any], what: str) -> tuple[Any, ...]:
    """The values. Raises UsageError for a text, and for what has no order."""
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise UsageError(f"{what} are a tuple or list, not {values!r}")
    return tuple(values)
