"""Generic addresses."""

from collections.abc import Iterator

from gpuprof.isa.row import Opcode, row

SLOTS_OF_TEST = {"shared": 1, "local": 1, "global": 6}  # of the others nothing was measured


def rows() -> Iterator[Opcode]:
    """Generic addresses: windows for shared and local memory inside the 64-bit space (see `device.memory`)."""
    for space in ("shared", "local", "const", "global", "param"):
        if space != "global":  # its addresses are generic ones
            yield row(f"CVTA.{space}".upper(), "compute", "D=D", "alu", "alu", "to_generic", space, slots=2)
            yield row(f"CVTA.TO.{space}".upper(), "compute", "D=D", "alu", "alu", "from_generic", space, slots=2)
        yield row(
            f"ISSPACEP.{space}".upper(),
            "compute",
            "P=D",
            "alu",
            "alu",
            "isspacep",
            space,
            slots=SLOTS_OF_TEST.get(space, 3),
        )
