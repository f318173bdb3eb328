"""The numbers of the chip."""

from collections.abc import Iterator, Mapping

from gpuprof.tables.table import Column, Table
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.kernel import Kernel

ATTRIBUTES = Table(
    "attributes",
    "numbers of the chip that the launch is for",
    (
        Column("name", "text", "", "as in `gpuprof list chips --verbose`"),
        Column("value", "text", "", "number or text"),
    ),
)


class Machine(TraceGenerator):
    """Lists the attributes of the chip that the launches are for."""

    name = "machine"
    tables = (ATTRIBUTES,)

    def initialize(self, kernel: Kernel) -> None:
        self.chip = kernel.chip

    def finish(self) -> None:
        self.add_rows("attributes", sorted(_flat(self.chip, "")))


def _flat(numbers: Mapping[str, object], group: str) -> Iterator[tuple[str, str]]:
    """Names and values; a number in a group has the group's name and a dot before its own."""
    for name, value in numbers.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{group}{name}.")
        else:
            yield group + name, str(value)
