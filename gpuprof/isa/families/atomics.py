"""Atomics and reductions in memory."""

from collections.abc import Iterator

from gpuprof.isa.families.memory import LETTER_OF_SPACE
from gpuprof.isa.row import Opcode, row

ATOMIC_TYPES = {
    "ADD": ("u32", "u64", "f32", "f64", "f16x2", "bf16x2", "f16", "bf16"), "AND": ("b32", "b64"), "OR": ("b32", "b64"),
    "XOR": ("b32", "b64"), "MIN": ("s32", "u32", "s64", "u64"), "MAX": ("s32", "u32", "s64", "u64"),
    "INC": ("u32",), "DEC": ("u32",), "EXCH": ("b32", "b64"), "CAS": ("b32", "b64", "b16"),
}  # fmt: skip

# Shared-memory atomics the hardware does in one instruction; the others are compare-and-swap loops (ptxas: 6 to 10 slots).
NATIVE_SHARED_ATOMICS = frozenset(
    [(op, t) for op in ("ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH", "CAS") for t in ("u32", "s32", "b32")]
    + [("EXCH", "b64"), ("CAS", "b64")]
)


def type_atom_file(t: str) -> str:
    return "D" if t.endswith("64") else "R"


def rows() -> Iterator[Opcode]:
    for space in ("global", "shared", "generic"):
        letter = LETTER_OF_SPACE[space]
        for op, types in ATOMIC_TYPES.items():
            for t in types:
                r = type_atom_file(t)
                nbytes = 8 if r == "D" else 2 if t in ("f16", "bf16", "b16") else 4
                form = f"A,{r},{r}" if op == "CAS" else f"A,{r}"
                slots = 7 if space == "shared" and (op, t) not in NATIVE_SHARED_ATOMICS else 1
                latency = "atomic_shared" if space == "shared" else "atomic"
                common = {"fields": ("sem", "scope"), "slots": slots, "space": space, "nbytes": nbytes}
                yield row(f"ATOM{letter}.{op}.{t}".upper(), f"{r}={form}", "lsu", latency, "atom_" + op.lower(), t, **common)
                if op not in ("EXCH", "CAS"):
                    yield row(f"RED{letter}.{op}.{t}".upper(), f"={form}", "lsu", "store", "red_" + op.lower(), t, **common)
