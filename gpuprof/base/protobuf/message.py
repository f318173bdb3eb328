"""A message as a table of its fields: name, number, type."""

from dataclasses import dataclass, field
from typing import NamedTuple

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5  # wire types
WIRE_OF = {
    "uint": VARINT,  # uint32, uint64, enumerations
    "int": VARINT,  # int32, int64: a negative one takes ten bytes
    "bool": VARINT,
    "double": FIXED64,
    "fixed64": FIXED64,
    "float": FIXED32,
    "string": LENGTH,  # UTF-8
    "bytes": LENGTH,
}
CODES = {"double": "<d", "fixed64": "<Q", "float": "<f"}  # of `struct`


class Field(NamedTuple):
    """`type`: a key of WIRE_OF, or a Message. `repeated`: its value is a list; numbers are then written packed."""

    number: int
    type: "str | Message"
    repeated: bool = False

    @property
    def wire(self) -> int:
        return LENGTH if isinstance(self.type, Message) else WIRE_OF[self.type]


@dataclass(frozen=True)
class Message:
    name: str
    fields: dict[str, Field] = field(hash=False)

    def by_number(self) -> dict[int, tuple[str, Field]]:
        return {field.number: (name, field) for name, field in self.fields.items()}
