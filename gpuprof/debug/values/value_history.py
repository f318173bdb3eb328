"""Values that the debugger has shown or named: `$3`, `$`, `$$`, `$name`; they are known without a thread, too."""

import re
from collections.abc import Mapping, Sequence

from gpuprof.debug.values.c_types import BASIC, CType, Storage, Value
from gpuprof.debug.values.evaluation import Scope
from gpuprof.errors import DebugError, NoValue

NAMED = re.compile(r"\$[A-Za-z_]\w*")
_NUMBERED = re.compile(r"(\$\$?)(\d*)")
NO_PROGRAM = "The program is not being run."


class Nowhere:
    """The meaning of names while nothing runs."""

    def variable(self, name: str) -> None:
        raise DebugError(NO_PROGRAM)

    def has(self, name: str) -> bool:
        raise DebugError(NO_PROGRAM)

    def register(self, name: str) -> None:
        return None

    def type(self, name: str) -> CType | None:
        return BASIC.get(name)

    def fetch(self, storage: Storage, nbytes: int) -> bytes:
        raise DebugError(NO_PROGRAM)

    def generic(self, storage: Storage) -> int:
        raise DebugError(NO_PROGRAM)

    def storage_of(self, address: int) -> Storage:
        raise DebugError(NO_PROGRAM)


class Remembered:
    """A thread's names, and those of remembered values. `shown`: numbered from 1 on, including expressions without a
    value.
    """

    def __init__(self, thread: Scope, shown: Sequence[Value | NoValue], named: Mapping[str, Value]):
        self.thread, self._shown, self._named = thread, shown, named
        self.variable, self.has, self.type, self.fetch = thread.variable, thread.has, thread.type, thread.fetch
        self.generic, self.storage_of = thread.generic, thread.storage_of

    def register(self, name: str) -> Value | None:
        match = _NUMBERED.fullmatch(name)
        if not match:
            return self.thread.register(name) or self._named.get(name)
        sign, digits = match.groups()
        if sign == "$":
            number = int(digits) if digits else len(self._shown)
        else:  # counted from the last one back: $$ is $$1
            number = len(self._shown) - (int(digits) if digits else 1)
        if not 0 < number <= len(self._shown):
            raise DebugError(f"History has not yet reached ${number}." if number > 0 else "No value was printed yet.")
        value = self._shown[number - 1]
        if isinstance(value, NoValue):
            raise NoValue(str(value))
        return value
