"""Values that follow only from a kernel and its configuration, worked out once for a GPU: most launches have been
made before.
"""

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
MOST = 4096  # values; a program that launches in ever new ways works them out again


class Prepared:
    """Values of one GPU, by what they follow from."""

    def __init__(self) -> None:
        self._made: dict[tuple, tuple[tuple, Any]] = {}

    def once(self, make: Callable[..., T], things: tuple, numbers: tuple, *given: Any) -> T:
        """Gives `make(*given)`, which follows from `things`, as they are, and `numbers`, by their values. It is shared:
        nothing may write to it.
        """
        key = (make, numbers, *map(id, things))
        if (found := self._made.get(key)) is None:
            if len(self._made) >= MOST:
                self._made.clear()
            # The things are stored, too, so that no others get their ids.
            found = self._made[key] = (things, make(*given))
        return found[1]

    def __deepcopy__(self, memo: dict) -> "Prepared":
        """A copy of the GPU is of the same chip."""
        return self
