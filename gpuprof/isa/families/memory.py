"""Loads and stores."""

from collections.abc import Iterator

from gpuprof.isa.row import Opcode, row

SPACES = ("global", "shared", "local", "const", "param", "generic")
LETTER_OF_SPACE = {"global": "G", "shared": "S", "local": "L", "const": "C", "param": "P", "generic": ""}
ACCESSES = (
    # access, register operand, bytes per lane
    ("U8", "R", 1), ("S8", "R", 1), ("U16", "R", 2), ("S16", "R", 2), ("32", "R", 4), ("64", "D", 8),
    ("V2.32", "R2", 8), ("V4.32", "R4", 16), ("V2.64", "D2", 16), ("V8.32", "R8", 32), ("V4.64", "D4", 32),
)  # fmt: skip
WIDEST = {"global": 32, "generic": 32}  # bytes per lane; 16 in the other spaces


def accesses(space: str) -> list[tuple[str, str, int]]:
    return [access for access in ACCESSES if access[2] <= WIDEST.get(space, 16)]


def rows() -> Iterator[Opcode]:
    latency = {
        "global": "memory",
        "generic": "memory",
        "local": "memory",
        "shared": "shared",
        "const": "constant",
        "param": "constant",
    }
    for space in SPACES:
        for access, register, nbytes in accesses(space):
            yield row(f"LD{LETTER_OF_SPACE[space]}.{access}", "load", f"{register}=A", "lsu", latency[space], "load",
                access.lower(),
                 ("cache", "sem", "scope"), space=space, nbytes=nbytes)  # fmt: skip
    for space in ("global", "shared", "local", "generic"):
        for access, register, nbytes in accesses(space):
            if access not in ("S8", "S16"):
                yield row(f"ST{LETTER_OF_SPACE[space]}.{access}", "store", f"=A,{register}", "lsu", "store", "store",
                    access.lower(),
                     ("cache", "sem", "scope"), space=space, nbytes=nbytes)  # fmt: skip
